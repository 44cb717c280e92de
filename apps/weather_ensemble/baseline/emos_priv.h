/* emos_priv.h - the search for coefficients of emos.c: sums over cases, vector code that makes
 * those of a normal distribution, Newton steps, and the points that searches begin from. */
#ifndef WX_EMOS_PRIV_H
#define WX_EMOS_PRIV_H
#include <stdint.h>
#include "baseline/emos.h"

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

/* ---- The search ---- */

typedef struct emos_search emos_search;
/* Adds a case of weight w, in units of the search, to the sums. */
typedef void emos_pass(const emos_search *s, double w, double x, double y, double v, double *sum);
struct emos_search {
  const wx_cases *cases;
  double x0, y0, v0, scale; /* of the units */
  wx_family family;
  double lower, shift, width; /* of the family, as data has them */
  double at[EMOS_UNKNOWNS], low[EMOS_UNKNOWNS], high[EMOS_UNKNOWNS]; /* low <= at <= high */
  double sd_x, sd_y, v_mean; /* of the cases, in units of scale */
  bool fixed[EMOS_UNKNOWNS];
  bool settled;    /* truth is always the same, and so is the first guess: nothing is left to fit */
  emos_pass *pass; /* NULL: the CRPS and its derivatives, at the unknowns */
  emos_normal_sums *normal; /* the CRPS of normal distributions */
  double *scratch;          /* [chunks, EMOS_SUMS], NULL: one thread */
};
/* When steps end: relative gain in mean CRPS, and how many they are at most. */
typedef struct emos_stop {
  double tolerance;
  int64_t max_iter;
} emos_stop;

/* Computes all sums [EMOS_SUMS], in the order of the cases, whatever the threads. */
void emos_sum_all(emos_search *s, double *total);
/* Returns the mean CRPS at the unknowns, in units of the scale. */
double emos_value(emos_search *s);
/* Returns the mean CRPS, in units of the scale, that steps from the unknowns of s reach; *steps:
 * how many they were. */
double emos_descend(emos_search *s, const emos_stop *stop, int64_t *steps);

/* ---- Where searches begin ---- */

/* Cases up to which several minima are looked for, and how many points are improved by two steps.
 */
enum { EMOS_FEW = 256, EMOS_REFINED = 32 };
/* Looks for the lowest minimum of the mean CRPS over the n cases that count, by about `searches`
 * searches; false: there were none. first: units, limits and what is fixed. On the calling thread.
 */
bool emos_find_start(const emos_search *first, const emos_stop *stop, int searches, int64_t n,
                     double at[EMOS_UNKNOWNS]);
#endif
