/* weir_conv_transposed.h - transposed convolution over 1 to 3 dimensions, channels last: every
 * element of x contributes to the kernel elements of w.
 *
 *   x   [n, s1, .., sd, ci]             w   [k1, .., kd, co / groups, ci]
 *   out [n, o1, .., od, co]             o = stride (s - 1) + dilation (k - 1) + 1 + extra - lo - hi
 *
 *   out[n, stride i + dilation t - lo, c] += x[n, i, g ci / groups + j] w[t, c - g co / groups, ..]
 *
 * with c and j of the same group g: the
 * backward-data pass of the convolution of that spec (ops/conv), whose input has the shape of this
 * output. Elements beyond the ends are cropped or, with wrap, wrap around (the output is then
 * stride times as long as x). A bias is an addition. Floats; the sums are in the dtype of x. */
#ifndef WEIR_CONV_TRANSPOSED_H
#define WEIR_CONV_TRANSPOSED_H
#include "ops/conv/weir_conv.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_conv_transposed_spec {
  int64_t stride[WEIR_CONV_DIMS], dilation[WEIR_CONV_DIMS];      /* 0: 1 */
  int64_t pad_before[WEIR_CONV_DIMS], pad_after[WEIR_CONV_DIMS]; /* cropped before and after */
  int64_t output_padding[WEIR_CONV_DIMS]; /* output padding: additional elements at the end, less
                                    than the stride */
  weir_border border[WEIR_CONV_DIMS];     /* 0 or zero: crop; wrap */
  int64_t groups;                         /* 0: 1 */
} weir_conv_transposed_spec;

extern const weir_op_desc weir_op_conv_transposed;

/* Adds the operator, for the macro below; `where` is the caller's position. */
weir_value weir_conv_transposed_at(weir_graph *g, const weir_conv_transposed_spec *spec,
                                   weir_value x, weir_value w, const char *where);
#define weir_conv_transposed(g, spec, x, w) weir_conv_transposed_at(g, spec, x, w, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
