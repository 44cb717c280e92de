/* amplitude.c - see amplitude.h. */
#include "data/amplitude.h"
#include <math.h>
#include "base/weir_log.h"

void ps_amplitude_add(ps_amplitude *a, const float *x, const uint8_t *present, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    const double size = present[i] ? fabs((double)x[i]) : 0;

    a->n += present[i] != 0;
    a->beyond += size > PS_AMPLITUDE_LIMIT;
    a->peak = size > a->peak ? size : a->peak;
  }
}

void ps_amplitude_warn(const ps_amplitude *a, const char *signal, const char *record)
{
  if (a->beyond * 100 > a->n) {
    weir_warn("input",
              "signal %s of %s: %lld of %lld samples are beyond +-%g mV, up to %.4g mV, which is "
              "implausible for an ECG: is its unit stated wrongly (uV as mV)? correct it in the "
              "file",
              signal, record, (long long)a->beyond, (long long)a->n, PS_AMPLITUDE_LIMIT, a->peak);
  }
}
