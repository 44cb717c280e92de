/* hrv_dfa.c - detrended fluctuation analysis, Peng et al., Chaos 5 (1995) 82-87:
 *   y(k) = sum over i <= k of (x_i - mean);   F(n)^2 = mean of (y - line of its box)^2
 * over boxes of n values; alpha is the slope of log F over log n. A profile begins with each run:
 * its offset, and the mean, are part of the line of a box. */
#include <math.h>
#include "model/hrv_nonlinear_priv.h"

/* Boxes of a size side by side, below which its F is not used: dfa of PhysioNet ends at a quarter
 * of the series. Where runs are short they are to cover half of the values as well: F of different
 * sizes would be of different data otherwise. */
enum { MIN_BOXES = 4 };
#define MIN_COVERED 0.5
/* Ratio of the largest and the smallest box below which a range that the data end has no slope. */
#define MIN_RANGE 2

/* Sum of squares of y[n] around its line of least squares. */
static double residual(const double *y, int64_t n)
{
  const double middle = (double)(n - 1) / 2, squares = (double)n * ((double)n * (double)n - 1) / 12;
  double mean = 0, slope = 0, sum = 0;

  for (int64_t k = 0; k < n; k++) {
    mean += y[k];
    slope += y[k] * ((double)k - middle);
  }
  mean /= (double)n;
  slope /= squares;
  for (int64_t k = 0; k < n; k++) {
    const double d = y[k] - mean - slope * ((double)k - middle);

    sum += d * d;
  }
  return sum;
}

/* Sum over boxes that overlap by half, as fractal_dfa of NeuroKit2 0.3.0 takes them: none that ends
 * with its run, and of those only ones above `least`; the largest too. */
static double sum_overlapping(const hrv_series *s, const double *profile, int64_t size,
                              double least, int64_t *boxes, double *largest)
{
  double sum = 0;

  *boxes = 0;
  for (int64_t run = 0; run < s->n; run += s->left[run]) {
    for (int64_t at = 0; at + size < s->left[run]; at += size / 2) {
      const double one = residual(profile + run + at, size);

      if (one > least) {
        sum += one;
        ++*boxes;
        *largest = fmax(*largest, one);
      }
    }
  }
  return sum;
}

/* F by NeuroKit2, which leaves out boxes of less than 1e-8 of the largest. */
static double fluctuation_neurokit2(const hrv_series *s, const double *profile, int64_t size)
{
  double largest = 0;
  int64_t boxes = 0;

  (void)sum_overlapping(s, profile, size, 0, &boxes, &largest);
  const double sum = sum_overlapping(s, profile, size, 1e-8 * largest, &boxes, &largest);

  return boxes > 0 ? sqrt(sum / (double)(boxes * size)) : NAN;
}

/* F of boxes of `size` values, NaN where there are too few. */
static double fluctuation(const hrv_series *s, const double *profile, int64_t size, bool overlap)
{
  const int64_t step = overlap ? size / 2 : size;
  int64_t boxes = 0, side_by_side = 0;
  double sum = 0;

  for (int64_t run = 0; run < s->n; run += s->left[run]) {
    for (int64_t at = 0; at + size <= s->left[run]; at += step) {
      sum += residual(profile + run + at, size);
      boxes++;
    }
    side_by_side += s->left[run] / size;
  }
  const bool enough =
      side_by_side >= MIN_BOXES && (double)(side_by_side * size) >= MIN_COVERED * (double)s->n;

  return enough ? sqrt(sum / (double)(boxes * size)) : NAN;
}

/* The size after `last`: `min` times the next power of the ratio, rounded, that is larger. */
static int64_t next_size(double ratio, int64_t min, int64_t last)
{
  if (ratio <= 1) {
    return last + 1;
  }
  double power = floor(log(((double)last + 0.5) / (double)min) / log(ratio));
  int64_t size = last;

  for (; size <= last; power++) {
    size = (int64_t)floor((double)min * pow(ratio, power) + 0.5);
  }
  return size;
}

/* The slope over sizes from `min` to `max`. whole: up to `max` or none; otherwise to where boxes
 * become few. */
static double exponent(const ps_hrv_opts *opts, const hrv_series *s, const double *profile,
                       int64_t min, int64_t max, bool whole)
{
  const bool neurokit2 = opts->definitions == PS_HRV_NEUROKIT2;
  const double ratio = neurokit2 ? 1 : opts->dfa.ratio;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  int64_t last = 0, size = min;

  for (; size <= max; size = next_size(ratio, min, size)) {
    const double f = neurokit2 ? fluctuation_neurokit2(s, profile, size)
                               : fluctuation(s, profile, size, opts->dfa.overlap);
    const double at = log((double)size);

    if (!(f > 0)) {
      break;
    }
    n++;
    x += at;
    y += log(f);
    xx += at * at;
    xy += at * log(f);
    last = size;
  }
  if (n < 2 || (whole ? size <= max : last < MIN_RANGE * min)) {
    return NAN;
  }
  return (xy - x * y / n) / (xx - x * x / n);
}

void hrv_dfa(const ps_hrv_opts *opts, const hrv_series *s, double mean, double *profile,
             double *alpha1, double *alpha2)
{
  for (int64_t i = 0; i < s->n; i++) {
    const bool follows = i > 0 && s->left[i] == s->left[i - 1] - 1;

    profile[i] = (follows ? profile[i - 1] : 0) + s->x[i] - mean;
  }
  const ps_hrv_dfa_opts *const o = &opts->dfa;
  const bool neurokit2 = opts->definitions == PS_HRV_NEUROKIT2, stated = o->long_max > 0;
  const int64_t tenth = (s->n + neurokit2) / 10; /* there of the beats */

  *alpha1 = exponent(opts, s, profile, o->short_min, o->short_max, true);
  *alpha2 =
      exponent(opts, s, profile, o->long_min, stated ? o->long_max : tenth, stated || neurokit2);
}
