/* hersbach.h - decomposition of the CRPS of ensembles: reliability, and the potential CRPS when it
 * is perfect (Hersbach, Weather and Forecasting 15 (2000) 559). Sums of cases first, terms then. */
#ifndef WX_HERSBACH_H
#define WX_HERSBACH_H
#include <stdint.h>

/* Weighted sums over cases; alpha and beta are the caller's, [m + 1] each, 0 at first. */
typedef struct wx_hersbach {
  int64_t m;
  double *alpha, *beta;
  double weight, below, above; /* of all cases; where the truth is below or above all members */
} wx_hersbach;

/* Counts a case, x[m] ascending. */
void wx_hersbach_take(wx_hersbach *h, const double *x, double y, double weight);
/* CRPS = reliability + potential. */
typedef struct wx_hersbach_decomposition {
  double crps, reliability, potential;
} wx_hersbach_decomposition;
wx_hersbach_decomposition wx_hersbach_get(const wx_hersbach *h);
#endif
