/* linear_lapacke.c - see linear_priv.h: by OpenBLAS and LAPACK. */
#include <cblas.h>

#include "ops/linear/linear_priv.h"
#include "ops/weir_lapack.h"

const int64_t linear_least_work = 64;

void linear_start(void)
{
  weir_lapack_start();
}

void linear_multiply(int64_t m, int64_t n, int64_t k, double alpha, const weir_linear_factor *a,
                     const weir_linear_factor *b, double beta, weir_c128 *c, int64_t stride)
{
  const weir_c128 first = {alpha, 0}, second = {beta, 0};

  cblas_zgemm(CblasRowMajor, a->adjoint ? CblasConjTrans : CblasNoTrans,
              b->adjoint ? CblasConjTrans : CblasNoTrans, (int)m, (int)n, (int)k, &first, a->data,
              (int)a->stride, b->data, (int)b->stride, &second, c, (int)stride);
}

/* What LAPACK takes for a matrix by columns is the transpose: P L U = a^T, so a = U^T L^T P^T. */
bool linear_solve(int64_t n, int64_t k, weir_c128 *a, weir_c128 *b, void *work)
{
  const weir_c128 one = {1, 0};
  const int rows = (int)n, sides = (int)k;
  int *pivot = work;

  if (weir_lapack_factor(rows, a, pivot) != 0) {
    return false;
  }
  cblas_ztrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, rows, sides, &one,
              a, rows, b, sides);
  cblas_ztrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, rows, sides, &one, a,
              rows, b, sides);
  for (int64_t i = n - 1; i >= 0; i--) {
    if (pivot[i] != i + 1) {
      cblas_zswap(sides, b + i * k, 1, b + (pivot[i] - 1) * k, 1);
    }
  }
  return true;
}

int64_t linear_pair_work(int64_t n)
{
  return weir_lapack_work(WEIR_C128, n);
}

static void transpose(int64_t n, weir_c128 *a)
{
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      const weir_c128 z = a[i * n + j];

      a[i * n + j] = a[j * n + i];
      a[j * n + i] = z;
    }
  }
}

bool linear_pair(int64_t n, weir_c128 *a, weir_c128 *b, weir_c128 *alpha, weir_c128 *beta,
                 weir_c128 *vector, void *work)
{
  transpose(n, a);
  transpose(n, b);
  return weir_lapack_general_pair((int)n, a, b, alpha, beta, vector, work) == 0;
}
