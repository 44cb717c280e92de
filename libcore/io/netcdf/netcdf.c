/* netcdf.c - records in NetCDF files: every variable over one dimension that states its sampling
 * rate is a signal. Written by series_write.c; integers come back as they went in. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/io_priv.h"
#include "io/netcdf/series_priv.h"
#include "io/weir_netcdf.h"
#include "io/weir_record_format.h"

enum { MAX_SIGNALS = 1024, PIECE = 4096, NO_OFFSET = 1 << 16 };
#define MAX_SLOTS (INT64_C(1) << 50)
#define MAX_EXACT (INT64_C(1) << 53) /* integers below are exact as doubles */

/* A signal: its variable, that of its flags (-1: none) and the code of an absent value. */
typedef struct source {
  int var, flags;
  weir_dtype dtype;
  double gain, baseline;
  double fill, missing;        /* values that stand for none; NaN: not stated */
  double valid_min, valid_max; /* others are absent */
  char *name, *units, *format;
  int64_t n_runs, run_capacity; /* 0: not stated */
  double *runs;                 /* [n_runs, 2] */
} source;

typedef struct file {
  weir_netcdf *nc;
  char *name;
  char *comments; /* NULL: none */
  int64_t start_us;
  int start_kind, utc_offset; /* utc_offset: NO_OFFSET where it is unknown */
  int64_t n_sources, source_capacity;
  source *sources;
  weir_signal_info *infos;
} file;

static bool claims(const char *path)
{
  const size_t n = strlen(path);

  return n > 3 && strcasecmp(path + n - 3, ".nc") == 0;
}

/* An attribute of one number, or `otherwise` where there is none. */
static double number_or(weir_netcdf *nc, int var, const char *name, double otherwise)
{
  double value = 0;

  if (!weir_netcdf_has(nc, var, name) ||
      weir_netcdf_get_numbers(nc, var, name, &value, 1) != WEIR_OK || isnan(value)) {
    return otherwise;
  }
  return value;
}

/* Of a whole number, within [lo, hi]: what no file that was written here says is not believed. */
static int64_t int_or(weir_netcdf *nc, int var, const char *name, int64_t otherwise, int64_t lo,
                      int64_t hi)
{
  const double value = number_or(nc, var, name, (double)otherwise);

  return value >= (double)lo && value <= (double)hi ? (int64_t)value : otherwise;
}

static weir_status text_or(weir_netcdf *nc, int var, const char *name, const char *otherwise,
                           char **out)
{
  return weir_netcdf_has(nc, var, name) ? weir_netcdf_get_text(nc, var, name, out)
                                        : weir_strdup(otherwise, out);
}

/* Samples per second of a variable; *found is false where it states none: then it is no signal. */
static weir_status take_rate(weir_netcdf *nc, int var, const char *name, int64_t *num, int64_t *den,
                             bool *found)
{
  double ratio[2] = {0, 1};
  char text[64];
  bool good = false;

  *found = true;
  if (weir_netcdf_has(nc, var, WEIR_NETCDF_RATIO)) {
    WEIR_TRY(weir_netcdf_get_numbers(nc, var, WEIR_NETCDF_RATIO, ratio, 2));
    good = ratio[0] >= 1 && ratio[1] >= 1 && ratio[0] < (double)MAX_EXACT &&
           ratio[1] < (double)MAX_EXACT;
    *num = good ? (int64_t)ratio[0] : 0;
    *den = good ? (int64_t)ratio[1] : 1;
  } else if (weir_netcdf_has(nc, var, WEIR_NETCDF_RATE)) {
    WEIR_TRY(weir_netcdf_get_numbers(nc, var, WEIR_NETCDF_RATE, ratio, 1));
    weir_io_real_text(isfinite(ratio[0]) ? ratio[0] : 0, text, sizeof text);
    good = weir_io_parse_decimal(text, strlen(text), num, den) && *num > 0;
  } else {
    *found = false;
    return WEIR_OK;
  }
  if (!good) {
    return weir_fail(WEIR_ERR_DATA, "variable %s: its sampling rate is not a positive number",
                     name);
  }
  weir_io_reduce(num, den);
  return WEIR_OK;
}

