/* input.c - see input.h. */
#include "data/input.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/checksums.h"
#include "stream/weir_series.h"

enum { PATH_SIZE = 4096, SKIP_BLOCK = 4096 };
#define SYNTH_SIGNAL "ECG"

struct ps_input {
  weir_record *record; /* or */
  ps_synth *synth;     /* or */
  ps_live *live;
  int signal;
  int64_t at; /* next sample of the built-in recording */
  ps_input_info facts;
  double scale;  /* of a value as its source has it */
  bool measures; /* the amplitude of what is read: */
  ps_amplitude amplitude;
  int64_t first;   /* slot of the range, facts.count its end */
  bool range_ends; /* before the end of the recording */
  char *files[2];
  int n_files;
};

static weir_status add_file(ps_input *in, const char *path)
{
  WEIR_TRY(weir_strdup(path, &in->files[in->n_files]));
  in->n_files++;
  return WEIR_OK;
}

/* Header and signal file of a record, as far as they are files. */
static weir_status list_files(ps_input *in, const char *path, const char *data)
{
  char text[PATH_SIZE + 8];
  const char *slash = strrchr(path, '/');
  const int folder = slash == NULL ? 0 : (int)(slash - path) + 1;

  (void)snprintf(text, sizeof text, "%s.hea", path);
  WEIR_TRY(add_file(in, weir_file_exists(text) ? text : path));
  if (data != NULL && data[0] != 0) {
    (void)snprintf(text, sizeof text, "%.*s%s", folder, path, data);
    if (weir_file_exists(text) && strcmp(text, in->files[0]) != 0) {
      WEIR_TRY(add_file(in, text));
    }
  }
  return WEIR_OK;
}

/* Adds how to set the option that avoids the reader's failure. */
static weir_status advise(weir_status status, const ps_input_opts *opts)
{
  const struct {
    const char *option, *advice;
  } known[] = {
      {"allow_short", "--set input.allow_short=true"},
      {"zero_gain", "--set input.zero_gain=true"},
      {"csv_fs", opts->fs > 0 ? "leave input.fs out" : "--set input.fs=HZ"},
      {"signal", "--set input.signal=NAME"},
  };

  for (size_t i = 0; status != WEIR_OK && i < sizeof known / sizeof known[0]; i++) {
    if (strcmp(weir_last_option(), known[i].option) == 0) {
      return weir_fail(status, "%s: %s", weir_last_message(), known[i].advice);
    }
  }
  return status;
}

weir_status ps_input_path(const ps_input_opts *opts, const char *name, char *path, size_t size)
{
  return ps_physionet_path(opts->physionet, name, path, size);
}

int ps_input_checksums(const ps_input_opts *opts, const char *path)
{
  const size_t n = strlen(opts->physionet);
  const bool below = n > 0 && strncmp(path, opts->physionet, n) == 0 && path[n] == '/';

  return below && opts->checksums == PS_CHECKSUMS_LISTED ? PS_CHECKSUMS_REQUIRED : opts->checksums;
}

weir_status ps_input_open_record(const ps_input_opts *opts, const char *name, weir_record **out)
{
  char path[PATH_SIZE];

  *out = NULL;
  WEIR_TRY(ps_input_path(opts, name, path, sizeof path));
  const weir_record_opts how = {.allow_short = opts->allow_short,
                                .csv_fs = opts->fs,
                                .zero_gain = opts->zero_gain,
                                .derived_leads = opts->derived_leads};
  weir_status status = ps_checksums_verify(ps_input_checksums(opts, path), path);

  status = status == WEIR_OK ? weir_record_open(path, &how, out) : status;
  if (status == WEIR_ERR_DATA && strchr(path, ':') != NULL && !weir_file_exists(path)) {
    return weir_fail(status,
                     "%s: there is no such record; if live input is meant, its addresses are -, "
                     "tcp:[HOST:]PORT and unix:PATH",
                     path);
  }
  return advise(status, opts);
}

