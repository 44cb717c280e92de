/* backend_window.c - windows of arrays with time: the device's side, and slots that one side has
 * and the other lacks. */
#include <string.h>

#include "exec/backend/device/backend.h"

/* Slots of the device's side for one of the host's: what is kept moves into memory that it does not
 * overlap. */
enum { SIDES = 2 };

/* Slots that a chunk as long as the bounds adds. */
static int64_t chunk_slots(const weir_plan *p, int32_t array)
{
  const weir_rate *r = &p->rates[array];

  return r->base >= 0 && p->feeds[r->base] > 0 ? weir_rate_slots(r, p->feeds[r->base], false)
         : p->bounds[array] > 0                ? p->bounds[array]
                                               : 1;
}

void exec_backend_windows_size(weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const exec_array *e = &p->arrays[a];
    exec_side *side = &p->backend->sides[a];

    if (e->time >= 0) {
      side->capacity = SIDES * e->capacity;
      side->bytes *= chunk_slots(p, a);
    }
  }
}

void exec_backend_windows_reset(weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    exec_side *side = &p->backend->sides[a];

    if (p->arrays[a].time >= 0) {
      side->origin = side->end = side->keep = side->device_front = side->host_front = 0;
      side->on_device = side->on_host = true;
    }
  }
}

void exec_backend_fed(weir_plan *p, int32_t array)
{
  p->backend->sides[array].on_host = true;
  p->backend->sides[array].on_device = false;
}

void exec_backend_window_keep(weir_plan *p, int32_t array, int64_t slot)
{
  exec_side *side = &p->backend->sides[array];

  side->keep = slot > side->keep ? slot : side->keep;
}

weir_status exec_backend_windows_fetch(weir_plan *p)
{
  struct exec_backend *b = p->backend;
  int32_t n = 0;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (p->arrays[a].time >= 0 && !b->sides[a].on_host) {
      b->sides[a].on_host = true;
      b->moving[n++] = a;
    }
  }
  WEIR_TRY(exec_backend_fetch(p, n));
  return WEIR_OK;
}

void exec_backend_window_skip(weir_plan *p, int32_t array, int64_t keep)
{
  exec_side *side = &p->backend->sides[array];

  side->origin = side->end = side->keep = side->device_front = keep;
  side->host_front = p->arrays[array].front;
  side->on_host = true;
  side->on_device = false;
}

static int64_t size_of(const exec_array *e)
{
  return (int64_t)weir_dtype_size(e->view.dtype);
}

static char *on_device(const exec_array *e, const exec_side *side, int64_t row, int64_t slot)
{
  return side->device + size_of(e) * (row * side->capacity + slot - side->origin);
}

static char *on_host(const exec_array *e, int64_t row, int64_t slot)
{
  return (char *)e->view.data + size_of(e) * (row * e->capacity + slot - e->view.origin[e->time]);
}

weir_status exec_backend_window_extend(weir_plan *p, int32_t array, int64_t to)
{
  struct exec_backend *b = p->backend;
  const exec_array *e = &p->arrays[array];
  exec_side *side = &b->sides[array];

  if (to - side->keep > e->capacity) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "plan: an array of the stream would keep %lld slots, more than its window of "
                     "%lld: feed all inputs to the same time",
                     (long long)(to - side->keep), (long long)e->capacity);
  }
  if (to - side->origin > side->capacity) {
    const int64_t slots = side->end - side->keep;

    for (int64_t row = 0; row < e->rows && slots > 0; row++) {
      WEIR_TRY(weir_device_copy(b->work, on_device(e, side, row, side->origin),
                                on_device(e, side, row, side->keep), slots * size_of(e)));
      b->ahead = true;
    }
    side->origin = side->keep;
  }
  side->end = to > side->end ? to : side->end;
  return WEIR_OK;
}

/* Inputs are in memory of their own: their slots go through staging, row after row, which the host
 * leaves alone from the first copy on. */
weir_status exec_backend_window_up(weir_plan *p, int32_t array)
{
  struct exec_backend *b = p->backend;
  const exec_array *e = &p->arrays[array];
  exec_side *side = &b->sides[array];
  const int64_t from = side->device_front > side->keep ? side->device_front : side->keep;
  const int64_t bytes = (e->front - from) * size_of(e);

  const bool apart = e->view.data != side->staging;

  for (int64_t row = 0; row < e->rows && bytes > 0 && apart; row++) {
    memcpy(side->staging + row * bytes, on_host(e, row, from), (size_t)bytes);
  }
  for (int64_t row = 0; row < e->rows && bytes > 0; row++) {
    const char *at = apart ? side->staging + row * bytes : on_host(e, row, from);

    WEIR_TRY(weir_device_copy(b->copies, on_device(e, side, row, from), at, bytes));
  }
  side->device_front = e->front;
  return WEIR_OK;
}

weir_status exec_backend_window_down(weir_plan *p, int32_t array)
{
  struct exec_backend *b = p->backend;
  const exec_array *e = &p->arrays[array];
  exec_side *side = &b->sides[array];
  const int64_t from = side->host_front > side->keep ? side->host_front : side->keep;
  const int64_t bytes = (e->front - from) * size_of(e);

  for (int64_t row = 0; row < e->rows && bytes > 0; row++) {
    WEIR_TRY(
        weir_device_copy(b->copies, on_host(e, row, from), on_device(e, side, row, from), bytes));
  }
  side->host_front = e->front;
  return WEIR_OK;
}

weir_view exec_backend_view(const weir_plan *p, int32_t array)
{
  const exec_array *e = &p->arrays[array];
  const exec_side *side = &p->backend->sides[array];
  weir_view v = e->view;

  v.data = side->device;
  for (int d = 0; d < v.rank && e->time >= 0; d++) {
    v.origin[d] = d == e->time ? side->origin : v.origin[d];
    v.stride[d] = d == e->time ? 1 : v.stride[d] / e->capacity * side->capacity;
  }
  return v;
}
