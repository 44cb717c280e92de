/* text.c - numbers from text whatever the locale, and checked files. */
#include "io/io_priv.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_integer.h"

/* A decimal number taken apart: value = (-1)^negative * digits * 10^exponent. */
struct decimal {
  bool negative;
  bool exact; /* digits holds every significant digit */
  uint64_t digits;
  int64_t exponent;
};

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static void take_digit(struct decimal *d, char c, bool fraction)
{
  const unsigned digit = (unsigned)(c - '0');

  if (d->digits <= (UINT64_MAX - digit) / 10) {
    d->digits = d->digits * 10 + digit;
    d->exponent -= fraction;
    return;
  }
  d->exact = d->exact && digit == 0;
  d->exponent += !fraction;
}

static bool take_exponent(const char *text, size_t size, int64_t *exponent)
{
  size_t i = 0;
  const bool negative = size > 0 && text[0] == '-';
  int64_t value = 0;

  if (size > 0 && (text[0] == '-' || text[0] == '+')) {
    i++;
  }
  if (i == size) {
    return false;
  }
  for (; i < size; i++) {
    if (!is_digit(text[i])) {
      return false;
    }
    if (value < 100000) {
      value = value * 10 + (text[i] - '0');
    }
  }
  *exponent = negative ? -value : value;
  return true;
}

static bool take_apart(const char *text, size_t size, struct decimal *d)
{
  size_t i = 0;
  bool fraction = false;
  int64_t seen = 0;

  *d = (struct decimal){.exact = true};
  if (size > 0 && (text[0] == '-' || text[0] == '+')) {
    d->negative = text[0] == '-';
    i++;
  }
  for (; i < size; i++) {
    if (is_digit(text[i])) {
      take_digit(d, text[i], fraction);
      seen++;
    } else if (text[i] == '.' && !fraction) {
      fraction = true;
    } else {
      break;
    }
  }
  if (seen == 0) {
    return false;
  }
  if (i < size) {
    int64_t exponent = 0;

    if ((text[i] != 'e' && text[i] != 'E') ||
        !take_exponent(text + i + 1, size - i - 1, &exponent)) {
      return false;
    }
    d->exponent += exponent;
  }
  return true;
}

bool weir_io_parse_int(const char *text, size_t size, int64_t lo, int64_t hi, int64_t *out)
{
  size_t i = 0;
  int64_t value = 0;
  const bool negative = size > 0 && text[0] == '-';

  if (size > 0 && (text[0] == '-' || text[0] == '+')) {
    i++;
  }
  if (i == size) {
    return false;
  }
  for (; i < size; i++) {
    if (!is_digit(text[i]) || !weir_mul_ok(value, 10, &value) ||
        !weir_add_ok(value, negative ? '0' - text[i] : text[i] - '0', &value)) {
      return false;
    }
  }
  if (value < lo || value > hi) {
    return false;
  }
  *out = value;
  return true;
}

/* strtod in the C locale, for the rare numbers that need more than one rounding step. */
static bool slow_real(const char *text, size_t size, double *out)
{
  char copy[512];
  locale_t plain = (locale_t)0;

  if (size >= sizeof copy) {
    return false;
  }
  memcpy(copy, text, size);
  copy[size] = 0;
  plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (plain == (locale_t)0) {
    return false;
  }
  *out = strtod_l(copy, NULL, plain);
  freelocale(plain);
  return isfinite(*out) != 0;
}

bool weir_io_parse_real(const char *text, size_t size, double *out)
{
  static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  struct decimal d;
  double value = 0;

  if (!take_apart(text, size, &d)) {
    return false;
  }
  /* Both factors are exact doubles, so one operation rounds correctly (Clinger, PLDI 1990). */
  if (d.exact && d.digits <= (UINT64_C(1) << 53) && d.exponent >= -22 && d.exponent <= 22) {
    value = (double)d.digits;
    value = d.exponent < 0 ? value / tens[-d.exponent] : value * tens[d.exponent];
    *out = d.negative ? -value : value;
    return true;
  }
  if (!slow_real(text, size, &value)) {
    return false;
  }
  *out = value;
  return true;
}

void weir_io_reduce(int64_t *num, int64_t *den)
{
  const int64_t common = weir_gcd(*num < 0 ? -*num : *num, *den);

  if (common > 1) {
    *num /= common;
    *den /= common;
  }
}