/* What of the stored numbers stands for no value, as CF says: _FillValue, for floats else what the
 * library fills with; missing_value; and what is outside valid_range, or valid_min and valid_max.
 */
static weir_status take_absent(file *f, source *s, const char *name)
{
  const double filled = weir_dtype_is_real(s->dtype) ? (double)0x1.ep+122f : (double)NAN;
  double range[2] = {-INFINITY, INFINITY};

  s->fill = number_or(f->nc, s->var, "_FillValue", filled);
  s->missing = number_or(f->nc, s->var, "missing_value", NAN);
  if (weir_netcdf_has(f->nc, s->var, "valid_range")) {
    WEIR_TRY(weir_netcdf_get_numbers(f->nc, s->var, "valid_range", range, 2));
  }
  s->valid_min = number_or(f->nc, s->var, "valid_min", range[0]);
  s->valid_max = number_or(f->nc, s->var, "valid_max", range[1]);
  if (!(s->valid_min <= s->valid_max)) {
    return weir_fail(WEIR_ERR_DATA, "variable %s: its valid range %g to %g is empty", name,
                     s->valid_min, s->valid_max);
  }
  return WEIR_OK;
}

static bool is_absent(const source *s, double x)
{
  return x == s->fill || x == s->missing || !(x >= s->valid_min && x <= s->valid_max);
}

static weir_status take_scale(file *f, source *s, const char *name)
{
  s->gain = number_or(f->nc, s->var, "gain", 1 / number_or(f->nc, s->var, "scale_factor", 1));
  s->baseline =
      number_or(f->nc, s->var, "baseline", -number_or(f->nc, s->var, "add_offset", 0) * s->gain);
  WEIR_TRY(take_absent(f, s, name));
  if (!isfinite(s->gain) || s->gain == 0 || !isfinite(1 / s->gain) || !isfinite(s->baseline)) {
    return weir_fail(WEIR_ERR_DATA, "variable %s: its scale_factor, gain or offset is not a number",
                     name);
  }
  return WEIR_OK;
}

/* A text attribute, *text NULL where there is none. */
static weir_status find_text(weir_netcdf *nc, int var, const char *name, char **text)
{
  const weir_status status =
      weir_netcdf_has(nc, var, name) ? weir_netcdf_get_text(nc, var, name, text) : WEIR_OK;

  return status == WEIR_ERR_DATA ? WEIR_OK : status; /* numbers, for example */
}

/* The variable of flags that belongs to a signal, where it has one of its length that means what is
 * meant here: other programs have flags too, of which 0 need not be good. */
static weir_status find_flags(file *f, source *s, int64_t count)
{
  weir_netcdf_shape shape;
  char *name = NULL, *meanings = NULL;
  weir_status status = WEIR_OK;
  int var = -1;

  s->flags = -1;
  WEIR_TRY_GOTO(find_text(f->nc, s->var, "ancillary_variables", &name), done);
  if (name != NULL && weir_netcdf_find(f->nc, name, &var, &shape) == WEIR_OK && !shape.text &&
      shape.n_dims == 1 && weir_netcdf_holds(shape.dtype, WEIR_U8) && shape.lengths[0] == count) {
    WEIR_TRY_GOTO(find_text(f->nc, var, "flag_meanings", &meanings), done);
    s->flags = meanings != NULL && strcmp(meanings, WEIR_SERIES_MEANINGS) == 0 ? var : -1;
  }
done:
  weir_free(&name);
  weir_free(&meanings);
  return status;
}

