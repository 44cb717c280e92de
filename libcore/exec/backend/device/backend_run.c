/* backend_run.c - a run on a device: what is copied when, and launches. */
#include "exec/backend/device/backend.h"

#include <string.h>

#include "base/weir_clock.h"
#include "exec/exec_priv.h"

/* Arrays of p->backend->moving that are copied before group i, to where it runs; after it, what it
 * wrote is there alone. A window also where slots of it that it does not write are only on the
 * other side. */
static int32_t bring(const weir_plan *p, int32_t i)
{
  const struct exec_backend *b = p->backend;
  const exec_step *s = &b->steps[i];
  const bool up = p->groups[i].on_device;
  int32_t n = 0;

  for (int32_t k = 0; k < s->n_reads; k++) {
    exec_side *side = &b->sides[s->arrays[k]];

    if (up ? !side->on_device : !side->on_host) {
      b->moving[n++] = s->arrays[k];
      side->on_device = side->on_host = true;
    }
  }
  for (int32_t k = 0; k < s->n_writes; k++) {
    const int32_t a = s->arrays[s->n_reads + k];
    exec_side *side = &b->sides[a];

    if (p->arrays[a].time >= 0 && (up ? !side->on_device : !side->on_host)) {
      b->moving[n++] = a;
    }
    side->on_device = up;
    side->on_host = !up;
  }
  return n;
}

bool exec_backend_updates(const weir_plan *p, int32_t array)
{
  const struct exec_backend *b = p->backend;
  const exec_side *side = &b->sides[array];
  const weir_array *x = weir_graph_get_array(p->g, array);

  return side->kept && side->bytes > 0 && !side->stored->pinned && x->output == NULL &&
         x->update >= 0 && p->arrays[x->update].aside == NULL && b->sides[x->update].on_device;
}

/* Likewise at the end: results, and new values of stored arrays that the host takes. */
static int32_t fetch(const weir_plan *p)
{
  const struct exec_backend *b = p->backend;
  int32_t n = 0;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);
    const bool update =
        array->kind == WEIR_ARRAY_STORED && array->update >= 0 && !exec_backend_updates(p, a);
    const int32_t wanted[2] = {array->output != NULL ? a : -1, update ? array->update : -1};

    for (int k = 0; k < 2; k++) {
      if (wanted[k] >= 0 && !b->sides[wanted[k]].on_host && b->sides[wanted[k]].on_device) {
        b->moving[n++] = wanted[k];
        b->sides[wanted[k]].on_host = true;
      }
    }
  }
  return n;
}

static weir_status begin_stored(weir_plan *p, int32_t a)
{
  exec_side *side = &p->backend->sides[a];
  const weir_store_sides *s = side->stored;

  WEIR_TRY(weir_store_sides_begin(p->store, weir_graph_get_array(p->g, a)->name));
  side->device = s->device; /* which another plan may have added */
  side->staging = s->staging;
  side->on_host = s->host_version >= s->device_version;
  side->on_device = s->device != NULL && s->device_version >= s->host_version;
  return WEIR_OK;
}

weir_status exec_backend_begin(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array_kind kind = weir_graph_get_array(p->g, a)->kind;

    if (kind == WEIR_ARRAY_STORED) {
      WEIR_TRY(begin_stored(p, a));
      continue;
    }
    if (p->streaming && (kind == WEIR_ARRAY_TEMPORARY || kind == WEIR_ARRAY_INPUT)) {
      continue; /* what earlier feeds left, and exec_backend_fed */
    }
    b->sides[a].on_host = kind != WEIR_ARRAY_TEMPORARY;
    /* Constants stay where they have been copied to. */
    b->sides[a].on_device = b->sides[a].on_device && kind == WEIR_ARRAY_CONSTANT;
  }
  return WEIR_OK;
}

static int64_t bytes_of(const struct exec_backend *b, int32_t n)
{
  int64_t bytes = 0;

  for (int32_t k = 0; k < n; k++) {
    bytes += b->sides[b->moving[k]].bytes;
  }
  return bytes;
}

/* Of arrays that calls of the host made. */
static int64_t bytes_of_host(const weir_plan *p, int32_t n)
{
  int64_t bytes = 0;

  for (int32_t k = 0; k < n; k++) {
    const int32_t a = p->backend->moving[k];
    const bool made = weir_graph_get_array(p->g, a)->kind == WEIR_ARRAY_TEMPORARY;

    bytes += made ? p->backend->sides[a].bytes : 0;
  }
  return bytes;
}

