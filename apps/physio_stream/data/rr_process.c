/* rr_process.c - RR intervals by inverse transform of two Gaussian spectral peaks with random
 * phases at one value per second (McSharry 2003, section III). The paper transforms the whole
 * record at once; here blocks with phases of their own overlap by half and are blended with weights
 * whose squares add to one, so the variance and the spectrum stay and memory is bounded. */
#include "data/rr_process.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"

/* Purpose numbers of the random phases, and of the changes from beat to beat. */
#define PURPOSE_PHASE 0x50530001u
#define PURPOSE_BEAT 0x50530009u

weir_status ps_rr_init(const ps_ecgsyn_opts *opts, uint64_t seed, ps_rr_process *rr)
{
  *rr = (ps_rr_process){.opts = opts, .seed = seed, .points = opts->rr_points / 4 * 4};
  for (int k = 0; k < PS_RR_BLOCKS; k++) {
    rr->cached[k] = -1;
    WEIR_TRY(weir_alloc(rr->points, sizeof(double), (void **)&rr->block[k]));
  }
  WEIR_TRY(weir_alloc(rr->points, sizeof(double), (void **)&rr->cosine));
  for (int64_t i = 0; i < rr->points; i++) {
    rr->cosine[i] = cos(2 * M_PI * (double)i / (double)rr->points);
  }
  return WEIR_OK;
}

void ps_rr_fini(ps_rr_process *rr)
{
  for (int k = 0; k < PS_RR_BLOCKS; k++) {
    weir_free(&rr->block[k]);
  }
  weir_free(&rr->cosine);
}

static double peak(double f, double centre, double std)
{
  const double u = (f - centre) / std;

  return exp(-u * u / 2) / std;
}

/* Block number `index` of the process, scaled to mean 0 and variance 1. */
static void fill_block(const ps_rr_process *rr, int64_t index, double *values)
{
  const ps_ecgsyn_opts *o = rr->opts;
  const int64_t n = rr->points;
  double power = 0.0;

  for (int64_t i = 0; i < n; i++) {
    values[i] = 0.0;
  }
  for (int64_t k = 1; k < n / 2; k++) {
    const double f = (double)k / (double)n;
    const double density = o->lf_hf * peak(f, o->lf, o->lf_std) + peak(f, o->hf, o->hf_std);
    const double amplitude = sqrt(density);
    const double phase =
        2 * M_PI * weir_random_uniform(rr->seed, PURPOSE_PHASE, 0, (uint64_t)(index * n + k));
    const double c = amplitude * cos(phase), s = amplitude * sin(phase);

    if (density < 1e-12) {
      continue;
    }
    power += density / 2;
    for (int64_t i = 0; i < n; i++) {
      const int64_t cycle = k * i % n, quarter = (cycle + n - n / 4) % n;

      values[i] += c * rr->cosine[cycle] - s * rr->cosine[quarter];
    }
  }
  const double scale = power > 0.0 ? 1.0 / sqrt(power) : 0.0;

  for (int64_t i = 0; i < n; i++) {
    values[i] *= scale;
  }
}

static const double *get_block(ps_rr_process *rr, int64_t index)
{
  const int slot = (int)(index % PS_RR_BLOCKS);

  if (rr->cached[slot] != index) {
    fill_block(rr, index, rr->block[slot]);
    rr->cached[slot] = index;
  }
  return rr->block[slot];
}

/* The blended unit process at second i >= 0. */
static double point(ps_rr_process *rr, int64_t i)
{
  const int64_t half = rr->points / 2, number = i / half, offset = i % half;
  const double *old = get_block(rr, number), *new = get_block(rr, number + 1);
  const double angle = M_PI * ((double)offset + 0.5) / (double)rr->points;

  return cos(angle) * old[half + offset] + sin(angle) * new[offset];
}

/* The independent change of the beat that starts at `time`, s. Of two beats, which are
 * PS_RR_SHORTEST apart at least, no two have the same number. */
static double own_change(const ps_rr_process *rr, double time)
{
  const ps_ecgsyn_opts *o = rr->opts;
  const uint64_t beat = (uint64_t)(time / PS_RR_SHORTEST);

  return o->irregular > 0 ? o->irregular * 60.0 / o->heart_rate *
                                weir_random_normal(rr->seed, PURPOSE_BEAT, 0, beat)
                          : 0;
}

double ps_rr_at(ps_rr_process *rr, double time)
{
  const ps_ecgsyn_opts *o = rr->opts;
  /* One second later than asked, so that the point before the first exists. */
  const int64_t i = (int64_t)floor(time) + 1;
  const double u = time - floor(time);
  const double a = point(rr, i - 1), b = point(rr, i), c = point(rr, i + 1), d = point(rr, i + 2);
  /* Catmull-Rom cubic: the process holds nothing above 0.3 Hz, far below the 0.5 Hz limit. */
  const double value =
      b + 0.5 * u * (c - a + u * (2 * a - 5 * b + 4 * c - d + u * (3 * (b - c) + d - a)));
  const double mean = 60.0 / o->heart_rate;
  const double std = 60.0 * o->heart_rate_std / (o->heart_rate * o->heart_rate);

  return fmin(fmax(mean + std * value + own_change(rr, time), PS_RR_SHORTEST), PS_RR_LONGEST);
}
