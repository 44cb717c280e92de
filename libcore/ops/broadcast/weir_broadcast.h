/* weir_broadcast.h - an array repeated to a shape by numpy's rule: dimensions are aligned at the
 * end, missing ones and those of extent 1 are repeated. */
#ifndef WEIR_BROADCAST_H
#define WEIR_BROADCAST_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_broadcast_spec {
  int rank;
  int64_t shape[WEIR_MAX_RANK]; /* time: WEIR_UNBOUNDED */
  int time;                     /* 1 + the unbounded dimension, 0: none */
} weir_broadcast_spec;

extern const weir_op_desc weir_op_broadcast;

/* Adds the operator, for the macros below; `where` is the caller's position. */
weir_value weir_broadcast_at(weir_graph *g, weir_value x, const weir_broadcast_spec *spec,
                             const char *where);
#define weir_broadcast(g, x, spec) weir_broadcast_at(g, x, spec, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
