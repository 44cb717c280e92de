/* exchange.c - see exchange.h: the policy that exchanges partial sums of gradients. */
#include "train/step/exchange.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "train/array_names.h"
#include "train/grid/apart.h"
#include "train/grid/optim_moves.h"
#include "train/grid/ranks.h"

bool train_has_slot(const train_run *r)
{
  const weir_exchange_desc *policy = NULL;

  const bool always = r->cfg->accumulate > 1 || r->cfg->optim.shard != WEIR_OPTIM_SHARD_NONE;

  if (always || weir_optim_exchange(&r->cfg->optim, &policy) != WEIR_OK) {
    return always;
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

/* Lists parameters of two or more dimensions as matrices of input by output channels, which are the
 * last dimension; none where this rank has shards of them. The caller frees the list. */
static weir_status list_matrices(const train_run *r, weir_exchange_matrix **out, int64_t *n)
{
  const int64_t rows = r->ranks.shards.n == 0 ? weir_params_count(r->params) : 0;

  *n = 0;
  WEIR_TRY(weir_alloc(rows, sizeof **out, (void **)out));
  for (int64_t i = 0; i < rows; i++) {
    const weir_param_row *row = weir_params_get(r->params, i);

    if (row->rank > 1 && row->count > 0) {
      const int64_t columns = row->shape[row->rank - 1];

      (*out)[(*n)++] = (weir_exchange_matrix){row->first, row->count / columns, columns};
    }
  }
  return WEIR_OK;
}

/* What a policy keeps of a gradient is in units of the sum of that step's weights, which the task
 * gives, and would count differently in the next one. */
static weir_status check_weights(const train_run *r, const weir_exchange_desc *policy)
{
  return r->task->weight == NULL || policy->keep == NULL || policy->what != WEIR_EXCHANGE_GRADIENTS
             ? WEIR_OK
             : weir_fail(WEIR_ERR_UNSUPPORTED,
                         "optim.exchange %s: '%s' gives samples weights, which differ from the "
                         "step that a gradient is left over from to the next: use allreduce, local "
                         "or wagma",
                         policy->name, r->task->name);
}

/* Whether each rank needs the sum of its shard alone, and the policy is a sum. */
static bool scatters(const train_run *r)
{
  const weir_exchange_desc *policy = NULL;

  return r->ranks.optim.what == WEIR_OPTIM_SHARD_STATE &&
         weir_optim_exchange(&r->cfg->optim, &policy) == WEIR_OK && policy->in_plan;
}

/* Whether the slot is one of a policy. Sums of gradients in shards are made in the plan. */
static bool exchanges(const train_run *r)
{
  return r->ranks.all != NULL && r->ranks.optim.what != WEIR_OPTIM_SHARD_GRADIENTS &&
         !scatters(r) && (train_apart(r->cfg) || train_has_slot(r));
}

weir_status train_open_exchange(train_run *r)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];
  weir_exchange_matrix *matrix = NULL;
  int64_t n_matrices = 0;

  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  if (!exchanges(r)) {
    return WEIR_OK;
  }
  weir_status status = check_weights(r, policy);

  status = status == WEIR_OK ? list_matrices(r, &matrix, &n_matrices) : status;
  WEIR_TRY_GOTO(train_agree_all(r, status), done);
  const weir_exchange_args args = {.opts = r->cfg->optim.exchange.opts,
                                   .comm = r->ranks.all,
                                   .grid = &r->ranks.grid,
                                   .part = part,
                                   .n = list_parts(r, policy, part),
                                   .matrix = matrix,
                                   .n_matrices = n_matrices,
                                   .step = *r->state.step};
  status = weir_exchange_open(policy, &args, &r->exchange);
done:
  weir_free(&matrix);
  return status;
}

weir_status train_exchange(train_run *r, weir_exchange_what what)
{
  const double start = weir_clock();
  const bool scatter = what == WEIR_EXCHANGE_GRADIENTS && scatters(r);

  if (!scatter && (r->exchange.policy == NULL || r->exchange.policy->what != what)) {
    return WEIR_OK;
  }
  const weir_status status = scatter ? train_scatter_gradient(r) : weir_exchange_run(&r->exchange);

  r->spent_s += weir_clock() - start;
  return status;
}

void train_print_exchange(const train_run *r, FILE *out)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];

  if (!exchanges(r) || weir_optim_exchange(&r->cfg->optim, &policy) != WEIR_OK) {
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
