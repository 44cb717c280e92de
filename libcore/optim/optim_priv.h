/* optim_priv.h - what rules share. */
#ifndef WEIR_OPTIM_PRIV_H
#define WEIR_OPTIM_PRIV_H
#include "optim/weir_rule.h"
#include "ops/elementwise/weir_elementwise.h"

/* x + weight_decay * decay * param, per element; x when weight_decay is 0. */
weir_value weir_rule_weight_decay(weir_graph *g, const weir_rule_args *a, weir_value x,
                                  double weight_decay);
/* Updates the parameters to param - rate * x; rate: rank 0 or [count]. */
void weir_rule_apply(weir_graph *g, const weir_rule_args *a, weir_value rate, weir_value x);

/* ---- moments.c ---- */

typedef struct weir_moments_spec {
  double beta1, beta2, eps;
  int64_t freeze_step; /* v stays as it is after this step; 0: never */
} weir_moments_spec;

/* Kingma and Ba 2015, algorithm 1: m and v, kept in state 0 and 1, which are updated, and without
 * their bias towards 0 the direction m / (sqrt(v) + eps). */
weir_value weir_rule_moments(weir_graph *g, const weir_rule_args *a, weir_value grad,
                             const weir_moments_spec *spec);

/* ---- segments.c ---- */

/* Euclidean norm of each segment of x: [n_segments]. */
weir_value weir_rule_norms(weir_graph *g, const weir_rule_args *a, weir_value x);
/* x, [n_segments], as a number for every parameter, that of its segment: [count], or [1] where one
 * segment is the whole bank. Parameters of no segment get 1. */
weir_value weir_rule_expand(weir_graph *g, const weir_rule_args *a, weir_value x);
/* Share of weight decay of each segment, that of its first parameter: [n_segments] or rank 0. */
weir_value weir_rule_shares(weir_graph *g, const weir_rule_args *a);
/* The ratio by which each segment's step is scaled: `ratio`, but 1 where the norm of the parameters
 * or of the step is 0, and, unless shares is WEIR_NO_VALUE, where they are 0. NaN stays. */
weir_value weir_rule_trust(weir_graph *g, const weir_rule_args *a, weir_value param,
                           weir_value step, weir_value ratio, weir_value shares);
#endif
