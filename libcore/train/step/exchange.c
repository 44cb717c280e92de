/* exchange.c - see exchange.h: the policy that exchanges partial sums of gradients. */
#include "train/step/exchange.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/weir_clock.h"
#include "train/array_names.h"
#include "train/grid/apart.h"

bool train_has_slot(const train_run *r)
{
  const weir_exchange_desc *policy = NULL;

  if (r->cfg->accumulate > 1 || weir_optim_exchange(&r->cfg->optim, &policy) != WEIR_OK) {
    return r->cfg->accumulate > 1;
  }
  return policy->what == WEIR_EXCHANGE_GRADIENTS && !policy->in_plan;
}

/* A policy exchanges outside the plans, among ranks. */
static bool exchanges(const train_run *r)
{
  return r->ranks.all != NULL && (train_apart(r->cfg) || train_has_slot(r));
}

/* The accumulated gradient, or the weights: the policy keeps their memory. */
static weir_status pin_bank(train_run *r, weir_tensor **bank)
{
  const weir_exchange_desc *policy = NULL;

  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  return weir_store_pin(
      r->store, policy->what == WEIR_EXCHANGE_WEIGHTS ? WEIR_PARAMS_FLAT : TRAIN_BANK, bank);
}

weir_status train_pin_exchanged(train_run *r)
{
  weir_tensor *bank = NULL;

  return exchanges(r) ? pin_bank(r, &bank) : WEIR_OK;
}

/* This rank's elements of the bank, all of them or slice by slice; *n: how many parts. */
static weir_status list_parts(train_run *r, weir_exchange_part part[TRAIN_MAX_SLICES], int *n)
{
  const train_shards *s = &r->ranks.shards;
  weir_tensor *bank = NULL;

  WEIR_TRY(pin_bank(r, &bank));
  const size_t size = weir_dtype_size(bank->dtype);

  *n = 1;
  if (r->ranks.replicas > 0) {
    part[0] = (weir_exchange_part){bank->data, bank->dtype, weir_tensor_numel(bank),
                                   1u << WEIR_ALONG_SAMPLES};
    return WEIR_OK;
  }
  if (s->n == 0) {
    part[0] = (weir_exchange_part){bank->data, bank->dtype, weir_tensor_numel(bank),
                                   train_summed_over(s, &r->ranks.dist.grid, -1)};
    return WEIR_OK;
  }
  for (int k = 0; k < s->n; k++) {
    int64_t lo, hi;

    train_own_shard(s, r->ranks.coords, k, &lo, &hi);
    part[k] =
        (weir_exchange_part){(char *)bank->data + (size_t)(s->slice[k].first + lo) * size,
                             bank->dtype, hi - lo, train_summed_over(s, &r->ranks.dist.grid, k)};
  }
  *n = s->n;
  return WEIR_OK;
}

weir_status train_open_exchange(train_run *r)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];
  int n = 0;

  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  if (!exchanges(r)) {
    return WEIR_OK;
  }
  WEIR_TRY(list_parts(r, part, &n));
  const weir_exchange_args args = {.opts = r->cfg->optim.exchange.opts,
                                   .comm = r->ranks.all,
                                   .grid = &r->ranks.grid,
                                   .part = part,
                                   .n = n,
                                   .step = *r->state.step};

  return weir_exchange_open(policy, &args, &r->exchange);
}

weir_status train_exchange(train_run *r, weir_exchange_what what)
{
  const double start = weir_clock();

  if (r->exchange.policy == NULL || r->exchange.policy->what != what) {
    return WEIR_OK;
  }
  const weir_status status = weir_exchange_run(&r->exchange);

  r->spent_s += weir_clock() - start;
  return status;
}

weir_status train_print_exchange(train_run *r, FILE *out)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];
  int n = 0;

  if (!exchanges(r)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  WEIR_TRY(list_parts(r, part, &n));
  fprintf(out, "== exchange\n");
  for (int i = 0; i < n; i++) {
    fprintf(out,
            "%-8s %" PRId64 " bytes of %s, over dimensions %#x of the grid, at most once a step\n",
            policy->name, part[i].count * (int64_t)weir_dtype_size(part[i].dtype),
            policy->what == WEIR_EXCHANGE_WEIGHTS ? "weights" : "gradient", part[i].dims);
  }
  return WEIR_OK;
}
