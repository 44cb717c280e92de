/* linear_priv.h - what a library does for weir_linear.h: linear_lapacke.c, or absent/absent.c in
 * builds without. Sizes are at least 1, matrices finite. */
#ifndef LINEAR_PRIV_H
#define LINEAR_PRIV_H
#include "ops/linear/weir_linear.h"

/* Products of fewer multiplications are made here rather than there. */
extern const int64_t linear_min_work;

void linear_start(void);
void linear_multiply(int64_t m, int64_t n, int64_t k, double alpha, const weir_linear_factor *a,
                     const weir_linear_factor *b, double beta, weir_c128 *c, int64_t stride);
int64_t linear_solve_work(int64_t n, int64_t k);
bool linear_solve(int64_t n, int64_t k, weir_c128 *a, weir_c128 *b, void *work);
bool linear_invert(int64_t n, weir_c128 *a, weir_c128 *x, void *work);
int64_t linear_hermitian_work(int64_t n);
bool linear_hermitian(int64_t n, weir_c128 *a, double *value, void *work);
int64_t linear_pair_work(int64_t n);
/* Eigenvectors as rows. */
bool linear_pair(int64_t n, weir_c128 *a, weir_c128 *b, weir_c128 *alpha, weir_c128 *beta,
                 weir_c128 *vector, void *work);

#endif
