/* emulated.c - the device on which code for GPUs is tested on any machine. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/host_kernel.h"
#include "device/weir_parallel.h"
#include "device/emulated/emulated_priv.h"

/* What an event stands for. */
typedef struct event_state {
  clocks clock;
} event_state;

static emulated *state_of(const weir_device *device)
{
  return device->state;
}

static timeline *line_of(emulated *e)
{
  return e->device->capture != 0 ? &e->captured : &e->line;
}

/* The host waits until `target` is done. */
static weir_status wait_for(emulated *e, const clocks *target)
{
  const weir_status status = emulated_sequence_run(e, &e->given, target);

  emulated_sequence_drop_done(&e->given);
  if (status == WEIR_OK) {
    emulated_timeline_seen(&e->line, target);
  }
  emulated_protect(e);
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}

/* Waits for everything; a failure is returned by the next call that can. */
static void drain(emulated *e)
{
  clocks all = {{0}};

  for (int k = 0; k < SLOTS; k++) {
    emulated_clocks_join(&all, &e->line.queue[k]);
  }
  (void)wait_for(e, &all);
}

static void close_device(weir_device *device)
{
  emulated *e = state_of(device);

  drain(e);
  emulated_sequence_free(&e->given);
  emulated_sequence_free(&e->recorded);
  weir_free(&e->line.records);
  weir_free(&e->captured.records);
  weir_free(&device->state);
}

/* ---- Arenas. ---- */

static void arena_destroy(weir_device_arena *arena)
{
  emulated *e = state_of(arena->device);

  drain(e);
  emulated_timeline_forget(&e->line, arena);
  emulated_timeline_forget(&e->captured, arena);
  for (int64_t i = 0; i < arena->n; i++) {
    emulated_pages_destroy(&arena->arrays[i]);
  }
}

static weir_status arena_create(weir_device_arena *arena)
{
  for (int64_t i = 0; i < arena->n; i++) {
    const weir_status status = emulated_pages_create(&arena->arrays[i]);

    if (status != WEIR_OK) {
      for (int64_t k = 0; k <= i; k++) {
        emulated_pages_destroy(&arena->arrays[k]);
      }
      return weir_trace_at(status, __FILE__, __LINE__, __func__);
    }
  }
  return WEIR_OK;
}

/* ---- Queues and events. ---- */

static weir_status queue_create(weir_device_queue *queue)
{
  return emulated_failure(state_of(queue->device));
}

static weir_status queue_sync(weir_device_queue *queue)
{
  emulated *e = state_of(queue->device);
  const clocks target = e->line.queue[queue->slot];

  WEIR_TRY(wait_for(e, &target));
  return WEIR_OK;
}

static void queue_destroy(weir_device_queue *queue)
{
  const clocks target = state_of(queue->device)->line.queue[queue->slot];

  (void)wait_for(state_of(queue->device), &target);
}

static weir_status event_create(weir_device_event *event)
{
  WEIR_TRY(weir_alloc(1, sizeof(event_state), &event->state));
  return WEIR_OK;
}

static void event_destroy(weir_device_event *event)
{
  weir_free(&event->state);
}

static weir_status event_record(weir_device_event *event, weir_device_queue *queue)
{
  emulated *e = state_of(queue->device);
  event_state *s = event->state;

  WEIR_TRY(emulated_failure(e));
  s->clock = line_of(e)->queue[queue->slot];
  return WEIR_OK;
}

static weir_status queue_wait(weir_device_queue *queue, weir_device_event *event)
{
  emulated *e = state_of(queue->device);
  const event_state *s = event->state;

  WEIR_TRY(emulated_failure(e));
  emulated_clocks_join(&line_of(e)->queue[queue->slot], &s->clock);
  return WEIR_OK;
}

static weir_status event_sync(weir_device_event *event)
{
  const event_state *s = event->state;

  WEIR_TRY(wait_for(state_of(event->device), &s->clock));
  return WEIR_OK;
}

/* ---- Copies and launches. ---- */

