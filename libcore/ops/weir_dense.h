/* weir_dense.h - plain
 * dense linear algebra in double precision complex numbers: definition of library operators and
 * reference of their kernels. Matrices are [n, n] or [n, k], row-major. */
#ifndef WEIR_DENSE_H
#define WEIR_DENSE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_complex.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Factorises a into L (unit diagonal) and U of P a, with partial pivoting (Golub and Van Loan 2013,
 * algorithm 3.4.1); row[k]: row moved to position k in step k. False when a pivot is exactly 0. */
bool weir_dense_factor(weir_c128 *a, int64_t n, int64_t *row);
/* Solves a x = b with such factors; b [n, k] becomes x. */
void weir_dense_substitute(const weir_c128 *factors, int64_t n, const int64_t *row, weir_c128 *b,
                           int64_t k);
/* Compute the minimum and maximum |U_kk|, to detect matrices that are singular to working
 * precision; 1 for n = 0. */
double weir_dense_pivot_ratio(const weir_c128 *factors, int64_t n);

/* Eigenvalues of the Hermitian matrix whose lower triangle is that of a, ascending, and its
 * eigenvectors of length 1 as columns of v [n, n]: Jacobi rotations in turn (Golub and Van Loan
 * 2013, section 8.5). a is overwritten. */
void weir_dense_hermitian(weir_c128 *a, int64_t n, double *value, weir_c128 *v);
/* Computes the eigenvalues of a in unspecified order, and eigenvectors of length 1 as columns of v,
 * the largest element of each real: unitary reduction to Hessenberg form, then QR steps with
 * Wilkinson's shifts (Golub and Van Loan 2013, sections 7.4 and 7.5; 7.6.4 for the vectors). a is
 * overwritten; work: [n, n]. False if 60 n steps do not suffice. */
bool weir_dense_general(weir_c128 *a, int64_t n, weir_c128 *value, weir_c128 *v, weir_c128 *work);

/* Eigenvalues alpha[k] / beta[k] of a x = lambda b x in unspecified order, infinite where beta is
 * 0, and as row k of v an eigenvector of length 1: those mu of the inverse of a - s b times b,
 * lambda = s + 1 / mu, for that of a few shifts s which is farthest from an eigenvalue. a and b are
 * overwritten; work: weir_dense_pair_work(n) bytes. False where every shift is an eigenvalue, or
 * weir_dense_general fails. */
bool weir_dense_pair(weir_c128 *a, weir_c128 *b, int64_t n, weir_c128 *alpha, weir_c128 *beta,
                     weir_c128 *v, void *work);
int64_t weir_dense_pair_work(int64_t n);

/* Returns the infinity norm: largest sum of |elements| over a row of [n, k]. */
double weir_dense_norm(const weir_c128 *a, int64_t n, int64_t k);

#ifdef __cplusplus
}
#endif
#endif
