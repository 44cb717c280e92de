/* weir_conv.h - convolution over 1 to 3 dimensions, channels last.
 *
 *   x   [n, s1, .., sd, ci]             w   [k1, .., kd, ci / groups, co]
 *   out [n, o1, .., od, co]             o = floor((s + lo + hi - dilation (k - 1) - 1) / stride) +
 * 1
 *
 *   out[n, o, c] = sum over t, i of x[n, stride o + dilation t - lo, g ci / groups + i] w[t, i, c]
 *
 * with g = floor(c groups / co): a
 * cross-correlation, called convolution in the field. Padding is 0, or follows the border rule of
 * its dimension: wrap (a longitude), replicate, reflect. A bias is an addition, a transposed
 * convolution is the derivative of this one with respect to x. Floats; the sums are in the dtype of
 * x. */
#ifndef WEIR_CONV_H
#define WEIR_CONV_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_CONV_DIMS 3

typedef struct weir_conv_spec {
  int64_t stride[WEIR_CONV_DIMS], dilation[WEIR_CONV_DIMS];      /* 0: 1 */
  int64_t pad_before[WEIR_CONV_DIMS], pad_after[WEIR_CONV_DIMS]; /* padding before and after */
  weir_border border[WEIR_CONV_DIMS]; /* 0 or zero: padding is 0; wrap, replicate, reflect */
  int64_t groups;                     /* 0: 1 */
} weir_conv_spec;

extern const weir_op_desc weir_op_conv;

/* Checks two inputs, x as above and w [kernel sizes, `channels`], of one floating-point dtype and
 * without time; messages begin with `op`. Fails: WEIR_ERR_SHAPE. */
weir_status weir_conv_check(const char *op, const weir_op_args *args,
                            const char *channels) WEIR_CHECKED;

/* Adds the operator, for the macro below; `where` is the caller's position. */
weir_value weir_conv_at(weir_graph *g, const weir_conv_spec *spec, weir_value x, weir_value w,
                        const char *where);
#define weir_conv(g, spec, x, w) weir_conv_at(g, spec, x, w, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
