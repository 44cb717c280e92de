/* weir_linear.h - products,
 * systems and eigenproblems of dense c128 matrices, row-major, for code with its own loops: by
 * OpenBLAS and LAPACK if the build has them, by Weir's vector code (weir_lu.h) where that is
 * faster, by plain loops (weir_dense.h) otherwise. Single-threaded calls, thread-safe. Sizes fit 32
 * bits. */
#ifndef WEIR_LINEAR_H
#define WEIR_LINEAR_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_complex.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Stops the library from starting threads; call once before the others. */
void weir_linear_start(void);

/* A factor of a product, borrowed; with `adjoint` its conjugate transpose. */
typedef struct weir_linear_factor {
  const weir_c128 *data;
  int64_t stride; /* elements between rows of `data` */
  bool adjoint;
} weir_linear_factor;

/* Computes c [m, n] = alpha a b + beta c, where a is [m, k] and b [k, n] after transposition; c
 * overlaps neither. beta 0: c is not read. */
void weir_linear_multiply(int64_t m, int64_t n, int64_t k, double alpha, weir_linear_factor a,
                          weir_linear_factor b, double beta, weir_c128 *c, int64_t stride);

/* Returns the bytes of `work` to solve n equations with k right-hand sides, or fewer of both. */
int64_t weir_linear_solve_work(int64_t n, int64_t k);
/* Solves a x = b: b [n, k] becomes x, by elimination with partial pivoting; a [n, n] is
 * overwritten. False where a is exactly singular or not finite; b is then overwritten, too. */
bool weir_linear_solve(int64_t n, int64_t k, weir_c128 *a, weir_c128 *b, void *work);
/* Inverts a [n, n], which is overwritten, into x [n, n], with the `work` of n right-hand sides:
 * faster than solving with the identity, the same bits. False as above. */
bool weir_linear_invert(int64_t n, weir_c128 *a, weir_c128 *x, void *work);

/* Returns the bytes of `work` for n rows. */
int64_t weir_linear_hermitian_work(int64_t n);
/* Computes the eigenvalues value [n], ascending, of the Hermitian matrix a [n, n], given by both
 * triangles; a is overwritten. False without a result: not finite, no convergence. */
bool weir_linear_hermitian(int64_t n, weir_c128 *a, double *value, void *work);

/* Returns the bytes of `work` for n rows. */
int64_t weir_linear_pair_work(int64_t n);
/* Computes the eigenvalues alpha[k] / beta[k] of a x = lambda b x, infinite where beta is 0, with
 * an eigenvector as row k of vector [n, n]; a and b are overwritten. False without a result: not
 * finite, singular for every lambda, no convergence. */
bool weir_linear_pair(int64_t n, weir_c128 *a, weir_c128 *b, weir_c128 *alpha, weir_c128 *beta,
                      weir_c128 *vector, void *work);

#ifdef __cplusplus
}
#endif
#endif
