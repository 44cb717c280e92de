/* sqi.c - quality of an electrocardiogram in windows, from the signal and the beats that two
 * detectors find in it. */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "step/sqi/quality.h"

typedef struct options {
  double window, hop, match, present;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_REAL(options_, window, 10, 2, 600, "s", "length of a window that is rated"),
    WEIR_OPT_REAL(options_, hop, 10, 0.1, 600, "s",
                  "a new window each; a result stands at the start of the window's last hop"),
    WEIR_OPT_REAL(options_, match, 0.15, 0.01, 0.5, "s",
                  "beats of two detectors so close are the same"),
    WEIR_OPT_REAL(options_, present, 0.8, 0.01, 1, "1",
                  "least share of a window's samples that are there; with less it has no result"),
    WEIR_OPT_END,
};

enum { QSQI, PSQI, KSQI, BASSQI, CLASS, VALUES };

typedef struct search {
  int64_t window, hop, match, min_present;
  double rate;
} search;

/* The last `window` slots follow, samples and bits, twice: a ring and in order of time; then the
 * scratch memory. */
typedef struct state {
  int64_t next;
} state;

static size_t round_up(size_t n)
{
  return (n + 63) / 64 * 64;
}

static size_t ring_bytes(const search *p)
{
  return round_up((size_t)p->window * sizeof(float));
}

static float *ring_of(const search *p, state *s, int copy)
{
  return (float *)(void *)((char *)s + round_up(sizeof *s) + (size_t)copy * ring_bytes(p));
}

static uint8_t *bits_of(const search *p, state *s, int copy)
{
  return (uint8_t *)ring_of(p, s, 2) + (size_t)copy * round_up((size_t)p->window);
}

static double *scratch_of(const search *p, state *s)
{
  return (double *)(void *)bits_of(p, s, 2);
}

static size_t bytes_of(const search *p)
{
  return round_up(sizeof(state)) + 2 * ring_bytes(p) + 2 * round_up((size_t)p->window) +
         (size_t)ps_quality_scratch(p->window, p->rate) * sizeof(double);
}

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory; /* all zero: every slot before the first is absent */
  return 1;
}

/* Slots [s->next, s->next + n). bits: f32, or NULL where all are absent. */
static void take(const search *p, state *s, int64_t n, const float *x, const float *bits,
                 const uint8_t *usable)
{
  float *ring = ring_of(p, s, 0);
  uint8_t *known = bits_of(p, s, 0);

  for (int64_t i = 0; i < n; i++, s->next++) {
    const int64_t at = s->next % p->window;

    ring[at] = x != NULL && usable[i] ? x[i] : 0;
    known[at] = x != NULL && usable[i] ? (uint8_t)bits[i] : 0;
  }
}

/* The window that ends before slot s->next; its result stands at slot `at`. */
static void evaluate(const search *p, state *s, int64_t at, ps_events *found)
{
  const int64_t split = s->next % p->window, rest = p->window - split;
  const float *ring = ring_of(p, s, 0);
  const uint8_t *known = bits_of(p, s, 0);
  float *x = ring_of(p, s, 1);
  uint8_t *bits = bits_of(p, s, 1);
  int64_t n_present = 0;

  memcpy(bits, known + split, (size_t)rest);
  memcpy(bits + rest, known, (size_t)split);
  for (int64_t i = 0; i < p->window; i++) {
    n_present += bits[i] & PS_QUALITY_PRESENT;
  }
  if (n_present < p->min_present) {
    return;
  }
  memcpy(x, ring + split, (size_t)rest * sizeof *x);
  memcpy(x + rest, ring, (size_t)split * sizeof *x);
  const ps_quality q = ps_quality_of(x, bits, p->window, p->rate, p->match, scratch_of(p, s));
  const float values[VALUES] = {(float)q.q, (float)q.p, (float)q.k, (float)q.bas,
                                (float)ps_quality_classify(&q)};

  ps_events_put(found, at, values);
}

