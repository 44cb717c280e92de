/* convert_wfdb.c - a record in any format as a WFDB record: header(5), signal(5), annot(5). */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_integer.h"
#include "io/io_priv.h"
#include "io/convert_priv.h"
#include "io/weir_record_convert.h"
#include "io/weir_record_writer.h"

enum { SLOTS = 65536, MAX_SPF = 1024, TIME_NS = 600 };

/* How a signal is written. */
typedef struct lane {
  int spf;
  bool turned, real; /* complemented integers; values to be rounded */
  int64_t lo, hi;    /* stored integers that are no invalid code */
  int32_t invalid;
  int64_t count;
  double min, max, error; /* of the values within the range; what rounding changes at most */
  char units[64];
  int32_t *raw; /* [frames of a block, spf] */
} lane;

typedef struct copy {
  weir_record *r;
  const char *comments;
  weir_record_writer *w;
  weir_annotation_writer *marks;
  int64_t n, num, den;          /* signals, frames per second */
  int64_t frames, block_frames; /* of the record, of a block */
  lane *lanes;
  weir_record_channel *channels;
  const int32_t **rows;
  int32_t *slots; /* every lane's block */
  float *values;
  uint8_t *present;
  weir_convert_facts *facts;
  int64_t unit_num, unit_den; /* of annotation times, per second */
} copy;

bool weir_convert_common_rate(int64_t *num, int64_t *den, int64_t c, int64_t d)
{
  int64_t left = 0;
  int64_t right = 0;
  int64_t below = 0;

  if (!weir_mul_ok(*num, d, &left) || !weir_mul_ok(c, *den, &right) ||
      !weir_mul_ok(*den, d, &below)) {
    return false;
  }
  *num = weir_gcd(left, right);
  *den = below;
  weir_io_reduce(num, den);
  return true;
}

/* True when the signals say themselves how many samples of each make a frame, all alike. */
static bool own_frames(const copy *c, int64_t *num, int64_t *den)
{
  for (int i = 0; i < c->n; i++) {
    const weir_signal_info *const s = weir_record_signal(c->r, i);
    int64_t a = s->fs_num;
    int64_t b = 0;

    if (s->samples_per_frame < 1 || !weir_mul_ok(s->fs_den, (int64_t)s->samples_per_frame, &b)) {
      return false;
    }
    weir_io_reduce(&a, &b);
    if (i > 0 && (a != *num || b != *den)) {
      return false;
    }
    *num = a;
    *den = b;
  }
  return true;
}

static weir_status find_frames(copy *c)
{
  bool good = true;

  if (!own_frames(c, &c->num, &c->den)) {
    const weir_signal_info *const first = weir_record_signal(c->r, 0);

    c->num = first->fs_num;
    c->den = first->fs_den;
    for (int i = 1; i < c->n && good; i++) {
      const weir_signal_info *const s = weir_record_signal(c->r, i);

      good = weir_convert_common_rate(&c->num, &c->den, s->fs_num, s->fs_den);
    }
  }
  for (int i = 0; i < c->n && good; i++) {
    const weir_signal_info *const s = weir_record_signal(c->r, i);
    const __int128 top = (__int128)s->fs_num * c->den;
    const __int128 spf = top / ((__int128)s->fs_den * c->num);

    good = spf >= 1 && spf <= MAX_SPF;
    c->lanes[i].spf = good ? (int)spf : 1;
    c->lanes[i].count = s->count;
    const int64_t frames = s->count / c->lanes[i].spf + (s->count % c->lanes[i].spf != 0);

    c->frames = frames > c->frames ? frames : c->frames;
  }
  if (!good) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "record %s: its rates need more than %d samples of a signal in a frame, which "
                     "WFDB cannot hold: convert its signals one by one",
                     weir_record_name(c->r), MAX_SPF);
  }
  return WEIR_OK;
}

/* The format of a signal: its own where it can be written, what a compressed one holds, else one
 * that holds all its integers. */
static int choose_format(const weir_signal_info *s, bool real)
{
  static const int plain[][2] = {{508, 80}, {516, 16}, {524, 24}};
  const int number = atoi(s->format), bits = s->bits + !s->has_invalid; /* the lowest code */

  if (real) {
    return 16;
  }
  if (s->has_invalid && weir_record_format_bits(number) > 0) {
    return number;
  }
  for (size_t i = 0; s->has_invalid && i < sizeof plain / sizeof plain[0]; i++) {
    if (plain[i][0] == number) {
      return plain[i][1];
    }
  }
  return bits <= 16 ? 16 : bits <= 24 ? 24 : 32;
}

