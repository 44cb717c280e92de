/* adamw.c - adam with decoupled weight decay, Loshchilov and Hutter 2019, algorithm 2.
 *   m <- b1 m + (1 - b1) g;   v <- b2 v + (1 - b2) g^2
 *   p <- p - lr ((m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) + wd p)  per element, step t */
#include "optim/rule/adamw/adamw_priv.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct adamw_opts, beta1, 0.9, 0.0, 0.9999, "1",
                  "decay rate of the first moment (Kingma and Ba 2015)"),
    WEIR_OPT_REAL(struct adamw_opts, beta2, 0.999, 0.0, 0.999999, "1",
                  "decay rate of the second moment (Kingma and Ba 2015)"),
    WEIR_OPT_REAL(struct adamw_opts, eps, 1e-8, 0.0, 1.0, "1",
                  "term added to the root of the second moment, for numerical stability"),
    WEIR_OPT_REAL(struct adamw_opts, weight_decay, 0.01, 0.0, 1.0, "1",
                  "decoupled weight decay, times the learning rate"),
    WEIR_OPT_INT(struct adamw_opts, freeze_step, 0, 0, 1e15, "steps",
                 "step after which the second moment no longer changes, as 1-bit Adam needs it "
                 "(Tang et al. 2021; optim.exchange onebit); 0: it always does"),
    WEIR_OPT_END,
};

static weir_status build(weir_graph *g, const weir_rule_args *a)
{
  const struct adamw_opts *o = a->opts;
  const weir_moments_spec moments = {o->beta1, o->beta2, o->eps, o->freeze_step};
  const weir_value d = weir_rule_moments(g, a, a->grad, &moments);

  weir_rule_apply(g, a, a->lr, weir_rule_weight_decay(g, a, d, o->weight_decay));
  return weir_graph_status(g);
}

const weir_rule_desc weir_rule_adamw = {
    .name = "adamw",
    .cite = "Loshchilov and Hutter 2019",
    .help = "adam with decoupled weight decay, not scaled by the moments",
    .opts = options,
    .opts_size = sizeof(struct adamw_opts),
    .n_state = 2,
    .state = {"m", "v"},
    .build = build,
};