/* x[0]: the signal; x[1]: what is known of each slot. */
static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  if (t - s->next > p->window) {
    s->next = t - p->window;
  }
  take(p, s, t - s->next, NULL, NULL, NULL);
  for (int64_t i = 0; i < n;) {
    const int64_t border = ((t + i) / p->hop + 1) * p->hop;
    const int64_t end = border - t < n ? border - t : n;

    take(p, s, end - i, x[0] + i, x[1] + i, usable + i);
    i = end;
    if (t + end == border) {
      evaluate(p, s, border - p->hop, found);
    }
  }
}

static void finish(const void *params, void *memory, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  if (s->next % p->hop != 0) {
    evaluate(p, s, s->next / p->hop * p->hop, found);
  }
}

static weir_status make_search(const weir_series_use *use, search **out)
{
  const options_ *o = use->opts;
  const weir_series *in = &use->in[0];
  const double rate = (double)in->rate_num / (double)in->rate_den;
  void *memory = NULL;

  WEIR_TRY(weir_series_keep(use, sizeof **out, NULL, &memory));
  search *p = memory;

  WEIR_TRY(weir_series_slots(in, "sqi.window", o->window, 1, &p->window));
  WEIR_TRY(weir_series_slots(in, "sqi.hop", o->hop, 1, &p->hop));
  if (rate < 80 || p->window > PS_QUALITY_MAX_SLOTS || p->hop > p->window) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "sqi: of %g samples a second, a window of %g s and a hop of %g s; it takes 80 "
                     "samples a second and more, windows of up to %lld samples, and hops that are "
                     "no longer than the window",
                     rate, o->window, o->hop, (long long)PS_QUALITY_MAX_SLOTS);
  }
  p->match = (int64_t)floor(o->match * rate + 1e-6);
  p->min_present = (int64_t)ceil(o->present * (double)p->window - 1e-6);
  p->rate = rate;
  *out = p;
  return WEIR_OK;
}

static weir_status same_clock(const weir_series_use *use)
{
  for (int k = 1; k < use->n_in; k++) {
    if (use->in[k].rate_num != use->in[0].rate_num || use->in[k].rate_den != use->in[0].rate_den) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "sqi: %s is on another clock than %s; find the beats in the signal whose "
                       "quality is asked for",
                       use->in_name[k], use->in_name[0]);
    }
  }
  return WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[VALUES] = {"qsqi", "psqi", "ksqi", "bassqi", "class"};
  static const int bit[3] = {PS_QUALITY_PRESENT, PS_QUALITY_FIRST, PS_QUALITY_SECOND};
  weir_graph *g = use->graph;
  weir_series in[2];
  search *p = NULL;

  WEIR_TRY(ps_events_need_unit(use, 0, "mV"));
  WEIR_TRY(same_clock(use));
  WEIR_TRY(make_search(use, &p));
  ps_events_combine(use, bit, in);
  const ps_events_spec spec = {.name = "sqi",
                               .params = p,
                               .state_bytes = bytes_of(p),
                               .ahead = p->hop,
                               .settle = p->window + p->hop,
                               .apart = p->hop,
                               .n_values = VALUES,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, in, 2, out->out));
  out->n = VALUES;
  for (int k = 0; k < VALUES; k++) {
    WEIR_TRY(ps_events_thin(g, p->hop, "1", &out->out[k]));
    out->name[k] = names[k];
    out->former[k] = k == CLASS ? "verdict" : NULL;
  }
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_sqi = {
    .name = "sqi",
    .cite = "Zhao and Zhang, Front. Physiol. 9 (2018) 727",
    .help =
        "quality of an ECG, of it and its beats by two detectors: qsqi (they agree), psqi (5-15 "
        "of 5-40 Hz), ksqi (kurtosis, 3 of a "
        "normal distribution), bassqi (baseline), class (0 excellent, 1 barely acceptable, 2 "
        "unacceptable)",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 3,
    .max_in = 3,
    .build = build,
};
