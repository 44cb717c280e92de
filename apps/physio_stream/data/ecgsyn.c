/* ecgsyn.c - the model of McSharry 2003, eqs. 1-4, streamed.
 *
 * x and y start on the limit cycle x^2 + y^2 = 1, where the first two equations are solved exactly
 * by x = cos(theta), y = sin(theta), theta' = 2 pi / RR. So theta is evaluated, not integrated:
 * beat times are exact and only z takes Runge-Kutta steps. */
#include "data/ecgsyn.h"
#include <math.h>
#include <stdbool.h>
#include "base/weir_alloc.h"

/* A wave after the change with heart rate; phase is its position after the R wave in cycles. */
typedef struct wave {
  double angle, strength, width, phase;
  ps_wave id;
} wave;

struct ps_ecgsyn {
  ps_ecgsyn_opts opts;
  ps_rr_process rr;
  wave waves[PS_WAVE_COUNT];       /* in order of phase                                   */
  double step;                     /* s, integration                                      */
  int64_t tick, origin;            /* steps done; step of sample 0                        */
  double z, slope;                 /* value and forcing at this step                      */
  double beat, interval;           /* s: last passage of the R wave, and the RR from it   */
  double mark_beat, mark_interval; /* the same for the next mark, which may be past */
  int next_mark;
  double offset, gain; /* mV = offset + gain z */
  double variance;
};

/* Widths and angles change with heart rate as in ecgsyn of PhysioNet. */
static void set_waves(ps_ecgsyn *g)
{
  const ps_wave_opts *o[PS_WAVE_COUNT] = {&g->opts.p, &g->opts.q, &g->opts.r, &g->opts.s,
                                          &g->opts.t};
  const double h = sqrt(g->opts.heart_rate / 60.0);

  for (int i = 0; i < PS_WAVE_COUNT; i++) {
    const bool outer = i == PS_WAVE_P || i == PS_WAVE_T;
    const double angle = o[i]->angle * (outer ? sqrt(h) : h) * M_PI / 180.0;
    wave w = {.angle = remainder(angle, 2 * M_PI),
              .strength = o[i]->strength,
              .width = o[i]->width * h,
              .id = (ps_wave)i};

    w.phase = w.angle > 0.0 ? w.angle / (2 * M_PI) : 1.0 + w.angle / (2 * M_PI);
    int k = i;

    for (; k > 0 && g->waves[k - 1].phase > w.phase; k--) {
      g->waves[k] = g->waves[k - 1];
    }
    g->waves[k] = w;
  }
}

/* z' + z at time t: what the waves and the drifting baseline contribute. Calls ascend in time. */
static double forcing(ps_ecgsyn *g, double t)
{
  while (t >= g->beat + g->interval) {
    g->beat += g->interval;
    g->interval = ps_rr_at(&g->rr, g->beat);
  }
  const double theta = 2 * M_PI * (t - g->beat) / g->interval;
  double sum = g->opts.wander * sin(2 * M_PI * g->opts.wander_rate * t);

  for (int i = 0; i < PS_WAVE_COUNT; i++) {
    const wave *w = &g->waves[i];
    double d = theta - w->angle;

    if (d > M_PI) {
      d -= 2 * M_PI;
    }
    const double u = d / w->width;

    if (u * u < 80.0) { /* exp(-40) of the strength is below rounding */
      sum -= w->strength * d * exp(-u * u / 2);
    }
  }
  return sum;
}

/* One classical Runge-Kutta step of z' = forcing(t) - z. */
static void advance(ps_ecgsyn *g)
{
  const double h = g->step, t = (double)g->tick * h;
  const double f0 = g->slope, f1 = forcing(g, t + h / 2);
  const double f2 = forcing(g, (double)(g->tick + 1) * h);
  const double k1 = f0 - g->z, k2 = f1 - (g->z + h / 2 * k1), k3 = f1 - (g->z + h / 2 * k2);
  const double k4 = f2 - (g->z + h * k3);

  g->z += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  g->slope = f2;
  g->tick++;
}

/* Back to the start (1, 0, 0.04), then to the first sample. */
static void rewind_to_start(ps_ecgsyn *g)
{
  g->tick = 0;
  g->z = 0.04;
  g->beat = 0.0;
  g->interval = ps_rr_at(&g->rr, 0.0);
  g->slope = forcing(g, 0.0);
  for (int64_t beats = 0; beats < g->opts.lead_beats;) {
    const double beat = g->beat;

    advance(g);
    beats += g->beat != beat;
  }
  while (g->opts.lead_beats > 0 && (double)g->tick * g->step < g->beat + g->interval / 2) {
    advance(g);
  }
  g->origin = g->tick;
  g->mark_beat = g->beat;
  g->mark_interval = g->interval;
  g->next_mark = 0;
}

