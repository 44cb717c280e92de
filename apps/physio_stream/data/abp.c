/* abp.c - see abp.h. Pressure is integrated on a grid of a millisecond, whose last seconds are
 * kept: samples lie between its points, so that the signal's clock may differ from the ECG's. */
#include "data/abp.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"

#define GRID 1000.0 /* points per second */
enum { HISTORY = 16384, LONGEST_STEP = 5, RECENT = 64 };

/* Purpose numbers of this file's random streams. */
enum { PURPOSE_ABP_NOISE = 0x50530040, PURPOSE_ZERO_UP, PURPOSE_ZERO_LENGTH, PURPOSE_STEP };

/* After a flush the catheter rings: second order, 15 Hz, gone in half a second. */
#define RING_HZ 15.0
#define RING_DECAY 0.06
#define RING_LENGTH 0.5
#define RING_MMHG 40.0

const weir_opt ps_abp_options[] = {
    WEIR_OPT_BOOL(ps_abp_opts, on, false, "make a second signal, ABP, coupled to the beats"),
    WEIR_OPT_REAL(ps_abp_opts, rate, 125, 20, 1000, "Hz", "samples per second, a whole number"),
    WEIR_OPT_REAL(ps_abp_opts, compliance, 1.4, 0.1, 10, "mL/mmHg", "of the arteries"),
    WEIR_OPT_REAL(ps_abp_opts, resistance, 1.4, 0.1, 10, "mmHg s/mL",
                  "of the small vessels; with the others about 120/80 at 60 beats a minute"),
    WEIR_OPT_REAL(ps_abp_opts, stroke, 70, 1, 300, "mL", "that a beat ejects"),
    WEIR_OPT_REAL(ps_abp_opts, transit, 0.12, 0, 1, "s", "from the R wave to the onset"),
    WEIR_OPT_REAL(ps_abp_opts, ejection, 0.3, 0.05, 1, "s",
                  "of flow for an RR of 1 s; goes with its root"),
    WEIR_OPT_REAL(ps_abp_opts, wave, 0.08, 0, 1, "1",
                  "height of the reflected wave, share of the pulse pressure"),
    WEIR_OPT_REAL(ps_abp_opts, wave_delay, 0.18, 0.05, 1, "s", "from the peak to the wave's"),
    WEIR_OPT_REAL(ps_abp_opts, wave_width, 0.03, 0.005, 0.2, "s", "of the wave, a Gaussian"),
    WEIR_OPT_REAL(ps_abp_opts, noise, 0, 0, 100, "mmHg", "standard deviation of white noise"),
    WEIR_OPT_BOOL(ps_abp_opts, common_gaps, false,
                  "missing where the ECG is missing, instead of gaps of its own"),
    WEIR_OPT_TABLE(ps_abp_opts, gaps, ps_gap_options, "where the ABP is missing"),
    WEIR_OPT_REAL(ps_abp_opts, zero_every, 0, 0, 1e9, "s",
                  "mean time between line-zeroings (0 mmHg, then a square flush); 0: none"),
    WEIR_OPT_REAL(ps_abp_opts, zero_min, 5, 0.1, 1000, "s", "shortest zeroing",
                  .alias = "zero_least"),
    WEIR_OPT_REAL(ps_abp_opts, zero_max, 20, 0.1, 1000, "s", "longest zeroing",
                  .alias = "zero_most"),
    WEIR_OPT_REAL(ps_abp_opts, flush, 1, 0, 100, "s", "length of the flush after a zeroing"),
    WEIR_OPT_REAL(ps_abp_opts, flush_pressure, 300, 0, 1000, "mmHg", "pressure of the flush"),
    WEIR_OPT_REAL(ps_abp_opts, drift, 0, -10000, 10000, "ppm",
                  "that the clock of the ABP runs slower than that of the ECG"),
    WEIR_OPT_REAL(ps_abp_opts, step, 0.5, 0, LONGEST_STEP, "s",
                  "that the clock of the ABP jumps on, and back the next time"),
    WEIR_OPT_REAL(ps_abp_opts, step_every, 0, 0, 1e9, "s", "mean time between jumps; 0: none"),
    WEIR_OPT_END,
};