/* Stretches that may hold samples, where the file lists them in order. */
static weir_status take_runs(file *f, source *s, int64_t count)
{
  const int64_t n = int_or(f->nc, s->var, WEIR_SERIES_RUNS "_count", 0, 0, WEIR_SERIES_MAX_RUNS);
  double last = 0;

  if (n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&s->runs, &s->run_capacity, 2 * n, sizeof *s->runs));
  WEIR_TRY(weir_netcdf_get_numbers(f->nc, s->var, WEIR_SERIES_RUNS, s->runs, 2 * n));
  for (int64_t i = 0; i < 2 * n; i++) {
    if (!(s->runs[i] >= last) || s->runs[i] > (double)count) {
      return weir_fail(WEIR_ERR_DATA, "signal %s: its segments are not in order", s->name);
    }
    last = s->runs[i];
  }
  s->n_runs = n;
  return WEIR_OK;
}

static weir_status take_variable(file *f, int var, const char *path)
{
  char name[WEIR_SERIES_NAME];
  weir_netcdf_shape shape;
  int64_t num = 0;
  int64_t den = 1;
  bool found = false;
  int same = 0;

  WEIR_TRY(weir_netcdf_name(f->nc, var, name, sizeof name));
  WEIR_TRY(take_rate(f->nc, var, name, &num, &den, &found));
  if (!found) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_find(f->nc, name, &same, &shape));
  if (shape.text || shape.n_dims != 1 || shape.lengths[0] > MAX_SLOTS) {
    return weir_fail(WEIR_ERR_DATA, "variable %s: a signal has one dimension of numbers", name);
  }
  if (f->n_sources == MAX_SIGNALS) {
    return weir_fail(WEIR_ERR_DATA, "more than %d signals", MAX_SIGNALS);
  }
  WEIR_TRY(weir_reserve(&f->sources, &f->source_capacity, f->n_sources + 1, sizeof *f->sources));
  WEIR_TRY(weir_realloc((void **)&f->infos, f->n_sources, f->n_sources + 1, sizeof *f->infos));
  source *const s = &f->sources[f->n_sources];
  weir_signal_info *const info = &f->infos[f->n_sources++];
  const bool integers = weir_dtype_is_whole(shape.dtype) && shape.dtype != WEIR_I64;

  s->var = var;
  s->dtype = shape.dtype;
  WEIR_TRY(weir_netcdf_refuse_unsigned(f->nc, var, s->dtype, path));
  WEIR_TRY(take_scale(f, s, name));
  WEIR_TRY(find_flags(f, s, shape.lengths[0]));
  WEIR_TRY(text_or(f->nc, var, "long_name", name, &s->name));
  WEIR_TRY(text_or(f->nc, var, "units", "", &s->units));
  WEIR_TRY(text_or(f->nc, var, "format", "NetCDF", &s->format));
  WEIR_TRY(take_runs(f, s, shape.lengths[0]));
  *info = (weir_signal_info){
      .name = s->name,
      .units = s->units,
      .file = "",
      .fs_num = num,
      .fs_den = den,
      .count = shape.lengths[0],
      .samples_per_frame = (int)int_or(f->nc, var, "samples_per_frame", 1, 1, 1 << 20),
      .gain = s->gain,
      .baseline = s->baseline,
      .has_checksum = weir_netcdf_has(f->nc, var, "checksum"),
      .checksum = (int)int_or(f->nc, var, "checksum", 0, INT16_MIN, UINT16_MAX),
      .format = s->format};
  if (integers) {
    const int64_t size = 8 * (int64_t)weir_dtype_size(s->dtype);

    info->bits = (int)int_or(f->nc, var, "bits", size, 1, size);
    info->has_invalid = weir_netcdf_has(f->nc, var, "invalid_code");
    info->invalid = (int32_t)int_or(f->nc, var, "invalid_code", 0, INT32_MIN, INT32_MAX);
  }
  return WEIR_OK;
}

/* One text of a variable of characters: a row of `length[rank - 1]` from `start` on. The caller
 * frees it. */
