/* eigen_priv.h - all eigenvalues of a matrix, by what the build has. */
#ifndef EIGEN_PRIV_H
#define EIGEN_PRIV_H
#include "ops/eigen/weir_eigen.h"

/* Computes the eigenvalues of a finite symmetric matrix[n, n], n >= 1, in any order, and their
 * eigenvectors [n, n] of length 1. Bitwise identical for any number of threads. Fails:
 * WEIR_ERR_MEMORY, WEIR_ERR_NUMERIC (no convergence). */
weir_status eigen_whole(const double *matrix, int64_t n, double *value,
                        double *vector) WEIR_CHECKED;
/* The same by turns of two rows (Jacobi 1846, cyclic): the values are left on the diagonal of
 * h[m, m]. */
void eigen_turn(double *h, double *vector, int64_t m);

#endif
