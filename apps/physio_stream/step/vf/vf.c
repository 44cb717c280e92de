/* vf.c - ventricular fibrillation and flutter by the threshold crossing sample count of Arafat,
 * Chowdhury and Hasan, Signal, Image and Video Processing 5 (2011) 1. For research only. */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "stream/op/sos/weir_stream_sos.h"

enum { MAX_WINDOWS = 60 };
/* s, as in the paper: a window, the time to the next one, and its ends, which are tapered. */
#define WINDOW 3
#define HOP 1
#define TAPER 0.25

typedef struct options {
  double lo, hi, threshold, limit, min_amplitude;
  int64_t windows;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_REAL(
        options_, lo, 1, 0.1, 100, "Hz",
        "lower edge of the Butterworth band-pass of order 2 that the signal passes first"),
    WEIR_OPT_REAL(options_, hi, 30, 1, 1000, "Hz", "its upper edge"),
    WEIR_OPT_REAL(
        options_, threshold, 0.2, 0.01, 0.99, "1",
        "a sample counts above so much of the largest in its window of 3 s (Arafat 2011)"),
    WEIR_OPT_INT(options_, windows, 2, 1, MAX_WINDOWS, "1",
                 "windows, 1 s apart, whose mean is judged: 2 are 4 s, 6 the 8 s of Arafat 2011"),
    WEIR_OPT_REAL(options_, limit, 48, 0, 100, "%", "vf is 1 where tcsc is above (Arafat 2011)"),
    WEIR_OPT_REAL(options_, min_amplitude, 0.1, 0, 100, "mV",
                  "below it, in the newest window, vf is 0: asystole or no signal"),
    WEIR_OPT_END,
};

enum { TCSC, VF, VALUES };

typedef struct search {
  int64_t window, hop, taper, windows; /* slots; the last: a number */
  double threshold, limit, min_amplitude;
} search;

/* The last `window` samples follow, a ring. */
typedef struct state {
  int64_t next, since; /* slots before `next` are seen; none is missing from `since` on */
  int64_t n;           /* windows in a row */
  double counts[MAX_WINDOWS];
} state;

static float *ring_of(state *s)
{
  return (float *)(void *)((char *)s + (sizeof *s + 63) / 64 * 64);
}

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory;
  return 1;
}

/* Weight of sample i of a window: 1, with ends of half a cosine. */
static double weight(const search *p, int64_t i)
{
  const int64_t end = i < p->window - 1 - i ? i : p->window - 1 - i;

  return end < p->taper ? 0.5 * (1 - cos(M_PI * (double)end / (double)p->taper)) : 1;
}

/* The window that ends before slot `end`: share of its samples above the threshold, %; *top: the
 * largest. */
static double count(const search *p, state *s, int64_t end, double *top)
{
  const float *ring = ring_of(s);
  int64_t n = 0;

  *top = 0;
  for (int64_t i = 0; i < p->window; i++) {
    *top = fmax(*top, weight(p, i) * fabs((double)ring[(end + i) % p->window]));
  }
  for (int64_t i = 0; i < p->window; i++) {
    n += weight(p, i) * fabs((double)ring[(end + i) % p->window]) > p->threshold * *top;
  }
  return 100 * (double)n / (double)p->window;
}

/* At slot `end`, the end of a hop; the result stands at its beginning. */
static void evaluate(const search *p, state *s, int64_t end, ps_events *found)
{
  double top = 0, sum = 0;

  if (end - s->since < p->window) {
    s->n = 0;
    return;
  }
  s->counts[s->n++ % p->windows] = count(p, s, end, &top);
  if (s->n < p->windows) {
    return;
  }
  for (int64_t i = 0; i < p->windows; i++) {
    sum += s->counts[i];
  }
  const double tcsc = sum / (double)p->windows;
  const float values[VALUES] = {(float)tcsc, tcsc > p->limit && top >= p->min_amplitude ? 1 : 0};

  ps_events_put(found, end - p->hop, values);
}

static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  s->since = t > s->next ? t : s->since;
  for (int64_t i = 0; i < n; i++) {
    ring_of(s)[(t + i) % p->window] = x[0][i];
    s->since = usable[i] ? s->since : t + i + 1;
    if ((t + i + 1) % p->hop == 0) {
      evaluate(p, s, t + i + 1, found);
    }
  }
  s->next = t + n;
}

static void finish(const void *params, void *memory, ps_events *found)
{
  (void)params;
  (void)memory;
  (void)found;
}

static weir_status filtered(const weir_series_use *use, weir_series *out)
{
  const options_ *o = use->opts;
  const weir_series *in = &use->in[0];
  const double rate = (double)in->rate_num / (double)in->rate_den;
  const weir_design_spec spec = {
      .band = WEIR_DESIGN_BANDPASS, .order = 2, .lo = o->lo, .hi = o->hi, .rate = rate};
  weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
  int n = 0;

  WEIR_TRY(weir_design_check_band("vf", spec.band, o->lo, o->hi, rate));
  WEIR_TRY(weir_design_butterworth(&spec, sos, &n));
  *out = weir_stream_sos(use->graph, ps_events_finite(use->graph, *in), sos, n, 0);
  return WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[VALUES] = {"tcsc", "vf"};
  static const char *const units[VALUES] = {"%", "1"};
  const options_ *o = use->opts;
  weir_series in = {.age = WEIR_NO_VALUE};
  void *memory = NULL;

  WEIR_TRY(ps_events_need_unit(use, 0, "mV"));
  WEIR_TRY(filtered(use, &in));
  WEIR_TRY(weir_series_keep(use, sizeof(search), NULL, &memory));
  search *p = memory;

  *p = (search){.windows = o->windows,
                .threshold = o->threshold,
                .limit = o->limit,
                .min_amplitude = o->min_amplitude};
  WEIR_TRY(weir_series_slots(&use->in[0], "vf: the time between windows", HOP, 1, &p->hop));
  p->window = WINDOW * p->hop;
  p->taper = (int64_t)ceil(TAPER * (double)p->hop);
  const ps_events_spec spec = {.name = "vf",
                               .params = p,
                               .state_bytes = (sizeof(state) + 63) / 64 * 64 +
                                              (size_t)p->window * sizeof(float),
                               .ahead = p->hop,
                               .settle = p->window + p->hop,
                               .apart = p->hop,
                               .n_values = VALUES,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, &in, 1, out->out));
  out->n = VALUES;
  for (int k = 0; k < VALUES; k++) {
    WEIR_TRY(ps_events_thin(use->graph, p->hop, units[k], &out->out[k]));
    out->name[k] = names[k];
  }
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

const weir_series_op ps_step_vf = {
    .name = "vf",
    .cite = "Arafat, Chowdhury and Hasan, Signal, Image and Video Processing 5 (2011) 1",
    .help = "ventricular fibrillation and flutter, research use only: of an ECG tcsc, the mean "
            "share (%) of samples above a threshold in windows of 3 s, and vf, 1 where it is above "
            "the limit, else 0, one each second, labelled with its beginning",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
