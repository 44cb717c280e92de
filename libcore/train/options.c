/* options.c - options of a training, and checks of them against a task. */
#include "train/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "train/step/size.h"

const weir_opt weir_train_opts[] = {
    WEIR_OPT_INT(weir_train_cfg, epochs, 10, 1, 1000000, "1", "number of epochs"),
    WEIR_OPT_INT(weir_train_cfg, steps, 0, 0, 1e15, "1",
                 "total number of updates, instead of epochs; 0: determined by epochs"),
    WEIR_OPT_INT(weir_train_cfg, batch, 8, 1, 1000000, "1", "samples per batch"),
    WEIR_OPT_INT(weir_train_cfg, accumulate, 1, 1, 1000000, "1",
                 "gradient accumulation: batches per update; memory of a small batch with the step "
                 "of a large one"),
    WEIR_OPT_INT(weir_train_cfg, seed, 1, 0, 9007199254740992.0, "1",
                 "random seed of weight initialisation, sample order and dropout"),
    WEIR_OPT_PATH(weir_train_cfg, initial_weights, "",
                  "fine-tuning: file of weights (weights.nc) of an earlier training of the same "
                  "network, from which this one starts; empty: random weights"),
    WEIR_OPT_INT_LIST(
        weir_train_cfg, models.seeds, "", 0, 9007199254740992.0, "1",
        "deep ensemble: seeds of weight initialisation and dropout of several networks "
        "that train as one graph, on the same batches (whose order is that of `seed`); "
        "each has a folder model-1, model-2, ... with its checkpoints and weights, "
        "bitwise those of a run with its seed alone; the weights of the run are the "
        "first one's; empty: one network, of `seed`"),
    WEIR_OPT_REAL_LIST(weir_train_cfg, models.lr, "", 1e-12, 1e6, "1",
                       "learning rate of each of these networks in place of optim.schedule.lr; "
                       "empty: that one for all"),
    WEIR_OPT_BOOL(weir_train_cfg, shuffle, true, "new random sample order in every epoch"),
    WEIR_OPT_BOOL(weir_train_cfg, drop_last, false,
                  "drop the last, incomplete update of an epoch; false: use it with fewer samples"),
    WEIR_OPT_TABLE(weir_train_cfg, optim, weir_optim_opts,
                   "update rule, learning-rate schedule, clipping, averaging"),
    WEIR_OPT_INT(weir_train_cfg, validate_every, 1, 1, 1000000, "epochs",
                 "epochs between validations; the last epoch is always validated"),
    WEIR_OPT_INT(weir_train_cfg, patience, 0, 0, 1000000, "validations",
                 "early stopping: validations without improvement before training stops; 0: no "
                 "early stopping"),
    WEIR_OPT_REAL(weir_train_cfg, min_delta, 0, 0, 1e30, "loss",
                  "minimum decrease of the validation loss that counts as an improvement",
                  .alias = "min_change"),
    WEIR_OPT_STRING(weir_train_cfg, target.metric, "",
                    "metric whose target.value stops training at the first validation that reaches "
                    "it: from above for errors, from below for metrics that increase with skill; "
                    "empty: all epochs are run"),
    WEIR_OPT_REAL(weir_train_cfg, target.value, 0, -1e30, 1e30, "unit of the metric",
                  "target of the metric"),
    WEIR_OPT_BOOL(
        weir_train_cfg, keep_best, true,
        "restore the weights of the best validation at the end; false: keep the last ones"),
    WEIR_OPT_BOOL(weir_train_cfg, check_nan, true,
                  "check loss and gradient of every step for non-finite values, and report the "
                  "operator that produced the first; costs a copy of the weights per step"),
    WEIR_OPT_INT(weir_train_cfg, log_every, 0, 0, 1000000000, "steps",
                 "steps between `step` events of run.jsonl; 0: none"),
    WEIR_OPT_INT(
        weir_train_cfg, compare_every, 100, 0, 1000000000, "steps",
        "steps between comparisons of the weights across ranks, in addition to those "
        "before each checkpoint; 0: none; no effect on one rank, nor where ranks train apart "
        "(optim.exchange)"),
    WEIR_OPT_INT(weir_train_cfg, agree_every, 10, 1, 1000000000, "steps",
                 "where ranks train apart (optim.exchange): steps between two questions to all of "
                 "them whether one was asked to stop, for which they wait"),
    WEIR_OPT_INT(weir_train_cfg, timeline, 20, 0, 100000, "steps",
                 "last steps of which run.jsonl and the page of a run on several ranks have the "
                 "activity of each rank; 0: none"),
    WEIR_OPT_INT(weir_train_cfg, checkpoint.every, 0, 0, 1000000000, "steps",
                 "steps between checkpoints; 0: one after every epoch"),
    WEIR_OPT_INT(weir_train_cfg, checkpoint.keep, 2, 1, 1000000, "1",
                 "number of latest checkpoints to keep"),
    WEIR_OPT_ENUM(weir_train_cfg, checkpoint.format, 0, WEIR_CHECKPOINT_FORMATS,
                  "checkpoint format; auto: NetCDF-4 if the build has it, else the raw dump"),
    WEIR_OPT_BOOL(
        weir_train_cfg, checkpoint.resume, true,
        "resume from the latest checkpoint of the folder; false: refuse a folder with checkpoints"),
    WEIR_OPT_END,
};

