/* ranks.c - a run on a grid of ranks: the sharding of inputs, and agreement of the ranks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "load/weir_sampler.h"
#include "train/train_priv.h"

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

bool train_leads(const train_run *r)
{
  return r->ranks.rank == 0;
}

void train_own_samples(const train_run *r, int64_t n, int64_t *lo, int64_t *hi)
{
  weir_sampler_share(n, r->ranks.coords[WEIR_ALONG_SAMPLES],
                     extent_of(&r->ranks, WEIR_ALONG_SAMPLES), lo, hi);
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

void train_sharding_close(train_sharding *c)
{
  weir_partition_destroy(&c->whole);
  weir_free(&c->shard);
}

weir_status train_add_shard(train_sharding *c, weir_shard shard)
{
  WEIR_TRY(weir_reserve(&c->shard, &c->capacity, c->dist.n_shards + 1, sizeof *c->shard));
  c->shard[c->dist.n_shards++] = shard;
  c->dist.shards = c->shard;
  return WEIR_OK;
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
          const weir_shard shard = {a, d + 1, (int)x->along[d], k->bounds[i][d], 0, 0};

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
  bool replicates = false;
  weir_status status;

  *out = (train_sharding){.dist = k->dist};
  for (int q = 0; q < extent_of(k, WEIR_ALONG_SAMPLES); q++) {
    weir_sampler_share(n, q, extent_of(k, WEIR_ALONG_SAMPLES), &k->share[q], &k->share[q + 1]);
  }
  WEIR_TRY_GOTO(add_inputs(k, task, g, out), failed);
  WEIR_TRY_GOTO(train_shard_slices(&k->shards, g, out), failed);
  for (int d = WEIR_ALONG_DEPTH; d < WEIR_ALONG_DIMS; d++) {
    replicates = replicates || (k->replicate_below[d] > 0 && extent_of(k, d) > 1);
  }
  if (replicates) {
    WEIR_TRY_GOTO(train_replicate(k, task, g, out), failed);
  }
  WEIR_TRY_GOTO(train_leave_sums(k, g, out), failed);
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
  return train_find_shards(k, t, batch);
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

/* ---- A run on it ---- */

static weir_status open_ranks(train_run *r)
{
  train_ranks *k = &r->ranks;

  WEIR_TRY(weir_grid_check(&k->dist.grid, weir_comm_size(k->dist.comm)));
  WEIR_TRY(train_shard_inputs(k, &r->graph, r->cfg->batch));
  k->rank = weir_comm_rank(k->dist.comm);
  weir_grid_coords(&k->dist.grid, k->rank, k->coords);
  return WEIR_OK;
}

weir_status train_ranks_open(train_run *r)
{
  const weir_dist *asked = r->exec.dist;
  train_ranks *k = &r->ranks;

  r->exec.dist = NULL;
  if (asked != NULL && weir_comm_size(asked->comm) > 1) {
    k->dist = (weir_dist){.comm = asked->comm, .grid = asked->grid};
    memcpy(k->replicate_below, r->task->replicate_below, sizeof k->replicate_below);
    WEIR_TRY(train_agree(r, open_ranks(r)));
    WEIR_TRY(weir_allreduce_create(k->dist.comm, "minimum step",
                                   weir_reducer_of(WEIR_REDUCE_MIN, WEIR_I64), &k->number, 1,
                                   &k->min_request));
  }
  for (int i = 0; i < r->task->n_inputs; i++) {
    k->box[i] = train_box(k, r->task, i, k->coords);
  }
  return WEIR_OK;
}

void train_ranks_close(train_ranks *k)
{
  weir_request_destroy(&k->min_request);
  train_shards_close(&k->shards);
  weir_free(&k->share);
  for (int i = 0; i < TRAIN_INPUTS; i++) {
    for (int d = 0; d < WEIR_MAX_RANK - 1; d++) {
      weir_free(&k->bounds[i][d]);
    }
  }
}

weir_status train_agree(const train_run *r, weir_status status)
{
  return r->ranks.dist.comm != NULL ? weir_comm_agree(r->ranks.dist.comm, status) : status;
}

weir_status train_min(train_run *r, int64_t *x)
{
  if (r->ranks.min_request != NULL) {
    r->ranks.number = *x;
    WEIR_TRY(weir_request_run(r->ranks.min_request));
    *x = r->ranks.number;
  }
  return WEIR_OK;
}

/* ---- Arrays of all ranks ---- */

static weir_status receive(weir_comm *c, const weir_tensor *t, int64_t *counts)
{
  weir_request *request = NULL;

  counts[0] = weir_tensor_numel(t);
  WEIR_TRY(weir_allgather_create(c, "arrays of scalars", weir_dtype_size(t->dtype), t->data, counts,
                                 &request));
  WEIR_TRY(weir_request_run_once(&request));
  return WEIR_OK;
}

