/* resp_rate.c - respiratory rate in windows, from what breathing modulates in an ECG or a
 * photoplethysmogram and its beats, or of a respiration signal itself. */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"
#include "step/resp_rate/modulation.h"

/* Beats a second that are kept: 240 a minute; of more the oldest are left out. */
#define MAX_BEATS_PER_SECOND 4
/* Points a second of a respiration signal, at least; twice that at most. */
#define POINTS_PER_SECOND 8
/* Seconds by which an interval may differ from the slots since the beat before (hrv.c). */
#define JOINED 0.1
/* The peak is the largest value so close to the beat, s. */
#define AROUND 0.05

typedef struct options {
  double window, hop, min_rate, max_rate, max_sd, cover;
  int signal;
} options_;

enum { ECG, PPG };

static const weir_opt options[] = {
    WEIR_OPT_REAL(options_, window, 32, 8, 600, "s", "window length (Karlen 2013: 16 to 64 s)"),
    WEIR_OPT_REAL(
        options_, hop, 8, 1, 600, "s",
        "interval between windows; results are stamped with the start of the last interval"),
    WEIR_OPT_ENUM(options_, signal, ECG, "ecg|ppg",
                  "what the beats are of: the trough before a peak is the lowest value of 0.1 s "
                  "(Q wave) or of 0.4 s (pulse onset)"),
    WEIR_OPT_REAL(options_, min_rate, 4, 0.5, 300, "1/min",
                  "lowest respiratory rate (Karlen 2013: 4)"),
    WEIR_OPT_REAL(options_, max_rate, 65, 1, 300, "1/min",
                  "highest one (Karlen 2013: 65); half the heart rate where that is lower"),
    WEIR_OPT_REAL(
        options_, max_sd, 4, 0, 300, "1/min",
        "no fused rate if the standard deviation of the three is higher (Karlen 2013: 4)"),
    WEIR_OPT_REAL(options_, cover, 0.8, 0.1, 1, "1",
                  "share of the window that beats without a gap between them must cover"),
    WEIR_OPT_END,
};

enum { RATE, SD, BW, AM, FM, N, VALUES };
/* Stands for a value that there is not. */
#define NONE (-1e30F)

typedef struct search {
  int64_t window, hop, around, trough; /* slots                                           */
  int64_t ring;                        /* a power of 2                                    */
  int64_t per_point;                   /* slots of a point of a respiration signal, or 0  */
  int64_t capacity;                    /* points                                          */
  double rate, lo, hi, max_sd, cover;
} search;

/* The ring, the points and the scratch memory follow. */
typedef struct state {
  int64_t next;
  int64_t since;  /* first slot without a gap from there on  */
  int64_t beat;   /* 1 + slot of a beat whose wave is not complete, 0 for none */
  double rr;      /* its interval, s                         */
  int64_t last;   /* 1 + slot of the last beat, 0 for none   */
  double sum;     /* of the point at hand                    */
  int64_t n_sum;  /* its slots so far                        */
  int64_t broken; /* a gap since the last point              */
  int64_t n;
} state;

static size_t round_up(size_t n)
{
  return (n + 63) / 64 * 64;
}

static float *ring_of(state *s)
{
  return (float *)(void *)((char *)s + round_up(sizeof *s));
}

static ps_modulated *points_of(const search *p, state *s)
{
  return (ps_modulated *)(void *)((char *)ring_of(s) + round_up((size_t)p->ring * sizeof(float)));
}

static double *scratch_of(const search *p, state *s)
{
  return (double *)(void *)(points_of(p, s) + p->capacity);
}

static size_t bytes_of(const search *p)
{
  const double seconds = (double)(p->window + p->hop) / p->rate;

  return round_up(sizeof(state)) + round_up((size_t)p->ring * sizeof(float)) +
         (size_t)p->capacity * sizeof(ps_modulated) +
         ps_modulation_scratch(p->capacity, seconds) * sizeof(double);
}

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory;
  return 1;
}

static void drop(const search *p, state *s, int64_t count)
{
  ps_modulated *v = points_of(p, s);

  s->n -= count;
  memmove(v, v + count, (size_t)s->n * sizeof *v);
}

static void add_point(const search *p, state *s, const ps_modulated *point)
{
  if (s->n == p->capacity) {
    drop(p, s, 1);
  }
  points_of(p, s)[s->n++] = *point;
}

