/* rank_arrays.c - see rank_arrays.h. */
#include "train/grid/rank_arrays.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "train/array_names.h"
#include "train/grid/ranks.h"
#include "train/state.h"

/* ---- From rank 0 ---- */

static weir_status receive(weir_comm *c, const weir_tensor *t, int64_t *counts)
{
  weir_request *request = NULL;

  counts[0] = weir_tensor_numel(t);
  WEIR_TRY(weir_allgather_create(c, "arrays of scalars", weir_dtype_size(t->dtype), t->data, counts,
                                 &request));
  WEIR_TRY(weir_request_run_once(&request));
  return WEIR_OK;
}

weir_status train_receive_array(train_run *r, const char *name)
{
  weir_comm *c = r->ranks.all;
  void *counts = NULL;
  weir_tensor *t = NULL;
  weir_status status = WEIR_OK;

  status = weir_alloc(weir_comm_size(c), sizeof(int64_t), &counts);
  status = status == WEIR_OK ? weir_store_write(r->store, name, &t) : status;
  WEIR_TRY_GOTO(train_agree_all(r, status), done);
  WEIR_TRY_GOTO(receive(c, t, counts), done);
done:
  weir_free(&counts);
  return status;
}

weir_status train_receive(train_run *r)
{
  for (int64_t i = 0; r->ranks.all != NULL && i < weir_store_count(r->store); i++) {
    const char *name = weir_store_name(r->store, i);

    if (!train_optim_sharded(&r->ranks.optim, name) &&
        (train_is_network(name) || train_is_own(r, name))) {
      WEIR_TRY(train_receive_array(r, name));
    }
  }
  return WEIR_OK;
}

/* ---- Comparison ---- */

/* Memory that ranks have in common: an array of the network, or this rank's shard of one. */
typedef struct shared {
  const char *name;
  const void *data;
  size_t bytes;
  int along; /* dimension of the grid that it is sharded along; 0: replicated */
} shared;

/* Fills `out`, which has space for all arrays and shards; *count: how many. Of parameters that each
 * rank has a shard of its own of, none has a twin. */
static weir_status list_shared(const train_run *r, shared *out, int64_t *count)
{
  const train_shards *s = &r->ranks.shards;
  int64_t n = 0;

  for (int64_t i = 0; i < r->n_arrays; i++) {
    const bool whole = strcmp(r->array[i].name, WEIR_PARAMS_FLAT) != 0 || s->n == 0;
    const weir_tensor *t = NULL;

    if (train_optim_sharded(&r->ranks.optim, r->array[i].name)) {
      continue;
    }
    WEIR_TRY(weir_store_read(r->store, r->array[i].name, &t));
    const size_t size = weir_dtype_size(t->dtype);

    if (whole) {
      out[n++] = (shared){r->array[i].name, t->data, (size_t)weir_tensor_numel(t) * size, 0};
    }
    for (int k = 0; k < s->n && !whole; k++) {
      int64_t lo, hi;

      train_own_shard(s, r->ranks.coords, k, &lo, &hi);
      out[n++] =
          (shared){r->array[i].name, (char *)t->data + (size_t)(s->slice[k].first + lo) * size,
                   (size_t)(hi - lo) * size, s->along[k]};
    }
  }
  *count = n;
  return WEIR_OK;
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
  const int ranks = weir_comm_size(r->ranks.all);
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
  weir_comm *c = r->ranks.all;
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
  shared *list = memory;
  int64_t n = 0;

  status = status == WEIR_OK ? list_shared(r, list, &n) : status;
  WEIR_TRY_GOTO(train_agree_all(r, status), done);

  for (int64_t i = 0; i < n; i++) {
    weir_sha256(list[i].bytes > 0 ? list[i].data : "", list[i].bytes, one);
    memcpy((char *)mine + i * TRAIN_HEX, one, TRAIN_HEX);
  }
  WEIR_TRY_GOTO(weir_comm_gather(c, mine, n * TRAIN_HEX, &all, &bytes), done);
  WEIR_TRY_GOTO(train_agree_all(r, all != NULL ? find_other(r, list, n, all) : WEIR_OK), done);
done:
  weir_free(&memory);
  weir_free(&mine);
  weir_free(&all);
  return status;
}

/* ---- Shards ---- */

static weir_status allgather(const train_run *r, int k, weir_comm *group, const int64_t *counts)
{
  const train_shards *s = &r->ranks.shards;

  for (int64_t i = 0; i < weir_store_count(r->store); i++) {
    const char *name = weir_store_name(r->store, i);
    weir_request *request = NULL;
    weir_tensor *t = NULL;
    const bool used =
        train_is_network(name) || train_is_own(r, name) || strcmp(name, TRAIN_BANK) == 0;

    if (!used || !train_is_flat(name, weir_store_find(r->store, name), r->params)) {
      continue;
    }
    WEIR_TRY(weir_store_write(r->store, name, &t));
    char *const slice = (char *)t->data + (size_t)s->slice[k].first * weir_dtype_size(t->dtype);

    WEIR_TRY(weir_allgather_create(group, "weight shards", weir_dtype_size(t->dtype), slice, counts,
                                   &request));
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