struct ps_abp {
  ps_abp_opts opts;
  uint64_t seed;
  ps_beat_clock clock;
  ps_gaps gaps;
  double gap_scale; /* slots of the gaps' clock per sample */
  /* the artery */
  int64_t point; /* of the grid, next to be made */
  double pressure, grid[HISTORY];
  ps_abp_beat beat;       /* that the pressure is of */
  double length, flow, r; /* s of flow, mL/s at its middle; the next R wave */
  double top, sum, wave_at, wave_high;
  int64_t points;
  bool rising;
  /* the recorder */
  int64_t sample, step_next, zero_at, zero_end, steps, zeros;
  double offset; /* s that its clock has jumped */
  double onset[RECENT];
  int64_t onsets; /* begun so far */
  bool in_gap;
  /* what happened in this chunk */
  ps_abp_beat *beats;
  ps_abp_onset *emitted;
  ps_defect *defects;
  int64_t n_beats, n_emitted, n_defects, beats_capacity, emitted_capacity, defects_capacity;
};

static double uniform(const ps_abp *g, uint32_t purpose, int64_t index)
{
  return weir_random_uniform(g->seed, purpose, 0, (uint64_t)index);
}

/* Samples until the next of events that come every `mean` s on average, one at least. */
static int64_t wait_for(const ps_abp *g, uint32_t purpose, int64_t index, double mean)
{
  return 1 + (int64_t)fmin(-mean * g->opts.rate * log1p(-uniform(g, purpose, index)), 1e15);
}

static void next_zero(ps_abp *g, int64_t from)
{
  const double u = uniform(g, PURPOSE_ZERO_LENGTH, g->zeros);
  const double length = g->opts.zero_min + (g->opts.zero_max - g->opts.zero_min) * u;

  g->zero_at = g->zero_end = INT64_MAX / 2; /* lengths are added to it */
  if (g->opts.zero_every > 0) {
    g->zero_at = from + wait_for(g, PURPOSE_ZERO_UP, g->zeros, g->opts.zero_every);
    g->zero_end = g->zero_at + (int64_t)(length * g->opts.rate + 0.5);
    g->zeros++;
  }
}

static void next_step(ps_abp *g, int64_t from)
{
  g->step_next = g->opts.step_every > 0
                     ? from + wait_for(g, PURPOSE_STEP, g->steps++, g->opts.step_every)
                     : INT64_MAX;
}

/* The beat whose R wave is at r; the next one's tells its RR. */
static void begin_beat(ps_abp *g)
{
  const double r = g->r;

  g->r = ps_beat_clock_next(&g->clock);
  g->beat = (ps_abp_beat){
      .r = r, .onset = r + g->opts.transit, .foot = r + g->opts.transit, .dbp = g->pressure};
  g->length = g->opts.ejection * sqrt(g->r - r);
  g->flow = 2 * g->opts.stroke / g->length;
  g->top = g->beat.dbp;
  g->sum = 0;
  g->points = 0;
  g->rising = true;
  g->onset[g->onsets++ % RECENT] = g->beat.onset;
}

static weir_status end_beat(ps_abp *g)
{
  if (g->points > 0 && g->beat.r > 0) {
    WEIR_TRY(weir_reserve(&g->beats, &g->beats_capacity, g->n_beats + 1, sizeof *g->beats));
    g->beat.sbp = g->top;
    g->beat.map = g->sum / (double)g->points;
    g->beats[g->n_beats++] = g->beat;
  }
  begin_beat(g);
  return WEIR_OK;
}

/* P' at time t. */
static double slope(const ps_abp *g, double t, double p)
{
  const double tau = t - g->beat.onset;
  const double s = tau > 0 && tau < g->length ? sin(M_PI * tau / g->length) : 0;

  return (g->flow * s * s - p / g->opts.resistance) / g->opts.compliance;
}

