/* hrv_nonlinear.h - nonlinear measures of the intervals between beats: Poincare plot (Brennan et
 * al., IEEE Trans. Biomed. Eng. 48 (2001) 1342-1347), approximate entropy (Pincus, PNAS 88 (1991)
 * 2297-2301), sample entropy (Richman and Moorman, Am. J. Physiol. 278 (2000) H2039-H2049),
 * multiscale entropy (Costa et al., Phys. Rev. Lett. 89 (2002) 068102) and detrended fluctuation
 * analysis (Peng et al., Chaos 5 (1995) 82-87).
 *
 * All of them are of runs: successive intervals that count, each of which begins where the one
 * before ends, as pairs of RMSSD do. A pair, a template, a mean of coarse graining or a box lies
 * within one run, so none crosses a gap or an interval that does not count; those of all runs are
 * taken together. With one run these are the published formulas. */
#ifndef PS_HRV_NONLINEAR_H
#define PS_HRV_NONLINEAR_H
#include "base/weir_status.h"
#include "model/hrv.h"

enum { PS_HRV_MAX_SCALES = 40, PS_HRV_MAX_M = 10 };

/* NaN where there is too little to say. */
typedef struct ps_hrv_nonlinear {
  double sd1, sd2;          /* ms, n - 1: of the pairs across and along the line of identity  */
  double sd_ratio, ellipse; /* sd1 / sd2; pi sd1 sd2, ms^2                                    */
  double apen, sampen;      /* nats; sampen is that of scale 1                                */
  double
      mse[PS_HRV_MAX_SCALES]; /* sample entropy of means of 1, 2, ... intervals, [opts->scales] */
  double mse_ci;              /* complexity index: sum of mse over all scales                   */
  double alpha1, alpha2;      /* slopes of log F(n) over log n                                  */
} ps_hrv_nonlinear;

/* Checks that the box sizes of either exponent ascend; `section` is named in the message.
 * Fails: WEIR_ERR_CONFIG. */
weir_status ps_hrv_check(const char *section, const ps_hrv_opts *opts) WEIR_CHECKED;
/* Returns the number of doubles of scratch memory for up to n intervals. */
size_t ps_hrv_nonlinear_scratch(const ps_hrv_opts *opts, int64_t n);
/* Computes the measures; v ascends. rate: samples per second; n: below 2^31. Of n intervals the
 * time is proportional to the pairs of them that differ by at most the tolerance. */
ps_hrv_nonlinear ps_hrv_nonlinear_of(const ps_hrv_opts *opts, const ps_interval *v, int64_t n,
                                     double rate, double *scratch);
#endif
