/* filter_priv.h - the step `filter`: its options, designs and kernels. */
#ifndef WEIR_FILTER_PRIV_H
#define WEIR_FILTER_PRIV_H
#include "stream/op/filter/weir_stream_filter.h"
#include <stdbool.h>
#include "stream/design/weir_design_fir.h"

typedef enum filter_kind {
  FILTER_LOWPASS,
  FILTER_HIGHPASS,
  FILTER_BANDPASS,
  FILTER_BANDSTOP,
  FILTER_NOTCH,
  FILTER_FIR_LOWPASS,
  FILTER_FIR_HIGHPASS,
  FILTER_FIR_BANDPASS,
  FILTER_FIR_BANDSTOP
} filter_kind;
#define FILTER_KINDS                         \
  "lowpass|highpass|bandpass|bandstop|notch" \
  "|fir_lowpass|fir_highpass|fir_bandpass|fir_bandstop"

enum { FILTER_AUTO, FILTER_DIRECT, FILTER_FFT };
#define FILTER_METHODS "auto|direct|fft"

typedef struct filter_opts {
  int kind;
  double lo, hi;
  int64_t order, taps;
  double f0, q;
  int64_t harmonics;
  int method; /* of a fir filter: FILTER_AUTO, FILTER_DIRECT, FILTER_FFT */
  bool zero_phase, compensate_delay;
  double tolerance, settling, look_ahead;
} filter_opts;

/* What the options design at a rate: sections, or taps. */
typedef struct filter_design {
  weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
  int sections; /* 0: taps */
  int64_t taps;
  double h[WEIR_DESIGN_MAX_TAPS];
  double middle;    /* Hz where the delay is stated                                   */
  double delay;     /* slots at that frequency; (taps - 1)/2                            */
  int64_t settling; /* slots: 3 time constants of the slowest pole, or taps - 1         */
} filter_design;

/* Fails: WEIR_ERR_CONFIG with the option and the reason. */
weir_status filter_design_make(const filter_opts *o, double rate, filter_design *out) WEIR_CHECKED;

/* Replaces the value of s by h[taps] applied to it; before each run stands its first sample. */
weir_status filter_fir(const weir_series_use *use, const double *h, int64_t taps,
                       weir_series *s) WEIR_CHECKED;
/* The same by Fourier transforms of blocks: faster from about 200 taps on, looks ahead two blocks,
 * 3000 to 32 000 slots. */
weir_status filter_fir_fft(const weir_series_use *use, const double *h, int64_t taps,
                           weir_series *s) WEIR_CHECKED;
/* Replaces the value of s by the cascade run forward and backward over each run of samples, as
 * scipy.signal.sosfiltfilt does. Looks ahead until what is beyond has decayed to 1e-12, in blocks;
 * fails with WEIR_ERR_CONFIG when that is more than `max_slots` slots. */
weir_status filter_zero_phase(const weir_series_use *use, const weir_sos *sos, int n,
                              int64_t max_slots, weir_series *s) WEIR_CHECKED;
#endif
