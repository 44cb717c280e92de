/* alarm.c - a condition that lasts, as a stream: limits with hysteresis, and rhythms as the
 * PhysioNet/CinC Challenge 2015 defines them. Looks at no later slot. For research only. */
#include <math.h>
#include <string.h>
#include "model/beat_features.h"
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"

enum { MAX_BEATS = 64 };

typedef enum kind {
  HIGH,
  LOW,
  PRESENT,
  ASYSTOLE,
  BRADYCARDIA,
  TACHYCARDIA,
  VENTRICULAR,
  KINDS
} kind;

typedef struct options {
  int kind;
  double limit, hysteresis, duration;
  int64_t beats;
  double hold, gap, wide;
  bool latch;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_ENUM(options_, kind, HIGH,
                  "high|low|present|asystole|bradycardia|tachycardia|ventricular",
                  "high, low: values beyond the limit; present: slots that are there; the others "
                  "are about beats, and a second stream is the signal that they come from; "
                  "ventricular: a tachycardia of ventricular beats, of their classes "
                  "(beat_class.class), or of wide ones, of their widths (delineate.qrs)"),
    WEIR_OPT_REAL(options_, limit, 0, -1e9, 1e9, "unit of the stream",
                  "bradycardia, tachycardia and ventricular: 1/min, 0: 40, 140 and 100"),
    WEIR_OPT_REAL(options_, hysteresis, 0, 0, 1e9, "unit of the stream",
                  "an alarm ends when the value is back within the limit by so much"),
    WEIR_OPT_REAL(options_, duration, 0, 0, 86400, "s",
                  "what must last so long first; asystole: time without a beat, 0: 4 s"),
    WEIR_OPT_INT(
        options_, beats, 0, 0, MAX_BEATS, "1",
        "bradycardia, tachycardia, ventricular: the rate is that over so many beats in a row, "
        "0: 5, 17 and 5"),
    WEIR_OPT_REAL(options_, hold, 10, 0, 3600, "s",
                  "a value, and a rhythm, is known for so long after its last sample or beat"),
    WEIR_OPT_REAL(options_, gap, 0.5, 0, 3600, "s",
                  "kind present, and the signal that beats come from, may be missing for so long"),
    WEIR_OPT_REAL(options_, wide, 0.12, 0.01, 1, "s",
                  "ventricular, of widths: a beat counts if its QRS complex is wider; another "
                  "ends the row, as one of a class other than V does"),
    WEIR_OPT_BOOL(options_, latch, false,
                  "an alarm stays until an event of the third stream, the acknowledgement"),
    WEIR_OPT_END,
};

enum { ON, REASON, VALUE, ONSET, VALUES };
enum { LASTS = 1, LATCHED = 2 };          /* values of `on`            */
enum { SAMPLE = 1, SIGNAL = 2, ACK = 4 }; /* what happens in a slot: bits */

typedef struct search {
  kind kind;
  double limit, release, rate, wide;
  int64_t duration, hold, gap, beats;
  bool has_signal, latch, classes; /* ventricular: of classes, else of widths */
} search;

typedef struct state {
  int64_t sample, signal; /* 1 + slot of the last one, 0 for none                    */
  int64_t since;          /* 1 + slot since which the limit is passed, 0: it is not   */
  int64_t quiet;          /* 1 + slot since which no beat has come, 0: not known      */
  int64_t n;              /* beats in a row                                           */
  int64_t beat[MAX_BEATS];
  double value, first; /* now, and at the onset */
  int32_t on, latched, known;
} state;

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory;
  return 1;
}

/* Whether the signal has been away for too long. */
static bool lost(const search *p, const state *s, int64_t t)
{
  return p->has_signal && (s->signal == 0 || t - (s->signal - 1) > p->gap);
}

static bool old(const search *p, const state *s, int64_t t)
{
  const int64_t max_pause = p->kind == PRESENT ? p->gap : p->hold;

  return s->sample == 0 || t - (s->sample - 1) > max_pause;
}

static bool is_ventricular(const search *p, float x)
{
  return p->classes ? lrintf(x) == PS_CLASS_V + 1 : (double)x > p->wide;
}

