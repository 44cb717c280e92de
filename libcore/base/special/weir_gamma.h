/* weir_gamma.h - the regularised incomplete gamma functions, of which the gamma and the chi-square
 * distribution are made (NIST DLMF 5.11, 8.2.4, 8.7, 8.9.2, 8.11). */
#ifndef WEIR_GAMMA_H
#define WEIR_GAMMA_H
#ifdef __cplusplus
extern "C" {
#endif

/* A function of shape k and value x with its derivatives. */
typedef struct weir_of_shape {
  double v, k, x, kk, kx, xx;
} weir_of_shape;

/* Returns P(k, x), the probability below x of the gamma distribution of unit scale, for 0 < k <=
 * 2e6: absolute error about 1e-14, and 1e-16 k where that is more, by the rounding of k ln(x / k).
 * The derivatives are 0 at x <= 0 and where P is 1. */
weir_of_shape weir_gamma_below(double k, double x);
/* Returns Q(k, x) = 1 - P(k, x), for 0 < k <= 1e5: absolute error as of P; relative error about
 * 1e-12 above x = k + 1, where Q may be tiny. */
double weir_gamma_above(double k, double x);
/* Computes ln Gamma(k) - (k - 1/2) ln k + k - ln(2 pi) / 2 and two derivatives, k > 0. */
void weir_stirling_rest(double k, double rest[3]);

#ifdef __cplusplus
}
#endif
#endif
