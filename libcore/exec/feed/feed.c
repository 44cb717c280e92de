/* feed.c - running a plan: a bounded graph whole, a stream chunk by chunk. */
#include <math.h>
#include <string.h>
#include "exec/feed/feed_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "exec/backend/device/backend.h"
#include "exec/ranks/ranks_priv.h"

int32_t exec_find_input(const weir_plan *p, const char *name)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    if (array->kind == WEIR_ARRAY_INPUT && strcmp(array->name, name) == 0) {
      return a;
    }
  }
  return -1;
}

int32_t exec_find_result(const weir_plan *p, const char *name)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    if (array->output != NULL && strcmp(array->output, name) == 0) {
      return a;
    }
  }
  return -1;
}

/* Bindings of an earlier run are forgotten: results that are not bound again go to the arena. */
static void unbind_results(weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    if (array->output != NULL && array->kind == WEIR_ARRAY_TEMPORARY) {
      p->arrays[a].view.data = p->backend != NULL           ? exec_backend_home(p, a)
                               : p->schedule.offset[a] >= 0 ? p->arena + p->schedule.offset[a]
                                                            : NULL;
    }
  }
}

static weir_status bind(weir_plan *p, const weir_binding *b)
{
  int32_t a = exec_find_input(p, b->name);
  const bool input = a >= 0;

  a = input ? a : exec_find_result(p, b->name);
  if (a < 0) {
    return weir_fail(WEIR_ERR_CONFIG, "plan: there is no input or result '%s'", b->name);
  }
  const weir_array_desc *d = &weir_graph_get_array(p->g, a)->desc;
  bool same = b->tensor->dtype == d->dtype && b->tensor->rank == d->rank;

  for (int k = 0; k < d->rank && same; k++) {
    same = b->tensor->shape[k] == d->shape[k];
  }
  if (!same || !weir_tensor_is_contiguous(b->tensor)) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "plan: the tensor bound to '%s' must have the dtype and shape of the array "
                     "and be contiguous",
                     b->name);
  }
  if (input || weir_graph_get_array(p->g, a)->kind == WEIR_ARRAY_TEMPORARY) {
    p->arrays[a].view = weir_view_of(b->tensor);
  }
  p->arrays[a].bound = true;
  return WEIR_OK;
}

static weir_status check_bound(const weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    if (array->kind == WEIR_ARRAY_INPUT && !p->arrays[a].bound && p->arrays[a].time < 0) {
      return weir_fail(WEIR_ERR_CONFIG, "plan: input '%s' is not bound", array->name);
    }
  }
  return WEIR_OK;
}

/* What plans on a device have left there of the store comes to the host for a plan on the cpu. */
static weir_status begin_run(weir_plan *p)
{
  const bool other = p->backend == NULL && p->store != NULL && weir_store_has_device(p->store);

  for (int32_t a = 0; other && a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);
    const weir_tensor *read = NULL;
    weir_tensor *written = NULL;

    if (array->kind == WEIR_ARRAY_STORED) {
      WEIR_TRY(array->update >= 0 ? weir_store_write(p->store, array->name, &written)
                                  : weir_store_read(p->store, array->name, &read));
    }
  }
  return p->backend != NULL ? exec_backend_begin(p) : WEIR_OK;
}

/* Stored arrays take their new values after every read of the old ones: one that is itself the new
 * value of another is kept aside first. */
static void update_stored(weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const exec_array *e = &p->arrays[a];

    if (e->aside != NULL && e->bytes > 0) {
      memcpy(e->aside, e->view.data, (size_t)e->rows * weir_dtype_size(e->view.dtype));
    }
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    if (array->kind == WEIR_ARRAY_STORED && array->update >= 0 && !exec_is_early(p, a) &&
        !(p->backend != NULL && exec_backend_updates(p, a))) {
      const exec_array *from = &p->arrays[array->update];
      const size_t bytes = (size_t)p->arrays[a].rows * weir_dtype_size(array->desc.dtype);

      if (bytes > 0) {
        memmove(p->arrays[a].view.data, from->aside != NULL ? from->aside : from->view.data, bytes);
      }
    }
  }
  if (p->backend != NULL) {
    exec_backend_stored(p);
  }
}

/* A result that is itself an input, a stored or a constant array is copied into the caller's
 * tensor. */
static void copy_sources(weir_plan *p, const weir_binding *bindings, int n)
{
  for (int i = 0; i < n; i++) {
    const int32_t a = exec_find_result(p, bindings[i].name);

    if (a >= 0 && weir_graph_get_array(p->g, a)->kind != WEIR_ARRAY_TEMPORARY &&
        exec_find_input(p, bindings[i].name) < 0) {
      const size_t bytes = (size_t)weir_tensor_numel(bindings[i].tensor) *
                           weir_dtype_size(bindings[i].tensor->dtype);

      if (bytes > 0) {
        memcpy(bindings[i].tensor->data, p->arrays[a].view.data, bytes);
      }
    }
  }
}