static weir_status plan_lane(copy *c, int i, double gain)
{
  const weir_signal_info *const s = weir_record_signal(c->r, i);
  lane *const l = &c->lanes[i];
  weir_record_channel *const to = &c->channels[i];
  size_t n = 0;

  l->real = s->bits == 0 || s->scale_varies;
  l->turned = !l->real && s->gain < 0;
  l->min = DBL_MAX;
  l->max = -DBL_MAX;
  to->format = choose_format(s, l->real);
  to->name = s->name;
  to->samples_per_frame = l->spf;
  to->gain = s->bits == 0 ? gain : fabs(s->gain);
  if (s->bits == 0 && gain == 0) {
    WEIR_TRY(weir_convert_gain(c->r, i, &to->gain));
  }
  const double baseline = s->bits == 0 ? 0 : l->turned ? -1 - s->baseline : s->baseline;

  if (!(fabs(baseline) < INT32_MAX)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "record %s: signal %s: its baseline is out of range",
                     weir_record_name(c->r), s->name);
  }
  to->baseline = (int)lround(baseline);
  for (const char *at = s->units; *at && n + 1 < sizeof l->units; at++) {
    l->units[n++] = *at == ' ' || *at == '\t' ? '_' : *at;
  }
  strcpy(l->units + n, n ? "" : "NU"); /* no units */
  to->units = l->units;
  l->hi = (INT64_C(1) << (weir_record_format_bits(to->format) - 1)) - 1;
  l->lo = -l->hi;
  l->invalid = (int32_t)(l->lo - 1);
  return WEIR_OK;
}

/* The memory of one block: about SLOTS samples of all signals together. */
static weir_status alloc_block(copy *c)
{
  int64_t width = 0;
  int64_t max = 1;

  for (int64_t i = 0; i < c->n; i++) {
    width += c->lanes[i].spf;
    max = c->lanes[i].spf > max ? c->lanes[i].spf : max;
  }
  c->block_frames = SLOTS / width > 0 ? SLOTS / width : 1;
  WEIR_TRY(weir_alloc(c->block_frames * width, sizeof *c->slots, (void **)&c->slots));
  WEIR_TRY(weir_alloc(c->block_frames * max, sizeof *c->values, (void **)&c->values));
  WEIR_TRY(weir_alloc(c->block_frames * max, 1, (void **)&c->present));
  int32_t *at = c->slots;

  for (int64_t i = 0; i < c->n; i++) {
    c->lanes[i].raw = at;
    c->rows[i] = at;
    at += c->block_frames * c->lanes[i].spf;
  }
  return WEIR_OK;
}

static int32_t within(copy *c, const lane *l, double value)
{
  if (value > (double)l->hi || value < (double)l->lo) {
    c->facts->clipped++;
    return (int32_t)(value > 0 ? l->hi : l->lo);
  }
  return (int32_t)value;
}

/* The stored integer of a value, and what is known of the values by now. */
static double rounded(lane *l, const weir_record_channel *to, double value)
{
  const double x = round(value * to->gain + to->baseline);

  if (x <= (double)l->hi && x >= (double)l->lo) {
    l->min = fmin(l->min, value);
    l->max = fmax(l->max, value);
    l->error = fmax(l->error, fabs((x - to->baseline) / to->gain - value));
  }
  return x;
}

/* Fills a lane's block from frame `first` on. */
static weir_status read_lane(copy *c, int i, int64_t first, int64_t frames)
{
  lane *const l = &c->lanes[i];
  const weir_record_channel *const to = &c->channels[i];
  const int64_t n = frames * l->spf;
  const int64_t start = first * l->spf;
  const int64_t left = l->count > start ? l->count - start : 0;

  WEIR_TRY(l->real ? weir_record_read(c->r, i, start, n, c->values, c->present)
                   : weir_record_read_raw(c->r, i, start, n, l->raw, c->present));
  for (int64_t k = 0; k < n; k++) {
    const double x = !c->present[k] ? 0
                     : l->real      ? rounded(l, to, (double)c->values[k])
                                    : (double)(l->turned ? ~l->raw[k] : l->raw[k]);

    l->raw[k] = c->present[k] ? within(c, l, x) : l->invalid;
    c->facts->absent += k < left && !c->present[k];
  }
  return WEIR_OK;
}

