/* weir_resize_op.h - nearest and linear resize over 1 to 3 dimensions of [n, s1, .., sd, c],
 * channels last: one resample (weir_resample.h) for each dimension that changes, shrinking ones
 * first.
 *
 * Centres of cells are aligned (half-pixel): element o of the result lies at (o + 1/2) s / size -
 * 1/2. Beyond the first and last centre edges are replicated or, with wrap, joined (a longitude).
 */
#ifndef WEIR_RESIZE_OP_H
#define WEIR_RESIZE_OP_H
#include "ops/resample/weir_resample.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_RESIZE_DIMS 3

typedef struct weir_resize_spec {
  bool linear;                          /* else nearest                   */
  int64_t size[WEIR_RESIZE_DIMS];       /* of the result; 0: unchanged */
  int64_t factor[WEIR_RESIZE_DIMS];     /* size in units of x's; 0: see size */
  weir_border border[WEIR_RESIZE_DIMS]; /* linear: 0 or replicate, wrap   */
} weir_resize_spec;

/* Nearest: any dtype; linear: floats. */
weir_value weir_resize_at(weir_graph *g, const weir_resize_spec *spec, weir_value x,
                          const char *where);
#define weir_resize(g, spec, x) weir_resize_at(g, spec, x, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
