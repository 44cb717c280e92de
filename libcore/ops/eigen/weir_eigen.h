/* weir_eigen.h - largest eigenvalues and eigenvectors of a positive semidefinite symmetric matrix.
 * For code outside the graph: not an operator. */
#ifndef WEIR_EIGEN_H
#define WEIR_EIGEN_H
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Computes the k largest eigenvalues of matrix[n, n], descending, and their eigenvectors [k, n] of
 * length 1: all n by LAPACK, or without it by Jacobi's method; fewer by subspace iteration with
 * Rayleigh-Ritz steps (Stewart 1976) until every |G v - value v| is below 1e-10 of the largest
 * value. Bitwise identical for any number of threads. Fails: WEIR_ERR_MEMORY, WEIR_ERR_NUMERIC (not
 * finite, no convergence). */
weir_status weir_eigen_leading(const double *matrix, int64_t n, int64_t k, double *value,
                               double *vector) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
