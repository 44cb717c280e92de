/* linear_lapacke.c - see linear_priv.h: by OpenBLAS and LAPACK. */
#include <cblas.h>
#include <string.h>

#include "ops/linear/linear_priv.h"
#include "ops/weir_lapack.h"

const int64_t linear_min_work = 64;

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

/* Rows of a triangle that is inverted: the rest of a substitution are products, which run at nearly
 * twice the rate of ztrsm. */
enum { TRIANGLE = 48 };

int64_t linear_solve_work(int64_t n, int64_t k)
{
  return (n + 1) / 2 * (int64_t)sizeof(weir_c128) +
         TRIANGLE * (TRIANGLE + k) * (int64_t)sizeof(weir_c128);
}

/* b [n, k] becomes x of t x = b, t the lower (upper: with ones as its diagonal) triangle of a.
 * identity: b is a lower triangle, of which the rest stays 0. */
static void substitute(bool upper, bool identity, int64_t n, int64_t k, const weir_c128 *a,
                       weir_c128 *b, weir_c128 *work)
{
  const weir_c128 one = {1, 0}, none = {0, 0}, minus = {-1, 0};
  const int side = (int)n, row = (int)k;
  weir_c128 *inverse = work, *rows = inverse + TRIANGLE * TRIANGLE;

  for (int64_t done = 0; done < n;) {
    const int64_t here = n - done < TRIANGLE ? n - done : TRIANGLE;
    const int64_t first = upper ? n - done - here : done, known = upper ? first + here : 0;
    const int size = (int)here, sides = identity ? (int)(first + here) : row;

    memset(inverse, 0, (size_t)(here * here) * sizeof *inverse);
    for (int64_t i = 0; i < here; i++) {
      inverse[i * here + i].re = 1;
    }
    cblas_ztrsm(CblasRowMajor, CblasLeft, upper ? CblasUpper : CblasLower, CblasNoTrans,
                upper ? CblasUnit : CblasNonUnit, size, size, &one, a + first * (n + 1), side,
                inverse, size);
    if (done > 0) {
      cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, sides, (int)done, &minus,
                  a + first * n + known, side, b + known * k, row, &one, b + first * k, row);
    }
    cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, sides, size, &one, inverse, size,
                b + first * k, row, &none, rows, row);
    for (int64_t i = 0; i < here; i++) {
      memcpy(b + (first + i) * k, rows + i * k, (size_t)sides * sizeof *b);
    }
    done += here;
  }
}

/* What LAPACK takes for a matrix by columns is the transpose: P L U = a^T, so a = U^T L^T P^T. */
static bool solve(bool identity, int64_t n, int64_t k, weir_c128 *a, weir_c128 *b, void *work)
{
  weir_c128 *rest = work;
  int *pivot = (int *)(rest + TRIANGLE * (TRIANGLE + k));

  if (weir_lapack_factor((int)n, a, pivot) != 0) {
    return false;
  }
  if (k > 0) {
    substitute(false, identity, n, k, a, b, rest);
    substitute(true, false, n, k, a, b, rest);
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    if (pivot[i] != i + 1) {
      cblas_zswap((int)k, b + i * k, 1, b + (pivot[i] - 1) * k, 1);
    }
  }
  return true;
}

bool linear_solve(int64_t n, int64_t k, weir_c128 *a, weir_c128 *b, void *work)
{
  return solve(false, n, k, a, b, work);
}

bool linear_invert(int64_t n, weir_c128 *a, weir_c128 *x, void *work)
{
  memset(x, 0, (size_t)(n * n) * sizeof *x);
  for (int64_t i = 0; i < n; i++) {
    x[i * (n + 1)].re = 1;
  }
  return solve(true, n, n, a, x, work);
}

int64_t linear_hermitian_work(int64_t n)
{
  return weir_lapack_work(WEIR_C128, n);
}

/* By columns the matrix is its conjugate, which has the same eigenvalues. */
bool linear_hermitian(int64_t n, weir_c128 *a, double *value, void *work)
{
  return weir_lapack_hermitian(WEIR_C128, false, (int)n, a, value, work) == 0;
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
