/* adam.c - adaptive moments, Kingma and Ba 2015, algorithm 1.
 *   u = g + wd p;   m <- b1 m + (1 - b1) u;   v <- b2 v + (1 - b2) u^2
 *   p <- p - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)          per element, step t */
#include "optim/rule/adam/adam_priv.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct adam_opts, beta1, 0.9, 0.0, 0.9999, "1",
                  "decay rate of the first moment (Kingma and Ba 2015)"),
    WEIR_OPT_REAL(struct adam_opts, beta2, 0.999, 0.0, 0.999999, "1",
                  "decay rate of the second moment (Kingma and Ba 2015)"),
    WEIR_OPT_REAL(struct adam_opts, eps, 1e-8, 0.0, 1.0, "1",
                  "term added to the root of the second moment, for numerical stability"),
    WEIR_OPT_REAL(struct adam_opts, weight_decay, 0.0, 0.0, 1.0, "1",
                  "L2 penalty, added to the gradient; adamw decouples it from the moments"),
    WEIR_OPT_INT(struct adam_opts, freeze_step, 0, 0, 1e15, "steps",
                 "step after which the second moment no longer changes, as 1-bit Adam needs it "
                 "(Tang et al. 2021; optim.exchange onebit); 0: it always does"),
    WEIR_OPT_END,
};

static weir_status build(weir_graph *g, const weir_rule_args *a)
{
  const struct adam_opts *o = a->opts;
  const weir_moments_spec moments = {o->beta1, o->beta2, o->eps, o->freeze_step};
  const weir_value u = weir_rule_weight_decay(g, a, a->grad, o->weight_decay);

  weir_rule_apply(g, a, a->lr, weir_rule_moments(g, a, u, &moments));
  return weir_graph_status(g);
}

const weir_rule_desc weir_rule_adam = {
    .name = "adam",
    .cite = "Kingma and Ba 2015",
    .help = "adaptive step size per parameter, from running moments of the gradient",
    .opts = options,
    .opts_size = sizeof(struct adam_opts),
    .n_state = 2,
    .state = {"m", "v"},
    .build = build,
};
