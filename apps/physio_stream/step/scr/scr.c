/* scr.c - skin conductance responses of the phasic component of electrodermal activity, as
 * NeuroKit2 defines them (eda_peaks, method "neurokit"): local maxima of a minimum prominence,
 * their onset, the last local minimum before, and their recovery to half of the amplitude. */
#include <math.h>
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"

typedef struct options {
  double min_amplitude, window, recovery;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_REAL(
        options_, min_amplitude, 0.05, 0, 1000, "uS",
        "least prominence of a response (Boucsein 2012: 0.01 to 0.05 uS; NeuroKit2: 0.1 of "
        "the largest of the whole recording)"),
    WEIR_OPT_REAL(options_, window, 30, 1, 600, "s",
                  "how far prominence, onset and recovery are looked for on either side of a peak; "
                  "results look ahead by twice that"),
    WEIR_OPT_REAL(options_, recovery, 0.5, 0.01, 0.99, "1",
                  "share of the amplitude that is left at the recovery (NeuroKit2: 0.5)"),
    WEIR_OPT_END,
};

enum { AMPLITUDE, RISE, RECOVERY, VALUES };
#define NONE (-1e30F) /* stands for a value that there is not */

typedef struct search {
  int64_t window, ring; /* slots; a power of 2 */
  double rate, min_amplitude, recovery;
} search;

/* The ring follows. */
typedef struct state {
  int64_t running; /* whether slot next - 1 is present */
  int64_t since;   /* first slot of its run */
  int64_t next;
  int64_t decided; /* slots before it have been judged as peaks */
  int64_t peak;    /* 1 + slot of a response whose recovery is not known, 0 for none */
  int64_t onset;   /* its onset */
} state;

static float *ring_of(state *s)
{
  return (float *)(void *)((char *)s + (sizeof *s + 63) / 64 * 64);
}

static double at(const search *p, state *s, int64_t slot)
{
  return (double)ring_of(s)[slot & (p->ring - 1)];
}

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory;
  return 1;
}

/* The response that waits is complete: the segment to its recovery ends before `end`. */
static void complete(const search *p, state *s, int64_t end, ps_events *found)
{
  const int64_t peak = s->peak - 1;
  const double base = at(p, s, s->onset), amplitude = at(p, s, peak) - base;
  const double target = base + p->recovery * amplitude;
  int64_t lowest = peak, recovered = -1;
  double least = INFINITY;

  s->peak = 0;
  for (int64_t t = peak; t < end; t++) {
    lowest = at(p, s, t) < at(p, s, lowest) ? t : lowest;
  }
  for (int64_t t = peak; t < lowest; t++) {
    const double x = at(p, s, t);

    least = fmin(least, x);
    if (x <= target && (recovered < 0 || x > at(p, s, recovered))) {
      recovered = t;
    }
  }
  /* Only if values below it follow. */
  const bool known = recovered >= 0 && least < at(p, s, recovered);
  const float values[VALUES] = {(float)amplitude, (float)((double)(peak - s->onset) / p->rate),
                                known ? (float)((double)(recovered - peak) / p->rate) : NONE};

  ps_events_put(found, peak, values);
}

/* The last local minimum that ends before `peak`, the middle of it where it is flat; -1 for none.
 */
static int64_t find_onset(const search *p, state *s, int64_t peak)
{
  const int64_t first = peak - p->window > s->since ? peak - p->window : s->since;

  for (int64_t right = peak - 1; right > first; right--) {
    if (!(at(p, s, right) < at(p, s, right + 1))) {
      continue;
    }
    int64_t left = right;

    while (left > first && at(p, s, left - 1) == at(p, s, right)) {
      left--;
    }
    if (left > first && at(p, s, left - 1) > at(p, s, right)) {
      return (left + right) / 2;
    }
  }
  return -1;
}

/* The lowest value from `slot` on in steps of `by`, as far as `end` or the first above `height`. */
static double lowest_towards(const search *p, state *s, int64_t slot, int64_t end, int64_t by,
                             double height)
{
  double low = height;

  for (int64_t t = slot; t != end + by && at(p, s, t) <= height; t += by) {
    low = fmin(low, at(p, s, t));
  }
  return low;
}