static weir_status read_chars(file *f, int var, const int64_t *start, const int64_t *lengths,
                              int rank, char **out)
{
  const int64_t count[2] = {rank == 1 ? lengths[0] : 1, lengths[rank - 1]};
  void *memory = NULL;

  WEIR_TRY(weir_alloc(lengths[rank - 1] + 1, 1, &memory));
  const weir_status status = weir_netcdf_read(f->nc, var, start, count, memory);

  *out = memory;
  if (status != WEIR_OK) {
    weir_free(out);
  }
  return status;
}

static weir_status take_file(file *f, const char *path)
{
  const char *const slash = strrchr(path, '/');
  int64_t none = 0;
  int n = 0;
  int var = 0;
  weir_netcdf_shape shape;

  WEIR_TRY(weir_netcdf_count(f->nc, &n));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(take_variable(f, i, path));
  }
  WEIR_TRY(find_text(f->nc, WEIR_NETCDF_FILE, WEIR_SERIES_COMMENTS, &f->comments));
  const int64_t kind = int_or(f->nc, WEIR_NETCDF_FILE, WEIR_SERIES_ORIGIN, 0, 0, 2);

  f->start_kind = kind == 1 || kind == 2 ? (int)kind : 0;
  f->start_us = int_or(f->nc, WEIR_NETCDF_FILE, WEIR_SERIES_START, 0, -MAX_EXACT, MAX_EXACT);
  f->utc_offset = (int)int_or(f->nc, WEIR_NETCDF_FILE, WEIR_SERIES_OFFSET, NO_OFFSET, -840, 840);
  if (weir_netcdf_find(f->nc, "record_id", &var, &shape) == WEIR_OK && !shape.text &&
      shape.n_dims == 1 && shape.dtype == WEIR_U8 && shape.lengths[0] > 0 &&
      shape.lengths[0] < WEIR_SERIES_NAME) {
    WEIR_TRY(read_chars(f, var, &none, shape.lengths, 1, &f->name));
    if (weir_record_is_name(f->name, strlen(f->name))) {
      return WEIR_OK;
    }
    /* Files are named after a record, and the name may be "../x". */
    weir_free(&f->name);
  }
  WEIR_TRY(weir_strdup(slash ? slash + 1 : path, &f->name));
  char *const suffix = strrchr(f->name, '.');

  if (suffix) {
    *suffix = 0;
  }
  return WEIR_OK;
}

static void close_file(void *state)
{
  file *f = state;

  weir_netcdf_close(&f->nc);
  for (int64_t i = 0; i < f->source_capacity; i++) {
    weir_free(&f->sources[i].name);
    weir_free(&f->sources[i].units);
    weir_free(&f->sources[i].format);
    weir_free(&f->sources[i].runs);
  }
  weir_free(&f->sources);
  weir_free(&f->infos);
  weir_free(&f->name);
  weir_free(&f->comments);
  weir_free(&f);
}

static bool has_variable(file *f, const char *name)
{
  weir_netcdf_shape shape;
  int var = 0;

  return weir_netcdf_find(f->nc, name, &var, &shape) == WEIR_OK;
}

static weir_status open_file(const char *path, const weir_record_opts *opts, weir_record_body *body)
{
  void *memory = NULL;
  int64_t size = 0;
  weir_status status = WEIR_OK;

  (void)opts;
  WEIR_TRY(weir_file_size(path, &size));
  WEIR_TRY(weir_alloc(1, sizeof(file), &memory));
  file *const f = memory;

  WEIR_TRY_GOTO(weir_netcdf_open(path, &f->nc), fail);
  status = take_file(f, path);
  if (status == WEIR_ERR_DATA && strncmp(weir_last_message(), path, strlen(path)) != 0) {
    /* What is wrong with it is said; which file it is, is not. */
    char reason[512];

    snprintf(reason, sizeof reason, "%s", weir_last_message());
    status = weir_fail(WEIR_ERR_DATA, "%s: %s", path, reason);
  }
  if (status == WEIR_OK && f->n_sources == 0 && !has_variable(f, "event_text")) {
    status = weir_fail(WEIR_ERR_DATA,
                       "%s: there are no signals: one is a variable over one dimension with an "
                       "attribute sampling_rate",
                       path);
  }
  if (status != WEIR_OK) {
    goto fail;
  }
  *body = (weir_record_body){.state = f,
                             .name = f->name,
                             .comments = f->comments,
                             .signals = f->infos,
                             .n_signals = (int)f->n_sources,
                             .start_kind = f->start_kind,
                             .start_us = f->start_us,
                             .has_utc_offset = f->utc_offset != NO_OFFSET,
                             .utc_offset = f->utc_offset};
  return WEIR_OK;
fail:
  close_file(f);
  return status;
}

