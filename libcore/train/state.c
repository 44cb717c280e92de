/* state.c - arrays of a run in the store, and copies of the network. */
#include "train/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "train/array_names.h"
#include "train/grid/optim_moves.h"
#include "train/step/exchange.h"

bool train_is_network(const char *array)
{
  return strncmp(array, "train.", 6) != 0 && strncmp(array, "optim.", 6) != 0 &&
         strncmp(array, TRAIN_BEST, sizeof TRAIN_BEST - 1) != 0;
}

const char *const train_digests[] = {
    [TRAIN_NETWORK] = "train.network", [TRAIN_UPDATE] = "train.update"};

bool train_is_own(const train_run *r, const char *array)
{
  const weir_tensor *t = weir_store_get(r->store, array);

  for (int i = 0; i < TRAIN_GRAPHS; i++) {
    if (strcmp(array, train_digests[i]) == 0) {
      return true;
    }
  }

#define X(name, type, dtype)                \
  if (strcmp(array, "train." #name) == 0) { \
    return true;                            \
  }
  TRAIN_STATE_LIST(X)
#undef X
  for (int64_t i = 0; i < r->n_slices; i++) {
    if (strcmp(r->slice[i].array, array) == 0) {
      return true;
    }
  }
  for (int64_t i = 0; i < r->n_arrays; i++) {
    if (r->array[i].best == t) {
      return true;
    }
  }
  return false;
}

/* Adds an array that the store has not; one of an earlier run stays as it is. */
static weir_status need(weir_store *s, const char *name, weir_dtype dtype, int rank,
                        const int64_t *shape)
{
  return weir_store_get(s, name) != NULL ? WEIR_OK : weir_store_add(s, name, dtype, rank, shape);
}

/* ---- Numbers ---- */

static weir_status open_numbers(train_run *r)
{
  train_state *s = &r->state;

#define X(name, type, dtype)                                \
  WEIR_TRY(need(r->store, "train." #name, dtype, 0, NULL)); \
  s->name = weir_store_get(r->store, "train." #name)->data;
  TRAIN_STATE_LIST(X)
#undef X
  *s->step = *s->epoch = *s->position = 0;
  *s->seed = r->cfg->seed;
  *s->samples = r->task->n_train;
  *s->batch = r->per_step;
  *s->shuffle = r->cfg->shuffle;
  *s->drop_last = r->cfg->drop_last;
  *s->rate = NAN;
  *s->loss_sum = 0;
  *s->loss = *s->valid_loss = NAN;
  *s->valid_step = -1;
  *s->best_loss = INFINITY;
  *s->target = INFINITY;
  *s->target_of = -1;
  *s->best_epoch = *s->waited = 0;
  return WEIR_OK;
}

/* ---- The network's arrays and their copies ---- */

static weir_status add_best(train_run *r, train_array *a, const char *name)
{
  char copy[256];

  (void)snprintf(copy, sizeof copy, "%s%s", TRAIN_BEST, name);
  WEIR_TRY(need(r->store, copy, a->tensor->dtype, a->tensor->rank, a->tensor->shape));
  a->best = weir_store_get(r->store, copy);
  return WEIR_OK;
}

static weir_status open_arrays(train_run *r)
{
  const bool best = r->cfg->keep_best && r->task->n_valid > 0;
  const int64_t n = weir_store_count(r->store);

  for (int64_t i = 0; i < n; i++) {
    const char *name = weir_store_name(r->store, i);

    if (!train_is_network(name)) {
      continue;
    }
    WEIR_TRY(weir_reserve(&r->array, &r->array_capacity, r->n_arrays + 1, sizeof *r->array));
    train_array *a = &r->array[r->n_arrays++];

    *a = (train_array){.name = name, .tensor = weir_store_get(r->store, name)};
    if (best) {
      WEIR_TRY(add_best(r, a, name));
    }
    if (r->cfg->check_nan || train_has_slot(r)) {
      WEIR_TRY(weir_alloc((int64_t)weir_tensor_bytes(a->tensor), 1, &a->before));
    }
  }
  return WEIR_OK;
}

void train_keep_before(train_run *r)
{
  for (int64_t i = 0; i < r->n_arrays; i++) {
    if (r->array[i].before != NULL) {
      memcpy(r->array[i].before, r->array[i].tensor->data, weir_tensor_bytes(r->array[i].tensor));
    }
  }
}

void train_take_before(train_run *r)
{
  for (int64_t i = 0; i < r->n_arrays; i++) {
    if (r->array[i].before != NULL) {
      memcpy(r->array[i].tensor->data, r->array[i].before, weir_tensor_bytes(r->array[i].tensor));
    }
  }
}

void train_keep_best(train_run *r)
{
  for (int64_t i = 0; i < r->n_arrays; i++) {
    if (r->array[i].best != NULL && weir_tensor_bytes(r->array[i].best) > 0) {
      memcpy(r->array[i].best->data, r->array[i].tensor->data, weir_tensor_bytes(r->array[i].best));
    }
  }
}

/* ---- Banks ---- */

weir_status train_add_slices(train_run *r, const char *array, const char *prefix)
{
  char name[2 * WEIR_NET_NAME];

  for (int64_t i = 0; i < weir_params_count(r->params); i++) {
    const weir_param_row *row = weir_params_get(r->params, i);
    weir_checkpoint_slice slice = {.array = array, .rank = row->rank, .first = row->first};

    memcpy(slice.shape, row->shape, sizeof slice.shape);
    (void)snprintf(name, sizeof name, "%s%s", prefix, row->name);
    WEIR_TRY(weir_reserve(&r->slice, &r->slice_capacity, r->n_slices + 1, sizeof *r->slice));
    WEIR_TRY(
        weir_reserve(&r->slice_name, &r->name_capacity, r->n_slices + 1, sizeof *r->slice_name));
    WEIR_TRY(weir_strdup(name, &r->slice_name[r->n_slices]));
    slice.name = r->slice_name[r->n_slices];
    r->slice[r->n_slices++] = slice;
  }
  return WEIR_OK;
}

/* The store's own copy of an array's name, which lives as long as it does. */
static const char *name_in(const weir_store *s, const char *name)
{
  for (int64_t i = 0; i < weir_store_count(s); i++) {
    if (strcmp(weir_store_name(s, i), name) == 0) {
      return weir_store_name(s, i);
    }
  }
  return NULL;
}

/* Adds an array with an element for every parameter, or for those that this rank updates. */
static weir_status need_flat(train_run *r, const char *name)
{
  int64_t lo = 0, hi = weir_params_elements(r->params);

  if (train_optim_sharded(&r->ranks.optim, name)) {
    train_own_update(&r->ranks.optim, hi, &lo, &hi);
  }
  const int64_t count = hi - lo;

  WEIR_TRY(need(r->store, name, weir_params_dtype(r->params), 1, &count));
  if (weir_tensor_numel(weir_store_get(r->store, name)) != count) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train: '%s' of an earlier run in this store has other shards: use the same "
                     "ranks and optim.shard, or another store",
                     name);
  }
  return WEIR_OK;
}

/* A bank of the optimiser, "optim.m", zero whatever an earlier run left in it, as slices
 * "optim.m.<row>". */
static weir_status add_bank(train_run *r, const char *bank)
{
  char prefix[80];

  WEIR_TRY(need_flat(r, bank));
  weir_tensor *t = weir_store_get(r->store, bank);
  const int64_t count = weir_tensor_numel(t);

  if (count > 0) {
    memset(t->data, 0, weir_tensor_bytes(t));
  }
  (void)snprintf(prefix, sizeof prefix, "%s.", bank);
  return train_add_slices(r, name_in(r->store, bank), prefix);
}

static weir_status open_optim(train_run *r)
{
  const weir_optim_cfg *cfg = &r->cfg->optim;
  const weir_rule_desc *rule = NULL;
  char name[64];

  WEIR_TRY(weir_optim_rule(cfg, &rule));
  r->rule = rule->name;
  for (int i = 0; i < rule->n_state; i++) {
    (void)snprintf(name, sizeof name, "optim.%s", rule->state[i]);
    WEIR_TRY(add_bank(r, name));
  }
  if (cfg->average.decay > 0) {
    WEIR_TRY(add_bank(r, WEIR_OPTIM_AVERAGE));
    r->average = weir_store_get(r->store, WEIR_OPTIM_AVERAGE);
  }
  return WEIR_OK;
}

static weir_status open_banks(train_run *r)
{
  r->bank = weir_store_get(r->store, WEIR_PARAMS_FLAT);
  WEIR_TRY(train_add_slices(r, WEIR_PARAMS_FLAT, ""));
  if (r->n_arrays > 0 && r->array[0].best != NULL) { /* all have one, or none */
    WEIR_TRY(train_add_slices(r, TRAIN_BEST WEIR_PARAMS_FLAT, TRAIN_BEST));
  }
  WEIR_TRY(open_optim(r));
  if (train_has_slot(r)) {
    WEIR_TRY(need_flat(r, TRAIN_BANK));
  }
  return WEIR_OK;
}

/* The parameters that this rank updates, whose average it has. */
static uint8_t *own_params(const train_run *r)
{
  int64_t lo, hi;

  train_own_update(&r->ranks.optim, weir_params_elements(r->params), &lo, &hi);
  return (uint8_t *)r->bank->data + (size_t)lo * weir_dtype_size(r->bank->dtype);
}

weir_status train_take_average(train_run *r)
{
  const size_t bytes = r->average != NULL ? weir_tensor_bytes(r->average) : 0;

  if (r->average == NULL) {
    return WEIR_OK;
  }
  if (bytes > 0) {
    memcpy(own_params(r), r->average->data, bytes);
  }
  return train_gather_params(r);
}

weir_status train_swap_average(train_run *r)
{
  const size_t bytes = r->average != NULL ? weir_tensor_bytes(r->average) : 0;
  uint8_t *a = own_params(r), *b = r->average != NULL ? r->average->data : NULL;

  for (size_t i = 0; i < bytes; i++) {
    const uint8_t x = a[i];

    a[i] = b[i];
    b[i] = x;
  }
  return r->average != NULL ? train_gather_params(r) : WEIR_OK;
}

/* Digests of the network with its loss, and of all of an update: rule, options, clipping. */
static weir_status open_digests(train_run *r)
{
  static const train_kind kinds[] = {[TRAIN_NETWORK] = TRAIN_LOSS, [TRAIN_UPDATE] = TRAIN_STEP};

  for (int i = 0; i < TRAIN_GRAPHS; i++) {
    const bool sharded = r->ranks.optim.what != WEIR_OPTIM_SHARD_NONE;
    train_graph t = r->graph;
    weir_graph *g = NULL;

    t.store = sharded ? r->ranks.optim.whole : t.store;
    WEIR_TRY(need(r->store, train_digests[i], WEIR_U8, 1, (int64_t[]){TRAIN_HEX}));
    WEIR_TRY(train_build(&t, kinds[i], r->cfg->batch, &g));
    const weir_status status = weir_graph_digest(g, r->digest[i]);

    weir_graph_destroy(&g);
    WEIR_TRY(status);
    memcpy(weir_store_get(r->store, train_digests[i])->data, r->digest[i], TRAIN_HEX);
  }
  return WEIR_OK;
}

weir_status train_state_open(train_run *r)
{
  WEIR_TRY(open_arrays(r));
  WEIR_TRY(open_banks(r));
  WEIR_TRY(train_optim_shards_view(&r->ranks.optim, r->store, r->params));
  WEIR_TRY(open_digests(r));
  WEIR_TRY(open_numbers(r));
  return train_shards_view(&r->ranks.shards, r->ranks.coords, r->store, r->params);
}

void train_state_close(train_run *r)
{
  for (int64_t i = 0; i < r->n_arrays; i++) {
    weir_free(&r->array[i].before);
  }
  for (int64_t i = 0; i < r->n_slices; i++) {
    weir_free(&r->slice_name[i]);
  }
  weir_free(&r->array);
  weir_free(&r->slice);
  weir_free(&r->slice_name);
}
