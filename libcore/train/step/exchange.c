/* exchange.c - see exchange.h: the policy that exchanges partial sums of gradients. */
#include "train/step/exchange.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/weir_clock.h"
#include "train/array_names.h"

bool train_has_slot(const train_run *r)
{
  const weir_exchange_desc *policy = NULL;

  if (r->cfg->accumulate > 1 || weir_optim_exchange(&r->cfg->optim, &policy) != WEIR_OK) {
    return r->cfg->accumulate > 1;
  }
  return !policy->in_plan;
}

/* This rank's elements of the accumulated gradient, all of them or slice by slice; returns how many
 * parts. */
static int list_parts(const train_run *r, weir_exchange_part part[TRAIN_MAX_SLICES])
{
  const weir_tensor *bank = weir_store_get(r->store, TRAIN_BANK);
  const train_shards *s = &r->ranks.shards;
  const size_t size = weir_dtype_size(bank->dtype);

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

/* Whether checkpoints by rank 0, comparison of weights and one step number are right for it. */
static weir_status check_policy(const weir_exchange_desc *policy)
{
  return policy->what == WEIR_EXCHANGE_GRADIENTS && policy->invariant == WEIR_REPLICAS_EQUAL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_UNSUPPORTED,
                         "train: the exchange policy '%s' does not leave the weights of all ranks "
                         "equal after every step, on which checkpoints and comparisons rely",
                         policy->name);
}

weir_status train_open_exchange(train_run *r)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];

  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  if (r->ranks.dist.comm == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(check_policy(policy));
  if (!train_has_slot(r)) {
    return WEIR_OK;
  }
  const weir_exchange_args args = {.opts = r->cfg->optim.exchange.opts,
                                   .comm = r->ranks.dist.comm,
                                   .grid = &r->ranks.dist.grid,
                                   .part = part,
                                   .n = list_parts(r, part)};

  return weir_exchange_open(policy, &args, &r->exchange);
}

weir_status train_exchange(train_run *r)
{
  const double start = weir_clock();
  const weir_status status = weir_exchange_run(&r->exchange);

  r->spent_s += weir_clock() - start;
  return status;
}

void train_print_exchange(const train_run *r, FILE *out)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];

  if (r->ranks.dist.comm == NULL || !train_has_slot(r) ||
      weir_optim_exchange(&r->cfg->optim, &policy) != WEIR_OK) {
    return;
  }
  const int n = list_parts(r, part);

  fprintf(out, "== exchange\n");
  for (int i = 0; i < n; i++) {
    fprintf(out,
            "%-8s %" PRId64 " bytes of gradient, over dimensions %#x of the grid, once a step\n",
            policy->name, part[i].count * (int64_t)weir_dtype_size(part[i].dtype), part[i].dims);
  }
}
