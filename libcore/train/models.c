/* models.c - see models.h: a run for each network, over its slice of arrays that all share, whose
 * steps are one plan. Everything else (epochs, validation, best weights, checkpoints, resumption)
 * is each run's own, so that its folder is that of a run alone. */
#include "train/models.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "pass/models/weir_models.h"
#include "train/run_loop.h"
#include "train/run_open.h"
#include "train/save.h"
#include "train/state.h"
#include "train/step/batch.h"
#include "train/step/nan_trace.h"

enum { PATH_SIZE = 4096, ARRAY_NAME = 64 };

typedef struct model {
  train_run run;
  weir_train_cfg cfg;
  weir_store *store; /* slices of the shared arrays, and the run's own arrays */
  char dir[PATH_SIZE];
  int64_t first; /* step at which this call began */
  bool open, saved;
} model;

typedef struct models {
  const train_given *given;
  int64_t n;
  model *of;
  weir_store *fused;
  train_plan plan[2]; /* of whole batches, and of the last of an epoch */
  int n_plans;
  int64_t seed[WEIR_TRAIN_MODELS];
  double lr[WEIR_TRAIN_MODELS], loss[WEIR_TRAIN_MODELS], norm[WEIR_TRAIN_MODELS];
  bool told; /* the task knows the epoch that they are all in */
} models;

weir_status weir_train_model_dir(const weir_train_cfg *cfg, const char *dir, int64_t k, char *path,
                                 size_t size)
{
  const int n = cfg->models.seeds.count > 1 ? snprintf(path, size, "%s/model-%" PRId64, dir, k + 1)
                                            : snprintf(path, size, "%s", dir);

  return n >= 0 && (size_t)n < size
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "train: the folder '%s' has too long a name", dir);
}

weir_train_cfg train_model_cfg(const weir_train_cfg *cfg, int64_t k)
{
  weir_train_cfg own = *cfg;

  if (k < cfg->models.lr.count) {
    own.optim.schedule.lr = cfg->models.lr.items[k];
  }
  return own;
}

int64_t train_model_seed(const weir_train_cfg *cfg, int64_t k)
{
  return k < cfg->models.seeds.count ? cfg->models.seeds.items[k] : cfg->seed;
}

/* ---- Arrays ---- */

/* Adds an array for all, and each one's slice of it with the elements of `from`, or zeros. */
static weir_status share_array(models *m, const char *name, const weir_tensor *from,
                               const void *elements)
{
  const size_t bytes = weir_tensor_bytes(from);
  int64_t shape[WEIR_MAX_RANK] = {m->n};
  weir_tensor *all = NULL;

  if (from->rank >= WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "train: the array '%s' of rank %d cannot be that of several networks", name,
                     from->rank);
  }
  memcpy(shape + 1, from->shape, (size_t)from->rank * sizeof *shape);
  WEIR_TRY(weir_store_add(m->fused, name, from->dtype, from->rank + 1, shape));
  WEIR_TRY(weir_store_pin(m->fused, name, &all));
  for (int64_t k = 0; k < m->n && bytes > 0; k++) {
    char *const at = (char *)all->data + (size_t)k * bytes;
    const weir_tensor slice = weir_tensor_wrap(at, from->dtype, from->rank, from->shape);

    if (elements != NULL) {
      memcpy(at, elements, bytes);
    }
    WEIR_TRY(weir_store_add_view(m->of[k].store, name, &slice));
  }
  return WEIR_OK;
}

/* What the update keeps for each parameter. */
static weir_status share_flat(models *m, const char *name)
{
  const int64_t count = weir_params_elements(m->given->params);
  const weir_tensor t = weir_tensor_wrap(NULL, weir_params_dtype(m->given->params), 1, &count);

  return share_array(m, name, &t, NULL);
}

