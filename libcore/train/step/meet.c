/* meet.c - see meet.h. */
#include "train/step/meet.h"

#include <math.h>
#include <string.h>

#include "base/weir_log.h"
#include "train/array_names.h"
#include "train/grid/ranks.h"
#include "train/options.h"
#include "train/state.h"
#include "train/step/batch.h"
#include "train/step/plan.h"
#include "train/step/timeline.h"

/* Reduces over all ranks in place, f32 or f64. */
static weir_status reduce(train_run *r, const char *name, weir_reduce_op op, weir_dtype dtype,
                          void *data, int64_t n)
{
  weir_request *request = NULL;

  WEIR_TRY(
      weir_allreduce_create(r->ranks.all, name, weir_reducer_of(op, dtype), data, n, &request));
  return weir_request_run_once(&request);
}

weir_status train_sum_replicas(train_run *r, double *x, int64_t n)
{
  return r->ranks.replicas > 0 ? reduce(r, "numbers of replicas", WEIR_REDUCE_SUM, WEIR_F64, x, n)
                               : WEIR_OK;
}

static weir_status average(train_run *r, const char *name, weir_tensor *t)
{
  const int64_t n = weir_tensor_numel(t);

  if (!weir_dtype_is_real(t->dtype) || n == 0) {
    return WEIR_OK; /* counters, which are equal */
  }
  if (weir_reducer_of(WEIR_REDUCE_SUM, t->dtype) == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "train: '%s', of %s, is not averaged over ranks", name,
                     weir_dtype_name(t->dtype));
  }
  WEIR_TRY(reduce(r, name, WEIR_REDUCE_SUM, t->dtype, t->data, n));
  for (int64_t i = 0; i < n; i++) {
    const double sum = weir_dtype_load_real(t->dtype, t->data, i);

    weir_dtype_store_real(t->dtype, t->data, i, sum / r->ranks.replicas);
  }
  return WEIR_OK;
}

/* The network's arrays, but for weights that the policy has left equal, and those of the optimiser.
 */
static weir_status average_all(train_run *r)
{
  const bool equal = r->exchange.policy->what == WEIR_EXCHANGE_WEIGHTS;

  for (int64_t i = 0; i < weir_store_count(r->store); i++) {
    const char *name = weir_store_name(r->store, i);
    const bool state = strncmp(name, "optim.", 6) == 0 && train_is_own(r, name);

    if (state || (train_is_network(name) && !(equal && strcmp(name, WEIR_PARAMS_FLAT) == 0))) {
      weir_tensor *t = NULL;

      WEIR_TRY(weir_store_write(r->store, name, &t));
      WEIR_TRY(average(r, name, t));
    }
  }
  return WEIR_OK;
}

/* Gradients that came last are applied in an update of their own. */
static weir_status apply_rest(train_run *r)
{
  const weir_tensor *bank = NULL;
  train_numbers x = train_numbers_of(r, 0);
  weir_plan *plan = NULL;
  bool any = false;

  WEIR_TRY(weir_store_read(r->store, TRAIN_BANK, &bank));
  for (int64_t i = 0; i < weir_tensor_numel(bank); i++) {
    any = any || weir_dtype_load_real(bank->dtype, bank->data, i) != 0;
  }
  x.step = *r->state.step > 0 ? *r->state.step : 1;
  x.lr = train_rate(r, x.step);
  x.weight = 1;
  return any ? train_run_plan(r, TRAIN_APPLY, 0, &x, &plan) : WEIR_OK;
}

static weir_status settle(train_run *r)
{
  const train_moment begin = train_begin_activity(r);
  const weir_status status = weir_exchange_settle(&r->exchange);

  train_end_activity(r, TRAIN_MEETS, begin);
  return status;
}

static weir_status become_equal(train_run *r)
{
  const train_moment begin = train_begin_activity(r);
  double sum = *r->state.loss_sum;

  WEIR_TRY(average_all(r));
  WEIR_TRY(train_sum_replicas(r, &sum, 1));
  *r->state.loss_sum = train_leads(r) ? sum : 0;
  r->met = true;
  train_end_activity(r, TRAIN_MEETS, begin);
  return WEIR_OK;
}

weir_status train_meet(train_run *r)
{
  const weir_exchange_desc *policy = r->exchange.policy;

  if (r->ranks.replicas == 0 || r->met) {
    return WEIR_OK;
  }
  WEIR_TRY(settle(r));
  if (policy->what == WEIR_EXCHANGE_GRADIENTS) {
    WEIR_TRY(train_agree_all(r, apply_rest(r)));
  }
  return become_equal(r);
}

weir_status train_meet_before_call(train_run *r)
{
  return r->ranks.replicas > 0 && r->exchange.policy->due != NULL ? train_meet(r) : WEIR_OK;
}

weir_status train_tell_exchange(train_run *r)
{
  const weir_exchange_counts own = weir_exchange_count(&r->exchange);
  double max_age = (double)own.max_age;
  double sum[] = {(double)own.versions,    (double)own.fresh,         (double)own.stale,
                  (double)own.messages,    (double)own.payload_bytes, (double)own.index_bytes,
                  (double)own.activations, (double)own.rounds,        own.waited_s,
                  (double)own.buckets,     (double)own.early,         (double)own.complete};

  if (r->exchange.policy == NULL) {
    return WEIR_OK;
  }
  const char *name = r->exchange.policy->name;
  const int ranks = weir_comm_size(r->ranks.all);

  WEIR_TRY(reduce(r, "counts of the exchange", WEIR_REDUCE_SUM, WEIR_F64, sum,
                  sizeof sum / sizeof sum[0]));
  WEIR_TRY(reduce(r, "age of contributions", WEIR_REDUCE_MAX, WEIR_F64, &max_age, 1));
  const double fresh = sum[0] > 0 ? sum[1] / sum[0] : NAN;

  weir_event("exchange", WEIR_TEXT("policy", name), WEIR_INT("ranks", ranks),
             WEIR_INT("replicas", r->ranks.replicas), WEIR_REAL("in_time", fresh),
             WEIR_REAL("stale", sum[0] > 0 ? sum[2] / sum[0] : NAN),
             WEIR_INT("max_age", (int64_t)max_age), WEIR_INT("messages", (int64_t)sum[3]),
             WEIR_INT("payload_bytes", (int64_t)sum[4]), WEIR_INT("index_bytes", (int64_t)sum[5]),
             WEIR_INT("activations", (int64_t)sum[6]), WEIR_REAL("rounds", sum[7] / ranks),
             WEIR_REAL("waited_s", sum[8] / ranks), WEIR_REAL("buckets", sum[9] / ranks),
             WEIR_REAL("early", sum[9] > 0 ? sum[10] / sum[9] : NAN),
             WEIR_REAL("complete", sum[9] > 0 ? sum[11] / sum[9] : NAN));
  weir_info("train",
            "exchange %s: %.0f %% of the contributions came in time, the oldest %.0f steps late; a "
            "rank sent %.4g MB in %.0f messages and waited %.3g s on average",
            name, 100 * fresh, max_age, (sum[4] + sum[5]) / 1e6 / ranks, sum[3] / ranks,
            sum[8] / ranks);
  return WEIR_OK;
}
