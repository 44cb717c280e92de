/* hrv.c - heart rate variability in windows of a stream of intervals. */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "model/hrv_nonlinear.h"
#include "ops/elementwise/weir_elementwise.h"

/* Intervals a second that are kept: 240 a minute; of more the oldest are left out. */
#define MAX_PER_SECOND 4
/* Seconds by which an interval, exact to below a slot (detect.refine), may differ from the slots
 * since the beat before: less than any other interval. */
#define JOINED 0.1

typedef struct options {
  double window, hop;
  int64_t min_intervals;
  ps_hrv_opts nn;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_REAL(options_, window, 300, 10, 86400, "s",
                  "intervals that end in so much time (Task Force 1996: 5 min)"),
    WEIR_OPT_REAL(options_, hop, 60, 1, 86400, "s",
                  "a new window each; a result stands at the start of the window's last hop"),
    WEIR_OPT_INT(options_, min_intervals, 10, 2, 1e9, "1",
                 "fewer intervals that count give no result", .alias = "least"),
    WEIR_OPT_TABLE(options_, nn, ps_hrv_options,
                   "which intervals count, and how they are measured"),
    WEIR_OPT_END,
};

enum { N, MEAN, SD, RMSSD, PNN50, SDANN, TIMES };
enum { VLF, LF, HF, BANDS };
enum { SD1, SD2, APEN, SAMPEN, MSE_CI, ALPHA1, ALPHA2, NONLINEAR };
/* Stands for a value that there is not. */
#define NONE (-1e30F)

typedef enum { TIME_DOMAIN, SPECTRUM, NONLINEAR_MEASURES } kind;

typedef struct search {
  ps_hrv_opts nn;
  int64_t window, hop, min_intervals, capacity; /* slots, slots, intervals, intervals */
  double rate;
  kind what;
} search;

/* The intervals and the scratch memory follow. */
typedef struct state {
  int64_t next;
  int64_t last; /* 1 + slot of the last interval, 0 for none */
  int64_t n;
} state;

static ps_interval *intervals_of(state *s)
{
  return (ps_interval *)(void *)((char *)s + (sizeof *s + 63) / 64 * 64);
}

static double *scratch_of(const search *p, state *s)
{
  return (double *)(void *)(intervals_of(s) + p->capacity);
}

static size_t bytes_of(const search *p)
{
  const double seconds = (double)(p->window + p->hop) / p->rate + 10;
  const size_t scratch = p->what == NONLINEAR_MEASURES
                             ? ps_hrv_nonlinear_scratch(&p->nn, p->capacity)
                             : ps_hrv_scratch(&p->nn, p->capacity, seconds);

  return (sizeof(state) + 63) / 64 * 64 + (size_t)p->capacity * sizeof(ps_interval) +
         scratch * sizeof(double);
}

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory;
  return 1;
}

static void drop(state *s, int64_t count)
{
  ps_interval *v = intervals_of(s);

  s->n -= count;
  memmove(v, v + count, (size_t)s->n * sizeof *v);
}

/* An interval of rr s ends at slot t. */
static void take(const search *p, state *s, int64_t t, float rr)
{
  const double length = (double)rr * p->rate;

  if (!(length > 0)) {
    return;
  }
  if (s->n == p->capacity) {
    drop(s, 1);
  }
  intervals_of(s)[s->n++] = (ps_interval){
      .end = (double)t,
      .length = length,
      .joined = s->last > 0 && fabs((double)(t - (s->last - 1)) - length) <= JOINED * p->rate};
  s->last = t + 1;
}

static float value_of(double x)
{
  return isnan(x) ? NONE : (float)x;
}

static void put_bands(const search *p, const ps_interval *v, int64_t n, int64_t at, double *scratch,
                      ps_events *found)
{
  const ps_hrv_bands b = ps_hrv_spectrum(&p->nn, v, n, p->rate, scratch);
  const float values[BANDS] = {value_of(b.vlf), (float)b.lf, (float)b.hf};

  if (!isnan(b.hf)) {
    ps_events_put(found, at, values);
  }
}

