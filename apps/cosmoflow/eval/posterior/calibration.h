/* calibration.h - whether posteriors are calibrated: ranks of the truth among draws from them are
 * uniform over the cases.
 *
 * For each parameter (Talts et al., arXiv:1804.06788, algorithm 1), and for the distance to a
 * random point, which tests all parameters together (TARP: Lemos et al., arXiv:2302.03026,
 * algorithm 2). A rank is 0 to draws, draws + 1 values that are equally likely. */
#ifndef CF_CALIBRATION_H
#define CF_CALIBRATION_H
#include <stdint.h>
#include "base/weir_status.h"

/* Returns the number of draws[n] at `stride` that are below the truth. */
int64_t cf_rank_of(const double *draws, int64_t n, int64_t stride, double truth);
/* Returns the number of draws[n, labels] that are nearer to a point than the truth, by the
 * Euclidean distance. */
int64_t cf_rank_by_distance(const double *draws, int64_t n, int64_t labels, const double *truth,
                            const double *point);

/* Uniformity of n ranks. NaN where a test has too few cases. */
typedef struct cf_uniformity {
  int64_t bins;        /* of the histogram: a divisor of draws + 1; 0: there are too few cases */
  double chi2, chi2_p; /* Pearson's test of the bins; the probability of a value as large */
  double ks, ks_p;     /* Kolmogorov-Smirnov: largest difference from the uniform distribution */
  double area;         /* between the diagonal and the share of cases within the credible regions of
                          level 1/2 to 1: below 0, posteriors are too narrow; TARP's ATC */
} cf_uniformity;
/* Returns the number of bins for n cases: the largest divisor of draws + 1 that is at most
 * `max_bins` and leaves 5 cases in a bin on average, at least 2; 0: there is none. */
int64_t cf_uniformity_bins(int64_t n, int64_t draws, int64_t max_bins);
/* Counts the ranks in each of `bins`, a divisor of draws + 1. */
void cf_uniformity_count(const int64_t *rank, int64_t n, int64_t draws, int64_t bins,
                         double *count);
/* Tests the ranks. Fails: WEIR_ERR_MEMORY. */
weir_status cf_uniformity_test(const int64_t *rank, int64_t n, int64_t draws, int64_t max_bins,
                               cf_uniformity *out) WEIR_CHECKED;
/* Returns the share of ranks in the central interval of this level, 0 to 1, and of ranks in the
 * lowest `level`, which is the expected coverage of TARP. */
double cf_coverage_central(const int64_t *rank, int64_t n, int64_t draws, double level);
double cf_coverage_lowest(const int64_t *rank, int64_t n, int64_t draws, double level);

/* Returns the probability that chi-square of this many degrees of freedom is at least x: the upper
 * incomplete gamma function Q(freedom / 2, x / 2) (base/special/weir_gamma.h). */
double cf_chi2_above(double x, int64_t freedom);
/* Returns the probability that the Kolmogorov-Smirnov statistic of n cases is at least d, in the
 * approximation of Stephens (J. R. Stat. Soc. B 32 (1970) 115). */
double cf_ks_above(double d, int64_t n);
#endif
