/* weir_design.h - coefficients of recursive filters: Butterworth and notch sections, their steady
 * state, response, delay and decay. Numbers only: running a filter is a scan over time. */
#ifndef WEIR_DESIGN_H
#define WEIR_DESIGN_H
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* One second-order section, H(z) = (b0 + b1/z + b2/z^2) / (1 + a1/z + a2/z^2). Run as transposed
 * direct form II: y = b0 x + s1; s1 = b1 x - a1 y + s2; s2 = b2 x - a2 y, states in double. */
typedef struct weir_sos {
  double b0, b1, b2, a1, a2;
} weir_sos;

typedef enum weir_design_band {
  WEIR_DESIGN_LOWPASS,  /* passes below hi */
  WEIR_DESIGN_HIGHPASS, /* passes above lo */
  WEIR_DESIGN_BANDPASS, /* passes lo..hi   */
  WEIR_DESIGN_BANDSTOP  /* stops lo..hi    */
} weir_design_band;

/* Maximum number of sections of a filter. */
#define WEIR_DESIGN_MAX_SECTIONS 32

/* Specification of a filter. Frequencies in Hz; the edge that `band` does not use is ignored. */
typedef struct weir_design_spec {
  weir_design_band band;
  int order; /* of the low-pass prototype; band-pass and band-stop have twice as many poles */
  double lo, hi;
  double rate; /* samples per second */
} weir_design_spec;

/* Checks that the edges ascend inside 0 < f < rate/2; `what` begins the message. An edge that the
 * band does not use is ignored. Fails: WEIR_ERR_CONFIG. */
weir_status weir_design_check_band(const char *what, weir_design_band band, double lo, double hi,
                                   double rate) WEIR_CHECKED;

/* Butterworth filter by the bilinear transform with pre-warped edges (-3 dB exactly there). Writes
 * *count sections to sos[WEIR_DESIGN_MAX_SECTIONS], the sharpest last and the gain in the first,
 * the order in which scipy.signal.butter(output='sos') gives them (pole-zero pairing `nearest`).
 * Fails: WEIR_ERR_CONFIG (order outside 1..32 or too many sections, edges not ascending inside
 * 0 < f < rate/2); sos and *count are then untouched. */
weir_status weir_design_butterworth(const weir_design_spec *spec, weir_sos *sos,
                                    int *count) WEIR_CHECKED;

/* Notch of quality q at f0: zeros on the unit circle at f0, -3 dB width f0/q.
 * Fails: WEIR_ERR_CONFIG (f0 outside 0 < f0 < rate/2, q not positive). */
weir_status weir_design_notch(double f0, double q, double rate, weir_sos *sos) WEIR_CHECKED;

/* Computes the states (s1, s2) of each section, zi[2 * count], after an infinite input of 1:
 * multiply by the first sample to start a filter without a step response. */
void weir_design_steady_state(const weir_sos *sos, int count, double *zi);
/* Returns the group delay at f in samples; NaN where |H| is 0. */
double weir_design_delay(const weir_sos *sos, int count, double f, double rate);
/* Returns the largest pole radius: below 1 for a stable filter. */
double weir_design_radius(const weir_sos *sos, int count);

#ifdef __cplusplus
}
#endif
#endif
