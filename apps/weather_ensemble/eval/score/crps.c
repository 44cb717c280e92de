/* crps.c - see crps.h. */
#include "eval/score/crps.h"
#include <math.h>
#include "eval/score/normal.h"
#include "eval/sort/sort.h"

wx_crps_decomposition wx_crps_sorted(const double *x, int64_t m, double y)
{
  double skill = 0, pairs = 0;

  for (int64_t i = 0; i < m; i++) {
    const double d = x[i] - y; /* small relative to x and y: the sums lose nothing */

    skill += fabs(d);
    pairs += (double)(2 * i + 1 - m) * d;
  }
  const double n = (double)m;

  return (wx_crps_decomposition){.m = m, .skill = skill / n, .pairs = 2 * pairs / (n * n)};
}

void wx_crps_sorted_lanes(const double *x, int64_t m, const double *y, wx_crps_decomposition *out)
{
  const double n = (double)m;
  double skill[WX_LANES] = {0}, pairs[WX_LANES] = {0};

  for (int64_t i = 0; i < m; i++) {
    for (int l = 0; l < WX_LANES; l++) {
      const double d = x[i * WX_LANES + l] - y[l];

      skill[l] += fabs(d);
      pairs[l] += (double)(2 * i + 1 - m) * d;
    }
  }
  for (int l = 0; l < WX_LANES; l++) {
    out[l] =
        (wx_crps_decomposition){.m = m, .skill = skill[l] / n, .pairs = 2 * pairs[l] / (n * n)};
  }
}

double wx_crps_empirical(const wx_crps_decomposition *p)
{
  return p->skill - p->pairs / 2;
}

double wx_crps_fair(const wx_crps_decomposition *p)
{
  return p->m > 1 ? p->skill - p->pairs / 2 * ((double)p->m / (double)(p->m - 1)) : NAN;
}

double wx_crps_almost_fair(const wx_crps_decomposition *p, double share)
{
  return share * wx_crps_fair(p) + (1 - share) * wx_crps_empirical(p);
}

static double chain(double x, double t, int upper)
{
  return upper ? fmax(x, t) : fmin(x, t);
}

wx_crps_decomposition wx_crps_tail(const double *x, int64_t m, double y, double t, int upper,
                                   double *scratch)
{
  for (int64_t i = 0; i < m; i++) {
    scratch[i] = chain(x[i], t, upper);
  }
  return wx_crps_sorted(scratch, m, chain(y, t, upper));
}

double wx_crps_normal(double mean, double sd, double y)
{
  const double d = fabs(y - mean);

  if (!(sd >= 0)) {
    return NAN;
  }
  if (sd == 0) {
    return d;
  }
  const double z = d / sd;
  /* From z = 40 on the last term is nothing; z^2 could be too large to be a number. */
  const double rest = z < 40 ? wx_normal_density(z) - z * wx_normal_above(z) : 0;

  return d - sd * WX_INV_SQRT_PI + 2 * sd * rest;
}
