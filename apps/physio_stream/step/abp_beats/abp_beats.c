/* abp_beats.c - the beats of an arterial pressure: where each begins, its pressures, and why it may
 * be none. */
#include <math.h>
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"
#include "step/abp_beats/beat_flags.h"
#include "step/abp_beats/onsets.h"
#include "stream/op/moving_sum/weir_stream_moving_sum.h"

typedef struct options {
  ps_onset_opts onsets;
  double longest, foot;
  ps_abp_limits limits;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_TABLE(options_, onsets, ps_onset_options, "how onsets are found"),
    WEIR_OPT_REAL(options_, longest, 3, 0.5, 30, "s",
                  "a beat that lasts longer has no end (20 a minute)"),
    WEIR_OPT_REAL(options_, foot, 0.1, 0, 1, "s",
                  "the diastolic pressure is the lowest this close to the onset"),
    WEIR_OPT_TABLE(options_, limits, ps_abp_limit_options, "of a beat that can be trusted"),
    WEIR_OPT_END,
};

enum { ONSET, SBP, DBP, MAP, PP, PERIOD, FLAGS, VALUES };

static const char *const names[VALUES] = {"onset", "sbp", "dbp", "map", "pp", "period", "flags"};
static const char *const units[VALUES] = {"mmHg", "mmHg", "mmHg", "mmHg", "mmHg", "s", "bits"};

typedef struct search {
  ps_onset_params onsets;
  ps_abp_limits limits;
  int64_t longest, foot; /* slots */
  double rate;
} search;

/* A beat that waits for the next one, to see whether it stands alone. */
typedef struct pending {
  ps_abp_beat beat;
  int64_t at;
  int32_t flags, after_bad; /* after_bad: the beat before it is bad */
} pending;

typedef struct state {
  int64_t onset;       /* of the beat that has begun, -1 for none */
  int32_t has_pending; /* its predecessor waits                   */
  int32_t after_bad;   /* for the beat that has begun             */
  pending pending;
} state;

static ps_onset_state *onsets_of(state *s)
{
  return (ps_onset_state *)(void *)((char *)s + (sizeof *s + 63) / 64 * 64);
}

static int start(const void *params, void *memory)
{
  state *s = memory;

  (void)params;
  s->onset = -1;
  ps_onset_start(onsets_of(s));
  return 1;
}

static void put(const pending *h, int more, ps_events *found)
{
  const ps_abp_beat *b = &h->beat;
  float v[VALUES];

  v[ONSET] = (float)b->onset;
  v[SBP] = (float)b->sbp;
  v[DBP] = (float)b->dbp;
  v[MAP] = (float)b->map;
  v[PP] = (float)(b->sbp - b->dbp);
  v[PERIOD] = (float)b->period;
  v[FLAGS] = (float)(h->flags | more);
  ps_events_put(found, h->at, v);
}

/* Lowest pressure near the onset, before which a gap may lie. */
static double lowest(const search *p, const ps_onset_state *o, int64_t onset, int64_t end)
{
  double minimum = (double)ps_onset_value(&p->onsets, o, onset);

  for (int64_t t = onset - 1; t >= onset - p->foot && t >= 0; t--) {
    if (!ps_onset_present(&p->onsets, o, t)) {
      break;
    }
    minimum = fmin(minimum, (double)ps_onset_value(&p->onsets, o, t));
  }
  for (int64_t t = onset + 1; t <= onset + p->foot && t < end; t++) {
    if (!ps_onset_present(&p->onsets, o, t)) {
      break;
    }
    minimum = fmin(minimum, (double)ps_onset_value(&p->onsets, o, t));
  }
  return minimum;
}

/* Slots [onset, end) as a beat; what follows a gap in it does not count. */
static ps_abp_beat measure(const search *p, const ps_onset_state *o, int64_t onset, int64_t end)
{
  ps_abp_beat b = {.onset = (double)ps_onset_value(&p->onsets, o, onset)};
  double sum = 0, fall = 0, before = b.onset;
  int64_t n = 0, falls = 0;

  b.sbp = b.onset;
  for (int64_t t = onset; t < end; t++) {
    if (!ps_onset_present(&p->onsets, o, t)) {
      b.gap = 1;
      end = t;
      break;
    }
    const double y = (double)ps_onset_value(&p->onsets, o, t);

    b.sbp = fmax(b.sbp, y);
    sum += y;
    n++;
    if (y < before) {
      fall += y - before;
      falls++;
    }
    before = y;
  }
  b.map = n > 0 ? sum / (double)n : b.onset;
  b.dbp = lowest(p, o, onset, end);
  b.fall = falls > 0 ? fall / (double)falls * p->rate : 0;
  return b;
}

/* The beat that has begun ends before slot `end`; closed: another begins there. */
static void complete(const search *p, state *s, int64_t end, int closed, ps_events *found)
{
  pending now = {
      .beat = measure(p, onsets_of(s), s->onset, end), .at = s->onset, .after_bad = s->after_bad};

  now.beat.period = closed ? (double)(end - s->onset) / p->rate : 0;
  now.flags = ps_abp_flags(&p->limits, &now.beat, s->has_pending ? &s->pending.beat : NULL);
  if (s->has_pending) {
    const int lone = s->pending.flags == 0 && s->pending.after_bad && now.flags != 0;

    put(&s->pending, lone ? PS_ABP_LONE : 0, found);
  }
  s->pending = now;
  s->has_pending = closed;
  s->after_bad = now.flags != 0;
  s->onset = closed ? end : -1;
  if (!closed) {
    put(&now, 0, found);
  }
}

