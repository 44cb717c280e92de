/* exchange.c - see exchange.h: the policy that exchanges partial sums of gradients. */
#include "train/step/exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "train/array_names.h"
#include "train/grid/apart.h"
#include "train/grid/optim_moves.h"
#include "train/grid/ranks.h"
#include "train/step/kept.h"
#include "train/step/size.h"
#include "train/step/timeline.h"

/* Whether the policy makes sums that a plan might make. */
static bool leaves_plan(const train_run *r, const weir_exchange_desc *policy)
{
  bool yes = false;

  if (weir_exchange_leaves_plan(policy, r->cfg->optim.exchange.opts, &yes) != WEIR_OK) {
    weir_clear_failure(); /* memory, which the run lacks as well */
  }
  return yes;
}

bool train_has_slot(const train_run *r)
{
  const weir_exchange_desc *policy = NULL;

  const bool always = r->cfg->accumulate * train_most_batches(r->task) > 1 ||
                      r->cfg->optim.shard != WEIR_OPTIM_SHARD_NONE;

  if (always || weir_optim_exchange(&r->cfg->optim, &policy) != WEIR_OK) {
    return always;
  }
  return policy->what == WEIR_EXCHANGE_GRADIENTS && (!policy->in_plan || leaves_plan(r, policy));
}

/* Whether each rank needs the sum of its shard alone, and the policy is a sum. */
static bool scatters(const train_run *r)
{
  const weir_exchange_desc *policy = NULL;

  return r->ranks.optim.what == WEIR_OPTIM_SHARD_STATE &&
         weir_optim_exchange(&r->cfg->optim, &policy) == WEIR_OK && policy->in_plan;
}

int64_t train_scatter_bytes(const train_run *r)
{
  const train_optim_shards *s = &r->ranks.optim;
  const int64_t size = (int64_t)weir_dtype_size(weir_params_dtype(r->params));

  return scatters(r) ? (s->at[s->rank + 1] - s->at[s->rank]) * s->ranks * size : 0;
}

/* Whether a policy exchanges outside the plans, among ranks. Sums of gradients in shards are made
 * in the plan. */
static bool exchanges(const train_run *r)
{
  return r->ranks.all != NULL && r->ranks.optim.what < WEIR_OPTIM_SHARD_GRADIENTS && !scatters(r) &&
         (train_apart(r->cfg) || train_has_slot(r));
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

/* What a policy keeps of gradients on each rank, for all of the weights and for steps to come. */
static weir_status check_kept(const train_run *r, const weir_exchange_desc *policy)
{
  if (policy->keep == NULL) {
    return WEIR_OK;
  }
  if (r->ranks.shards.n > 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "optim.exchange %s: weights are sharded over ranks: use another grid "
                     "(replicate_below), or allreduce",
                     policy->name);
  }
  if (r->task->weight != NULL && policy->what == WEIR_EXCHANGE_GRADIENTS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "optim.exchange %s: '%s' gives samples weights, whose sum differs in the step "
                     "in which a gradient is applied: use local, wagma or allreduce",
                     policy->name, r->task->name);
  }
  return WEIR_OK;
}

/* Weights, and arrays of the optimiser: those that checkpoints have in slices, but for copies. */
static bool is_updated(const train_run *r, const char *array)
{
  bool sliced = false;

  for (int64_t i = 0; i < r->n_slices; i++) {
    sliced = sliced || strcmp(r->slice[i].array, array) == 0;
  }
  return sliced && strncmp(array, TRAIN_BEST, sizeof TRAIN_BEST - 1) != 0;
}

/* What an update changes: *state, [*n]; the caller frees it. */
static weir_status list_state(train_run *r, weir_exchange_part **state, int *n)
{
  int64_t capacity = 0;

  *state = NULL;
  *n = 0;
  for (int64_t i = 0; i < weir_store_count(r->store); i++) {
    const char *name = weir_store_name(r->store, i);
    weir_tensor *t = NULL;

    if (is_updated(r, name)) {
      WEIR_TRY(weir_store_pin(r->store, name, &t));
      WEIR_TRY(weir_reserve(state, &capacity, *n + 1, sizeof **state));
      (*state)[(*n)++] = (weir_exchange_part){t->data, t->dtype, weir_tensor_numel(t), 0};
    }
  }
  return WEIR_OK;
}

