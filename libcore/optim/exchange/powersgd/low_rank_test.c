/* low_rank_test.c - products against plain sums; columns that become orthonormal. */
#include "optim/exchange/powersgd/low_rank.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"

enum { N = 21, M = 13, R = 4 };
static const low_rank_random source = {7, 1, 2};

static double worst_product(const double *p, int64_t n, int64_t r)
{
  double worst = 0;

  for (int64_t a = 0; a < r; a++) {
    for (int64_t b = 0; b < r; b++) {
      double sum = a == b ? -1 : 0;

      for (int64_t i = 0; i < n; i++) {
        sum += p[a * n + i] * p[b * n + i];
      }
      worst = fmax(worst, fabs(sum));
    }
  }
  return worst;
}

static void products_are_sums(void **state)
{
  double m[N * M], p[R * N], q[R * M], left[R * N], right[R * M], out[N * M], row[M];
  const low_rank_matrix a = {WEIR_F64, m, N, M}, b = {WEIR_F64, out, N, M};

  (void)state;
  for (int i = 0; i < N * M; i++) {
    out[i] = m[i] = weir_random_normal(1, 0, 0, (uint64_t)i);
  }
  for (int i = 0; i < R * N; i++) {
    p[i] = weir_random_normal(2, 0, 0, (uint64_t)i);
  }
  for (int i = 0; i < R * M; i++) {
    q[i] = weir_random_normal(3, 0, 0, (uint64_t)i);
  }
  low_rank_right(&a, R, q, left, row);
  low_rank_left(&a, R, p, right, row);
  low_rank_expand(&b, R, p, q, true, row);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < M; j++) {
      for (int k = 0; k < R; k++) {
        left[k * N + i] -= m[i * M + j] * q[k * M + j];
        right[k * M + j] -= m[i * M + j] * p[k * N + i];
        out[i * M + j] += p[k * N + i] * q[k * M + j];
      }
      assert_true(fabs(out[i * M + j] - m[i * M + j]) < 1e-13);
    }
  }
  for (int i = 0; i < R * N; i++) {
    assert_true(fabs(left[i]) < 1e-13);
  }
  for (int i = 0; i < R * M; i++) {
    assert_true(fabs(right[i]) < 1e-13);
  }
}

static void columns_become_orthonormal(void **state)
{
  double p[R * N];

  (void)state;
  for (int twice = 0; twice < 2; twice++) {
    for (int i = 0; i < R * N; i++) {
      p[i] = weir_random_normal(4, 0, 0, (uint64_t)i);
    }
    low_rank_orthonormal(p, N, R, twice != 0, 1e-14, &source);
    assert_true(worst_product(p, N, R) < 1e-14);
  }
}

/* Columns that differ by 1e-9: one pass leaves 1e-7 of the first in the second. */
static void a_second_pass_helps_where_columns_are_nearly_parallel(void **state)
{
  double p[2][R * N];

  (void)state;
  for (int twice = 0; twice < 2; twice++) {
    for (int i = 0; i < R * N; i++) {
      p[twice][i] = weir_random_normal(5, 0, 0, (uint64_t)(i % N)) +
                    1e-9 * weir_random_normal(5, 1, 0, (uint64_t)i);
    }
    low_rank_orthonormal(p[twice], N, R, twice != 0, 1e-14, &source);
  }
  assert_true(worst_product(p[0], N, R) > 1e-9);
  assert_true(worst_product(p[1], N, R) < 1e-14);
}

/* Zero columns and copies: others take their place, the first keeps its direction. */
static void dependent_columns_are_replaced(void **state)
{
  double p[R * N], first[N], norm = 0;

  (void)state;
  memset(p, 0, sizeof p);
  for (int i = 0; i < N; i++) {
    first[i] = p[i] = p[2 * N + i] = weir_random_normal(6, 0, 0, (uint64_t)i);
    norm += first[i] * first[i];
  }
  low_rank_orthonormal(p, N, R, true, 1e-14, &source);
  assert_true(worst_product(p, N, R) < 1e-14);
  for (int i = 0; i < N; i++) {
    assert_true(fabs(p[i] - first[i] / sqrt(norm)) < 1e-14);
  }
  memset(p, 0, sizeof p); /* as many columns as rows */
  low_rank_orthonormal(p, R, R, true, 1e-14, &source);
  assert_true(worst_product(p, R, R) < 1e-13);
}

static void nan_stays(void **state)
{
  double p[R * N];

  (void)state;
  for (int i = 0; i < R * N; i++) {
    p[i] = i == 3 ? (double)NAN : i == N ? (double)INFINITY : 1.0 + i;
  }
  low_rank_orthonormal(p, N, R, true, 1e-14, &source);
  for (int i = 0; i < R * N; i++) {
    assert_true(isnan(p[i]));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_sums),
      cmocka_unit_test(columns_become_orthonormal),
      cmocka_unit_test(a_second_pass_helps_where_columns_are_nearly_parallel),
      cmocka_unit_test(dependent_columns_are_replaced),
      cmocka_unit_test(nan_stays),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