static void put_nonlinear(const search *p, const ps_interval *v, int64_t n, int64_t at,
                          double *scratch, ps_events *found)
{
  const ps_hrv_nonlinear m = ps_hrv_nonlinear_of(&p->nn, v, n, p->rate, scratch);
  const float values[NONLINEAR] = {value_of(m.sd1),    value_of(m.sd2),    value_of(m.apen),
                                   value_of(m.sampen), value_of(m.mse_ci), value_of(m.alpha1),
                                   value_of(m.alpha2)};

  ps_events_put(found, at, values);
}

/* The window that ends before slot `end`; its result stands at slot `at`. */
static void evaluate(const search *p, state *s, int64_t end, int64_t at, ps_events *found)
{
  ps_interval *v = intervals_of(s);
  double *scratch = scratch_of(p, s);
  int64_t old = 0;

  while (old < s->n && v[old].end < (double)(end - p->window)) {
    old++;
  }
  drop(s, old);
  for (int64_t i = 0; i < s->n; i++) {
    v[i].counts = true;
  }
  ps_hrv_exclude(p->nn.exclude, v, s->n, scratch);
  const ps_hrv_times t = ps_hrv_time_domain(p->nn.definitions, v, s->n, p->rate);

  if (t.n < p->min_intervals || isnan(t.rmssd)) {
    return;
  }
  if (p->what == SPECTRUM) {
    put_bands(p, v, s->n, at, scratch, found);
  } else if (p->what == NONLINEAR_MEASURES) {
    put_nonlinear(p, v, s->n, at, scratch, found);
  } else {
    const float values[TIMES] = {(float)t.n,     (float)t.mean,  (float)t.sd,
                                 (float)t.rmssd, (float)t.pnn50, value_of(t.sdann)};

    ps_events_put(found, at, values);
  }
}

static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  for (int64_t i = 0; i < n;) {
    const int64_t border = ((t + i) / p->hop + 1) * p->hop;
    const int64_t end = border - t < n ? border - t : n;
    const uint8_t *next = NULL;

    while (i < end && (next = memchr(usable + i, 1, (size_t)(end - i))) != NULL) {
      i = next - usable;
      take(p, s, t + i, x[0][i]);
      i++;
    }
    i = end;
    if (t + end == border) {
      evaluate(p, s, border, border - p->hop, found);
    }
  }
  s->next = t + n;
}

static void finish(const void *params, void *memory, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  if (s->next % p->hop != 0) {
    evaluate(p, s, s->next, s->next / p->hop * p->hop, found);
  }
}

/* One search: each has the intervals of its own, and one that nothing reads is not computed. */
static weir_status add(const weir_series_use *use, kind what, weir_series *out)
{
  static const char *const names[] = {"hrv", "hrv_bands", "hrv_nonlinear"};
  static const int n_values[] = {TIMES, BANDS, NONLINEAR};
  static const char *const units[][NONLINEAR] = {{"1", "ms", "ms", "ms", "%", "ms"},
                                                 {"ms2", "ms2", "ms2"},
                                                 {"ms", "ms", "1", "1", "1", "1", "1"}};
  const options_ *o = use->opts;
  const weir_series *in = &use->in[0];
  const double rate = (double)in->rate_num / (double)in->rate_den;
  void *memory = NULL;

  WEIR_TRY(weir_series_keep(use, sizeof(search), NULL, &memory));
  search *p = memory;

  *p = (search){.nn = o->nn, .min_intervals = o->min_intervals, .rate = rate, .what = what};
  WEIR_TRY(weir_series_slots(in, "hrv.window", o->window, 1, &p->window));
  WEIR_TRY(weir_series_slots(in, "hrv.hop", o->hop, 1, &p->hop));
  p->capacity = (int64_t)ceil((o->window + o->hop) * MAX_PER_SECOND) + 8;
  const ps_events_spec spec = {.name = names[what],
                               .params = p,
                               .state_bytes = bytes_of(p),
                               .ahead = p->hop,
                               .settle = p->window + p->hop,
                               .apart = p->hop,
                               .n_values = n_values[what],
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, in, 1, out));
  for (int k = 0; k < spec.n_values; k++) {
    WEIR_TRY(ps_events_thin(use->graph, p->hop, units[what][k], &out[k]));
  }
  return WEIR_OK;
}

