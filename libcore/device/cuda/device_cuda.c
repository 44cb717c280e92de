/* device_cuda.c - one NVIDIA GPU: arenas, streams as queues, events, captured graphs. */
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/cuda/library.h"
#include "weir_device_abi.h"

static int64_t round_up(int64_t n)
{
  return (n + WEIR_DEVICE_ALIGN - 1) / WEIR_DEVICE_ALIGN * WEIR_DEVICE_ALIGN;
}

static void close_device(weir_device *device)
{
  cuda_state *s = cuda_enter(device);

  (void)s->driver.cuCtxSynchronize_();
  cuda_libraries_close(s);
  (void)s->driver.cuDevicePrimaryCtxRelease_(s->device);
  weir_free(&device->state);
}

/* ---- Arenas: one allocation each, of pinned host memory for staging. ---- */

static weir_status arena_create(weir_device_arena *arena)
{
  const cuda_state *s = cuda_enter(arena->device);
  int64_t bytes = 0;
  CUdeviceptr memory = 0;

  for (int64_t i = 0; i < arena->n; i++) {
    bytes += round_up(arena->arrays[i].bytes);
  }
  if (bytes > 0 && arena->space == WEIR_SPACE_STAGING) {
    WEIR_CUDA_CALL(&s->driver, cuMemAllocHost, &arena->state, (size_t)bytes);
  } else if (bytes > 0) {
    WEIR_CUDA_CALL(&s->driver, cuMemAlloc, &memory, (size_t)bytes);
    arena->state = (void *)(uintptr_t)memory;
  }
  char *at = arena->state;
  for (int64_t i = 0; i < arena->n; i++) {
    arena->arrays[i].address = at;
    at = at == NULL ? NULL : at + round_up(arena->arrays[i].bytes);
  }
  return WEIR_OK;
}

static void arena_destroy(weir_device_arena *arena)
{
  const cuda_state *s = cuda_enter(arena->device);

  (void)s->driver.cuCtxSynchronize_();
  if (arena->state != NULL && arena->space == WEIR_SPACE_STAGING) {
    (void)s->driver.cuMemFreeHost_(arena->state);
  } else if (arena->state != NULL) {
    (void)s->driver.cuMemFree_((CUdeviceptr)(uintptr_t)arena->state);
  }
}

/* ---- Queues and events. ---- */

