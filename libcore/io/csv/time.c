/* time.c - times of samples, and the rate that a column of times stands for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_sort.h"
#include "io/csv/csv_priv.h"
#include "io/io_priv.h"

#define SECOND INT64_C(1000000000)

/* A decimal number of `unit_ns`, as whole nanoseconds. */
static bool number_ns(weir_csv_field f, int64_t unit_ns, weir_csv_ns *ns)
{
  int64_t num = 0;
  int64_t den = 1;
  double rough = 0;

  if (weir_io_parse_decimal(f.at, (size_t)f.size, &num, &den)) {
    const weir_csv_ns twice = (weir_csv_ns)num * unit_ns * 2;

    *ns = (twice + (num < 0 ? -den : den)) / (2 * (weir_csv_ns)den);
    return true;
  }
  /* More digits than 63 bits hold: the double is as good as a time stamp can be. */
  if (!weir_io_parse_real(f.at, (size_t)f.size, &rough) || fabs(rough) > 1e18) {
    return false;
  }
  *ns = (weir_csv_ns)llround(rough) * unit_ns +
        (weir_csv_ns)llround((rough - (double)llround(rough)) * (double)unit_ns);
  return true;
}

/* "[H:]MM:SS[.s]"; at most three fields. */
static bool colon_ns(weir_csv_field f, weir_csv_ns *ns)
{
  weir_csv_ns total = 0;
  int n_fields = 0;

  for (;;) {
    const char *const end = memchr(f.at, ':', (size_t)f.size);
    const int64_t size = end ? end - f.at : f.size;
    weir_csv_ns seconds_ns = 0;
    int64_t whole = 0;

    if (size == 0 || f.at[0] == '-' || f.at[0] == '+' || ++n_fields > 3) {
      return false;
    }
    if (end ? !weir_io_parse_int(f.at, (size_t)size, 0, 1000000000, &whole)
            : !number_ns((weir_csv_field){f.at, size}, SECOND, &seconds_ns) ||
                  seconds_ns > 3600 * SECOND) {
      return false;
    }
    total = total * 60 + (end ? (weir_csv_ns)whole * SECOND : seconds_ns);
    if (!end) {
      *ns = total;
      return n_fields > 1;
    }
    f.at = end + 1;
    f.size -= size + 1;
  }
}

/* "", "Z", "+HH", "+HHMM" or "+HH:MM" as seconds. */
static bool zone_seconds(weir_csv_field f, int64_t *seconds)
{
  int64_t hours = 0;
  int64_t minutes = 0;
  const bool colon = f.size == 6 && f.at[3] == ':';

  *seconds = 0;
  if (f.size == 0 || (f.size == 1 && (f.at[0] == 'Z' || f.at[0] == 'z'))) {
    return true;
  }
  if ((f.at[0] != '+' && f.at[0] != '-') || (f.size != 3 && f.size != 5 && !colon) ||
      !weir_io_parse_int(f.at + 1, 2, 0, 23, &hours) ||
      (f.size > 3 && !weir_io_parse_int(f.at + f.size - 2, 2, 0, 59, &minutes))) {
    return false;
  }
  *seconds = (hours * 3600 + minutes * 60) * (f.at[0] == '-' ? -1 : 1);
  return true;
}

static bool iso_ns(weir_csv_field f, weir_csv_ns *ns)
{
  int64_t n[3] = {0};
  int64_t us = 0;
  int64_t zone = 0;
  int64_t end = 11;
  weir_csv_ns day = 0;

  if (f.size < 16 || f.at[4] != '-' || f.at[7] != '-' || (f.at[10] != 'T' && f.at[10] != ' ') ||
      !weir_io_parse_int(f.at, 4, 0, 9999, &n[0]) ||
      !weir_io_parse_int(f.at + 5, 2, 1, 12, &n[1]) ||
      !weir_io_parse_int(f.at + 8, 2, 1, 31, &n[2]) || !weir_io_date_us(n[0], n[1], n[2], &us)) {
    return false;
  }
  while (end < f.size && ((f.at[end] >= '0' && f.at[end] <= ':') || f.at[end] == '.')) {
    end++;
  }
  if (!zone_seconds((weir_csv_field){f.at + end, f.size - end}, &zone)) {
    return false;
  }
  if (end == 16) { /* HH:MM */
    int64_t hour = 0;
    int64_t minute = 0;

    if (f.at[13] != ':' || !weir_io_parse_int(f.at + 11, 2, 0, 23, &hour) ||
        !weir_io_parse_int(f.at + 14, 2, 0, 59, &minute)) {
      return false;
    }
    day = (weir_csv_ns)(hour * 3600 + minute * 60) * SECOND;
  } else if (f.at[13] != ':' || f.at[16] != ':' ||
             !colon_ns((weir_csv_field){f.at + 11, end - 11}, &day)) {
    return false;
  }
  *ns = (weir_csv_ns)us * 1000 + day - (weir_csv_ns)zone * SECOND;
  return true;
}

