/* weir_reduce.h - reduction over any dimensions by a monoid.
 *
 * Outputs are those of the monoid (graph/weir_access.h), in the accumulator's dtype but for
 * argmax's position (i64) and the presence of first and last (bool). Order of additions:
 * exec/weir_engine.h. Time is not reduced over: use window or scan. */
#ifndef WEIR_REDUCE_H
#define WEIR_REDUCE_H
#include "ops/weir_combine.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_reduce_spec {
  weir_monoid combine;
  int n_dims; /* 0: all dimensions */
  int dim[WEIR_MAX_RANK];
  bool keep;       /* reduced dimensions are kept, with extent 1 */
  int accumulator; /* 1 + dtype, 0: see weir_combine_accumulator       */
} weir_reduce_spec;

extern const weir_op_desc weir_op_reduce;

/* in: x, and for moments, first and last optionally a bool presence that broadcasts to x. Returns
 * output 0; output k is {v.node, k}. */
weir_value weir_reduce_at(weir_graph *g, const weir_reduce_spec *spec, weir_value x,
                          weir_value presence, const char *where);
/* One dimension; dim -1: all. */
weir_value weir_reduce_dim_at(weir_graph *g, weir_monoid combine, weir_value x, int dim,
                              const char *where);

#define weir_reduce(g, spec, x) weir_reduce_at(g, spec, x, WEIR_NO_VALUE, WEIR_WHERE)
#define weir_reduce_present(g, spec, x, presence) weir_reduce_at(g, spec, x, presence, WEIR_WHERE)
#define weir_sum(g, x, dim) weir_reduce_dim_at(g, WEIR_COMBINE_SUM, x, dim, WEIR_WHERE)
#define weir_prod(g, x, dim) weir_reduce_dim_at(g, WEIR_COMBINE_PROD, x, dim, WEIR_WHERE)
#define weir_max_over(g, x, dim) weir_reduce_dim_at(g, WEIR_COMBINE_MAX, x, dim, WEIR_WHERE)
#define weir_min_over(g, x, dim) weir_reduce_dim_at(g, WEIR_COMBINE_MIN, x, dim, WEIR_WHERE)
#define weir_argmax(g, x, dim) weir_reduce_dim_at(g, WEIR_COMBINE_ARGMAX, x, dim, WEIR_WHERE)
#define weir_moments(g, x, dim) weir_reduce_dim_at(g, WEIR_COMBINE_MOMENTS, x, dim, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
