/* mmd.h - maximum mean discrepancy of two sets of points (Gretton et al., JMLR 13 (2012) 723), as a
 * loss that makes a network's outputs for samples of two simulations alike (Long et al., ICML 2015,
 * arXiv:1502.02791). */
#ifndef CF_MMD_H
#define CF_MMD_H
#include "graph/weir_graph.h"

/* Joins arrays of one shape [n, ..] to [2 n, ..]: sample i of the source is row 2 i, of the target
 * row 2 i + 1, so that a rank joins the samples that it has. */
weir_value cf_mmd_join(weir_graph *g, weir_value source, weir_value target);
/* Returns the rows of the source, [n, ..]. */
weir_value cf_mmd_source(weir_graph *g, weir_value joined);
/* Returns the square of the discrepancy of joined points [2 n, f], a scalar: the unbiased estimate
 * (their eq. 3), which may be below 0, with the kernel
 *
 *   k(a, b) = mean over the bandwidths s of exp(-|a - b|^2 / (2 f s^2))
 *
 * of points [n > 1]. Of one pair of points, as in a last batch of one sample, it is 0: there is no
 * estimate, and what remains of it, -2 k, would draw all outputs to one point. */
weir_value cf_mmd_square(weir_graph *g, const double *bandwidth, int64_t n_bandwidths,
                         weir_value joined);
#endif