static weir_status check_runs(const weir_plan *p)
{
  return p->sizes_only
             ? weir_fail(WEIR_ERR_CONFIG,
                         "plan: it was made to compute sizes only and has no memory to run in")
             : WEIR_OK;
}

static weir_status run_groups(weir_plan *p)
{
  for (int32_t i = 0; i < p->n_groups; i++) {
    exec_group *group = &p->groups[i];
    const weir_box box = exec_anchor_box(group, 0, 0);

    WEIR_TRY(exec_group_run(p, group, &box, true));
    WEIR_TRY(exec_early_update(p, i));
    WEIR_TRY(p->ranks != NULL ? weir_requests_progress(p->ranks->comm) : WEIR_OK);
  }
  return WEIR_OK;
}

static void mark_made(weir_plan *p)
{
  for (int32_t i = 0; i < p->n_groups; i++) {
    const exec_group *group = &p->groups[i];

    for (int32_t k = 0; k < group->n_loops; k++) {
      for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
        p->arrays[group->loops[k].loop->out[o]].front = 1;
      }
    }
  }
}

weir_status weir_plan_run(weir_plan *p, const weir_binding *bindings, int n)
{
  if (p->streaming) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "plan: a graph with a time dimension must be fed chunk by chunk, not run");
  }
  WEIR_TRY(check_runs(p));
  const double start = p->cfg.explain ? weir_clock() : 0;
  weir_status status = WEIR_OK;

  unbind_results(p);
  for (int i = 0; i < n; i++) {
    WEIR_TRY_GOTO(bind(p, &bindings[i]), out);
  }
  WEIR_TRY_GOTO(check_bound(p), out);
  WEIR_TRY_GOTO(begin_run(p), out);
  exec_early_begin(p);
  WEIR_TRY_GOTO(p->backend != NULL ? exec_backend_whole(p, run_groups) : run_groups(p), out);
  mark_made(p);
  copy_sources(p, bindings, n);
  update_stored(p);
  p->runs++;
  p->seconds += p->cfg.explain ? weir_clock() - start : 0;
out:
  /* The caller's tensors may be gone at the next run. */
  for (int i = 0; i < n; i++) {
    const int32_t a = exec_find_input(p, bindings[i].name);

    if (a >= 0) {
      p->arrays[a].bound = false;
    }
  }
  if (status != WEIR_OK && p->backend != NULL) {
    exec_backend_drain(p);
  }
  if (status != WEIR_OK && p->ranks != NULL) { /* others wait for what this rank does not send */
    status = weir_comm_abort(p->ranks->comm, status);
  }
  return status;
}

static weir_status check_feed(const weir_plan *p, const weir_feed *f, int32_t a)
{
  if (a < 0) {
    return weir_fail(WEIR_ERR_CONFIG, "plan: there is no input '%s'", f->input);
  }
  const exec_array *e = &p->arrays[a];

  if (e->time >= 0 && (f->lo < e->front || f->hi < f->lo)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "plan: '%s' is complete up to slot %lld; [%lld, %lld) does not continue it",
                     f->input, (long long)e->front, (long long)f->lo, (long long)f->hi);
  }
  if (e->time >= 0 && f->hi - f->lo > p->bounds[a]) {
    return weir_fail(WEIR_ERR_CONFIG, "plan: '%s' was fed %lld slots, more than its maximum %lld",
                     f->input, (long long)(f->hi - f->lo), (long long)p->bounds[a]);
  }
  return WEIR_OK;
}

/* Copies the new slots into the input's window. */
static weir_status copy_feed(const exec_array *e, const weir_feed *f)
{
  const int64_t slots = f->hi - f->lo;
  const size_t size = weir_dtype_size(e->view.dtype);

  if (f->hi - e->view.origin[e->time] > e->capacity) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "plan: '%s' was fed to slot %lld while slot %lld is still pending: feed all "
                     "inputs to the same time",
                     f->input, (long long)f->hi, (long long)e->view.origin[e->time]);
  }
  for (int64_t row = 0; row < e->rows && slots > 0; row++) {
    memcpy((char *)e->view.data +
               (int64_t)size * (row * e->capacity + f->lo - e->view.origin[e->time]),
           (const char *)f->data + (size_t)(row * slots) * size, (size_t)slots * size);
  }
  return WEIR_OK;
}

