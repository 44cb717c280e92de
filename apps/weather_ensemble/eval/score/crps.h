/* crps.h - the continuous ranked probability score, of members and of normal distributions. Units:
 * those of the forecast. */
#ifndef WX_CRPS_H
#define WX_CRPS_H
#include <stdint.h>

/* The terms of the score of an ensemble: mean |x - y| and mean |x - x'|, over all m^2 pairs. */
typedef struct wx_crps_decomposition {
  int64_t m;
  double skill, pairs;
} wx_crps_decomposition;
/* Computes the terms of the CRPS. x[m] ascending, m >= 1. M log M with the sort: Gneiting and
 * Raftery (JASA 102 (2007) 359) eq. 21 with the pairs counted by rank. */
wx_crps_decomposition wx_crps_sorted(const double *x, int64_t m, double y);
/* Computes them, to the bit, of cases side by side: x[m, WX_LANES] of wx_sort_lanes, y[WX_LANES].
 */
void wx_crps_sorted_lanes(const double *x, int64_t m, const double *y, wx_crps_decomposition *out);
/* Returns the CRPS of the empirical distribution of the members: skill - pairs / 2. */
double wx_crps_empirical(const wx_crps_decomposition *p);
/* Returns the fair CRPS, of infinitely many such members on average: pairs over m (m - 1)
 * (Ferro, QJRMS 140 (2014) 1917). May be negative. NaN for one member. */
double wx_crps_fair(const wx_crps_decomposition *p);
/* Returns share * fair + (1 - share) * empirical (Lang et al., arXiv:2412.15832, share 0.95). */
double wx_crps_almost_fair(const wx_crps_decomposition *p, double share);

/* Computes the threshold-weighted terms, weight 1 above t (upper) or below it: the score of max(x,
 * t), or min, against max(y, t), proper for extremes (Gneiting and Ranjan, JBES 29 (2011) 411).
 * x[m] ascending; `scratch` [m]. */
wx_crps_decomposition wx_crps_tail(const double *x, int64_t m, double y, double t, int upper,
                                   double *scratch);
/* Returns the CRPS of a normal distribution, in the form that loses nothing far from the mean: |d|
 * - sd / sqrt(pi) + 2 sd (phi(z) - |z| Q(|z|)). sd 0: |y - mean|; NaN where sd < 0 or something is
 * NaN. */
double wx_crps_normal(double mean, double sd, double y);
#endif
