/* number.c - decimal text and numbers; the grammar is checked here, so that strtod never sees a
 * hexadecimal number, a blank, or a decimal comma. */
#include "conf/weir_number.h"
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p)
{
  while (is_digit(*p)) {
    p++;
  }
  return p;
}

static const char *skip_sign(const char *p)
{
  return (*p == '+' || *p == '-') ? p + 1 : p;
}

/* End of the number that `text` begins with, or NULL; *whole says whether it is all digits. */
static const char *scan(const char *text, bool *whole)
{
  const char *first = skip_sign(text);
  const char *p = skip_digits(first);
  int64_t digits = p - first;

  *whole = true;
  if (*p == '.') {
    const char *fraction = p + 1;

    p = skip_digits(fraction);
    digits += p - fraction;
    *whole = false;
  }
  if (digits == 0) {
    return NULL;
  }
  if (*p == 'e' || *p == 'E') {
    const char *power = skip_sign(p + 1);

    if (is_digit(*power)) {
      p = skip_digits(power);
      *whole = false;
    }
  }
  return p;
}

/* "inf", ".nan", "-Infinity" and the like. */
static bool is_not_finite(const char *text)
{
  const char *p = skip_sign(text);

  p += *p == '.';
  return strcasecmp(p, "nan") == 0 || strcasecmp(p, "inf") == 0 || strcasecmp(p, "infinity") == 0;
}

static weir_number_result check(const char *text, bool *whole)
{
  const char *end = scan(text, whole);

  if (end == NULL) {
    return is_not_finite(text) ? WEIR_NUMBER_NOT_FINITE : WEIR_NUMBER_NOT;
  }
  return *end == 0 ? WEIR_NUMBER_OK : WEIR_NUMBER_TRAILING;
}

weir_number_result weir_number_int(const char *text, int64_t *out)
{
  bool whole;
  const weir_number_result result = check(text, &whole);
  const char *digits = skip_sign(text);

  if (result != WEIR_NUMBER_OK) {
    return result;
  }
  if (!whole) {
    return WEIR_NUMBER_FRACTION;
  }
  if (digits[0] == '0' && digits[1] != 0) {
    return WEIR_NUMBER_NOT;
  }
  int64_t value = 0;
  for (const char *p = digits; *p != 0; p++) {
    const int64_t digit = *text == '-' ? '0' - *p : *p - '0';

    if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return WEIR_NUMBER_BIG;
    }
  }
  *out = value;
  return WEIR_NUMBER_OK;
}

/* True when the integer written in `digits` is exactly `value`. */
static bool same_integer(const char *digits, double value)
{
  char text[340];

  while (digits[0] == '0' && digits[1] != 0) {
    digits++;
  }
  (void)snprintf(text, sizeof text, "%.0f", fabs(value));
  return strcmp(text, digits) == 0;
}

static bool has_nonzero_digit(const char *text)
{
  for (const char *p = text; *p != 0 && *p != 'e' && *p != 'E'; p++) {
    if (*p >= '1' && *p <= '9') {
      return true;
    }
  }
  return false;
}

weir_number_result weir_number_real(const char *text, double *out)
{
  bool whole;
  const weir_number_result result = check(text, &whole);

  if (result != WEIR_NUMBER_OK) {
    return result;
  }
  /* glibc and musl answer "C" with a constant object: nothing is allocated. */
  const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  const locale_t before = uselocale(c_locale);
  const double value = strtod(text, NULL);

  (void)uselocale(before);
  freelocale(c_locale);
  if (!isfinite(value)) {
    return WEIR_NUMBER_BIG;
  }
  if (value == 0.0 && has_nonzero_digit(text)) {
    return WEIR_NUMBER_SMALL;
  }
  if (whole && fabs(value) >= 0x1p53 && !same_integer(skip_sign(text), value)) {
    return WEIR_NUMBER_INEXACT;
  }
  *out = value;
  return WEIR_NUMBER_OK;
}

const char *weir_number_reason(weir_number_result result)
{
  switch (result) {
  case WEIR_NUMBER_OK:
    return "is a number";
  case WEIR_NUMBER_NOT:
    return "is not a decimal number";
  case WEIR_NUMBER_TRAILING:
    return "has characters after the number";
  case WEIR_NUMBER_FRACTION:
    return "is not written as a whole number";
  case WEIR_NUMBER_BIG:
    return "is too large to be represented";
  case WEIR_NUMBER_SMALL:
    return "is too close to zero to be represented";
  case WEIR_NUMBER_NOT_FINITE:
    return "is not a finite number";
  case WEIR_NUMBER_INEXACT:
    return "is an integer beyond 2^53 that a double cannot represent exactly";
  }
  return "is not a number";
}

void weir_number_text(double value, char *text, size_t size)
{
  if (!isfinite(value)) {
    (void)snprintf(text, size, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return;
  }
  const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  const locale_t before = uselocale(c_locale);

  for (int digits = 15; digits <= 17; digits++) {
    (void)snprintf(text, size, "%.*g", digits, value);
    if (strtod(text, NULL) == value) {
      break;
    }
  }
  (void)uselocale(before);
  freelocale(c_locale);
}
