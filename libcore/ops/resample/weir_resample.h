/* weir_resample.h - resampling
 * along one dimension, by the rational factor up / down, or to another length.
 *
 *   hold          out[t] = in[floor(down t / up)]
 *   linear        between that element and the next, by the remainder; the last one is repeated
 *   fir           out[t] = sum_k h[up k + p] in[q - k], q and p quotient and remainder of
 *                 (down t + delay) / up: zero stuffing, filter h, decimation. in is 0 outside
 *                 unless a border says otherwise. up = down = 1: an FIR filter
 *   resize, resize_linear
 *                 to `length` elements, centres of cells aligned (half-pixel): nearest, or linear
 *                 between the two nearest centres, edges replicated or, border wrap, joined
 *
 * n elements give ceil(n up / down). Time: hold, linear, fir. */
#ifndef WEIR_RESAMPLE_H
#define WEIR_RESAMPLE_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_resample_method {
  WEIR_RESAMPLE_HOLD,
  WEIR_RESAMPLE_LINEAR,
  WEIR_RESAMPLE_FIR,
  WEIR_RESAMPLE_RESIZE,
  WEIR_RESAMPLE_RESIZE_LINEAR
} weir_resample_method;

typedef struct weir_resample_spec {
  weir_resample_method method;
  int dim;
  int64_t up, down;   /* 0: 1 */
  int64_t delay;      /* fir: delay of the filter, in steps of 1 / up; may be negative */
  weir_border border; /* fir; 0: absent. resize_linear: replicate, 0 too, or wrap */
  double fill;
  int accumulator; /* fir: 1 + dtype, 0: that of in */
  int64_t length;  /* resize */
} weir_resample_spec;

extern const weir_op_desc weir_op_resample;

/* taps: fir only, else WEIR_NO_VALUE: h as [ceil(n / up), up], row by row, in the dtype of x; up =
 * 1: [n] will do. linear and fir take floats. */
weir_value weir_resample_at(weir_graph *g, const weir_resample_spec *spec, weir_value x,
                            weir_value taps, const char *where);
#define weir_resample(g, spec, x) weir_resample_at(g, spec, x, WEIR_NO_VALUE, WEIR_WHERE)
#define weir_resample_fir(g, spec, x, taps) weir_resample_at(g, spec, x, taps, WEIR_WHERE)
/* out[t] = sum_k taps[k] x[t - k] along dimension d. */
#define weir_fir(g, x, taps, d)                                                                \
  weir_resample_at(g, &(weir_resample_spec){.method = WEIR_RESAMPLE_FIR, .dim = (d)}, x, taps, \
                   WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