/* Scale and variance from the first stretch of the signal. */
static weir_status calibrate(ps_ecgsyn *g)
{
  const int64_t n = (int64_t)ceil(g->opts.calibration * g->opts.rate);
  double low = INFINITY, high = -INFINITY, mean = 0.0, m2 = 0.0;

  rewind_to_start(g);
  for (int64_t i = 0; i < n; i++) {
    const double delta = g->z - mean;

    mean += delta / (double)(i + 1);
    m2 += delta * (g->z - mean);
    low = fmin(low, g->z);
    high = fmax(high, g->z);
    for (int64_t k = 0; k < g->opts.oversample; k++) {
      advance(g);
    }
  }
  if (!(high - low > 1e-12) || !isfinite(high - low)) {
    return weir_fail(WEIR_ERR_CONFIG, "ecgsyn: these waves give a flat or unbounded signal");
  }
  g->gain = (g->opts.high - g->opts.low) / (high - low);
  g->offset = g->opts.low - g->gain * low;
  g->variance = g->gain * g->gain * m2 / (double)n;
  return WEIR_OK;
}

weir_status ps_ecgsyn_create(const ps_ecgsyn_opts *opts, uint64_t seed, ps_ecgsyn **out)
{
  ps_ecgsyn *g = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (!(opts->low < opts->high)) {
    return weir_fail(WEIR_ERR_CONFIG, "ecgsyn: low %g mV is not below high %g mV", opts->low,
                     opts->high);
  }
  WEIR_TRY(weir_alloc(1, sizeof *g, (void **)&g));
  g->opts = *opts;
  g->step = 1.0 / (opts->rate * (double)opts->oversample);
  set_waves(g);
  WEIR_TRY_GOTO(ps_rr_init(&g->opts, seed, &g->rr), done);
  WEIR_TRY_GOTO(calibrate(g), done);
  rewind_to_start(g);
  *out = g;
done:
  if (status != WEIR_OK) {
    ps_ecgsyn_destroy(&g);
  }
  return status;
}

void ps_ecgsyn_destroy(ps_ecgsyn **gen)
{
  if (gen && *gen) {
    ps_rr_fini(&(*gen)->rr);
    weir_free(gen);
  }
}

/* Marks of the cycle from mark_beat that lie before `until` s. */
static void take_marks(ps_ecgsyn *g, double until, ps_mark *marks, int64_t *n)
{
  const double first = (double)g->origin * g->step;

  for (;;) {
    const wave *w = &g->waves[g->next_mark];
    const double time = g->mark_beat + w->phase * g->mark_interval;

    if (!(time < until)) {
      return;
    }
    if (time >= first) {
      marks[(*n)++] = (ps_mark){.sample = (time - first) * g->opts.rate, .wave = w->id};
    }
    g->next_mark = (g->next_mark + 1) % PS_WAVE_COUNT;
    if (g->next_mark == 0) {
      g->mark_beat += g->mark_interval;
      g->mark_interval = ps_rr_at(&g->rr, g->mark_beat);
    }
  }
}

void ps_ecgsyn_chunk(ps_ecgsyn *gen, int64_t n, float *ecg, ps_mark *marks, int64_t *n_marks)
{
  *n_marks = 0;
  for (int64_t i = 0; i < n; i++) {
    ecg[i] = (float)(gen->offset + gen->gain * gen->z);
    for (int64_t k = 0; k < gen->opts.oversample; k++) {
      advance(gen);
    }
  }
  take_marks(gen, (double)gen->tick * gen->step, marks, n_marks);
}

int64_t ps_ecgsyn_capacity(const ps_ecgsyn *gen, int64_t n)
{
  return PS_WAVE_COUNT * ((int64_t)ceil((double)n / gen->opts.rate / PS_RR_SHORTEST) + 2);
}

double ps_ecgsyn_variance(const ps_ecgsyn *gen)
{
  return gen->variance;
}

weir_status ps_ecgsyn_beat_clock(const ps_ecgsyn *gen, ps_beat_clock *out)
{
  return ps_beat_clock_init(&gen->opts, gen->rr.seed, (double)gen->origin * gen->step, out);
}
