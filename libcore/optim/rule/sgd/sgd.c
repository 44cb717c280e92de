/* sgd.c - stochastic gradient descent, Robbins and Monro 1951.
 *   p <- p - lr (g + wd p)          per element */
#include "optim/rule/sgd/sgd_priv.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct sgd_opts, weight_decay, 0.0, 0.0, 1.0, "1",
                  "L2 penalty, added to the gradient"),
    WEIR_OPT_END,
};

static weir_status build(weir_graph *g, const weir_rule_args *a)
{
  const struct sgd_opts *o = a->opts;

  weir_rule_apply(g, a, a->lr, weir_rule_weight_decay(g, a, a->grad, o->weight_decay));
  return weir_graph_status(g);
}

const weir_rule_desc weir_rule_sgd = {
    .name = "sgd",
    .cite = "Robbins and Monro 1951",
    .help = "stochastic gradient descent",
    .opts = options,
    .opts_size = sizeof(struct sgd_opts),
    .build = build,
};
