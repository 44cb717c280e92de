/* exchange_select_test.c - selection by magnitude against a sort of all elements: all dtypes,
 * lengths around those of blocks, ties, zeros, NaN. */
#include "optim/exchange_select.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { MOST = 200 };

static const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64, WEIR_I64};

typedef struct array {
  weir_dtype dtype;
  int64_t n;
  double value[MOST]; /* as numbers */
  union {
    float f32[MOST];
    double f64[MOST];
    int64_t i64[MOST];
  } data;
} array;

/* Numbers of which many are equal but for their sign, some 0, and of floats a few NaN. */
static array draw(weir_dtype dtype, int64_t n, uint64_t seed)
{
  array a = {.dtype = dtype, .n = n};

  for (int64_t i = 0; i < n; i++) {
    const double u = weir_random_uniform(seed, 0, 0, (uint64_t)i);
    const double sign = weir_random_uniform(seed, 1, 0, (uint64_t)i) < 0.5 ? -1 : 1;
    const bool nan = dtype != WEIR_I64 && u > 0.98;

    a.value[i] = nan ? (double)NAN : sign * floor(30 * u * u);
    if (dtype == WEIR_F32) {
      a.data.f32[i] = (float)a.value[i];
    } else if (dtype == WEIR_F64) {
      a.data.f64[i] = a.value[i];
    } else {
      a.data.i64[i] = (int64_t)a.value[i];
    }
  }
  return a;
}

static size_t size_of(const array *a)
{
  return a->dtype == WEIR_F32 ? sizeof(float) : sizeof(double);
}

/* A NaN is larger than all numbers. */
static double magnitude(const array *a, int64_t i)
{
  return isnan(a->value[i]) ? INFINITY : fabs(a->value[i]);
}

/* Elements that are larger, and as large. */
static void count(const array *a, double than, int64_t *above, int64_t *equal)
{
  *above = *equal = 0;
  for (int64_t i = 0; i < a->n; i++) {
    *above += magnitude(a, i) > than;
    *equal += magnitude(a, i) == than;
  }
}

/* The list has the larger elements and the first `ties` as large ones, in order. */
static void check_list(const array *a, const exchange_list *list, double than, int64_t ties)
{
  int64_t k = 0;

  for (int64_t i = 0; i < a->n; i++) {
    if (magnitude(a, i) > than || (magnitude(a, i) == than && ties-- > 0)) {
      assert_true(k < list->count);
      assert_int_equal(list->index[k], i + 7);
      assert_memory_equal((const char *)list->value + (size_t)k * size_of(a),
                          (const char *)&a->data + (size_t)i * size_of(a), size_of(a));
      k++;
    }
  }
  assert_int_equal(k, list->count);
}

static void check(const array *a, double than)
{
  const uint64_t key = exchange_key(a->dtype, than);
  double value[MOST];
  uint32_t index[MOST];
  exchange_list list = {value, index, 0};
  int64_t above, equal, counted[2];

  count(a, than, &above, &equal);
  exchange_count(a->dtype, &a->data, a->n, key, &counted[0], &counted[1]);
  assert_int_equal(counted[0], above);
  assert_int_equal(counted[1], equal);
  for (int64_t ties = 0; ties <= equal; ties++) {
    exchange_select(a->dtype, &a->data, a->n, 7, key, ties, &list);
    check_list(a, &list, than, ties);
  }
  for (int64_t room = 0; room <= a->n; room++) {
    const bool fits = exchange_select_from(a->dtype, &a->data, a->n, key, room, &list);

    assert_int_equal(fits, above + equal <= room);
    for (int64_t i = 0; i < list.count && fits; i++) {
      list.index[i] += 7;
    }
    if (fits) {
      check_list(a, &list, than, equal);
    }
  }
}

static void selections_are_those_of_a_loop(void **state)
{
  (void)state;
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    for (int64_t n = 0; n < MOST; n = n < 50 ? n + 1 : n + 37) {
      const array a = draw(dtypes[d], n, 3 * (uint64_t)n + d);

      for (int than = 0; than <= 30; than += 3) {
        check(&a, than);
      }
    }
  }
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return x < y ? 1 : x > y ? -1 : 0;
}

static void the_kth_is_that_of_a_sort(void **state)
{
  (void)state;
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    for (int64_t n = 1; n < MOST; n += 11) {
      const array a = draw(dtypes[d], n, 5 * (uint64_t)n + d);
      double sorted[MOST];
      int64_t bins[EXCHANGE_BINS];
      uint64_t key = 0;

      for (int64_t i = 0; i < n; i++) {
        sorted[i] = magnitude(&a, i);
      }
      qsort(sorted, (size_t)n, sizeof sorted[0], compare);
      for (int64_t k = 1; k <= n; k++) {
        assert_ok(exchange_kth(a.dtype, &a.data, n, k, bins, NULL, &key));
        const double is = exchange_magnitude(a.dtype, key);

        assert_true(is == sorted[k - 1] || (isnan(is) && isinf(sorted[k - 1])));
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(selections_are_those_of_a_loop),
      cmocka_unit_test(the_kth_is_that_of_a_sort),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
