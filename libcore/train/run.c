/* run.c - the loop: steps, epochs, validation, checkpoints, and the reasons to end. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "train/grid/apart.h"
#include "train/grid/rank_arrays.h"
#include "train/grid/ranks.h"
#include "train/models.h"
#include "train/options.h"
#include "train/run_loop.h"
#include "train/run_open.h"
#include "train/save.h"
#include "train/state.h"
#include "train/step/batch.h"
#include "train/step/calibrate.h"
#include "train/step/exchange.h"
#include "train/step/plan.h"
#include "train/step/size.h"
#include "train/step/step.h"
#include "train/step/timeline.h"
#include "train/step/timing.h"
#include "train/step/meet.h"

/* That no array of the network has a name that a file gives to one of its training: "optim/m" is
 * "optim.m" there. */
static weir_status check_scopes(const weir_params *p, const weir_store *s)
{
  static const char *const own[] = {"train", "optim", "best"};
  const int64_t rows = weir_params_count(p);

  for (int64_t i = 0; i < rows + weir_store_count(s); i++) {
    const char *name = i < rows ? weir_params_get(p, i)->name : weir_store_name(s, i - rows);
    const size_t first = strcspn(name, "/");

    for (int k = 0; k < 3; k++) {
      if (strlen(own[k]) == first && memcmp(own[k], name, first) == 0) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "train: '%s': arrays of the training itself are saved as '%s.'; give the "
                         "scope another name",
                         name, own[k]);
      }
    }
  }
  return WEIR_OK;
}

weir_status weir_train_prepare(const weir_train_task *task, int64_t seed, weir_params *params,
                               weir_store *store)
{
  const train_graph t = {.task = task, .params = params, .dtype = WEIR_DTYPE_COUNT};
  weir_value loss;
  weir_graph *g = NULL;
  weir_net net;
  weir_status status;

  WEIR_TRY(train_check_task(task, false));
  WEIR_TRY(weir_graph_create(&g));
  weir_net_init(&net, g, params, false);
  WEIR_TRY_GOTO(train_append(&t, &net, 1, &loss), done);
  WEIR_TRY_GOTO(weir_params_seal(params, store), done);
  WEIR_TRY_GOTO(check_scopes(params, store), done);
  WEIR_TRY_GOTO(weir_params_init(params, store, (uint64_t)seed), done);
done:
  weir_net_fini(&net);
  weir_graph_destroy(&g);
  return status;
}

/* Whether it reports what networks that train together do at once: the first does. */
static bool tells(const train_run *r)
{
  return r->model <= 1;
}

/* Appends the number of the network, where there are several. */
static int add_model(const train_run *r, weir_field *field, int n)
{
  if (r->model > 0) {
    field[n++] = WEIR_INT("model", r->model);
  }
  return n;
}

/* The state as it is has a checkpoint, and the run ends. */
weir_status train_stop_here(train_run *r, bool saved)
{
  if (!saved) {
    WEIR_TRY(train_save(r));
  }
  weir_event("stop", WEIR_TEXT("reason", "signal"), WEIR_INT("step", *r->state.step),
             WEIR_INT("epoch", *r->state.epoch));
  return weir_fail(WEIR_ERR_STOPPED,
                   "stopped by signal %d%s after step %" PRId64 " of %" PRId64
                   "; repeat the command to resume from the checkpoint in %s",
                   weir_stop_signal(), weir_stop_requested() ? "" : " (another rank's)",
                   *r->state.step, r->total, r->dir);
}

/* ---- Validation and epochs ---- */

/* Validates what is not validated yet; whether it was the best one. A signal that comes meanwhile
 * leaves it to the resumed run. */