static weir_status share_arrays(models *m)
{
  const train_given *g = m->given;
  const weir_rule_desc *rule = NULL;
  char name[ARRAY_NAME];

  WEIR_TRY(weir_store_create(&m->fused));
  for (int64_t k = 0; k < m->n; k++) {
    WEIR_TRY(weir_store_create(&m->of[k].store));
  }
  for (int64_t i = 0; i < weir_store_count(g->store); i++) {
    const weir_tensor *from = NULL;

    if (train_is_network(weir_store_name(g->store, i))) {
      WEIR_TRY(weir_store_read(g->store, weir_store_name(g->store, i), &from));
      WEIR_TRY(share_array(m, weir_store_name(g->store, i), from, from->data));
    }
  }
  WEIR_TRY(weir_optim_rule(&g->cfg->optim, &rule));
  for (int i = 0; i < rule->n_state; i++) {
    (void)snprintf(name, sizeof name, "optim.%s", rule->state[i]);
    WEIR_TRY(share_flat(m, name));
  }
  return g->cfg->optim.average.decay > 0 ? share_flat(m, WEIR_OPTIM_AVERAGE) : WEIR_OK;
}

/* ---- Steps ---- */

static weir_status make_plan(models *m, int64_t n, weir_plan **out)
{
  static const char *const own[] = {"seed", "lr"};
  weir_graph *g = NULL;
  weir_status status;

  WEIR_ASSERT(m->n_plans < 2);
  WEIR_TRY(train_build(&m->of[0].run.graph, TRAIN_STEP, n, &g));
  WEIR_TRY_GOTO(weir_models_fuse(g, m->n, own, 2), done);
  WEIR_TRY_GOTO(weir_plan_create(g, m->fused, &m->of[0].run.exec, out), done);
  m->plan[m->n_plans++] = (train_plan){.kind = TRAIN_STEP, .batch = n, .plan = *out};
done:
  weir_graph_destroy(&g);
  return status;
}

static weir_status find_plan(models *m, int64_t n, weir_plan **out)
{
  for (int i = 0; i < m->n_plans; i++) {
    if (m->plan[i].batch == n) {
      *out = m->plan[i].plan;
      return WEIR_OK;
    }
  }
  return make_plan(m, n, out);
}

static weir_status read_results(const models *m, const weir_plan *plan, const char *name,
                                double *out)
{
  weir_view v;
  int64_t lo = 0, hi = 0;

  WEIR_TRY(weir_plan_result(plan, name, &v, &lo, &hi));
  if (v.rank != 1 || v.extent[0] != m->n) {
    return weir_fail(WEIR_ERR_SHAPE, "train: '%s' must be a scalar of each network", name);
  }
  for (int64_t k = 0; k < m->n; k++) {
    out[k] = weir_dtype_load_real(v.dtype, v.data, k);
  }
  return WEIR_OK;
}

/* The bindings of the plan are those of one network, but for what each has of its own. */
static weir_status run_plan(models *m, int64_t n)
{
  train_run *r = &m->of[0].run;
  const train_numbers x = train_numbers_of(r, 0);
  train_bindings b;
  weir_plan *plan = NULL;

  WEIR_TRY(find_plan(m, n, &plan));
  const int count = train_bind(r->task, NULL, r->input, r->seed, TRAIN_STEP, n, &x, &b);

  for (int i = 0; i < count; i++) {
    const bool seed = strcmp(b.binding[i].name, "seed") == 0;

    if (seed || strcmp(b.binding[i].name, "lr") == 0) {
      b.tensor[i] = weir_tensor_wrap(seed ? (void *)m->seed : (void *)m->lr,
                                     seed ? WEIR_I64 : WEIR_F64, 1, &m->n);
    }
  }
  for (int64_t k = 0; k < m->n; k++) {
    m->lr[k] = train_numbers_of(&m->of[k].run, 0).lr;
  }
  const double start = weir_clock();

  WEIR_TRY(weir_plan_run(plan, b.binding, count));
  r->spent_s = weir_clock() - start;
  WEIR_TRY(read_results(m, plan, "loss", m->loss));
  return read_results(m, plan, "norm", m->norm);
}

static weir_status take_before(models *m)
{
  for (int64_t k = 0; k < m->n; k++) {
    WEIR_TRY(train_take_before(&m->of[k].run));
  }
  return WEIR_OK;
}

/* Names the operator that made a loss or gradient that is not finite, in the first network that
 * has one: as train_step does. */
