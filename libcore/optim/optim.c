/* optim.c - from gradients to updated parameters, as the configuration says. */
#include "optim/weir_optim.h"

#include "base/weir_alloc.h"

const weir_opt weir_optim_opts[] = {
    WEIR_OPT_ONE_OF(weir_optim_cfg, rule, weir_rule_choice,
                    "what turns gradients into steps, and its options; none: adam"),
    WEIR_OPT_TABLE(weir_optim_cfg, schedule, weir_schedule_opts,
                   "the learning rate in the course of a run"),
    WEIR_OPT_TABLE(weir_optim_cfg, clip, weir_clip_opts, "gradients that are too long"),
    WEIR_OPT_TABLE(weir_optim_cfg, average, weir_average_opts,
                   "a running average of the parameters, kept beside them"),
    WEIR_OPT_END,
};

weir_status weir_optim_rule(const weir_optim_cfg *cfg, const weir_rule_desc **out)
{
  return weir_rule_find(cfg->rule.name != NULL ? cfg->rule.name : "adam", out);
}

weir_status weir_optim_add_state(const weir_optim_cfg *cfg, weir_store *store, weir_dtype dtype,
                                 int64_t count)
{
  const weir_rule_desc *rule = NULL;

  WEIR_TRY(weir_optim_rule(cfg, &rule));
  WEIR_TRY(weir_rule_add_state(rule, store, dtype, count));
  if (cfg->average.decay > 0) {
    WEIR_TRY(weir_store_add(store, WEIR_OPTIM_AVERAGE, dtype, 1, &count));
  }
  return WEIR_OK;
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

weir_status weir_optim_build(weir_graph *g, const weir_optim_cfg *cfg, const weir_store *store,
                             const weir_rule_args *args, weir_value *length)
{
  const weir_rule_desc *rule = NULL;
  weir_value state[WEIR_RULE_STATES];
  weir_rule_args a = *args;

  WEIR_TRY(weir_optim_rule(cfg, &rule));
  weir_rule_get_state(rule, g, store, state);
  a.state = state;
  a.grad = weir_clip(g, &cfg->clip, a.grad, length);
  WEIR_TRY(build_rule(g, rule, &a, cfg->rule.opts));
  if (cfg->average.decay > 0) {
    WEIR_TRY(
        weir_average(g, &cfg->average, a.param, weir_stored(g, store, WEIR_OPTIM_AVERAGE), a.step));
  }
  return weir_graph_status(g);
}
