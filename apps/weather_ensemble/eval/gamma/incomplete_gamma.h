/* incomplete_gamma.h - the gamma distribution of unit scale with its derivatives by shape k and
 * value x, as scores of precipitation need them (NIST DLMF 5.11, 8.7, 8.11). */
#ifndef WX_INCOMPLETE_GAMMA_H
#define WX_INCOMPLETE_GAMMA_H

/* A function of k and x with its derivatives. */
typedef struct wx_of_shape {
  double v, k, x, kk, kx, xx;
} wx_of_shape;

/* Returns P(k, x), the probability below x, for 0 < k <= 2e6: absolute error about 1e-14, and
 * 1e-16 k where that is more, by the rounding of k ln(x / k). The derivatives are 0 at x <= 0 and
 * where P is 1. */
wx_of_shape wx_gamma_below(double k, double x);
/* Computes ln Gamma(k) - (k - 1/2) ln k + k - ln(2 pi) / 2 and two derivatives, k > 0. */
void wx_stirling_rest(double k, double rest[3]);
#endif