static weir_status queue_create(weir_device_queue *queue)
{
  const cuda_state *s = cuda_enter(queue->device);
  CUstream stream = NULL;

  WEIR_CUDA_CALL(&s->driver, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  queue->state = stream;
  return WEIR_OK;
}

static void queue_destroy(weir_device_queue *queue)
{
  const cuda_state *s = cuda_enter(queue->device);

  (void)s->driver.cuStreamSynchronize_(queue->state);
  (void)s->driver.cuStreamDestroy_(queue->state);
}

static weir_status queue_sync(weir_device_queue *queue)
{
  const cuda_state *s = cuda_enter(queue->device);

  WEIR_CUDA_CALL(&s->driver, cuStreamSynchronize, queue->state);
  return WEIR_OK;
}

static weir_status queue_wait(weir_device_queue *queue, weir_device_event *event)
{
  const cuda_state *s = cuda_enter(queue->device);

  WEIR_CUDA_CALL(&s->driver, cuStreamWaitEvent, queue->state, event->state, 0);
  return WEIR_OK;
}

static weir_status event_create(weir_device_event *event)
{
  const cuda_state *s = cuda_enter(event->device);
  CUevent made = NULL;

  WEIR_CUDA_CALL(&s->driver, cuEventCreate, &made, CU_EVENT_DISABLE_TIMING);
  event->state = made;
  return WEIR_OK;
}

static void event_destroy(weir_device_event *event)
{
  (void)cuda_enter(event->device)->driver.cuEventDestroy_(event->state);
}

static weir_status event_record(weir_device_event *event, weir_device_queue *queue)
{
  const cuda_state *s = cuda_enter(queue->device);

  WEIR_CUDA_CALL(&s->driver, cuEventRecord, event->state, queue->state);
  return WEIR_OK;
}

static weir_status event_sync(weir_device_event *event)
{
  const cuda_state *s = cuda_enter(event->device);

  WEIR_CUDA_CALL(&s->driver, cuEventSynchronize, event->state);
  return WEIR_OK;
}

static weir_status enqueue(weir_device_queue *queue, const device_op *op)
{
  const cuda_state *s = cuda_enter(queue->device);

  if (op->kind == DEVICE_LAUNCH) {
    WEIR_TRY(cuda_launch(queue->state, op));
    return WEIR_OK;
  }
  if (op->kind == DEVICE_LIBRARY) {
    WEIR_TRY(cuda_call_run(queue->state, op));
    return WEIR_OK;
  }
  if (op->kind == DEVICE_CALL) {
    WEIR_CUDA_CALL(&s->driver, cuLaunchHostFunc, queue->state, op->body, op->context);
    return WEIR_OK;
  }
  const device_use *to = &op->uses[0], *from = &op->uses[1];
  WEIR_CUDA_CALL(&s->driver, cuMemcpyAsync, (CUdeviceptr)(uintptr_t)(to->array->address + to->lo),
                 (CUdeviceptr)(uintptr_t)(from->array->address + from->lo),
                 (size_t)(to->hi - to->lo), queue->state);
  return WEIR_OK;
}

/* ---- Captures: CUDA graphs. ---- */

static weir_status capture_begin(weir_device_queue *queue)
{
  const cuda_state *s = cuda_enter(queue->device);

  WEIR_CUDA_CALL(&s->driver, cuStreamBeginCapture, queue->state,
                 CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  return WEIR_OK;
}

static weir_status capture_end(weir_device_queue *queue, weir_device_capture *capture)
{
  const cuda_state *s = cuda_enter(queue->device);
  CUgraph graph = NULL;
  CUgraphExec ready = NULL;

  WEIR_CUDA_CALL(&s->driver, cuStreamEndCapture, queue->state, &graph);
  const CUresult result = s->driver.cuGraphInstantiateWithFlags_(&ready, graph, 0);
  (void)s->driver.cuGraphDestroy_(graph);
  if (result != CUDA_SUCCESS) {
    return driver_fail(&s->driver, result, "cuGraphInstantiate");
  }
  capture->state = ready;
  return WEIR_OK;
}

static weir_status replay(weir_device_capture *capture, weir_device_queue *queue)
{
  const cuda_state *s = cuda_enter(queue->device);

  WEIR_CUDA_CALL(&s->driver, cuGraphLaunch, capture->state, queue->state);
  return WEIR_OK;
}

static void capture_destroy(weir_device_capture *capture)
{
  const cuda_state *s = cuda_enter(capture->device);

  (void)s->driver.cuCtxSynchronize_();
  (void)s->driver.cuGraphExecDestroy_(capture->state);
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
    .kernel_create = cuda_kernel_create,
    .kernel_destroy = cuda_kernel_destroy,
    .library_create = cuda_call_create,
    .library_destroy = cuda_call_destroy,
    .enqueue = enqueue,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .replay = replay,
    .capture_destroy = capture_destroy,
};

/* ---- Opening. ---- */

static weir_status attribute(const cuda_state *s, CUdevice_attribute which, int *out)
{
  WEIR_CUDA_CALL(&s->driver, cuDeviceGetAttribute, out, which, s->device);
  return WEIR_OK;
}

static weir_status read_info(cuda_state *s, weir_device_info *info)
{
  size_t memory = 0;
  int processors, cache, shared, threads, warp;

  WEIR_CUDA_CALL(&s->driver, cuDeviceGetName, info->model, (int)sizeof info->model, s->device);
  WEIR_CUDA_CALL(&s->driver, cuDeviceTotalMem, &memory, s->device);
  WEIR_TRY(attribute(s, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &s->major));
  WEIR_TRY(attribute(s, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &s->minor));
  WEIR_TRY(attribute(s, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &processors));
  WEIR_TRY(attribute(s, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &cache));
  WEIR_TRY(attribute(s, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &shared));
  WEIR_TRY(attribute(s, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &threads));
  WEIR_TRY(attribute(s, CU_DEVICE_ATTRIBUTE_WARP_SIZE, &warp));
  (void)snprintf(info->architecture, sizeof info->architecture, "sm_%d%d", s->major, s->minor);
  info->processors = processors;
  info->memory_bytes = (int64_t)memory;
  info->cache_bytes = cache;
  info->shared_bytes = shared;
  info->block_threads = threads;
  info->vector_threads = warp;
  return WEIR_OK;
}

static weir_status find_gpu(cuda_state *s, int index)
{
  int count = 0;
  const CUresult result = s->driver.cuInit_(0);

  if (result == CUDA_ERROR_NO_DEVICE) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: the driver finds no GPU");
  }
  if (result != CUDA_SUCCESS) {
    (void)driver_fail(&s->driver, result, "cuInit");
    return WEIR_ERR_UNSUPPORTED;
  }
  WEIR_CUDA_CALL(&s->driver, cuDeviceGetCount, &count);
  if (index < 0 || index >= count) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "device cuda: number %d: the driver finds %d", index,
                     count);
  }
  WEIR_CUDA_CALL(&s->driver, cuDeviceGet, &s->device, index);
  return WEIR_OK;
}

static weir_status open_device(weir_device *device, const weir_device_options *options)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof(cuda_state), &memory));
  cuda_state *s = memory;

  WEIR_TRY_GOTO(driver_open(&s->driver), failed);
  WEIR_TRY_GOTO(find_gpu(s, options->index), failed);
  WEIR_TRY_GOTO(read_info(s, &device->info), failed);
  const CUresult result = s->driver.cuDevicePrimaryCtxRetain_(&s->context, s->device);
  if (result != CUDA_SUCCESS) {
    status = driver_fail(&s->driver, result, "cuDevicePrimaryCtxRetain");
    goto failed;
  }
  device->state = s;
  device->ops = &ops;
  return WEIR_OK;
failed:
  weir_free(&s);
  return status;
}

static weir_status compile(const char *architecture, const weir_device_source *source,
                           weir_device_usage *out)
{
  if (strncmp(architecture, "sm_", 3) != 0 && strncmp(architecture, "compute_", 8) != 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "device cuda: '%s' is not a GPU architecture: give one such as sm_90",
                     architecture);
  }
  WEIR_TRY(cuda_compile(source, architecture, NULL, out));
  return WEIR_OK;
}

extern const device_plugin weir_device_plugin;
const device_plugin weir_device_plugin = {
    .abi = WEIR_DEVICE_ABI, .open = open_device, .compile = compile, .plan = cuda_call_plan};
