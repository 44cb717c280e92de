/* dense_test.c - the references of linear algebra on matrices whose answers are known. */
#include "ops/weir_dense.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "graph/weir_complex_scalar.h"

#define PI 3.14159265358979323846
enum { MAX = 20 };

static weir_c128 random_number(uint32_t which, uint64_t i)
{
  return (weir_c128){weir_random_uniform(5, which, 0, i) - 0.5,
                     weir_random_uniform(5, which, 1, i) - 0.5};
}

static void assert_small(double size, double limit, const char *what)
{
  if (!(size <= limit)) {
    print_error("%s: %g, at most %g\n", what, size, limit);
    assert_true(0);
  }
}

/* n numbers are those expected, in whatever order. */
static void assert_same_set(const weir_c128 *got, const weir_c128 *expected, int64_t n,
                            double tolerance)
{
  bool taken[MAX] = {false};

  for (int64_t i = 0; i < n; i++) {
    int64_t best = -1;
    double min = INFINITY;

    for (int64_t j = 0; j < n; j++) {
      const double apart = weir_abs_c128(weir_sub_c128(got[i], expected[j]));

      if (!taken[j] && apart < min) {
        min = apart;
        best = j;
      }
    }
    assert_true(best >= 0);
    taken[best] = true;
    assert_small(min, tolerance, "an eigenvalue is off by");
  }
}

static void factors_solve_random_systems(void **state)
{
  for (int64_t n = 1; n <= MAX; n += 3) {
    weir_c128 a[MAX * MAX], lu[MAX * MAX], x[MAX], b[MAX];
    int64_t row[MAX];

    for (int64_t i = 0; i < n * n; i++) {
      lu[i] = a[i] = random_number(1, (uint64_t)(100 * n + i));
    }
    for (int64_t i = 0; i < n; i++) {
      x[i] = b[i] = random_number(2, (uint64_t)i);
    }
    assert_true(weir_dense_factor(lu, n, row));
    weir_dense_substitute(lu, n, row, x, 1);
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < n; j++) {
        b[i] = weir_sub_c128(b[i], weir_mul_c128(a[i * n + j], x[j]));
      }
      assert_small(weir_abs_c128(b[i]), 1e-14 * (double)n * (1 + weir_dense_norm(x, n, 1)), "left");
    }
  }
}

static void a_zero_pivot_is_exchanged_or_reported(void **state)
{
  weir_c128 turned[] = {{0, 0}, {1, 0}, {1, 0}, {0, 0}}, flat[] = {{1, 0}, {2, 0}, {2, 0}, {4, 0}};
  int64_t row[2];

  assert_true(weir_dense_factor(turned, 2, row));
  assert_int_equal(row[0], 1);
  assert_false(weir_dense_factor(flat, 2, row));
}

/* A chain of n atoms: 2 cos(k pi / (n + 1)), with phases that leave the values as they are. */
static void make_chain(weir_c128 *a, int64_t n, double phase)
{
  memset(a, 0, (size_t)(n * n) * sizeof *a);
  for (int64_t i = 0; i + 1 < n; i++) {
    a[i * n + i + 1] = (weir_c128){cos(phase), sin(phase)};
    a[(i + 1) * n + i] = (weir_c128){cos(phase), -sin(phase)};
  }
}

static void chains_have_their_bands(void **state)
{
  for (int64_t n = 1; n <= MAX; n++) {
    weir_c128 a[MAX * MAX], v[MAX * MAX], work[MAX * MAX], found[MAX], expected[MAX];
    double value[MAX];

    make_chain(a, n, 0.3 * (double)n);
    weir_dense_hermitian(a, n, value, v);
    for (int64_t k = 0; k < n; k++) {
      const double band = 2 * cos((double)(n - k) * PI / (double)(n + 1));

      expected[k] = (weir_c128){band, 0};
      assert_small(fabs(value[k] - band), 2e-15 * (double)n, "a value is off by");
    }
    make_chain(a, n, 0.3 * (double)n);
    assert_true(weir_dense_general(a, n, found, v, work));
    assert_same_set(found, expected, n, 4e-15 * (double)n);
  }
}

