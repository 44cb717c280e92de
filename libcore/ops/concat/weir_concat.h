/* weir_concat.h - concatenation along a dimension: one array with a writer per input. */
#ifndef WEIR_CONCAT_H
#define WEIR_CONCAT_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

/* One input, written from `offset` on into an array of extent `extent` along `dim`. */
typedef struct weir_concat_spec {
  int dim;
  int64_t offset, extent;
} weir_concat_spec;

extern const weir_op_desc weir_op_concat;

/* Concatenates inputs that agree in dtype and in every other dimension. Not along time. */
weir_value weir_concat_at(weir_graph *g, const weir_value *input, int n, int dim,
                          const char *where);
#define weir_concat(g, input, n, dim) weir_concat_at(g, input, n, dim, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