/* A beat at slot t: the rate over the last ones. */
static void count_beat(const search *p, state *s, int64_t t)
{
  s->beat[s->n++ % p->beats] = t;
  s->known = s->n >= p->beats;
  if (s->known) {
    const int64_t first = s->beat[s->n % p->beats];

    s->value = 60.0 * p->rate * (double)(p->beats - 1) / (double)(t - first);
  }
}

/* What is measured at slot t; x: the sample, where there is one. */
static void measure(const search *p, state *s, int64_t t, int what, float x)
{
  s->signal = what & SIGNAL ? t + 1 : s->signal;
  const bool gone = lost(p, s, t);

  if (p->kind == ASYSTOLE) {
    s->quiet = gone ? 0 : (what & SAMPLE) || s->quiet == 0 ? t + 1 : s->quiet;
    s->value = s->quiet > 0 ? (double)(t - (s->quiet - 1)) / p->rate : 0;
    s->known = s->quiet > 0;
    return;
  }
  if (gone || old(p, s, t)) {
    s->known = 0;
    s->n = 0;
  }
  if (!(what & SAMPLE) || gone) {
    return;
  }
  s->sample = t + 1;
  if (p->kind == VENTRICULAR && !is_ventricular(p, x)) {
    s->known = 0;
    s->n = 0;
  } else if (p->kind >= BRADYCARDIA) {
    count_beat(p, s, t);
  } else {
    s->value = p->kind == PRESENT ? 0 : (double)x;
    s->known = 1;
  }
}

/* Beyond the limit, or the release of an alarm that is on. */
static bool beyond(const search *p, const state *s, int64_t t)
{
  const double limit = s->on ? p->release : p->limit;

  switch (p->kind) {
  case HIGH:
  case TACHYCARDIA:
  case VENTRICULAR:
    return s->value > limit;
  case LOW:
  case BRADYCARDIA:
    return s->value < limit;
  case ASYSTOLE:
    return t - (s->quiet - 1) >= p->duration;
  default:
    return true;
  }
}

static void step(const search *p, state *s, int64_t t, int what, float x, ps_events *found)
{
  const int32_t was = s->on;

  measure(p, s, t, what, x);
  const bool out = s->known && beyond(p, s, t);

  s->since = !out ? 0 : s->since > 0 ? s->since : t + 1;
  if (p->kind == PRESENT && out) {
    s->value = (double)(t - (s->since - 1)) / p->rate;
  }
  const int64_t min_duration = p->kind == ASYSTOLE ? 0 : p->duration;

  s->on = out && (was || t - (s->since - 1) >= min_duration);
  s->latched = s->latched && !(what & ACK);
  if (s->on && !was) {
    s->first = s->value;
    s->latched = p->latch;
  }
  if (s->on || s->latched) {
    const float values[VALUES] = {s->on ? LASTS : LATCHED, (float)(p->kind + 1), (float)s->first,
                                  s->on && !was ? 1 : 0};

    ps_events_put(found, t, values);
  }
}

/* x[0]: the stream; x[1]: what happens in each slot. */
static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  for (int64_t i = 0; i < n; i++) {
    step(p, s, t + i, usable[i] ? (int)x[1][i] : 0, x[0][i], found);
  }
}

static void finish(const void *params, void *memory, ps_events *found)
{
  (void)params;
  (void)memory;
  (void)found;
}

/* Whether the stream is of classes, not of widths. */
static bool has_classes(const weir_series_use *use)
{
  return strcmp(use->in[0].unit, PS_CLASS_UNIT) == 0;
}

