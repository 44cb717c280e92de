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
  return !policy->in_plan;
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

/* This rank's elements of the accumulated gradient, all of them or slice by slice; returns how many
 * parts. */
static int list_parts(const train_run *r, weir_exchange_part part[TRAIN_MAX_SLICES])
{
  const weir_tensor *bank = weir_store_get(r->store, TRAIN_BANK);
  const train_shards *s = &r->ranks.shards;
  const size_t size = weir_dtype_size(bank->dtype);

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

int train_list_sums(const train_ranks *k, const weir_params *params,
                    weir_train_sum sum[TRAIN_MAX_SLICES])
{
  const train_shards *s = &k->shards;
  const int64_t size = (int64_t)weir_dtype_size(weir_params_dtype(params));
  const int n = s->n > 0 ? s->n : 1;

  for (int i = 0; i < n; i++) {
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
    sum[i] = (weir_train_sum){ranks, most * size};
  }
  return n;
}
