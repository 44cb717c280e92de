/* series_write.c - a record as a CF timeSeries. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/netcdf/series_priv.h"
#include "io/weir_netcdf.h"
#include "io/weir_record_convert.h"

enum { BLOCK = WEIR_SERIES_BLOCK };

/* The clock of the signals of one rate and length. */
typedef struct axis {
  int64_t num, den, count;
  int dim, var;
} axis;

/* One signal: its variable and that of its flags. */
typedef struct column {
  int64_t axis;
  int var, flags;
  weir_dtype dtype;
  int32_t fill;
  char name[WEIR_SERIES_NAME];
} column;

typedef struct sheet {
  weir_record *r;
  weir_netcdf *nc;
  const char *comments;
  int64_t start_us, origin_us; /* origin: from which times are counted */
  int64_t n_axes, axis_capacity;
  axis *axes;
  column *columns;
  weir_convert_facts *facts;
  int32_t raw[BLOCK];
  int16_t small[BLOCK];
  float values[BLOCK];
  uint8_t present[BLOCK], flags[BLOCK];
  int64_t times[BLOCK];
} sheet;

static weir_status put_int(sheet *s, int var, const char *name, int64_t value)
{
  return weir_netcdf_put_numbers(s->nc, var, name, WEIR_I64, &value, 1);
}

static weir_status put_real(sheet *s, int var, const char *name, double value)
{
  return weir_netcdf_put_numbers(s->nc, var, name, WEIR_F64, &value, 1);
}

static weir_status define_file(sheet *s)
{
  static const char *const kinds[] = {"time in microseconds after the first sample; no start known",
                                      "time of day in microseconds; no date known",
                                      "microseconds of the recorder's clock; zone not known",
                                      "microseconds of the recorder's clock, local time"};
  const int kind = weir_record_start(s->r, &s->start_us);
  int id = 0, offset = 0;
  const bool has_offset = weir_record_utc_offset(s->r, &offset);

  s->start_us = kind ? s->start_us : 0;
  s->origin_us = weir_netcdf_time_origin(s->start_us);
  WEIR_TRY(weir_netcdf_put_text(s->nc, WEIR_NETCDF_FILE, "source", "Weir"));
  WEIR_TRY(weir_netcdf_put_text(s->nc, WEIR_NETCDF_FILE, "comment", kinds[kind + has_offset]));
  if (s->comments && s->comments[0]) {
    WEIR_TRY(weir_netcdf_put_text(s->nc, WEIR_NETCDF_FILE, WEIR_SERIES_COMMENTS, s->comments));
  }
  WEIR_TRY(put_int(s, WEIR_NETCDF_FILE, WEIR_SERIES_ORIGIN, kind));
  WEIR_TRY(put_int(s, WEIR_NETCDF_FILE, WEIR_SERIES_START, s->start_us));
  if (has_offset) {
    WEIR_TRY(put_int(s, WEIR_NETCDF_FILE, WEIR_SERIES_OFFSET, offset));
  }
  const char *const name = weir_record_name(s->r);
  const int64_t start = 0;
  const int64_t length = (int64_t)strlen(name);
  int dim = 0;

  WEIR_TRY(weir_netcdf_dim(s->nc, "record_id_length", length, &dim));
  WEIR_TRY(weir_netcdf_char_var(s->nc, "record_id", 1, &dim, &id));
  WEIR_TRY(weir_netcdf_put_text(s->nc, id, "cf_role", "timeseries_id"));
  WEIR_TRY(weir_netcdf_put_text(s->nc, id, "long_name", "name of the record"));
  return weir_netcdf_write(s->nc, id, &start, &length, name);
}

