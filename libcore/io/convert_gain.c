/* convert_gain.c - the gain of a signal whose source stores no integers, and how many of its values
 * may lie beyond the range. */
#include <math.h>
#include "base/weir_status.h"
#include "io/convert_priv.h"

/* Magnitudes of a signal: the largest, and how many have which binary exponent. */
typedef struct magnitudes {
  double peak;
  int64_t count[256], total;
} magnitudes;

enum {
  OUTLIER = 64
}; /* times what 99 % of the values reach: 500 of 32000 steps are left to these */

/* Upper bound of 99 % of the magnitudes, a power of two; 0: they are 0. */
static double usual_magnitude(const magnitudes *m)
{
  int64_t seen = 0;

  for (int e = 0; e < 256; e++) {
    seen += m->count[e];
    if ((double)seen >= 0.99 * (double)m->total) {
      return e == 0 ? 0 : ldexp(1, e - 127);
    }
  }
  return m->peak;
}

static weir_status measure(weir_record *r, int i, magnitudes *m)
{
  enum { BLOCK = 4096 };
  const int64_t count = weir_record_signal(r, i)->count;
  float x[BLOCK];
  uint8_t present[BLOCK];

  for (int64_t at = 0; at < count; at += BLOCK) {
    const int64_t n = count - at < BLOCK ? count - at : BLOCK;

    WEIR_TRY(weir_record_read(r, i, at, n, x, present));
    for (int64_t k = 0; k < n; k++) {
      const double value = fabs((double)x[k]);
      int e = 0;

      if (!present[k] || !isfinite(value)) {
        continue;
      }
      (void)frexp(value, &e);
      m->count[value > 0 ? (e < -126 ? 1 : e > 128 ? 255 : e + 127) : 0]++;
      m->peak = fmax(m->peak, value);
      m->total++;
    }
  }
  return WEIR_OK;
}

weir_status weir_convert_gain(weir_record *r, int i, double *gain)
{
  const weir_signal_info *const s = weir_record_signal(r, i);
  magnitudes m = {0};

  WEIR_TRY(measure(r, i, &m));
  const double usual = usual_magnitude(&m);

  if (usual > 0 && m.peak > OUTLIER * usual) {
    return weir_fail_option(
        weir_fail(WEIR_ERR_CONFIG,
                  "record %s: signal %s: its largest magnitude, %g, is more than %d times what "
                  "99 %% of its values reach, %g, and would leave them few of the 32767 steps "
                  "of the format: state the gain, the steps per unit (larger values are then "
                  "clipped), or mark these values as missing",
                  weir_record_name(r), s->name, m.peak, OUTLIER, usual),
        "gain");
  }
  *gain = 32000 / (m.peak > 0 ? m.peak : 1);
  const double step = pow(10, floor(log10(*gain)) - 2);

  *gain = floor(*gain / step) * step;
  return WEIR_OK;
}

weir_status weir_convert_check_clipped(const char *name, const weir_convert_facts *facts,
                                       double max_clipped)
{
  const int64_t present = facts->samples - facts->absent;

  if ((double)facts->clipped > max_clipped * (double)present) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "record %s: %lld of %lld samples lie beyond the range of the format, more "
                     "than %.3g %%: lower the gain, the steps per unit",
                     name, (long long)facts->clipped, (long long)present, 100 * max_clipped);
  }
  return WEIR_OK;
}
