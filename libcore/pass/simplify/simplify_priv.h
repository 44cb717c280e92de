/* simplify_priv.h - the steps of the pass; each sets *changed when it changed the graph. All keep
 * every bit of every result. */
#ifndef WEIR_SIMPLIFY_PRIV_H
#define WEIR_SIMPLIFY_PRIV_H
#include "pass/weir_pass.h"

/* Constants of rank 0 move into the bodies that load them; x * 1, x + -0, casts to the own dtype
 * and the like go. */
weir_status simplify_bodies(weir_graph *g, bool *changed) WEIR_CHECKED;
/* Readers of a node that only copies read what it copies; two transposes become one. */
weir_status simplify_copy_prop(weir_graph *g, bool *changed) WEIR_CHECKED;
/* Nodes whose inputs are constants, element by element, become constants. */
weir_status simplify_const_fold(weir_graph *g, bool *changed) WEIR_CHECKED;
/* Of nodes that compute the same from the same arrays one stays. */
weir_status simplify_cse(weir_graph *g, bool *changed) WEIR_CHECKED;
/* What no result, stored array or call needs is dead. */
weir_status simplify_dce(weir_graph *g, bool *changed) WEIR_CHECKED;

/* Live, structured, and free of random bits: what the steps may touch. */
bool simplify_is_plain(const weir_node *node);
/* Output number o is the only writer of its array, which is no result. */
bool simplify_is_inner(const weir_graph *g, const weir_node *node, int o);
/* Whoever reads or stores array `from` takes `to` instead. */
void simplify_replace(weir_graph *g, int32_t from, int32_t to);
#endif