/* Makes a / b where b is above 0. */
static weir_series ratio_of(weir_graph *g, const weir_series *a, const weir_series *b)
{
  weir_series ratio = *b;

  ratio.present = weir_and(g, b->present, weir_gt_scalar(g, b->value, 0));
  ratio.value = weir_div(g, a->value, b->value);
  ratio = weir_series_mask(g, ratio);
  weir_series_set_unit(&ratio, "1");
  return ratio;
}

/* Where the streams of each search begin. */
enum {
  FIRST_BAND = TIMES,
  LF_HF = FIRST_BAND + BANDS,
  FIRST_NONLINEAR,
  SD_RATIO = FIRST_NONLINEAR + NONLINEAR,
  ELLIPSE,
  OUTPUTS
};

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[OUTPUTS] = {
      "n",      "mean_nn",    "sdnn",       "rmssd",   "pnn50",  "sdann", "vlf",
      "lf",     "hf",         "lf_hf",      "sd1",     "sd2",    "apen",  "sampen",
      "mse_ci", "dfa_alpha1", "dfa_alpha2", "sd1_sd2", "ellipse"};
  const options_ *o = use->opts;
  weir_graph *g = use->graph;
  weir_series *const s = out->out;

  WEIR_TRY(ps_events_need_intervals(use));
  WEIR_TRY(ps_hrv_check("hrv.nn", &o->nn));
  WEIR_TRY(add(use, TIME_DOMAIN, s));
  WEIR_TRY(add(use, SPECTRUM, s + FIRST_BAND));
  WEIR_TRY(add(use, NONLINEAR_MEASURES, s + FIRST_NONLINEAR));
  for (int k = 0; k < SD_RATIO; k++) {
    if (k == SDANN || k == FIRST_BAND + VLF || k >= FIRST_NONLINEAR) {
      s[k].present = weir_and(g, s[k].present, weir_gt_scalar(g, s[k].value, NONE / 2));
      s[k] = weir_series_mask(g, s[k]);
    }
  }
  const weir_series *sd1 = &s[FIRST_NONLINEAR + SD1], *sd2 = &s[FIRST_NONLINEAR + SD2];

  s[LF_HF] = ratio_of(g, &s[FIRST_BAND + LF], &s[FIRST_BAND + HF]);
  s[SD_RATIO] = ratio_of(g, sd1, sd2);
  s[ELLIPSE] = *sd2;
  s[ELLIPSE].value = weir_scale(g, weir_mul(g, sd1->value, sd2->value), acos(-1.0));
  s[ELLIPSE] = weir_series_mask(g, s[ELLIPSE]);
  weir_series_set_unit(&s[ELLIPSE], "ms2");
  out->n = OUTPUTS;
  memcpy(out->name, names, sizeof names);
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_hrv = {
    .name = "hrv",
    .cite = "Task Force, Circulation 93 (1996) 1043; nonlinear: docs/science/physio_stream.md",
    .help =
        "heart rate variability in windows of a stream of intervals (detect.rr): n, mean_nn, "
        "sdnn, rmssd (ms), pnn50 (%), sdann (ms, in windows that hold two five minutes), vlf (of "
        "lomb, in windows of more than five minutes), lf, hf (ms2), lf_hf, sd1, sd2 (ms), sd1_sd2, "
        "ellipse (ms2) of the Poincare plot, apen, sampen, mse_ci (sum over scales), dfa_alpha1, "
        "dfa_alpha2, a value each hop; of a detector's beats, which have no types, these are "
        "measures of RR intervals, not of NN",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
