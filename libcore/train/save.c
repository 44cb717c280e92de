/* save.c - checkpoints of a run, and its weights as a separate file. */
#include "train/save.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "conf/weir_rundir.h"
#include "train/grid/optim_moves.h"
#include "train/grid/rank_arrays.h"
#include "train/grid/ranks.h"
#include "train/array_names.h"
#include "train/options.h"
#include "train/run_open.h"
#include "train/state.h"
#include "train/step/kept.h"
#include "train/step/meet.h"
#include "train/step/timeline.h"

enum { NOTES = 48, TRAIN_PATH = 4096 };

static const char random_note[] =
    "Philox4x32-10 of (train.seed, train.epoch) for the order of samples and of (train.seed, step) "
    "for dropout; nothing else is random";

/* Content of a file: all of the store, or the network alone. */
typedef struct content {
  weir_checkpoint c;
  weir_note note[NOTES];
  const char **leave;
  int64_t capacity;
  char title[256], seed[32], model_seed[32], step[32], created[32];
} content;

static weir_status leave_out(content *k, const char *array)
{
  WEIR_TRY(weir_reserve(&k->leave, &k->capacity, k->c.n_exclude + 1, sizeof *k->leave));
  k->leave[k->c.n_exclude++] = array;
  k->c.exclude = k->leave;
  return WEIR_OK;
}

/* store: where the arrays of the run are complete. */
static weir_status begin(train_run *r, weir_store *store, bool network, content *k)
{
  *k = (content){.c = {.store = store, .slice = r->slice, .n_slices = r->n_slices}};
  k->c.extra = network ? NULL : &r->kept;
  k->c.extra_prefix = TRAIN_KEPT;
  for (int64_t i = 0; i < weir_store_count(r->store); i++) {
    const char *name = weir_store_name(r->store, i);

    if (!train_is_network(name) && (network || !train_is_own(r, name))) {
      WEIR_TRY(leave_out(k, name));
    }
  }
  return WEIR_OK;
}

static void add_note(content *k, const char *name, const char *text)
{
  if (k->c.n_notes < NOTES) {
    k->note[k->c.n_notes++] = (weir_note){name, text};
    k->c.note = k->note;
  }
}

static void describe(const train_run *r, const char *what, content *k)
{
  (void)snprintf(k->title, sizeof k->title, "%s of the network %s", what, r->task->name);
  (void)snprintf(k->seed, sizeof k->seed, "%" PRId64, *r->state.seed);
  (void)snprintf(k->step, sizeof k->step, "%" PRId64, *r->state.step);
  weir_clock_utc(k->created, sizeof k->created);
  add_note(k, "title", k->title);
  add_note(k, "network", r->task->name);
  add_note(k, "rule", r->rule);
  add_note(k, "step", k->step);
  add_note(k, "seed", k->seed);
  if (r->cfg->models.seeds.count > 0) { /* which dropout and weights follow in place of `seed` */
    (void)snprintf(k->model_seed, sizeof k->model_seed, "%" PRId64, r->seed);
    add_note(k, "model_seed", k->model_seed);
  }
  if (train_is_fine_tuning(r->cfg)) {
    add_note(k, "initial_weights_sha256", r->initial);
  }
  add_note(k, "random", random_note);
  add_note(k, "created", k->created);
  add_note(k, "weir_version", weir_version());
  add_note(k, "build", weir_build_text());
  for (int i = 0; i < r->task->n_notes; i++) {
    add_note(k, r->task->note[i].name, r->task->note[i].text);
  }
}

static weir_status write(train_run *r, weir_store *store, bool network, const char *what,
                         const char *path)
{
  content k;
  weir_status status;

  WEIR_TRY_GOTO(begin(r, store, network, &k), done);
  describe(r, what, &k);
  WEIR_TRY_GOTO(weir_checkpoint_save(&k.c, (weir_checkpoint_format)r->cfg->checkpoint.format, path),
                done);
  weir_run_dir_keep(); /* hours of work: what fails later does not take them along */
done:
  weir_free(&k.leave);
  return status;
}

/* That all banks are numbers, so that the checkpoint before stays where they are not. */
static weir_status check_finite(const train_run *r, const weir_store *store)
{
  for (int64_t i = 0; i < r->n_slices && r->cfg->check_nan; i++) {
    const weir_checkpoint_slice *slice = &r->slice[i];
    const weir_tensor *t = NULL;

    WEIR_TRY(weir_store_read(store, slice->array, &t));
    const weir_tensor shape = weir_tensor_wrap(NULL, t->dtype, slice->rank, slice->shape);

    for (int64_t k = 0; k < weir_tensor_numel(&shape); k++) {
      const double x = weir_dtype_load_real(t->dtype, t->data, slice->first + k);

      if (!isfinite(x)) {
        return weir_fail(WEIR_ERR_NUMERIC,
                         "step %" PRId64 ": element %" PRId64
                         " of '%s' is %g after the update: this step is not saved, the previous "
                         "checkpoint is kept",
                         *r->state.step, k, slice->name, x);
      }
    }
  }
  return WEIR_OK;
}