static weir_status check(const weir_series_use *use)
{
  const options_ *o = use->opts;

  for (int k = 1; k < use->n_in; k++) {
    if (use->in[k].rate_num != use->in[0].rate_num || use->in[k].rate_den != use->in[0].rate_den) {
      return weir_fail(WEIR_ERR_CONFIG, "alarm: %s is on another clock than %s; bring it there",
                       use->in_name[k], use->in_name[0]);
    }
  }
  if (o->kind == ASYSTOLE && use->n_in < 2) {
    return weir_fail(WEIR_ERR_CONFIG, "alarm: asystole is distinguished from a lost signal by the "
                                      "signal itself; give it after the beats");
  }
  if (o->beats == 1) {
    return weir_fail(WEIR_ERR_CONFIG, "alarm: one beat has no rate; alarm.beats is 2 or more");
  }
  if (o->kind == VENTRICULAR && !has_classes(use) && weir_unit_is_stated(use->in[0].unit) &&
      strcmp(use->in[0].unit, "s") != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "alarm: ventricular counts beats, but %s has neither their classes nor widths "
                     "in s (its unit is '%s'): give it beat_class.class or delineate.qrs",
                     use->in_name[0], use->in[0].unit);
  }
  return WEIR_OK;
}

static weir_status make_search(const weir_series_use *use, search **out)
{
  static const double limits[KINDS] = {
      [BRADYCARDIA] = 40, [TACHYCARDIA] = 140, [VENTRICULAR] = 100};
  static const int64_t beats[KINDS] = {[BRADYCARDIA] = 5, [TACHYCARDIA] = 17, [VENTRICULAR] = 5};
  const options_ *o = use->opts;
  const double rate = (double)use->in[0].rate_num / (double)use->in[0].rate_den;
  const double duration = o->kind == ASYSTOLE && o->duration == 0 ? 4 : o->duration;
  const double sign = o->kind == LOW || o->kind == BRADYCARDIA ? 1 : -1;
  void *memory = NULL;

  WEIR_TRY(weir_series_keep(use, sizeof **out, NULL, &memory));
  search *p = memory;

  *p = (search){.kind = (kind)o->kind,
                .limit = limits[o->kind] > 0 && o->limit == 0 ? limits[o->kind] : o->limit,
                .rate = rate,
                .wide = o->wide,
                .duration = (int64_t)ceil(fmin(duration * rate, 0x1p53) - 1e-6),
                .hold = (int64_t)floor(fmin(o->hold * rate, 0x1p53) + 1e-6),
                .gap = (int64_t)floor(fmin(o->gap * rate, 0x1p53) + 1e-6),
                .beats = o->beats > 0 ? o->beats : beats[o->kind],
                .has_signal = use->n_in > 1,
                .latch = o->latch,
                .classes = has_classes(use)};
  p->release = p->limit + sign * o->hysteresis;
  *out = p;
  return WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[VALUES] = {"on", "reason", "value", "onset"};
  static const int bit[3] = {SAMPLE, SIGNAL, ACK};
  const options_ *o = use->opts;
  weir_graph *g = use->graph;
  weir_series in[2];
  search *p = NULL;

  WEIR_TRY(check(use));
  WEIR_TRY(make_search(use, &p));
  ps_events_combine(use, bit, in);
  if (o->latch) { /* an alarm that stays leaves no gap out */
    in[0].present = in[1].present = weir_or(g, in[1].present, weir_not(g, in[1].present));
  }
  const ps_events_spec spec = {.name = "alarm",
                               .params = p,
                               .state_bytes = sizeof(state),
                               .settle = (p->hold > p->gap ? p->hold : p->gap) + 1,
                               .apart = 1,
                               .n_values = VALUES,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, in, 2, out->out));
  out->n = VALUES;
  for (int k = 0; k < VALUES; k++) {
    weir_series_set_unit(&out->out[k], "1");
    out->name[k] = names[k];
  }
  out->out[ONSET].present = weir_gt_scalar(g, out->out[ONSET].value, 0);
  weir_series_set_unit(&out->out[VALUE], o->kind == HIGH || o->kind == LOW           ? in[0].unit
                                         : o->kind == ASYSTOLE || o->kind == PRESENT ? "s"
                                                                                     : "1/min");
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_alarm = {
    .name = "alarm",
    .cite = "Clifford et al., Computing in Cardiology 42 (2015) 273",
    .help =
        "a condition that lasts, research use only: on (1 while it lasts, 2 latched), reason "
        "(1 high, 2 low, 3 present, 4 asystole, 5 brady-, 6 tachycardia, 7 ventricular), value at "
        "its onset, onset",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 3,
    .build = build,
};
