/* cpu.c - the host as a device: its memory is the host's, and work runs when it is given. */
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/device_priv.h"
#include "device/host_kernel.h"
#include "device/host_library.h"
#include "device/weir_parallel.h"

/* What a capture recorded, in the order in which it was given. */
typedef struct recorded {
  device_op **ops;
  int64_t n, capacity;
} recorded;

typedef struct cpu_state {
  recorded *capture; /* the one under way */
} cpu_state;

static void close_device(weir_device *device)
{
  weir_free(&device->state);
}

static weir_status arena_create(weir_device_arena *arena)
{
  int64_t bytes = WEIR_DEVICE_ALIGN;

  for (int64_t i = 0; i < arena->n; i++) {
    bytes +=
        (arena->arrays[i].bytes + WEIR_DEVICE_ALIGN - 1) / WEIR_DEVICE_ALIGN * WEIR_DEVICE_ALIGN;
  }
  WEIR_TRY(weir_alloc(bytes, 1, &arena->state));
  char *at = arena->state;

  at += (WEIR_DEVICE_ALIGN - (uintptr_t)at % WEIR_DEVICE_ALIGN) % WEIR_DEVICE_ALIGN;
  for (int64_t i = 0; i < arena->n; i++) {
    arena->arrays[i].address = at;
    at += (arena->arrays[i].bytes + WEIR_DEVICE_ALIGN - 1) / WEIR_DEVICE_ALIGN * WEIR_DEVICE_ALIGN;
  }
  return WEIR_OK;
}

static void arena_destroy(weir_device_arena *arena)
{
  weir_free(&arena->state);
}

/* Work is done when it was given: queues and events have nothing to wait for. */
static weir_status queue_create(weir_device_queue *queue)
{
  (void)queue;
  return WEIR_OK;
}

static void queue_destroy(weir_device_queue *queue)
{
  (void)queue;
}

static weir_status queue_sync(weir_device_queue *queue)
{
  (void)queue;
  return WEIR_OK;
}

static weir_status queue_wait(weir_device_queue *queue, weir_device_event *event)
{
  (void)queue;
  (void)event;
  return WEIR_OK;
}

static weir_status event_create(weir_device_event *event)
{
  (void)event;
  return WEIR_OK;
}

static void event_destroy(weir_device_event *event)
{
  (void)event;
}

static weir_status event_record(weir_device_event *event, weir_device_queue *queue)
{
  (void)event;
  (void)queue;
  return WEIR_OK;
}

static weir_status event_sync(weir_device_event *event)
{
  (void)event;
  return WEIR_OK;
}

static weir_status kernel_create(weir_device_kernel *kernel, const weir_device_source *source)
{
  host_kernel *made = NULL;

  WEIR_TRY(host_kernel_create(source, &made));
  kernel->state = made;
  return WEIR_OK;
}

static void kernel_destroy(weir_device_kernel *kernel)
{
  host_kernel *made = kernel->state;

  host_kernel_destroy(&made);
}

static weir_status run(const device_op *op)
{
  const void *fault;

  if (op->kind == DEVICE_COPY) {
    const device_use *to = &op->uses[0], *from = &op->uses[1];
    memcpy(to->array->address + to->lo, from->array->address + from->lo, (size_t)(to->hi - to->lo));
    return WEIR_OK;
  }
  if (op->kind == DEVICE_CALL) {
    op->body(op->context);
    return WEIR_OK;
  }
  if (op->kind == DEVICE_LIBRARY) {
    WEIR_TRY(host_library_run(&op->call->spec, op->operand));
    return WEIR_OK;
  }
  WEIR_TRY(host_kernel_run(op->kernel->state, &(host_run){.op = op}, false, &fault));
  return WEIR_OK;
}

/* Loops of the host have all calls, without workspace. */
static weir_status library_create(weir_library_call *call)
{
  (void)call;
  return WEIR_OK;
}

static weir_status enqueue(weir_device_queue *queue, const device_op *op)
{
  cpu_state *state = queue->device->state;
  recorded *r = state->capture;

  if (r == NULL) {
    WEIR_TRY(run(op));
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&r->ops, &r->capacity, r->n + 1, sizeof(device_op *)));
  WEIR_TRY(device_op_clone(op, &r->ops[r->n]));
  r->n++;
  return WEIR_OK;
}

static weir_status capture_begin(weir_device_queue *queue)
{
  cpu_state *state = queue->device->state;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof(recorded), &memory));
  state->capture = memory;
  return WEIR_OK;
}

static weir_status capture_end(weir_device_queue *queue, weir_device_capture *capture)
{
  cpu_state *state = queue->device->state;

  capture->state = state->capture;
  state->capture = NULL;
  return WEIR_OK;
}

static weir_status replay(weir_device_capture *capture, weir_device_queue *queue)
{
  const recorded *r = capture->state;

  (void)queue;
  for (int64_t i = 0; i < r->n; i++) {
    WEIR_TRY(run(r->ops[i]));
  }
  return WEIR_OK;
}

static void capture_destroy(weir_device_capture *capture)
{
  recorded *r = capture->state;

  for (int64_t i = 0; i < r->n; i++) {
    device_op_free(&r->ops[i]);
  }
  weir_free(&r->ops);
  weir_free(&capture->state);
}

static const weir_device_ops ops = {
    .close = close_device,
    .arena_create = arena_create,
    .arena_destroy = arena_destroy,
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
    .enqueue = enqueue,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .replay = replay,
    .capture_destroy = capture_destroy,
};

static weir_status open_device(weir_device *device, const weir_device_options *options)
{
  const weir_cpu *cpu = weir_cpu_get();

  if (options->index != 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device cpu: there is no device %d: use number 0",
                     options->index);
  }
  WEIR_TRY(weir_alloc(1, sizeof(cpu_state), &device->state));
  device->ops = &ops;
  device->info = (weir_device_info){.processors = cpu->cores,
                                    .memory_bytes = cpu->constants.memory_bytes,
                                    .cache_bytes = cpu->constants.l3_bytes,
                                    .shared_bytes = cpu->constants.l1_bytes,
                                    .block_threads = 1024,
                                    .vector_threads = 1};
  (void)snprintf(device->info.model, sizeof device->info.model, "%s", cpu->model);
  return WEIR_OK;
}

static const weir_constants *constants(void)
{
  return &weir_cpu_get()->constants;
}

const weir_device_row weir_device_row_cpu = {
    .name = "cpu",
    .help = "CPU and main memory of the host",
    .constants = constants,
    .open = open_device,
};
