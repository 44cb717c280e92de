/* weir_lapack.h - LAPACK by dtype: f32, f64, c64 and c128, contiguous column-major matrices.
 *
 * Each returns 0, or
 * LAPACK's info where there is no result. Operands must be finite, n > 0. Single-threaded calls,
 * thread-safe. */
#ifndef WEIR_LAPACK_H
#define WEIR_LAPACK_H
#include <stdbool.h>
#include "base/weir_complex.h"
#include "base/weir_dtype.h"
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Stops the library from starting threads; call once before the others. */
void weir_lapack_start(void);
/* Implements weir_kernel.match for a library operator whose kernel calls LAPACK, and starts it;
 * share: the part of a core's f32 rate that is reached, about, with matrices of some size. */
double weir_lapack_match(const weir_graph *g, const weir_group *group, const weir_op_desc *op,
                         double share);
/* Solves a x = b: a [n, n] becomes its factors, b [n, k] the solution; pivot: [n]. 1 and more:
 * singular. */
int weir_lapack_solve(weir_dtype dtype, int n, int k, void *a, int *pivot, void *b);
/* Inverts a [n, n] in place. */
int weir_lapack_invert(weir_dtype dtype, int n, void *a, int *pivot, void *work);
/* Computes the eigenvalues (of the real part's dtype), ascending, of the matrix with the lower
 * triangle of a; a becomes its eigenvectors if requested. */
int weir_lapack_hermitian(weir_dtype dtype, bool vectors, int n, void *a, void *value, void *work);
/* Computes eigenvalues and, where vector is not NULL, eigenvectors [n, n], complex. a is
 * overwritten. */
int weir_lapack_general(weir_dtype dtype, int n, void *a, void *value, void *vector, void *work);
/* Factorises a [n, n]; pivot: [n]. 1 and more: singular. */
int weir_lapack_factor(int n, weir_c128 *a, int *pivot);
/* Computes the eigenvalues alpha / beta of a x = lambda b x, and eigenvectors [n, n]. a and b are
 * overwritten. */
int weir_lapack_general_pair(int n, weir_c128 *a, weir_c128 *b, weir_c128 *alpha, weir_c128 *beta,
                             weir_c128 *vector, void *work);
/* Returns the bytes of `work` for the functions above, the maximum of all. */
int64_t weir_lapack_work(weir_dtype dtype, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