static weir_status take_feeds(weir_plan *p, const weir_feed *feeds, int n)
{
  int64_t *input_front = p->slots + (int64_t)p->n_arrays * 3;
  bool jump = false;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    input_front[a] = -1;
  }
  for (int i = 0; i < n; i++) {
    const int32_t a = exec_find_input(p, feeds[i].input);

    WEIR_TRY(check_feed(p, &feeds[i], a));
    if (p->arrays[a].time >= 0) {
      input_front[a] = feeds[i].lo;
      jump = jump || feeds[i].lo > p->arrays[a].front;
    } else {
      /* The plan only reads inputs. */
      memcpy(&p->arrays[a].view.data, &feeds[i].data, sizeof(void *));
      p->arrays[a].bound = true;
    }
    if (p->backend != NULL) {
      exec_backend_fed(p, a);
    }
  }
  exec_windows_slide(p);
  if (jump) {
    WEIR_TRY(exec_windows_skip(p, input_front));
  }
  for (int i = 0; i < n; i++) {
    exec_array *e = &p->arrays[exec_find_input(p, feeds[i].input)];

    if (e->time >= 0) {
      if (!e->outside) {
        WEIR_TRY(copy_feed(e, &feeds[i]));
      }
      e->fresh = feeds[i].lo;
      e->front = feeds[i].hi;
    }
  }
  return check_bound(p);
}

/* Real lengths replace the unbounded ones, for borders and regions. */
static void set_end(weir_plan *p, int32_t array, int64_t end)
{
  exec_array *e = &p->arrays[array];

  e->end = end;
  e->view.extent[e->time] = end;
  for (int32_t i = 0; i < p->n_groups; i++) {
    for (int32_t k = 0; k < p->groups[i].n_loops; k++) {
      weir_loop *loop = p->groups[i].loops[k].loop;

      for (int o = 0; o < loop->access.n_in; o++) {
        if (loop->in[o] == array) {
          loop->access.in[o].extent[e->time] = end;
        }
      }
      for (int o = 0; o < loop->access.n_out; o++) {
        if (loop->out[o] == array) {
          loop->access.out[o].extent[e->time] = end;
        }
      }
    }
  }
}

/* Streams of one graph are fed side by side: one that runs far ahead of another would fill its
 * window. */
static weir_status check_capacity(const weir_plan *p, const exec_group *group, int64_t to)
{
  for (int32_t k = 0; k < group->n_loops; k++) {
    for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
      const exec_array *e = &p->arrays[group->loops[k].loop->out[o]];

      if (e->outside && to > e->capacity) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "plan: a result has %lld slots or more, but the buffer holds %lld",
                         (long long)to, (long long)e->capacity);
      }
      if (e->time >= 0 && e->view.data != NULL && to - e->view.origin[e->time] > e->capacity) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "plan: group '%s' would keep %lld slots, more than its window of %lld: "
                         "feed all inputs to the same time",
                         group->members, (long long)(to - e->view.origin[e->time]),
                         (long long)e->capacity);
      }
    }
  }
  return WEIR_OK;
}

static weir_status advance(weir_plan *p, exec_group *group, bool last)
{
  int64_t *front = p->slots;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    front[a] = p->arrays[a].front;
  }
  const exec_loop *anchor = &group->loops[group->n_loops - 1];
  const int64_t limit = anchor->time >= 0 ? exec_limit(p, group, front) : 0;

  if (last) {
    /* Arrays inside the group end too: in order, since a loop's end follows from what it reads. */
    for (int32_t k = 0; k < group->n_loops; k++) {
      const int64_t end = exec_loop_end(p, &group->loops[k]);

      for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
        const exec_array *e = &p->arrays[group->loops[k].loop->out[o]];

        if (e->time >= 0) {
          set_end(p, group->loops[k].loop->out[o], end < e->end ? end : e->end);
        }
      }
    }
  }
  const int64_t max = last && anchor->time >= 0 ? exec_loop_end(p, anchor) : limit;
  const int64_t to = max > group->front ? max : group->front;

  if (to > group->front || anchor->time < 0 || (last && anchor->engine == NULL)) {
    const weir_box box = exec_anchor_box(group, group->front, to);

    WEIR_TRY(check_capacity(p, group, to));
    WEIR_TRY(exec_group_run(p, group, &box, last));
    group->front = to;
    for (int32_t k = 0; k < group->n_loops; k++) {
      for (int o = 0; o < group->loops[k].loop->access.n_out; o++) {
        const int32_t a = group->loops[k].loop->out[o];
        exec_array *e = &p->arrays[a];

        int64_t min = to, max_made = to;

        if (e->shared) {
          exec_written(p, a, &min, &max_made);
        }
        e->front = e->time < 0 ? 1 : min;
      }
    }
  }
  return WEIR_OK;
}

