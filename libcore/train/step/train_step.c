/* train_step.c - see weir_train_step.h. */
#include "train/weir_train_step.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "train/grid/ranks.h"
#include "train/grid/replicate.h"
#include "train/run_open.h"
#include "train/state.h"
#include "train/step/batch.h"
#include "train/step/exchange.h"
#include "train/step/plan.h"

_Static_assert((int)WEIR_TRAIN_SUMS == TRAIN_MAX_SLICES, "a sum for each slice");

struct weir_train_step {
  weir_params *params;
  weir_store *store;
  train_run run;
  bool allocated; /* memory of a batch */
};

/* ---- Its arrays ---- */

static weir_status declare(const weir_train_task *task, int64_t seed, weir_train_step **out)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof **out, &memory));
  weir_train_step *const s = *out = memory;

  WEIR_TRY(weir_params_create(task->dtype, &s->params));
  WEIR_TRY(weir_store_create(&s->store));
  return weir_train_prepare(task, seed, s->params, s->store);
}

weir_status weir_train_step_create(const weir_train_task *task, const weir_train_cfg *cfg,
                                   const weir_plan_opts *exec, weir_train_step **out)
{
  weir_train_step *s = NULL;
  weir_status status = declare(task, cfg->seed, &s);

  *out = NULL;
  WEIR_TRY_GOTO(exec->dist != NULL ? weir_comm_agree(exec->dist->comm, status) : status, failed);
  s->run = train_run_of(task, cfg, exec, s->params, s->store);
  WEIR_TRY_GOTO(train_ranks_open(&s->run), failed);
  WEIR_TRY_GOTO(train_shard_params(&s->run), failed);
  WEIR_TRY_GOTO(train_agree(&s->run, train_state_open(&s->run)), failed);
  *out = s;
  return WEIR_OK;
failed:
  weir_train_step_destroy(&s);
  return status;
}

void weir_train_step_destroy(weir_train_step **s)
{
  if (*s != NULL) {
    train_run_close(&(*s)->run);
    weir_params_destroy(&(*s)->params);
    weir_store_destroy(&(*s)->store);
    weir_free(s);
  }
}

/* ---- On any grid ---- */

static void insert(int64_t *level, int *n, int64_t x)
{
  int at = 0;

  while (at < *n && level[at] < x) {
    at++;
  }
  if (*n < WEIR_TRAIN_LEVELS && (at == *n || level[at] != x)) {
    memmove(level + at + 1, level + at, (size_t)(*n - at) * sizeof *level);
    level[at] = x;
    ++*n;
  }
}

static weir_status find_levels(const train_ranks *k, const train_graph *t, int64_t batch,
                               weir_train_levels *out)
{
  train_sharding c = {.shard = NULL};
  weir_graph *g = NULL;
  weir_partition *p = NULL;
  weir_status status;

  *out = (weir_train_levels){.n = {0}};
  WEIR_TRY(train_build(t, TRAIN_LOSS, batch, &g));
  WEIR_TRY_GOTO(train_sharding_of(k, t->task, g, batch, &c), done);
  WEIR_TRY_GOTO(weir_partition_create(g, &c.dist.grid, c.shard, c.dist.n_shards, &p), done);
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    for (int along = WEIR_ALONG_DEPTH; along < k->dist.grid.dims; along++) {
      const int64_t extent = train_map_extent(t->task, g, p, a, along);

      if (k->dist.grid.extent[along] > 1 && extent > 0) {
        insert(out->extent[along], &out->n[along], extent);
      }
    }
  }
done:
  weir_partition_destroy(&p);
  train_sharding_close(&c);
  weir_graph_destroy(&g);
  return status;
}

weir_status weir_train_step_levels(const weir_train_step *s, const weir_grid *grid,
                                   weir_train_levels *out)
{
  const train_graph *t = &s->run.graph;
  train_ranks k = {.dist = {.grid = *grid}};
  weir_status status = train_shard_inputs(&k, t, s->run.cfg->batch);

  if (status == WEIR_OK) {
    status = find_levels(&k, t, s->run.cfg->batch, out);
  }
  train_ranks_close(&k);
  return status;
}

/* Appends the graph of that kind. */
static weir_status add_graph(const weir_train_step *s, train_kind kind, int64_t runs,
                             weir_train_sharded *out)
{
  const weir_pass_opts passes = weir_exec_passes(s->run.exec.exec);
  const int i = out->n++;

  out->runs[i] = runs;
  return train_shard_graph(out->ranks, &s->run.graph, kind, s->run.cfg->batch, &passes,
                           &out->graph[i], &out->partition[i]);
}

