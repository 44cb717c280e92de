/* weir_window.h - moving and tumbling aggregates: out[t] combines in[stride t + offset + dilation
 * k] over the window, k = 0 .. size - 1.
 *
 * Trailing mean and sum: offset = 1 - size. Tumbling: stride = size. Next present slot: offset = 1
 * and first. Elements outside the array are excluded unless a border rule is given. n elements give
 * ceil(n / stride). Outputs as reduce's. */
#ifndef WEIR_WINDOW_H
#define WEIR_WINDOW_H
#include "ops/weir_combine.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_window_spec {
  weir_monoid combine;
  int dim;
  int64_t size;     /* number of elements of a window                     */
  int64_t stride;   /* 0: 1                                             */
  int64_t dilation; /* 0: 1; may be negative                            */
  int64_t offset;
  weir_border border; /* 0: absent. Time: absent, zero, value, replicate */
  double fill;
  int accumulator; /* 1 + dtype, 0: see weir_combine_accumulator         */
} weir_window_spec;

extern const weir_op_desc weir_op_window;

/* presence as weir_reduce_at. Returns output 0; output k is {v.node, k}. */
weir_value weir_window_at(weir_graph *g, const weir_window_spec *spec, weir_value x,
                          weir_value presence, const char *where);
#define weir_window(g, spec, x) weir_window_at(g, spec, x, WEIR_NO_VALUE, WEIR_WHERE)
#define weir_window_present(g, spec, x, presence) weir_window_at(g, spec, x, presence, WEIR_WHERE)
/* Sum of the last n elements of dimension d, including this one; elements before the first count as
 * absent. */
#define weir_moving_sum(g, x, d, n)                                                            \
  weir_window_at(g,                                                                            \
                 &(weir_window_spec){                                                          \
                     .combine = WEIR_COMBINE_SUM, .dim = (d), .size = (n), .offset = 1 - (n)}, \
                 x, WEIR_NO_VALUE, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
