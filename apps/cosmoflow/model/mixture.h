/* mixture.h - the posterior of the parameters of a sample as a mixture of Gaussians, whose numbers
 * a network computes (Bishop, "Mixture density networks", Aston University NCRG/94/004, 1994).
 *
 *   q(y) = sum over components k of w_k N(y; m_k, S_k),  S_k = C_k C_k',  y [labels] in [-1, 1]
 *
 * The covariance S_k is full: C_k is lower triangular, and the network computes its inverse A_k
 * (Williams, Neural Computation 8 (1996) 843), so that ln N = sum ln A_ii - |A (y - m)|^2 / 2 -
 * labels / 2 ln(2 pi) needs no system of equations. The raw outputs of a sample, in this order:
 *
 *   [k]      logits: w = softmax
 *   [k, d]   means: m = output + cf_mixture_centre, by which components differ before training
 *   [k, d]   diagonals: A_dd = softplus(output) + 1e-3
 *   [k, t]   below the diagonal: A_10, A_20, A_21, A_30 .. as they are */
#ifndef CF_MIXTURE_H
#define CF_MIXTURE_H
#include "conf/weir_opt.h"
#include "ops/weir_builder.h"

typedef struct cf_mixture_opts {
  int64_t components;
} cf_mixture_opts;
extern const weir_opt cf_mixture_options[];

/* Returns the raw outputs of a sample. */
int64_t cf_mixture_outputs(int64_t components, int64_t labels);
/* Returns the constant of a mean: 0 of one component, else uniform in [-0.1, 0.1] by a hash. */
double cf_mixture_centre(int64_t components, int64_t k, int64_t label);
/* Appends ln q(truth) of each sample, [n, 1, 1], or the mean of the posterior, [n, labels]. raw:
 * [n, outputs]; truth: [n, labels]; floats of one dtype, that of the result. Fails in the graph's
 * status: WEIR_ERR_SHAPE, WEIR_ERR_MEMORY. */
weir_value cf_mixture_log_density(weir_graph *g, int64_t components, weir_value raw,
                                  weir_value truth);
weir_value cf_mixture_mean(weir_graph *g, int64_t components, int64_t labels, weir_value raw);
/* Computes the mixture of the raw outputs of one sample with at most CF_MAX_LABELS labels: weight
 * [components], mean [components, labels] and the Cholesky factor C of each covariance, factor
 * [components, labels, labels]. */
void cf_mixture_decode(int64_t components, int64_t labels, const float *raw, double *weight,
                       double *mean, double *factor);
#endif