static weir_status save(train_run *r, weir_store *store)
{
  const double start = weir_clock();
  char path[TRAIN_PATH];

  WEIR_TRY(check_finite(r, store));
  WEIR_TRY(weir_checkpoint_path(r->dir, *r->state.step,
                                (weir_checkpoint_format)r->cfg->checkpoint.format, path,
                                sizeof path));
  WEIR_TRY(write(r, store, false, "checkpoint", path));
  WEIR_TRY(weir_checkpoint_prune(r->dir, r->cfg->checkpoint.keep));
  weir_event("checkpoint", WEIR_INT("step", *r->state.step), WEIR_TEXT("file", path),
             WEIR_REAL("seconds", weir_clock() - start));
  return WEIR_OK;
}

weir_status train_save(train_run *r)
{
  WEIR_TRY(train_meet(r));
  const train_moment begin = train_begin_activity(r);

  if (r->cfg->compare_every > 0) {
    WEIR_TRY(train_compare(r));
  }
  WEIR_TRY(train_allgather(r));
  WEIR_TRY(train_gather_kept(r));
  weir_store *complete = NULL;
  weir_status status = train_complete_store(r, &complete);

  WEIR_TRY_GOTO(train_agree_all(r, status), done);
  WEIR_TRY_GOTO(train_collect_shards(r, complete), done);
  status = train_leads(r) ? save(r, complete != NULL ? complete : r->store) : WEIR_OK;
  status = train_agree_all(r, status);
done:
  weir_store_destroy(&complete);
  weir_store_destroy(&r->kept);
  train_end_activity(r, TRAIN_SAVES, begin);
  return status;
}

/* That a run can resume from the numbers of the checkpoint, whoever wrote it. */
static weir_status check_numbers(const train_run *r, int64_t file)
{
  const train_state *s = &r->state;
  const struct {
    const char *name;
    int64_t value, max;
  } number[] = {{"step", *s->step, INT64_MAX},
                {"epoch", *s->epoch, *s->step},
                {"position", *s->position, *s->samples - 1},
                {"waited", *s->waited, *s->step}};
  char path[TRAIN_PATH];

  WEIR_TRY(weir_checkpoint_path(r->dir, file, WEIR_CHECKPOINT_NETCDF, path, sizeof path));
  if (!weir_file_exists(path)) {
    WEIR_TRY(weir_checkpoint_path(r->dir, file, WEIR_CHECKPOINT_RAW, path, sizeof path));
  }
  for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
    if (number[i].value < 0 || number[i].value > number[i].max) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: train.%s is %" PRId64 ", outside its range from 0 to %" PRId64
                       ": the file was not written by a training",
                       path, number[i].name, number[i].value, number[i].max);
    }
  }
  return WEIR_OK;
}

/* That the checkpoint is of this seed of weights and dropout. */
static weir_status check_model_seed(const train_run *r)
{
  const weir_tensor *t = NULL;

  if (r->cfg->models.seeds.count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_store_read(r->store, TRAIN_MODEL_SEED, &t));
  const int64_t theirs = *(const int64_t *)t->data;

  return theirs == r->seed
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "%s: its checkpoints are of the network of seed %" PRId64 ", not %" PRId64
                         " (models.seeds): use that value, or another folder",
                         r->dir, theirs, r->seed);
}

/* That the checkpoint is of a training that began with these weights. */
static weir_status check_initial(const train_run *r)
{
  const weir_tensor *t = NULL;

  if (!train_is_fine_tuning(r->cfg)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_store_read(r->store, TRAIN_INITIAL, &t));
  const char *const theirs = t->data;

  return memcmp(theirs, r->initial, TRAIN_HEX) == 0
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_CONFIG,
                   "%s: its checkpoints are of a training from other initial weights (SHA-256 "
                   "%.8s.., and that of %s is %.8s..): use these, or another folder",
                   r->dir, theirs, r->cfg->initial_weights, r->initial);
}

/* That the checkpoint is of these samples in this order, this network and these updates. */
static weir_status check_same(const train_run *r)
{
  const train_state *s = &r->state;
  const struct {
    const char *what;
    int64_t theirs, ours;
  } number[] = {{"seed", *s->seed, r->cfg->seed},
                {"samples:", *s->samples, r->task->n_train},
                {"batch times accumulate", *s->batch, r->per_step},
                {"shuffle", *s->shuffle, r->cfg->shuffle},
                {"drop_last", *s->drop_last, r->cfg->drop_last}};
  static const char *const graph[] = {
      [TRAIN_NETWORK] = "of another network or loss, or of another batch size",
      [TRAIN_UPDATE] = "of another update rule, clipping or average, or of other options of these"};

  for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
    if (number[i].theirs != number[i].ours) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: its checkpoints were written with %s %" PRId64 ", not %" PRId64
                       ": use that value, or another folder",
                       r->dir, number[i].what, number[i].theirs, number[i].ours);
    }
  }
  for (int i = 0; i < TRAIN_GRAPHS; i++) {
    const weir_tensor *stored = NULL;

    WEIR_TRY(weir_store_read(r->store, train_digests[i], &stored));
    const char *const theirs = stored->data;

    if (memcmp(theirs, r->digest[i], TRAIN_HEX) != 0) {
      return weir_fail(
          WEIR_ERR_CONFIG,
          "%s: its checkpoints are %s (%s %.8s there, %.8s here): use the same, or another folder",
          r->dir, graph[i], train_digests[i], theirs, r->digest[i]);
    }
  }
  return WEIR_OK;
}