/* A truncated record that the options accept: the user knows that it is, not how much of it. */
static void warn_of_truncation(const ps_input_info *f, int64_t missing)
{
  if (missing > 0) {
    weir_warn("input",
              "%s, signal %s: the file is truncated: %lld of %lld samples, the last %.6g s, are "
              "missing and read as a gap (input.allow_short)",
              f->name, f->signal, (long long)missing, (long long)f->count,
              (double)missing * (double)f->fs_den / (double)f->fs_num);
  }
}

static weir_status open_record(ps_input *in, const ps_input_opts *opts, const char *name)
{
  char path[PATH_SIZE];

  WEIR_TRY(ps_input_path(opts, name, path, sizeof path));
  WEIR_TRY(ps_input_open_record(opts, name, &in->record));
  WEIR_TRY(advise(weir_record_find(in->record, opts->signal, &in->signal), opts));
  const weir_signal_info *s = weir_record_signal(in->record, in->signal);

  in->facts = (ps_input_info){.name = weir_record_name(in->record),
                              .signal = s->name,
                              .units = s->units,
                              .fs_num = s->fs_num,
                              .fs_den = s->fs_den,
                              .count = s->count,
                              .missing_segments = weir_record_missing_segments(in->record)};
  in->facts.start_kind = weir_record_start(in->record, &in->facts.start_us);
  warn_of_truncation(&in->facts, s->n_truncated);
  return list_files(in, path, s->file);
}

static weir_status open_synth(ps_input *in, const char *signal, const ps_synth_opts *opts,
                              uint64_t seed)
{
  if (signal[0] != 0 && strcmp(signal, "0") != 0 && strcmp(signal, SYNTH_SIGNAL) != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "there is no signal '%s' in the built-in recording, which has " SYNTH_SIGNAL
                     ": to read a recording that has it, set input.record (--input PATH)",
                     signal);
  }
  WEIR_TRY(ps_synth_create(opts, seed, &in->synth));
  in->facts = (ps_input_info){.name = PS_SYNTH_NAME,
                              .signal = SYNTH_SIGNAL,
                              .units = "mV",
                              .count = ps_synth_count(in->synth)};
  ps_synth_rate(in->synth, &in->facts.fs_num, &in->facts.fs_den);
  return WEIR_OK;
}

/* `unit` is what is asked for. */
static weir_status refuse_unit(const ps_input *in, const char *unit)
{
  const bool spelling = strcasecmp(in->facts.units, unit) == 0; /* MV, for mV */

  return weir_fail(
      WEIR_ERR_CONFIG,
      "signal %s of %s is in %s, and %s is asked for, %s: choose "
      "another signal (input.signal); where the file is wrong, mend its header, or write "
      "a query with {select: {value: x / 1 [%s] * 1 [%s]}}",
      in->facts.signal, in->facts.name, in->facts.units, unit,
      spelling ? "which is spelt so: other letters may mean another unit (mV: millivolts, MV: mega)"
               : "a unit of another quantity",
      in->facts.units, unit);
}

/* Values in `unit`, "" for the file's; `unit` is borrowed. */
static weir_status use_unit(ps_input *in, const char *unit)
{
  double factor = 1;

  if (in->facts.units == NULL || in->facts.units[0] == 0) {
    in->facts.units = "NU"; /* no units, as WFDB has it */
  }
  if (unit[0] == 0) {
    return WEIR_OK;
  }
  if (weir_unit_is_stated(in->facts.units) && !weir_unit_factor(in->facts.units, unit, &factor)) {
    return refuse_unit(in, unit);
  }
  if (factor != 1) {
    weir_info("input", "signal %s of %s is converted from %s to %s", in->facts.signal,
              in->facts.name, in->facts.units, unit);
  }
  in->facts.units = unit;
  in->scale *= factor;
  return WEIR_OK;
}

weir_status ps_input_need_millivolts(ps_input *in)
{
  if (!weir_unit_is_stated(in->facts.units)) {
    weir_warn(
        "input",
        "signal %s of %s states no unit (%s): its beats are found, for levels are learnt from "
        "the signal, but options in mV and the report's axis may be wrong: set input.unit",
        in->facts.signal, in->facts.name, in->facts.units);
    return WEIR_OK;
  }
  in->measures = true;
  return use_unit(in, "mV");
}

