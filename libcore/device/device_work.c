/* device_work.c - queues, events, copies, launches and captures: checked here, done by the row. */
#include <inttypes.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/device_priv.h"

/* ---- Queues and events. ---- */

weir_status weir_device_queue_create(weir_device *device, weir_device_queue **out)
{
  void *memory = NULL;
  int slot = 0;

  *out = NULL;
  while (slot < WEIR_DEVICE_QUEUES && device->queues[slot] != NULL) {
    slot++;
  }
  if (slot == WEIR_DEVICE_QUEUES) {
    return weir_fail(WEIR_ERR_CONFIG, "device %s: more than %d queues at a time: destroy one",
                     device->row->name, WEIR_DEVICE_QUEUES);
  }
  WEIR_TRY(weir_alloc(1, sizeof(weir_device_queue), &memory));
  weir_device_queue *queue = memory;

  *queue = (weir_device_queue){.device = device, .slot = slot};
  const weir_status status = device->ops->queue_create(queue);
  if (status != WEIR_OK) {
    weir_free(&queue);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  device->queues[slot] = queue;
  *out = queue;
  return WEIR_OK;
}

void weir_device_queue_destroy(weir_device_queue **queue)
{
  if (*queue != NULL) {
    (*queue)->device->ops->queue_destroy(*queue);
    (*queue)->device->queues[(*queue)->slot] = NULL;
    weir_free(queue);
  }
}

weir_status weir_device_event_create(weir_device *device, weir_device_event **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(weir_device_event), &memory));
  weir_device_event *event = memory;

  event->device = device;
  const weir_status status = device->ops->event_create(event);
  if (status != WEIR_OK) {
    weir_free(&event);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *out = event;
  return WEIR_OK;
}

void weir_device_event_destroy(weir_device_event **event)
{
  if (*event != NULL) {
    (*event)->device->ops->event_destroy(*event);
    weir_free(event);
  }
}

static weir_status refuse_host_wait(const weir_device *d)
{
  if (d->capture != 0) {
    return weir_fail(WEIR_ERR_EXTERNAL, "device %s: the host cannot wait during a capture",
                     d->row->name);
  }
  return WEIR_OK;
}

weir_status weir_device_queue_sync(weir_device_queue *queue)
{
  WEIR_TRY(refuse_host_wait(queue->device));
  WEIR_TRY(queue->device->ops->queue_sync(queue));
  return WEIR_OK;
}

static weir_status check_recorded(const weir_device_event *event, const char *who)
{
  if (!event->recorded) {
    return weir_fail(WEIR_ERR_EXTERNAL,
                     "device %s: %s waits for an event that was never recorded: record it first",
                     event->device->row->name, who);
  }
  return WEIR_OK;
}

weir_status weir_device_event_sync(weir_device_event *event)
{
  WEIR_TRY(refuse_host_wait(event->device));
  WEIR_TRY(check_recorded(event, "the host"));
  if (event->capture != 0) {
    return weir_fail(WEIR_ERR_EXTERNAL,
                     "device %s: the host waits for an event of a capture: wait for the queue that "
                     "replays it",
                     event->device->row->name);
  }
  WEIR_TRY(event->device->ops->event_sync(event));
  return WEIR_OK;
}

/* Whether the queue may be given work now. */
static weir_status check_captured(const weir_device_queue *queue)
{
  const weir_device *d = queue->device;

  if (d->capture != 0 && queue->capture != d->capture) {
    return weir_fail(WEIR_ERR_EXTERNAL,
                     "device %s: queue %d does not belong to the active capture: let it wait for "
                     "an event that a captured queue has recorded",
                     d->row->name, queue->slot);
  }
  return WEIR_OK;
}

weir_status weir_device_event_record(weir_device_event *event, weir_device_queue *queue)
{
  WEIR_TRY(check_captured(queue));
  WEIR_TRY(queue->device->ops->event_record(event, queue));
  event->recorded = true;
  event->capture = queue->device->capture;
  if (event->capture != 0) {
    event->past = queue->device->past[queue->slot];
  }
  return WEIR_OK;
}

weir_status weir_device_queue_wait(weir_device_queue *queue, weir_device_event *event)
{
  weir_device *d = queue->device;

  WEIR_TRY(check_recorded(event, "a queue"));
  if (event->capture != d->capture) {
    return weir_fail(WEIR_ERR_EXTERNAL,
                     "device %s: queue %d waits for an event that was recorded %s: record it again",
                     d->row->name, queue->slot,
                     d->capture != 0 ? "outside the active capture" : "in a capture");
  }
  WEIR_TRY(d->ops->queue_wait(queue, event));
  queue->capture = d->capture;
  device_past *past = &d->past[queue->slot];

  for (int k = 0; k < WEIR_DEVICE_QUEUES && d->capture != 0; k++) {
    past->of[k] = event->past.of[k] > past->of[k] ? event->past.of[k] : past->of[k];
  }
  return WEIR_OK;
}