static weir_status check_finite(models *m)
{
  for (int64_t k = 0; k < m->n; k++) {
    train_run *r = &m->of[k].run;

    if (isfinite(m->loss[k]) && (isfinite(m->norm[k]) || !r->cfg->check_nan)) {
      continue;
    }
    if (r->cfg->check_nan) {
      WEIR_TRY(take_before(m));
      const weir_status status = train_locate_nan(r);

      return weir_fail(status, "model %" PRId64 " of seed %" PRId64 ": %s", k + 1, r->seed,
                       weir_last_message());
    }
    return weir_fail(WEIR_ERR_NUMERIC,
                     "model %" PRId64 ", step %" PRId64
                     ": the loss is %g; check_nan names the operator it comes from",
                     k + 1, *r->state.step + 1, m->loss[k]);
  }
  return WEIR_OK;
}

/* One update of all, with the samples of the first. They are unchanged where samples or the plan
 * fail, and, with check_nan, where a loss or gradient is not finite. */
static weir_status step_all(models *m, int64_t n)
{
  train_run *r = &m->of[0].run;
  weir_status status = WEIR_OK;

  for (int64_t k = 0; k < m->n; k++) {
    WEIR_TRY(train_keep_before(&m->of[k].run));
  }
  if (!m->told) {
    train_tell_task(r, *r->state.epoch);
    m->told = true;
  }
  train_choose(r, *r->state.position, n);
  status = train_fetch(r, WEIR_TRAIN_SAMPLES, n);
  status = status == WEIR_OK ? run_plan(m, n) : status;
  if (status != WEIR_OK) {
    WEIR_TRY(take_before(m));
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  return check_finite(m);
}

/* ---- The loop ---- */

/* A checkpoint of each, and the run ends. */
static weir_status stop_here(models *m)
{
  for (int64_t k = 1; k < m->n; k++) {
    if (!m->of[k].saved) {
      WEIR_TRY(train_save(&m->of[k].run));
    }
  }
  return train_stop_here(&m->of[0].run, m->of[0].saved);
}

static weir_status advance_together(models *m)
{
  const int64_t n = train_step_samples(&m->of[0].run);
  const weir_status status = step_all(m, n);

  if (status == WEIR_ERR_STOPPED) { /* while samples were made */
    return stop_here(m);
  }
  WEIR_TRY(status);
  for (int64_t k = 0; k < m->n; k++) {
    train_run *r = &m->of[k].run;

    r->norm = m->norm[k];
    r->own = n;
    WEIR_TRY(train_end_step(r, n, m->loss[k], m->of[k].first, &m->of[k].saved));
  }
  return WEIR_OK;
}

/* Those that are behind the others, whose checkpoints were written before a kill and theirs were
 * not, take a step alone: the same one. */
static weir_status advance(models *m)
{
  int64_t last = 0;
  bool level = true;

  for (int64_t k = 0; k < m->n; k++) {
    const int64_t step = *m->of[k].run.state.step;

    level = level && (k == 0 || step == last);
    last = step > last ? step : last;
  }
  if (level) {
    return advance_together(m);
  }
  m->told = false;
  for (int64_t k = 0; k < m->n; k++) {
    model *one = &m->of[k];

    if (*one->run.state.step < last) {
      train_tell_task(&one->run, *one->run.state.epoch);
      WEIR_TRY(train_advance(&one->run, one->first, &one->saved));
    }
  }
  return WEIR_OK;
}

static bool goes_on(const models *m)
{
  bool any = false;

  for (int64_t k = 0; k < m->n; k++) {
    any = any || train_goes_on(&m->of[k].run);
  }
  return any;
}

static weir_status loop(models *m)
{
  const train_run *r = &m->of[0].run;
  bool stop = false;

  for (int64_t k = 0; k < m->n; k++) {
    m->of[k].saved = true;
    WEIR_TRY(train_begin_loop(&m->of[k].run, &m->of[k].saved));
  }
  while (goes_on(m)) {
    WEIR_TRY(advance(m));
    weir_progress("train", *r->state.step - m->of[0].first, r->total - m->of[0].first, "steps");
    WEIR_TRY(train_asks_stop(&m->of[0].run, &stop));
    if (stop && goes_on(m)) {
      return stop_here(m);
    }
  }
  for (int64_t k = 0; k < m->n; k++) {
    WEIR_TRY(train_end_loop(&m->of[k].run, m->of[k].saved));
  }
  return WEIR_OK;
}

/* ---- Begin and end ---- */

static weir_status check_machine(const train_given *g)
{
  const weir_dist *dist = g->exec != NULL ? g->exec->dist : NULL;
  const char *device = g->exec != NULL && g->exec->exec != NULL ? g->exec->exec->device : NULL;

  if (dist != NULL && dist->comm != NULL && weir_comm_size(dist->comm) > 1) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "train: several networks (models.seeds) train on one rank: start it without "
                     "the launcher, or one run for each of them");
  }
  if (device != NULL && strcmp(device, "cpu") != 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "train: several networks (models.seeds) train on the cpu, not on exec.device "
                     "'%s': start one run for each of them",
                     device);
  }
  return WEIR_OK;
}