/* One point of the grid, by the classical Runge-Kutta rule. */
static weir_status make_point(ps_abp *g)
{
  const double h = 1 / GRID, t = (double)g->point / GRID - g->clock.lead;

  if (t >= g->r + g->opts.transit) {
    WEIR_TRY(end_beat(g));
  }
  const double since = (t - g->wave_at) / g->opts.wave_width;
  const double p = g->pressure + g->wave_high * exp(-since * since / 2);

  g->grid[g->point++ % HISTORY] = p;
  g->sum += p;
  g->points++;
  if (p < g->beat.dbp && g->rising) {
    g->beat.dbp = p;
    g->beat.foot = t;
  }
  if (p > g->top) {
    g->top = p;
    g->beat.peak = t;
  }
  const double k1 = slope(g, t, g->pressure);
  const double k2 = slope(g, t + h / 2, g->pressure + h / 2 * k1);
  const double k3 = slope(g, t + h / 2, g->pressure + h / 2 * k2);
  const double k4 = slope(g, t + h, g->pressure + h * k3);
  const double rise = h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);

  /* The reflected wave follows the pressure's peak, which has just been reached. */
  if (g->rising && rise < 0 && t > g->beat.onset + g->length / 4) {
    g->rising = false;
    g->wave_at = t + g->opts.wave_delay;
    g->wave_high = g->opts.wave * (g->pressure - g->beat.dbp);
  }
  g->pressure += rise;
  return WEIR_OK;
}

/* Pressure at the onset of a beat after many alike. */
static double steady_onset(const ps_abp *g)
{
  const double rr = g->r - g->beat.r, rc = g->opts.resistance * g->opts.compliance;
  const double h = 1e-3 * g->length;
  double left = 0;

  for (int i = 0; i < 1000; i++) {
    const double tau = (i + 0.5) * h, s = sin(M_PI * tau / g->length);

    left += g->flow * s * s * h / g->opts.compliance * exp(-(rr - tau) / rc);
  }
  return left / (1 - exp(-rr / rc));
}

weir_status ps_abp_create(const ps_abp_opts *opts, const ps_ecgsyn *ecg,
                          const ps_gap_opts *ecg_gaps, double ecg_rate, uint64_t seed, ps_abp **out)
{
  ps_abp *g = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (opts->rate != floor(opts->rate) || opts->zero_min > opts->zero_max) {
    return weir_fail(WEIR_ERR_CONFIG,
                     opts->rate != floor(opts->rate) ? "ecgsyn.abp.rate: %.9g Hz is not whole"
                                                     : "ecgsyn.abp.zero_min: more than zero_max",
                     opts->rate);
  }
  WEIR_TRY(weir_alloc(1, sizeof *g, (void **)&g));
  g->opts = *opts;
  g->seed = seed;
  WEIR_TRY_GOTO(ps_ecgsyn_beat_clock(ecg, &g->clock), done);
  ps_gaps_init(opts->common_gaps ? ecg_gaps : &opts->gaps, seed, opts->common_gaps ? 0 : 1,
               opts->common_gaps ? ecg_rate : opts->rate, &g->gaps);
  g->gap_scale = opts->common_gaps ? ecg_rate / opts->rate : 1;
  g->wave_at = -1e9;
  g->r = ps_beat_clock_next(&g->clock);
  begin_beat(g);
  g->pressure = steady_onset(g);
  next_zero(g, 0);
  next_step(g, 0);
  *out = g;
  return WEIR_OK;
done:
  ps_abp_destroy(&g);
  return status;
}

void ps_abp_destroy(ps_abp **gen)
{
  if (*gen == NULL) {
    return;
  }
  ps_beat_clock_fini(&(*gen)->clock);
  weir_free(&(*gen)->beats);
  weir_free(&(*gen)->emitted);
  weir_free(&(*gen)->defects);
  weir_free(gen);
}

static weir_status add_defect(ps_abp *g, const char *kind, int64_t lo, int64_t hi, double value)
{
  WEIR_TRY(weir_reserve(&g->defects, &g->defects_capacity, g->n_defects + 1, sizeof *g->defects));
  g->defects[g->n_defects++] = (ps_defect){kind, lo, hi, value};
  return WEIR_OK;
}

/* True time of a sample, s from sample 0 of the ECG. */
static double time_of(const ps_abp *g, int64_t sample)
{
  return (double)sample / g->opts.rate * (1 + g->opts.drift * 1e-6) + g->offset;
}

/* Pressure in the artery at a time, the grid being made as far as needed. */
static weir_status pressure_at(ps_abp *g, double t, double *p)
{
  const double at = fmax((t + g->clock.lead) * GRID, 0);
  const int64_t k = (int64_t)at;

  while (g->point <= k + 1) {
    WEIR_TRY(make_point(g));
  }
  const double a = g->grid[k % HISTORY], b = g->grid[(k + 1) % HISTORY];

  *p = a + (b - a) * (at - (double)k);
  return WEIR_OK;
}

