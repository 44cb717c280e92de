/* step.c - see step.h: samples chosen, fetched, and given to plans. */
#include "train/step/step.h"

#include <inttypes.h>
#include <math.h>

#include "base/weir_clock.h"
#include "train/array_names.h"
#include "train/grid/optim_moves.h"
#include "train/grid/ranks.h"
#include "train/step/batch.h"
#include "train/step/exchange.h"
#include "train/step/nan_trace.h"
#include "train/step/plan.h"
#include "train/step/size.h"
#include "train/step/timeline.h"
#include "train/state.h"
#include "train/step/meet.h"

static weir_status step_at_once(train_run *r, int64_t n, double *loss, double *norm)
{
  const train_numbers x = train_numbers_of(r, 0);
  weir_plan *plan = NULL;

  train_choose(r, *r->state.position, n);
  WEIR_TRY(train_fetch(r, WEIR_TRAIN_SAMPLES, n));
  r->own = train_counted_samples(r, n);
  if (r->own == 0) { /* of the last update of an epoch */
    *loss = *norm = 0;
    return WEIR_OK;
  }
  WEIR_TRY(train_run_plan(r, TRAIN_STEP, n, &x, &plan));
  WEIR_TRY(train_number(plan, "loss", loss));
  return train_number(plan, "norm", norm);
}

/* How much a batch counts: as its task says, else as the caller does. */
static weir_status weight_of(const train_run *r, const weir_plan *plan, double *weight)
{
  return r->task->weight == NULL ? WEIR_OK : train_number(plan, r->task->weight, weight);
}

/* 1 / total of weights that the task gives; else they add up to 1. */
static double inverse_of(const train_run *r, double total)
{
  return r->task->weight != NULL && total > 0 ? 1 / total : 1;
}

/* Samples of a step of n that a loss is the mean of. */
static int64_t own_of_step(const train_run *r, int64_t n)
{
  int64_t own = 0;

  for (int64_t at = 0; at < n; at += r->cfg->batch) {
    own += train_counted_samples(r, n - at < r->cfg->batch ? n - at : r->cfg->batch);
  }
  return own;
}

static bool exchanges_gradients(const train_run *r)
{
  return r->exchange.policy != NULL && r->exchange.policy->what == WEIR_EXCHANGE_GRADIENTS;
}

/* Weight of the mean over `own` samples of a micro-batch in a step of n: where replicas exchange
 * gradients, in the mean over all of them; where they exchange weights, in this one's. */
static double weight_among(const train_run *r, int64_t own, int64_t n)
{
  return (double)own / (double)(exchanges_gradients(r) ? n : r->own);
}

/* Gradients of samples with weights, which are exchanged before the weights of the others are
 * known: the weighted mean of this replica counts as its share of the n samples of the step. */
static weir_status scale_to_share(train_run *r, double total, int64_t n)
{
  const double factor = total > 0 ? (double)r->own / (double)n / total : 0;
  weir_tensor *bank = NULL;

  WEIR_TRY(weir_store_write(r->store, TRAIN_BANK, &bank));
  for (int64_t i = 0; i < weir_tensor_numel(bank); i++) {
    const double x = weir_dtype_load_real(bank->dtype, bank->data, i);

    weir_dtype_store_real(bank->dtype, bank->data, i, x * factor);
  }
  return WEIR_OK;
}

/* The parameters that the others have updated. */
static weir_status gather_params(train_run *r)
{
  const train_moment start = train_begin_activity(r);
  const weir_status status = train_gather_params(r);

  if (r->ranks.optim.what != WEIR_OPTIM_SHARD_NONE) {
    train_end_activity(r, TRAIN_EXCHANGES, start);
    r->spent_s += weir_clock() - start.time;
  }
  return status;
}

/* Micro-batch by micro-batch: their weighted gradients add up to that of the whole batch; of
 * several ranks to a summand of it on each, which the exchange completes. */
static weir_status step_in_microbatches(train_run *r, int64_t n, double *loss, double *norm)
{
  weir_plan *plan = NULL;
  double batch_loss = 0, total = 0;

  WEIR_TRY(weir_store_clear(r->store, TRAIN_BANK));
  r->own = own_of_step(r, n);
  *loss = 0;
  for (int64_t k = 0; k * r->cfg->batch < n; k++) {
    const int64_t at = k * r->cfg->batch;
    const int64_t m = n - at < r->cfg->batch ? n - at : r->cfg->batch;
    train_numbers x = train_numbers_of(r, k);

    train_choose(r, *r->state.position + at, m);
    WEIR_TRY(train_fetch(r, WEIR_TRAIN_SAMPLES, m));
    if (train_counted_samples(r, m) == 0) {
      continue;
    }
    if (r->ranks.replicas > 0) {
      x.weight = weight_among(r, train_counted_samples(r, m), n);
    }
    x.last = at + m == n;
    WEIR_TRY(train_run_plan(r, TRAIN_GRADIENT, m, &x, &plan));
    WEIR_TRY(train_number(plan, "loss", &batch_loss));
    WEIR_TRY(weight_of(r, plan, &x.weight));
    *loss += batch_loss * x.weight;
    total += x.weight;
  }
  const bool shares = r->ranks.replicas > 0 && r->task->weight != NULL && exchanges_gradients(r);
  train_numbers x = train_numbers_of(r, 0);

  if (shares) {
    WEIR_TRY(scale_to_share(r, total, n));
  }
  WEIR_TRY(train_exchange(r, WEIR_EXCHANGE_GRADIENTS));
  x.weight = shares ? 1 : inverse_of(r, total);
  *loss *= r->ranks.replicas > 0 && total > 0 ? 1 / total : x.weight;
  if ((r->own == 0 && !exchanges_gradients(r)) /* as a step at once */
      || !weir_exchange_due(&r->exchange)) {
    return WEIR_OK;
  }
  WEIR_TRY(train_run_plan(r, TRAIN_APPLY, 0, &x, &plan));
  WEIR_TRY(gather_params(r));
  return train_number(plan, "norm", norm);
}

