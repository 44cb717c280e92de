/* forecast.h - the Fisher forecast of parameters from summaries s of universes whose parameters p
 * are scattered over their ranges, where derivatives by finite differences do not exist.
 *
 *   s = s0 + D (p - mean p) + e       D by least squares, at the mean of the parameters
 *   C = sum e e' / nu,  nu = n - parameters - 1
 *   F = (nu - m - 1) / nu  D' C^-1 D - m (sum (p - mean p) (p - mean p)')^-1
 *
 * of n universes, one sample each, and m summaries. The factor makes the inverse of the estimated C
 * unbiased (Hartlap, Simon and Schneider, A&A 464 (2007) 399, eq. 17, where nu = n - 1); the second
 * term is what the noise of the estimated D adds to F on average (Coulton and Wandelt,
 * arXiv:2305.08994, for finite differences). What a straight line does not describe of s(p) counts
 * as scatter, so that wide ranges give a smaller F than narrow ones.
 *
 * Summaries without scatter, or whose scatter is that of the others, are left out: m is the rank of
 * C, the number of eigenvalues of the correlations above 1e-8 of the largest. */
#ifndef CF_FORECAST_H
#define CF_FORECAST_H
#include "eval/ridge.h"

/* Parameters are in [-1, 1]. */
typedef struct cf_forecast {
  int64_t universes, rank;     /* n and m */
  double factor;               /* (nu - m - 1) / nu */
  double sigma[CF_MAX_LABELS]; /* marginal, with the variance 1/3 of the range as a prior */
  double alone[CF_MAX_LABELS]; /* the same without the prior; NaN: F is not positive definite */
} cf_forecast;

/* Makes the forecast from the first row of each universe. Fails: WEIR_ERR_DATA (fewer universes
 * than rank + parameters + 3, parameters that do not vary independently, noise that exceeds the
 * information and the prior), WEIR_ERR_NUMERIC (not finite), WEIR_ERR_MEMORY. */
weir_status cf_forecast_make(const cf_ridge_rows *rows, cf_forecast *out) WEIR_CHECKED;
#endif