/* Where stored arrays are after a run: the next one begins so. */
static void leave_stored(weir_plan *p, int32_t a)
{
  exec_side *side = &p->backend->sides[a];
  const bool updated = weir_graph_get_array(p->g, a)->update >= 0;
  const bool there = exec_backend_updates(p, a);

  side->on_device = !side->stored->pinned && (updated ? there : side->on_device);
  side->on_host = side->stored->pinned || (updated ? !there : side->on_host);
}

/* A run after others, of which stored arrays are where the last one left them. */
static exec_copied count_run(weir_plan *p)
{
  struct exec_backend *b = p->backend;
  exec_copied c = {0};

  exec_backend_windows_reset(p);
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array_kind kind = weir_graph_get_array(p->g, a)->kind;
    const bool window = p->arrays[a].time >= 0;

    if (kind != WEIR_ARRAY_STORED) {
      b->sides[a].on_host = kind != WEIR_ARRAY_TEMPORARY || window;
      b->sides[a].on_device = kind == WEIR_ARRAY_CONSTANT ||
                              (p->streaming && kind == WEIR_ARRAY_INPUT && !window) ||
                              (kind == WEIR_ARRAY_TEMPORARY && window);
    }
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    const int32_t n = bring(p, i);
    const int64_t host = bytes_of_host(p, n);

    c.host_up += p->groups[i].on_device ? host : 0;
    c.up += p->groups[i].on_device ? bytes_of(b, n) - host : 0;
    c.host_down += p->groups[i].on_device ? 0 : bytes_of(b, n);
  }
  c.down = bytes_of(b, fetch(p));
  return c;
}

void exec_backend_count(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    b->sides[a].on_host = true;
    b->sides[a].on_device = b->sides[a].kept && !b->sides[a].stored->pinned;
  }
  for (int run = 0; run < 2; run++) { /* the first one may copy what then stays */
    b->counted = count_run(p);
    for (int32_t a = 0; a < p->n_arrays && run == 0; a++) {
      if (b->sides[a].stored != NULL) {
        leave_stored(p, a);
      }
    }
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    b->sides[a].on_host = b->sides[a].on_device = false;
  }
  exec_backend_windows_reset(p);
}

/* The later work of a queue waits for what the other has been given. */
static weir_status follow(weir_device_queue *later, weir_device_event *event,
                          weir_device_queue *earlier)
{
  WEIR_TRY(weir_device_event_record(event, earlier));
  WEIR_TRY(weir_device_queue_wait(later, event));
  return WEIR_OK;
}

weir_status exec_backend_follow(struct exec_backend *b)
{
  WEIR_TRY(follow(b->copies, b->worked, b->work));
  b->ahead = false;
  return WEIR_OK;
}

void exec_backend_stage(const weir_plan *p, int32_t array)
{
  const exec_side *side = &p->backend->sides[array];
  const void *from = p->arrays[array].view.data;

  if (side->bytes > 0 && from != side->staging) {
    memcpy(side->staging, from, (size_t)side->bytes);
  }
}

void exec_backend_unstage(const weir_plan *p, int32_t array)
{
  const exec_side *side = &p->backend->sides[array];
  void *to = p->arrays[array].view.data;

  if (side->bytes > 0 && to != side->staging) {
    memcpy(to, side->staging, (size_t)side->bytes);
  }
}

/* To the device: a slot of the arena may still be read by launches that were given before. New
 * slots of a window are none that these read, nor any that slides. */
static weir_status copy_up(weir_plan *p, int32_t n)
{
  struct exec_backend *b = p->backend;
  bool slots = false;

  for (int32_t k = 0; k < n; k++) {
    const int32_t a = b->moving[k];

    if (p->arrays[a].time >= 0) {
      WEIR_TRY(exec_backend_window_extend(p, a, p->arrays[a].front));
    } else {
      exec_backend_stage(p, a);
    }
    if (b->capture.recording) {
      b->capture.up[b->capture.n_up++] = a;
    }
    slots = slots || (p->arrays[a].time < 0 && p->schedule.offset[a] >= 0);
  }
  if (slots && b->ahead) {
    WEIR_TRY(exec_backend_follow(b));
  }
  for (int32_t k = 0; k < n; k++) {
    const exec_side *side = &b->sides[b->moving[k]];

    WEIR_TRY(p->arrays[b->moving[k]].time >= 0
                 ? exec_backend_window_up(p, b->moving[k])
                 : weir_device_copy(b->copies, side->device, side->staging, side->bytes));
  }
  if (n > 0) {
    WEIR_TRY(follow(b->work, b->copied, b->copies));
  }
  return WEIR_OK;
}

