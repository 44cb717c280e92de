/* weir_transpose.h - permutation of dimensions: dimension k of the output is dimension order[k] of
 * the input. */
#ifndef WEIR_TRANSPOSE_H
#define WEIR_TRANSPOSE_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_transpose_spec {
  int order[WEIR_MAX_RANK];
} weir_transpose_spec;

extern const weir_op_desc weir_op_transpose;

/* Adds the operator, for the macros below; `where` is the caller's position. */
weir_value weir_transpose_at(weir_graph *g, weir_value x, const weir_transpose_spec *spec,
                             const char *where);
#define weir_transpose(g, x, spec) weir_transpose_at(g, x, spec, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