/* Height of the parabola through the largest value, in slot t, and those beside it. */
static double vertex(const float *ring, int64_t mask, int64_t t)
{
  const double a = (double)ring[(t - 1) & mask], b = (double)ring[t & mask];
  const double c = (double)ring[(t + 1) & mask], bend = a - 2 * b + c;

  return bend < 0 && a <= b && c <= b ? b - (a - c) * (a - c) / (8 * bend) : b;
}

/* The beat that waits: samples up to `around` after it are in the ring. */
static void measure(const search *p, state *s)
{
  const float *ring = ring_of(s);
  const int64_t mask = p->ring - 1, at = s->beat - 1, first = at - p->around;
  int64_t top = first;

  s->beat = 0;
  if (first - p->trough - 1 < s->since) {
    return;
  }
  for (int64_t t = first; t <= at + p->around; t++) {
    top = ring[t & mask] > ring[top & mask] ? t : top;
  }
  double low = (double)ring[top & mask];

  for (int64_t t = top - p->trough; t < top; t++) {
    low = fmin(low, (double)ring[t & mask]);
  }
  const double high = top < at + p->around ? vertex(ring, mask, top) : (double)ring[top & mask];
  const double since = (double)(at - (s->last - 1));
  const ps_modulated point = {.t = (double)at / p->rate,
                              .value = {(high + low) / 2, high - low, s->rr},
                              .joined =
                                  s->last > 0 && fabs(since - s->rr * p->rate) <= JOINED * p->rate};

  s->last = at + 1;
  add_point(p, s, &point);
}

/* A slot of a respiration signal: points are means of some slots. */
static void average(const search *p, state *s, int64_t t, float x)
{
  s->sum += (double)x;
  if (++s->n_sum < p->per_point) {
    return;
  }
  const ps_modulated point = {.t = ((double)t - (double)(p->per_point - 1) / 2) / p->rate,
                              .value = {s->sum / (double)p->per_point, 0, 0},
                              .joined = !s->broken};

  s->sum = 0;
  s->n_sum = 0;
  s->broken = 0;
  add_point(p, s, &point);
}

/* A present slot. */
static void take(const search *p, state *s, int64_t t, float x, float rr)
{
  if (p->per_point > 0) {
    average(p, s, t, x);
    return;
  }
  ring_of(s)[t & (p->ring - 1)] = x;
  if (rr > 0.0f && s->beat == 0) {
    s->beat = t + 1;
    s->rr = (double)rr;
  }
  if (s->beat > 0 && t - (s->beat - 1) >= p->around) {
    measure(p, s);
  }
}

/* Slots up to t are absent. */
static void gap(state *s, int64_t t)
{
  s->since = t;
  s->beat = 0;
  s->sum = 0;
  s->n_sum = 0;
  s->broken = 1;
  s->last = 0;
}

static float value_of(double x)
{
  return isnan(x) ? NONE : (float)x;
}

/* The window that ends before slot `end`; its result stands at slot `at`. */
static void evaluate(const search *p, state *s, int64_t end, int64_t at, ps_events *found)
{
  const ps_modulated *v = points_of(p, s);
  const int n_rates = p->per_point > 0 ? 1 : PS_MODULATIONS;
  double rate[PS_MODULATIONS], sd = 0;
  int64_t old = 0, first = 0;

  while (old < s->n && v[old].t * p->rate < (double)(end - p->window)) {
    old++;
  }
  drop(p, s, old);
  const int64_t n = ps_modulation_run(v, s->n, &first);

  if (n < 4 || (v[first + n - 1].t - v[first].t) * p->rate < p->cover * (double)p->window) {
    return;
  }
  for (int m = 0; m < n_rates; m++) {
    rate[m] = ps_modulation_rate(v + first, n, m, p->lo, p->hi, scratch_of(p, s));
  }
  double fused = n_rates == 1 ? rate[0] : ps_modulation_fuse(rate, &sd);

  fused = sd <= p->max_sd ? fused : NAN;
  const float values[VALUES] = {value_of(fused),
                                value_of(sd),
                                value_of(rate[PS_MODULATION_BW]),
                                n_rates > 1 ? value_of(rate[PS_MODULATION_AM]) : NONE,
                                n_rates > 1 ? value_of(rate[PS_MODULATION_FM]) : NONE,
                                (float)n};

  ps_events_put(found, at, values);
}

