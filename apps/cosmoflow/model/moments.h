/* moments.h - mean and covariance of the posterior of the parameters of a sample, by squared errors
 * and without a density (moment networks: Jeffrey and Wandelt, arXiv:2011.05991).
 *
 * Sigma = C C' with C lower triangular. The raw outputs of a sample, d labels, in this order:
 *
 *   [d]  means m
 *   [d]  diagonals: C_ii = softplus(output) + 1e-4
 *   [t]  below the diagonal: C_10, C_20, C_21, C_30 .. as they are
 *
 * With e = y - m, the loss of a sample is the mean over i of 3 e_i^2 and the mean over i >= j of
 * 9 (e_i e_j - Sigma_ij)^2, in units of 1/3, the variance of a label that is uniform in [-1, 1].
 * The derivative of the second term by m is left out: the covariance is fitted to a given mean, as
 * by the two networks in sequence of Jeffrey and Wandelt. With it, the mean of a skew posterior
 * would be off. The logarithms of means over the batch of Villaescusa-Navarro et al.
 * (arXiv:2109.10360) are not taken: they depend on the batch and make variances too small
 * (docs/decisions/0066-moments.md). */
#ifndef CF_MOMENTS_H
#define CF_MOMENTS_H
#include "ops/weir_builder.h"

/* Returns the raw outputs of a sample. */
int64_t cf_moments_outputs(int64_t labels);
/* Appends the loss of each sample, [n, 1], or the means, [n, labels]. raw: [n, outputs]; truth: [n,
 * labels]; floats of one dtype, that of the result. Fails in the graph's status: WEIR_ERR_SHAPE. */
weir_value cf_moments_loss(weir_graph *g, weir_value raw, weir_value truth);
weir_value cf_moments_mean(weir_graph *g, int64_t labels, weir_value raw);
/* Computes the mean [labels] and the Cholesky factor C of the covariance, factor [labels, labels],
 * of the raw outputs of one sample. */
void cf_moments_decode(int64_t labels, const float *raw, double *mean, double *factor);
#endif