weir_csv_clock weir_csv_time(weir_csv_field f, int64_t unit_ns, weir_csv_ns *ns)
{
  if (number_ns(f, unit_ns, ns)) {
    return WEIR_CSV_CLOCK_NUMBER;
  }
  if (iso_ns(f, ns)) {
    return WEIR_CSV_CLOCK_ISO;
  }
  return colon_ns(f, ns) ? WEIR_CSV_CLOCK_COLON : WEIR_CSV_CLOCK_NONE;
}

bool weir_csv_pass_midnight(weir_csv_day *d, weir_csv_ns *ns)
{
  const weir_csv_ns day = (weir_csv_ns)86400 * SECOND;
  const weir_csv_ns step = *ns - d->last;

  if (d->last >= day || *ns >= day) {
    d->last = *ns;
    return d->passed == 0;
  }
  if (d->passed > 0 && step > day / 2) {
    return false;
  }
  d->passed += step < -day / 2;
  d->last = *ns;
  *ns += d->passed * day;
  return true;
}

/* The fraction with the smallest denominator (at most 1000) in [lo, hi], 0 < lo. */
static bool simplest(double lo, double hi, int64_t *num, int64_t *den)
{
  for (int64_t d = 1; d <= 1000; d++) {
    const double n = round((lo + hi) / 2 * (double)d);

    if (n / (double)d >= lo && n / (double)d <= hi && n < 9e15) {
      *num = (int64_t)n;
      *den = d;
      return true;
    }
  }
  return false;
}

/* The longest stretch of steps near the median `step`: [*first, *last] of the times. */
static void longest_run(const int64_t *ns, int64_t n, int64_t step, int64_t *first, int64_t *last)
{
  int64_t start = 0;

  *first = *last = 0;
  for (int64_t i = 1; i <= n; i++) {
    const int64_t d = i < n ? ns[i] - ns[i - 1] : -1;

    if (d < step - step / 2 || d > step + step / 2) {
      if (i - 1 - start > *last - *first) {
        *first = start;
        *last = i - 1;
      }
      start = i;
    }
  }
}

bool weir_csv_rate(const int64_t *ns, int64_t n, int64_t *num, int64_t *den, double *rough)
{
  int64_t steps[WEIR_CSV_TIMES];
  int64_t count = 0;
  int64_t first = 0;
  int64_t last = 0;
  double off = 0;

  for (int64_t i = 1; i < n && i < WEIR_CSV_TIMES; i++) {
    if (ns[i] > ns[i - 1]) {
      steps[count++] = ns[i] - ns[i - 1];
    }
  }
  *rough = 0;
  if (count == 0) {
    return false;
  }
  qsort(steps, (size_t)count, sizeof steps[0], weir_compare_i64);
  *rough = (double)SECOND / (double)steps[(count - 1) / 2];
  longest_run(ns, n, steps[(count - 1) / 2], &first, &last);
  const double step = (double)(ns[last] - ns[first]) / (double)(last - first);

  for (int64_t i = first; i <= last; i++) {
    off = fmax(off, fabs((double)(ns[i] - ns[first]) - step * (double)(i - first)));
  }
  if (off == 0) { /* every step the same */
    *num = SECOND;
    *den = ns[first + 1] - ns[first];
    weir_io_reduce(num, den);
    return true;
  }
  /* Both ends of the run may be off by as much: the rate lies within these bounds. An integer in
   * them is what a recorder does; less sure, the times do not tell. */
  const double span = (double)(ns[last] - ns[first]);
  const double lo = (double)SECOND * (double)(last - first) / (span + 2 * off);
  const double hi = (double)SECOND * (double)(last - first) / fmax(span - 2 * off, 1);

  return hi - lo < fmin(1, 0.01 * hi) && simplest(lo, hi, num, den);
}
