/* weir_gather.h - out[.., j.., ..] = in[.., index[j..], ..]: elements
 * selected along one dimension by an integer array, whose shape replaces that dimension. Every
 * index must be in the declared range; outside the array the border rule applies. */
#ifndef WEIR_GATHER_H
#define WEIR_GATHER_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_gather_spec {
  int dim;
  int64_t lo, hi;     /* declared range [lo, hi) of the indices; both 0: [0, extent)      */
  weir_border border; /* zero, value, wrap, replicate, reflect: where the range exceeds the array */
  double fill;
} weir_gather_spec;

extern const weir_op_desc weir_op_gather;

/* Adds the operator, for the macros below; `where` is the caller's position. */
weir_value weir_gather_at(weir_graph *g, weir_value x, weir_value index,
                          const weir_gather_spec *spec, const char *where);
#define weir_gather(g, x, index, spec) weir_gather_at(g, x, index, spec, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
