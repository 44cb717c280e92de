/* sort_test.c - one list next to qsort; cases side by side next to one list, with every instruction
 * set; fields with missing values. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "base/weir_sort.h"
#include "device/weir_parallel.h"
#include "eval/sort/sort_priv.h"

enum { MOST = 200, SETS = 2 };
typedef void sort_lanes(double *x, int64_t n);

/* Of every length up to 300, and around 512: random values, with ties, and both orders. */
static void sorted_values_are_those_of_qsort(void **state)
{
  double x[513], expected[513];

  for (int64_t n = 0; n <= 513; n += n < 300 || (n > 508 && n < 513) ? 1 : 209) {
    for (uint64_t kind = 0; kind < 4; kind++) {
      for (int64_t i = 0; i < n; i++) {
        const double v = weir_random_normal((uint64_t)n, (uint32_t)kind, 7, (uint64_t)i);

        x[i] = kind == 0 ? v : kind == 1 ? floor(2 * v) : kind == 2 ? (double)i : (double)-i;
        expected[i] = x[i];
      }
      wx_sort(x, n);
      qsort(expected, (size_t)n, sizeof *expected, weir_compare_f64);
      for (int64_t i = 0; i < n; i++) {
        assert_true(x[i] == expected[i]);
      }
    }
  }
}

/* Those that this processor runs; returns how many. */
static int all_sets(sort_lanes **sets)
{
  int n = 0;

  sets[n++] = sort_lanes_plain;
#if defined(__x86_64__)
  if (weir_cpu_get()->avx2) {
    sets[n++] = sort_lanes_avx2;
  }
#endif
  return n;
}

/* Number k of a case: random, with ties, few values and zeros of either sign, ascending,
 * descending, alike, infinite ones, tiny ones. */
static double number(int64_t m, int64_t lane, int64_t k)
{
  const double v = weir_random_normal((uint64_t)m, (uint32_t)lane, 8, (uint64_t)k);

  switch (lane % 8) {
  case 0:
    return v;
  case 1:
    return floor(4 * v);
  case 2:
    return copysign(fmax(floor(fabs(v)), 0), v); /* mostly zeros */
  case 3:
    return (double)k;
  case 4:
    return (double)-k;
  case 5:
    return 280;
  case 6:
    return v > 1 ? (double)INFINITY : v < -1 ? (double)-INFINITY : v;
  default:
    return v * 1e-310;
  }
}

static int64_t negative_zeros(const double *x, int64_t n)
{
  int64_t found = 0;

  for (int64_t i = 0; i < n; i++) {
    found += x[i] == 0 && signbit(x[i]);
  }
  return found;
}

/* The bits of both are the same, but for the order of zeros of either sign. */
static void assert_same_numbers(const double *x, const double *expected, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (expected[i] == 0) {
      assert_true(x[i] == 0);
    } else {
      assert_memory_equal(&x[i], &expected[i], sizeof *x);
    }
  }
  assert_int_equal(negative_zeros(x, n), negative_zeros(expected, n));
}

/* Of every length up to 200 and some of thousands. */
static void cases_side_by_side_are_those_of_one_list(void **state)
{
  static const int64_t more[] = {256, 257, 1000, 1024, 4097};
  double *const x = malloc(4097 * WX_LANES * sizeof *x), *const one = malloc(4097 * sizeof *one);
  double *const got = malloc(4097 * sizeof *got);
  sort_lanes *sets[SETS];
  const int n_sets = all_sets(sets);

  assert_true(x != NULL && one != NULL && got != NULL);
  for (int64_t at = 0; at <= MOST + 5; at++) {
    const int64_t m = at <= MOST ? at : more[at - MOST - 1];

    for (int set = 0; set < n_sets; set++) {
      for (int64_t i = 0; i < m * WX_LANES; i++) {
        x[i] = number(m, i % WX_LANES, i / WX_LANES);
      }
      sets[set](x, m);
      for (int64_t l = 0; l < WX_LANES; l++) {
        for (int64_t k = 0; k < m; k++) {
          one[k] = number(m, l, k);
        }
        wx_sort(one, m);
        wx_lane_copy(x, m, l, got);
        assert_same_numbers(got, one, m);
      }
    }
  }
  free(x);
  free(one);
  free(got);
}

static void a_nan_stays_in_its_case(void **state)
{
  sort_lanes *sets[SETS];
  const int n_sets = all_sets(sets);

  for (int set = 0; set < n_sets; set++) {
    static double x[50 * WX_LANES];
    double one[50], got[50];

    for (int64_t i = 0; i < 50 * WX_LANES; i++) {
      x[i] = i % WX_LANES == 3 && i / WX_LANES % 7 == 2 ? (double)NAN
                                                        : number(50, i % WX_LANES, i / WX_LANES);
    }
    sets[set](x, 50);
    for (int64_t l = 0; l < WX_LANES; l++) {
      int64_t none = 0;

      for (int64_t k = 0; k < 50; k++) {
        one[k] = number(50, l, k);
        none += isnan(x[k * WX_LANES + l]) != 0;
      }
      assert_int_equal(none, l == 3 ? 7 : 0);
      if (l != 3) {
        wx_sort(one, 50);
        wx_lane_copy(x, 50, l, got);
        assert_same_numbers(got, one, 50);
      }
    }
  }
}

/* Blocks that are full and not, of fields with NaN and infinite values: what counts is sorted. */
static void missing_values_of_fields_do_not_count(void **state)
{
  enum { M = 37, STRIDE = 21 };
  static float field[M * STRIDE];

  for (int64_t i = 0; i < M * STRIDE; i++) {
    const double u = weir_random_uniform(5, 1, 0, (uint64_t)i);

    field[i] = u < 0.2 || i % STRIDE == 2 ? NAN
               : u < 0.3                  ? INFINITY
               : u < 0.4                  ? -INFINITY
                                          : (float)u;
  }
  for (int64_t n = 1; n <= WX_LANES; n++) {
    for (int bounded = 0; bounded < 2; bounded++) {
      double x[M * WX_LANES] = {0}, got[M], one[M];
      int64_t count[WX_LANES];

      wx_sort_fields(field + 1, M, STRIDE, n, bounded ? FLT_MAX : INFINITY, x, count);
      for (int64_t l = 0; l < n; l++) {
        int64_t m = 0;

        for (int64_t k = 0; k < M; k++) {
          const float v = field[k * STRIDE + 1 + l];

          if (bounded ? isfinite(v) : !isnan(v)) {
            one[m++] = (double)v;
          }
        }
        wx_sort(one, m);
        assert_int_equal(count[l], m);
        wx_lane_copy(x, m, l, got);
        assert_same_numbers(got, one, m);
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorted_values_are_those_of_qsort),
      cmocka_unit_test(cases_side_by_side_are_those_of_one_list),
      cmocka_unit_test(a_nan_stays_in_its_case),
      cmocka_unit_test(missing_values_of_fields_do_not_count),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
