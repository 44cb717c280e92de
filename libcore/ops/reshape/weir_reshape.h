/* weir_reshape.h - the same elements in row-major order under another shape. Time
 * stays a separate dimension: give WEIR_UNBOUNDED at its position. */
#ifndef WEIR_RESHAPE_H
#define WEIR_RESHAPE_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_reshape_spec {
  int rank;
  int64_t shape[WEIR_MAX_RANK]; /* one may be -1: the remaining extent */
} weir_reshape_spec;

extern const weir_op_desc weir_op_reshape;

/* Adds the operator, for the macros below; `where` is the caller's position. */
weir_value weir_reshape_at(weir_graph *g, weir_value x, const weir_reshape_spec *spec,
                           const char *where);
#define weir_reshape(g, x, spec) weir_reshape_at(g, x, spec, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
