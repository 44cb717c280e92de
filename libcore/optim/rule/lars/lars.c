/* lars.c - layer-wise adaptive rate scaling, You, Gitman and Ginsburg 2017, algorithm 1.
 *   ratio = trust |p| / (|g| + wd |p| + eps)                             |.| over each layer
 *   m <- mu m + lr ratio (g + wd p);   p <- p - m
 * The ratio is 1 where |p| or |g| is 0, and for layers that are not adapted. */
#include "optim/rule/lars/lars_priv.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct lars_opts, mu, 0.9, 0.0, 0.9999, "1",
                  "momentum: fraction of the previous step that is added"),
    WEIR_OPT_REAL(struct lars_opts, trust, 1e-3, 1e-9, 1e3, "1",
                  "trust coefficient: step length relative to the weight norm (You et al. 2017)"),
    WEIR_OPT_REAL(struct lars_opts, eps, 0.0, 0.0, 1.0, "1",
                  "term added to the gradient norm in the denominator"),
    WEIR_OPT_REAL(struct lars_opts, weight_decay, 5e-4, 0.0, 1.0, "1",
                  "L2 penalty, added to the gradient (You et al. 2017)"),
    WEIR_OPT_ENUM(struct lars_opts, adapt, 0, "decayed|all",
                  "layers with trust ratio: decayed: those with weight decay (not biases and "
                  "normalisations); all"),
    WEIR_OPT_END,
};

static weir_status build(weir_graph *g, const weir_rule_args *a)
{
  const struct lars_opts *o = a->opts;
  const weir_value shares = weir_rule_shares(g, a);
  const weir_value weight = weir_rule_norms(g, a, a->param), slope = weir_rule_norms(g, a, a->grad);
  const weir_value pull = weir_mul(g, weir_scale(g, shares, o->weight_decay), weight);
  const weir_value length = weir_add_scalar(g, weir_add(g, slope, pull), o->eps);
  const weir_value ratio = weir_div(g, weir_scale(g, weight, o->trust), length);
  const weir_value trust =
      weir_rule_trust(g, a, weight, slope, ratio, o->adapt == 0 ? shares : WEIR_NO_VALUE);
  const weir_value rate = weir_mul(g, a->lr, weir_rule_expand(g, a, trust));
  const weir_value u = weir_rule_weight_decay(g, a, a->grad, o->weight_decay);
  const weir_value m = weir_add(g, weir_scale(g, a->state[0], o->mu), weir_mul(g, rate, u));

  weir_update(g, a->state[0], m);
  weir_update(g, a->param, weir_sub(g, a->param, m));
  return weir_graph_status(g);
}

const weir_rule_desc weir_rule_lars = {
    .name = "lars",
    .cite = "You, Gitman and Ginsburg 2017",
    .help = "momentum with a trust ratio per layer: step length proportional to the weight norm",
    .opts = options,
    .opts_size = sizeof(struct lars_opts),
    .n_state = 1,
    .state = {"m"},
    .build = build,
};
