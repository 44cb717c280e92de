/* dispatch.c - see weir_linear.h: which code does it. */
#include <math.h>

#include "ops/linear/linear_priv.h"
#include "ops/weir_batch.h"
#include "ops/weir_lu.h"

void weir_linear_start(void)
{
  linear_start();
}

/* Element (i, j) of what is meant. */
static weir_c128 at(const weir_linear_factor *x, int64_t i, int64_t j)
{
  const weir_c128 z = x->adjoint ? x->data[j * x->stride + i] : x->data[i * x->stride + j];

  return x->adjoint ? (weir_c128){z.re, -z.im} : z;
}

static void multiply(int64_t m, int64_t n, int64_t k, double alpha, const weir_linear_factor *a,
                     const weir_linear_factor *b, double beta, weir_c128 *c, int64_t stride)
{
  for (int64_t i = 0; i < m; i++) {
    weir_c128 *row = c + i * stride;

    for (int64_t j = 0; j < n; j++) {
      row[j] = beta == 0 ? (weir_c128){0, 0} : (weir_c128){beta * row[j].re, beta * row[j].im};
    }
    for (int64_t l = 0; l < k; l++) {
      const weir_c128 x = at(a, i, l);

      for (int64_t j = 0; j < n; j++) {
        const weir_c128 y = at(b, l, j);

        row[j].re += alpha * (x.re * y.re - x.im * y.im);
        row[j].im += alpha * (x.re * y.im + x.im * y.re);
      }
    }
  }
}

void weir_linear_multiply(int64_t m, int64_t n, int64_t k, double alpha, weir_linear_factor a,
                          weir_linear_factor b, double beta, weir_c128 *c, int64_t stride)
{
  if (m * n * k < linear_min_work) {
    multiply(m, n, k, alpha, &a, &b, beta, c, stride);
  } else {
    linear_multiply(m, n, k, alpha, &a, &b, beta, c, stride);
  }
}

static bool is_small(int64_t n)
{
  return n <= WEIR_LU_ROWS && weir_lu_can(WEIR_C128);
}

int64_t weir_linear_solve_work(int64_t n, int64_t k)
{
  const int64_t rows = n < WEIR_LU_ROWS ? n : WEIR_LU_ROWS, library = linear_solve_work(n, k);
  const int64_t own = weir_lu_can(WEIR_C128) ? weir_lu_bytes(WEIR_C128, rows, k) : 0;

  return own > library ? own : library;
}

bool weir_linear_solve(int64_t n, int64_t k, weir_c128 *a, weir_c128 *b, void *work)
{
  if (n == 0) {
    return true;
  }
  if (is_small(n)) {
    const weir_matrix x = {(char *)b, WEIR_C128, n, k, k, 1};
    const weir_matrix m[3] = {{(char *)a, WEIR_C128, n, n, n, 1}, x, x};

    weir_lu_solve(m, false, NULL, work);
    return k == 0 || !isnan(b[0].re);
  }
  return weir_batch_is_finite(WEIR_C128, a, n * n) && linear_solve(n, k, a, b, work);
}

bool weir_linear_invert(int64_t n, weir_c128 *a, weir_c128 *x, void *work)
{
  if (n == 0) {
    return true;
  }
  if (is_small(n)) {
    const weir_matrix whole = {(char *)x, WEIR_C128, n, n, n, 1};
    const weir_matrix m[3] = {{(char *)a, WEIR_C128, n, n, n, 1}, {.data = NULL}, whole};

    weir_lu_solve(m, false, NULL, work);
    return !isnan(x[0].re);
  }
  return weir_batch_is_finite(WEIR_C128, a, n * n) && linear_invert(n, a, x, work);
}

int64_t weir_linear_hermitian_work(int64_t n)
{
  return linear_hermitian_work(n);
}

bool weir_linear_hermitian(int64_t n, weir_c128 *a, double *value, void *work)
{
  return n == 0 ||
         (weir_batch_is_finite(WEIR_C128, a, n * n) && linear_hermitian(n, a, value, work));
}

int64_t weir_linear_pair_work(int64_t n)
{
  return linear_pair_work(n);
}

bool weir_linear_pair(int64_t n, weir_c128 *a, weir_c128 *b, weir_c128 *alpha, weir_c128 *beta,
                      weir_c128 *vector, void *work)
{
  return n == 0 ||
         (weir_batch_is_finite(WEIR_C128, a, n * n) && weir_batch_is_finite(WEIR_C128, b, n * n) &&
          linear_pair(n, a, b, alpha, beta, vector, work));
}
