/* exchange.c - see exchange.h: the policy that exchanges partial sums of gradients. */
#include "train/step/exchange.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/weir_clock.h"
#include "train/array_names.h"
#include "train/grid/apart.h"
#include "train/step/timeline.h"

bool train_has_slot(const train_run *r)
{
  const weir_exchange_desc *policy = NULL;

  if (r->cfg->accumulate > 1 || weir_optim_exchange(&r->cfg->optim, &policy) != WEIR_OK) {
    return r->cfg->accumulate > 1;
  }
  return policy->what == WEIR_EXCHANGE_GRADIENTS && !policy->in_plan;
}

/* This rank's elements of the accumulated gradient, or of the weights, all of them or slice by
 * slice; returns how many parts. */
static int list_parts(const train_run *r, const weir_exchange_desc *policy,
                      weir_exchange_part part[TRAIN_MAX_SLICES])
{
  const bool weights = policy->what == WEIR_EXCHANGE_WEIGHTS;
  const weir_tensor *bank = weir_store_get(r->store, weights ? WEIR_PARAMS_FLAT : TRAIN_BANK);
  const train_shards *s = &r->ranks.shards;
  const size_t size = weir_dtype_size(bank->dtype);

  if (r->ranks.replicas > 0) {
    part[0] = (weir_exchange_part){bank->data, bank->dtype, weir_tensor_numel(bank),
                                   1u << WEIR_ALONG_SAMPLES};
    return 1;
  }
  if (s->n == 0) {
    part[0] = (weir_exchange_part){bank->data, bank->dtype, weir_tensor_numel(bank),
                                   train_summed_over(s, &r->ranks.dist.grid, -1)};
    return 1;
  }
  for (int k = 0; k < s->n; k++) {
    int64_t lo, hi;

    train_own_shard(s, r->ranks.coords, k, &lo, &hi);
    part[k] =
        (weir_exchange_part){(char *)bank->data + (size_t)(s->slice[k].first + lo) * size,
                             bank->dtype, hi - lo, train_summed_over(s, &r->ranks.dist.grid, k)};
  }
  return s->n;
}

weir_status train_open_exchange(train_run *r)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];

  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  if (r->ranks.all == NULL || !(train_apart(r->cfg) || train_has_slot(r))) {
    return WEIR_OK;
  }
  const weir_exchange_args args = {.opts = r->cfg->optim.exchange.opts,
                                   .comm = r->ranks.all,
                                   .grid = &r->ranks.grid,
                                   .part = part,
                                   .n = list_parts(r, policy, part),
                                   .step = *r->state.step};

  return weir_exchange_open(policy, &args, &r->exchange);
}

weir_status train_exchange(train_run *r, weir_exchange_what what)
{
  if (r->exchange.policy == NULL || r->exchange.policy->what != what) {
    return WEIR_OK;
  }
  const train_moment start = train_begin_activity(r);
  const weir_status status = weir_exchange_run(&r->exchange);

  train_end_activity(r, TRAIN_EXCHANGES, start);
  r->spent_s += weir_clock() - start.time;
  return status;
}

void train_print_exchange(const train_run *r, FILE *out)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];

  if (r->ranks.all == NULL || !(train_apart(r->cfg) || train_has_slot(r)) ||
      weir_optim_exchange(&r->cfg->optim, &policy) != WEIR_OK) {
    return;
  }
  const int n = list_parts(r, policy, part);

  fprintf(out, "== exchange\n");
  for (int i = 0; i < n; i++) {
    fprintf(out,
            "%-8s %" PRId64 " bytes of %s, over dimensions %#x of the grid, at most once a step\n",
            policy->name, part[i].count * (int64_t)weir_dtype_size(part[i].dtype),
            policy->what == WEIR_EXCHANGE_WEIGHTS ? "weights" : "gradient", part[i].dims);
  }
}