static weir_status validate(train_run *r, double *metric, bool *best)
{
  const train_state *s = &r->state;
  double loss = NAN;

  *best = false;
  if (r->task->n_valid < 1 || *s->valid_step == *s->step) {
    return WEIR_OK;
  }
  WEIR_TRY(train_meet(r));
  if (tells(r)) {
    weir_event("validation_begin", WEIR_INT("epoch", *s->epoch), WEIR_INT("step", *s->step));
  }
  WEIR_TRY(train_swap_average(r)); /* the parameters used for prediction */
  weir_status status = train_calibrate(r);

  status = status == WEIR_OK ? train_validate(r, &loss, metric) : status;
  if (status != WEIR_OK) {
    const bool stops = status == WEIR_ERR_STOPPED;
    const bool alone =
        r->ranks.optim.what == WEIR_OPTIM_SHARD_NONE || r->ranks.optim.params_sharded;

    if (stops || alone) { /* else not without the others */
      WEIR_TRY(train_swap_average(r));
    }
    return stops ? train_stop_here(r, false) : weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *s->valid_step = *s->step;
  *s->valid_loss = loss;
  const int target = train_target(r->task, r->cfg);

  *s->target = target >= 0 ? metric[target] : INFINITY;
  *s->target_of = target;
  *best = loss < *s->best_loss - r->cfg->min_delta;
  if (*best) {
    *s->best_loss = loss;
    *s->best_epoch = *s->epoch;
    *s->waited = 0;
    WEIR_TRY(train_keep_best(r));
  } else {
    *s->waited += 1;
  }
  return train_swap_average(r);
}

static void tell_validation(const train_run *r, const double *metric, bool best)
{
  const train_state *s = &r->state;
  weir_field field[4 + TRAIN_METRICS] = {WEIR_INT("step", *s->step),
                                         WEIR_REAL("valid_loss", *s->valid_loss),
                                         WEIR_BOOLEAN("best", best)};

  for (int k = 0; k < r->task->n_metrics; k++) {
    field[3 + k] = WEIR_REAL(r->task->metric[k], metric[k]);
  }
  weir_event_fields("validation", field, add_model(r, field, 3 + r->task->n_metrics));
}

static void tell_epoch(const train_run *r, const double *metric, bool valid, bool best)
{
  const train_state *s = &r->state;
  const double seconds = weir_clock() - r->epoch_began;
  weir_field field[9 + TRAIN_METRICS] = {
      WEIR_INT("epoch", *s->epoch),  WEIR_INT("step", *s->step),
      WEIR_REAL("loss", *s->loss),   WEIR_REAL("gradient_norm", r->norm),
      WEIR_REAL("seconds", seconds), WEIR_REAL("lr", *s->rate),
  };
  char validation[96] = "", model[32] = "";
  int n = 6;

  if (valid) {
    field[n++] = WEIR_REAL("valid_loss", *s->valid_loss);
    field[n++] = WEIR_BOOLEAN("best", best);
    for (int k = 0; k < r->task->n_metrics; k++) {
      field[n++] = WEIR_REAL(r->task->metric[k], metric[k]);
    }
    (void)snprintf(validation, sizeof validation, ", validation %.6g%s", *s->valid_loss,
                   best ? " (best)" : "");
  }
  if (r->model > 0) {
    (void)snprintf(model, sizeof model, "model %" PRId64 ", ", r->model);
  }
  weir_event_fields("epoch_end", field, add_model(r, field, n));
  weir_info("train", "%sepoch %" PRId64 ", step %" PRId64 " of %" PRId64 ": loss %.6g%s, %.1f s",
            model, *s->epoch, *s->step, r->total, *s->loss, validation, seconds);
}

void train_tell_task(const train_run *r, int64_t epoch)
{
  if (r->task->epoch != NULL) {
    r->task->epoch(r->task->context, epoch);
  }
}

/* The next epoch, or the resumed one. */
static void begin_epoch(train_run *r)
{
  const train_state *s = &r->state;

  r->epoch_began = weir_clock();
  if (tells(r)) {
    weir_event("epoch_begin", WEIR_INT("epoch", *s->epoch + 1), WEIR_INT("step", *s->step));
  }
  train_tell_task(r, *s->epoch);
}

static bool impatient(const train_run *r)
{
  return r->cfg->patience > 0 && *r->state.waited >= r->cfg->patience;
}

static bool reached(const train_run *r)
{
  const double is = *r->state.target, wanted = r->cfg->target.value;

  return train_target(r->task, r->cfg) >= 0 && isfinite(is) &&
         *r->state.target_of == train_target(r->task, r->cfg) &&
         (r->task->metrics_grow ? is >= wanted : is <= wanted);
}

bool train_goes_on(const train_run *r)
{
  return *r->state.step < r->total && !impatient(r) && !reached(r);
}

/* Whether the epoch that has just ended is one to validate. */
static bool is_due(const train_run *r)
{
  return *r->state.epoch % r->cfg->validate_every == 0 || *r->state.step == r->total;
}

/* What follows the last step of an epoch. */
static weir_status next_epoch(train_run *r)
{
  double metric[TRAIN_METRICS] = {0};
  const bool due = is_due(r);
  bool best = false;

  if (due) {
    WEIR_TRY(validate(r, metric, &best));
  }
  tell_epoch(r, metric, due && r->task->n_valid > 0, best);
  if (train_goes_on(r)) {
    begin_epoch(r);
  }
  return WEIR_OK;
}

static weir_status end_epoch(train_run *r)
{
  const train_state *s = &r->state;

  WEIR_TRY(train_meet_before_call(r));
  double sum = *s->loss_sum;

  WEIR_TRY(train_sum_replicas(r, &sum, 1)); /* where they have met, rank 0 has that of all */
  *s->loss = sum / (double)*s->position;
  *s->loss_sum = 0;
  *s->position = 0;
  *s->epoch += 1;
  return next_epoch(r);
}

weir_status train_begin_loop(train_run *r, bool *saved)
{
  const train_state *s = &r->state;
  const bool owed = *s->step > 0 && *s->position == 0 && r->task->n_valid > 0 && is_due(r) &&
                    *s->valid_step != *s->step;

  if (owed) {
    r->epoch_began = weir_clock();
    train_tell_task(r, *s->epoch - 1);
    *saved = false;
    return next_epoch(r);
  }
  if (train_goes_on(r)) {
    begin_epoch(r);
  }
  return WEIR_OK;
}

/* ---- The loop ---- */

static void tell_step(const train_run *r, double loss)
{
  const train_state *s = &r->state;
  weir_field field[6] = {WEIR_INT("step", *s->step), WEIR_REAL("loss", loss),
                         WEIR_REAL("gradient_norm", r->norm), WEIR_REAL("lr", *s->rate)};
  const weir_train_size *size = train_size_of(r->task, r->cfg->seed, *s->step);
  int n = 4;

  if (size != NULL) {
    field[n++] = WEIR_INT("side", size->side);
  }
  weir_event_fields("step", field, add_model(r, field, n));
}

weir_status train_advance(train_run *r, int64_t first, bool *saved)
{
  const int64_t n = train_step_samples(r);
  double loss = NAN;

  r->spent_s = 0;
  const weir_status status = train_step(r, &loss);

  if (status != WEIR_OK && r->ranks.replicas > 0) { /* the others are in steps of their own */
    return weir_comm_abort(r->ranks.all, status);
  }
  if (status == WEIR_ERR_STOPPED) { /* while samples were made */
    return train_stop_here(r, *saved);
  }
  WEIR_TRY(status);
  return train_end_step(r, n, loss, first, saved);
}

weir_status train_end_step(train_run *r, int64_t n, double loss, int64_t first, bool *saved)
{
  const train_state *s = &r->state;

  *s->step += 1;
  *s->rate = train_rate(r, *s->step);
  *s->position += n;
  *s->loss_sum += loss * (double)r->own;
  r->met = false;
  if (tells(r)) {
    WEIR_TRY(train_time_step(r, n, *s->step - first));
  }
  if (r->cfg->log_every > 0 && *s->step % r->cfg->log_every == 0) {
    tell_step(r, loss);
  }
  if (r->ranks.replicas == 0 && r->cfg->compare_every > 0 &&
      *s->step % r->cfg->compare_every == 0) {
    WEIR_TRY(train_compare(r));
  }
  const weir_sampler o = weir_train_order(r->cfg, r->task->n_train);
  const bool end = *s->position == weir_sampler_epoch(&o);

  if (end) {
    WEIR_TRY(end_epoch(r));
  }
  *saved = r->cfg->checkpoint.every > 0 ? *s->step % r->cfg->checkpoint.every == 0 : end;
  return *saved ? train_save(r) : WEIR_OK;
}

weir_status train_asks_stop(train_run *r, bool *stop)
{
  int64_t none = weir_stop_requested() ? 0 : 1;

  *stop = false;
  if (r->ranks.replicas > 0 && *r->state.step % r->cfg->agree_every != 0) {
    return WEIR_OK;
  }
  WEIR_TRY(train_meet_before_call(r));
  const train_moment begin = train_begin_activity(r);

  WEIR_TRY(train_min_all(r, &none));
  train_end_activity(r, TRAIN_MEETS, begin);
  *stop = none == 0;
  return WEIR_OK;
}

static weir_status loop(train_run *r, int64_t first)
{
  const train_state *s = &r->state;
  bool saved = true, stop = false;

  WEIR_TRY(train_begin_loop(r, &saved));
  while (train_goes_on(r)) {
    WEIR_TRY(train_advance(r, first, &saved));
    if (train_leads(r)) {
      weir_progress("train", *s->step - first, r->total - first, "steps");
    }
    WEIR_TRY(train_asks_stop(r, &stop));
    if (stop && *s->step < r->total) {
      return train_stop_here(r, saved);
    }
  }
  return train_end_loop(r, saved);
}

weir_status train_end_loop(train_run *r, bool saved)
{
  const train_state *s = &r->state;
  const bool calibrates = train_calibrates(r);

  if (calibrates) { /* a run that was complete has begun no epoch: that of its last step */
    train_tell_task(r, *s->position > 0 ? *s->epoch : *s->epoch - 1);
  }
  /* A run that ends within an epoch is validated as it ends. */
  if (!impatient(r) && r->task->n_valid > 0 && *s->valid_step != *s->step) {
    double metric[TRAIN_METRICS] = {0};
    bool best = false;

    WEIR_TRY(validate(r, metric, &best));
    tell_validation(r, metric, best);
    saved = false;
  }
  if (calibrates && r->task->n_valid < 1) { /* no validation has done it */
    WEIR_TRY(train_swap_average(r));
    WEIR_TRY(train_calibrate(r));
    WEIR_TRY(train_swap_average(r));
    saved = false;
  }
  return saved ? WEIR_OK : train_save(r);
}

static weir_status open_run(train_run *r)
{
  WEIR_TRY(train_state_open(r));
  return train_alloc_batch(r);
}

/* Says why a run ends before its last step. */
static void tell_end(const train_run *r, weir_train_end end)
{
  const train_state *s = &r->state;

  if (end == WEIR_TRAIN_TARGET) {
    weir_info("train",
              "ended after step %" PRId64 " of %" PRId64 ": validation %s %.6g has reached the "
              "target %g",
              *s->step, r->total, r->cfg->target.metric, *s->target, r->cfg->target.value);
  } else if (end == WEIR_TRAIN_PATIENCE) {
    weir_info("train",
              "ended after step %" PRId64 " of %" PRId64 " (early stopping): %" PRId64
              " validations without improvement; the best was that of epoch %" PRId64,
              *s->step, r->total, *s->waited, *s->best_epoch);
  }
}

weir_status train_run_begin(train_run *r)
{
  WEIR_TRY(train_check_options(r));
  WEIR_TRY(train_ranks_open(r));
  WEIR_TRY(train_shard_params(r));
  WEIR_TRY(train_agree_all(r, open_run(r)));
  WEIR_TRY(train_resume(r));
  WEIR_TRY(train_open_exchange(r));
  WEIR_TRY(train_timeline_open(r));
  if (tells(r)) {
    weir_event("train_begin", WEIR_TEXT("network", r->task->name),
               WEIR_INT("parameters", weir_params_elements(r->params)),
               WEIR_INT("samples", r->task->n_train), WEIR_INT("validation", r->task->n_valid),
               WEIR_INT("steps", r->total), WEIR_INT("step", *r->state.step),
               WEIR_TEXT("rule", r->rule));
  }
  return WEIR_OK;
}

weir_status train_run_end(train_run *r, int64_t first, weir_train_result *result)
{
  const train_state *s = &r->state;

  if (tells(r)) {
    WEIR_TRY(train_tell_times(r));
  }
  WEIR_TRY(train_finish(r));
  if (!tells(r)) {
    return WEIR_OK;
  }
  WEIR_TRY(train_tell_exchange(r));
  WEIR_TRY(train_tell_timeline(r));
  const weir_train_end end = reached(r)     ? WEIR_TRAIN_TARGET
                             : impatient(r) ? WEIR_TRAIN_PATIENCE
                                            : WEIR_TRAIN_DONE;
  static const char *const reason[] = {"done", "patience", "target"};

  tell_end(r, end);
  *result = (weir_train_result){.end = end,
                                .step = *s->step,
                                .epoch = *s->epoch,
                                .loss = *s->loss,
                                .valid_loss = *s->valid_loss,
                                .best_loss = isfinite(*s->best_loss) ? *s->best_loss : NAN,
                                .best_epoch = *s->best_epoch,
                                .first = first,
                                .step_s = r->step_s};
  weir_event("stop", WEIR_TEXT("reason", reason[end]), WEIR_INT("step", *s->step),
             WEIR_INT("epoch", *s->epoch), WEIR_REAL("best_loss", result->best_loss),
             WEIR_INT("best_epoch", *s->best_epoch));
  return WEIR_OK;
}

static weir_status run(train_run *r, weir_train_result *result)
{
  if (r->cfg->models.seeds.count > 0) {
    WEIR_TRY(weir_params_init(r->params, r->store, (uint64_t)r->seed));
  }
  WEIR_TRY(train_run_begin(r));
  const int64_t first = *r->state.step;

  WEIR_TRY(loop(r, first));
  return train_run_end(r, first, result);
}

weir_status weir_train_run(const weir_train_task *task, const weir_train_cfg *cfg,
                           const weir_plan_opts *exec, weir_params *params, weir_store *store,
                           const char *dir, weir_train_result *result)
{
  const train_given given = {task, cfg, exec, params, store, dir};

  if (cfg->models.seeds.count > 1) {
    return train_models_run(&given, result);
  }
  const weir_train_cfg own = train_model_cfg(cfg, 0);
  train_run r = train_run_of(task, &own, exec, params, store);

  r.dir = dir;
  r.exec.terse = true;
  r.seed = train_model_seed(cfg, 0);
  const weir_status status = run(&r, result);

  train_run_close(&r);
  return status;
}
