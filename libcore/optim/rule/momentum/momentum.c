/* momentum.c - heavy-ball momentum, Polyak 1964; Nesterov's as Sutskever et al. 2013 write it.
 *   u = g + wd p;   m <- mu m + u;      p <- p - lr m
 *   nesterov:                           p <- p - lr (u + mu m)          per element
 *   form: keras     m <- mu m + lr u;   p <- p - m, or lr u + mu m
 * The two are the same where the learning rate does not change. Keras's penalty l2(x), x times the
 * sum of squares, is a weight_decay of 2 x. */
#include "optim/rule/momentum/momentum_priv.h"

static const weir_opt options[] = {
    WEIR_OPT_REAL(struct momentum_opts, mu, 0.9, 0.0, 0.9999, "1",
                  "momentum: fraction of the previous velocity that is kept"),
    WEIR_OPT_REAL(struct momentum_opts, weight_decay, 0.0, 0.0, 1.0, "1",
                  "L2 penalty, added to the gradient"),
    WEIR_OPT_BOOL(struct momentum_opts, nesterov, false, "Nesterov momentum"),
    WEIR_OPT_ENUM(
        struct momentum_opts, form, MOMENTUM_PYTORCH, "pytorch|keras",
        "form of the velocity: pytorch: sum of gradients, multiplied by the current learning rate; "
        "keras: sum of steps, each with the learning rate of its time (MLPerf HPC)",
        .alias = "keeps", .choice_aliases = "gradients=pytorch|steps=keras"),
    WEIR_OPT_END,
};

static weir_status build(weir_graph *g, const weir_rule_args *a)
{
  const struct momentum_opts *o = a->opts;
  const bool steps = o->form == MOMENTUM_KERAS;
  const weir_value pull = weir_rule_weight_decay(g, a, a->grad, o->weight_decay);
  const weir_value u = steps ? weir_mul(g, a->lr, pull) : pull;
  const weir_value m = weir_add(g, weir_scale(g, a->state[0], o->mu), u);
  const weir_value way = o->nesterov ? weir_add(g, u, weir_scale(g, m, o->mu)) : m;

  weir_update(g, a->state[0], m);
  if (steps) {
    weir_update(g, a->param, weir_sub(g, a->param, way));
  } else {
    weir_rule_apply(g, a, a->lr, way);
  }
  return weir_graph_status(g);
}

const weir_rule_desc weir_rule_momentum = {
    .name = "momentum",
    .cite = "Polyak 1964; Sutskever et al. 2013",
    .help = "momentum: exponentially decaying sum of gradients",
    .opts = options,
    .opts_size = sizeof(struct momentum_opts),
    .n_state = 1,
    .state = {"m"},
    .build = build,
};
