/* distribution.c - see distribution.h: bounds of inputs on a grid, and the rows of the parameters
 * of which every rank reads a separate shard, such as those of the dense layer after a sharded
 * volume: it updates its shard alone, whose gradient is summed over the samples only. */
#include "train/grid/distribution.h"

#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "load/weir_sampler.h"
#include "train/grid/replicate.h"

/* ---- The grid ---- */

const char *const weir_along_names[WEIR_ALONG_DIMS] = {"samples", "depth", "height", "width"};

static int extent_of(const train_ranks *k, int along)
{
  return along < k->dist.grid.dims ? k->dist.grid.extent[along] : 1;
}

weir_box train_whole(const weir_train_input *x)
{
  weir_box box = {.rank = x->rank};

  memcpy(box.hi, x->shape, (size_t)x->rank * sizeof *box.hi);
  return box;
}

/* ---- Sharding ---- */

/* Checks that the grid fits the ranks, and that a task has a dimension to shard along all of it. */
static weir_status check_grid(const weir_train_task *task, const weir_grid *grid)
{
  bool used[WEIR_ALONG_DIMS] = {[WEIR_ALONG_SAMPLES] = true};

  if (grid->dims > WEIR_ALONG_DIMS) {
    return weir_fail(WEIR_ERR_CONFIG, "train: a grid has up to %d dimensions, not %d",
                     WEIR_ALONG_DIMS, grid->dims);
  }
  for (int k = 0; k < task->n_inputs; k++) {
    const weir_train_input *x = &task->input[k];
    bool twice[WEIR_ALONG_DIMS] = {false};

    for (int d = 0; d < x->rank; d++) {
      const int along = (int)x->along[d];

      if (along < 0 || along >= WEIR_ALONG_DIMS || twice[along]) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "train: dimension %d of the input '%s' is mapped to no dimension of the "
                         "grid, or to that of another one",
                         d, x->name);
      }
      twice[along] = along > 0;
      used[along] = true;
    }
  }
  for (int d = 0; d < grid->dims; d++) {
    if (grid->extent[d] > 1 && !used[d]) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "train: the grid has %d ranks along the %s, and no input of '%s' has one",
                       grid->extent[d], weir_along_names[d], task->name);
    }
  }
  return WEIR_OK;
}

/* Bounds at multiples of the block_size, as even as can be. */
static void split_evenly(int64_t extent, int64_t block_size, int n, int64_t *bounds)
{
  const int64_t blocks = extent / block_size + (extent % block_size > 0);
  int64_t lo, hi;

  for (int q = 0; q < n; q++) {
    weir_sampler_share(blocks, q, n, &lo, &hi);
    bounds[q] = lo * block_size;
    bounds[q + 1] = hi * block_size < extent ? hi * block_size : extent;
  }
}

/* Whether the largest share is more than a quarter above the mean. */
static bool is_uneven(int64_t extent, int64_t block_size, int n)
{
  const int64_t blocks = extent / block_size + (extent % block_size > 0);

  return 4 * n * (blocks / n + (blocks % n > 0)) * block_size > 5 * extent;
}

/* Elements of `extent` per element of the coarsest array that is sharded along the same dimension
 * of the grid. */
static int64_t coarsest(const weir_graph *g, const weir_partition *p, int along, int64_t extent)
{
  int64_t ratio = 1;
  weir_shard shard;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array_desc *desc = &weir_graph_get_array(g, a)->desc;

    for (int d = 0; d < desc->rank; d++) {
      const int64_t e = desc->shape[d];

      if (weir_partition_sharding(p, a, d, &shard) && weir_shard_goes(&shard, along) && e > 0 &&
          extent % e == 0 && extent / e > ratio) {
        ratio = extent / e;
      }
    }
  }
  return ratio;
}

/* Arrays of each of n samples in the inputs of a graph. */
static int64_t repeats_of(const weir_train_task *task, const weir_graph *g, int64_t n)
{
  for (int32_t a = 0; a < weir_graph_arrays(g) && n > 0; a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->kind == WEIR_ARRAY_INPUT && strcmp(array->name, task->input[0].name) == 0) {
      return array->desc.shape[0] / n;
    }
  }
  return 1;
}