const weir_opt weir_train_check_opts[] = {
    WEIR_OPT_INT(weir_train_check_cfg, probes, 4, 1, 1000000, "1",
                 "elements of each parameter to compare; elements with a kink of the loss within "
                 "the step are excluded, counted and replaced by others"),
    WEIR_OPT_INT(weir_train_check_cfg, seed, 1, 0, 9007199254740992.0, "1",
                 "random seed of weights, samples and elements"),
    WEIR_OPT_INT(weir_train_check_cfg, batch, 2, 1, 1000000, "1", "samples in the loss"),
    WEIR_OPT_REAL(weir_train_check_cfg, step, 1e-5, 1e-12, 1, "1",
                  "finite-difference step, relative to the larger of 1 and the element"),
    WEIR_OPT_REAL(weir_train_check_cfg, tolerance, 1e-5, 0, 1e30, "1",
                  "maximum relative difference"),
    WEIR_OPT_END,
};

/* Names that training gives its own inputs and results. */
static bool is_taken(const char *name)
{
  static const char *const own[] = {"seed", "draw", "step",     "lr",      "weight",
                                    "loss", "norm", "gradient", "momentum"};
  bool taken = false;

  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
    taken = taken || strcmp(name, own[i]) == 0;
  }
  return taken;
}

static weir_status check_names(const weir_train_task *t)
{
  for (int k = 0; k < t->n_inputs + t->n_metrics + (t->weight != NULL); k++) {
    const char *name = k < t->n_inputs                  ? t->input[k].name
                       : k < t->n_inputs + t->n_metrics ? t->metric[k - t->n_inputs]
                                                        : t->weight;

    if (is_taken(name)) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "train: '%s' is a name reserved for training: rename that of the task '%s'",
                       name, t->name);
    }
  }
  return WEIR_OK;
}

weir_status train_check_task(const weir_train_task *t, bool samples)
{
  if (t->n_inputs < 1 || t->n_inputs > TRAIN_INPUTS || t->n_metrics > TRAIN_METRICS) {
    return weir_fail(WEIR_ERR_CONFIG, "train: 1 to %d inputs and up to %d metrics, not %d and %d",
                     TRAIN_INPUTS, TRAIN_METRICS, t->n_inputs, t->n_metrics);
  }
  for (int k = 0; k < t->n_inputs; k++) {
    if (t->input[k].rank < 0 || t->input[k].rank >= WEIR_MAX_RANK) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "train: the input '%s' has 0 to %d dimensions besides the batch, not %d",
                       t->input[k].name, WEIR_MAX_RANK - 1, t->input[k].rank);
    }
  }
  if (samples && t->n_train < 1) {
    return weir_fail(WEIR_ERR_CONFIG, "train: there are no samples to train on");
  }
  return check_names(t);
}

/* The metric that the target names; -1: there is no target. */
int train_target(const weir_train_task *t, const weir_train_cfg *c)
{
  int k = c->target.metric == NULL || c->target.metric[0] == 0 ? -1 : 0;

  while (k >= 0 && k < t->n_metrics && strcmp(t->metric[k], c->target.metric) != 0) {
    k++;
  }
  return k;
}

static weir_status check_target(const weir_train_task *t, const weir_train_cfg *c)
{
  const int k = train_target(t, c);
  char names[256] = "";

  for (int i = 0; i < t->n_metrics; i++) {
    const size_t n = strlen(names);

    (void)snprintf(names + n, sizeof names - n, "%s%s", i > 0 ? ", " : "", t->metric[i]);
  }
  if (k >= t->n_metrics) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train: target.metric: '%s' has no such metric: choose one of: %s", t->name,
                     names[0] != 0 ? names : "none");
  }
  return k < 0 || t->n_valid != 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "train: target.metric needs validation samples, but there are none");
}

static weir_schedule_run schedule_run(const train_run *r)
{
  return (weir_schedule_run){r->total, r->per_epoch, r->per_step};
}

double train_rate(const train_run *r, int64_t step)
{
  const weir_schedule_run run = schedule_run(r);
  const weir_train_size *size = train_size_of(r->task, r->cfg->seed, step);

  return weir_schedule_lr(&r->cfg->optim.schedule, &run, step) * (size != NULL ? size->lr : 1);
}

weir_sampler weir_train_order(const weir_train_cfg *cfg, int64_t n_train)
{
  return (weir_sampler){.samples = n_train,
                        .batch = cfg->batch,
                        .step = cfg->batch * cfg->accumulate,
                        .shuffle = cfg->shuffle,
                        .drop_last = cfg->drop_last,
                        .seed = (uint64_t)cfg->seed};
}

