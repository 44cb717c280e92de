/* absent.c - see ops/linear/linear_priv.h: where the build has no LAPACK. */
#include "ops/linear/linear_priv.h"

#include "ops/weir_dense.h"

const int64_t linear_min_work = INT64_MAX;

void linear_start(void)
{
}

/* Never asked: linear_least_work. */
void linear_multiply(int64_t m, int64_t n, int64_t k, double alpha, const weir_linear_factor *a,
                     const weir_linear_factor *b, double beta, weir_c128 *c, int64_t stride)
{
  (void)m;
  (void)n;
  (void)k;
  (void)alpha;
  (void)a;
  (void)b;
  (void)beta;
  (void)c;
  (void)stride;
}

int64_t linear_solve_work(int64_t n, int64_t k)
{
  (void)k;
  return n * (int64_t)sizeof(int64_t);
}

bool linear_solve(int64_t n, int64_t k, weir_c128 *a, weir_c128 *b, void *work)
{
  if (!weir_dense_factor(a, n, work)) {
    return false;
  }
  weir_dense_substitute(a, n, work, b, k);
  return true;
}

bool linear_invert(int64_t n, weir_c128 *a, weir_c128 *x, void *work)
{
  for (int64_t i = 0; i < n * n; i++) {
    x[i] = (weir_c128){i % (n + 1) == 0 ? 1 : 0, 0};
  }
  return linear_solve(n, n, a, x, work);
}

int64_t linear_hermitian_work(int64_t n)
{
  return n * n * (int64_t)sizeof(weir_c128);
}

bool linear_hermitian(int64_t n, weir_c128 *a, double *value, void *work)
{
  weir_dense_hermitian(a, n, value, work);
  return true;
}

int64_t linear_pair_work(int64_t n)
{
  return weir_dense_pair_work(n);
}

bool linear_pair(int64_t n, weir_c128 *a, weir_c128 *b, weir_c128 *alpha, weir_c128 *beta,
                 weir_c128 *vector, void *work)
{
  return weir_dense_pair(a, b, n, alpha, beta, vector, work);
}
