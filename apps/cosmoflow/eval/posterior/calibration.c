/* calibration.c - see calibration.h. */
#include "eval/posterior/calibration.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/special/weir_gamma.h"
#include "base/weir_alloc.h"

enum { MIN_PER_BIN = 5, TERMS = 1000 };

/* ---- Ranks ---- */

int64_t cf_rank_of(const double *draws, int64_t n, int64_t stride, double truth)
{
  int64_t below = 0;

  for (int64_t i = 0; i < n; i++) {
    below += draws[i * stride] < truth;
  }
  return below;
}

static double square_distance(const double *a, const double *b, int64_t n)
{
  double sum = 0;

  for (int64_t k = 0; k < n; k++) {
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  }
  return sum;
}

int64_t cf_rank_by_distance(const double *draws, int64_t n, int64_t labels, const double *truth,
                            const double *point)
{
  const double limit = square_distance(truth, point, labels);
  int64_t nearer = 0;

  for (int64_t i = 0; i < n; i++) {
    nearer += square_distance(draws + i * labels, point, labels) < limit;
  }
  return nearer;
}

/* The middle of the share of the distribution that a rank is, in (0, 1). */
static double share_of(int64_t rank, int64_t draws)
{
  return ((double)rank + 0.5) / ((double)draws + 1);
}

double cf_coverage_central(const int64_t *rank, int64_t n, int64_t draws, double level)
{
  int64_t within = 0;

  for (int64_t i = 0; i < n; i++) {
    within += fabs(share_of(rank[i], draws) - 0.5) <= level / 2;
  }
  return (double)within / (double)n;
}

double cf_coverage_lowest(const int64_t *rank, int64_t n, int64_t draws, double level)
{
  int64_t within = 0;

  for (int64_t i = 0; i < n; i++) {
    within += share_of(rank[i], draws) <= level;
  }
  return (double)within / (double)n;
}

/* ---- Distributions of the tests ---- */

double cf_chi2_above(double x, int64_t freedom)
{
  return weir_gamma_above(0.5 * (double)freedom, 0.5 * x);
}

double cf_ks_above(double d, int64_t n)
{
  const double root = sqrt((double)n), lambda = (root + 0.12 + 0.11 / root) * d;
  double sum = 0, sign = 2;

  if (lambda < 0.2) { /* 1 to twelve digits, and the series converges slowly */
    return 1;
  }
  for (int k = 1; k < TERMS; k++) {
    const double term = exp(-2.0 * k * k * lambda * lambda);

    sum += sign * term;
    sign = -sign;
    if (term < 1e-17) {
      break;
    }
  }
  return fmin(fmax(sum, 0), 1);
}

/* ---- Tests ---- */

int64_t cf_uniformity_bins(int64_t n, int64_t draws, int64_t max_bins)
{
  const int64_t fit = n / MIN_PER_BIN < max_bins ? n / MIN_PER_BIN : max_bins;

  for (int64_t bins = fit; bins >= 2; bins--) {
    if ((draws + 1) % bins == 0) {
      return bins;
    }
  }
  return 0;
}

void cf_uniformity_count(const int64_t *rank, int64_t n, int64_t draws, int64_t bins, double *count)
{
  const int64_t width = (draws + 1) / bins;

  memset(count, 0, (size_t)bins * sizeof *count);
  for (int64_t i = 0; i < n; i++) {
    count[rank[i] / width]++;
  }
}

static weir_status test_bins(const int64_t *rank, int64_t n, int64_t draws, cf_uniformity *out)
{
  double *count = NULL;

  if (out->bins == 0) {
    return WEIR_OK;
  }
  const double even = (double)n / (double)out->bins;

  WEIR_TRY(weir_alloc(out->bins, sizeof *count, (void **)&count));
  cf_uniformity_count(rank, n, draws, out->bins, count);
  out->chi2 = 0;
  for (int64_t b = 0; b < out->bins; b++) {
    out->chi2 += (count[b] - even) * (count[b] - even) / even;
  }
  out->chi2_p = cf_chi2_above(out->chi2, out->bins - 1);
  weir_free(&count);
  return WEIR_OK;
}

static int ascending(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

  return (x > y) - (x < y);
}

/* The largest difference of the distribution of ranks from the uniform one, and the area: the
 * integral of the share of cases with s <= level over level, from 1/2 to 1, less 3/8. */
static void test_curve(const int64_t *sorted, int64_t n, int64_t draws, cf_uniformity *out)
{
  double area = 0;

  out->ks = 0;
  for (int64_t i = 0; i < n; i++) {
    const double s = share_of(sorted[i], draws);

    out->ks = fmax(out->ks, fmax((double)(i + 1) / (double)n - s, s - (double)i / (double)n));
    area += fmin(1 - s, 0.5) / (double)n;
  }
  out->ks_p = cf_ks_above(out->ks, n);
  out->area = area - 0.375;
}

weir_status cf_uniformity_test(const int64_t *rank, int64_t n, int64_t draws, int64_t max_bins,
                               cf_uniformity *out)
{
  int64_t *sorted = NULL;

  *out = (cf_uniformity){cf_uniformity_bins(n, draws, max_bins), NAN, NAN, NAN, NAN, NAN};
  if (n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n, sizeof *sorted, (void **)&sorted));
  memcpy(sorted, rank, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, ascending);
  test_curve(sorted, n, draws, out);
  weir_free(&sorted);
  return test_bins(rank, n, draws, out);
}