weir_status train_open_exchange(train_run *r)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES], *state = NULL;
  weir_exchange_matrix *matrix = NULL;
  int64_t n_matrices = 0;
  int n = 0, n_state = 0;

  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  if (!exchanges(r)) {
    return train_restore_kept(r);
  }
  weir_status status = check_kept(r, policy);

  status = status == WEIR_OK ? list_matrices(r, &matrix, &n_matrices) : status;
  status = status == WEIR_OK && policy->due != NULL ? list_state(r, &state, &n_state) : status;
  status = status == WEIR_OK ? list_parts(r, part, &n) : status;
  WEIR_TRY_GOTO(train_agree_all(r, status), done);
  const weir_exchange_args args = {.opts = r->cfg->optim.exchange.opts,
                                   .comm = r->ranks.all,
                                   .grid = &r->ranks.grid,
                                   .part = part,
                                   .n = n,
                                   .matrix = matrix,
                                   .n_matrices = n_matrices,
                                   .state = state,
                                   .n_state = n_state,
                                   .step = *r->state.step};

  status = weir_exchange_open(policy, &args, &r->exchange);
done:
  weir_free(&matrix);
  weir_free(&state);
  WEIR_TRY(status);
  return train_restore_kept(r);
}

/* Whether the exchange begins while the last gradient of a step is computed: *why NULL; else why
 * not, for descriptions. */
static weir_status find_overlap(const train_run *r, const char **why)
{
  const weir_exchange_desc *policy = NULL;
  bool yes = false;

  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  WEIR_TRY(weir_exchange_overlaps(policy, r->cfg->optim.exchange.opts, &yes));
  *why = !train_has_slot(r)         ? "inside the plan, parameter by parameter"
         : policy->overlaps == NULL ? "none: the policy needs the whole gradient"
         : !exchanges(r)            ? "none: gradients are summed in shards (optim.shard)"
         : !yes                     ? "none: it has no buckets"
         : !r->graph.in_rows        ? "none: the gradient leaves the device at the end of the plan"
                                    : NULL;
  return WEIR_OK;
}

/* A piece of the gradient, in the bank or in a slice of it, "train.gradient.2". */
static weir_status begin_to_exchange(void *run, const char *name, int64_t lo, int64_t hi)
{
  train_run *r = run;
  const char *slice = name + strlen(TRAIN_BANK);

  return weir_exchange_ready(&r->exchange, *slice == '.' ? atoi(slice + 1) : 0, lo, hi);
}

weir_status train_overlap(train_run *r, weir_plan *plan, bool last)
{
  const char *why = "";

  if (last && r->exchange.policy != NULL) {
    WEIR_TRY(find_overlap(r, &why));
  }
  weir_plan_on_update(plan, why == NULL ? begin_to_exchange : NULL, r);
  return WEIR_OK;
}

weir_status train_exchange(train_run *r, weir_exchange_what what)
{
  const bool scatter = what == WEIR_EXCHANGE_GRADIENTS && scatters(r);

  if (!scatter && (r->exchange.policy == NULL || r->exchange.policy->what != what)) {
    return WEIR_OK;
  }
  const train_moment start = train_begin_activity(r);
  const weir_status status = scatter ? train_scatter_gradient(r) : weir_exchange_run(&r->exchange);

  train_end_activity(r, TRAIN_EXCHANGES, start);
  r->spent_s += weir_clock() - start.time;
  /* Others may wait for what this rank has not sent; what fails between ranks fails on all. */
  return status == WEIR_OK || status == WEIR_ERR_EXTERNAL ? status
                                                          : weir_comm_abort(r->ranks.all, status);
}

weir_status train_print_exchange(train_run *r, FILE *out)
{
  const weir_exchange_desc *policy = NULL;
  weir_exchange_part part[TRAIN_MAX_SLICES];
  const char *why = NULL;
  int n = 0;

  if (r->ranks.all == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_optim_exchange(&r->cfg->optim, &policy));
  WEIR_TRY(exchanges(r) ? list_parts(r, part, &n) : WEIR_OK);
  fprintf(out, "== exchange\n");
  for (int i = 0; i < n; i++) {
    fprintf(out,
            "%-8s %" PRId64 " bytes of %s, over dimensions %#x of the grid, at most once a step\n",
            policy->name, part[i].count * (int64_t)weir_dtype_size(part[i].dtype),
            policy->what == WEIR_EXCHANGE_WEIGHTS ? "weights" : "gradient", part[i].dims);
  }
  if (policy->what == WEIR_EXCHANGE_GRADIENTS) {
    WEIR_TRY(find_overlap(r, &why));
    fprintf(out, "overlap of %s with the backward pass: %s\n", policy->name,
            why == NULL ? "in buckets" : why);
  }
  return WEIR_OK;
}
