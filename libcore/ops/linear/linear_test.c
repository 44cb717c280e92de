/* linear_test.c - products, systems and eigenpairs of random matrices; what has no answer. */
#include "ops/linear/weir_linear.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "graph/weir_complex_scalar.h"

enum { MAX = 200, PADDED = MAX + 3 };
static weir_c128 a[MAX * PADDED], b[MAX * PADDED], c[MAX * PADDED], kept[MAX * PADDED];
static char work[1 << 22];

static weir_c128 draw(uint32_t which, int64_t i)
{
  return (weir_c128){weir_random_uniform(3, which, 0, (uint64_t)i) - 0.5,
                     weir_random_uniform(3, which, 1, (uint64_t)i) - 0.5};
}

static void fill(weir_c128 *x, uint32_t which)
{
  for (int64_t i = 0; i < MAX * PADDED; i++) {
    x[i] = draw(which, i);
  }
}

static weir_c128 at(const weir_linear_factor *x, int64_t i, int64_t j)
{
  return x->adjoint ? weir_conj_c128(x->data[j * x->stride + i]) : x->data[i * x->stride + j];
}

static void products_of_every_form(void **state)
{
  const int64_t sizes[][3] = {{1, 1, 1},    {3, 2, 5}, {8, 8, 8}, {33, 7, 20},
                              {40, 41, 42}, {0, 3, 3}, {3, 0, 3}, {3, 3, 0}};

  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];

    for (int form = 0; form < 8; form++) {
      const weir_linear_factor x = {a, PADDED, form & 1}, y = {b, PADDED - 1, form >> 1 & 1};
      const double beta = form >> 2 ? -0.5 : 0;

      fill(a, 1);
      fill(b, 2);
      fill(c, 3);
      memcpy(kept, c, sizeof c);
      c[0].re = beta == 0 ? NAN : c[0].re;
      weir_linear_multiply(m, n, k, 2, x, y, beta, c, PADDED);
      for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < PADDED; j++) {
          const weir_c128 before = kept[i * PADDED + j], z = c[i * PADDED + j];
          weir_c128 sum = {beta * before.re, beta * before.im};

          for (int64_t l = 0; l < k && j < n; l++) {
            const weir_c128 p = weir_mul_c128(at(&x, i, l), at(&y, l, j));

            sum = weir_add_c128(sum, (weir_c128){2 * p.re, 2 * p.im});
          }
          assert_true(j >= n || weir_abs_c128(weir_sub_c128(z, sum)) < 1e-14 * (double)(k + 1));
          assert_true(j < n || (i == 0 && j == 0) || (z.re == before.re && z.im == before.im));
        }
      }
    }
  }
}

/* Largest |a x - b| of [n, k]. */
static double residual(int64_t n, int64_t k, const weir_c128 *m, const weir_c128 *x,
                       const weir_c128 *right)
{
  double worst = 0;

  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < k; j++) {
      weir_c128 sum = right[i * k + j];

      for (int64_t l = 0; l < n; l++) {
        sum = weir_sub_c128(sum, weir_mul_c128(m[i * n + l], x[l * k + j]));
      }
      worst = fmax(worst, weir_abs_c128(sum));
    }
  }
  return worst;
}

static void systems_of_every_size(void **state)
{
  const int64_t sizes[][2] = {{1, 1}, {2, 5}, {7, 3}, {31, 40}, {192, 2}, {193, 11}, {200, 200}};

  weir_linear_start();
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int64_t n = sizes[s][0], k = sizes[s][1];

    assert_true(weir_linear_solve_work(n, k) <= (int64_t)sizeof work);
    fill(a, 1);
    fill(b, 2);
    memcpy(c, a, sizeof a);
    memcpy(kept, b, sizeof b);
    assert_true(weir_linear_solve(n, k, a, b, work));
    assert_true(residual(n, k, c, b, kept) < 1e-12 * (double)n);
  }
  for (int64_t n = 3; n < MAX; n += 190) {
    fill(a, 1);
    memset(a + n, 0, (size_t)n * sizeof *a); /* row 1 */
    assert_false(weir_linear_solve(n, 2, a, b, work));
    fill(a, 1);
    a[n - 1].im = NAN;
    fill(b, 2);
    assert_false(weir_linear_solve(n, 2, a, b, work));
  }
}

/* The bits of a solution for the identity. */
static void inverses_of_every_size(void **state)
{
  const int64_t sizes[] = {1, 2, 7, 8, 33, 64, 128, 192, 193, 200};

  (void)state;
  weir_linear_start();
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int64_t n = sizes[s];

    fill(a, (uint32_t)(3 + s));
    memcpy(c, a, sizeof a);
    for (int64_t i = 0; i < n * n; i++) {
      kept[i] = (weir_c128){i % (n + 1) == 0 ? 1 : 0, 0};
    }
    memset(b, 0xff, sizeof b);
    assert_true(weir_linear_invert(n, a, b, work));
    assert_true(residual(n, n, c, b, kept) < 1e-11 * (double)n);
    assert_true(weir_linear_solve(n, n, c, kept, work));
    assert_memory_equal(b, kept, (size_t)(n * n) * sizeof *b);
  }
  assert_true(weir_linear_invert(0, a, b, work));
  for (int64_t n = 3; n < MAX; n += 190) {
    fill(a, 1);
    memset(a + n, 0, (size_t)n * sizeof *a); /* row 1 */
    assert_false(weir_linear_invert(n, a, b, work));
    fill(a, 1);
    a[n - 1].im = NAN;
    assert_false(weir_linear_invert(n, a, b, work));
  }
}