/* Stored numbers of a piece as doubles: exact for all but 64-bit integers. */
static weir_status load(file *f, const source *s, int64_t start, int64_t n, double *out)
{
  _Alignas(8) uint8_t bytes[PIECE * 8];

  WEIR_TRY(weir_netcdf_read(f->nc, s->var, &start, &n, bytes));
  for (int64_t i = 0; i < n; i++) {
    out[i] = weir_dtype_load_real(s->dtype, bytes, i);
  }
  return WEIR_OK;
}

static weir_status read_piece(file *f, const source *s, int64_t start, int64_t n,
                              const weir_record_slots *to, int64_t at)
{
  double x[PIECE];
  uint8_t flags[PIECE];

  WEIR_TRY(load(f, s, start, n, x));
  if (s->flags >= 0) {
    WEIR_TRY(weir_netcdf_read(f->nc, s->flags, &start, &n, flags));
  }
  for (int64_t i = 0; i < n; i++) {
    const bool flagged = s->flags >= 0 ? flags[i] != 0 : is_absent(s, x[i]);
    const bool present = !flagged && isfinite(x[i]);

    to->present[at + i] = present;
    if (to->values) {
      to->values[at + i] = present ? (float)((x[i] - s->baseline) / s->gain) : 0.0f;
    } else {
      to->raw[at + i] = s->flags >= 0 && (flags[i] & WEIR_SERIES_GAP) ? 0 : (int32_t)x[i];
    }
  }
  return WEIR_OK;
}

static weir_status read_slots(void *state, int signal, int64_t start, int64_t count,
                              const weir_record_slots *to)
{
  file *const f = state;
  const source *const s = &f->sources[signal];

  if (to->raw && f->infos[signal].bits == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "record %s: signal %s does not store integers", f->name,
                     s->name);
  }
  for (int64_t at = 0; at < count; at += PIECE) {
    const int64_t n = count - at < PIECE ? count - at : PIECE;

    WEIR_TRY(read_piece(f, s, start + at, n, to, at));
  }
  return WEIR_OK;
}

static void next_run(const void *state, int signal, int64_t start, int64_t *lo, int64_t *hi)
{
  const file *const f = state;
  const source *const s = &f->sources[signal];

  if (s->n_runs == 0) {
    *lo = start;
    *hi = f->infos[signal].count;
    return;
  }
  for (int64_t i = 0; i < s->n_runs; i++) {
    if (s->runs[2 * i + 1] > (double)start) {
      *lo = s->runs[2 * i] > (double)start ? (int64_t)s->runs[2 * i] : start;
      *hi = (int64_t)s->runs[2 * i + 1];
      return;
    }
  }
}

static weir_status checksum(void *state, int signal, int *sum)
{
  file *const f = state;
  const int64_t count = f->infos[signal].count;
  double x[PIECE];
  uint32_t total = 0;

  if (f->infos[signal].bits == 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "record %s: signal %s does not store integers", f->name,
                     f->sources[signal].name);
  }
  for (int64_t at = 0; at < count; at += PIECE) {
    const int64_t n = count - at < PIECE ? count - at : PIECE;

    WEIR_TRY(load(f, &f->sources[signal], at, n, x));
    for (int64_t i = 0; i < n; i++) {
      total += (uint32_t)(int32_t)x[i];
    }
  }
  *sum = (int)(total & 65535);
  return WEIR_OK;
}