const ps_amplitude *ps_input_amplitude(const ps_input *in)
{
  return &in->amplitude;
}

static void end_live(void *user, int64_t end)
{
  ps_input_info *f = &((ps_input *)user)->facts;
  const __int128 per = (__int128)f->fs_den * 1000000000;

  f->end_ns = end;
  f->count = (int64_t)(((__int128)end * f->fs_num + per - 1) / per);
}

/* Makes `in` read a signal of l; without success the others keep l. */
static weir_status join_live(ps_input *in, ps_live *l, const char *signal)
{
  WEIR_TRY(ps_live_find(l, signal, &in->signal));
  WEIR_TRY(ps_live_join(l, in->signal, in));
  in->live = l;
  const weir_live_stream *s = weir_live_get(l->live, in->signal);

  in->facts = (ps_input_info){.name = weir_live_name(l->live),
                              .signal = s->name,
                              .units = s->unit,
                              .fs_num = s->fs_num,
                              .fs_den = s->fs_den,
                              .count = WEIR_STREAM_OPEN,
                              .live = weir_live_counted(l->live)};
  in->facts.start_kind = weir_live_start(l->live, &in->facts.start_us);
  return WEIR_OK;
}

static weir_status open_live(ps_input *in, const ps_input_opts *opts)
{
  const weir_live_cfg cfg = {.lateness = opts->lateness,
                             .tolerance = opts->tolerance,
                             .max_ahead = opts->max_ahead,
                             .timeout = opts->timeout,
                             .max_bad_lines = opts->max_bad_lines};

  ps_live *l = NULL;

  WEIR_TRY(ps_live_open(opts->live, opts->remote, &cfg, end_live, &l));
  const weir_status status = join_live(in, l, opts->signal);

  if (status != WEIR_OK && in->live == NULL) {
    ps_live_leave(&l, 0, NULL);
  }
  return status;
}

weir_status ps_input_join(const ps_input *other, const char *signal, const char *unit,
                          ps_input **out)
{
  ps_input *in = NULL;

  *out = NULL;
  WEIR_ASSERT(other->live != NULL);
  WEIR_TRY(weir_alloc(1, sizeof *in, (void **)&in));
  in->scale = 1;
  weir_status status = join_live(in, other->live, signal);

  if (status != WEIR_OK) {
    weir_free(&in);
    return status;
  }
  WEIR_TRY_GOTO(use_unit(in, unit), done);
  *out = in;
  return WEIR_OK;
done:
  ps_input_close(&in);
  return status;
}

bool ps_input_is_built_in(const ps_input_opts *o)
{
  return o->records.count == 0 && o->record[0] == 0 && o->csv[0] == 0 && o->live[0] == 0;
}

bool ps_input_rereads(const ps_input_opts *opts)
{
  return opts->record[0] != 0 || opts->csv[0] != 0;
}

weir_status ps_input_check(const ps_input_opts *opts)
{
  const bool record = opts->record[0] != 0, csv = opts->csv[0] != 0, live = opts->live[0] != 0;

  if (record && csv) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "input.record is %s and input.csv is %s: only one of them can be read",
                     opts->record, opts->csv);
  }
  if (live && (record || csv)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "input.live is %s and input.%s is %s: only one of them can be read",
                     opts->live, record ? "record" : "csv", record ? opts->record : opts->csv);
  }
  if (opts->fs > 0 && !record && !csv) {
    return weir_fail(WEIR_ERR_CONFIG, "input.fs is %.9g Hz, but it is for text files: %s", opts->fs,
                     live ? "the #stream lines of live input say"
                          : "the rate of the built-in recording is ecgsyn.model.rate");
  }
  return WEIR_OK;
}

weir_status ps_input_range_check(const ps_input_opts *opts)
{
  if (opts->to > 0 && opts->from >= opts->to) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "input.from is %.9g s and input.to %.9g s: no time is between", opts->from,
                     opts->to);
  }
  if (opts->live[0] != 0 && (opts->from > 0 || opts->to > 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "input.live is %s: input.from and input.to are for recordings", opts->live);
  }
  return WEIR_OK;
}

