/* weir_decimal_test.c - the text is that of printf, for every kind of number. */
#include "base/weir_decimal.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

static uint64_t word(uint64_t i)
{
  return weir_random_bits(7, 1, 0, i);
}

static void same(double x)
{
  char want[WEIR_DECIMAL_SIZE], text[WEIR_DECIMAL_SIZE];

  (void)snprintf(want, sizeof want, "%.9g", x);
  assert_int_equal(weir_decimal_nine(x, text), strlen(want));
  assert_string_equal(text, want);
  (void)snprintf(want, sizeof want, "%.6f", x);
  assert_int_equal(weir_decimal_micro(x, text), strlen(want));
  assert_string_equal(text, want);
}

static void any_bits_are_written_as_printf_does(void **state)
{
  for (uint64_t i = 0; i < 300000; i++) {
    const uint64_t bits = word(i);
    const uint32_t half = (uint32_t)bits;
    double x;
    float f;

    memcpy(&x, &bits, sizeof x);
    memcpy(&f, &half, sizeof f);
    same(x);
    same((double)f);
  }
}

static void usual_numbers_are_written_as_printf_does(void **state)
{
  for (uint64_t i = 0; i < 300000; i++) {
    const double unit = (double)(int64_t)word(i) * 0x1p-63;

    same(unit * pow(10, (double)(i % 20) - 8));
    same((double)(float)(unit * pow(10, (double)(i % 20) - 8)));
    same((double)(int64_t)(i * 977) / 360);
    same((double)(int64_t)i / 128); /* ties */
  }
}

/* Around powers of ten the number of digits changes. */
static void the_borders_are_written_as_printf_does(void **state)
{
  for (int e = -12; e <= 16; e++) {
    double up = pow(10, e), down = up;

    for (int i = 0; i < 300; i++) {
      same(up);
      same(-down);
      same(up * (1 - 5e-10));
      same(down * (1 - 5e-11));
      up = nextafter(up, INFINITY);
      down = nextafter(down, 0);
    }
  }
  same(0.0);
  same(-0.0);
  same(NAN);
  same(INFINITY);
  same(-INFINITY);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_bits_are_written_as_printf_does),
      cmocka_unit_test(usual_numbers_are_written_as_printf_does),
      cmocka_unit_test(the_borders_are_written_as_printf_does),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