/* A schedule may be changed by hand, and more epochs stretch it: both are reported. */
static void tell_rate(const train_run *r)
{
  const train_state *s = &r->state;
  const double now = train_rate(r, *s->step);

  if (*s->step > 0 && *s->rate != now) {
    weir_warn("train",
              "the schedule has changed: the learning rate of step %" PRId64
              " was %g, and is %g now (expected after a change of the number of epochs or steps "
              "where the schedule extends over the whole training, such as cosine)",
              *s->step, *s->rate, now);
    weir_event("schedule_changed", WEIR_INT("step", *s->step), WEIR_REAL("was", *s->rate),
               WEIR_REAL("is", now));
  }
}

static weir_status resume(train_run *r, weir_store *store)
{
  int64_t step = -1;
  content k;
  weir_status status;

  WEIR_TRY(weir_dir_create(r->dir));
  WEIR_TRY(weir_checkpoint_newest(r->dir, &step));
  if (step < 0) {
    return WEIR_OK;
  }
  if (!r->cfg->checkpoint.resume) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s contains checkpoints: set checkpoint.resume, or use another folder",
                     r->dir);
  }
  WEIR_TRY_GOTO(begin(r, store, false, &k), done);
  WEIR_TRY_GOTO(weir_checkpoint_resume(&k.c, r->dir, &step), done);
  WEIR_TRY_GOTO(check_same(r), done);
  WEIR_TRY_GOTO(check_model_seed(r), done);
  WEIR_TRY_GOTO(check_initial(r), done);
  WEIR_TRY_GOTO(check_numbers(r, step), done);
  tell_rate(r);
  weir_info("train", "resumed after step %" PRId64 " (epoch %" PRId64 ")", step, *r->state.epoch);
done:
  weir_free(&k.leave);
  return status;
}

weir_status train_resume(train_run *r)
{
  weir_store *complete = NULL;
  weir_status status = train_complete_store(r, &complete);

  WEIR_TRY_GOTO(train_agree_all(r, status), done);
  /* Where there is no checkpoint, the parameters stay as they are. */
  if (r->ranks.optim.params_sharded) {
    WEIR_TRY_GOTO(train_collect_shards(r, complete), done);
  }
  if (train_leads(r)) {
    status = resume(r, complete != NULL ? complete : r->store);
  }
  WEIR_TRY_GOTO(train_agree_all(r, status), done);
  WEIR_TRY_GOTO(train_distribute_shards(r, complete), done);
  WEIR_TRY_GOTO(train_receive(r), done);
  if (r->ranks.replicas > 0 && !train_leads(r)) {
    *r->state.loss_sum = 0; /* rank 0 has that of all */
  }
  r->met = true;
done:
  weir_store_destroy(&complete);
  return status;
}

weir_status train_write_weights(train_run *r)
{
  char path[TRAIN_PATH];

  WEIR_TRY(weir_checkpoint_weights(r->dir, (weir_checkpoint_format)r->cfg->checkpoint.format, path,
                                   sizeof path));
  return write(r, r->store, true, "weights", path);
}

weir_status train_finish(train_run *r)
{
  WEIR_TRY(train_meet(r));
  WEIR_TRY(train_allgather(r));
  WEIR_TRY(train_take_average(r));
  for (int64_t i = 0; i < r->n_arrays && isfinite(*r->state.best_loss); i++) {
    if (r->array[i].best != NULL) {
      WEIR_TRY(weir_store_copy(r->store, r->array[i].name, r->array[i].best));
    }
  }
  WEIR_TRY(train_complete_params(r));
  return train_agree_all(r, train_leads(r) ? train_write_weights(r) : WEIR_OK);
}

weir_status weir_train_weights(const weir_params *params, weir_store *store, const char *path)
{
  train_run r = {.store = store};
  content k = {.leave = NULL};
  weir_status status;

  memcpy(&r.params, &params, sizeof params); /* is only read */
  WEIR_TRY_GOTO(train_add_slices(&r, WEIR_PARAMS_FLAT, ""), done);
  WEIR_TRY_GOTO(begin(&r, store, true, &k), done);
  WEIR_TRY_GOTO(weir_checkpoint_load(&k.c, path, true), done);
done:
  weir_free(&k.leave);
  train_state_close(&r);
  return status;
}
