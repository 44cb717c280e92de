/* histogram.c - see histogram.h. */
#include "eval/score/histogram.h"
#include <math.h>

wx_uniformity wx_histogram_uniformity(const double *count, int64_t bins)
{
  const double even = 1 / (double)bins, middle = (double)(bins - 1) / 2;
  const double square = ((double)bins * (double)bins - 1) / 12; /* mean of (k - middle)^2 */
  double linear = 0, quadratic = 0, linear_norm = 0, quadratic_norm = 0;
  wx_uniformity f = {.total = 0};

  for (int64_t k = 0; k < bins; k++) {
    f.total += count[k];
  }
  if (!(f.total > 0)) {
    return (wx_uniformity){0, NAN, NAN, NAN, NAN};
  }
  for (int64_t k = 0; k < bins; k++) {
    const double apart = count[k] / f.total - even, u = (double)k - middle, v = u * u - square;

    f.delta += fabs(apart);
    f.chi2 += apart * apart / even;
    linear += u * apart;
    quadratic += v * apart;
    linear_norm += u * u * even;
    quadratic_norm += v * v * even;
  }
  f.slope = linear_norm > 0 ? linear * fabs(linear) / linear_norm : 0;
  f.curvature = quadratic_norm > 0 ? quadratic * fabs(quadratic) / quadratic_norm : 0;
  return f;
}

double wx_histogram_error(int64_t bins, double cases)
{
  return cases > 0 ? sqrt((double)(bins - 1) / cases) : NAN;
}
