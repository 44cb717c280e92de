/* leading_test.c - eigenvalues that are known, vectors that are orthogonal, matrices that lack
 * rank.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "ops/eigen/weir_eigen.h"

enum { MAX = 64 };

static void check(const double *g, int64_t n, int64_t k, const double *value, const double *v)
{
  for (int64_t a = 0; a < k; a++) {
    for (int64_t i = 0; i < n; i++) {
      double sum = 0;

      for (int64_t j = 0; j < n; j++) {
        sum += g[i * n + j] * v[a * n + j];
      }
      assert_true(fabs(sum - value[a] * v[a * n + i]) <= 1e-9 * fmax(1, value[0]));
    }
    for (int64_t b = 0; b <= a; b++) {
      double sum = 0;

      for (int64_t i = 0; i < n; i++) {
        sum += v[a * n + i] * v[b * n + i];
      }
      assert_near(sum, a == b ? 1 : 0, 1e-9);
    }
    assert_true(a == 0 || value[a] <= value[a - 1]);
  }
}

/* Second differences between walls: 2 - 2 cos(pi j / (n + 1)). */
static void differences_have_their_values(void **state)
{
  static double g[MAX * MAX], v[MAX * MAX];
  double value[MAX];
  const int64_t n = 40, k = 6;

  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      g[i * n + j] = i == j ? 2 : llabs(i - j) == 1 ? -1 : 0;
    }
  }
  assert_ok(weir_eigen_leading(g, n, k, value, v));
  check(g, n, k, value, v);
  for (int64_t a = 0; a < k; a++) {
    assert_near(value[a], 2 - 2 * cos(acos(-1.0) * (double)(n - a) / (double)(n + 1)), 1e-9);
  }
}

/* Sums of r outer products: what is beyond the rank is 0. */
static void lack_of_rank_is_no_harm(void **state)
{
  static double g[MAX * MAX], v[MAX * MAX];
  double value[MAX];

  for (int64_t n = 1; n <= 30; n += 7) {
    for (int64_t r = 0; r < 4; r++) {
      const int64_t k = n < 5 ? n : 5;

      memset(g, 0, sizeof g);
      for (int64_t a = 0; a < r; a++) {
        for (int64_t i = 0; i < n * n; i++) {
          g[i] += weir_random_normal(5, 0, (uint32_t)a, (uint64_t)(i / n)) *
                  weir_random_normal(5, 0, (uint32_t)a, (uint64_t)(i % n));
        }
      }
      assert_ok(weir_eigen_leading(g, n, k, value, v));
      check(g, n, k, value, v);
      for (int64_t a = r; a < k; a++) {
        assert_near(value[a], 0, 1e-9);
      }
    }
  }
}

/* Every value the same. */
static void equal_values_have_some_vectors(void **state)
{
  static double g[MAX * MAX], v[MAX * MAX];
  double value[MAX];
  const int64_t n = 24;

  memset(g, 0, sizeof g);
  for (int64_t i = 0; i < n; i++) {
    g[i * n + i] = 3;
  }
  assert_ok(weir_eigen_leading(g, n, 4, value, v));
  check(g, n, 4, value, v);
}

/* Covariances of any rank, of any size, and the same bits for any number of threads. */
static void all_may_be_asked_for(void **state)
{
  static double g[MAX * MAX], v[MAX * MAX], again[MAX * MAX];
  double value[MAX], values[MAX];
  const int threads = weir_threads_get();

  for (int64_t n = 1; n <= MAX; n += 1 + n / 3) {
    memset(g, 0, sizeof g);
    for (int64_t a = 0; a < n / 2 + 1; a++) {
      for (int64_t i = 0; i < n * n; i++) {
        g[i] += weir_random_normal(6, (uint32_t)n, (uint32_t)a, (uint64_t)(i / n)) *
                weir_random_normal(6, (uint32_t)n, (uint32_t)a, (uint64_t)(i % n));
      }
    }
    assert_ok(weir_eigen_leading(g, n, n, value, v));
    check(g, n, n, value, v);
    weir_threads_set(threads == 1 ? 2 : 1);
    assert_ok(weir_eigen_leading(g, n, n, values, again));
    weir_threads_set(threads);
    assert_memory_equal(value, values, (size_t)n * sizeof *value);
    assert_memory_equal(v, again, (size_t)(n * n) * sizeof *v);
  }
}

static void what_is_not_finite_is_refused(void **state)
{
  const double g[] = {1, NAN, NAN, 1};
  double value[2], v[4];

  assert_int_equal(weir_eigen_leading(g, 2, 2, value, v), WEIR_ERR_NUMERIC);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(differences_have_their_values),  cmocka_unit_test(lack_of_rank_is_no_harm),
      cmocka_unit_test(equal_values_have_some_vectors), cmocka_unit_test(all_may_be_asked_for),
      cmocka_unit_test(what_is_not_finite_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