weir_status train_step(train_run *r, double *loss)
{
  const int64_t n = train_step_samples(r);
  double norm = 0;

  r->graph.size = train_size_of(r->task, r->cfg->seed, *r->state.step + 1);
  WEIR_TRY(train_keep_before(r));
  const weir_status status =
      train_has_slot(r) ? step_in_microbatches(r, n, loss, &norm) : step_at_once(r, n, loss, &norm);

  if (status != WEIR_OK) { /* also the buffers of the micro-batches already computed */
    WEIR_TRY(train_take_before(r));
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  r->norm = norm;
  if (isfinite(*loss) && (isfinite(norm) || !r->cfg->check_nan)) {
    return train_exchange(r, WEIR_EXCHANGE_WEIGHTS);
  }
  if (r->cfg->check_nan) {
    WEIR_TRY(train_take_before(r));
    return train_locate_nan(r);
  }
  return weir_fail(WEIR_ERR_NUMERIC,
                   "step %" PRId64 ": the loss is %g; check_nan names the operator it comes from",
                   *r->state.step + 1, *loss);
}

/* Weighted sums over the validation samples. */
typedef struct sums {
  double loss, weight, metric[TRAIN_METRICS], moment[WEIR_TRAIN_MOMENTS];
} sums;

/* Samples [at, at + m), of which this rank has its share. */
static weir_status add_batch(train_run *r, int64_t at, int64_t m, sums *sum)
{
  const train_numbers x = {.draw = 0};
  double weight = (double)train_counted_samples(r, m) / (double)r->task->n_valid, value;
  weir_plan *plan = NULL;

  for (int64_t i = 0; i < m; i++) {
    r->sample[i] = at + i;
  }
  WEIR_TRY(train_fetch(r, WEIR_VALID_SAMPLES, m));
  if (train_counted_samples(r, m) == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(train_run_plan(r, TRAIN_VALID, m, &x, &plan));
  WEIR_TRY(train_number(plan, "loss", &value));
  WEIR_TRY(weight_of(r, plan, &weight));
  sum->weight += weight;
  sum->loss += weight * value;
  for (int k = 0; k < r->task->n_metrics; k++) {
    WEIR_TRY(train_number(plan, r->task->metric[k], &value));
    sum->metric[k] += weight * value;
  }
  for (int k = 0; k < r->task->n_moments; k++) {
    WEIR_TRY(train_number(plan, r->task->moment[k], &value));
    sum->moment[k] += weight * value;
  }
  return WEIR_OK;
}

static weir_status add_batches(train_run *r, sums *sum)
{
  const int64_t n = r->task->n_valid;

  for (int64_t at = 0; at < n; at += r->cfg->batch) {
    WEIR_TRY(add_batch(r, at, n - at < r->cfg->batch ? n - at : r->cfg->batch, sum));
  }
  return WEIR_OK;
}

weir_status train_validate(train_run *r, double *loss, double *metric)
{
  sums sum = {.loss = 0};

  r->graph.size = NULL;
  WEIR_ASSERT(r->task->n_moments <= WEIR_TRAIN_MOMENTS);
  const weir_status status = add_batches(r, &sum);

  WEIR_TRY(r->ranks.replicas > 0 ? train_agree_all(r, status) : status);
  WEIR_TRY(train_sum_replicas(r, &sum.loss, (int64_t)(sizeof sum / sizeof sum.loss)));
  const double inverse = inverse_of(r, sum.weight);

  *loss = sum.loss * inverse;
  for (int k = 0; k < r->task->n_metrics; k++) {
    metric[k] = sum.metric[k] * inverse;
  }
  for (int k = 0; k < r->task->n_moments; k++) {
    sum.moment[k] *= inverse;
  }
  if (!isfinite(*loss)) {
    return weir_fail(WEIR_ERR_NUMERIC, "the validation loss after step %" PRId64 " is %g",
                     *r->state.step, *loss);
  }
  if (r->task->n_moments > 0 && r->model <= 1) { /* of several networks the first one's */
    r->task->validated(r->task->context, *r->state.step, sum.moment);
  }
  return WEIR_OK;
}