/* The clock of a signal: that of an earlier one, or a new one. */
static weir_status find_axis(sheet *s, const weir_signal_info *info, int64_t *index)
{
  char name[32];

  for (*index = 0; *index < s->n_axes; ++*index) {
    const axis *const a = &s->axes[*index];

    if (a->num == info->fs_num && a->den == info->fs_den && a->count == info->count) {
      return WEIR_OK;
    }
  }
  WEIR_TRY(weir_reserve(&s->axes, &s->axis_capacity, s->n_axes + 1, sizeof *s->axes));
  axis *const a = &s->axes[s->n_axes++];

  *a = (axis){.num = info->fs_num, .den = info->fs_den, .count = info->count};
  snprintf(name, sizeof name, *index ? "time_%d" : "time", (int)*index);
  WEIR_TRY(weir_netcdf_dim(s->nc, name, a->count ? a->count : WEIR_NETCDF_UNLIMITED, &a->dim));
  WEIR_TRY(weir_netcdf_var(s->nc, name, WEIR_I64, 1, &a->dim, &a->var));
  const int64_t chunk = a->count < 1 ? 1 : a->count < BLOCK ? a->count : BLOCK;

  WEIR_TRY(weir_netcdf_chunk(s->nc, a->var, &chunk, 1));
  WEIR_TRY(weir_netcdf_put_time(s->nc, a->var, s->origin_us));
  return weir_netcdf_put_text(s->nc, a->var, "axis", "T");
}

static bool ends_in_flags(const char *name)
{
  const size_t n = strlen(name);

  return n >= 6 && strcmp(name + n - 6, "_flags") == 0;
}

/* A name that any program takes: letters, digits and '_', unlike all others of the file. */
static void name_column(const sheet *s, int i, const char *label)
{
  char name[80];
  bool taken = !isalpha((unsigned char)label[0]);

  snprintf(name, sizeof name, "%.64s", label);
  for (char *at = name; *at; at++) {
    *at = isalnum((unsigned char)*at) ? *at : '_';
  }
  taken = taken || strncmp(name, "time", 4) == 0 || strncmp(name, "event", 5) == 0 ||
          strcmp(name, "record_id") == 0 || ends_in_flags(name) ||
          (strncmp(name, "signal", 6) == 0 && isdigit((unsigned char)name[6]));
  for (int k = 0; k < i; k++) {
    taken = taken || strcmp(name, s->columns[k].name) == 0;
  }
  if (taken) {
    snprintf(s->columns[i].name, sizeof s->columns[i].name, "signal%d_%s", i, name);
  } else {
    strcpy(s->columns[i].name, name);
  }
}

static weir_status describe_flags(sheet *s, const column *c)
{
  static const uint8_t masks[] = {WEIR_SERIES_INVALID, WEIR_SERIES_GAP};

  WEIR_TRY(weir_netcdf_put_text(s->nc, c->flags, "standard_name", "status_flag"));
  WEIR_TRY(weir_netcdf_put_numbers(s->nc, c->flags, "flag_masks", WEIR_U8, masks, 2));
  return weir_netcdf_put_text(s->nc, c->flags, "flag_meanings", WEIR_SERIES_MEANINGS);
}

/* Attributes that say what the integers mean, in this file and in the one they came from. */
static weir_status describe_integers(sheet *s, const column *c, const weir_signal_info *info)
{
  const int16_t small = (int16_t)c->fill;

  WEIR_TRY(weir_netcdf_put_numbers(s->nc, c->var, "_FillValue", c->dtype,
                                   c->dtype == WEIR_I16 ? (const void *)&small : &c->fill, 1));
  WEIR_TRY(put_real(s, c->var, "scale_factor", 1 / info->gain));
  WEIR_TRY(put_real(s, c->var, "add_offset", -info->baseline / info->gain));
  WEIR_TRY(put_real(s, c->var, "gain", info->gain));
  WEIR_TRY(put_real(s, c->var, "baseline", info->baseline));
  WEIR_TRY(put_int(s, c->var, "bits", info->bits));
  if (info->has_invalid) {
    WEIR_TRY(put_int(s, c->var, "invalid_code", info->invalid));
  }
  return info->has_checksum ? put_int(s, c->var, "source_checksum", info->checksum & 65535)
                            : WEIR_OK;
}