/* x^n = 1: steps without another shift only permute such a matrix. */
static void cyclic_shifts_have_roots_of_one(void **state)
{
  for (int64_t n = 1; n <= MAX; n++) {
    weir_c128 a[MAX * MAX], v[MAX * MAX], work[MAX * MAX], found[MAX], expected[MAX];

    memset(a, 0, sizeof a);
    for (int64_t i = 0; i < n; i++) {
      a[i * n + (i + 1) % n] = (weir_c128){1, 0};
      expected[i] =
          (weir_c128){cos(2 * PI * (double)i / (double)n), sin(2 * PI * (double)i / (double)n)};
    }
    assert_true(weir_dense_general(a, n, found, v, work));
    assert_same_set(found, expected, n, 1e-14 * (double)n);
  }
}

/* Its one eigenvalue is known to the n-th root of the rounding error only; zeros are exact. */
static void defective_and_zero_matrices_end(void **state)
{
  weir_c128 a[25], v[25], work[25], found[5];

  memset(a, 0, sizeof a);
  assert_true(weir_dense_general(a, 5, found, v, work));
  for (int i = 0; i < 5; i++) {
    assert_true(found[i].re == 0 && found[i].im == 0);
  }
  for (int i = 0; i < 5; i++) {
    a[i * 5 + i] = (weir_c128){3, 0};
    if (i < 4) {
      a[i * 5 + i + 1] = (weir_c128){1, 0};
    }
  }
  assert_true(weir_dense_general(a, 5, found, v, work));
  for (int i = 0; i < 5; i++) {
    assert_small(hypot(found[i].re - 3, found[i].im), 2e-3, "the value is off by");
    assert_small(fabs(weir_abs_c128(v[i]) - 1), 2e-3, "the one vector is off by");
  }
}

/* left d right with random matrices left, right: eigenvalues are d of a over d of b. */
static void pairs_have_their_values(void **state)
{
  for (int64_t n = 1; n <= MAX; n++) {
    weir_c128 a[MAX * MAX], b[MAX * MAX], v[MAX * MAX], alpha[MAX], beta[MAX];
    weir_c128 found[MAX], expected[MAX], work[2 * MAX * MAX + MAX];
    int64_t finite = 0;

    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    for (int64_t l = 0; l < n; l++) {
      const double angle = 0.1 + 2 * PI * (double)l / (double)n;
      const weir_c128 value = {cos(angle), sin(angle)};
      const bool infinite = n > 3 && l == 2;

      expected[l] = infinite ? (weir_c128){0, 0} : value;
      for (int64_t i = 0; i < n * n; i++) {
        const weir_c128 p = weir_mul_c128(random_number(3, (uint64_t)(i / n * n + l)),
                                          random_number(4, (uint64_t)(i % n * n + l)));

        a[i] = weir_add_c128(a[i], weir_mul_c128(value, p));
        b[i] = infinite ? b[i] : weir_add_c128(b[i], p);
      }
    }
    assert_true(weir_dense_pair_work(n) <= (int64_t)sizeof work);
    assert_true(weir_dense_pair(a, b, n, alpha, beta, v, work));
    for (int64_t k = 0; k < n; k++) {
      const bool infinite = weir_abs_c128(beta[k]) < 1e-10 * weir_abs_c128(alpha[k]);

      found[k] = infinite ? (weir_c128){0, 0} : weir_div_c128(alpha[k], beta[k]);
      finite += !infinite;
    }
    assert_int_equal(finite, n - (n > 3));
    assert_same_set(found, expected, n, 1e-9);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_solve_random_systems),
      cmocka_unit_test(a_zero_pivot_is_exchanged_or_reported),
      cmocka_unit_test(chains_have_their_bands),
      cmocka_unit_test(cyclic_shifts_have_roots_of_one),
      cmocka_unit_test(defective_and_zero_matrices_end),
      cmocka_unit_test(pairs_have_their_values),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