static weir_status kernel_create(weir_device_kernel *kernel, const weir_device_source *source)
{
  const int64_t max = kernel->device->info.shared_bytes;
  host_kernel *made = NULL;

  WEIR_TRY(host_kernel_create(source, &made));
  const int64_t bytes = host_kernel_shared_bytes(made);
  if (bytes > max) {
    host_kernel_destroy(&made);
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "device emulated: kernel %s uses %" PRId64
                     " bytes of shared memory per block, of %" PRId64
                     ": make its __shared__ arrays smaller",
                     source->name, bytes, max);
  }
  kernel->state = made;
  return WEIR_OK;
}

static void kernel_destroy(weir_device_kernel *kernel)
{
  host_kernel *made = kernel->state;

  drain(state_of(kernel->device));
  host_kernel_destroy(&made);
}

/* Loops of the host have all calls, without workspace. */
static weir_status library_create(weir_library_call *call)
{
  (void)call;
  return WEIR_OK;
}

static void library_destroy(weir_library_call *call)
{
  drain(state_of(call->device));
}

/* Refuses to read what nothing wrote. */
static weir_status check_written(const device_op *op)
{
  for (int k = 0; k < op->n_uses; k++) {
    const device_use *use = &op->uses[k];
    const pages *p = use->array->state;

    if ((use->access & WEIR_DEVICE_READ) == 0 || p->written == NULL) {
      continue;
    }
    const char *hole = memchr(p->written + use->lo, 0, (size_t)(use->hi - use->lo));
    if (hole != NULL) {
      char what[48];
      emulated_describe(op, what);
      return weir_fail(WEIR_ERR_EXTERNAL,
                       "device emulated: %s reads bytes [%" PRId64 ", %" PRId64
                       ") of array %" PRId64 ", where byte %" PRId64
                       " was never written: look for a copy that is too "
                       "short",
                       what, use->lo, use->hi, use->array->number, (int64_t)(hole - p->written));
    }
  }
  return WEIR_OK;
}

static void mark_written(const device_op *op)
{
  for (int k = 0; k < op->n_uses; k++) {
    const device_use *use = &op->uses[k];
    const pages *p = use->array->state;

    if ((use->access & WEIR_DEVICE_WRITE) != 0 && p->written != NULL) {
      memset(p->written + use->lo, 1, (size_t)(use->hi - use->lo));
    }
  }
}

/* Appends work for the queue's next time, which becomes the present one. */
static weir_status append(emulated *e, sequence *s, int slot, const work *what)
{
  clocks *c = &line_of(e)->queue[slot];

  WEIR_TRY(weir_reserve(&s->works, &s->capacity, s->n + 1, sizeof(work)));
  work *w = &s->works[s->n++];

  *w = *what;
  w->slot = slot;
  w->needed = *c;
  w->time = ++c->at[slot];
  return WEIR_OK;
}

