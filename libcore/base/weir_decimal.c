/* weir_decimal.c - see weir_decimal.h. A number is scaled with one rounding; where that could
 * decide about the last digit, and for unusual sizes, printf does it. */
#include "base/weir_decimal.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 9, MIN_DIGITS = 6 /* that a float keeps */, MIN_EXPONENT = -4 };
/* From 10^MIN_EXPONENT on. */
static const double power[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,  1e3, 1e4,
                               1e5,  1e6,  1e7,  1e8,  1e9, 1e10, 1e11, 1e12};

/* Puts a point for the comma of a locale; returns the length. */
static size_t with_point(char *text)
{
  char *const comma = strchr(text, ',');

  if (comma != NULL) {
    *comma = '.';
  }
  return strlen(text);
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

/* The first precision of printf that reads back as x. */
static size_t print_float(float x, char text[WEIR_DECIMAL_FLOAT_SIZE])
{
  const int least = fabsf(x) < FLT_MIN ? 1 : MIN_DIGITS; /* the smallest ones have fewer digits */

  for (int digits = least; digits < DIGITS; digits++) {
    (void)snprintf(text, WEIR_DECIMAL_FLOAT_SIZE, "%.*g", digits, (double)x);
    if (strtof(text, NULL) == x) {
      return with_point(text);
    }
  }
  (void)snprintf(text, WEIR_DECIMAL_FLOAT_SIZE, "%.9g", (double)x);
  return with_point(text);
}

static bool reads_back(double rounded, int e, float size)
{
  char text[32];

  (void)snprintf(text, sizeof text, "%.0fe%d", rounded, e - DIGITS + 1);
  return strtof(text, NULL) == size;
}

/* The digits of `size`, the first of which counts 10^e, as a number of DIGITS digits: as few that
 * are not 0 as read back as the same float. false: printf decides about the last of nine. */
static bool float_digits(float size, int e, int64_t *n)
{
  const double by = power[DIGITS - 1 - e - MIN_EXPONENT], scaled = (double)size * by;
  /* Halves of the distances to the neighbours, in units of the last digit. */
  const double below = 0.5 * ((double)size - (double)nextafterf(size, 0)) * by;
  const double above = 0.5 * ((double)nextafterf(size, INFINITY) - (double)size) * by;

  for (int digits = MIN_DIGITS; digits < DIGITS; digits++) {
    const double unit = power[DIGITS - digits - MIN_EXPONENT];
    const double rounded = floor(scaled / unit + 0.5) * unit, off = rounded - scaled;
    const double share = fabs(off) / (off < 0 ? below : above);
    const bool unclear = fabs(share - 1) < 1e-6; /* a tie, or a rounding error of this */

    if (unclear ? reads_back(rounded, e, size) : share < 1) {
      *n = (int64_t)rounded;
      return true;
    }
  }
  return whole(scaled, n);
}

size_t weir_decimal_float(float x, char text[WEIR_DECIMAL_FLOAT_SIZE])
{
  const float size = fabsf(x);
  int e = DIGITS - 1; /* the first digit counts 10^e */
  int64_t n;

  if (!((double)size >= power[0] && size < 1e9f)) {
    return print_float(x, text);
  }
  while ((double)size < power[e - MIN_EXPONENT]) {
    e--;
  }
  if (!float_digits(size, e, &n)) {
    return print_float(x, text);
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
    (void)snprintf(text, WEIR_DECIMAL_SIZE, "%.6f", x);
    return with_point(text);
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