/* x[0]: the signal; x[1]: 0, or the interval that ends at a beat. */
static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  if (t > s->next) {
    gap(s, t);
  }
  for (int64_t i = 0; i < n;) {
    const int64_t border = ((t + i) / p->hop + 1) * p->hop;
    const int64_t end = border - t < n ? border - t : n;

    for (; i < end; i++) {
      if (usable[i]) {
        take(p, s, t + i, x[0][i], x[1][i]);
      } else {
        gap(s, t + i + 1);
      }
    }
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

static weir_status make_search(const weir_series_use *use, search **out)
{
  const options_ *o = use->opts;
  const weir_series *in = &use->in[0];
  const double rate = (double)in->rate_num / (double)in->rate_den;
  void *memory = NULL;

  if (o->min_rate >= o->max_rate) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "resp_rate.min_rate is %g/min and resp_rate.max_rate %g/min: the lowest rate "
                     "must be below the highest one",
                     o->min_rate, o->max_rate);
  }
  WEIR_TRY(weir_series_keep(use, sizeof **out, NULL, &memory));
  search *p = memory;

  *p = (search){.around = (int64_t)fmax(1, floor(AROUND * rate + 0.5)),
                .trough = (int64_t)fmax(1, floor((o->signal == ECG ? 0.1 : 0.4) * rate + 0.5)),
                .ring = 1,
                .rate = rate,
                .lo = o->min_rate,
                .hi = o->max_rate,
                .max_sd = o->max_sd,
                .cover = o->cover};
  WEIR_TRY(weir_series_slots(in, "resp_rate.window", o->window, 1, &p->window));
  WEIR_TRY(weir_series_slots(in, "resp_rate.hop", o->hop, 1, &p->hop));
  while (p->ring < 2 * p->around + p->trough + 4) {
    p->ring *= 2;
  }
  double per_second = MAX_BEATS_PER_SECOND;

  if (use->n_in == 1) {
    p->per_point = (int64_t)fmax(1, floor(rate / POINTS_PER_SECOND));
    per_second = rate / (double)p->per_point;
  }
  p->capacity = (int64_t)ceil((o->window + o->hop) * per_second) + 8;
  *out = p;
  return WEIR_OK;
}

/* The streams of the search: the signal, and the interval at each beat, 0 elsewhere. */
static weir_status streams(const weir_series_use *use, weir_series in[2])
{
  weir_graph *g = use->graph;

  in[0] = in[1] = ps_events_finite(g, use->in[0]);
  if (use->n_in == 1) {
    in[1].value = weir_scale(g, in[0].value, 0);
    return WEIR_OK;
  }
  const weir_series *rr = &use->in[1];

  WEIR_TRY(ps_events_need_unit(use, 1, "s"));
  if ((__int128)rr->rate_num * in[0].rate_den != (__int128)in[0].rate_num * rr->rate_den) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "resp_rate: %s is on another clock than %s; find the beats in the signal that "
                     "the rate is of",
                     use->in_name[1], use->in_name[0]);
  }
  in[1].value = ps_events_finite(g, *rr).value;
  return WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[VALUES] = {"rate", "sd", "bw", "am", "fm", "n"};
  weir_graph *g = use->graph;
  weir_series in[2];
  search *p = NULL;

  WEIR_TRY(make_search(use, &p));
  WEIR_TRY(streams(use, in));
  const ps_events_spec spec = {.name = "resp_rate",
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
  out->n = use->n_in == 1 ? 1 : VALUES;
  for (int k = 0; k < out->n; k++) {
    weir_series *s = &out->out[k];

    WEIR_TRY(ps_events_thin(g, p->hop, k == N ? "1" : "1/min", s));
    s->present = weir_and(g, s->present, weir_gt_scalar(g, s->value, NONE / 2));
    *s = weir_series_mask(g, *s);
    out->name[k] = names[k];
  }
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_resp_rate = {
    .name = "resp_rate",
    .cite = "Charlton et al., Physiol. Meas. 37 (2016) 610; Karlen et al. 2013 (smart fusion)",
    .help =
        "respiratory rate, 1/min, in windows: of a signal and its intervals (detect.rr or "
        "ppg_beats.rr) rate, the mean of those of baseline (bw), amplitude (am) and interval (fm) "
        "of its beats if their standard deviation (sd) is low, and n, the beats that it is of; of "
        "a respiration signal alone rate",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 2,
    .build = build,
};
