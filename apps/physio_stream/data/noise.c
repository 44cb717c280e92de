/* noise.c - noise by counter-based random numbers; SNR as in the noise stress test of MIT-BIH
 * (Moody, Muldrow and Mark 1984), with variances in place of peak powers. */
#include "data/noise.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "stream/design/weir_design.h"

/* Purpose numbers of this file's random streams. */
enum {
  PURPOSE_WHITE = 0x50530010,
  PURPOSE_EMG,
  PURPOSE_MAINS,
  PURPOSE_WANDER_PHASE,
  PURPOSE_WANDER_LINE,
  PURPOSE_GAP
};

#define STRESS "(levels of the MIT-BIH noise stress test: 24, 18, 12, 6, 0, -6 dB)"

const weir_opt ps_noise_options[] = {
    WEIR_OPT_BOOL(ps_noise_opts, white, false, "add white noise"),
    WEIR_OPT_REAL(ps_noise_opts, white_snr, 12, -40, 120, "dB",
                  "signal to white noise, ratio of variances " STRESS),
    WEIR_OPT_BOOL(ps_noise_opts, emg, false, "add noise like that of muscles"),
    WEIR_OPT_REAL(ps_noise_opts, emg_snr, 12, -40, 120, "dB",
                  "signal to muscle noise, ratio of variances " STRESS),
    WEIR_OPT_REAL(ps_noise_opts, emg_lo, 20, 0.1, 1000, "Hz",
                  "lower edge of muscle noise (surface EMG: 20-100 Hz dominates in ECG leads)"),
    WEIR_OPT_REAL(ps_noise_opts, emg_hi, 100, 0.2, 5000, "Hz",
                  "upper edge of muscle noise, lowered to 0.45 of the rate where that is less"),
    WEIR_OPT_INT(ps_noise_opts, emg_order, 4, 1, 8, "1",
                 "order of the band-pass that shapes muscle noise: 24 dB per octave outside"),
    WEIR_OPT_REAL(ps_noise_opts, mains, 0, 0, 100, "mV", "amplitude of mains hum, 0 for none"),
    WEIR_OPT_REAL(ps_noise_opts, mains_frequency, 50, 10, 400, "Hz",
                  "frequency of the mains: 50, or 60 in the Americas"),
    WEIR_OPT_REAL(ps_noise_opts, wander, 0, 0, 100, "mV",
                  "root mean square of the baseline's wander, 0 for none"),
    WEIR_OPT_REAL(ps_noise_opts, wander_lo, 0.05, 0, 10, "Hz", "slowest wander (electrode drift)"),
    WEIR_OPT_REAL(ps_noise_opts, wander_hi, 0.4, 0, 10, "Hz", "fastest wander (respiration)"),
    WEIR_OPT_INT(ps_noise_opts, wander_lines, 16, 1, 1024, "1",
                 "sinusoids that make the wander; 16 do not repeat within hours"),
    WEIR_OPT_END,
};

const weir_opt ps_gap_options[] = {
    WEIR_OPT_REAL(ps_gap_opts, missing, 0, 0, 0.99, "1",
                  "fraction of time without signal (usual: 0, 0.01, 0.1, 0.5, 0.9)"),
    WEIR_OPT_REAL(ps_gap_opts, mean, 10, 0.01, 1e6, "s",
                  "mean length of a gap; 10 s is a lead put back on"),
    WEIR_OPT_END,
};

struct ps_noise {
  ps_noise_opts opts;
  uint64_t seed;
  double rate;
  int64_t next; /* sample */
  double white_std, emg_std;
  weir_sos emg[WEIR_DESIGN_MAX_SECTIONS];
  int sections;
  double state[2 * WEIR_DESIGN_MAX_SECTIONS];
  double *line; /* [2 * wander_lines]: frequency in cycles per sample, phase in cycles */
  double mains_phase;
};

static double filter(ps_noise *n, double x)
{
  for (int k = 0; k < n->sections; k++) {
    const weir_sos *s = &n->emg[k];
    double *z = &n->state[2 * k];
    const double y = s->b0 * x + z[0];

    z[0] = s->b1 * x - s->a1 * y + z[1];
    z[1] = s->b2 * x - s->a2 * y;
    x = y;
  }
  return x;
}

/* Unit-variance input gives the variance sum h^2; then runs the filter into its steady state on the
 * noise of the second before sample 0. */
static weir_status start_emg(ps_noise *n, double variance)
{
  const weir_design_spec spec = {.band = WEIR_DESIGN_BANDPASS,
                                 .order = (int)n->opts.emg_order,
                                 .lo = n->opts.emg_lo,
                                 .hi = fmin(n->opts.emg_hi, 0.45 * n->rate),
                                 .rate = n->rate};
  double energy = 0.0;

  WEIR_TRY(weir_design_butterworth(&spec, n->emg, &n->sections));
  /* Until exp(-40) of the slowest pole. */
  const double radius = weir_design_radius(n->emg, n->sections);
  const int64_t response_length = (int64_t)fmin(ceil(-40.0 / log(radius)), 1e7);

  for (int64_t i = 0; i < response_length; i++) {
    const double h = filter(n, i == 0);

    energy += h * h;
  }
  n->emg_std = sqrt(variance * pow(10.0, -n->opts.emg_snr / 10) / energy);
  for (int k = 0; k < 2 * n->sections; k++) {
    n->state[k] = 0.0;
  }
  for (int64_t i = -response_length; i < 0; i++) {
    filter(n, weir_random_normal(n->seed, PURPOSE_EMG, 1, (uint64_t)-i));
  }
  return WEIR_OK;
}

