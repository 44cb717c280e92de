/* signs_test.c - codes of signs by hand: values of blocks, what is left, bytes. */
#include "optim/exchange/onebit/signs.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"

static void values_are_those_of_the_block(void **state)
{
  const float x[] = {1, -2, 3, 0, -6, 5, -5};

  (void)state;
  for (int k = 0; k < 2; k++) {
    const signs s = {WEIR_F32, 4, k == 0 ? SIGNS_MAGNITUDE : SIGNS_MEANS};
    const double value[2][4] = {{-1.5, 1.5, -16. / 3, 16. / 3}, {-2, 4. / 3, -5.5, 5}};
    float rest[7];
    uint8_t code[64];

    assert_int_equal(signs_bytes(&s, 7), 2 * 8 + 1);
    memcpy(rest, x, sizeof rest);
    signs_encode(&s, rest, 7, code);
    assert_int_equal(code[16], 1 | 4 | 8 | 32);
    for (int i = 0; i < 7; i++) {
      const double is = value[k][2 * (i / 4) + (x[i] >= 0)];

      assert_true(fabs(rest[i] - (x[i] - is)) < 1e-6);
    }
    signs_add(&s, code, 7, rest);
    for (int i = 0; i < 7; i++) {
      assert_true(fabsf(rest[i] - x[i]) < 1e-6f);
    }
  }
}

static double square(const double *x, int n)
{
  double sum = 0;

  for (int i = 0; i < n; i++) {
    sum += x[i] * x[i];
  }
  return sum;
}

/* |x - C(x)|^2 = |x|^2 - |x|_1^2 / n for a block, whatever the numbers: never more than |x|^2. */
static void the_error_is_smaller_than_the_numbers(void **state)
{
  enum { N = 3000 };
  static double x[N], rest[N];
  static uint8_t code[N];

  (void)state;
  for (int heavy = 0; heavy < 2; heavy++) {
    for (int64_t block = 0; block <= 1000; block += 500) {
      double less = 0, sum = 0;
      const signs s = {WEIR_F64, block, SIGNS_MAGNITUDE};

      for (int i = 0; i < N; i++) {
        x[i] = rest[i] = weir_random_normal(3, 0, 0, (uint64_t)i) * (heavy && i % 97 == 0 ? 50 : 1);
      }
      signs_encode(&s, rest, N, code);
      for (int i = 0; i < N; i++) {
        sum += fabs(x[i]);
        if (i + 1 == N || (block > 0 && (i + 1) % block == 0)) {
          less += sum * sum / (double)(block > 0 ? block : N);
          sum = 0;
        }
      }
      assert_true(fabs(square(rest, N) - (square(x, N) - less)) < 1e-4 * square(x, N));
      assert_true(square(rest, N) < square(x, N));
    }
  }
}

static void zeros_and_nothing_are_exact(void **state)
{
  double x[5] = {0};
  uint8_t code[32];

  (void)state;
  for (int values = 0; values < 2; values++) {
    const signs s = {WEIR_F64, 0, (signs_values)values};

    assert_int_equal(signs_bytes(&s, 0), 0);
    signs_encode(&s, x, 0, code);
    signs_encode(&s, x, 5, code);
    signs_add(&s, code, 5, x);
    for (int i = 0; i < 5; i++) {
      assert_true(x[i] == 0);
    }
  }
}

static void nan_is_not_hidden(void **state)
{
  (void)state;
  for (int values = 0; values < 2; values++) {
    const signs s = {WEIR_F64, 4, (signs_values)values};
    double x[8] = {1, NAN, 3, -4, 5, -6, 7, 8}, back[8] = {0};
    uint8_t code[32];

    signs_encode(&s, x, 8, code);
    signs_add(&s, code, 8, back);
    assert_true(isnan(back[1]));
    for (int i = 4; i < 8; i++) { /* of another block */
      assert_true(isfinite(back[i]));
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_the_block),
      cmocka_unit_test(the_error_is_smaller_than_the_numbers),
      cmocka_unit_test(zeros_and_nothing_are_exact),
      cmocka_unit_test(nan_is_not_hidden),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
