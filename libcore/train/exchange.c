/* exchange.c - the slot between the gradient of a step and its update: which gradients stay partial
 * sums on the ranks of the grid, and the policy that exchanges them. */
#include <inttypes.h>
#include <string.h>

#include "base/weir_clock.h"
#include "train/train_priv.h"

bool train_has_slot(const train_run *r)
{
  const weir_exchange_desc *policy = NULL;

  if (r->cfg->accumulate > 1 || weir_optim_exchange(&r->cfg->optim, &policy) != WEIR_OK) {
    return r->cfg->accumulate > 1;
  }
  return policy->what == WEIR_EXCHANGE_GRADIENTS && !policy->in_plan;
}

/* ---- Sums that ranks keep ---- */

/* Dimensions of the grid over which the bank is a sum, of a slice or of all of it (-1). */
static unsigned summed_over(const train_ranks *k, int slice)
{
  unsigned dims = 0;

  for (int d = 0; d < k->dist.grid.dims; d++) {
    const bool sharded = slice >= 0 && d > 0 && k->shards.along[slice] == d;

    dims |= k->dist.grid.extent[d] > 1 && !sharded ? 1u << d : 0;
  }
  return dims;
}

weir_status train_leave_sums(const train_ranks *k, const weir_graph *g, train_sharding *c)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->kind != WEIR_ARRAY_STORED || array->update < 0 ||
        strncmp(array->name, TRAIN_BANK, sizeof TRAIN_BANK - 1) != 0) {
      continue;
    }
    const unsigned dims = summed_over(k, train_slice_of(&k->shards, array->name));
    int first = 0;

    while (first < WEIR_GRID_DIMS && (dims >> first & 1) == 0) {
      first++;
    }
    if (dims != 0) {
      WEIR_TRY(train_add_shard(
          c, (weir_shard){a, WEIR_SHARD_SUM, first, NULL, dims & ~(1u << first), 0}));
    }
  }
  return WEIR_OK;
}

/* ---- The exchange ---- */

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
                                   summed_over(&r->ranks, -1)};
    return 1;
  }
  for (int k = 0; k < s->n; k++) {
    int64_t lo, hi;

    train_own_shard(&r->ranks, k, &lo, &hi);
    part[k] = (weir_exchange_part){(char *)bank->data + (size_t)(s->slice[k].first + lo) * size,
                                   bank->dtype, hi - lo, summed_over(&r->ranks, k)};
  }
  return s->n;
}

weir_status train_open_exchange(train_run *r)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];

  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  if (r->ranks.all == NULL || !(train_apart(r) || train_has_slot(r))) {
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
  const double start = weir_clock();

  if (r->exchange.policy == NULL || r->exchange.policy->what != what) {
    return WEIR_OK;
  }
  const weir_status status = weir_exchange_run(&r->exchange);

  r->spent_s += weir_clock() - start;
  return status;
}

void train_print_exchange(const train_run *r, FILE *out)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];

  if (r->ranks.all == NULL || !(train_apart(r) || train_has_slot(r)) ||
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

void train_cost_of_exchange(const train_ranks *k, const weir_params *params, const weir_machine *m,
                            weir_cost *sum)
{
  const train_shards *s = &k->shards;
  const int64_t size = (int64_t)weir_dtype_size(weir_params_dtype(params));

  for (int i = 0; i < (s->n > 0 ? s->n : 1); i++) {
    const unsigned dims = summed_over(k, s->n > 0 ? i : -1);
    const int pieces = s->n > 0 && s->along[i] > 0 ? k->dist.grid.extent[s->along[i]] : 0;
    int64_t most = s->n == 0 ? weir_params_elements(params) : pieces > 0 ? 0 : s->slice[i].count;
    int ranks = 1;

    for (int q = 0; q < pieces; q++) {
      const int64_t own = s->at[i][q + 1] - s->at[i][q];

      most = own > most ? own : most;
    }
    for (int d = 0; d < k->dist.grid.dims; d++) {
      ranks *= (dims >> d & 1) != 0 ? k->dist.grid.extent[d] : 1;
    }
    weir_cost_add_allreduce(m, ranks, most * size, sum);
  }
}