/* Copies the n arrays of b->moving to staging, after all launches. */
static weir_status copy_down(weir_plan *p, int32_t n)
{
  struct exec_backend *b = p->backend;

  if (n > 0) {
    WEIR_TRY(exec_backend_follow(b));
  }
  for (int32_t k = 0; k < n; k++) {
    const exec_side *side = &b->sides[b->moving[k]];

    WEIR_TRY(p->arrays[b->moving[k]].time >= 0
                 ? exec_backend_window_down(p, b->moving[k])
                 : weir_device_copy(b->copies, side->staging, side->device, side->bytes));
  }
  return WEIR_OK;
}

weir_status exec_backend_fetch(weir_plan *p, int32_t n)
{
  struct exec_backend *b = p->backend;

  if (n == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(copy_down(p, n));
  WEIR_TRY(weir_device_queue_sync(b->copies));
  for (int32_t k = 0; k < n; k++) {
    if (p->arrays[b->moving[k]].time < 0) {
      exec_backend_unstage(p, b->moving[k]);
    }
  }
  return WEIR_OK;
}

weir_status exec_backend_bring(weir_plan *p, const exec_group *group)
{
  const int32_t i = (int32_t)(group - p->groups), n = bring(p, i);

  WEIR_TRY(group->on_device ? copy_up(p, n) : exec_backend_fetch(p, n));
  return WEIR_OK;
}

/* Views of the group's local arrays that loop k writes: of a stream, of the elements of `box`. */
static void set_locals(const weir_plan *p, const exec_group *group, int32_t k, const weir_box *box,
                       weir_view *locals)
{
  const exec_loop *loop = &group->loops[k];

  for (int o = 0; o < loop->loop->access.n_out; o++) {
    const int64_t l = loop->out_local[o];

    if (l >= 0 && p->streaming) {
      locals[l] = exec_local_view(&group->locals[l], loop->loop, o, box, p->backend->scratch);
    } else if (l >= 0) {
      locals[l] = p->arrays[loop->loop->out[o]].view;
      locals[l].data = p->backend->scratch + group->locals[l].offset;
    }
  }
}

/* Memory for the slots that a loop writes. */
static weir_status extend_windows(weir_plan *p, const exec_loop *loop, const weir_box *box)
{
  for (int o = 0; o < loop->loop->access.n_out; o++) {
    const int32_t a = loop->loop->out[o];
    const int time = p->arrays[a].time;

    if (loop->out_local[o] < 0 && time >= 0) {
      const weir_region r = weir_written(&loop->loop->access, o, box);

      WEIR_TRY(weir_region_empty(&r)
                   ? WEIR_OK
                   : exec_backend_window_extend(p, a, weir_region_hull(&r).hi[time]));
    }
  }
  return WEIR_OK;
}

static weir_status run_loop(weir_plan *p, const exec_loop *loop, const weir_box *box,
                            const weir_view *locals)
{
  struct exec_backend *b = p->backend;
  weir_view in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
  const weir_loop_run run = {.box = *box, .in = in, .out = out};

  WEIR_TRY(extend_windows(p, loop, box));
  for (int i = 0; i < loop->loop->access.n_in; i++) {
    in[i] = loop->in_local[i] >= 0 ? locals[loop->in_local[i]]
                                   : exec_backend_view(p, loop->loop->in[i]);
  }
  for (int o = 0; o < loop->loop->access.n_out; o++) {
    out[o] = loop->out_local[o] >= 0 ? locals[loop->out_local[o]]
                                     : exec_backend_view(p, loop->loop->out[o]);
  }
  b->failed = WEIR_OK;
  b->ahead = true;
  loop->engine->run(loop->context, &run);
  return b->failed;
}

weir_status exec_backend_run(weir_plan *p, exec_group *group, const weir_box *box)
{
  struct exec_backend *b = p->backend;
  weir_box boxes[EXEC_MAX_LOOPS];
  weir_view locals[EXEC_MAX_LOOPS];

  if (p->cfg.explain) { /* only then are launches, and copies before them, waited for */
    WEIR_TRY(weir_device_queue_sync(b->work));
  }
  const double start = p->cfg.explain ? weir_clock() : 0;

  if (group->n_kernels > 0) {
    WEIR_TRY(exec_backend_run_kernel(p, group));
  }
  boxes[group->n_loops - 1] = *box;
  if (p->streaming) {
    weir_members_compose(group->member, group->n_loops, boxes);
  }
  for (int32_t k = 0; k < group->n_loops && group->n_kernels == 0; k++) {
    const weir_access *a = &group->loops[k].loop->access;

    boxes[k] = p->streaming ? boxes[k] : weir_iterations(a);
    set_locals(p, group, k, &boxes[k], locals);
    WEIR_TRY(exec_has_points(a, &boxes[k]) ? run_loop(p, &group->loops[k], &boxes[k], locals)
                                           : WEIR_OK);
  }
  if (p->cfg.explain) {
    WEIR_TRY(weir_device_queue_sync(b->work));
    group->seconds += weir_clock() - start;
  }
  group->calls++;
  return WEIR_OK;
}

/* New values of stored arrays that the device takes, in its memory. */
static weir_status take_updates(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (b->sides[a].stored != NULL && exec_backend_updates(p, a)) {
      const int32_t from = weir_graph_get_array(p->g, a)->update;

      WEIR_TRY(
          weir_device_copy(b->work, b->sides[a].device, b->sides[from].device, b->sides[a].bytes));
    }
  }
  return WEIR_OK;
}

