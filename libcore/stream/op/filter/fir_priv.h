/* fir_priv.h - a filter with finite response in direct form, in f32.
 *
 * Output t is the sum of h[j] x[t - j], taken with fused multiply-add for r = 0..15 over the taps
 * j = r, r + 16, r + 32, ...: the order in which a vector of samples, loaded once, serves several
 * outputs. It is the same for every instruction set and however many outputs are made at once. */
#ifndef WEIR_FIR_PRIV_H
#define WEIR_FIR_PRIV_H
#include <stdbool.h>
#include <stdint.h>
#include "stream/weir_design_fir.h"

enum { FIR_STEP = 16, FIR_PHASE = WEIR_DESIGN_MAX_TAPS / FIR_STEP + 1 };

/* h[r * per_phase + q] is tap r + 16 q, 0 beyond the last. */
typedef struct weir_fir {
  int64_t taps, per_phase;
  float h[FIR_STEP * FIR_PHASE];
} weir_fir;

/* y[0, n) from x[-reach, n), reach = filter_fir_reach. */
typedef void (*weir_fir_kernel)(const weir_fir *m, const float *x, float *y, int64_t n);

extern const weir_fir_kernel weir_fir_base;
#if defined(__x86_64__)
extern const weir_fir_kernel weir_fir_avx2, weir_fir_avx512;
#endif

/* Samples before the first that a kernel reads. */
static inline int64_t filter_fir_reach(const weir_fir *m)
{
  return FIR_STEP * m->per_phase - 1;
}

/* Taps h[taps] rounded to f32, taps <= WEIR_DESIGN_MAX_TAPS; zeroed memory. */
void filter_fir_init(weir_fir *m, const double *h, int64_t taps);
#endif
