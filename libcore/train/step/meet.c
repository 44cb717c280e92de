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

/* Sums over all ranks in place, of f32 or f64. */
static weir_status sum_up(train_run *r, const char *name, weir_dtype dtype, void *data, int64_t n)
{
  weir_request *sum = NULL;

  WEIR_TRY(weir_allreduce_create(r->ranks.all, name, weir_reducer_of(WEIR_REDUCE_SUM, dtype), data,
                                 n, &sum));
  return weir_request_run_once(&sum);
}

weir_status train_sum_replicas(train_run *r, double *x, int64_t n)
{
  return r->ranks.replicas > 0 ? sum_up(r, "numbers of replicas", WEIR_F64, x, n) : WEIR_OK;
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
  WEIR_TRY(sum_up(r, name, t->dtype, t->data, n));
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

weir_status train_meet(train_run *r)
{
  const weir_exchange_desc *policy = r->exchange.policy;
  double sum = *r->state.loss_sum;

  if (r->ranks.replicas == 0 || r->met) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_exchange_settle(&r->exchange));
  if (policy->what == WEIR_EXCHANGE_GRADIENTS) {
    WEIR_TRY(train_agree_all(r, apply_rest(r)));
  }
  WEIR_TRY(average_all(r));
  WEIR_TRY(train_sum_replicas(r, &sum, 1));
  *r->state.loss_sum = train_leads(r) ? sum : 0;
  r->met = true;
  return WEIR_OK;
}

weir_status train_tell_exchange(train_run *r)
{
  const weir_exchange_counts own = weir_exchange_count(&r->exchange);
  double sum[] = {(double)own.versions, (double)own.fresh, own.waited_s};

  if (r->ranks.replicas == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(train_sum_replicas(r, sum, 3));
  const double fresh = sum[0] > 0 ? sum[1] / sum[0] : NAN, waited_s = sum[2] / r->ranks.replicas;

  weir_event("exchange", WEIR_TEXT("policy", r->exchange.policy->name),
             WEIR_INT("replicas", r->ranks.replicas), WEIR_REAL("in_time", fresh),
             WEIR_REAL("waited_s", waited_s));
  weir_info("train",
            "exchange %s: %.0f %% of the contributions came in time; a rank waited %.3g s on "
            "average",
            r->exchange.policy->name, 100 * fresh, waited_s);
  return WEIR_OK;
}
