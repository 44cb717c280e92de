/* delineate.c - waves of each beat, in one lead or in several, and the intervals PR, QRS and QT
 * with the corrections of QT for the heart rate, as streams. For research only. */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"
#include "step/delineate/waves.h"

enum { MAX_LEADS = 12, MAX_BEATS = 16 };
/* s of signal before and after an R wave: where waves are looked for, and the reach of filters. */
#define BEFORE 0.5
#define AFTER 0.95

typedef struct options {
  ps_slope_opts waves;
  int64_t agree;
  double within;
  int64_t beats;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_TABLE(options_, waves, ps_slope_options, "slopes that tell waves and their borders"),
    WEIR_OPT_INT(
        options_, agree, 3, 0, MAX_LEADS - 1, "1",
        "several leads: a border is the outermost mark with which so many others agree, or "
        "the median; with fewer leads all of them"),
    WEIR_OPT_REAL(options_, within, 0.012, 0, 0.2, "s", "how far apart marks that agree may lie"),
    WEIR_OPT_INT(options_, beats, 32, 1, 1000, "1",
                 "in noise the borders of the QRS complex are those of the mean of so many beats "
                 "of one shape (no more than noise asks for); 1: of each beat alone"),
    WEIR_OPT_END,
};

enum { PR = PS_MARK_KINDS, QRS, QT, BAZETT, FRIDERICIA, FRAMINGHAM, HODGES, OUTPUTS };

typedef struct search {
  ps_slope_opts waves;
  int n_leads, agree;
  int64_t beats;
  double within, rate;
  int64_t before, after, ring; /* slots; ring: a power of two */
} search;

typedef struct beat {
  int64_t slot;
  double rr; /* s */
} beat;

/* Rings of samples, NaN where absent, a lead after the other; a beat in a row; scratch; samples of
 * mean beats, a lead after the other, follow. */
typedef struct state {
  int64_t next;                 /* slots before it have been seen     */
  double t_end[MAX_LEADS];      /* end of the last T wave, slots      */
  ps_mean_beat mean[MAX_LEADS]; /* of which the QRS complex is measured */
  int64_t n;                    /* beats whose waves are not complete */
  beat beats[MAX_BEATS];
} state;

static size_t round_up(size_t n)
{
  return (n + 63) / 64 * 64;
}

static float *ring_of(const search *p, state *s, int lead)
{
  return (float *)(void *)((char *)s + round_up(sizeof *s)) + (int64_t)lead * p->ring;
}

static float *row_of(const search *p, state *s)
{
  return ring_of(p, s, p->n_leads);
}

static double *scratch_of(const search *p, state *s)
{
  return (double *)(void *)((char *)row_of(p, s) + round_up((size_t)p->ring * sizeof(float)));
}

static double *mean_of(const search *p, state *s, int lead)
{
  return scratch_of(p, s) + ps_waves_scratch(p->before + p->after + 1) +
         (int64_t)lead * (2 * ps_mean_reach(p->rate) + 1);
}

static size_t bytes_of(const search *p)
{
  return round_up(sizeof(state)) + (size_t)(p->n_leads + 1) * (size_t)p->ring * sizeof(float) + 64 +
         (ps_waves_scratch(p->before + p->after + 1) +
          (size_t)p->n_leads * (size_t)(2 * ps_mean_reach(p->rate) + 1)) *
             sizeof(double);
}

static int start(const void *params, void *memory)
{
  const search *p = params;
  state *s = memory;

  for (int k = 0; k < p->n_leads; k++) {
    s->t_end[k] = -1e18;
    s->mean[k].most = p->beats;
    for (int64_t i = 0; i < p->ring; i++) {
      ring_of(p, s, k)[i] = NAN;
    }
  }
  return 1;
}

/* The marks of a beat in one lead; `next`: slots to the next beat. Samples next to a gap are as
 * missing as those in it. */
