/* shuffle_test.c - every sample once, all orders, epochs and seeds that differ. */
#include "load/weir_shuffle.h"

#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"

static void every_sample_comes_once(void **state)
{
  static const int64_t counts[] = {1, 2, 3, 4, 5, 13, 14, 15, 16, 17, 62, 64, 255, 1000, 20011};
  uint8_t *seen = calloc(20011, 1);

  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    const weir_shuffle s = weir_shuffle_of(counts[i], 7 + i, (int64_t)i);

    memset(seen, 0, (size_t)counts[i]);
    for (int64_t p = 0; p < counts[i]; p++) {
      const int64_t at = weir_shuffle_at(&s, p);

      assert_true(at >= 0 && at < counts[i]);
      assert_int_equal(seen[at]++, 0);
    }
  }
  free(seen);
}

/* Position by position, in any order and of any n: there is no table. */
static void far_positions_are_in_range(void **state)
{
  const int64_t n = (INT64_C(1) << 59) + 12345;
  const weir_shuffle s = weir_shuffle_of(n, 3, 0);
  int64_t low = 0;

  for (int64_t p = n - 1000; p < n; p++) {
    const int64_t at = weir_shuffle_at(&s, p);

    assert_true(at >= 0 && at < n);
    low += at < n / 2;
  }
  assert_true(low > 400 && low < 600);
}

/* The 120 orders of five samples over 24000 epochs: chi-square of 119 degrees of freedom. */
static void all_orders_are_as_likely(void **state)
{
  enum { EPOCHS = 24000, ORDERS = 120, MEAN = EPOCHS / ORDERS, CODES = 5 * 5 * 5 * 5 };
  int64_t count[CODES] = {0};
  double chi2 = 0;
  int orders = 0;

  for (int64_t e = 0; e < EPOCHS; e++) {
    const weir_shuffle s = weir_shuffle_of(5, 11, e);
    int64_t code = 0;

    for (int64_t p = 0; p < 4; p++) {
      code = 5 * code + weir_shuffle_at(&s, p);
    }
    count[code]++;
  }
  for (int i = 0; i < CODES; i++) {
    orders += count[i] > 0;
    chi2 += count[i] > 0 ? (double)((count[i] - MEAN) * (count[i] - MEAN)) / MEAN : 0;
  }
  assert_int_equal(orders, ORDERS);
  assert_true(chi2 < 174); /* exceeded by one in a thousand */
}

/* Where sample k of 50 goes, over epochs: 49 degrees of freedom for each; and neighbours part. */
static void positions_are_as_likely(void **state)
{
  enum { N = 50, EPOCHS = 5000 };
  static int64_t count[N][N];
  int64_t neighbours = 0;

  memset(count, 0, sizeof count);
  for (int64_t e = 0; e < EPOCHS; e++) {
    const weir_shuffle s = weir_shuffle_of(N, 5, e);
    int64_t before = -5;

    for (int64_t p = 0; p < N; p++) {
      const int64_t at = weir_shuffle_at(&s, p);

      count[p][at]++;
      neighbours += at == before + 1;
      before = at;
    }
  }
  for (int p = 0; p < N; p++) {
    double chi2 = 0;

    for (int k = 0; k < N; k++) {
      chi2 += (double)((count[p][k] - 100) * (count[p][k] - 100)) / 100;
    }
    assert_true(chi2 < 98.2); /* exceeded by 4 in 100,000 */
  }
  assert_true(abs((int)neighbours - EPOCHS * (N - 1) / N) < 5 * 70); /* mean 0.98 an epoch */
}

static void seeds_and_epochs_differ(void **state)
{
  enum { N = 1000 };
  const weir_shuffle s[3] = {weir_shuffle_of(N, 1, 0), weir_shuffle_of(N, 1, 1),
                             weir_shuffle_of(N, 2, 0)};
  int same[3] = {0};

  for (int64_t p = 0; p < N; p++) {
    for (int k = 0; k < 3; k++) {
      same[k] += weir_shuffle_at(&s[k], p) == weir_shuffle_at(&s[(k + 1) % 3], p);
    }
  }
  for (int k = 0; k < 3; k++) {
    assert_true(same[k] < 10); /* about one by chance */
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_sample_comes_once),  cmocka_unit_test(far_positions_are_in_range),
      cmocka_unit_test(all_orders_are_as_likely), cmocka_unit_test(positions_are_as_likely),
      cmocka_unit_test(seeds_and_epochs_differ),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