static weir_status describe_column(sheet *s, const column *c, const weir_signal_info *info)
{
  const float none = NAN;
  char text[WEIR_SERIES_NAME + 8];

  WEIR_TRY(weir_netcdf_put_text(s->nc, c->var, "long_name", info->name));
  WEIR_TRY(weir_netcdf_put_text(s->nc, c->var, "units", info->units));
  WEIR_TRY(weir_netcdf_put_text(s->nc, c->var, "coordinates", "record_id"));
  snprintf(text, sizeof text, "%s_flags", c->name);
  WEIR_TRY(weir_netcdf_put_text(s->nc, c->var, "ancillary_variables", text));
  WEIR_TRY(weir_netcdf_put_text(s->nc, c->var, "format", info->format));
  WEIR_TRY(put_int(s, c->var, "samples_per_frame", info->samples_per_frame));
  WEIR_TRY(put_int(s, c->var, "source_skew", info->skew));
  WEIR_TRY(weir_netcdf_put_rate(s->nc, c->var, info->fs_num, info->fs_den));
  if (c->dtype == WEIR_F32) {
    return weir_netcdf_put_numbers(s->nc, c->var, "_FillValue", WEIR_F32, &none, 1);
  }
  return describe_integers(s, c, info);
}

static weir_status define_column(sheet *s, int i)
{
  const weir_signal_info *const info = weir_record_signal(s->r, i);
  column *const c = &s->columns[i];
  char flags[WEIR_SERIES_NAME + 8];

  WEIR_TRY(find_axis(s, info, &c->axis));
  name_column(s, i, info->name);
  c->dtype = info->bits == 0 || info->scale_varies   ? WEIR_F32
             : info->bits <= 16 && info->has_invalid ? WEIR_I16
                                                     : WEIR_I32;
  c->fill = info->has_invalid ? info->invalid : INT32_MIN;
  const axis *const a = &s->axes[c->axis];
  const int64_t chunk = a->count < 1 ? 1 : a->count < BLOCK ? a->count : BLOCK;

  snprintf(flags, sizeof flags, "%s_flags", c->name);
  WEIR_TRY(weir_netcdf_var(s->nc, c->name, c->dtype, 1, &a->dim, &c->var));
  WEIR_TRY(weir_netcdf_chunk(s->nc, c->var, &chunk, 1));
  WEIR_TRY(weir_netcdf_var(s->nc, flags, WEIR_U8, 1, &a->dim, &c->flags));
  WEIR_TRY(weir_netcdf_chunk(s->nc, c->flags, &chunk, 1));
  WEIR_TRY(describe_flags(s, c));
  return describe_column(s, c, info);
}

static weir_status write_axis(sheet *s, const axis *a)
{
  for (int64_t at = 0; at < a->count; at += BLOCK) {
    const int64_t n = a->count - at < BLOCK ? a->count - at : BLOCK;

    for (int64_t i = 0; i < n; i++) {
      const __int128 twice = (__int128)(at + i) * 2000000 * a->den + a->num;

      s->times[i] = s->start_us - s->origin_us + (int64_t)(twice / (2 * (__int128)a->num));
    }
    WEIR_TRY(weir_netcdf_write(s->nc, a->var, &at, &n, s->times));
  }
  return WEIR_OK;
}

/* The block's integers as they are stored here, and what is the matter with each. */
static const void *pack(sheet *s, const column *c, int64_t n, uint32_t *sum)
{
  for (int64_t i = 0; i < n; i++) {
    const bool gap =
        !s->present[i] && (c->dtype == WEIR_F32 || s->raw[i] == 0 || s->raw[i] != c->fill);

    s->flags[i] = s->present[i] ? 0 : gap ? WEIR_SERIES_GAP : WEIR_SERIES_INVALID;
    s->facts->absent += !s->present[i];
    if (c->dtype == WEIR_F32) {
      s->values[i] = s->present[i] ? s->values[i] : NAN;
      continue;
    }
    s->raw[i] = s->present[i] ? s->raw[i] : c->fill;
    s->small[i] = (int16_t)s->raw[i];
    *sum += (uint32_t)s->raw[i];
  }
  return c->dtype == WEIR_F32   ? (const void *)s->values
         : c->dtype == WEIR_I16 ? (const void *)s->small
                                : s->raw;
}

