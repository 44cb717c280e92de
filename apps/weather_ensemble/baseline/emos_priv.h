/* emos_priv.h - sums over cases that the minimisation of emos.c needs, and vector code that makes
 * those of a normal distribution. */
#ifndef WX_EMOS_PRIV_H
#define WX_EMOS_PRIV_H
#include <stdint.h>

/* What is fitted, in units of a scale around the means: y = a + b x, u = sigma^2 = c + d v. */
enum { EMOS_A, EMOS_B, EMOS_C, EMOS_D, EMOS_UNKNOWNS };

/* Sums over cases: weights and how many count; CRPS, its first and second derivatives by mu and u
 * times powers of x and v, and the share of those by u that is never negative, which makes the
 * damping. */
enum {
  EMOS_WEIGHT,
  EMOS_COUNT,
  EMOS_F,
  EMOS_F_M,
  EMOS_F_M_X,
  EMOS_F_U,
  EMOS_F_U_V,
  EMOS_F_MM,
  EMOS_F_MM_X,
  EMOS_F_MM_XX,
  EMOS_F_MU,
  EMOS_F_MU_X,
  EMOS_F_MU_V,
  EMOS_F_MU_XV,
  EMOS_F_UU,
  EMOS_F_UU_V,
  EMOS_F_UU_VV,
  EMOS_G_UU,
  EMOS_G_UU_VV,
  EMOS_SUMS
};

/* n cases; those whose numbers are not finite, whose variance is negative or whose weight is not
 * positive do not count. weight NULL: 1 each. */
typedef struct emos_chunk {
  const float *mean, *truth, *variance;
  const double *weight;
  int64_t n;
  double x0, y0, v0, scale; /* x = (mean - x0) / scale, y alike, v = (variance - v0) / scale^2 */
  const double *at;         /* [EMOS_UNKNOWNS] */
} emos_chunk;

/* All sums [EMOS_SUMS] of normal distributions, in units of the scale. The same bits by each
 * instruction set: the same operations in the same order, none of them fused. */
typedef void emos_normal_sums(const emos_chunk *c, double *sum);
extern emos_normal_sums emos_normal_sums_plain, emos_normal_sums_avx2, emos_normal_sums_avx512;
/* The fastest that this processor runs. */
emos_normal_sums *emos_normal_sums_get(void);
#endif
