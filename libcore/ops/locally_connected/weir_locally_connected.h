/* weir_locally_connected.h - a
 * convolution without weight sharing: every position of the output has its own weights.
 *
 *   x   [n, s1, .., sd, ci]             w   [o1, .., od, k1, .., kd, ci / groups, co]
 *   out [n, o1, .., od, co]
 *
 *   out[n, o, c] = sum over t, i of x[n, stride o + dilation t - lo, g ci / groups + i] w[o, t, i,
 * c]
 *
 * Extents, padding, borders and groups are those of weir_conv.h. */
#ifndef WEIR_LOCALLY_CONNECTED_H
#define WEIR_LOCALLY_CONNECTED_H
#include "ops/conv/weir_conv.h"
#ifdef __cplusplus
extern "C" {
#endif

extern const weir_op_desc weir_op_locally_connected;

/* Adds the operator, for the macro below; `where` is the caller's position. */
weir_value weir_locally_connected_at(weir_graph *g, const weir_conv_spec *spec, weir_value x,
                                     weir_value w, const char *where);
#define weir_locally_connected(g, spec, x, w) weir_locally_connected_at(g, spec, x, w, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
