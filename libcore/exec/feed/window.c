/* window.c - a stream's arrays slide along time; gaps are jumped over where that is exact. */
#include <string.h>
#include "exec/feed/feed_priv.h"
#include "base/weir_alloc.h"
#include "exec/backend/device/backend.h"

/* Address of a slot of one row of a window. */
static char *slot_at(const exec_array *e, int64_t row, int64_t slot)
{
  /* Rows are the other dimensions in row-major order: time is the last dimension (plan.c checks
   * it). */
  return (char *)e->view.data + (int64_t)weir_dtype_size(e->view.dtype) *
                                    (row * e->capacity + slot - e->view.origin[e->time]);
}

static void retained(const weir_plan *p, int64_t *keep)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    /* The newest slot always stays: it is what a skipped stretch looks like. */
    keep[a] = p->arrays[a].front > 0 ? p->arrays[a].front - 1 : 0;
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    exec_retain(&p->groups[i], p->groups[i].front, keep);
  }
}

void exec_windows_slide(weir_plan *p)
{
  retained(p, p->slots);
  for (int32_t a = 0; a < p->n_arrays; a++) {
    exec_array *e = &p->arrays[a];

    if (e->time < 0 || e->view.data == NULL) { /* not a stream, or local to a group */
      continue;
    }
    if (p->backend != NULL) {
      exec_backend_window_keep(p, a, p->slots[a]);
    }
    if (e->outside) {
      e->fresh = e->front;
      continue;
    }
    const int64_t from =
        p->slots[a] > e->view.origin[e->time] ? p->slots[a] : e->view.origin[e->time];
    int64_t min = e->front, max = e->front;

    if (e->shared) {
      exec_written(p, a, &min, &max); /* what a writer ahead has made stays too */
    }
    const size_t bytes = (size_t)(max - from) * weir_dtype_size(e->view.dtype);

    for (int64_t row = 0; row < e->rows && from > e->view.origin[e->time]; row++) {
      memmove(slot_at(e, row, e->view.origin[e->time]), slot_at(e, row, from), bytes);
    }
    e->view.origin[e->time] = from;
    e->fresh = e->front;
  }
}

/* Moves one array's window to [keep, front), every slot holding the value of the newest slot. */
static void jump(exec_array *e, int64_t keep, int64_t front)
{
  const size_t size = weir_dtype_size(e->view.dtype);

  if (e->outside) { /* what is skipped is absent there too */
    e->front = e->fresh = front;
    return;
  }
  for (int64_t row = 0; row < e->rows; row++) {
    char *start = (char *)e->view.data + (int64_t)size * row * e->capacity;
    char value[sizeof(weir_c128)] = {0};

    if (e->front > e->view.origin[e->time]) {
      memcpy(value, slot_at(e, row, e->front - 1), size);
    }
    for (int64_t t = 0; t < front - keep; t++) {
      memcpy(start + (int64_t)size * t, value, size);
    }
  }
  e->view.origin[e->time] = keep;
  e->front = e->fresh = front;
}

weir_status exec_windows_skip(weir_plan *p, const int64_t *input_front)
{
  int64_t *front = p->slots + p->n_arrays, *keep = front + p->n_arrays;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    front[a] = input_front[a] >= 0 ? input_front[a] : p->arrays[a].front;
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    exec_group *group = &p->groups[i];
    const int64_t limit = exec_limit(p, group, front);

    group->front = limit > group->front ? limit : group->front;
    for (int32_t k = 0; k < group->n_loops; k++) {
      for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
        const int32_t a = group->loops[k].loop->out[o];

        int64_t min = group->front, max = min;

        if (p->arrays[a].shared) {
          exec_written(p, a, &min, &max);
        }
        front[a] = p->arrays[a].time < 0 ? 0 : min;
      }
    }
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    keep[a] = front[a] > 0 ? front[a] - 1 : 0;
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    exec_retain(&p->groups[i], p->groups[i].front, keep);
  }
  WEIR_TRY(p->backend != NULL ? exec_backend_windows_fetch(p) : WEIR_OK);
  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (p->arrays[a].time >= 0 && p->arrays[a].bytes > 0 && p->arrays[a].view.data != NULL &&
        front[a] > p->arrays[a].front) {
      if (!p->arrays[a].outside && front[a] - keep[a] > p->arrays[a].capacity) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "plan: a skipped gap ends at slot %lld of one stream while slot %lld is "
                         "still pending: feed all inputs to the same time",
                         (long long)front[a], (long long)keep[a]);
      }
      jump(&p->arrays[a], keep[a], front[a]);
      if (p->backend != NULL) {
        exec_backend_window_skip(p, a, keep[a]);
      }
    }
  }
  return WEIR_OK;
}
