/* weir_slice.h - out[i] = in[start + step * i] along one dimension, as in numpy: negative start and
 * stop count from the end, steps may be negative. On time: start >= 0, step > 0, no stop; a stream
 * of n slots gives ceil(n / step), of which those beyond its end are 0. */
#ifndef WEIR_SLICE_H
#define WEIR_SLICE_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_SLICE_END INT64_MAX /* stop: through the last (step < 0: the first) element */

typedef struct weir_slice_spec {
  int dim;
  int64_t start, stop;
  int64_t step; /* 0: 1 */
} weir_slice_spec;

extern const weir_op_desc weir_op_slice;

/* Adds the operator, for the macros below; `where` is the caller's position. */
weir_value weir_slice_at(weir_graph *g, weir_value x, const weir_slice_spec *spec,
                         const char *where);
#define weir_slice(g, x, d, from, to, by)                                                          \
  weir_slice_at(g, x, &(weir_slice_spec){.dim = (d), .start = (from), .stop = (to), .step = (by)}, \
                WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