/* The first slot at or after a time, which may be off it by rounding. */
static double slot_at(const ps_input_info *f, double seconds)
{
  const double exact = seconds * (double)f->fs_num / (double)f->fs_den, whole = nearbyint(exact);

  return fabs(exact - whole) <= 1e-9 * fmax(1, fabs(exact)) ? whole : ceil(exact);
}

/* Narrows what is read to the range asked for. */
static weir_status use_range(ps_input *in, const ps_input_opts *opts)
{
  ps_input_info *f = &in->facts;
  const double first = slot_at(f, opts->from), end = slot_at(f, opts->to);

  WEIR_TRY(ps_input_range_check(opts));
  if (opts->from > 0 && first >= (double)f->count) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "input.from: %.9g s is past the end of %s, which is %.9g s long", opts->from,
                     f->name, (double)f->count * (double)f->fs_den / (double)f->fs_num);
  }
  in->first = (int64_t)first;
  in->range_ends = opts->to > 0 && end < (double)f->count;
  f->count = in->range_ends ? (int64_t)end : f->count;
  if (in->first > 0 && in->first >= f->count) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "no sample of %s, signal %s, is between input.from %.9g s and "
                     "input.to %.9g s",
                     f->name, f->signal, opts->from, opts->to);
  }
  return WEIR_OK;
}

weir_status ps_input_open(const ps_input_opts *opts, const ps_synth_opts *synth, uint64_t seed,
                          ps_input **out)
{
  const bool record = opts->record[0] != 0, csv = opts->csv[0] != 0, live = opts->live[0] != 0;
  ps_input *in = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(ps_input_check(opts));
  WEIR_TRY(weir_alloc(1, sizeof *in, (void **)&in));
  in->scale = 1;
  if (live) {
    WEIR_TRY_GOTO(open_live(in, opts), done);
  } else if (record || csv) {
    WEIR_TRY_GOTO(open_record(in, opts, record ? opts->record : opts->csv), done);
  } else {
    WEIR_TRY_GOTO(open_synth(in, opts->signal, synth, seed), done);
  }
  WEIR_TRY_GOTO(use_unit(in, opts->unit), done);
  WEIR_TRY_GOTO(use_range(in, opts), done);
  *out = in;
  return WEIR_OK;
done:
  ps_input_close(&in);
  return status;
}

void ps_input_close(ps_input **in)
{
  if (*in == NULL) {
    return;
  }
  weir_record_close(&(*in)->record);
  ps_synth_destroy(&(*in)->synth);
  if ((*in)->live != NULL) {
    ps_live_leave(&(*in)->live, (*in)->signal, *in);
  }
  weir_free(&(*in)->files[0]);
  weir_free(&(*in)->files[1]);
  weir_free(in);
}

const ps_input_info *ps_input_get(const ps_input *in)
{
  return &in->facts;
}

/* Makes and forgets samples up to `start`: its beats and noise depend on all before. */
static void advance(ps_input *in, int64_t start)
{
  float x[SKIP_BLOCK];
  uint8_t present[SKIP_BLOCK];

  while (in->at < start) {
    const int64_t n = start - in->at < SKIP_BLOCK ? start - in->at : SKIP_BLOCK;

    ps_synth_chunk(in->synth, n, x, present, NULL, NULL);
    in->at += n;
  }
}

/* A text file may hold numbers that no filter survives. */
static void drop_infinite(int64_t n, float *x, uint8_t *present)
{
  for (int64_t i = 0; i < n; i++) {
    const uint8_t good = isfinite(x[i]) != 0;

    present[i] = present[i] & good;
    x[i] = good ? x[i] : 0.0f;
  }
}

static weir_status read_source(ps_input *in, int64_t start, int64_t n, float *x, uint8_t *present)
{
  if (in->record != NULL) {
    WEIR_TRY(weir_record_read(in->record, in->signal, start, n, x, present));
    drop_infinite(n, x, present);
    return WEIR_OK;
  }
  if (in->live != NULL) {
    return weir_live_read(in->live->live, in->signal, start, start + n, x, present);
  }
  WEIR_ASSERT(start >= in->at);
  advance(in, start);
  const int64_t left = in->facts.count - start, own = n < left ? n : (left > 0 ? left : 0);

  ps_synth_chunk(in->synth, own, x, present, NULL, NULL);
  in->at += own;
  memset(x + own, 0, (size_t)(n - own) * sizeof *x);
  memset(present + own, 0, (size_t)(n - own));
  return WEIR_OK;
}

