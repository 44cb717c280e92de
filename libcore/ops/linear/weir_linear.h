/* weir_linear.h - products, systems and eigenproblems of dense c128 matrices, row by row, for codes
 * with loops of their own: by OpenBLAS and LAPACK where the build has them, by own vector code
 * (weir_lu.h) where that is faster, plainly (weir_dense.h) elsewhere. One thread each, any number
 * of them at a time. Sizes fit 32 bits. */
#ifndef WEIR_LINEAR_H
#define WEIR_LINEAR_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_complex.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Once before: a library starts no threads of its own. */
void weir_linear_start(void);

/* A factor of a product, borrowed; with `adjoint` its conjugate transpose is meant. */
typedef struct weir_linear_factor {
  const weir_c128 *data;
  int64_t stride; /* elements from a row of `data` to the next */
  bool adjoint;
} weir_linear_factor;

/* c [m, n] = alpha a b + beta c, where a is [m, k] and b [k, n] as they are meant; c overlaps
 * neither. beta 0: c is not read. */
void weir_linear_multiply(int64_t m, int64_t n, int64_t k, double alpha, weir_linear_factor a,
                          weir_linear_factor b, double beta, weir_c128 *c, int64_t stride);

/* Bytes of `work` to solve n equations with k right sides, or fewer of both. */
int64_t weir_linear_solve_work(int64_t n, int64_t k);
/* b [n, k] becomes x of a x = b, by elimination with partial pivoting; a [n, n] is lost. False
 * where a is exactly singular or not finite; b is then lost, too. */
bool weir_linear_solve(int64_t n, int64_t k, weir_c128 *a, weir_c128 *b, void *work);
/* x [n, n] becomes the inverse of a [n, n], which is lost, with the `work` of n right sides: less
 * work than to solve with the identity, the same bits. False as above. */
bool weir_linear_invert(int64_t n, weir_c128 *a, weir_c128 *x, void *work);

/* Bytes of `work` for n rows. */
int64_t weir_linear_hermitian_work(int64_t n);
/* Eigenvalues value [n], ascending, of the Hermitian matrix a [n, n], both triangles of which are
 * given; a is lost. False where there is no result: not finite, no convergence. */
bool weir_linear_hermitian(int64_t n, weir_c128 *a, double *value, void *work);

/* Bytes of `work` for n rows. */
int64_t weir_linear_pair_work(int64_t n);
/* Eigenvalues alpha[k] / beta[k] of a x = lambda b x, infinite where beta is 0, and as row k of
 * vector [n, n] an eigenvector; a and b are lost. False where there is no result: not finite,
 * singular for every lambda, no convergence. */
bool weir_linear_pair(int64_t n, weir_c128 *a, weir_c128 *b, weir_c128 *alpha, weir_c128 *beta,
                      weir_c128 *vector, void *work);

#ifdef __cplusplus
}
#endif
#endif
