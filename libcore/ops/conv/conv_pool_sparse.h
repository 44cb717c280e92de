/* conv_pool_sparse.h - gradients of a convolution that only maxima over windows saw, as their
 * derivation says and their access shows: y is read at floor(e / window) in each dimension, and
 * counts where the byte at the same index is the position of e in its window, row-major. Without
 * this condition it is a convolution's gradient.
 */
#ifndef CONV_POOL_SPARSE_H
#define CONV_POOL_SPARSE_H
#include "ops/conv/conv_form.h"

typedef struct conv_pool_sparse {
  conv_form form; /* of whole windows: y_extent is window times the number of maxima */
  int64_t window[CONV_FORM_DIMS];
  int argmax; /* input operand: the bytes, [n, maxima, channels] as y */
} conv_pool_sparse;

/* True, and *p filled, when the access is one. */
bool conv_pool_sparse_of(const weir_access *a, const weir_derivation *derivation,
                         conv_pool_sparse *p);
/* Likewise of the one node of a group. */
bool conv_pool_sparse_of_group(const weir_graph *g, const weir_group *group, conv_pool_sparse *p);

#endif
