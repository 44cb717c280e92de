/* weir_layout.h - memory layout (order of dimensions) of temporaries.
 *
 * Arrays
 * are row-major, and temporaries are accessed only through accesses: another layout is the same
 * array with its dimensions, and the indices of all readers and writers, permuted. A layout is thus
 * a rewrite of the graph; engines, kernels, traffic and memory planning do not depend on it.
 */
#ifndef WEIR_LAYOUT_H
#define WEIR_LAYOUT_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether the layout of an array is free: a temporary of a bounded graph that only
 * structured operators access, and neither a result nor a new value of a stored array. */
bool weir_layout_is_free(const weir_graph *g, int32_t array);
/* Permutes a free array for all its readers and writers: dimension order[k] becomes dimension k,
 * recorded in weir_array.built_as. order: a permutation. */
void weir_layout_set(weir_graph *g, int32_t array, const int *order);
/* Permutes the parallel dimensions of a node's iterations to the order of its first output. False,
 * without a change, where the order has a meaning (scans, random bits) or is already the same. */
bool weir_layout_follow(weir_graph *g, int32_t node);

#ifdef __cplusplus
}
#endif
#endif
