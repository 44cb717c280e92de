/* cascade_priv.h - a cascade of second-order sections, 16 samples at a time.
 *
 * The states z of a cascade in transposed direct form II and its outputs are linear in the states
 * before and in the samples: for a block x of 16 samples
 *   y = T x + O z,   z' = C x + A z
 * where column j of T and C is what an impulse at sample j gives, and column i of O and A what a
 * unit in state i gives. The matrices come from running the recurrence, all in double. Sums are
 * taken in one order with fused multiply-add, so that every instruction set gives the same bits;
 * T is 0 above its diagonal, so that a truncated block is a block padded with zeros. */
#ifndef WEIR_CASCADE_PRIV_H
#define WEIR_CASCADE_PRIV_H
#include <stdbool.h>
#include "stream/design/weir_design.h"

enum { CASCADE_BLOCK = 16, CASCADE_STATES = 2 * WEIR_DESIGN_MAX_SECTIONS };

typedef struct weir_cascade {
  int64_t sections, states;
  bool blocks; /* the block form agrees with the recurrence; else the recurrence is run */
  weir_sos section[WEIR_DESIGN_MAX_SECTIONS];
  double steady[CASCADE_STATES];
  /* Aligned: a vector across two cache lines is read at half the speed. */
  _Alignas(64) double t[CASCADE_BLOCK][CASCADE_BLOCK];
  double o[CASCADE_STATES][CASCADE_BLOCK];
  double c[CASCADE_BLOCK][CASCADE_STATES], a[CASCADE_STATES][CASCADE_STATES];
} weir_cascade;

/* `n` blocks of samples from x to y (which may be x); z[CASCADE_STATES], aligned to 64, moves on.
 * Samples that are not finite leave states that are not. */
typedef struct weir_cascade_kernels {
  void (*f32)(const weir_cascade *m, double *z, const float *x, float *y, int64_t n);
  void (*f64)(const weir_cascade *m, double *z, const double *x, double *y, int64_t n);
  /* In place from the end on: x points past the last sample of the first block. */
  void (*back)(const weir_cascade *m, double *z, double *x, int64_t n);
} weir_cascade_kernels;

extern const weir_cascade_kernels weir_cascade_base;
#if defined(__x86_64__)
extern const weir_cascade_kernels weir_cascade_avx2, weir_cascade_avx512;
#endif
/* Those of this processor. */
const weir_cascade_kernels *filter_cascade_kernels(void);

/* The matrices of section[n], 1 <= n <= WEIR_DESIGN_MAX_SECTIONS, zeroed memory. The block form is
 * used where it follows the recurrence to 1e-11 of the largest value of a noise with a step. */
void filter_cascade_init(weir_cascade *m, const weir_sos *section, int n);
/* One sample through the recurrence. */
double filter_cascade_step(const weir_cascade *m, double *z, double x);
/* n samples in place, any n: whole blocks, and the rest by the recurrence; back: from the last
 * sample to the first. */
void filter_cascade_run(const weir_cascade *m, double *z, double *x, int64_t n);
void filter_cascade_back(const weir_cascade *m, double *z, double *x, int64_t n);
#endif
