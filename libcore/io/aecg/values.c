/* values.c - times and increments of annotated ECGs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/aecg/aecg_priv.h"
#include "io/io_priv.h"

#define SECOND INT64_C(1000000000)

/* n digits as a number. */
static bool take_digits(const char **at, int n, int64_t *out)
{
  *out = 0;
  for (int i = 0; i < n; i++, ++*at) {
    if (**at < '0' || **at > '9') {
      return false;
    }
    *out = *out * 10 + (**at - '0');
  }
  return true;
}

/* Digits after the point, to the ns; later ones are dropped. */
static bool take_fraction(const char **at, int64_t *ns)
{
  int64_t unit = SECOND / 10;

  *ns = 0;
  if (**at < '0' || **at > '9') {
    return false;
  }
  for (; **at >= '0' && **at <= '9'; ++*at, unit /= 10) {
    *ns += (**at - '0') * unit;
  }
  return true;
}

bool weir_aecg_offset(const char *zone, int *minutes)
{
  const char *at = zone + 1;
  int64_t hours = 0, rest = 0;

  if ((zone[0] != '+' && zone[0] != '-') || strlen(zone) != 5 || !take_digits(&at, 2, &hours) ||
      !take_digits(&at, 2, &rest) || rest > 59 || hours * 60 + rest > 14 * 60) {
    return false;
  }
  *minutes = (int)(hours * 60 + rest) * (zone[0] == '-' ? -1 : 1);
  return true;
}

void weir_aecg_offset_text(int minutes, char zone[8])
{
  const unsigned size = minutes < 0 ? 0u - (unsigned)minutes : (unsigned)minutes;

  (void)snprintf(zone, 8, "%c%02u%02u", minutes < 0 ? '-' : '+', size / 60 % 24, size % 60);
}

bool weir_aecg_time(const char *text, int64_t *ns, char zone[8])
{
  static const int widths[] = {4, 2, 2, 2, 2, 2};
  /* Years 1900 to 2189: sums and differences of such times and of relative ones fit 64 bits. */
  static const int64_t limits[] = {2189, 12, 31, 23, 59, 59};
  int64_t n[6], day_us = 0, fraction = 0;
  int offset = 0;
  const char *at = text;

  for (int i = 0; i < 6; i++) {
    if (!take_digits(&at, widths[i], &n[i]) || n[i] > limits[i]) {
      return false;
    }
  }
  if (n[0] < 1900 || !weir_io_date_us(n[0], n[1], n[2], &day_us)) {
    return false;
  }
  if (*at == '.') {
    at++;
    if (!take_fraction(&at, &fraction)) {
      return false;
    }
  }
  const size_t left = strlen(at);

  zone[0] = 0;
  if (left == 5 && (*at == '+' || *at == '-')) {
    strcpy(zone, at);
    if (!weir_aecg_offset(zone, &offset)) {
      return false;
    }
    at += left;
  }
  *ns = day_us * 1000 + ((n[3] * 60 + n[4]) * 60 + n[5]) * SECOND + fraction;
  return *at == 0;
}

/* Significant digits of a decimal number, and the value of one in its last place. */
static int count_digits(const char *value, double *place)
{
  int digits = 0, decimals = 0;
  bool point = false;

  for (const char *at = value; *at != 0; at++) {
    if (*at == '.') {
      point = true;
    } else if (*at < '0' || *at > '9') {
      return 0; /* with an exponent */
    } else {
      digits += digits > 0 || *at != '0';
      decimals += point;
    }
  }
  *place = pow(10, -decimals);
  return digits;
}

bool weir_aecg_rate(const char *value, const char *unit, int64_t *num, int64_t *den)
{
  const int64_t factor = strcmp(unit, "s") == 0    ? 1
                         : strcmp(unit, "ms") == 0 ? 1000
                         : strcmp(unit, "us") == 0 ? 1000000
                                                   : 0;
  double place = 0;

  if (factor == 0 || !weir_io_parse_decimal(value, strlen(value), den, num) || *den <= 0 ||
      !weir_mul_ok(*num, factor, num)) {
    return false;
  }
  weir_io_reduce(num, den);
  const double rate = (double)*num / (double)*den;

  if (count_digits(value, &place) >= 6 && rate < 1e6 && round(rate) > 0 &&
      fabs((double)factor / round(rate) - (double)factor / rate) <= 0.5001 * place) {
    *num = (int64_t)round(rate);
    *den = 1;
  }
  return *num <= INT64_C(1) << 40 && *den <= INT64_C(1) << 40;
}