static weir_status open_models(models *m)
{
  const train_given *g = m->given;

  WEIR_TRY(check_machine(g));
  WEIR_TRY(weir_alloc(m->n, sizeof *m->of, (void **)&m->of));
  WEIR_TRY(share_arrays(m));
  WEIR_TRY(weir_dir_create(g->dir));
  for (int64_t k = 0; k < m->n; k++) {
    model *one = &m->of[k];

    m->seed[k] = train_model_seed(g->cfg, k);
    one->cfg = train_model_cfg(g->cfg, k);
    WEIR_TRY(weir_train_model_dir(g->cfg, g->dir, k, one->dir, sizeof one->dir));
    WEIR_TRY(weir_params_init(g->params, one->store, (uint64_t)m->seed[k]));
    one->run = train_run_of(g->task, &one->cfg, g->exec, g->params, one->store);
    one->open = true;
    one->run.dir = one->dir;
    one->run.exec.terse = true;
    one->run.exec.dist = NULL;
    one->run.seed = m->seed[k];
    one->run.model = k + 1;
    WEIR_TRY(train_run_begin(&one->run));
    one->first = *one->run.state.step;
  }
  return WEIR_OK;
}

/* The caller's store and folder have the first one's weights. */
static weir_status give_first(models *m)
{
  train_run *r = &m->of[0].run;

  for (int64_t i = 0; i < r->n_arrays; i++) {
    const weir_tensor *from = NULL;
    weir_tensor *to = NULL;

    WEIR_TRY(weir_store_read(r->store, r->array[i].name, &from));
    WEIR_TRY(weir_store_write(m->given->store, r->array[i].name, &to));
    WEIR_TRY(weir_tensor_copy(from, to));
  }
  r->dir = m->given->dir;
  return train_write_weights(r);
}

static weir_status run_models(models *m, weir_train_result *result)
{
  WEIR_TRY(open_models(m));
  weir_info("train", "%" PRId64 " networks train as one graph", m->n);
  WEIR_TRY(loop(m));
  for (int64_t k = m->n - 1; k >= 0; k--) { /* the first reports the end of all */
    WEIR_TRY(train_run_end(&m->of[k].run, m->of[k].first, result));
  }
  return give_first(m);
}

static void close_models(models *m)
{
  for (int i = 0; i < m->n_plans; i++) {
    weir_plan_destroy(&m->plan[i].plan);
  }
  for (int64_t k = 0; k < m->n && m->of != NULL; k++) {
    if (m->of[k].open) {
      train_run_close(&m->of[k].run);
    }
    weir_store_destroy(&m->of[k].store);
  }
  weir_store_destroy(&m->fused);
  weir_free(&m->of);
}

weir_status train_models_run(const train_given *given, weir_train_result *result)
{
  void *memory = NULL;

  WEIR_TRY(weir_train_suits(given->task, given->cfg));
  WEIR_TRY(weir_alloc(1, sizeof(models), &memory));
  models *m = memory;

  *m = (models){.given = given, .n = given->cfg->models.seeds.count};
  const weir_status status = run_models(m, result);

  close_models(m);
  weir_free(&memory);
  return status;
}
