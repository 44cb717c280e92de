/* weir_random_op.h - random
 * numbers as an operator: identical for a (seed, node, step) with any engine, tiling and number of
 * threads. Never merged with an equal node. */
#ifndef WEIR_RANDOM_OP_H
#define WEIR_RANDOM_OP_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_random_kind {
  WEIR_RANDOM_UNIFORM, /* [0, 1), 53 bits (f32: 24)                                     */
  WEIR_RANDOM_NORMAL   /* mean 0, variance 1; Box and Muller, Ann. Math. Stat. 29 (1958) */
} weir_random_kind;

typedef struct weir_random_spec {
  weir_random_kind kind;
  weir_dtype dtype; /* f32 or f64 */
  int rank;
  int64_t shape[WEIR_MAX_RANK];
} weir_random_spec;

extern const weir_op_desc weir_op_random;

/* seed and step: scalars of i64. */
weir_value weir_random_at(weir_graph *g, const weir_random_spec *spec, weir_value seed,
                          weir_value step, const char *where);
#define weir_random(g, spec, seed, step) weir_random_at(g, spec, seed, step, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