/* ---- Copies and launches. ---- */

static weir_status enqueue(weir_device_queue *queue, const device_op *op)
{
  weir_device *d = queue->device;

  WEIR_TRY(d->ops->enqueue(queue, op));
  d->past[queue->slot].of[queue->slot] += d->capture != 0;
  return WEIR_OK;
}

/* The last array that begins at or before the address, NULL where there is none. */
static device_array *array_before(const weir_device *d, const char *address)
{
  int64_t lo = 0, hi = d->n_arrays;

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;
    if (d->arrays[middle]->address <= address) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo > 0 ? d->arrays[lo - 1] : NULL;
}

static weir_status find_use(const weir_device *d, const char *what, const weir_device_range *range,
                            device_use *use)
{
  const char *address = range->address;
  device_array *array = array_before(d, address);
  const int64_t lo = array == NULL ? 0 : address - array->address;

  if (array == NULL || lo >= array->bytes) {
    return weir_fail(WEIR_ERR_SHAPE, "device %s: %s: address %p is not in an array of the device",
                     d->row->name, what, range->address);
  }
  if (range->bytes < 0 || range->bytes > array->bytes - lo) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "device %s: %s: %" PRId64 " bytes from byte %" PRId64 " of array %" PRId64
                     ", which has %" PRId64,
                     d->row->name, what, range->bytes, lo, array->number, array->bytes);
  }
  *use = (device_use){array, array->number, lo, lo + range->bytes, range->access};
  return WEIR_OK;
}

weir_status weir_device_copy(weir_device_queue *queue, void *to, const void *from, int64_t bytes)
{
  weir_device *d = queue->device;
  device_use uses[2];

  WEIR_TRY(check_captured(queue));
  if (bytes == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(
      find_use(d, "a copy writes", &(weir_device_range){to, bytes, WEIR_DEVICE_WRITE}, &uses[0]));
  WEIR_TRY(
      find_use(d, "a copy reads", &(weir_device_range){from, bytes, WEIR_DEVICE_READ}, &uses[1]));
  if (uses[0].array == uses[1].array && uses[0].lo < uses[1].hi && uses[1].lo < uses[0].hi) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "device %s: a copy from byte %" PRId64 " to byte %" PRId64 " of array %" PRId64
                     ": %" PRId64 " bytes overlap",
                     d->row->name, uses[1].lo, uses[0].lo, uses[0].array->number, bytes);
  }
  WEIR_TRY(enqueue(queue, &(device_op){.kind = DEVICE_COPY, .uses = uses, .n_uses = 2}));
  return WEIR_OK;
}

enum { MAX_BLOCKS_YZ = 65535, MAX_THREADS_Z = 64 }; /* of every GPU of CUDA */

static weir_status check_shape(const weir_device *d, const weir_device_launch_spec *spec)
{
  int64_t threads = 1;

  for (int k = 0; k < 3; k++) {
    if (spec->grid[k] < 1 || spec->block[k] < 1 || (k > 0 && spec->grid[k] > MAX_BLOCKS_YZ) ||
        (k == 2 && spec->block[k] > MAX_THREADS_Z)) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "device %s: launch of %s: grid %d and block %d in direction %c: at least 1, "
                       "at most %d blocks along y and z, and %d threads along z",
                       d->row->name, spec->kernel->name, spec->grid[k], spec->block[k], "xyz"[k],
                       MAX_BLOCKS_YZ, MAX_THREADS_Z);
    }
    threads *= spec->block[k];
    if (threads > d->info.block_threads) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "device %s: launch of %s: blocks of %dx%dx%d threads; it takes %" PRId64,
                       d->row->name, spec->kernel->name, spec->block[0], spec->block[1],
                       spec->block[2], d->info.block_threads);
    }
  }
  return WEIR_OK;
}

/* The ranges that are not empty, in d->uses. */
static weir_status find_uses(weir_device *d, const char *what, const weir_device_range *ranges,
                             int n_ranges, int *n)
{
  WEIR_TRY(weir_reserve(&d->uses, &d->uses_capacity, n_ranges, sizeof *d->uses));
  *n = 0;
  for (int k = 0; k < n_ranges; k++) {
    if (ranges[k].bytes != 0) {
      WEIR_TRY(find_use(d, what, &ranges[k], &d->uses[*n]));
      ++*n;
    }
  }
  return WEIR_OK;
}

weir_status device_enqueue(weir_device_queue *queue, device_op *op, const char *what,
                           const weir_device_range *ranges, int n_ranges)
{
  WEIR_TRY(check_captured(queue));
  WEIR_TRY(find_uses(queue->device, what, ranges, n_ranges, &op->n_uses));
  op->uses = queue->device->uses;
  WEIR_TRY(enqueue(queue, op));
  return WEIR_OK;
}