static weir_status write_column(sheet *s, int i)
{
  const column *const c = &s->columns[i];
  const int64_t count = s->axes[c->axis].count;
  uint32_t sum = 0;

  for (int64_t at = 0; at < count; at += BLOCK) {
    const int64_t n = count - at < BLOCK ? count - at : BLOCK;

    WEIR_TRY(c->dtype == WEIR_F32 ? weir_record_read(s->r, i, at, n, s->values, s->present)
                                  : weir_record_read_raw(s->r, i, at, n, s->raw, s->present));
    const void *const data = pack(s, c, n, &sum);

    WEIR_TRY(weir_netcdf_write(s->nc, c->var, &at, &n, data));
    WEIR_TRY(weir_netcdf_write(s->nc, c->flags, &at, &n, s->flags));
  }
  s->facts->samples += count;
  return c->dtype == WEIR_F32 ? WEIR_OK : put_int(s, c->var, "checksum", sum & 65535);
}

static weir_status write_numbers(sheet *s, int dim, const weir_record_events *e, int what)
{
  static const char *const names[] = WEIR_SERIES_EVENT;
  static const char *const meaning[] = {
      "time of the event",          "duration of the event",        "annotation code of WFDB",
      "annotation subtype of WFDB", "channel that the event is of", "annotation number of WFDB",
      "zeros in the text"};
  int var = 0;

  const bool is_time = what == WEIR_SERIES_EVENT_TIME || what == WEIR_SERIES_EVENT_DURATION;

  WEIR_TRY(
      weir_netcdf_whole_var(s->nc, names[what], is_time ? INT64_MAX : INT32_MAX, 1, &dim, &var));
  WEIR_TRY(weir_netcdf_put_text(s->nc, var, "long_name", meaning[what]));
  if (what == WEIR_SERIES_EVENT_TIME) {
    WEIR_TRY(weir_netcdf_put_time(s->nc, var, s->origin_us));
  } else if (what == WEIR_SERIES_EVENT_DURATION) {
    WEIR_TRY(weir_netcdf_put_text(s->nc, var, "units", "microseconds"));
    WEIR_TRY(weir_netcdf_put_text(s->nc, var, "comment", "-1 where none is stated"));
  } else if (what == WEIR_SERIES_EVENT_ZEROS) {
    WEIR_TRY(weir_netcdf_put_text(
        s->nc, var, "comment", "bytes of 0 that the annotation file counts as part of the text"));
  }
  for (int64_t at = 0; at < e->count; at += BLOCK) {
    const int64_t n = e->count - at < BLOCK ? e->count - at : BLOCK;

    for (int64_t i = 0; i < n; i++) {
      const weir_record_event *const x = &e->items[at + i];
      const int64_t duration = x->duration < 0 ? -1 : (x->duration + 500) / 1000;
      const int64_t time = (x->time + (x->time < 0 ? -500 : 500)) / 1000;
      const int64_t all[] = {s->start_us - s->origin_us + time,
                             duration,
                             x->code,
                             x->subtype,
                             x->channel,
                             x->number,
                             x->zeros};

      s->times[i] = all[what];
    }
    WEIR_TRY(weir_netcdf_write(s->nc, var, &at, &n, s->times));
  }
  return WEIR_OK;
}

/* Texts as rows of characters, ended by zeros; longer ones are truncated between characters.
 */