static weir_status add_inputs(const train_ranks *k, const weir_train_task *task,
                              const weir_graph *g, train_sharding *c)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    for (int i = 0; array->kind == WEIR_ARRAY_INPUT && i < task->n_inputs; i++) {
      const weir_train_input *x = &task->input[i];

      if (strcmp(array->name, x->name) != 0) {
        continue;
      }
      WEIR_TRY(train_add_shard(
          c, (weir_shard){.array = a, .along = WEIR_ALONG_SAMPLES, .bounds = k->share}));
      for (int d = 0; d < x->rank; d++) {
        if (k->bounds[i][d] != NULL) {
          const weir_shard shard = {
              .array = a, .dim = d + 1, .along = (int)x->along[d], .bounds = k->bounds[i][d]};

          WEIR_TRY(train_add_shard(c, shard));
        }
      }
    }
  }
  return WEIR_OK;
}

weir_status train_sharding_of(const train_ranks *k, const weir_train_task *task,
                              const weir_graph *g, int64_t n, train_sharding *out)
{
  const int64_t repeats = repeats_of(task, g, n);
  bool replicates = false;
  weir_status status;

  *out = (train_sharding){.dist = k->dist};
  for (int q = 0; q < extent_of(k, WEIR_ALONG_SAMPLES); q++) {
    int64_t lo, hi;

    weir_sampler_share(n, q, extent_of(k, WEIR_ALONG_SAMPLES), &lo, &hi);
    k->share[q] = lo * repeats;
    k->share[q + 1] = hi * repeats;
  }
  WEIR_TRY_GOTO(add_inputs(k, task, g, out), failed);
  WEIR_TRY_GOTO(train_shard_slices(&k->shards, g, out), failed);
  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    replicates = replicates || (k->replicate_below[d] > 0 && extent_of(k, d) > 1);
  }
  if (replicates) {
    WEIR_TRY_GOTO(train_replicate(k->replicate_below, task, g, out), failed);
  }
  WEIR_TRY_GOTO(train_shard_optim(&k->optim, &k->dist.grid, g, out), failed);
  if (k->optim.what < WEIR_OPTIM_SHARD_GRADIENTS) {
    WEIR_TRY_GOTO(train_leave_sums(&k->shards, &k->dist.grid, g, out), failed);
  }
  return WEIR_OK;
failed:
  train_sharding_close(out);
  return status;
}

/* The first input that is sharded along a dimension of the grid gives the bounds; another one of
 * another extent has its bounds in proportion. */
static void align(train_ranks *k, const weir_train_task *task, const weir_graph *g,
                  const weir_partition *p, int along)
{
  const int n = extent_of(k, along);
  const int64_t *first = NULL;

  for (int i = 0; i < task->n_inputs; i++) {
    for (int d = 0; d < task->input[i].rank; d++) {
      const int64_t extent = task->input[i].shape[d];
      int64_t *bounds = k->bounds[i][d];

      if ((int)task->input[i].along[d] != along || bounds == NULL) {
        continue;
      }
      if (first == NULL) {
        int64_t block_size = coarsest(g, p, along, extent);

        while (block_size > 1 && is_uneven(extent, block_size, n)) {
          block_size = block_size % 2 == 0 ? block_size / 2 : 1;
        }
        split_evenly(extent, block_size, n, bounds);
        first = bounds;
      } else {
        for (int q = 1; q <= n; q++) {
          bounds[q] = first[n] > 0 ? first[q] * extent / first[n] : extent;
        }
      }
    }
  }
}

/* Even bounds first, to find which arrays are sharded with the inputs and how coarse they become.
 */