/* What the transducer shows while the line is zeroed, flushed, and rings. */
static double through_line(const ps_abp *g, double p)
{
  const double after = (double)(g->sample - g->zero_end) / g->opts.rate;

  if (g->sample < g->zero_at) {
    return p;
  }
  if (after < 0) {
    return 0;
  }
  return after < g->opts.flush ? g->opts.flush_pressure
                               : p + RING_MMHG * exp(-(after - g->opts.flush) / RING_DECAY) *
                                         cos(2 * M_PI * RING_HZ * (after - g->opts.flush));
}

static weir_status begin_defects(ps_abp *g)
{
  const int64_t flush = (int64_t)(g->opts.flush * g->opts.rate + 0.5);

  if (g->sample == g->step_next) {
    const double jump = g->offset > 0 ? -g->opts.step : g->opts.step;

    g->offset += jump;
    WEIR_TRY(add_defect(g, "clock_step", g->sample, g->sample, jump));
    next_step(g, g->sample);
  }
  if (g->sample == g->zero_at) {
    WEIR_TRY(add_defect(g, "line_zero", g->zero_at, g->zero_end, 0));
    WEIR_TRY(add_defect(g, "flush", g->zero_end, g->zero_end + flush, g->opts.flush_pressure));
  }
  if (g->sample > g->zero_end + flush + (int64_t)(RING_LENGTH * g->opts.rate)) {
    next_zero(g, g->sample);
  }
  return WEIR_OK;
}

static weir_status emit_onset(ps_abp *g, double onset, double from, double to)
{
  if (onset < from || onset >= to || onset < 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&g->emitted, &g->emitted_capacity, g->n_emitted + 1, sizeof *g->emitted));
  g->emitted[g->n_emitted++] =
      (ps_abp_onset){(double)g->sample + (onset - from) / (to - from), onset};
  return WEIR_OK;
}

/* Onsets between this sample and the next one on the recorder's clock; after a jump back some come
 * again. */
static weir_status emit_onsets(ps_abp *g)
{
  const double from = time_of(g, g->sample), to = time_of(g, g->sample + 1);

  for (int64_t i = g->onsets > RECENT ? g->onsets - RECENT : 0; i < g->onsets; i++) {
    WEIR_TRY(emit_onset(g, g->onset[i % RECENT], from, to));
  }
  return emit_onset(g, g->r + g->opts.transit, from, to);
}

/* True where the sample is there; a gap that begins is noted. */
static weir_status find_gap(ps_abp *g, bool *there)
{
  const double slot = floor((double)g->sample * g->gap_scale);
  int64_t begin = 0, end = 0;

  ps_gaps_at(&g->gaps, (int64_t)slot, &begin, &end);
  *there = begin <= (int64_t)slot;
  if (!*there && !g->in_gap) {
    WEIR_TRY(add_defect(g, "gap", g->sample, (int64_t)ceil((double)begin / g->gap_scale), 0));
  }
  g->in_gap = !*there;
  return WEIR_OK;
}

weir_status ps_abp_chunk(ps_abp *g, int64_t n, float *x, uint8_t *present)
{
  g->n_beats = g->n_emitted = g->n_defects = 0;
  for (int64_t i = 0; i < n; i++, g->sample++) {
    double p = 0;
    bool there = true;

    WEIR_TRY(begin_defects(g));
    WEIR_TRY(pressure_at(g, time_of(g, g->sample), &p));
    WEIR_TRY(emit_onsets(g));
    WEIR_TRY(find_gap(g, &there));
    p = through_line(g, p);
    if (g->opts.noise > 0) {
      p += g->opts.noise * weir_random_normal(g->seed, PURPOSE_ABP_NOISE, 0, (uint64_t)g->sample);
    }
    present[i] = there;
    x[i] = there ? (float)p : 0.0f;
  }
  return WEIR_OK;
}

int64_t ps_abp_beats(const ps_abp *g, const ps_abp_beat **out)
{
  *out = g->beats;
  return g->n_beats;
}

int64_t ps_abp_onsets(const ps_abp *g, const ps_abp_onset **out)
{
  *out = g->emitted;
  return g->n_emitted;
}

int64_t ps_abp_defects(const ps_abp *g, const ps_defect **out)
{
  *out = g->defects;
  return g->n_defects;
}