bool weir_io_parse_decimal(const char *text, size_t size, int64_t *num, int64_t *den)
{
  struct decimal d;
  int64_t n = 0;
  int64_t m = 1;

  if (!take_apart(text, size, &d) || !d.exact || d.digits > INT64_MAX) {
    return false;
  }
  n = (int64_t)d.digits;
  while (d.exponent < 0 && n % 10 == 0 && n != 0) {
    n /= 10;
    d.exponent++;
  }
  for (; n != 0 && d.exponent > 0; d.exponent--) {
    if (!weir_mul_ok(n, 10, &n)) {
      return false;
    }
  }
  for (; n != 0 && d.exponent < 0; d.exponent++) {
    if (!weir_mul_ok(m, 10, &m)) {
      return false;
    }
  }
  weir_io_reduce(&n, &m);
  *num = d.negative ? -n : n;
  *den = m;
  return true;
}

void weir_io_real_text(double value, char *text, size_t size)
{
  double back = 0;

  for (int digits = 15; digits <= 17; digits += 2) {
    snprintf(text, size, "%.*g", digits, value);
    text[strcspn(text, ",")] = text[strcspn(text, ",")] ? '.' : 0; /* a decimal comma */
    if (weir_io_parse_real(text, strlen(text), &back) && back == value) {
      return;
    }
  }
}

void weir_io_rate_text(int64_t num, int64_t den, char *text, size_t size)
{
  if (den == 1) {
    snprintf(text, size, "%lld", (long long)num);
  } else {
    weir_io_real_text((double)num / (double)den, text, size);
  }
}

bool weir_io_date_us(int64_t year, int64_t month, int64_t day, int64_t *us)
{
  static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  int64_t days = 0;

  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 ||
      day > lengths[month - 1] + (leap && month == 2)) {
    return false;
  }
  days = (year - 1) * 365 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
  for (int64_t m = 1; m < month; m++) {
    days += lengths[m - 1] + (leap && m == 2);
  }
  *us = (days + day - 1 - 719162) * INT64_C(86400000000);
  return true;
}

void weir_io_civil_date(int64_t us, int *year, int *month, int *day)
{
  /* Eras of 400 years, each beginning in March: days from 0000-03-01. */
  const int64_t days = weir_floor_div(us, INT64_C(86400000000)) + 719468;
  const int64_t era = days / 146097;
  const int64_t doe = days - era * 146097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const int64_t mp = (5 * doy + 2) / 153;

  *month = (int)(mp < 10 ? mp + 3 : mp - 9);
  *day = (int)(doy - (153 * mp + 2) / 5 + 1);
  *year = (int)(yoe + era * 400 + (*month <= 2));
}

weir_status weir_io_open(const char *path, int *fd, int64_t *size)
{
  /* Not blocking, so that a named pipe is refused instead of waited for. */
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;

  if (file < 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot be opened: %s", path, strerror(errno));
  }
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file);
    return weir_fail(WEIR_ERR_DATA, "%s: the path is not a regular file", path);
  }
  *fd = file;
  *size = (int64_t)info.st_size;
  return WEIR_OK;
}

weir_status weir_io_pread(int fd, const char *path, void *data, size_t bytes, int64_t offset)
{
  char *to = data;

  while (bytes > 0) {
    const ssize_t got = pread(fd, to, bytes, (off_t)offset);

    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return weir_fail(WEIR_ERR_DATA, "%s: cannot be read at byte %lld: %s", path,
                       (long long)offset, strerror(errno));
    }
    if (got == 0) {
      return weir_fail(WEIR_ERR_DATA, "%s: ends at byte %lld, %zu bytes early", path,
                       (long long)offset, bytes);
    }
    to += got;
    offset += got;
    bytes -= (size_t)got;
  }
  return WEIR_OK;
}

weir_status weir_io_read(const char *path, int64_t limit, char **data, int64_t *size)
{
  int fd = -1;
  int64_t bytes = 0;
  void *memory = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_io_open(path, &fd, &bytes));
  if (bytes > limit) {
    close(fd);
    return weir_fail(WEIR_ERR_DATA, "%s: the file has %lld bytes: at most %lld are read", path,
                     (long long)bytes, (long long)limit);
  }
  WEIR_TRY_GOTO(weir_alloc(bytes + 1, 1, &memory), done);
  WEIR_TRY_GOTO(weir_io_pread(fd, path, memory, (size_t)bytes, 0), done);
  *data = memory;
  *size = bytes;
  memory = NULL;
done:
  weir_free(&memory);
  close(fd);
  return status;
}

int weir_io_character(const char *at)
{
  static const uint32_t smallest[] = {0, 0x20, 0x80, 0x800, 0x10000}; /* of so many bytes */
  const unsigned c = (unsigned char)*at;
  const int n = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
  uint32_t code = n == 1 ? c : c & (0xffu >> (n + 1));

  for (int k = 1; k < n; k++) {
    const unsigned next = (unsigned char)at[k];

    if ((next & 0xc0) != 0x80) {
      return 0;
    }
    code = code << 6 | (next & 0x3f);
  }
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;

  return code >= smallest[n] && code <= 0x10ffff && !is_surrogate && (code & ~1u) != 0xfffe ? n : 0;
}
