/* low_rank.h - the products and the orthogonalisation of a low-rank approximation. Factors are in
 * f64 and stored by columns: [r][rows], [r][columns]. */
#ifndef WEIR_LOW_RANK_H
#define WEIR_LOW_RANK_H
#include <stdbool.h>
#include "base/weir_dtype.h"

/* A matrix, row-major, of f32 or f64. */
typedef struct low_rank_matrix {
  weir_dtype dtype;
  void *data; /* [rows, columns] */
  int64_t rows, columns;
} low_rank_matrix;

/* Where the random numbers of columns come from that have no direction of their own. */
typedef struct low_rank_random {
  uint64_t seed;
  uint32_t purpose, step;
} low_rank_random;

/* p <- M q: q [r][columns], p [r][rows]; row: space for a row of M. */
void low_rank_right(const low_rank_matrix *m, int64_t r, const double *q, double *p, double *row);
/* q <- M^T p, likewise. */
void low_rank_left(const low_rank_matrix *m, int64_t r, const double *p, double *q, double *row);
/* M <- M - p q^T where subtract, else p q^T. */
void low_rank_expand(const low_rank_matrix *m, int64_t r, const double *p, const double *q,
                     bool subtract, double *row);

/* Makes the r columns of p, [r][n] with r <= n, orthonormal by modified Gram-Schmidt (Bjorck 1994,
 * Numerics of Gram-Schmidt orthogonalization); twice: each column is projected a second time, which
 * makes them orthogonal to machine precision whatever their condition. A column of which less than
 * `least` of its length is left after projection depends on those before it: random numbers take
 * its place, so that the span has r dimensions. NaN stays NaN. */
void low_rank_orthonormal(double *p, int64_t n, int64_t r, bool twice, double least,
                          const low_rank_random *random);

#endif