static void measure_lead(const search *p, state *s, int lead, const beat *b, double next,
                         double *marks)
{
  const float *ring = ring_of(p, s, lead);
  float *row = row_of(p, s);
  int64_t lo = b->slot, hi = b->slot;

  while (lo > b->slot - p->before && !isnan(ring[(lo - 1) & (p->ring - 1)])) {
    lo--;
  }
  while (hi < b->slot + p->after && !isnan(ring[(hi + 1) & (p->ring - 1)])) {
    hi++;
  }
  for (int64_t t = lo; t <= hi; t++) {
    row[t - lo] = ring[t & (p->ring - 1)];
  }
  const ps_lead_beat wave = {.x = row,
                             .n = hi - lo + 1,
                             .r = b->slot - lo,
                             .rate = p->rate,
                             .rr = b->rr * p->rate,
                             .next = next,
                             .earliest = s->t_end[lead] - (double)b->slot,
                             .mean = &s->mean[lead],
                             .mean_x = mean_of(p, s, lead)};

  if (isnan(ring[b->slot & (p->ring - 1)])) {
    for (int k = 0; k < PS_MARK_KINDS; k++) {
      marks[k] = NAN;
    }
    return;
  }
  ps_waves_find(&p->waves, &wave, scratch_of(p, s), marks);
  if (!isnan(marks[PS_T_OFF])) {
    s->t_end[lead] = (double)b->slot + marks[PS_T_OFF];
  }
}

/* The first beat that waits: all samples up to `after` slots after it have been seen. */
static void measure(const search *p, state *s, ps_events *found)
{
  const beat b = s->beats[0];
  const double next = s->n > 1 ? (double)(s->beats[1].slot - b.slot) : INFINITY;
  double marks[MAX_LEADS][PS_MARK_KINDS];
  float values[PS_MARK_KINDS];
  bool any = false;

  for (int lead = 0; lead < p->n_leads; lead++) {
    measure_lead(p, s, lead, &b, next, marks[lead]);
  }
  for (int k = 0; k < PS_MARK_KINDS; k++) {
    double mark[MAX_LEADS];

    for (int lead = 0; lead < p->n_leads; lead++) {
      mark[lead] = marks[lead][k] / p->rate;
    }
    const double m = ps_waves_combine((ps_mark_kind)k, mark, p->n_leads, p->agree, p->within);

    values[k] = isnan(m) ? 0 : (float)m; /* no mark lies at the R wave itself */
    any = any || !isnan(m);
  }
  if (any) {
    ps_events_put(found, b.slot, values);
  }
  s->n--;
  memmove(s->beats, s->beats + 1, (size_t)s->n * sizeof *s->beats);
}

/* Slot t: absent samples are NaN. */
static void take(const search *p, state *s, int64_t t, const float *const *x, int64_t i,
                 bool usable, ps_events *found)
{
  const int bits = usable ? (int)x[p->n_leads + 1][i] : 0;
  const float rr = usable ? x[p->n_leads][i] : 0;

  for (int k = 0; k < p->n_leads; k++) {
    ring_of(p, s, k)[t & (p->ring - 1)] = bits >> k & 1 ? x[k][i] : NAN;
  }
  if (rr > 0 && s->n < MAX_BEATS) {
    s->beats[s->n++] = (beat){t, (double)rr};
  }
  while (s->n > 0 && t - s->beats[0].slot >= p->after) {
    measure(p, s, found);
  }
}

/* x: the leads; the interval that ends at a beat, 0 elsewhere; a bit for each lead that is there.
 */
static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  if (t > s->next + p->ring) {
    s->next = t - p->ring; /* by then no beat waits */
  }
  for (; s->next < t; s->next++) {
    take(p, s, s->next, x, 0, false, found);
  }
  for (int64_t i = 0; i < n; i++) {
    take(p, s, t + i, x, i, usable[i] != 0, found);
  }
  s->next = t + n;
}

static void finish(const void *params, void *memory, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  while (s->n > 0) {
    take(p, s, s->next, NULL, 0, false, found);
    s->next++;
  }
}

static weir_status make_search(const weir_series_use *use, search **out)
{
  const options_ *o = use->opts;
  const int n_leads = use->n_in - 1;
  void *memory = NULL;

  WEIR_TRY(weir_series_keep(use, sizeof **out, NULL, &memory));
  search *p = memory;

  *p = (search){.waves = o->waves,
                .n_leads = n_leads,
                .agree = o->agree < n_leads ? (int)o->agree : n_leads - 1,
                .beats = o->beats,
                .within = o->within,
                .rate = (double)use->in[0].rate_num / (double)use->in[0].rate_den,
                .ring = 1};
  p->before = (int64_t)ceil(BEFORE * p->rate);
  p->after = (int64_t)ceil(AFTER * p->rate);
  while (p->ring < p->before + p->after + 2) {
    p->ring *= 2;
  }
  *out = p;
  return WEIR_OK;
}

