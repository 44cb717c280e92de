/* shards.c - see shards.h. The arrays of a run are complete in its store; plans see the shards of
 * their rank. */
#include "train/grid/shards.h"

#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "train/array_names.h"

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

bool train_is_flat(const char *name, const weir_tensor *t, const weir_params *params)
{
  const bool flat = strcmp(name, WEIR_PARAMS_FLAT) == 0 || strcmp(name, TRAIN_BANK) == 0 ||
                    strcmp(name, TRAIN_BEST WEIR_PARAMS_FLAT) == 0 ||
                    strncmp(name, "optim.", 6) == 0;

  return flat && weir_tensor_numel(t) == weir_params_elements(params);
}

void train_own_shard(const train_shards *s, const int coords[WEIR_GRID_DIMS], int slice,
                     int64_t *lo, int64_t *hi)
{
  const int q = coords[s->along[slice]];

  *lo = s->along[slice] > 0 ? s->at[slice][q] : 0;
  *hi = s->along[slice] > 0 ? s->at[slice][q + 1] : s->slice[slice].count;
}

/* Elements [lo, hi) of slice k of a flat buffer. */
static weir_tensor window(const weir_tensor *bank, const weir_flat_slice *slice, int64_t lo,
                          int64_t hi)
{
  const int64_t count = hi - lo;
  char *at = (char *)bank->data + (size_t)(slice->first + lo) * weir_dtype_size(bank->dtype);

  return weir_tensor_wrap(at, bank->dtype, 1, &count);
}

static weir_status view_bank(train_shards *s, const int coords[WEIR_GRID_DIMS], const char *bank,
                             const weir_tensor *t)
{
  for (int k = 0; k < s->n; k++) {
    char name[256];
    int64_t lo, hi;

    train_own_shard(s, coords, k, &lo, &hi);
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

weir_status train_shards_view(train_shards *s, const int coords[WEIR_GRID_DIMS], weir_store *store,
                              const weir_params *params)
{
  if (s->n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_store_create(&s->whole));
  WEIR_TRY(weir_store_create(&s->own));
  for (int64_t i = 0; i < weir_store_count(store); i++) {
    const char *name = weir_store_name(store, i);
    weir_tensor *t = NULL;

    WEIR_TRY(weir_store_pin(store, name, &t));
    if (train_is_flat(name, t, params)) {
      WEIR_TRY(view_bank(s, coords, name, t));
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
      WEIR_TRY(
          train_add_shard(c, (weir_shard){.array = a, .along = s->along[k], .bounds = s->at[k]}));
    }
  }
  return WEIR_OK;
}

/* ---- Sums of gradients that ranks keep ---- */

unsigned train_summed_over(const train_shards *s, const weir_grid *grid, int slice)
{
  unsigned dims = 0;

  for (int d = 0; d < grid->dims; d++) {
    const bool sharded = slice >= 0 && d > 0 && s->along[slice] == d;

    dims |= grid->extent[d] > 1 && !sharded ? 1u << d : 0;
  }
  return dims;
}

weir_status train_leave_sums(const train_shards *s, const weir_grid *grid, const weir_graph *g,
                             train_sharding *c)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->kind != WEIR_ARRAY_STORED || array->update < 0 ||
        strncmp(array->name, TRAIN_BANK, sizeof TRAIN_BANK - 1) != 0) {
      continue;
    }
    const unsigned dims = train_summed_over(s, grid, train_slice_of(s, array->name));
    int first = 0;

    while (first < WEIR_GRID_DIMS && (dims >> first & 1) == 0) {
      first++;
    }
    if (dims != 0) {
      WEIR_TRY(train_add_shard(c, (weir_shard){.array = a,
                                               .dim = WEIR_SHARD_SUM,
                                               .along = first,
                                               .also = dims & ~(1u << first)}));
    }
  }
  return WEIR_OK;
}
