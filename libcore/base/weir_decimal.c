/* weir_decimal.c - see weir_decimal.h. A number is scaled with one rounding; where that could
 * decide about the last digit, and for unusual sizes, printf does it. */
#include "base/weir_decimal.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 9, MIN_EXPONENT = -4 };
/* From 10^MIN_EXPONENT on. */
static const double power[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,  1e3, 1e4,
                               1e5,  1e6,  1e7,  1e8,  1e9, 1e10, 1e11, 1e12};

static size_t printed(const char *format, double x, char text[WEIR_DECIMAL_SIZE])
{
  const int n = snprintf(text, WEIR_DECIMAL_SIZE, format, x);
  char *comma = strchr(text, ',');

  if (comma != NULL) {
    *comma = '.';
  }
  return (size_t)n;
}

/* To the nearest; false where an error of x by 0.05 might change it. */
static bool whole(double x, int64_t *n)
{
  const double down = floor(x), rest = x - down;

  *n = (int64_t)down + (rest > 0.5);
  return fabs(rest - 0.5) > 0.05;
}

/* The `count` last digits of n, which ends at `end`. */
static int64_t put_digits(char *end, int count, int64_t n)
{
  for (int i = 0; i < count; i++) {
    *--end = (char)('0' + n % 10);
    n /= 10;
  }
  return n;
}

size_t weir_decimal_nine(double x, char text[WEIR_DECIMAL_SIZE])
{
  const double size = fabs(x);
  int e = DIGITS - 1; /* the first digit counts 10^e */
  int64_t n;

  if (!(size >= power[0] && size < 999999999)) {
    return printed("%.9g", x, text);
  }
  while (size < power[e - MIN_EXPONENT]) {
    e--;
  }
  if (!whole(size * power[DIGITS - 1 - e - MIN_EXPONENT], &n)) {
    return printed("%.9g", x, text);
  }
  if (n == INT64_C(1000000000)) {
    n /= 10;
    e++;
  }
  char digits[1 + DIGITS - MIN_EXPONENT], *first = digits,
                                          *at = text; /* zeros before them where e < 0 */
  const int before = e < 0 ? 1 : e + 1, count = e < 0 ? DIGITS - e : DIGITS;

  (void)put_digits(digits + count, count, n);
  int used = count;

  while (used > before && first[used - 1] == '0') {
    used--;
  }
  if (x < 0) {
    *at++ = '-';
  }
  memcpy(at, first, (size_t)before);
  at += before;
  if (used > before) {
    *at++ = '.';
    memcpy(at, first + before, (size_t)(used - before));
    at += used - before;
  }
  *at = 0;
  return (size_t)(at - text);
}

size_t weir_decimal_micro(double x, char text[WEIR_DECIMAL_SIZE])
{
  const double micros = fabs(x) * 1e6;
  char digits[24], *first = digits + sizeof digits - 7;
  int64_t n, seconds;

  if (!(micros < 1e14) || !whole(micros, &n)) {
    return printed("%.6f", x, text);
  }
  first[0] = '.';
  seconds = put_digits(first + 7, 6, n);
  do {
    seconds = put_digits(first--, 1, seconds);
  } while (seconds > 0);
  if (signbit(x)) {
    *--first = '-';
  }
  const size_t length = (size_t)(digits + sizeof digits - first);

  memcpy(text, first, length);
  text[length] = 0;
  return length;
}
