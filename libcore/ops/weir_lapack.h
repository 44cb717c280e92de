/* weir_lapack.h - LAPACK by dtype: f32, f64, c64 and c128, matrices column by column without gaps.
 *
 * Each returns 0, or why there is no result (LAPACK's info). Operands are finite, n > 0. One thread
 * each, any number of them at a time. */
#ifndef WEIR_LAPACK_H
#define WEIR_LAPACK_H
#include <stdbool.h>
#include "base/weir_complex.h"
#include "base/weir_dtype.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Once before: the library starts no threads of its own. */
void weir_lapack_start(void);
/* a [n, n] becomes its factors, b [n, k] the solution; pivot: [n]. 1 and more: singular. */
int weir_lapack_solve(weir_dtype dtype, int n, int k, void *a, int *pivot, void *b);
/* a [n, n] becomes its inverse. */
int weir_lapack_invert(weir_dtype dtype, int n, void *a, int *pivot, void *work);
/* Eigenvalues (of the real part's dtype), ascending, of the matrix whose lower triangle is a's; a
 * becomes its eigenvectors where these are asked for. */
int weir_lapack_hermitian(weir_dtype dtype, bool vectors, int n, void *a, void *value, void *work);
/* Eigenvalues and, where vector is not NULL, eigenvectors [n, n], complex. a is lost. */
int weir_lapack_general(weir_dtype dtype, int n, void *a, void *value, void *vector, void *work);
/* a [n, n] becomes its factors; pivot: [n]. 1 and more: singular. */
int weir_lapack_factor(int n, weir_c128 *a, int *pivot);
/* Eigenvalues alpha / beta of a x = lambda b x, and eigenvectors [n, n]. a and b are lost. */
int weir_lapack_general_pair(int n, weir_c128 *a, weir_c128 *b, weir_c128 *alpha, weir_c128 *beta,
                             weir_c128 *vector, void *work);
/* Bytes of `work` for those above that take it, of whichever needs most. */
int64_t weir_lapack_work(weir_dtype dtype, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