/* One of the numbers of event `i`. */
static weir_status read_number(file *f, const char *name, int64_t i, int64_t *out)
{
  const int64_t one = 1;
  weir_netcdf_shape shape;
  int var = 0;

  WEIR_TRY(weir_netcdf_find(f->nc, name, &var, &shape));
  if (shape.text || shape.n_dims != 1 || !weir_netcdf_holds(shape.dtype, WEIR_I64) ||
      i >= shape.lengths[0]) {
    return weir_fail(WEIR_ERR_DATA, "record %s: %s is not a list of integers, one per event",
                     f->name, name);
  }
  return weir_netcdf_read_whole(f->nc, var, &shape, &i, &one, out);
}

static weir_status read_event(file *f, int64_t start_us, int text, const weir_netcdf_shape *shape,
                              bool zeros, int64_t i, weir_record_events *out)
{
  static const char *const names[] = WEIR_SERIES_EVENT;
  const int64_t limit = INT64_MAX / 4000;
  int64_t x[WEIR_SERIES_EVENT_ZEROS + 1] = {0};
  char *words = NULL;

  for (int k = 0; k < WEIR_SERIES_EVENT_ZEROS + zeros; k++) {
    WEIR_TRY(read_number(f, names[k], i, &x[k]));
  }
  if (x[0] > limit || x[0] < -limit || start_us > limit || start_us < -limit || x[1] > limit) {
    return weir_fail(WEIR_ERR_DATA, "record %s: event %lld: its time is out of range", f->name,
                     (long long)i);
  }
  const weir_record_event event = {.time = (x[0] - start_us) * 1000,
                                   .duration = x[1] < 0 ? -1 : x[1] * 1000,
                                   .code = (int)x[2],
                                   .subtype = (int)x[3],
                                   .channel = (int)x[4],
                                   .number = (int)x[5],
                                   .zeros = (int)x[WEIR_SERIES_EVENT_ZEROS]};

  const int64_t start[] = {i, 0};

  WEIR_TRY(read_chars(f, text, start, shape->lengths, 2, &words));
  const weir_status status = weir_record_events_add(out, &event, words, (int64_t)strlen(words));

  weir_free(&words);
  return status;
}

/* Start of the record as times of events count it: they are since 1970, or since that start. */
static weir_status find_event_start(file *f, int64_t *start_us)
{
  weir_netcdf_shape shape;
  char *units = NULL;
  int var = 0;

  *start_us = f->start_us;
  if (weir_netcdf_find(f->nc, "event_time", &var, &shape) != WEIR_OK) {
    return WEIR_OK; /* reading it says so */
  }
  WEIR_TRY(find_text(f->nc, var, "units", &units));
  if (units != NULL && strcmp(units, WEIR_NETCDF_SINCE_1970) != 0) {
    *start_us = 0;
  }
  weir_free(&units);
  return WEIR_OK;
}

static weir_status read_events(void *state, weir_record_events *out)
{
  file *const f = state;
  weir_netcdf_shape shape;
  int64_t start_us = 0;
  int text = 0;

  if (weir_netcdf_find(f->nc, "event_text", &text, &shape) != WEIR_OK || shape.text ||
      shape.n_dims != 2 || shape.dtype != WEIR_U8 || shape.lengths[1] > WEIR_SERIES_MAX_TEXT) {
    return WEIR_OK; /* none */
  }
  const bool zeros = has_variable(f, "event_text_zeros");

  WEIR_TRY(find_event_start(f, &start_us));

  for (int64_t i = 0; i < shape.lengths[0]; i++) {
    WEIR_TRY(read_event(f, start_us, text, &shape, zeros, i, out));
  }
  return WEIR_OK;
}

extern const weir_record_format weir_record_format_netcdf;
const weir_record_format weir_record_format_netcdf = {
    .name = "netcdf",
    .help = "a NetCDF file of signals (.nc)",
    .claims = claims,
    .open = open_file,
    .close = close_file,
    .stores_integers = true,
    .read = read_slots,
    .next_run = next_run,
    .checksum = checksum,
    .events = read_events,
};
