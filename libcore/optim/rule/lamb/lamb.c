/* lamb.c - layer-wise adaptive moments for large batches, You et al. 2020, algorithm 2.
 *   m, v, d as adam's;   u = d + wd p
 *   p <- p - lr (phi(|p|) / |u|) u          |.| over each layer, phi(z) = z clamped to a range
 * The ratio is 1 where |p| or |u| is 0, and for layers that are not adapted. */
#include "optim/rule/lamb/lamb_priv.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct lamb_opts, beta1, 0.9, 0.0, 0.9999, "1",
                  "decay rate of the first moment (Kingma and Ba 2015)"),
    WEIR_OPT_REAL(struct lamb_opts, beta2, 0.999, 0.0, 0.999999, "1",
                  "decay rate of the second moment (Kingma and Ba 2015)"),
    WEIR_OPT_REAL(struct lamb_opts, eps, 1e-6, 0.0, 1.0, "1",
                  "term added to the root of the second moment, for numerical stability"),
    WEIR_OPT_REAL(struct lamb_opts, weight_decay, 0.01, 0.0, 1.0, "1",
                  "decoupled weight decay (You et al. 2020)"),
    WEIR_OPT_REAL(struct lamb_opts, min_norm, 0.0, 0.0, 1e30, "1",
                  "lower bound of a layer's weight norm in its trust ratio", .alias = "norm_least"),
    WEIR_OPT_REAL(struct lamb_opts, max_norm, 0.0, 0.0, 1e30, "1",
                  "upper bound of a layer's weight norm in its trust ratio; 0: none",
                  .alias = "norm_most"),
    WEIR_OPT_ENUM(struct lamb_opts, adapt, 0, "decayed|all",
                  "layers with trust ratio: decayed: those with weight decay (not biases and "
                  "normalisations); all"),
    WEIR_OPT_END,
};

/* phi. min and max give their second argument when one is NaN, so the norm stands there. */
static weir_value clamp(weir_graph *g, weir_value norm, double min_norm, double max_norm)
{
  const weir_value low =
      min_norm > 0 ? weir_left_at(g, WEIR_CODE_MAX, min_norm, norm, WEIR_WHERE) : norm;

  return max_norm > 0 ? weir_left_at(g, WEIR_CODE_MIN, max_norm, low, WEIR_WHERE) : low;
}

static weir_status build(weir_graph *g, const weir_rule_args *a)
{
  const struct lamb_opts *o = a->opts;
  const weir_moments_spec moments = {o->beta1, o->beta2, o->eps, 0};
  const weir_value d = weir_rule_moments(g, a, a->grad, &moments);
  const weir_value u = weir_rule_weight_decay(g, a, d, o->weight_decay);
  const weir_value weight = weir_rule_norms(g, a, a->param), step = weir_rule_norms(g, a, u);
  const weir_value ratio = weir_div(g, clamp(g, weight, o->min_norm, o->max_norm), step);
  const weir_value shares = o->adapt == 0 ? weir_rule_shares(g, a) : WEIR_NO_VALUE;
  const weir_value trust = weir_rule_trust(g, a, weight, step, ratio, shares);

  weir_rule_apply(g, a, weir_mul(g, a->lr, weir_rule_expand(g, a, trust)), u);
  return weir_graph_status(g);
}

const weir_rule_desc weir_rule_lamb = {
    .name = "lamb",
    .cite = "You et al. 2020",
    .help = "adam's direction with a trust ratio per layer: step length proportional to the weight "
            "norm",
    .opts = options,
    .opts_size = sizeof(struct lamb_opts),
    .n_state = 2,
    .state = {"m", "v"},
    .build = build,
};