/* Share of a chunk as long as the bounds that the feeds bring. */
static double chunks_of(const weir_plan *p, const weir_feed *feeds, int n)
{
  double max = 0;

  for (int i = 0; i < n; i++) {
    const int64_t bound = p->bounds[exec_find_input(p, feeds[i].input)];

    max = bound > 0 ? fmax(max, (double)(feeds[i].hi - feeds[i].lo) / (double)bound) : max;
  }
  return max;
}

weir_status weir_plan_feed(weir_plan *p, const weir_feed *feeds, int n, bool last)
{
  if (!p->streaming || p->ended) {
    return weir_fail(WEIR_ERR_CONFIG, p->streaming
                                          ? "plan: the stream has ended"
                                          : "plan: a graph without time must be run, not fed");
  }
  WEIR_TRY(check_runs(p));
  const double start = p->cfg.explain ? weir_clock() : 0;
  weir_status status = WEIR_OK;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    p->arrays[a].front = p->arrays[a].time >= 0 ? p->arrays[a].front : 0;
  }
  WEIR_TRY(take_feeds(p, feeds, n));
  p->runs += chunks_of(p, feeds, n);
  for (int32_t a = 0; a < p->n_arrays && last; a++) {
    if (p->arrays[a].time >= 0 && weir_graph_get_array(p->g, a)->kind == WEIR_ARRAY_INPUT) {
      set_end(p, a, p->arrays[a].front);
    }
  }
  WEIR_TRY_GOTO(begin_run(p), out);
  for (int32_t i = 0; i < p->n_groups; i++) {
    WEIR_TRY_GOTO(advance(p, &p->groups[i], last), out);
  }
  WEIR_TRY_GOTO(p->backend != NULL ? exec_backend_end(p) : WEIR_OK, out);
  update_stored(p);
  p->ended = last;
  p->seconds += p->cfg.explain ? weir_clock() - start : 0;
out:
  if (status != WEIR_OK && p->backend != NULL) {
    exec_backend_drain(p);
  }
  return status;
}

weir_status weir_plan_bind(weir_plan *p, const char *input, const void *data)
{
  const int32_t a = exec_find_input(p, input);

  if (a < 0 || weir_graph_get_array(p->g, a)->desc.rank != 1 || p->arrays[a].time != 0 ||
      p->arrays[a].front > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "plan: there is no one-dimensional stream '%s' that can be read in place: %s",
                     input,
                     a < 0 ? "the input does not exist" : "it has other dimensions, or was fed");
  }
  p->arrays[a].outside = true;
  memcpy(&p->arrays[a].view.data, &data, sizeof(void *)); /* the plan only reads */
  return WEIR_OK;
}

/* Nothing but its one writer, which runs on the cpu, touches the array. */
static bool is_only_written(const weir_plan *p, int32_t array)
{
  bool only = p->backend == NULL && !p->arrays[array].shared &&
              weir_graph_get_array(p->g, array)->kind == WEIR_ARRAY_TEMPORARY;

  for (int32_t i = 0; i < p->n_groups && only; i++) {
    for (int32_t k = 0; k < p->groups[i].n_loops; k++) {
      const weir_loop *loop = p->groups[i].loops[k].loop;

      for (int o = 0; o < loop->access.n_in; o++) {
        only = only && loop->in[o] != array;
      }
    }
  }
  return only;
}

bool weir_plan_bind_result(weir_plan *p, const char *result, void *data, int64_t slots)
{
  const int32_t a = exec_find_result(p, result);

  if (a < 0 || p->arrays[a].time != 0 || p->arrays[a].front > 0 || !is_only_written(p, a)) {
    return false;
  }
  p->arrays[a].outside = true;
  p->arrays[a].view.data = data;
  p->arrays[a].capacity = slots;
  return true;
}

weir_status weir_plan_result(const weir_plan *p, const char *name, weir_view *view, int64_t *lo,
                             int64_t *hi)
{
  const int32_t a = exec_find_result(p, name);

  if (a < 0) {
    return weir_fail(WEIR_ERR_CONFIG, "plan: there is no result '%s'", name);
  }
  *view = p->arrays[a].view;
  *lo = p->arrays[a].fresh;
  *hi = p->arrays[a].front;
  return WEIR_OK;
}

void weir_plan_rewind(weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    exec_array *e = &p->arrays[a];

    if (e->time >= 0) {
      set_end(p, a, WEIR_UNBOUNDED);
      e->front = e->fresh = e->view.origin[e->time] = 0;
    }
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    p->groups[i].front = 0;
  }
  if (p->backend != NULL) {
    exec_backend_windows_reset(p);
  }
  p->ended = false;
}
