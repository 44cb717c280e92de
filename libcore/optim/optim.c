/* optim.c - from gradients to updated parameters, as the configuration says. */
#include "optim/weir_optim.h"

#include <stdio.h>

#include "base/weir_alloc.h"

const weir_opt weir_optim_opts[] = {
    WEIR_OPT_ONE_OF(weir_optim_cfg, rule, weir_rule_choice,
                    "update rule (optimiser) with its options; empty: adam"),
    WEIR_OPT_ONE_OF(weir_optim_cfg, exchange, weir_exchange_choice,
                    "exchange between ranks in every step, with its options; empty: allreduce"),
    WEIR_OPT_ENUM(weir_optim_cfg, shard, WEIR_OPTIM_SHARD_NONE, "none|state|gradients|parameters",
                  "what each rank has a share of instead of all: the state of the update rule and "
                  "averages (ZeRO stage 1), gradients too (stage 2), and parameters (stage 3), "
                  "fetched layer by layer; one rank has all"),
    WEIR_OPT_TABLE(weir_optim_cfg, schedule, weir_schedule_opts, "learning-rate schedule"),
    WEIR_OPT_TABLE(weir_optim_cfg, clip, weir_clip_opts, "gradient clipping"),
    WEIR_OPT_TABLE(weir_optim_cfg, average, weir_average_opts,
                   "exponential moving average of the parameters, stored in addition to them"),
    WEIR_OPT_END,
};

weir_status weir_optim_rule(const weir_optim_cfg *cfg, const weir_rule_desc **out)
{
  return weir_rule_find(cfg->rule.name != NULL ? cfg->rule.name : "adam", out);
}

weir_status weir_optim_exchange(const weir_optim_cfg *cfg, const weir_exchange_desc **out)
{
  return weir_exchange_find(cfg->exchange.name != NULL ? cfg->exchange.name : "allreduce", out);
}

static weir_status build_rule(weir_graph *g, const weir_rule_desc *rule, weir_rule_args *a,
                              const void *chosen)
{
  void *defaults = NULL;

  if (chosen == NULL) {
    WEIR_TRY(weir_alloc(1, rule->opts_size, &defaults));
    weir_opts_default(rule->opts, rule->opts_size, defaults);
  }
  a->opts = chosen != NULL ? chosen : defaults;
  const weir_status status = weir_rule_build(g, rule, a);

  weir_free(&defaults);
  return status;
}

/* The rule and the average of the parameters in one array. */
static weir_status build_slice(weir_graph *g, const weir_optim_cfg *cfg, const weir_rule_desc *rule,
                               const weir_store *store, weir_rule_args *a)
{
  weir_value state[WEIR_RULE_STATES];
  char name[64];

  weir_rule_get_state(rule, g, store, a->suffix, state);
  a->state = state;
  WEIR_TRY(build_rule(g, rule, a, cfg->rule.opts));
  if (cfg->average.decay > 0) {
    (void)snprintf(name, sizeof name, "%s%s", WEIR_OPTIM_AVERAGE,
                   a->suffix != NULL ? a->suffix : "");
    WEIR_TRY(weir_average(g, &cfg->average, a->param, weir_stored(g, store, name), a->step));
  }
  return WEIR_OK;
}

weir_status weir_optim_build(weir_graph *g, const weir_optim_cfg *cfg, const weir_store *store,
                             const weir_rule_args *args, int64_t n, weir_value *length)
{
  const weir_rule_desc *rule = NULL;
  weir_status status;
  void *memory = NULL;

  WEIR_TRY(weir_optim_rule(cfg, &rule));
  WEIR_TRY(weir_alloc(n, sizeof(weir_value), &memory));
  weir_value *grad = memory;

  for (int64_t k = 0; k < n; k++) {
    grad[k] = args[k].grad;
  }
  weir_clip(g, &cfg->clip, grad, n, length);
  for (int64_t k = 0; k < n; k++) {
    weir_rule_args a = args[k];

    a.grad = grad[k];
    WEIR_TRY_GOTO(build_slice(g, cfg, rule, store, &a), done);
  }
  status = weir_graph_status(g);
done:
  weir_free(&memory);
  return status;
}
