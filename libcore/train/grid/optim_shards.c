/* optim_shards.c - see optim_shards.h. */
#include "train/grid/optim_shards.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "train/array_names.h"

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
  return x < lo ? lo : x > hi ? hi : x;
}

weir_status train_optim_shards_open(train_optim_shards *s, weir_optim_shard what,
                                    const weir_params *params, int rank, int ranks)
{
  const int64_t elements = weir_params_elements(params), rows = weir_params_count(params);

  if (what == WEIR_OPTIM_SHARD_NONE) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(ranks + 1, sizeof *s->at, (void **)&s->at));
  WEIR_TRY(weir_alloc(rows * (ranks + 1), sizeof *s->rows, (void **)&s->rows));
  for (int q = 0; q < ranks; q++) {
    s->at[q + 1] = s->at[q] + elements / ranks + (q < elements % ranks);
  }
  for (int64_t i = 0; i < rows; i++) {
    const weir_param_row *row = weir_params_get(params, i);

    for (int q = 0; q <= ranks; q++) {
      s->rows[i * (ranks + 1) + q] = clamp(s->at[q] - row->first, 0, row->count);
    }
  }
  s->what = what;
  s->params = params;
  s->rank = rank;
  s->ranks = ranks;
  return WEIR_OK;
}

void train_optim_shards_close(train_optim_shards *s)
{
  weir_request_destroy(&s->scatter);
  weir_request_destroy(&s->gather);
  weir_store_destroy(&s->whole);
  weir_store_destroy(&s->own);
  weir_free(&s->at);
  weir_free(&s->rows);
  s->what = WEIR_OPTIM_SHARD_NONE;
}

/* The parameters, and the best ones of this run or of an earlier one in the store. */
static const char *const params_arrays[] = {WEIR_PARAMS_FLAT, TRAIN_BEST WEIR_PARAMS_FLAT};
enum { PARAMS_ARRAYS = sizeof params_arrays / sizeof params_arrays[0] };

weir_status train_optim_shards_check(const train_optim_shards *s, const weir_store *store)
{
  for (int k = 0; k < PARAMS_ARRAYS; k++) {
    const weir_tensor *t = weir_store_find(store, params_arrays[k]);

    if (t != NULL && weir_tensor_numel(t) != s->at[s->ranks]) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "train: '%s' of this store is not complete, as after a training with "
                       "optim.shard=parameters that failed: use another store",
                       params_arrays[k]);
    }
  }
  return WEIR_OK;
}

weir_status train_optim_shards_enter(train_optim_shards *s, weir_store *store)
{
  const int64_t lo = s->at[s->rank], count = s->at[s->rank + 1] - lo;

  for (int k = 0; k < PARAMS_ARRAYS; k++) {
    if (weir_store_find(store, params_arrays[k]) != NULL) {
      WEIR_TRY(weir_store_resize(store, params_arrays[k], lo, count));
    }
  }
  s->params_sharded = true;
  return WEIR_OK;
}

weir_status train_optim_shards_leave(train_optim_shards *s, weir_store *store)
{
  for (int k = 0; k < PARAMS_ARRAYS; k++) {
    if (weir_store_find(store, params_arrays[k]) != NULL) {
      WEIR_TRY(weir_store_resize(store, params_arrays[k], -s->at[s->rank], s->at[s->ranks]));
    }
  }
  s->params_sharded = false;
  return WEIR_OK;
}

bool train_optim_sharded(const train_optim_shards *s, const char *name)
{
  const bool params =
      strcmp(name, WEIR_PARAMS_FLAT) == 0 || strcmp(name, TRAIN_BEST WEIR_PARAMS_FLAT) == 0;

  return (s->what >= WEIR_OPTIM_SHARD_STATE && strncmp(name, "optim.", 6) == 0) ||
         (s->what >= WEIR_OPTIM_SHARD_GRADIENTS && strcmp(name, TRAIN_BANK) == 0) ||
         (s->params_sharded && params);
}

void train_own_update(const train_optim_shards *s, int64_t elements, int64_t *lo, int64_t *hi)
{
  const bool sharded = s->what != WEIR_OPTIM_SHARD_NONE;

  *lo = sharded ? s->at[s->rank] : 0;
  *hi = sharded ? s->at[s->rank + 1] : elements;
}

/* Whether the plan of an update has this rank's elements of it, which the store has complete. */
static bool is_window(const train_optim_shards *s, const char *name)
{
  return strcmp(name, WEIR_PARAMS_FLAT) == 0 ||
         (strcmp(name, TRAIN_BANK) == 0 && !train_optim_sharded(s, name));
}

static weir_status view(train_optim_shards *s, const char *name, const weir_tensor *t,
                        int64_t elements)
{
  weir_tensor whole = *t, own = *t;

  if (train_optim_sharded(s, name)) {
    whole = weir_tensor_wrap(NULL, t->dtype, 1, &elements);
  } else if (is_window(s, name)) {
    const int64_t lo = s->at[s->rank], count = s->at[s->rank + 1] - lo;

    own = weir_tensor_wrap((char *)t->data + (size_t)lo * weir_dtype_size(t->dtype), t->dtype, 1,
                           &count);
  }
  WEIR_TRY(weir_store_add_view(s->whole, name, &whole));
  return weir_store_add_view(s->own, name, &own);
}