weir_status weir_device_call(weir_device_queue *queue, void (*body)(void *context), void *context,
                             const weir_device_range *ranges, int n_ranges)
{
  weir_device *d = queue->device;
  int n = 0;

  WEIR_TRY(check_captured(queue));
  WEIR_TRY(find_uses(d, "a host call", ranges, n_ranges, &n));
  for (int k = 0; k < n; k++) {
    if (d->uses[k].array->space != WEIR_SPACE_STAGING) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "device %s: a host call uses array %" PRId64
                       ", which is not in the staging space: copy it there first",
                       d->row->name, d->uses[k].array->number);
    }
  }
  WEIR_TRY(enqueue(
      queue,
      &(device_op){
          .kind = DEVICE_CALL, .uses = d->uses, .n_uses = n, .body = body, .context = context}));
  return WEIR_OK;
}

weir_status weir_device_launch(weir_device_queue *queue, const weir_device_launch_spec *spec)
{
  weir_device *d = queue->device;
  const weir_device_kernel *kernel = spec->kernel;
  char what[96];

  WEIR_ASSERT(kernel->device == d);
  WEIR_TRY(check_shape(d, spec));
  WEIR_TRY(weir_reserve(&d->args, &d->args_capacity, kernel->args_bytes, 1));
  snprintf(what, sizeof what, "launch of %s", kernel->name);
  for (int k = 0; k < kernel->n_params; k++) {
    memcpy(d->args + kernel->offsets[k], spec->args[k], (size_t)kernel->sizes[k]);
  }
  device_op op = {.kind = DEVICE_LAUNCH, .kernel = kernel, .args = d->args};

  memcpy(op.grid, spec->grid, sizeof op.grid);
  memcpy(op.block, spec->block, sizeof op.block);
  WEIR_TRY(device_enqueue(queue, &op, what, spec->ranges, spec->n_ranges));
  return WEIR_OK;
}

/* ---- Captures. ---- */

weir_status weir_device_capture_begin(weir_device_queue *queue)
{
  weir_device *d = queue->device;
  void *memory = NULL;

  if (d->capture != 0) {
    return weir_fail(WEIR_ERR_EXTERNAL, "device %s: a capture is active: end it first",
                     d->row->name);
  }
  WEIR_TRY(weir_alloc(1, sizeof(weir_device_capture), &memory));
  const weir_status status = d->ops->capture_begin(queue);
  if (status != WEIR_OK) {
    weir_free(&memory);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  d->making = memory;
  d->making->device = d;
  d->capture = ++d->captures;
  memset(d->past, 0, sizeof d->past);
  d->origin = queue;
  queue->capture = d->capture;
  return WEIR_OK;
}

/* A queue with work that does not come before what `end` is given next; -1: none. */
static int find_unjoined(const weir_device *d, const weir_device_queue *end)
{
  for (int k = 0; k < WEIR_DEVICE_QUEUES; k++) {
    if (d->past[end->slot].of[k] < d->past[k].of[k]) {
      return k;
    }
  }
  return -1;
}

weir_status weir_device_capture_end(weir_device_queue *queue, weir_device_capture **out)
{
  weir_device *d = queue->device;

  *out = NULL;
  if (d->capture == 0 || d->origin != queue) {
    return weir_fail(WEIR_ERR_EXTERNAL, "device %s: queue %d has not begun a capture", d->row->name,
                     queue->slot);
  }
  weir_device_capture *capture = d->making;
  const int unjoined = find_unjoined(d, queue);
  weir_status status = d->ops->capture_end(queue, capture);

  d->making = NULL;
  d->origin = NULL;
  d->capture = 0;
  for (int k = 0; k < WEIR_DEVICE_QUEUES; k++) {
    if (d->queues[k] != NULL) {
      d->queues[k]->capture = 0;
    }
  }
  if (unjoined >= 0) {
    if (status == WEIR_OK) {
      d->ops->capture_destroy(capture);
    }
    status = weir_fail(WEIR_ERR_EXTERNAL,
                       "device %s: the capture ends while queue %d has not been joined: let queue "
                       "%d wait for an event recorded after its last work",
                       d->row->name, unjoined, queue->slot);
  }
  if (status != WEIR_OK) {
    weir_free(&capture);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *out = capture;
  return WEIR_OK;
}

weir_status weir_device_replay(weir_device_capture *capture, weir_device_queue *queue)
{
  if (queue->device->capture != 0) {
    return weir_fail(WEIR_ERR_EXTERNAL, "device %s: a replay inside a capture is not supported",
                     queue->device->row->name);
  }
  WEIR_TRY(queue->device->ops->replay(capture, queue));
  return WEIR_OK;
}

void weir_device_capture_destroy(weir_device_capture **capture)
{
  if (*capture != NULL) {
    (*capture)->device->ops->capture_destroy(*capture);
    weir_free(capture);
  }
}