static weir_status find_bounds(train_ranks *k, const train_graph *t, int64_t batch)
{
  train_sharding c = {.shard = NULL};
  weir_graph *g = NULL;
  weir_partition *p = NULL;
  weir_status status;

  WEIR_TRY(train_build(t, TRAIN_LOSS, batch, &g));
  WEIR_TRY_GOTO(train_sharding_of(k, t->task, g, batch, &c), done);
  WEIR_TRY_GOTO(weir_partition_create(g, &c.dist.grid, c.dist.shards, c.dist.n_shards, &p), done);
  for (int along = WEIR_ALONG_DEPTH; along < WEIR_ALONG_DIMS; along++) {
    align(k, t->task, g, p, along);
  }
done:
  weir_partition_destroy(&p);
  train_sharding_close(&c);
  weir_graph_destroy(&g);
  return status;
}

/* ---- Sharded rows of the flat buffer ---- */

/* Appends the slice after the last one, up to row `hi`; none where it would be empty. */
static void add_slice(train_shards *s, const weir_params *params, int64_t lo, int64_t hi)
{
  if (lo < hi) {
    const weir_param_row *first = weir_params_get(params, lo),
                         *last = weir_params_get(params, hi - 1);

    (void)snprintf(s->name[s->n], sizeof s->name[s->n], ".%d", s->n);
    s->slice[s->n] =
        (weir_flat_slice){s->name[s->n], first->first, last->first + last->count - first->first};
    s->n++;
  }
}

/* The dimension of the grid along which the first dimension of a row is read in shards, 0: none;
 * at: their first elements. */
static int dim_of_shards(const train_ranks *k, const weir_partition *p, const weir_param_row *row,
                         int32_t array, int64_t *at)
{
  for (int along = WEIR_ALONG_DEPTH; along < WEIR_ALONG_DIMS && row->rank > 0; along++) {
    if (extent_of(k, along) > 1 && weir_partition_read_sharding(p, array, 0, along, at)) {
      return along;
    }
  }
  return 0;
}

static weir_status find_slices(train_ranks *k, const weir_params *params, const weir_partition *p,
                               const int32_t *array)
{
  const int64_t rows = weir_params_count(params);
  train_shards *s = &k->shards;
  int64_t from = 0;
  int64_t *at = NULL;

  for (int64_t i = 0; i < rows && s->n_sharded < TRAIN_MAX_SHARDED; i++) {
    const weir_param_row *row = weir_params_get(params, i);

    if (at == NULL) {
      WEIR_TRY(weir_alloc(weir_grid_size(&k->dist.grid) + 1, sizeof *at, (void **)&at));
    }
    const int along = dim_of_shards(k, p, row, array[i], at);

    if (along > 0) {
      add_slice(s, params, from, i);
      s->along[s->n] = along;
      s->at[s->n] = at;
      for (int q = 0; q <= extent_of(k, along); q++) {
        at[q] *= row->count / row->shape[0];
      }
      add_slice(s, params, i, i + 1);
      s->n_sharded++;
      at = NULL;
      from = i + 1;
    }
  }
  weir_free(&at);
  if (from > 0) {
    add_slice(s, params, from, rows);
  }
  return WEIR_OK;
}

/* Finds the rows that can be sharded, by what the nodes of a step read of them where inputs are
 * sharded. */
static weir_status find_shards(train_ranks *k, const train_graph *t, int64_t batch)
{
  train_sharding sharding = {.shard = NULL};
  weir_graph *g = NULL;
  weir_partition *p = NULL;
  void *rows = NULL;
  weir_status status;

  WEIR_TRY_GOTO(weir_alloc(weir_params_count(t->params), sizeof(int32_t), &rows), done);
  WEIR_TRY_GOTO(train_build_rows(t, TRAIN_LOSS, batch, rows, &g), done);
  WEIR_TRY_GOTO(train_sharding_of(k, t->task, g, batch, &sharding), done);
  WEIR_TRY_GOTO(weir_partition_create(g, &sharding.dist.grid, sharding.dist.shards,
                                      sharding.dist.n_shards, &p),
                done);
  WEIR_TRY_GOTO(find_slices(k, t->params, p, rows), done);
done:
  weir_partition_destroy(&p);
  train_sharding_close(&sharding);
  weir_graph_destroy(&g);
  weir_free(&rows);
  return status;
}

