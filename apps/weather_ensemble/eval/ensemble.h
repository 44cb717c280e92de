/* ensemble.h - scores of one forecast of one point by members x[m] against the truth y, but for the
 * CRPS (score/crps.h). */
#ifndef WX_ENSEMBLE_H
#define WX_ENSEMBLE_H
#include <stdint.h>

/* Mean and variance around it, divisor m - ddof. The variance is NaN where m <= ddof. */
typedef struct wx_moments {
  double mean, variance;
} wx_moments;
wx_moments wx_ensemble_moments(const double *x, int64_t m, int ddof);

/* Returns the rank of the truth, the number of members below it, 0..m; truth among equal members
 * gets one of their ranks at random, by `bits`. */
int64_t wx_ensemble_rank(const double *x, int64_t m, double y, uint64_t bits);

/* Returns quantile p at position p (m + 1) of x[m] ascending, between neighbours in proportion
 * (Hyndman and Fan's definition 6): what is below the p-th of exchangeable members and truth. The
 * ends where p lies beyond them. */
double wx_ensemble_quantile(const double *x, int64_t m, double p);

/* Central interval of a nominal coverage. */
typedef struct wx_interval {
  double lo, hi, nominal;
} wx_interval;
/* Computes the interval of members, of at most the coverage (m - 1) / (m + 1). x ascending. */
wx_interval wx_interval_ensemble(const double *x, int64_t m, double nominal);
/* Returns the width and (2 / a) times what the truth misses it by, a = 1 - nominal (Gneiting and
 * Raftery, JASA 102 (2007) 359, eq. 43). */
double wx_interval_score(const wx_interval *i, double y);

/* Returns a number at the rank of the truth among m members: (rank + u) / (m + 1), u uniform in [0,
 * 1). */
double wx_pit_rank(int64_t rank, int64_t m, double u);

/* Of a patch of d points: x[member * stride + k], y[k]. Energy score, the CRPS of vectors
 * (Gneiting and Raftery eq. 22), empirical or fair. */
typedef struct wx_energy {
  double empirical, fair; /* fair: NaN for one member */
} wx_energy;
wx_energy wx_energy_score(const double *x, int64_t m, int64_t stride, const double *y, int64_t d);
/* Returns the variogram score of order p, all pairs weighing the same: mean over pairs of (|y_i -
 * y_j|^p - mean over members of |x_i - x_j|^p)^2 (Scheuerer and Hamill, MWR 143 (2015) 1321). 0 for
 * d = 1. */
double wx_variogram_score(const double *x, int64_t m, int64_t stride, const double *y, int64_t d,
                          double p);
#endif
