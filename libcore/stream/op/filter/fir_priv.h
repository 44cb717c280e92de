/* fir_priv.h - a symmetric filter with finite response in direct form, in f32.
 *
 * Output t is the sum over pairs of taps, h[j] (x[t - j] + x[t - (taps - 1) + j]), the middle tap
 * being a pair of halves. It is taken with fused multiply-add for r = 0..15 over the pairs j = r,
 * r + 16, r + 32, ...: the order in which a vector of samples, loaded once, serves several outputs.
 * It is the same for every instruction set and however many outputs are made at once. */
#ifndef WEIR_FIR_PRIV_H
#define WEIR_FIR_PRIV_H
#include <stdbool.h>
#include <stdint.h>
#include "stream/design/weir_design_fir.h"

enum { FIR_STEP = 16, FIR_PHASE = WEIR_DESIGN_MAX_TAPS / 2 / FIR_STEP + 1 };

/* h[r * FIR_PHASE + q] is the tap of pair r + 16 q. */
typedef struct weir_fir {
  int64_t taps, pairs;
  float h[FIR_STEP * FIR_PHASE];
} weir_fir;

/* y[0, n) from x[-(taps - 1), n). */
typedef void (*weir_fir_kernel)(const weir_fir *m, const float *x, float *y, int64_t n);

extern const weir_fir_kernel weir_fir_base;
#if defined(__x86_64__)
extern const weir_fir_kernel weir_fir_avx2, weir_fir_avx512;
#endif

/* Taps h[taps], symmetric, rounded to f32; taps odd, <= WEIR_DESIGN_MAX_TAPS. */
void filter_fir_init(weir_fir *m, const double *h, int64_t taps);

/* What a call sees: slots [from, to), x[0] being slot `from`; present: 0 or 1. */
typedef struct fir_span {
  const float *x;
  const uint8_t *present;
  int64_t from, to;
} fir_span;

/* The slot at which the run begins that slot t is in; t - reach if it begins no later. */
int64_t filter_fir_start(const fir_span *at, int64_t t, int64_t reach);
/* Outputs of slots [t, end), all of one run, to y[0, end - t): before the run its first sample
 * stands indefinitely. */
void filter_fir_outputs(const weir_fir *m, const fir_span *at, int64_t t, int64_t end, float *y);
#endif
