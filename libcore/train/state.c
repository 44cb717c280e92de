/* state.c - arrays of a run in the store, and copies of the network. */
#include "train/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "train/array_names.h"
#include "train/grid/optim_moves.h"
#include "train/options.h"
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
  for (int i = 0; i < TRAIN_GRAPHS; i++) {
    if (strcmp(array, train_digests[i]) == 0) {
      return true;
    }
  }

  if (strcmp(array, TRAIN_MODEL_SEED) == 0) {
    return r->cfg->models.seeds.count > 0;
  }
  if (strcmp(array, TRAIN_INITIAL) == 0) {
    return train_is_fine_tuning(r->cfg);
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
    if (r->array[i].best != NULL && strcmp(r->array[i].best, array) == 0) {
      return true;
    }
  }
  return false;
}

/* Adds an array that the store has not; one of an earlier run stays as it is. */
static weir_status need(weir_store *s, const char *name, weir_dtype dtype, int rank,
                        const int64_t *shape)
{
  return weir_store_find(s, name) != NULL ? WEIR_OK : weir_store_add(s, name, dtype, rank, shape);
}

/* ---- Numbers ---- */

static weir_status open_numbers(train_run *r)
{
  train_state *s = &r->state;
  weir_tensor *t = NULL;

#define X(name, type, dtype)                                \
  WEIR_TRY(need(r->store, "train." #name, dtype, 0, NULL)); \
  WEIR_TRY(weir_store_pin(r->store, "train." #name, &t));   \
  s->name = t->data;
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
  if (r->cfg->models.seeds.count > 0) {
    WEIR_TRY(need(r->store, TRAIN_MODEL_SEED, WEIR_I64, 0, NULL));
    WEIR_TRY(weir_store_write(r->store, TRAIN_MODEL_SEED, &t));
    *(int64_t *)t->data = r->seed;
  }
  return WEIR_OK;
}

/* ---- The network's arrays and their copies ---- */

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

static weir_status add_best(train_run *r, train_array *a)
{
  const weir_tensor *t = weir_store_find(r->store, a->name);
  char copy[256];

  (void)snprintf(copy, sizeof copy, "%s%s", TRAIN_BEST, a->name);
  WEIR_TRY(need(r->store, copy, t->dtype, t->rank, t->shape));
  a->best = name_in(r->store, copy);
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

    *a = (train_array){.name = name};
    if (best) {
      WEIR_TRY(add_best(r, a));
    }
  }
  r->keeps = r->cfg->check_nan || train_has_slot(r);
  return train_keep_before(r); /* takes the memory, which then does not fail in a step */
}

weir_status train_keep_before(train_run *r)
{
  for (int64_t i = 0; r->keeps && i < r->n_arrays; i++) {
    WEIR_TRY(weir_store_keep(r->store, r->array[i].name));
  }
  return WEIR_OK;
}

weir_status train_take_before(train_run *r)
{
  for (int64_t i = 0; r->keeps && i < r->n_arrays; i++) {
    WEIR_TRY(weir_store_restore(r->store, r->array[i].name));
  }
  return WEIR_OK;
}

weir_status train_keep_best(train_run *r)
{
  for (int64_t i = 0; i < r->n_arrays; i++) {
    if (r->array[i].best != NULL) {
      WEIR_TRY(weir_store_copy(r->store, r->array[i].best, r->array[i].name));
    }
  }
  return WEIR_OK;
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

/* Adds an array with an element for every parameter, or for those that this rank updates. */
static weir_status need_flat(train_run *r, const char *name)
{
  int64_t lo = 0, hi = weir_params_elements(r->params);

  if (train_optim_sharded(&r->ranks.optim, name)) {
    train_own_update(&r->ranks.optim, hi, &lo, &hi);
  }
  const int64_t count = hi - lo;

  WEIR_TRY(need(r->store, name, weir_params_dtype(r->params), 1, &count));
  if (weir_tensor_numel(weir_store_find(r->store, name)) != count) {
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
  WEIR_TRY(weir_store_clear(r->store, bank));
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
    r->averages = true;
  }
  return WEIR_OK;
}

static weir_status open_banks(train_run *r)
{
  WEIR_TRY(train_add_slices(r, WEIR_PARAMS_FLAT, ""));
  if (r->n_arrays > 0 && r->array[0].best != NULL) { /* all have one, or none */
    WEIR_TRY(train_add_slices(r, TRAIN_BEST WEIR_PARAMS_FLAT, TRAIN_BEST));
  }
  WEIR_TRY(open_optim(r));
  if (train_has_slot(r)) {
    WEIR_TRY(need_flat(r, TRAIN_BANK));
  }
  return train_pin_exchanged(r);
}

/* The parameters that this rank updates, whose average it has: all that are there, or some. */
static uint8_t *own_params(const train_run *r, const weir_tensor *bank)
{
  int64_t lo = 0, hi;

  if (!r->ranks.optim.params_sharded) {
    train_own_update(&r->ranks.optim, weir_params_elements(r->params), &lo, &hi);
  }
  return (uint8_t *)bank->data + (size_t)lo * weir_dtype_size(bank->dtype);
}

weir_status train_take_average(train_run *r)
{
  const weir_tensor *average = NULL;
  weir_tensor *bank = NULL;

  if (!r->averages) {
    return WEIR_OK;
  }
  if (r->ranks.optim.what == WEIR_OPTIM_SHARD_NONE) {
    WEIR_TRY(weir_store_copy(r->store, WEIR_PARAMS_FLAT, WEIR_OPTIM_AVERAGE));
    return WEIR_OK;
  }
  WEIR_TRY(weir_store_write(r->store, WEIR_PARAMS_FLAT, &bank));
  WEIR_TRY(weir_store_read(r->store, WEIR_OPTIM_AVERAGE, &average));
  if (weir_tensor_bytes(average) > 0) {
    memcpy(own_params(r, bank), average->data, weir_tensor_bytes(average));
  }
  return train_gather_params(r);
}

weir_status train_swap_average(train_run *r)
{
  weir_tensor *bank = NULL, *average = NULL;

  if (!r->averages) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_store_write(r->store, WEIR_PARAMS_FLAT, &bank));
  WEIR_TRY(weir_store_write(r->store, WEIR_OPTIM_AVERAGE, &average));
  uint8_t *const a = own_params(r, bank), *const b = average->data;

  for (size_t i = 0; i < weir_tensor_bytes(average); i++) {
    const uint8_t x = a[i];

    a[i] = b[i];
    b[i] = x;
  }
  return train_gather_params(r);
}

/* Digests of the network with its loss, and of all of an update: rule, options, clipping. */
static weir_status open_digests(train_run *r)
{
  static const train_kind kinds[] = {[TRAIN_NETWORK] = TRAIN_LOSS, [TRAIN_UPDATE] = TRAIN_STEP};

  for (int i = 0; i < TRAIN_GRAPHS; i++) {
    weir_graph *g = NULL;
    weir_tensor *t = NULL;

    WEIR_TRY(need(r->store, train_digests[i], WEIR_U8, 1, (int64_t[]){TRAIN_HEX}));
    WEIR_TRY(train_build(&r->graph, kinds[i], r->cfg->batch, &g));
    const weir_status status = weir_graph_digest(g, r->digest[i]);

    weir_graph_destroy(&g);
    WEIR_TRY(status);
    WEIR_TRY(weir_store_write(r->store, train_digests[i], &t));
    memcpy(t->data, r->digest[i], TRAIN_HEX);
  }
  return WEIR_OK;
}

static weir_status open_initial(train_run *r)
{
  weir_tensor *t = NULL;
  int64_t bytes = 0;

  if (!train_is_fine_tuning(r->cfg)) {
    return WEIR_OK;
  }
  if (!weir_file_sha256(r->cfg->initial_weights, r->initial, &bytes)) {
    return weir_fail(WEIR_ERR_DATA, "train.initial_weights: %s cannot be read",
                     r->cfg->initial_weights);
  }
  WEIR_TRY(need(r->store, TRAIN_INITIAL, WEIR_U8, 1, (int64_t[]){TRAIN_HEX}));
  WEIR_TRY(weir_store_write(r->store, TRAIN_INITIAL, &t));
  memcpy(t->data, r->initial, TRAIN_HEX);
  return WEIR_OK;
}

weir_status train_state_open(train_run *r)
{
  WEIR_TRY(open_arrays(r));
  WEIR_TRY(open_banks(r));
  WEIR_TRY(train_optim_shards_view(&r->ranks.optim, r->store, r->params));
  r->graph.store = r->ranks.optim.whole != NULL ? r->ranks.optim.whole : r->store;
  WEIR_TRY(open_digests(r));
  WEIR_TRY(open_initial(r));
  WEIR_TRY(open_numbers(r));
  return train_shards_view(&r->ranks.shards, r->ranks.coords, r->store, r->params);
}

void train_state_close(train_run *r)
{
  for (int64_t i = 0; i < r->n_slices; i++) {
    weir_free(&r->slice_name[i]);
  }
  weir_free(&r->array);
  weir_free(&r->slice);
  weir_free(&r->slice_name);
}