weir_status exec_backend_end(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  WEIR_TRY(exec_backend_fetch(p, fetch(p)));
  WEIR_TRY(take_updates(p));
  WEIR_TRY(weir_device_queue_sync(b->work)); /* inputs and staging are the host's again */
  return WEIR_OK;
}

weir_status exec_backend_finish(weir_plan *p)
{
  struct exec_backend *b = p->backend;
  const int32_t n = fetch(p);

  WEIR_TRY(copy_down(p, n));
  memcpy(b->capture.down, b->moving, (size_t)n * sizeof *b->moving);
  b->capture.n_down = n;
  WEIR_TRY(take_updates(p));
  WEIR_TRY(follow(b->work, b->copied, b->copies));
  return WEIR_OK;
}

void exec_backend_stored(weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const exec_side *side = &p->backend->sides[a];
    const weir_array *array = weir_graph_get_array(p->g, a);

    if (side->stored != NULL && array->update >= 0) {
      weir_store_sides_end(p->store, array->name,
                           exec_backend_updates(p, a) ? WEIR_STORE_DEVICE : WEIR_STORE_HOST);
    } else if (side->stored != NULL && side->on_host && side->on_device) {
      weir_store_sides_end(p->store, array->name, WEIR_STORE_BOTH);
    }
  }
}

void exec_backend_drain(weir_plan *p)
{
  struct exec_backend *b = p->backend;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (p->arrays[a].time < 0) {
      b->sides[a].on_device = false; /* constants may not have come */
    }
  }
  if (weir_device_queue_sync(b->work) == WEIR_OK) {
    weir_status status = weir_device_queue_sync(b->copies);

    (void)status; /* the run has failed already */
  }
}

static void print_launches(const weir_plan *p, FILE *out)
{
  const int64_t n = weir_plan_launches(p);
  double bytes = 0;

  for (int64_t k = 0; k < n; k++) {
    bytes += (double)weir_plan_launch(p, k).bytes;
  }
  if (n > 0) {
    fprintf(out, "launches per %s: %lld of %lld kernels, which load and store %.6g MB\n",
            p->streaming ? "chunk" : "run", (long long)n, (long long)p->backend->n_kernels,
            bytes * 1e-6);
  }
}

void exec_backend_print(const weir_plan *p, FILE *out)
{
  const struct exec_backend *b = p->backend;
  int32_t launched = 0;

  for (int32_t i = 0; i < p->n_groups; i++) {
    launched += p->groups[i].on_device;
  }
  fprintf(out,
          "== device %s: %s\ngroups on the device: %d of %d; the others are host calls\nmemory: "
          "%lld bytes on the device, %lld bytes of staging; stored arrays, which plans share: %lld "
          "bytes on each\ncopied per %s: %lld bytes to the device for launches, %lld bytes of "
          "results back; for host calls %lld bytes to the host, %lld bytes to the device\n",
          weir_device_name(b->device), weir_device_info_get(b->device)->model, (int)launched,
          (int)p->n_groups, (long long)b->memory_bytes, (long long)b->staging_bytes,
          (long long)b->stored_bytes, p->streaming ? "chunk" : "run", (long long)b->counted.up,
          (long long)b->counted.down, (long long)b->counted.host_down,
          (long long)b->counted.host_up);
  print_launches(p, out);
}
