/* moments.c - see moments.h. */
#include "model/lead/moments.h"

#include <string.h>

#include "graph/weir_complex_scalar.h"
#include "ops/linear/weir_linear.h"

static weir_c128 power(weir_c128 z, int64_t n)
{
  const weir_c128 one = {1, 0}, by = n < 0 ? weir_div_c128(one, z) : z;
  weir_c128 product = one;

  for (int64_t i = 0; i < (n < 0 ? -n : n); i++) {
    product = weir_mul_c128(product, by);
  }
  return product;
}

/* to += factor from. */
static void add_scaled(int64_t count, weir_c128 factor, const weir_c128 *from, weir_c128 *to)
{
  for (int64_t i = 0; i < count; i++) {
    to[i].re += factor.re * from[i].re - factor.im * from[i].im;
    to[i].im += factor.re * from[i].im + factor.im * from[i].re;
  }
}

void lead_polynomial_at(const lead_polynomial *t, weir_c128 z, weir_c128 *out)
{
  const int64_t count = t->n * t->n;

  memset(out, 0, (size_t)count * sizeof *out);
  for (int64_t m = 0; m < t->count; m++) {
    add_scaled(count, power(z, t->lowest + m), t->matrix + m * count, out);
  }
}

int64_t lead_moments_work(int64_t n, int64_t columns)
{
  return (n * n + n * columns) * (int64_t)sizeof(weir_c128) + weir_linear_solve_work(n, columns);
}

bool lead_moments_compute(const lead_polynomial *t, const lead_moments *m, void *work)
{
  const int64_t n = t->n, count = n * m->columns;
  weir_c128 *matrix = work, *x = matrix + n * n;
  void *rest = x + count;

  memset(m->moment, 0, (size_t)(m->n_moments * count) * sizeof *m->moment);
  for (int64_t j = 0; j < m->n_points; j++) {
    const weir_c128 z = m->point[j];
    weir_c128 factor = weir_mul_c128(m->weight[j], power(z, m->first));

    lead_polynomial_at(t, z, matrix);
    memcpy(x, m->y, (size_t)count * sizeof *x);
    if (!weir_linear_solve(n, m->columns, matrix, x, rest)) {
      return false;
    }
    for (int64_t k = 0; k < m->n_moments; k++) {
      add_scaled(count, factor, x, m->moment + k * count);
      factor = weir_mul_c128(factor, z);
    }
  }
  return true;
}
