/* weir_decimal_test.c - the text is that of printf, or as short and the same float, for every kind
 * of number. */
#include "base/weir_decimal.h"
#include <math.h>
#include <stdlib.h>
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

  (void)snprintf(want, sizeof want, "%.6f", x);
  assert_int_equal(weir_decimal_micro(x, text), strlen(want));
  assert_string_equal(text, want);
}

static int digits_of(const char *text)
{
  int n = 0, zeros = 0;

  for (; *text != 0 && *text != 'e'; text++) {
    const bool digit = *text >= '0' && *text <= '9';

    zeros = digit && *text == '0' ? zeros + 1 : 0;
    n += digit && (n > 0 || *text != '0');
  }
  return n - (n > 0 ? zeros : 0);
}

/* The first precision of printf from which the same float is read has as many digits. */
static void same_float(float x)
{
  char want[WEIR_DECIMAL_SIZE] = "", text[WEIR_DECIMAL_FLOAT_SIZE];

  const size_t length = weir_decimal_float(x, text);

  assert_int_equal(length, strlen(text));
  if (!isfinite(x)) {
    (void)snprintf(want, sizeof want, "%g", (double)x);
    assert_string_equal(text, want);
    return;
  }
  for (int digits = 1; digits < 10 && (want[0] == 0 || strtof(want, NULL) != x); digits++) {
    (void)snprintf(want, sizeof want, "%.*g", digits, (double)x);
  }
  assert_true(strtof(text, NULL) == x && signbit(strtof(text, NULL)) == signbit(x));
  assert_true(digits_of(text) <= digits_of(want));
  if (fabsf(x) >= 1e-4f && fabsf(x) < 1e9f) {
    assert_null(strchr(text, 'e'));
  }
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
    if (i % 16 == 0) {
      same_float(f);
    }
  }
}

static void usual_numbers_are_written_as_printf_does(void **state)
{
  for (uint64_t i = 0; i < 300000; i++) {
    const double unit = (double)(int64_t)word(i) * 0x1p-63;

    same(unit * pow(10, (double)(i % 20) - 8));
    if (i % 16 < 3) {
      same_float((float)(unit * pow(10, (double)(i % 20) - 8)));
    }
    same((double)(int64_t)(i * 977) / 360);
    same((double)(int64_t)i / 128); /* ties */
    if (i % 16 < 2) {
      same_float((float)i / 128);
      same_float((float)i / 200); /* as the values of a converter */
    }
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
      same_float((float)up);
      same_float(-(float)down);
      up = nextafter(up, INFINITY);
      down = nextafter(down, 0);
    }
  }
  same(0.0);
  same(-0.0);
  same(NAN);
  same(INFINITY);
  same(-INFINITY);
  same_float(0.0f);
  same_float(-0.0f);
  same_float(NAN);
  same_float(INFINITY);
  same_float(-INFINITY);
}

static void a_float_is_as_short_as_it_was_written(void **state)
{
  static const struct {
    float x;
    const char *text;
  } cases[] = {{0.1f, "0.1"},       {-0.005f, "-0.005"},       {120.0f, "120"},
               {1e8f, "100000000"}, {16777216.0f, "16777216"}, {2.5e-5f, "2.5e-05"},
               {0.3f, "0.3"},       {98.6f, "98.6"},           {3e9f, "3e+09"}};
  char text[WEIR_DECIMAL_SIZE];

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    (void)weir_decimal_float(cases[i].x, text);
    assert_string_equal(text, cases[i].text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_bits_are_written_as_printf_does),
      cmocka_unit_test(usual_numbers_are_written_as_printf_does),
      cmocka_unit_test(the_borders_are_written_as_printf_does),
      cmocka_unit_test(a_float_is_as_short_as_it_was_written),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
