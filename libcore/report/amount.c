/* amount.c - amounts in the unit that a person reads: prefixes, multiples of 1024, minutes. */
#include <math.h>
#include <stdio.h>
#include "report/weir_report.h"

const char *weir_amount(double value, const char *unit, char text[WEIR_AMOUNT_SIZE])
{
  const char *prefix;
  const double scaled = weir_si_scale(value, &prefix);

  (void)snprintf(text, WEIR_AMOUNT_SIZE, "%.4g %s%s", scaled, prefix, unit);
  return text;
}

const char *weir_amount_number(double value, char text[WEIR_AMOUNT_SIZE])
{
  if (isnan(value)) {
    (void)snprintf(text, WEIR_AMOUNT_SIZE, "-");
  } else {
    const bool whole = fabs(value) >= 999.95 && fabs(value) < 1e15;

    (void)snprintf(text, WEIR_AMOUNT_SIZE, whole ? "%.0f" : "%.4g", value);
  }
  return text;
}

const char *weir_amount_bytes(double bytes, char text[WEIR_AMOUNT_SIZE])
{
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  enum { LAST = sizeof units / sizeof units[0] - 1 };
  int k = 0;

  while (k < LAST && fabs(bytes) >= 1023.5) {
    bytes /= 1024;
    k++;
  }
  (void)snprintf(text, WEIR_AMOUNT_SIZE, "%.4g %s", bytes, units[k]);
  return text;
}

const char *weir_amount_time(double seconds, char text[WEIR_AMOUNT_SIZE])
{
  static const struct {
    double size;
    const char *name;
  } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}};

  for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
    if (isfinite(seconds) && seconds >= 2 * units[k].size) {
      (void)snprintf(text, WEIR_AMOUNT_SIZE, "%.3g %s", seconds / units[k].size, units[k].name);
      return text;
    }
  }
  return weir_amount(seconds, "s", text);
}