static weir_status write_signals(copy *c, const char *path, double gain)
{
  weir_record_spec spec = {
      .n_channels = (int)c->n, .channels = c->channels, .comment = c->comments};

  WEIR_TRY(find_frames(c));
  for (int i = 0; i < c->n; i++) {
    WEIR_TRY(plan_lane(c, i, gain));
    c->facts->samples += c->lanes[i].count;
  }
  WEIR_TRY(alloc_block(c));
  spec.fs_num = c->num;
  spec.fs_den = c->den;
  spec.start_kind = weir_record_start(c->r, &spec.start_us);
  WEIR_TRY(weir_record_writer_open(path, &spec, &c->w));
  for (int64_t at = 0; at < c->frames; at += c->block_frames) {
    const int64_t n = c->frames - at < c->block_frames ? c->frames - at : c->block_frames;

    for (int i = 0; i < c->n; i++) {
      WEIR_TRY(read_lane(c, i, at, n));
    }
    WEIR_TRY(weir_record_writer_append_raw(c->w, n, c->rows));
  }
  return WEIR_OK;
}

/* Steps as wide as the signal leave nothing of it. Of a constant, the value stands for the range.
 * Other gains than the one asked for are the source's own. */
static weir_status check_steps(const copy *c, double max_rounded)
{
  for (int i = 0; i < c->n; i++) {
    const lane *const l = &c->lanes[i];
    const weir_signal_info *const s = weir_record_signal(c->r, i);
    const double range = l->max > l->min ? l->max - l->min : fabs(l->min);
    const double share = l->error > 0 ? fmin(1, l->error / range) : 0;

    if (s->bits == 0 && share > max_rounded) {
      const double gain = c->channels[i].gain;

      c->facts->coarse = share;
      return weir_fail(WEIR_ERR_CONFIG,
                       "record %s: signal %s: steps of %g %s (gain %g) would change its values, "
                       "%g to %g %s, by up to %g, %.3g %% of their range, more than %.3g %%: "
                       "raise the gain, the steps per unit, to %.2g or more, or write another "
                       "format, which stores no integers",
                       weir_record_name(c->r), s->name, 1 / gain, l->units, gain, l->min, l->max,
                       l->units, l->error, 100 * share, 100 * max_rounded,
                       1.05 * 0.5 / (max_rounded * range));
    }
  }
  return WEIR_OK;
}

static int limited(int value, int lo, int hi)
{
  return value < lo ? lo : value > hi ? hi : value;
}

/* Units of num/den seconds in a time of ns, to the nearest. */
static int64_t units_of(int64_t ns, int64_t num, int64_t den)
{
  const __int128 unit = (__int128)den * 1000000000;
  const __int128 twice = (__int128)ns * num * 2;

  return (int64_t)((twice + (twice < 0 ? -unit : unit)) / (2 * unit));
}

/* Whether every time is a whole number of units, to the microseconds that formats of events have.
 */
static bool holds_times(const weir_record_events *events, int64_t num, int64_t den)
{
  for (int64_t i = 0; i < events->count; i++) {
    const int64_t ns = events->items[i].time;
    const __int128 exact = (__int128)units_of(ns, num, den) * den * 1000000000;
    const __int128 off = exact - (__int128)ns * num;

    if (off > TIME_NS * (__int128)num || off < -TIME_NS * (__int128)num) {
      return false;
    }
  }
  return true;
}

/* The unit of the times: what their own file states, else the first of frames, samples of the
 * fastest signal and decimal fractions that holds them all; 1 us where none does. */
static void choose_unit(copy *c, const weir_record_events *events)
{
  const weir_signal_info *fast = weir_record_signal(c->r, 0);

  c->unit_num = events->fs_num;
  c->unit_den = events->fs_den;
  if (events->fs_num > 0) {
    return;
  }
  for (int i = 1; i < c->n; i++) {
    const weir_signal_info *const s = weir_record_signal(c->r, i);

    fast = (__int128)s->fs_num * fast->fs_den > (__int128)fast->fs_num * s->fs_den ? s : fast;
  }
  const int64_t units[][2] = {{c->num, c->den}, {fast->fs_num, fast->fs_den},
                              {1000, 1},        {10000, 1},
                              {100000, 1},      {1000000, 1}};

  for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
    c->unit_num = units[k][0];
    c->unit_den = units[k][1];
    if (holds_times(events, c->unit_num, c->unit_den)) {
      return;
    }
  }
}

static weir_status write_event(copy *c, const weir_record_event *e)
{
  char text[WEIR_ANNOTATION_MAX_AUX + 1];
  const size_t n = weir_record_text_fit(e->text, WEIR_ANNOTATION_MAX_AUX);
  const weir_annotation a = {.time = units_of(e->time, c->unit_num, c->unit_den),
                             .code = limited(e->code, 1, WEIR_ANNOTATION_MAX),
                             .subtype = limited(e->subtype, -128, 127),
                             .channel = limited(e->channel, 0, 255),
                             .number = limited(e->number, -128, 127),
                             .aux = n > 0 || e->zeros > 0 ? text : NULL,
                             .zeros = limited(e->zeros, 0, WEIR_ANNOTATION_MAX_AUX - (int)n)};

  memcpy(text, n ? e->text : "", n);
  text[n] = 0;
  c->facts->durations += e->duration >= 0;
  return weir_annotation_writer_append(c->marks, &a);
}

