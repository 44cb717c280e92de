/* exec_order.c - iteration order, index maps and scratch that the engines share. */
#include "exec/exec_priv.h"

#include <sched.h>

#include "base/weir_alloc.h"

bool exec_gathered(const weir_access *a, const weir_index *x, const weir_view *in,
                   const int64_t *iteration, int64_t *value)
{
  int64_t index[WEIR_MAX_RANK];
  double fill;

  *value = 0;
  if (x->gather == 0 || in == NULL) {
    return true;
  }
  const weir_view *view = &in[x->gather - 1];
  switch (exec_locate(a, &a->in[x->gather - 1], view->extent, NULL, iteration, index, &fill)) {
  case EXEC_IN_BOUNDS:
    *value = weir_dtype_load_int(view->dtype, weir_view_at(view, index), 0);
    return true;
  case EXEC_FILL:
    *value = (int64_t)fill;
    return true;
  case EXEC_DROPPED:
    break;
  }
  return false;
}

exec_bounds exec_locate(const weir_access *a, const weir_operand *x, const int64_t *extent,
                        const weir_view *in, const int64_t *iteration, int64_t *index, double *fill)
{
  exec_bounds bounds = EXEC_IN_BOUNDS;

  for (int d = 0; d < x->rank; d++) {
    const weir_index *map = &x->index[d];
    int64_t gathered;
    bool inside;

    if (!exec_gathered(a, map, in, iteration, &gathered)) {
      return EXEC_DROPPED;
    }
    const int64_t raw = weir_index_raw(map, a->n_dims, iteration, gathered);
    index[d] = weir_index_border(map, raw, extent[d], &inside);
    if (inside) {
      continue;
    }
    if (map->border == WEIR_BORDER_ABSENT) {
      return EXEC_DROPPED;
    }
    if (bounds == EXEC_IN_BOUNDS) {
      *fill = map->border == WEIR_BORDER_VALUE ? map->fill : 0;
      bounds = EXEC_FILL;
    }
  }
  return bounds;
}

int64_t exec_position(const weir_access *a, weir_dim_kind kind, const int64_t *iteration)
{
  uint64_t at = 0; /* unsigned: the extent of an unbounded first dimension may wrap harmlessly */

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == kind) {
      at = at * (uint64_t)(a->dim[k].hi - a->dim[k].lo) + (uint64_t)(iteration[k] - a->dim[k].lo);
    }
  }
  return (int64_t)at;
}

uint32_t exec_mask(const weir_access *a, weir_dim_kind kind)
{
  uint32_t mask = 0;

  for (int k = 0; k < a->n_dims; k++) {
    const bool same =
        a->dim[k].kind == kind || (kind == WEIR_FORWARD && a->dim[k].kind == WEIR_BACKWARD);
    mask |= same ? 1u << k : 0;
  }
  return mask;
}

bool exec_has(const weir_access *a, weir_dim_kind kind)
{
  return exec_mask(a, kind) != 0;
}

int weir_table_before(const weir_access *a, int state)
{
  int cell = state;

  for (int k = 0; k < state; k++) {
    cell += weir_dtype_is_complex(a->state[k].dtype);
  }
  return cell;
}

weir_status exec_check(const weir_access *a)
{
  if (a->maker != WEIR_MADE_BY_BODY) {
    return weir_fail(WEIR_ERR_SHAPE, "a library or call operator has no body for an engine to run");
  }
  if (exec_has(a, WEIR_REDUCED) && exec_has(a, WEIR_FORWARD)) {
    return weir_fail(WEIR_ERR_SHAPE, "a loop has reduced and sequential dimensions: split it");
  }
  return WEIR_OK;
}

weir_status exec_prepare_each(const weir_loop *const *loops, int32_t n,
                              const weir_engine_opts *opts, exec_prepare_one *one,
                              void (*release)(void *context), void **contexts)
{
  weir_status status = WEIR_OK;
  int32_t k = 0;

  for (; k < n; k++) {
    WEIR_TRY_GOTO(one(loops[k], opts, &contexts[k]), failed);
  }
  return WEIR_OK;
failed:
  while (k-- > 0) {
    release(contexts[k]);
    contexts[k] = NULL;
  }
  return status;
}

bool exec_has_points(const weir_access *a, const weir_box *box)
{
  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind != WEIR_REDUCED && box->lo[k] >= box->hi[k]) {
      return false;
    }
  }
  return true;
}

void exec_first(const weir_access *a, const weir_box *box, int64_t *iteration)
{
  for (int k = 0; k < a->n_dims; k++) {
    iteration[k] = a->dim[k].kind == WEIR_BACKWARD ? box->hi[k] - 1 : box->lo[k];
  }
}

bool exec_next(const weir_access *a, const weir_box *box, uint32_t mask, int64_t *iteration)
{
  for (int k = a->n_dims - 1; k >= 0; k--) {
    if ((mask >> k & 1u) == 0) {
      continue;
    }
    if (a->dim[k].kind == WEIR_BACKWARD) {
      if (--iteration[k] >= box->lo[k]) {
        return true;
      }
      iteration[k] = box->hi[k] - 1;
    } else {
      if (++iteration[k] < box->hi[k]) {
        return true;
      }
      iteration[k] = box->lo[k];
    }
  }
  return false;
}

weir_status exec_pool_init(exec_pool *p, int n, size_t bytes)
{
  void *busy, *memory;

  *p = (exec_pool){0};
  n = n < 1 ? 1 : n;
  bytes = (bytes + 63) / 64 * 64;
  WEIR_TRY(weir_alloc(n, sizeof *p->busy, &busy));
  const weir_status status = weir_alloc(n, bytes, &memory);
  if (status != WEIR_OK) {
    weir_free(&busy);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *p = (exec_pool){.n = n, .bytes = bytes, .busy = busy, .memory = memory};
  return WEIR_OK;
}

void exec_pool_fini(exec_pool *p)
{
  weir_free(&p->busy);
  weir_free(&p->memory);
  p->n = 0;
}

void *exec_pool_take(exec_pool *p)
{
  for (;;) {
    for (int i = 0; i < p->n; i++) {
      int idle = 0;
      if (atomic_compare_exchange_strong_explicit(&p->busy[i], &idle, 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
        return p->memory + (size_t)i * p->bytes;
      }
    }
    sched_yield();
  }
}

void exec_pool_give(exec_pool *p, const void *block)
{
  const size_t i = (size_t)((const char *)block - p->memory) / p->bytes;

  atomic_store_explicit(&p->busy[i], 0, memory_order_release);
}
