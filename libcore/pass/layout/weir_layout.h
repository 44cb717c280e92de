/* weir_layout.h - in which order the dimensions of a temporary lie in memory.
 *
 * Arrays are row-major, and nothing but accesses reads or writes a temporary: another order in
 * memory is the same array with its dimensions, and the indices of all who touch it, in another
 * order. So a format is a rewrite of the graph; engines, kernels, traffic and memory know of none.
 */
#ifndef WEIR_LAYOUT_H
#define WEIR_LAYOUT_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* True for a temporary of a bounded graph that structured operators alone touch, and whose order
 * is nobody's business outside: no result, no new value of a stored array. */
bool weir_layout_is_free(const weir_graph *g, int32_t array);
/* Dimension order[k] of a free array becomes dimension k, for all its readers and writers; as
 * weir_array.built_as tells. order: a permutation. */
void weir_layout_set(weir_graph *g, int32_t array, const int *order);
/* The parallel dimensions of a node's iterations take the order in which its first output has
 * them. False, and nothing changes, where the order is part of the meaning (scans, random bits) or
 * the dimensions are in that order already. */
bool weir_layout_follow(weir_graph *g, int32_t node);

#ifdef __cplusplus
}
#endif
#endif
