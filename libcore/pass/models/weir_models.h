/* weir_models.h - horizontal fusion: several models of one shape as one graph (HFTA, Wang et al.,
 * MLSys 2021, arXiv:2102.02344).
 *
 * Models that differ in their numbers alone (initial weights, seeds, learning rates) have the same
 * operators. The graph of one becomes that of all: what differs between models gets a dimension
 * `model` in front, of arrays and of the iterations of the operators that compute them, through
 * their boxes and index maps; what all models share stays as it is, and is computed once. Every
 * model's numbers are bitwise those of the graph before. */
#ifndef WEIR_MODELS_H
#define WEIR_MODELS_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Makes g, which has no groups yet, the graph of `models` models. Every stored array and every
 * result becomes [models, ..], and so does each of the n inputs named in `own` (names that are no
 * input are ignored); other inputs are shared. models 1: g is unchanged. A loss of all of them is
 * not needed: gradients are part of the graph. Fails, and g must then be destroyed:
 * WEIR_ERR_UNSUPPORTED for what cannot have the dimension, naming node and line: calls, library
 * operators, scans whose states are arrays, arrays of the maximum rank; WEIR_ERR_SHAPE (models <
 * 1); WEIR_ERR_MEMORY; the graph's first error. */
weir_status weir_models_fuse(weir_graph *g, int64_t models, const char *const *own,
                             int n) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