static weir_status enqueue(weir_device_queue *queue, const device_op *op)
{
  emulated *e = state_of(queue->device);
  const bool capturing = queue->device->capture != 0;
  timeline *line = line_of(e);
  device_op *copy = NULL;

  WEIR_TRY(emulated_failure(e));
  WEIR_TRY(emulated_timeline_check(line, queue->slot, op));
  if (!capturing) {
    WEIR_TRY(check_written(op));
  }
  WEIR_TRY(device_op_clone(op, &copy));
  weir_status status = emulated_timeline_note(line, queue->slot, op);
  if (status == WEIR_OK) {
    status = append(e, capturing ? &e->recorded : &e->given, queue->slot, &(work){.op = copy});
  }
  if (status != WEIR_OK) {
    device_op_free(&copy);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  if (!capturing) {
    mark_written(op);
    emulated_protect(e);
  }
  return WEIR_OK;
}

/* ---- Captures. ---- */

static weir_status capture_begin(weir_device_queue *queue)
{
  emulated *e = state_of(queue->device);

  WEIR_TRY(emulated_failure(e));
  e->captured.n = 0;
  memset(e->captured.queue, 0, sizeof e->captured.queue);
  return WEIR_OK;
}

static weir_status capture_end(weir_device_queue *queue, weir_device_capture *capture)
{
  emulated *e = state_of(queue->device);
  void *memory = NULL;
  const weir_status status = weir_alloc(1, sizeof(sequence), &memory);

  if (status != WEIR_OK) {
    emulated_sequence_free(&e->recorded);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  capture->state = memory;
  *(sequence *)capture->state = e->recorded;
  e->recorded = (sequence){.n = 0};
  return WEIR_OK;
}

/* Refuses work whose arrays have been freed since it was recorded. */
static weir_status check_present(const weir_device *d, const device_op *op)
{
  for (int k = 0; k < op->n_uses; k++) {
    bool present = false;

    for (int64_t i = 0; i < d->n_arrays; i++) {
      present = present ||
                (d->arrays[i] == op->uses[k].array && d->arrays[i]->number == op->uses[k].number);
    }
    if (!present) {
      return weir_fail(WEIR_ERR_EXTERNAL,
                       "device emulated: a replay uses array %" PRId64
                       ", which has been freed: destroy the capture before the arena",
                       op->uses[k].number);
    }
  }
  return WEIR_OK;
}

static weir_status replay(weir_device_capture *capture, weir_device_queue *queue)
{
  emulated *e = state_of(queue->device);
  const sequence *s = capture->state;

  WEIR_TRY(emulated_failure(e));
  for (int64_t i = 0; i < s->n; i++) {
    WEIR_TRY(check_present(queue->device, s->works[i].op));
    WEIR_TRY(emulated_timeline_check(&e->line, queue->slot, s->works[i].op));
  }
  for (int64_t i = 0; i < s->n; i++) { /* recorded in an order that is allowed */
    WEIR_TRY(check_written(s->works[i].op));
    mark_written(s->works[i].op);
    WEIR_TRY(emulated_timeline_note(&e->line, queue->slot, s->works[i].op));
  }
  WEIR_TRY(append(e, &e->given, queue->slot, &(work){.capture = capture}));
  emulated_protect(e);
  return WEIR_OK;
}

static void capture_destroy(weir_device_capture *capture)
{
  drain(state_of(capture->device));
  emulated_sequence_free(capture->state);
  weir_free(&capture->state);
}

static void poison(char *memory, int64_t bytes)
{
  emulated_pages_fill(memory, bytes, 0);
}

static const weir_device_ops ops = {
    .close = close_device,
    .arena_create = arena_create,
    .arena_destroy = arena_destroy,
    .poison = poison,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_sync = queue_sync,
    .queue_wait = queue_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_sync = event_sync,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .library_create = library_create,
    .library_destroy = library_destroy,
    .enqueue = enqueue,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .replay = replay,
    .capture_destroy = capture_destroy,
};

static weir_status open_device(weir_device *device, const weir_device_options *options)
{
  if (options->index != 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device emulated: there is no device %d: use number 0",
                     options->index);
  }
  WEIR_TRY(weir_alloc(1, sizeof(emulated), &device->state));
  emulated *e = state_of(device);

  e->device = device;
  e->seed = options->seed;
  device->ops = &ops;
  device->info = (weir_device_info){.processors = 1,
                                    .memory_bytes = weir_cpu_get()->constants.memory_bytes,
                                    .cache_bytes = weir_cpu_get()->constants.l3_bytes,
                                    .shared_bytes = 48 * 1024,
                                    .block_threads = 1024,
                                    .vector_threads = 32};
  (void)snprintf(device->info.model, sizeof device->info.model, "emulated");
  return WEIR_OK;
}

/* Kernels run on the host. */
static const weir_constants *constants(void)
{
  return &weir_cpu_get()->constants;
}

const weir_device_row weir_device_row_emulated = {
    .name = "emulated",
    .help = "GPU rules emulated on the host, for tests",
    .constants = constants,
    .open = open_device,
};