/* All onsets before slot `known` are known. */
static void expire(const search *p, state *s, int64_t known, ps_events *found)
{
  if (s->onset >= 0 && known > s->onset + p->longest) {
    complete(p, s, s->onset + p->longest, 0, found);
  }
}

static void begin(const search *p, state *s, int64_t onset, ps_events *found)
{
  expire(p, s, onset, found);
  if (s->onset >= 0) {
    complete(p, s, onset, 1, found);
  } else {
    s->onset = onset;
  }
}

static void find(const search *p, state *s, int ended, ps_events *found)
{
  ps_onset_state *o = onsets_of(s);
  int64_t onset = 0;

  while (ps_onset_find(&p->onsets, o, ended, &onset)) {
    begin(p, s, onset, found);
  }
  expire(p, s, o->next - p->onsets.delay, found);
}

static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;
  ps_onset_state *o = onsets_of(s);

  /* Slots that were left out: as many as it takes, and the rest at once. */
  while (o->next < t && (o->next > 0 && o->absent < p->onsets.ring)) {
    ps_onset_feed(&p->onsets, o, 0, 0, 0);
    find(p, s, 0, found);
  }
  if (o->next < t) {
    ps_onset_skip(&p->onsets, o, t);
  }
  for (int64_t i = 0; i < n; i++) {
    ps_onset_feed(&p->onsets, o, x[0][i], x[1][i], usable[i]);
    find(p, s, 0, found);
  }
}

static void finish(const void *params, void *memory, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  find(p, s, 1, found);
  if (s->onset >= 0) {
    const int64_t end = onsets_of(s)->next, latest = s->onset + p->longest;

    complete(p, s, end < latest ? end : latest, 0, found);
  }
}

static weir_status make_search(const weir_series_use *use, double rate, search **out)
{
  const options_ *o = use->opts;
  void *memory = NULL;

  WEIR_TRY(weir_series_keep(use, sizeof **out, NULL, &memory));
  search *p = memory;

  p->limits = o->limits;
  p->rate = rate;
  p->longest = (int64_t)ceil(o->longest * fmin(rate, 1e6));
  p->foot = (int64_t)floor(o->foot * fmin(rate, 1e6) + 0.5);
  WEIR_TRY(ps_onset_design(&o->onsets, rate, p->longest + p->foot + 2, &p->onsets));
  *out = p;
  return WEIR_OK;
}

/* Limits in the wrong order would flag every beat. */
static weir_status check_limits(const ps_abp_limits *l)
{
  const bool map = l->map_low > l->map_high;

  if (map || l->hr_low > l->hr_high) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "abp_beats.limits: %s stand in the wrong order: the low one, %g, is above "
                     "the high one, %g",
                     map ? "map_low and map_high" : "hr_low and hr_high",
                     map ? l->map_low : l->hr_low, map ? l->map_high : l->hr_high);
  }
  return WEIR_OK;
}

/* What the pressure rose by in the last `window` slots. A rise is that over `step` slots, 8 ms, so
 * that noise of a high rate does not add up. */
static weir_series slope_sum(weir_graph *g, weir_series x, int64_t step, int64_t window)
{
  x = weir_series_aged(g, x);
  weir_series rise = x;
  const weir_value before = weir_series_past(g, x, step);

  rise.value =
      weir_select(g, weir_gt_scalar(g, x.age, (double)step),
                  weir_max_scalar(g, weir_sub(g, x.value, before), 0), weir_scalar(g, WEIR_F32, 0));
  rise = weir_stream_moving_sum(g, rise, window);
  rise.value = weir_scale(g, rise.value, 1.0 / (double)step);
  return rise;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const weir_series x = ps_events_finite(use->graph, use->in[0]);
  search *p = NULL;

  WEIR_TRY(ps_events_need_unit(use, 0, "mmHg"));
  WEIR_TRY(check_limits(&((const options_ *)use->opts)->limits));
  WEIR_TRY(make_search(use, (double)x.rate_num / (double)x.rate_den, &p));
  const weir_series in[2] = {x, slope_sum(use->graph, x, p->onsets.step, p->onsets.window)};
  const ps_events_spec spec = {.name = "abp_beats",
                               .params = p,
                               .state_bytes =
                                   (sizeof(state) + 63) / 64 * 64 + ps_onset_bytes(&p->onsets),
                               .ahead = 2 * p->longest + p->onsets.delay + 2,
                               .apart = p->onsets.half_eye > 2 ? p->onsets.half_eye / 2 : 1,
                               .n_values = VALUES,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, in, 2, out->out));
  out->n = VALUES;
  for (int k = 0; k < VALUES; k++) {
    out->name[k] = names[k];
    weir_series_set_unit(&out->out[k], units[k]);
  }
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

#define FLAG(id, value, name, text) " " #value " " name ","
const weir_series_op ps_step_abp_beats = {
    .name = "abp_beats",
    .cite = "Zong et al. 2003; Sun et al. 2006",
    .help = "beats of an arterial pressure, in the slot of their onset: onset, sbp, dbp, map, pp "
            "(mmHg), period (s, 0: no next one in time), flags (why it is not to be trusted, a sum "
            "of" PS_ABP_FLAG_LIST(FLAG) " 0 none: docs/science/physio_stream.md)",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