weir_status train_receive(train_run *r)
{
  weir_comm *c = r->ranks.dist.comm;
  void *counts = NULL;
  weir_status status = WEIR_OK;

  if (c == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(train_agree(r, weir_alloc(weir_comm_size(c), sizeof(int64_t), &counts)), done);
  for (int64_t i = 0; i < weir_store_count(r->store); i++) {
    const char *name = weir_store_name(r->store, i);

    if (train_is_network(name) || train_is_own(r, name)) {
      WEIR_TRY_GOTO(receive(c, weir_store_get(r->store, name), counts), done);
    }
  }
done:
  weir_free(&counts);
  return status;
}

/* Memory that ranks have in common: an array of the network, or this rank's shard of one. */
typedef struct shared {
  const char *name;
  const void *data;
  size_t bytes;
  int along; /* dimension of the grid that it is sharded along; 0: replicated */
} shared;

/* Fills `out`, which has space for all arrays and shards; returns how many. */
static int64_t list_shared(const train_run *r, shared *out)
{
  const train_shards *s = &r->ranks.shards;
  int64_t n = 0;

  for (int64_t i = 0; i < r->n_arrays; i++) {
    const weir_tensor *t = r->array[i].tensor;
    const size_t size = weir_dtype_size(t->dtype);
    const bool whole = t != r->bank || s->n == 0;

    if (whole) {
      out[n++] = (shared){r->array[i].name, t->data, (size_t)weir_tensor_numel(t) * size, 0};
    }
    for (int k = 0; k < s->n && !whole; k++) {
      int64_t lo, hi;

      train_own_shard(&r->ranks, k, &lo, &hi);
      out[n++] =
          (shared){r->array[i].name, (char *)t->data + (size_t)(s->slice[k].first + lo) * size,
                   (size_t)(hi - lo) * size, s->along[k]};
    }
  }
  return n;
}

/* The first rank that has the same shard as rank q. */
static int twin(const train_run *r, int q, int along)
{
  const weir_grid *grid = &r->ranks.dist.grid;
  int coords[WEIR_GRID_DIMS];

  weir_grid_coords(grid, q, coords);
  for (int d = 0; d < grid->dims; d++) {
    coords[d] = d == along && along > 0 ? coords[d] : 0;
  }
  return weir_grid_rank(grid, coords);
}

/* all: the digests of every rank, of n arrays and shards each. */
static weir_status find_other(const train_run *r, const shared *list, int64_t n_list,
                              const char *all)
{
  const int64_t bytes = n_list * TRAIN_HEX;
  const int ranks = weir_comm_size(r->ranks.dist.comm);
  char text[256] = "";
  size_t n = 0;

  for (int64_t i = 0; i < n_list && n == 0; i++) {
    for (int q = 1; q < ranks && n < sizeof text; q++) {
      const char *theirs = all + twin(r, q, list[i].along) * bytes + i * TRAIN_HEX;

      if (memcmp(theirs, all + q * bytes + i * TRAIN_HEX, TRAIN_HEX) != 0) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", n > 0 ? ", " : "", q);
      }
    }
    if (n > 0) {
      return weir_fail(
          WEIR_ERR_NUMERIC,
          "step %" PRId64
          ": '%s' of rank%s %s differs from that of %s: damaged memory, different programs, or a "
          "missing reduction over ranks; the latest checkpoint is from an earlier step",
          *r->state.step, list[i].name, strchr(text, ',') != NULL ? "s" : "", text,
          list[i].along > 0 ? "others with the same shard" : "rank 0");
    }
  }
  return WEIR_OK;
}

weir_status train_compare(train_run *r)
{
  weir_comm *c = r->ranks.dist.comm;
  const int64_t max_shared = r->n_arrays + r->ranks.shards.n;
  char one[TRAIN_HEX + 1];
  void *mine = NULL, *all = NULL, *memory = NULL;
  int64_t bytes = 0;
  weir_status status;

  if (c == NULL) {
    return WEIR_OK;
  }
  status = weir_alloc(max_shared, TRAIN_HEX, &mine);
  status = status == WEIR_OK ? weir_alloc(max_shared, sizeof(shared), &memory) : status;
  WEIR_TRY_GOTO(train_agree(r, status), done);
  shared *list = memory;
  const int64_t n = list_shared(r, list);

  for (int64_t i = 0; i < n; i++) {
    weir_sha256(list[i].bytes > 0 ? list[i].data : "", list[i].bytes, one);
    memcpy((char *)mine + i * TRAIN_HEX, one, TRAIN_HEX);
  }
  WEIR_TRY_GOTO(weir_comm_gather(c, mine, n * TRAIN_HEX, &all, &bytes), done);
  WEIR_TRY_GOTO(train_agree(r, all != NULL ? find_other(r, list, n, all) : WEIR_OK), done);
done:
  weir_free(&memory);
  weir_free(&mine);
  weir_free(&all);
  return status;
}
