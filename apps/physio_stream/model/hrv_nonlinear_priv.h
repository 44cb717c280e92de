/* hrv_nonlinear_priv.h - series of runs, their entropies and their fluctuations. */
#ifndef PS_HRV_NONLINEAR_PRIV_H
#define PS_HRV_NONLINEAR_PRIV_H
#include "model/hrv_nonlinear.h"

/* Values of one run after the other. left[i]: values from i to the end of its run, i included. */
typedef struct hrv_series {
  double *x;
  int64_t *left;
  int64_t n;
} hrv_series;

/* NaN as in ps_hrv_nonlinear. */
typedef struct hrv_entropy {
  double apen, sampen;
} hrv_entropy;

/* Returns the number of doubles of scratch memory of hrv_entropy_of for n values. */
size_t hrv_entropy_scratch(int64_t m, int64_t n);
/* Computes both entropies with templates of m and m + 1 values; values match that differ by at most
 * `tolerance`. */
hrv_entropy hrv_entropy_of(const hrv_series *s, int64_t m, double tolerance, int64_t min_templates,
                           double *scratch);
/* Makes the means of `scale` values each, from the first of every run on; what is left of a run is
 * not used. */
void hrv_coarse_grain(const hrv_series *s, int64_t scale, hrv_series *coarse);
/* Computes both exponents. profile: [s->n] of scratch. */
void hrv_dfa(const ps_hrv_opts *opts, const hrv_series *s, double mean, double *profile,
             double *alpha1, double *alpha2);
#endif
