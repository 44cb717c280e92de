/* shards.c - weights of which every rank reads a separate shard, such as those of the dense layer
 * after a sharded volume: it updates its shard alone, whose gradient is summed over the samples
 * only. The arrays of a run are complete in its store; plans see the shards of their rank. */
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "train/train_priv.h"

/* ---- Which rows ---- */

static int extent_of(const train_ranks *k, int along)
{
  return along < k->dist.grid.dims ? k->dist.grid.extent[along] : 1;
}

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

weir_status train_find_shards(train_ranks *k, const train_graph *t, int64_t batch)
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

weir_status train_shard_graph(const train_ranks *k, const train_graph *t, train_kind kind,
                              int64_t batch, const weir_pass_opts *passes, weir_graph **g,
                              weir_partition **p)
{
  train_graph of = *t;
  train_sharding sharding = {.shard = NULL};
  weir_status status;

  of.shards = k->shards.n > 0 ? &k->shards : NULL;
  WEIR_TRY(train_build(&of, kind, batch, g));
  WEIR_TRY(train_sharding_of(k, t->task, *g, batch, &sharding)); /* as for plans, before passes */
  WEIR_TRY_GOTO(weir_pass_run(*g, "simplify", passes), done);
  WEIR_TRY_GOTO(weir_pass_run(*g, "pool_sparsity", passes), done);
  status =
      weir_partition_create(*g, &sharding.dist.grid, sharding.shard, sharding.dist.n_shards, p);
done:
  train_sharding_close(&sharding);
  return status;
}

void train_shards_close(train_shards *s)
{
  for (int k = 0; k < TRAIN_MAX_SLICES; k++) {
    weir_free(&s->at[k]);
  }
  weir_store_destroy(&s->whole);
  weir_store_destroy(&s->own);
  weir_free(&s->array);
  s->n_arrays = s->capacity = 0;
  s->n = s->n_sharded = 0;
}

/* ---- The arrays ---- */

/* Whether an array has an element for every parameter. */
static bool is_bank(const char *name)
{
  return strcmp(name, WEIR_PARAMS_FLAT) == 0 || strcmp(name, TRAIN_BANK) == 0 ||
         strcmp(name, TRAIN_BEST WEIR_PARAMS_FLAT) == 0 || strncmp(name, "optim.", 6) == 0;
}

void train_own_shard(const train_ranks *r, int k, int64_t *lo, int64_t *hi)
{
  const train_shards *s = &r->shards;
  const int q = r->coords[s->along[k]];

  *lo = s->along[k] > 0 ? s->at[k][q] : 0;
  *hi = s->along[k] > 0 ? s->at[k][q + 1] : s->slice[k].count;
}

/* Elements [lo, hi) of slice k of a flat buffer. */
static weir_tensor window(const weir_tensor *bank, const weir_flat_slice *slice, int64_t lo,
                          int64_t hi)
{
  const int64_t count = hi - lo;
  char *at = (char *)bank->data + (size_t)(slice->first + lo) * weir_dtype_size(bank->dtype);

  return weir_tensor_wrap(at, bank->dtype, 1, &count);
}

static weir_status view_bank(train_ranks *r, const char *bank, const weir_tensor *t)
{
  train_shards *s = &r->shards;

  for (int k = 0; k < s->n; k++) {
    char name[256];
    int64_t lo, hi;

    train_own_shard(r, k, &lo, &hi);
    const weir_tensor own = window(t, &s->slice[k], lo, hi);
    const weir_tensor whole = window(t, &s->slice[k], 0, s->slice[k].count);

    (void)snprintf(name, sizeof name, "%s%s", bank, s->name[k]);
    WEIR_TRY(weir_store_add_view(s->own, name, &own));
    WEIR_TRY(weir_store_add_view(s->whole, name, &whole));
    WEIR_TRY(weir_reserve(&s->array, &s->capacity, s->n_arrays + 1, sizeof *s->array));
    s->array[s->n_arrays++] =
        (train_slice_array){weir_store_name(s->whole, weir_store_count(s->whole) - 1), k};
  }
  return WEIR_OK;
}

weir_status train_shards_view(train_ranks *r, const weir_store *store, const weir_params *params)
{
  train_shards *s = &r->shards;

  if (s->n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_store_create(&s->whole));
  WEIR_TRY(weir_store_create(&s->own));
  for (int64_t i = 0; i < weir_store_count(store); i++) {
    const char *name = weir_store_name(store, i);
    const weir_tensor *t = weir_store_get(store, name);

    if (is_bank(name) && weir_tensor_numel(t) == weir_params_elements(params)) {
      WEIR_TRY(view_bank(r, name, t));
    } else {
      WEIR_TRY(weir_store_add_view(s->own, name, t));
      WEIR_TRY(weir_store_add_view(s->whole, name, t));
    }
  }
  return WEIR_OK;
}

int train_slice_of(const train_shards *s, const char *name)
{
  for (int64_t i = 0; i < s->n_arrays; i++) {
    if (strcmp(s->array[i].name, name) == 0) {
      return s->array[i].slice;
    }
  }
  return -1;
}

weir_status train_shard_slices(const train_shards *s, const weir_graph *g, train_sharding *c)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);
    const int k = array->kind == WEIR_ARRAY_STORED ? train_slice_of(s, array->name) : -1;

    if (k >= 0 && s->along[k] > 0) {
      WEIR_TRY(train_add_shard(c, (weir_shard){a, 0, s->along[k], s->at[k], 0, 0}));
    }
  }
  return WEIR_OK;
}

/* ---- All of them on every rank ---- */

static weir_status allgather(const train_run *r, int k, weir_comm *group, const int64_t *counts)
{
  const train_shards *s = &r->ranks.shards;

  for (int64_t i = 0; i < weir_store_count(r->store); i++) {
    const char *name = weir_store_name(r->store, i);
    const weir_tensor *t = weir_store_get(r->store, name);
    weir_request *request = NULL;
    const bool used =
        train_is_network(name) || train_is_own(r, name) || strcmp(name, TRAIN_BANK) == 0;

    if (!used || !is_bank(name) || weir_tensor_numel(t) != weir_params_elements(r->params)) {
      continue;
    }
    const weir_tensor slice = window(t, &s->slice[k], 0, s->slice[k].count);

    WEIR_TRY(weir_allgather_create(group, "weight shards", weir_dtype_size(t->dtype), slice.data,
                                   counts, &request));
    WEIR_TRY(weir_request_run_once(&request));
  }
  return WEIR_OK;
}

weir_status train_allgather(const train_run *r)
{
  const train_shards *s = &r->ranks.shards;
  const weir_dist *dist = &r->ranks.dist;
  weir_comm *group = NULL;
  int64_t *counts = NULL;
  weir_status status = WEIR_OK;

  for (int k = 0; k < s->n; k++) {
    if (s->along[k] == 0) {
      continue;
    }
    WEIR_TRY_GOTO(weir_grid_sub(&dist->grid, dist->comm, 1u << s->along[k], &group), done);
    const int n = weir_comm_size(group);

    WEIR_TRY_GOTO(train_agree(r, weir_alloc(n, sizeof *counts, (void **)&counts)), done);
    for (int q = 0; q < n; q++) {
      counts[q] = s->at[k][q + 1] - s->at[k][q];
    }
    WEIR_TRY_GOTO(allgather(r, k, group, counts), done);
    weir_free(&counts);
    weir_comm_close(&group);
  }
done:
  weir_free(&counts);
  weir_comm_close(&group);
  return status;
}