/* Slots out of the range are absent. */
static void leave_out(const ps_input *in, int64_t start, int64_t n, float *x, uint8_t *present)
{
  const int64_t before = in->first > start ? in->first - start : 0;
  const int64_t last = in->range_ends && in->facts.count < start + n ? in->facts.count - start : n;
  const int64_t lo = before < n ? before : n, hi = last > lo ? last : lo;

  memset(x, 0, (size_t)lo * sizeof *x);
  memset(present, 0, (size_t)lo);
  memset(x + hi, 0, (size_t)(n - hi) * sizeof *x);
  memset(present + hi, 0, (size_t)(n - hi));
}

weir_status ps_input_read(ps_input *in, int64_t start, int64_t n, float *x, uint8_t *present)
{
  WEIR_TRY(read_source(in, start, n, x, present));
  leave_out(in, start, n, x, present);
  for (int64_t i = 0; i < n && in->scale != 1; i++) {
    x[i] = (float)((double)x[i] * in->scale);
  }
  if (in->measures) {
    ps_amplitude_add(&in->amplitude, x, present, n);
  }
  return WEIR_OK;
}

weir_status ps_input_next_run(ps_input *in, int64_t start, int64_t *lo, int64_t *hi)
{
  const int64_t at = start > in->first ? start : in->first, end = in->facts.count;

  if (in->record != NULL) {
    WEIR_TRY(weir_record_next_run(in->record, in->signal, at, lo, hi));
  } else if (in->live != NULL) {
    *lo = start;
    *hi = end;
  } else {
    ps_synth_next_run(in->synth, at, lo, hi);
  }
  *lo = *lo < end ? *lo : end;
  *hi = *hi < end ? *hi : end;
  return WEIR_OK;
}

weir_status ps_input_verify(ps_input *in)
{
  const weir_signal_info *s =
      in->record != NULL ? weir_record_signal(in->record, in->signal) : NULL;
  int sum = 0;

  if (s == NULL || !s->has_checksum || s->n_truncated > 0 || in->first > 0 || in->range_ends) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_record_checksum(in->record, in->signal, &sum));
  if (((sum - s->checksum) & 0xffff) == 0) {
    return WEIR_OK;
  }
  in->facts.damaged = true;
  weir_event("checksum_wrong", WEIR_TEXT("record", in->facts.name),
             WEIR_TEXT("signal", in->facts.signal), WEIR_INT("header", s->checksum & 0xffff),
             WEIR_INT("found", sum & 0xffff));
  weir_warn("input",
            "%s, signal %s: the header states the checksum %d, that of the samples is %d: samples "
            "or header were changed, and the results may be wrong; fetch the record again, or "
            "recompute the header if it is the header that is wrong",
            in->facts.name, in->facts.signal, s->checksum & 0xffff, sum & 0xffff);
  return WEIR_OK;
}

static weir_status read_slots(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  return ps_input_read(context, lo, hi - lo, x, present);
}

static weir_status next_run(void *context, int64_t at, int64_t *lo, int64_t *hi)
{
  return ps_input_next_run(context, at, lo, hi);
}

weir_stream_source ps_input_source(ps_input *in)
{
  return (weir_stream_source){.rate_num = in->facts.fs_num,
                              .rate_den = in->facts.fs_den,
                              .count = in->facts.count,
                              .read = read_slots,
                              .next_run = next_run,
                              .context = in};
}

const weir_stream_live *ps_input_live(const ps_input *in)
{
  return in->live != NULL ? &in->live->clock : NULL;
}

void ps_input_report(const ps_input *in)
{
  if (in->live != NULL) {
    weir_live_report(in->live->live);
  }
}

int ps_input_files(const ps_input *in, const char *paths[2])
{
  for (int i = 0; i < in->n_files; i++) {
    paths[i] = in->files[i];
  }
  return in->n_files;
}