weir_status ps_noise_create(const ps_noise_opts *opts, uint64_t seed, double rate, double variance,
                            ps_noise **out)
{
  ps_noise *n = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *n, (void **)&n));
  n->opts = *opts;
  n->seed = seed;
  n->rate = rate;
  n->white_std = sqrt(variance * pow(10.0, -opts->white_snr / 10));
  n->mains_phase = weir_random_uniform(seed, PURPOSE_MAINS, 0, 0);
  if (opts->emg) {
    WEIR_TRY_GOTO(start_emg(n, variance), done);
  }
  WEIR_TRY_GOTO(weir_alloc(2 * opts->wander_lines, sizeof *n->line, (void **)&n->line), done);
  for (int64_t k = 0; k < opts->wander_lines; k++) {
    const double u = weir_random_uniform(seed, PURPOSE_WANDER_LINE, 0, (uint64_t)k);

    n->line[2 * k] = (opts->wander_lo + (opts->wander_hi - opts->wander_lo) * u) / rate;
    n->line[2 * k + 1] = weir_random_uniform(seed, PURPOSE_WANDER_PHASE, 0, (uint64_t)k);
  }
  *out = n;
done:
  if (status != WEIR_OK) {
    ps_noise_destroy(&n);
  }
  return status;
}

void ps_noise_destroy(ps_noise **noise)
{
  if (noise && *noise) {
    weir_free(&(*noise)->line);
    weir_free(noise);
  }
}

static double wander_at(const ps_noise *n, double t)
{
  double sum = 0.0;

  for (int64_t k = 0; k < n->opts.wander_lines; k++) {
    sum += sin(2 * M_PI * (n->line[2 * k] * t + n->line[2 * k + 1]));
  }
  return n->opts.wander * sqrt(2.0 / (double)n->opts.wander_lines) * sum;
}

void ps_noise_add(ps_noise *noise, int64_t n, float *x)
{
  for (int64_t i = 0; i < n; i++, noise->next++) {
    const uint64_t index = (uint64_t)noise->next;
    const double t = (double)noise->next;
    double sum = 0.0;

    if (noise->opts.white) {
      sum += noise->white_std * weir_random_normal(noise->seed, PURPOSE_WHITE, 0, index);
    }
    if (noise->opts.emg) {
      sum += noise->emg_std * filter(noise, weir_random_normal(noise->seed, PURPOSE_EMG, 0, index));
    }
    if (noise->opts.mains > 0.0) {
      sum += noise->opts.mains *
             sin(2 * M_PI * (noise->opts.mains_frequency * t / noise->rate + noise->mains_phase));
    }
    if (noise->opts.wander > 0.0) {
      sum += wander_at(noise, t);
    }
    x[i] = (float)((double)x[i] + sum);
  }
}

void ps_gaps_init(const ps_gap_opts *opts, uint64_t seed, uint32_t channel, double rate,
                  ps_gaps *gaps)
{
  const double down = opts->mean * rate;

  *gaps = (ps_gaps){.mean_up =
                        opts->missing > 0.0 ? down * (1 - opts->missing) / opts->missing : INFINITY,
                    .mean_down = down,
                    .seed = seed,
                    .channel = channel};
}

/* Exponential length of at least one sample; a stretch without end is half of all time. */
static int64_t draw(ps_gaps *g, double mean)
{
  const double u = weir_random_uniform(g->seed, PURPOSE_GAP, g->channel, g->drawn++);
  const double length = ceil(-mean * log1p(-u));

  return length < (double)(INT64_MAX / 4) ? (length > 1.0 ? (int64_t)length : 1) : INT64_MAX / 2;
}

void ps_gaps_at(ps_gaps *gaps, int64_t t, int64_t *begin, int64_t *end)
{
  if (gaps->drawn == 0) {
    gaps->end = isinf(gaps->mean_up) ? INT64_MAX : draw(gaps, gaps->mean_up);
    gaps->drawn += gaps->drawn == 0;
  }
  while (t >= gaps->end && gaps->end < INT64_MAX / 4) {
    gaps->begin = gaps->end + draw(gaps, gaps->mean_down);
    gaps->end = gaps->begin + draw(gaps, gaps->mean_up);
  }
  *begin = gaps->begin;
  *end = gaps->end;
}

void ps_gaps_fill(ps_gaps *gaps, int64_t t0, int64_t n, uint8_t *present)
{
  int64_t begin = 0, end = 0;

  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || t0 + i >= end) {
      ps_gaps_at(gaps, t0 + i, &begin, &end);
    }
    present[i] = t0 + i >= begin && t0 + i < end;
  }
}