static weir_status write_texts(sheet *s, int dim, const weir_record_events *e)
{
  int64_t longest = 1;
  int dims[2] = {dim, 0};
  int var = 0;

  for (int64_t i = 0; i < e->count; i++) {
    const int64_t n = (int64_t)weir_record_text_fit(e->items[i].text, WEIR_SERIES_MAX_TEXT);

    longest = n > longest ? n : longest;
  }
  const int64_t rows = BLOCK / longest;
  const int64_t chunk[] = {e->count < rows ? e->count : rows, longest};
  char *const text = (char *)s->raw; /* a block of it: rows * longest bytes at most */

  WEIR_TRY(weir_netcdf_dim(s->nc, "event_text_length", longest, &dims[1]));
  WEIR_TRY(weir_netcdf_char_var(s->nc, "event_text", 2, dims, &var));
  WEIR_TRY(weir_netcdf_chunk(s->nc, var, chunk, 1));
  for (int64_t at = 0; at < e->count; at += rows) {
    const int64_t start[] = {at, 0};
    const int64_t count[] = {e->count - at < rows ? e->count - at : rows, longest};

    memset(text, 0, (size_t)(count[0] * longest));
    for (int64_t i = 0; i < count[0]; i++) {
      const char *const from = e->items[at + i].text;

      memcpy(text + i * longest, from, weir_record_text_fit(from, WEIR_SERIES_MAX_TEXT));
    }
    WEIR_TRY(weir_netcdf_write(s->nc, var, start, count, text));
  }
  return WEIR_OK;
}

static weir_status write_events(sheet *s, const weir_record_events *e)
{
  bool zeros = false;
  int dim = 0;

  if (!e || e->count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_dim(s->nc, "event", e->count, &dim));
  for (int64_t i = 0; i < e->count; i++) {
    zeros = zeros || e->items[i].zeros > 0;
  }
  for (int what = 0; what < WEIR_SERIES_EVENT_ZEROS + zeros; what++) {
    WEIR_TRY(write_numbers(s, dim, e, what));
  }
  return write_texts(s, dim, e);
}

/* Where samples may be present, so that gaps cost a reader nothing; left out where there are too
 * many runs to say. */
static weir_status write_runs(sheet *s, int i)
{
  int64_t *const runs = s->times;
  const int64_t count = weir_record_signal(s->r, i)->count;
  int64_t n = 0;

  for (int64_t lo = 0, hi = 0; hi < count; n++) {
    if (n == WEIR_SERIES_MAX_RUNS) {
      return WEIR_OK;
    }
    WEIR_TRY(weir_record_next_run(s->r, i, hi, &lo, &hi));
    if (lo == hi) {
      break;
    }
    runs[2 * n] = lo;
    runs[2 * n + 1] = hi;
  }
  if (n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(put_int(s, s->columns[i].var, WEIR_SERIES_RUNS "_count", n));
  return weir_netcdf_put_numbers(s->nc, s->columns[i].var, WEIR_SERIES_RUNS, WEIR_I64, runs, 2 * n);
}

static weir_status write_all(sheet *s, const weir_record_events *events, const char *path)
{
  const int n = weir_record_signals(s->r);
  void *memory = NULL;

  WEIR_TRY(weir_alloc(n, sizeof *s->columns, &memory));
  s->columns = memory;
  WEIR_TRY(weir_netcdf_create_cf(path, "signals of one recording", &s->nc));
  WEIR_TRY(define_file(s));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(define_column(s, i));
    WEIR_TRY(write_runs(s, i));
  }
  if (s->n_axes == 1) { /* CF has one clock for all features of a file */
    WEIR_TRY(weir_netcdf_put_text(s->nc, WEIR_NETCDF_FILE, "featureType", "timeSeries"));
  }
  for (int64_t i = 0; i < s->n_axes; i++) {
    WEIR_TRY(write_axis(s, &s->axes[i]));
  }
  for (int i = 0; i < n; i++) {
    WEIR_TRY(write_column(s, i));
  }
  WEIR_TRY(write_events(s, events));
  return weir_netcdf_commit(&s->nc);
}

weir_status weir_record_to_netcdf(weir_record *r, const weir_record_events *events,
                                  const char *comments, const char *path, weir_convert_facts *facts)
{
  void *memory = NULL;

  *facts = (weir_convert_facts){.n_files = 1};
  WEIR_TRY(weir_alloc(1, sizeof(sheet), &memory));
  sheet *s = memory;

  s->r = r;
  s->comments = comments;
  s->facts = facts;
  const weir_status status = write_all(s, events, path);

  weir_netcdf_close(&s->nc);
  weir_free(&s->axes);
  weir_free(&s->columns);
  weir_free(&s);
  return status;
}
