/* weir_design_fir.h - coefficients of FIR filters: windowed sinc, and the Kaiser low-pass of
 * rational resampling. Numbers only. */
#ifndef WEIR_DESIGN_FIR_H
#define WEIR_DESIGN_FIR_H
#include "stream/design/weir_design.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of taps: of a windowed sinc, of a polyphase filter. */
#define WEIR_DESIGN_MAX_TAPS 8191
#define WEIR_DESIGN_MAX_POLYPHASE 2000001

/* Frequencies in Hz; the edge that `band` does not use is ignored. The response is 1/2 at an edge;
 * between pass and stop band it takes about 3.3 rate / taps. */
typedef struct weir_fir_spec {
  weir_design_band band;
  int64_t taps; /* odd; the delay is (taps - 1)/2 samples */
  double lo, hi;
  double rate; /* samples per second */
} weir_fir_spec;

/* Computes h[taps], symmetric: ideal response times a Hamming window, scaled to gain 1 at 0 Hz
 * (low-pass, band-stop), half the rate (high-pass) or the band's middle; equals
 * scipy.signal.firwin. Fails: WEIR_ERR_CONFIG (taps even or outside 3..8191, edges not ascending
 * inside 0 < f < rate/2); h is then unchanged. */
weir_status weir_design_fir(const weir_fir_spec *spec, double *h) WEIR_CHECKED;

/* Returns the taps of the filter for a rate ratio up/down (positive): 20 max(up, down) + 1 after
 * both are divided by their greatest common divisor; 1 when that leaves 1/1. */
int64_t weir_design_polyphase_taps(int64_t up, int64_t down);
/* Low-pass at the lower of both half rates, for samples `up` times as dense: h of as many taps,
 * symmetric, sum `up` (reduced): a Kaiser window of beta 5 on 10 max(up, down) samples to either
 * side, as scipy.signal.resample_poly designs it. Output k of a stream is the sum over input i of
 * h[middle + down k - up i] x[i]. Fails: WEIR_ERR_CONFIG (not positive, or more than
 * WEIR_DESIGN_MAX_POLYPHASE taps); h is then untouched. */
weir_status weir_design_polyphase(int64_t up, int64_t down, double *h) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