/* Lists the sums over ranks, of the rank with the largest shards; returns how many. */
static int list_sums(const train_ranks *k, const weir_params *params,
                     weir_train_sum sum[TRAIN_MAX_SLICES])
{
  const train_shards *s = &k->shards;
  const int64_t size = (int64_t)weir_dtype_size(weir_params_dtype(params));
  const int n = s->n > 0 ? s->n : 1;

  for (int i = 0; i < n; i++) {
    const unsigned dims = train_summed_over(s, &k->dist.grid, s->n > 0 ? i : -1);
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

static weir_status add_graphs(const weir_train_step *s, weir_train_sharded *out)
{
  const bool slot = train_has_slot(&s->run);

  WEIR_TRY(add_graph(s, slot ? TRAIN_GRADIENT : TRAIN_STEP, s->run.cfg->accumulate, out));
  if (slot) {
    out->n_sums = list_sums(out->ranks, s->params, out->sum);
    WEIR_TRY(add_graph(s, TRAIN_APPLY, 1, out));
  }
  return WEIR_OK;
}

weir_status weir_train_step_shard(const weir_train_step *s, const weir_grid *grid,
                                  const int64_t replicate_below[WEIR_ALONG_DIMS],
                                  weir_train_sharded *out)
{
  void *memory = NULL;

  *out = (weir_train_sharded){.n = 0};
  WEIR_TRY(weir_alloc(1, sizeof *out->ranks, &memory));
  train_ranks *const k = out->ranks = memory;

  k->dist.grid = *grid;
  memcpy(k->replicate_below, replicate_below, sizeof k->replicate_below);
  WEIR_TRY(train_shard_inputs(k, &s->run.graph, s->run.cfg->batch));
  WEIR_TRY(train_shards_view(&k->shards, k->coords, s->store, s->params));
  return add_graphs(s, out);
}

void weir_train_sharded_fini(weir_train_sharded *sharded)
{
  for (int i = 0; i < sharded->n; i++) {
    weir_partition_destroy(&sharded->partition[i]);
    weir_graph_destroy(&sharded->graph[i]);
  }
  if (sharded->ranks != NULL) {
    train_ranks_close(sharded->ranks);
    weir_free(&sharded->ranks);
  }
  sharded->n = 0;
}

/* ---- On the ranks at hand ---- */

/* The kind of plan i and its number of samples; false: there is none. */
static bool plan_of(const weir_train_step *s, int i, train_kind *kind, int64_t *n)
{
  const bool slot = train_has_slot(&s->run);

  *kind = i > 0 ? TRAIN_APPLY : slot ? TRAIN_GRADIENT : TRAIN_STEP;
  *n = i > 0 ? 0 : s->run.cfg->batch;
  return i < (slot ? 2 : 1);
}

/* Numbers for the network to read; whole ones stay 0, which is a class of every map. */
static weir_status fill_batch(train_run *r)
{
  WEIR_TRY(train_alloc_batch(r));
  for (int k = 0; k < r->task->n_inputs; k++) {
    const weir_tensor *t = &r->input[k];

    for (int64_t i = 0; i < weir_tensor_numel(t) && weir_dtype_is_real(t->dtype); i++) {
      const double x = (double)(weir_random_bits(1, 0, (uint32_t)k, (uint64_t)i) >> 11) * 0x1p-53;

      weir_dtype_store_real(t->dtype, t->data, i, x);
    }
  }
  return WEIR_OK;
}

weir_status weir_train_step_plan(weir_train_step *s, int i, weir_plan **out)
{
  train_kind kind;
  int64_t n;

  *out = NULL;
  if (!plan_of(s, i, &kind, &n)) {
    return WEIR_OK;
  }
  if (!s->allocated) {
    WEIR_TRY(train_agree(&s->run, fill_batch(&s->run)));
    s->allocated = true;
  }
  return train_find_plan(&s->run, kind, n, out);
}

weir_status weir_train_step_run(weir_train_step *s, int i, double *seconds)
{
  const train_numbers x = {.draw = 0, .step = 1, .lr = 0, .weight = 1};
  weir_plan *plan = NULL;
  train_kind kind;
  int64_t n;
  const bool is_plan = plan_of(s, i, &kind, &n);

  WEIR_ASSERT(is_plan);
  WEIR_TRY(weir_train_step_plan(s, i, &plan));
  s->run.spent_s = 0;
  WEIR_TRY(train_run_plan(&s->run, kind, n, &x, &plan));
  *seconds = s->run.spent_s;
  return WEIR_OK;
}