/* The streams of the search; each is present where a lead or a beat is. */
static weir_status streams(const weir_series_use *use, int n_leads, weir_series *in)
{
  weir_graph *g = use->graph;
  weir_series *rr = &in[n_leads], *bits = &in[n_leads + 1];

  WEIR_TRY(ps_events_need_unit(use, n_leads, "s"));
  for (int k = 0; k <= n_leads; k++) {
    WEIR_TRY(k < n_leads ? ps_events_need_unit(use, k, "mV") : WEIR_OK);
    in[k] = ps_events_finite(g, use->in[k]);
  }
  *bits = *rr;
  bits->value = weir_scale(g, rr->value, 0);
  for (int k = 0; k < n_leads; k++) {
    const weir_value here = weir_cast(g, WEIR_F32, in[k].present);

    bits->value = weir_add(g, bits->value, weir_scale(g, here, ldexp(1, k)));
    bits->present = weir_or(g, bits->present, in[k].present);
  }
  for (int k = 0; k <= n_leads; k++) {
    in[k].present = bits->present;
  }
  return WEIR_OK;
}

/* b - a where both are. */
static weir_series between(weir_graph *g, const weir_series *a, const weir_series *b)
{
  weir_series d = *b;

  d.present = weir_and(g, a->present, b->present);
  d.value = weir_sub(g, b->value, a->value);
  return weir_series_mask(g, d);
}

/* QT corrected for the interval rr before the beat, both in s. */
static void correct(weir_graph *g, const weir_series *qt, const weir_series *rr, weir_series *out)
{
  weir_series c[HODGES - BAZETT + 1];

  for (int k = 0; k <= HODGES - BAZETT; k++) {
    c[k] = *qt;
    c[k].present = weir_and(g, qt->present, weir_gt_scalar(g, rr->value, 0));
  }
  /* Where there is no beat the interval counts as 1 s, so that no function is outside its domain.
   */
  const weir_value here = weir_cast(g, WEIR_F32, c[0].present);
  const weir_value x = weir_add_scalar(g, weir_mul(g, here, weir_add_scalar(g, rr->value, -1)), 1);

  c[0].value = weir_div(g, qt->value, weir_sqrt(g, x));
  c[1].value = weir_mul(g, qt->value, weir_exp(g, weir_scale(g, weir_log(g, x), -1.0 / 3)));
  c[2].value = weir_add(g, qt->value, weir_add_scalar(g, weir_scale(g, x, -0.154), 0.154));
  c[3].value = weir_add(
      g, qt->value,
      weir_add_scalar(g, weir_scale(g, weir_rdiv_scalar(g, 60, x), 0.00175), -60 * 0.00175));
  for (int k = 0; k <= HODGES - BAZETT; k++) {
    out[k] = weir_series_mask(g, c[k]);
  }
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[OUTPUTS] = {
      "p_on", "p",   "p_off", "qrs_on", "qrs_off",    "t_on",       "t",     "t_off",
      "pr",   "qrs", "qt",    "bazett", "fridericia", "framingham", "hodges"};
  weir_graph *g = use->graph;
  weir_series *const s = out->out, in[MAX_LEADS + 2];
  search *p = NULL;

  WEIR_TRY(make_search(use, &p));
  WEIR_TRY(streams(use, p->n_leads, in));
  const ps_events_spec spec = {.name = "delineate",
                               .params = p,
                               .state_bytes = bytes_of(p),
                               .ahead = p->after,
                               .settle = p->ring + 1,
                               .apart = 1,
                               .n_values = PS_MARK_KINDS,
                               .each = true,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, in, p->n_leads + 2, s));
  s[PR] = between(g, &s[PS_P_ON], &s[PS_QRS_ON]);
  s[QRS] = between(g, &s[PS_QRS_ON], &s[PS_QRS_OFF]);
  s[QT] = between(g, &s[PS_QRS_ON], &s[PS_T_OFF]);
  correct(g, &s[QT], &in[p->n_leads], &s[BAZETT]);
  out->n = OUTPUTS;
  for (int k = 0; k < OUTPUTS; k++) {
    weir_series_set_unit(&s[k], "s");
    out->name[k] = names[k];
  }
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_delineate = {
    .name = "delineate",
    .cite = "Martinez et al., IEEE Trans. Biomed. Eng. 51 (2004) 570",
    .help =
        "waves of each beat that has an interval, research use only: of 1 to 12 leads of an ECG "
        "and detect.rr the times in s from the R wave of p_on, p, p_off, qrs_on, qrs_off, t_on, t, "
        "t_off (negative before it), the intervals pr, qrs, qt, and qt corrected for the heart "
        "rate: bazett, fridericia, framingham, hodges",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 2,
    .max_in = MAX_LEADS + 1,
    .build = build,
};
