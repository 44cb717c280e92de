/* weir_split.h - propagation of a split of one array dimension through a graph.
 *
 * The
 * placement rule (docs: core, "Placement"), derived from the accesses: a parallel dimension splits
 * the operands that index it and needs the others completely; a reduced one leaves partial results
 * that its monoid merges; other readers of the dimension need all pieces. Only dimensions that
 * operands follow one to one are split, so that no piece needs its neighbour. */
#ifndef WEIR_SPLIT_H
#define WEIR_SPLIT_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Of the bytes that a split would reach: what it must reach to be worth it, once what blocks it is
 * left whole. */
#define WEIR_DIM_SPLIT_MIN_SHARE 0.5

typedef struct weir_dim_split {
  int32_t n_arrays, n_nodes; /* of the graph when this was found */
  int8_t *array;   /* [arrays] dimension that is split, -1: the array belongs to all pieces */
  int8_t *node;    /* [nodes] iteration dimension that is split, -1: the node runs once */
  int64_t extent;  /* of the dimension                                                    */
  int32_t blocker; /* node that needs all pieces and that a split one waits for, -1: none; a piece
                      can be finished before the next begins only where there is none */
} weir_dim_split;

/* Splits dimension `dim` of `array` and everything that depends on it. A total that pieces would
 * wait for runs once, before them, with what it is made of, where at least half of the bytes stay
 * split. fini frees. Fails:
 * WEIR_ERR_MEMORY. */
weir_status weir_dim_split_find(const weir_graph *g, int32_t array, int dim,
                                weir_dim_split *out) WEIR_CHECKED;
void weir_dim_split_fini(weir_dim_split *s);
/* Returns the bytes of the split arrays that split nodes make. */
double weir_dim_split_bytes(const weir_graph *g, const weir_dim_split *s);
/* Returns whether pieces of the split node give partial results: its dimension is reduced. */
bool weir_dim_split_is_partial(const weir_graph *g, const weir_dim_split *s, int32_t node);

#ifdef __cplusplus
}
#endif
#endif
