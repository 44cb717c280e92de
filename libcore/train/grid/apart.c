/* apart.c - see apart.h. */
#include "train/grid/apart.h"

#include <inttypes.h>

static const weir_exchange_desc *policy_of(const weir_train_cfg *cfg)
{
  const weir_exchange_desc *policy = NULL;

  if (weir_optim_exchange(&cfg->optim, &policy) != WEIR_OK) {
    weir_clear_failure(); /* train_open_exchange refuses it */
  }
  return policy;
}

int train_groups(const train_run *r)
{
  return r->ranks.replicas > 0 ? r->ranks.replicas : 1;
}

int train_group(const train_run *r)
{
  return r->ranks.replicas > 0 ? r->ranks.coords[WEIR_ALONG_SAMPLES] : 0;
}

bool train_apart(const weir_train_cfg *cfg)
{
  const weir_exchange_desc *policy = policy_of(cfg);

  return policy != NULL && policy->invariant != WEIR_REPLICAS_EQUAL;
}

weir_status train_check_apart(const weir_train_cfg *cfg, const weir_grid *grid)
{
  const weir_exchange_desc *policy = policy_of(cfg);

  for (int d = 0; d < grid->dims; d++) {
    if (d != WEIR_ALONG_SAMPLES && grid->extent[d] > 1) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "optim.exchange %s: every rank trains on whole samples: use a grid along "
                       "the samples alone (--grid %d), or allreduce",
                       policy->name, weir_grid_size(grid));
    }
  }
  if (cfg->batch < weir_grid_size(grid)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.batch: %" PRId64 " samples are fewer than the %d ranks that train "
                     "apart (optim.exchange %s): use a larger batch, or fewer ranks",
                     cfg->batch, weir_grid_size(grid), policy->name);
  }
  return WEIR_OK;
}

weir_status train_check_optim_shards(const weir_train_cfg *cfg)
{
  const weir_exchange_desc *policy = policy_of(cfg);
  static const char *const names[] = {"none", "state", "gradients", "parameters"};
  const bool gradients = cfg->optim.shard >= WEIR_OPTIM_SHARD_GRADIENTS;

  if (cfg->optim.shard == WEIR_OPTIM_SHARD_NONE || policy == NULL ||
      (!train_apart(cfg) && (policy->in_plan || !gradients))) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "optim.shard %s does not go with optim.exchange %s, which has the %s of all "
                   "parameters on every rank: use %s",
                   names[cfg->optim.shard], policy->name, train_apart(cfg) ? "update" : "gradient",
                   train_apart(cfg) ? "none, or the policy allreduce" : "state, or allreduce");
}