/* Judges slot c, of which all slots to `last` are known, as the left edge of a peak. */
static void decide(const search *p, state *s, int64_t c, int64_t last, ps_events *found)
{
  const double x = at(p, s, c);
  const int64_t end = last < c + p->window ? last : c + p->window;
  const int64_t begin = c - p->window > s->since ? c - p->window : s->since;
  int64_t right = c;

  if (s->peak > 0 && c - (s->peak - 1) > p->window) {
    complete(p, s, s->peak - 1 + p->window, found);
  }
  if (!(x > at(p, s, c - 1))) {
    return;
  }
  while (right < end && at(p, s, right + 1) == x) {
    right++;
  }
  if (right == end || at(p, s, right + 1) > x) {
    return;
  }
  const double low =
      fmax(lowest_towards(p, s, c - 1, begin, -1, x), lowest_towards(p, s, right + 1, end, 1, x));
  const int64_t onset = x - low >= p->min_amplitude ? find_onset(p, s, c) : -1;

  if (onset < 0) {
    return;
  }
  const int64_t peak = (c + right) / 2;

  if (s->peak > 0) {
    const int64_t far = s->peak - 1 + p->window;

    complete(p, s, peak < far ? peak : far, found);
  }
  s->peak = peak + 1;
  s->onset = onset;
}

/* The run ends before slot t. */
static void end_run(const search *p, state *s, int64_t t, ps_events *found)
{
  if (!s->running) {
    return;
  }
  for (; s->decided < t; s->decided++) {
    decide(p, s, s->decided, t - 1, found);
  }
  if (s->peak > 0) {
    const int64_t far = s->peak - 1 + p->window;

    complete(p, s, t < far ? t : far, found);
  }
  s->running = 0;
}

static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *const p = params;
  state *const s = memory;

  if (t > s->next) {
    end_run(p, s, s->next, found);
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t slot = t + i;

    s->next = slot + 1;
    if (!usable[i]) {
      end_run(p, s, slot, found);
      continue;
    }
    if (!s->running) {
      s->running = 1;
      s->since = slot;
      s->decided = slot + 1; /* a peak has slots on both sides */
    }
    ring_of(s)[slot & (p->ring - 1)] = x[0][i];
    for (; s->decided + p->window <= slot; s->decided++) {
      decide(p, s, s->decided, slot, found);
    }
  }
}

static void finish(const void *params, void *memory, ps_events *found)
{
  state *const s = memory;

  end_run(params, s, s->next, found);
}

static weir_status make_search(const weir_series_use *use, search **out)
{
  const options_ *const o = use->opts;
  const double rate = (double)use->in[0].rate_num / (double)use->in[0].rate_den;
  void *memory = NULL;

  WEIR_TRY(ps_events_need_unit(use, 0, "uS"));
  WEIR_TRY(weir_series_keep(use, sizeof(search), NULL, &memory));
  search *const p = memory;

  *p = (search){.window = (int64_t)ceil(o->window * rate),
                .ring = 1,
                .rate = rate,
                .min_amplitude = o->min_amplitude,
                .recovery = o->recovery};
  if (p->window < 4 || p->window > INT32_MAX / 4) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: window: %.6g s are %lld samples: expected 4 to %d",
                     use->step, o->window, (long long)p->window, INT32_MAX / 4);
  }
  /* A response is complete when slots to two windows after its peak are known, and its onset may
   * be one before it. */
  while (p->ring < 3 * p->window + 4) {
    p->ring *= 2;
  }
  *out = p;
  return WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[VALUES] = {"amplitude", "rise", "recovery"};
  static const char *const units[VALUES] = {"uS", "s", "s"};
  weir_graph *const g = use->graph;
  const weir_series in = ps_events_finite(g, use->in[0]);
  search *p = NULL;

  WEIR_TRY(make_search(use, &p));
  const ps_events_spec spec = {.name = "scr",
                               .params = p,
                               .state_bytes =
                                   (sizeof(state) + 63) / 64 * 64 + (size_t)p->ring * sizeof(float),
                               .ahead = 2 * p->window + 2,
                               .settle = 1,
                               .apart = 1,
                               .n_values = VALUES,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, &in, 1, out->out));
  out->n = VALUES;
  for (int k = 0; k < VALUES; k++) {
    weir_series *const s = &out->out[k];

    weir_series_set_unit(s, units[k]);
    s->present = weir_and(g, s->present, weir_gt_scalar(g, s->value, NONE / 2));
    *s = weir_series_mask(g, *s);
    out->name[k] = names[k];
  }
  return weir_graph_status(g);
}

const weir_series_op ps_step_scr = {
    .name = "scr",
    .cite = "Makowski et al. 2021 (NeuroKit2, eda_peaks); Boucsein, Electrodermal Activity, 2012",
    .help = "skin conductance responses of a phasic component, at their peaks: amplitude above the "
            "onset (uS), rise (s from the onset) and recovery (s to half of the amplitude; none "
            "where it is not reached)",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