weir_status train_optim_shards_view(train_optim_shards *s, weir_store *store,
                                    const weir_params *params)
{
  if (s->what == WEIR_OPTIM_SHARD_NONE) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_store_create(&s->whole));
  WEIR_TRY(weir_store_create(&s->own));
  for (int64_t i = 0; i < weir_store_count(store); i++) {
    const char *name = weir_store_name(store, i);

    weir_tensor *t = NULL;

    WEIR_TRY(weir_store_pin(store, name, &t));
    WEIR_TRY(view(s, name, t, weir_params_elements(params)));
  }
  return WEIR_OK;
}

/* Parameters are sharded where they are updated; a gradient that stays a sum on every rank while
 * it is accumulated, where it is read. */
static bool shards_in(const train_optim_shards *s, const weir_array *array)
{
  const bool updated = array->update >= 0;

  return train_optim_sharded(s, array->name) ||
         (is_window(s, array->name) && updated == (strcmp(array->name, WEIR_PARAMS_FLAT) == 0));
}

/* ---- Gradients that are summed into shards ---- */

/* Whether the graph adds to a gradient in shards. */
static bool adds_to_shards(const train_optim_shards *s, const weir_graph *g)
{
  bool adds = false;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    adds = adds || (array->kind == WEIR_ARRAY_STORED && array->update >= 0 &&
                    s->what >= WEIR_OPTIM_SHARD_GRADIENTS && strcmp(array->name, TRAIN_BANK) == 0);
  }
  return adds;
}

/* Whether an array that a node makes has an element for every parameter. */
static bool is_flat_value(const weir_array *array, int64_t elements)
{
  return array->kind == WEIR_ARRAY_TEMPORARY && array->desc.rank == 1 &&
         array->desc.shape[0] == elements;
}

/* Whether the array is copied from others, element by element. */
static bool is_copy(const weir_graph *g, int32_t array)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op != NULL && !node->dead && node->out[0] == array) {
      return node->access.combine == WEIR_COMBINE_NONE;
    }
  }
  return false;
}

/* The row whose elements begin there, -1: none. */
static int64_t row_at(const train_optim_shards *s, int64_t first)
{
  for (int64_t i = 0; i < weir_params_count(s->params); i++) {
    if (weir_params_get(s->params, i)->first == first) {
      return i;
    }
  }
  return -1;
}

/* What is added is made in these shards from the gradients of layers, and so are these where they
 * are reordered before, so that each sum over ranks goes to the ranks of its shards alone. */
static weir_status shard_sums(const train_optim_shards *s, const weir_graph *g, weir_shard shard,
                              train_sharding *c)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    if (is_flat_value(weir_graph_get_array(g, a), s->at[s->ranks])) {
      shard.array = a;
      shard.bounds = s->at;
      WEIR_TRY(train_add_shard(c, shard));
    }
  }
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);
    const bool one = node->op != NULL && !node->dead && node->n_in == 1 && node->n_out == 1 &&
                     is_flat_value(weir_graph_get_array(g, node->out[0]), s->at[s->ranks]);

    if (!one || weir_graph_get_array(g, node->in[0])->desc.rank != 1 || !is_copy(g, node->in[0])) {
      continue;
    }
    const int64_t row = row_at(s, node->access.out[0].index[0].offset);
    const int64_t count = weir_graph_get_array(g, node->in[0])->desc.shape[0];

    if (row >= 0 && weir_params_get(s->params, row)->count == count && count < s->at[s->ranks]) {
      shard.array = node->in[0];
      shard.bounds = s->rows + row * (s->ranks + 1);
      WEIR_TRY(train_add_shard(c, shard));
    }
  }
  return WEIR_OK;
}

weir_status train_shard_optim(const train_optim_shards *s, const weir_grid *grid,
                              const weir_graph *g, train_sharding *c)
{
  weir_shard shard = {.bounds = s->at};

  if (s->what == WEIR_OPTIM_SHARD_NONE) {
    return WEIR_OK;
  }
  for (int d = grid->dims - 1; d >= 0; d--) {
    shard.also |= grid->extent[d] > 1 ? 1u << d : 0;
    shard.along = grid->extent[d] > 1 ? d : shard.along;
  }
  shard.also &= ~(1u << shard.along);
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->kind == WEIR_ARRAY_STORED && shards_in(s, array)) {
      shard.array = a;
      shard.fetched = strcmp(array->name, WEIR_PARAMS_FLAT) == 0 && array->update < 0;
      WEIR_TRY(train_add_shard(c, shard));
    }
  }
  shard.fetched = false;
  return adds_to_shards(s, g) ? shard_sums(s, g, shard, c) : WEIR_OK;
}
