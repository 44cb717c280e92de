/* order.c - points in the order of a message to rows from north to south, columns from west to
 * east; dates. Flags of scanning: WMO code table 3.4 (edition 1: 8). */
#include <math.h>
#include <string.h>
#include "base/weir_integer.h"
#include "io/grib/grib_priv.h"
#include "io/io_priv.h"

enum { WEST = 0x80, NORTH = 0x40, BY_COLUMN = 0x20, TURNING = 0x10, DAY = 86400 };

/* Whether bits are those of an infinite number. */
static uint32_t is_infinite(const float *x)
{
  uint32_t bits;

  memcpy(&bits, x, sizeof bits);
  return (bits & 0x7fffffff) == 0x7f800000;
}

/* n values, `stride` apart from out[0] on; `missing` becomes NaN. False: one is infinite. */
static bool take_line(const double *in, int64_t n, const double *missing, float *out,
                      int64_t stride)
{
  const double gap = missing ? *missing : NAN; /* equal to nothing */
  uint32_t found = 0;

  for (int64_t i = 0; i < n; i++) {
    const float x = in[i] == gap ? NAN : (float)in[i];

    out[i * stride] = x;
    found |= is_infinite(&x);
  }
  return found == 0;
}

/* The same of values that are there and next to each other, a loop that vectorises. False: one is
 * infinite. */
static bool copy_line(const double *in, int64_t n, float *out)
{
  uint32_t found = 0;

  for (int64_t i = 0; i < n; i++) {
    const float x = (float)in[i];

    out[i] = x;
    found |= is_infinite(&x);
  }
  return found == 0;
}

bool weir_grib_order(const double *in, int64_t n_lat, int64_t n_lon, int scanning,
                     const double *missing, float *out)
{
  const bool by_column = scanning & BY_COLUMN;
  const int64_t lines = by_column ? n_lon : n_lat, length = by_column ? n_lat : n_lon;
  const bool back_lines = scanning & (by_column ? WEST : NORTH);
  const bool back = scanning & (by_column ? NORTH : WEST);
  const int64_t to_next = by_column ? n_lon : 1, to_line = by_column ? 1 : n_lon;
  bool finite = true;

  for (int64_t k = 0; k < lines; k++) {
    float *const line = out + (back_lines ? lines - 1 - k : k) * to_line;
    const bool turned = back != ((scanning & TURNING) && k % 2 == 1);

    const bool good =
        to_next == 1 && !turned && !missing
            ? copy_line(in + k * length, length, line)
            : take_line(in + k * length, length, missing,
                        line + (turned ? (length - 1) * to_next : 0), turned ? -to_next : to_next);

    finite = finite && good;
  }
  return finite;
}

bool weir_grib_time(int64_t date, int64_t hhmm, int64_t second, int64_t *seconds)
{
  int64_t us = 0;

  if (date < 0 || hhmm < 0 || hhmm / 100 > 23 || hhmm % 100 > 59 || second < 0 || second > 59 ||
      !weir_io_date_us(date / 10000, date / 100 % 100, date % 100, &us)) {
    return false;
  }
  *seconds = us / 1000000 + hhmm / 100 * 3600 + hhmm % 100 * 60 + second;
  return true;
}

/* Howard Hinnant, "chrono-compatible low-level date algorithms". */
void weir_grib_date(int64_t seconds, int64_t *date, int64_t *hhmm, int64_t *second)
{
  const int64_t z = weir_floor_div(seconds, DAY) + 719468, rest = weir_floor_mod(seconds, DAY);
  const int64_t era = weir_floor_div(z, 146097), doe = z - era * 146097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  const int64_t month = mp < 10 ? mp + 3 : mp - 9;

  *date = (yoe + era * 400 + (month <= 2)) * 10000 + month * 100 + doy - (153 * mp + 2) / 5 + 1;
  *hhmm = rest / 3600 * 100 + rest % 3600 / 60;
  *second = rest % 60;
}
