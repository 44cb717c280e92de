/* amplitude.h - whether the values of an ECG are plausible in its unit. */
#ifndef PS_AMPLITUDE_H
#define PS_AMPLITUDE_H
#include <stdint.h>

/* Largest magnitude of an ECG, mV, an electrode offset included in most recordings. */
#define PS_AMPLITUDE_LIMIT 20.0

typedef struct ps_amplitude {
  int64_t n, beyond; /* present values, and those beyond the limit */
  double peak;       /* largest magnitude */
} ps_amplitude;

/* Counts x[n], mV. */
void ps_amplitude_add(ps_amplitude *a, const float *x, const uint8_t *present, int64_t n);
/* Warns where more than 1 % of the values are implausible. */
void ps_amplitude_warn(const ps_amplitude *a, const char *signal, const char *record);
#endif