/* Steps of all epochs, of `samples` each, whose number differs between them; per_epoch: their mean.
 */
static void count_mixed_steps(const weir_train_cfg *c, int64_t samples, train_run *r)
{
  int64_t total = 0, epochs = 0;

  while (c->steps > 0 ? total < c->steps : epochs < c->epochs) {
    total += train_epoch_steps(r->task, c->seed, samples, r->per_step, total);
    epochs++;
  }
  r->per_epoch = (total + epochs / 2) / epochs;
  r->total = c->steps > 0 ? c->steps : total;
}

/* Steps of an epoch and in all, of n samples. */
static weir_status count_steps(const weir_train_cfg *c, int64_t n, train_run *r)
{
  r->per_epoch = c->drop_last ? n / r->per_step : n / r->per_step + (n % r->per_step > 0);
  if (r->per_epoch < 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train: with drop_last, %" PRId64
                     " samples are fewer than one update of %" PRId64,
                     n, r->per_step);
  }
  if (train_most_batches(r->task) > 1) {
    count_mixed_steps(c, c->drop_last ? r->per_epoch * r->per_step : n, r);
  } else if (c->steps > 0) {
    r->total = c->steps;
  } else if (!weir_mul_ok(c->epochs, r->per_epoch, &r->total)) {
    return weir_fail(WEIR_ERR_CONFIG, "train: the number of steps overflows");
  }
  return WEIR_OK;
}

/* What schedules are judged by where an epoch is not counted yet: it has one step where they count
 * in epochs, and any number where they count in steps. */
static void foresee_steps(const weir_train_cfg *c, train_run *r)
{
  const bool in_epochs = c->optim.schedule.unit != 0;

  r->per_epoch = 1;
  r->total = in_epochs && c->steps == 0   ? c->epochs
             : !in_epochs && c->steps > 0 ? c->steps
                                          : INT64_MAX;
}

bool train_is_fine_tuning(const weir_train_cfg *c)
{
  return c->initial_weights != NULL && c->initial_weights[0] != 0;
}

/* Networks that train together end together, and are updated at once. */
static weir_status check_models(const weir_train_cfg *c)
{
  const int64_t n = c->models.seeds.count;

  if (n > WEIR_TRAIN_MODELS) {
    return weir_fail(WEIR_ERR_CONFIG, "train: models.seeds: %" PRId64 " networks, at most %d", n,
                     WEIR_TRAIN_MODELS);
  }
  if (c->models.lr.count != 0 && c->models.lr.count != n) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train: models.lr has %" PRId64 " learning rates for the %" PRId64
                     " networks of models.seeds: give one for each, or none",
                     c->models.lr.count, n);
  }
  if (n < 2) {
    return WEIR_OK;
  }
  const char *what = train_is_fine_tuning(c) ? "initial_weights: they would be the same networks"
                     : c->accumulate > 1     ? "accumulate: their steps are computed at once"
                     : c->patience > 0       ? "patience: they end together"
                     : c->target.metric != NULL && c->target.metric[0] != 0
                         ? "target.metric: they end together"
                         : NULL;

  return what == NULL ? WEIR_OK
                      : weir_fail(WEIR_ERR_CONFIG,
                                  "train: several networks (models.seeds) do not take %s", what);
}

static weir_status check_options(train_run *r)
{
  const weir_train_cfg *c = r->cfg;

  WEIR_TRY(check_models(c));
  WEIR_TRY(train_check_sizes(r));
  if (c->patience > 0 && r->task->n_valid == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train: patience %" PRId64 " needs validation samples, but there are none",
                     c->patience);
  }
  WEIR_TRY(check_target(r->task, c));
  if (!weir_mul_ok(c->batch, c->accumulate, &r->per_step)) {
    return weir_fail(WEIR_ERR_CONFIG, "train: batch times accumulate overflows");
  }
  if (r->task->n_train < 0) {
    foresee_steps(c, r);
  } else {
    WEIR_TRY(count_steps(c, r->task->n_train, r));
  }
  const weir_schedule_run run = schedule_run(r);

  return weir_schedule_check(&c->optim.schedule, &run);
}

weir_status train_check_options(train_run *r)
{
  WEIR_TRY(train_check_task(r->task, true));
  return check_options(r);
}

const char *weir_train_end_text(weir_train_end end)
{
  static const char *const text[] = {[WEIR_TRAIN_DONE] = "all steps done",
                                     [WEIR_TRAIN_PATIENCE] = "early stopping",
                                     [WEIR_TRAIN_TARGET] = "target reached"};

  return text[end];
}

weir_status weir_train_suits(const weir_train_task *task, const weir_train_cfg *cfg)
{
  train_run r = {.task = task, .cfg = cfg};

  return check_options(&r);
}