/* ---- All of it ---- */

weir_status train_shard_inputs(train_ranks *k, const train_graph *t, int64_t batch)
{
  bool space = false;

  WEIR_TRY(check_grid(t->task, &k->dist.grid));
  WEIR_TRY(weir_alloc(extent_of(k, WEIR_ALONG_SAMPLES) + 1, sizeof *k->share, (void **)&k->share));
  for (int i = 0; i < t->task->n_inputs; i++) {
    const weir_train_input *x = &t->task->input[i];

    for (int d = 0; d < x->rank; d++) {
      const int n = extent_of(k, (int)x->along[d]);

      if ((int)x->along[d] > 0 && n > 1) {
        WEIR_TRY(weir_alloc(n + 1, sizeof(int64_t), (void **)&k->bounds[i][d]));
        split_evenly(x->shape[d], 1, n, k->bounds[i][d]);
        space = true;
      }
    }
  }
  if (!space) {
    return WEIR_OK;
  }
  WEIR_TRY(find_bounds(k, t, batch));
  return k->optim.what == WEIR_OPTIM_SHARD_NONE ? find_shards(k, t, batch) : WEIR_OK;
}

weir_box train_box(const train_ranks *k, const weir_train_task *task, int input,
                   const int coords[WEIR_GRID_DIMS])
{
  const weir_train_input *x = &task->input[input];
  weir_box box = train_whole(x);

  for (int d = 0; d < x->rank; d++) {
    const int64_t *bounds = k->bounds[input][d];

    box.lo[d] = bounds != NULL ? bounds[coords[x->along[d]]] : 0;
    box.hi[d] = bounds != NULL ? bounds[coords[x->along[d]] + 1] : x->shape[d];
  }
  return box;
}

static weir_status shard_graph(const train_ranks *k, const train_graph *t, train_kind kind,
                               int64_t batch, const weir_pass_opts *passes, weir_graph **g,
                               weir_partition **p)
{
  train_sharding sharding = {.shard = NULL};
  weir_status status;

  WEIR_TRY(train_build(t, kind, batch, g));
  WEIR_TRY(train_sharding_of(k, t->task, *g, batch, &sharding)); /* as for plans, before passes */
  WEIR_TRY_GOTO(weir_pass_run(*g, "simplify", passes), done);
  WEIR_TRY_GOTO(weir_pass_run(*g, "pool_sparsity", passes), done);
  WEIR_TRY_GOTO(weir_partition_fetch_again(*g, sharding.shard, sharding.dist.n_shards), done);
  status =
      weir_partition_create(*g, &sharding.dist.grid, sharding.shard, sharding.dist.n_shards, p);
done:
  train_sharding_close(&sharding);
  return status;
}

weir_status train_shard_graph(const train_ranks *k, const train_graph *t, train_kind kind,
                              int64_t batch, const weir_pass_opts *passes, weir_graph **g,
                              weir_partition **p)
{
  train_graph of = *t;

  of.shards = k->shards.n > 0 ? &k->shards : NULL;
  weir_status status = shard_graph(k, &of, kind, batch, passes, g, p);

  if (status == WEIR_ERR_UNSUPPORTED && kind == TRAIN_GRADIENT &&
      of.in_rows) { /* as plans are made */
    weir_clear_failure();
    weir_partition_destroy(p);
    weir_graph_destroy(g);
    of.in_rows = false;
    status = shard_graph(k, &of, kind, batch, passes, g, p);
  }
  return status;
}

void train_ranks_close(train_ranks *k)
{
  weir_request_destroy(&k->min_request);
  train_shards_close(&k->shards);
  train_optim_shards_close(&k->optim);
  weir_free(&k->share);
  for (int i = 0; i < TRAIN_INPUTS; i++) {
    for (int d = 0; d < WEIR_MAX_RANK - 1; d++) {
      weir_free(&k->bounds[i][d]);
    }
  }
}