static weir_status write_events(copy *c, const weir_record_events *events, const char *path)
{
  char full[4096];

  if (!events || events->count == 0) {
    return WEIR_OK;
  }
  choose_unit(c, events);
  /* Times that count frames need no resolution: the header states it. */
  const bool frames = events->fs_num == 0 && c->unit_num == c->num && c->unit_den == c->den;
  const weir_annotations head = {.fs_num = c->unit_num, .fs_den = c->unit_den};

  snprintf(full, sizeof full, "%s.atr", path);
  WEIR_TRY(weir_annotation_writer_open(full, frames ? NULL : &head, &c->marks));
  for (int64_t i = 0; i < events->count; i++) {
    WEIR_TRY(write_event(c, &events->items[i]));
  }
  c->facts->n_files++;
  return WEIR_OK;
}

/* Nothing appears before everything is written. */
static weir_status copy_all(copy *c, const weir_record_events *events, const char *path,
                            const weir_convert_scale *scale)
{
  if (c->n == 0) {
    return weir_fail(
        WEIR_ERR_UNSUPPORTED,
        "record %s has no signals, so that a WFDB record of it would have no sampling rate",
        weir_record_name(c->r));
  }
  WEIR_TRY(weir_alloc(c->n, sizeof *c->lanes, (void **)&c->lanes));
  WEIR_TRY(weir_alloc(c->n, sizeof *c->channels, (void **)&c->channels));
  WEIR_TRY(weir_alloc(c->n, sizeof *c->rows, (void **)&c->rows));
  WEIR_TRY(write_signals(c, path, scale->gain));
  WEIR_TRY(weir_convert_check_clipped(weir_record_name(c->r), c->facts, scale->max_clipped));
  WEIR_TRY(check_steps(c, scale->max_rounded));
  WEIR_TRY(write_events(c, events, path));
  if (c->marks != NULL) {
    WEIR_TRY(weir_annotation_writer_commit(&c->marks));
  }
  return weir_record_writer_commit(&c->w);
}

weir_status weir_record_to_wfdb(weir_record *r, const weir_record_events *events,
                                const char *comments, const char *path,
                                const weir_convert_scale *scale, weir_convert_facts *facts)
{
  copy c = {.r = r, .comments = comments, .n = weir_record_signals(r), .facts = facts};

  *facts = (weir_convert_facts){.n_files = 2};
  const weir_status status = copy_all(&c, events, path, scale);

  weir_annotation_writer_destroy(&c.marks);
  weir_record_writer_destroy(&c.w);
  weir_free(&c.lanes);
  weir_free(&c.channels);
  weir_free(&c.rows);
  weir_free(&c.slots);
  weir_free(&c.values);
  weir_free(&c.present);
  return status;
}

weir_status weir_record_events_from(const weir_annotations *a, int64_t num, int64_t den,
                                    weir_record_events *out)
{
  const __int128 fs = a->fs_num > 0 ? a->fs_num : num;
  const __int128 unit = (__int128)(a->fs_num > 0 ? a->fs_den : den) * 1000000000;
  weir_status status = WEIR_OK;

  *out = (weir_record_events){0};
  for (int64_t i = 0; i < a->count; i++) {
    const weir_annotation *const x = &a->items[i];
    __int128 twice = 0;
    const bool fits = !__builtin_mul_overflow((__int128)x->time, 2 * unit, &twice);
    const __int128 ns = (twice + (twice < 0 ? -fs : fs)) / (2 * fs);
    const weir_record_event e = {.time = (int64_t)ns,
                                 .duration = -1,
                                 .code = x->code,
                                 .subtype = x->subtype,
                                 .channel = x->channel,
                                 .number = x->number,
                                 .zeros = x->zeros};

    if (!fits || ns > INT64_MAX / 2 || ns < INT64_MIN / 2) {
      status = weir_fail(WEIR_ERR_DATA, "annotation %lld: its time is out of range", (long long)i);
      goto fail;
    }
    const char *const text = x->aux ? x->aux : "";

    WEIR_TRY_GOTO(weir_record_events_add(out, &e, text, (int64_t)strlen(text)), fail);
  }
  out->fs_num = a->fs_num > 0 ? a->fs_num : 0;
  out->fs_den = a->fs_num > 0 ? a->fs_den : 0;
  return WEIR_OK;
fail:
  weir_record_events_fini(out);
  return status;
}