/* Largest |beta a x - alpha b x|, vectors of length 1. */
static double pair_residual(int64_t n, const weir_c128 *alpha, const weir_c128 *beta,
                            const weir_c128 *vector)
{
  double worst = 0;

  for (int64_t k = 0; k < n; k++) {
    const double scale = hypot(weir_abs_c128(alpha[k]), weir_abs_c128(beta[k]));
    double length = 0;

    for (int64_t i = 0; i < n; i++) {
      length = hypot(length, weir_abs_c128(vector[k * n + i]));
    }
    for (int64_t i = 0; i < n; i++) {
      weir_c128 left = {0, 0};

      for (int64_t j = 0; j < n; j++) {
        const weir_c128 x = vector[k * n + j];

        left = weir_add_c128(left, weir_mul_c128(beta[k], weir_mul_c128(a[i * n + j], x)));
        left = weir_sub_c128(left, weir_mul_c128(alpha[k], weir_mul_c128(b[i * n + j], x)));
      }
      worst = fmax(worst, weir_abs_c128(left) / (scale * length));
    }
  }
  return worst;
}

static void pairs_have_small_residuals(void **state)
{
  static weir_c128 alpha[40], beta[40], vector[40 * 40];

  for (int64_t n = 1; n <= 40; n += 3) {
    for (int64_t rank = n; rank >= n / 2; rank -= n / 2 + 1) {
      int64_t infinite = 0;

      assert_true(weir_linear_pair_work(n) <= (int64_t)sizeof work);
      fill(a, 1);
      fill(b, 2);
      memset(b + rank * n, 0, (size_t)((n - rank) * n) * sizeof *b);
      memcpy(c, a, sizeof a);
      memcpy(kept, b, sizeof b);
      assert_true(weir_linear_pair(n, c, kept, alpha, beta, vector, work));
      assert_true(pair_residual(n, alpha, beta, vector) < 1e-12 * (double)n);
      for (int64_t k = 0; k < n; k++) {
        infinite += weir_abs_c128(beta[k]) < 1e-12 * weir_abs_c128(alpha[k]);
      }
      assert_int_equal(infinite, n - rank);
    }
  }
  fill(a, 1);
  a[3].re = INFINITY;
  assert_false(weir_linear_pair(4, a, b, alpha, beta, vector, work));
}

/* a = P D P, P = 1 - 2 v v^H / v^H v, whose eigenvalues are those of D. */
static void hermitian_eigenvalues_are_those_it_is_made_of(void **state)
{
  static double value[40], known[40];
  static weir_c128 v[40];

  for (int64_t n = 1; n <= 40; n += 3) {
    double square = 0;

    for (int64_t i = 0; i < n; i++) {
      v[i] = draw(7, i + 100 * n);
      square += v[i].re * v[i].re + v[i].im * v[i].im;
      known[i] = (double)(i / 2) - 0.3 * (double)n; /* each twice */
    }
    for (int64_t i = 0; i < n * n; i++) {
      weir_c128 sum = {0, 0};

      for (int64_t k = 0; k < n; k++) {
        const weir_c128 left = weir_mul_c128(v[i / n], weir_conj_c128(v[k]));
        const weir_c128 right = weir_mul_c128(v[k], weir_conj_c128(v[i % n]));
        const weir_c128 x = {(i / n == k) - 2 / square * left.re, -2 / square * left.im};
        const weir_c128 y = {(i % n == k) - 2 / square * right.re, -2 / square * right.im};
        const weir_c128 xy = weir_mul_c128(x, y);

        sum = weir_add_c128(sum, (weir_c128){known[k] * xy.re, known[k] * xy.im});
      }
      a[i] = sum;
    }
    assert_true(weir_linear_hermitian_work(n) <= (int64_t)sizeof work);
    assert_true(weir_linear_hermitian(n, a, value, work));
    for (int64_t i = 0; i < n; i++) {
      assert_true(fabs(value[i] - known[i]) < 1e-13 * (double)(n + 1));
    }
  }
  a[0] = (weir_c128){NAN, 0};
  assert_false(weir_linear_hermitian(2, a, value, work));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_of_every_form),
      cmocka_unit_test(systems_of_every_size),
      cmocka_unit_test(inverses_of_every_size),
      cmocka_unit_test(pairs_have_small_residuals),
      cmocka_unit_test(hermitian_eigenvalues_are_those_it_is_made_of),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
