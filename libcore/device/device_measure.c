/* device_measure.c - what copies, launches and waiting cost on a device. */
#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "device/device_priv.h"

#define MAX_BYTES (INT64_C(1) << 40) /* blocks of a launch in 31 bits */
enum { RUNS = 5, LAUNCHES = 200, REPLAYED = 50 };

typedef struct bench {
  weir_device *device;
  weir_device_queue *queue, *other;
  weir_device_event *event;
  weir_device_arena *arena, *staging;
  weir_device_kernel *empty, *map;
  weir_device_capture *capture;
  void *a, *b, *host, *host_other;
  int64_t bytes, value;
} bench;

static weir_status set_up(bench *b)
{
  static const weir_device_param params[] = {{"int64_t *", "out", sizeof(void *)},
                                             {"int64_t", "value", sizeof(int64_t)}};
  const weir_device_source source = {
      .name = "measure_launch",
      .params = params,
      .n_params = 2,
      .body = "if (blockIdx.x == 0 && threadIdx.x == 0) {\n  out[0] = value;\n}",
  };
  static const weir_device_param map_params[] = {{"const float *", "x", sizeof(void *)},
                                                 {"float *", "y", sizeof(void *)},
                                                 {"int64_t", "n", sizeof(int64_t)}};
  const weir_device_source map = {
      .name = "measure_map",
      .params = map_params,
      .n_params = 3,
      .helpers = "typedef struct __attribute__((aligned(16))) {\n  float v[4];\n} four;\n",
      .body = "int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
              "if (i < n / 4) {\n"
              "  four f = ((const four *)x)[i];\n"
              "  for (int k = 0; k < 4; k++) {\n    f.v[k] = f.v[k] * 1.5f;\n  }\n"
              "  ((four *)y)[i] = f;\n"
              "} else if (i == n / 4) {\n"
              "  for (int64_t k = 4 * i; k < n; k++) {\n    y[k] = x[k] * 1.5f;\n  }\n"
              "}",
  };
  const int64_t sizes[] = {b->bytes, b->bytes};
  void *arrays[2], *hosts[2];

  WEIR_TRY(weir_device_queue_create(b->device, &b->queue));
  WEIR_TRY(weir_device_queue_create(b->device, &b->other));
  WEIR_TRY(weir_device_event_create(b->device, &b->event));
  WEIR_TRY(weir_device_arena_create(b->device, WEIR_SPACE_DEVICE, 2, sizes, arrays, &b->arena));
  b->a = arrays[0];
  b->b = arrays[1];
  WEIR_TRY(weir_device_arena_create(b->device, WEIR_SPACE_STAGING, 2, sizes, hosts, &b->staging));
  b->host = hosts[0];
  b->host_other = hosts[1];
  WEIR_TRY(weir_device_kernel_create(b->device, &source, &b->empty));
  WEIR_TRY(weir_device_kernel_create(b->device, &map, &b->map));
  return WEIR_OK;
}

static void tear_down(bench *b)
{
  weir_device_capture_destroy(&b->capture);
  weir_device_kernel_destroy(&b->map);
  weir_device_kernel_destroy(&b->empty);
  weir_device_arena_destroy(&b->staging);
  weir_device_arena_destroy(&b->arena);
  weir_device_event_destroy(&b->event);
  weir_device_queue_destroy(&b->other);
  weir_device_queue_destroy(&b->queue);
}

static weir_status upload(const bench *b)
{
  WEIR_TRY(weir_device_copy(b->queue, b->a, b->host, b->bytes));
  return WEIR_OK;
}

static weir_status copy(const bench *b)
{
  WEIR_TRY(weir_device_copy(b->queue, b->b, b->a, b->bytes));
  return WEIR_OK;
}

static weir_status download(const bench *b)
{
  WEIR_TRY(weir_device_copy(b->queue, b->host, b->b, b->bytes));
  return WEIR_OK;
}

static weir_status launch_n(const bench *b, int n)
{
  const void *const args[] = {&b->a, &b->value};
  const weir_device_range range = {b->a, 8, WEIR_DEVICE_WRITE};
  const weir_device_launch_spec spec = {.kernel = b->empty,
                                        .grid = {1, 1, 1},
                                        .block = {32, 1, 1},
                                        .args = args,
                                        .ranges = &range,
                                        .n_ranges = 1};

  for (int k = 0; k < n; k++) {
    WEIR_TRY(weir_device_launch(b->queue, &spec));
  }
  return WEIR_OK;
}

static weir_status both(const bench *b)
{
  WEIR_TRY(weir_device_copy(b->other, b->host_other, b->b, b->bytes));
  WEIR_TRY(weir_device_copy(b->queue, b->a, b->host, b->bytes));
  WEIR_TRY(weir_device_event_record(b->event, b->other));
  WEIR_TRY(weir_device_queue_wait(b->queue, b->event));
  return WEIR_OK;
}

enum { MAP_BLOCK = 256 };

static weir_status map(const bench *b)
{
  const int64_t n = b->bytes / 4, blocks = (n / 4 + MAP_BLOCK) / MAP_BLOCK;
  const void *const args[] = {&b->a, &b->b, &n};
  const weir_device_range ranges[] = {{b->a, 4 * n, WEIR_DEVICE_READ},
                                      {b->b, 4 * n, WEIR_DEVICE_WRITE}};

  WEIR_TRY(weir_device_launch(b->queue, &(weir_device_launch_spec){.kernel = b->map,
                                                                   .grid = {(int)blocks, 1, 1},
                                                                   .block = {MAP_BLOCK, 1, 1},
                                                                   .args = args,
                                                                   .ranges = ranges,
                                                                   .n_ranges = 2}));
  return WEIR_OK;
}

static weir_status one_launch(const bench *b)
{
  return launch_n(b, 1);
}

static weir_status launches(const bench *b)
{
  return launch_n(b, LAUNCHES);
}

static weir_status replays(const bench *b)
{
  for (int k = 0; k < LAUNCHES / REPLAYED; k++) {
    WEIR_TRY(weir_device_replay(b->capture, b->queue));
  }
  return WEIR_OK;
}

static weir_status events(const bench *b)
{
  for (int k = 0; k < LAUNCHES; k++) {
    WEIR_TRY(weir_device_event_record(b->event, k % 2 == 0 ? b->queue : b->other));
    WEIR_TRY(weir_device_queue_wait(k % 2 == 0 ? b->other : b->queue, b->event));
  }
  return WEIR_OK;
}

/* Least seconds of the body and waiting for it, after one run that is not timed. */
static weir_status best(const bench *b, weir_status (*body)(const bench *), double *seconds)
{
  *seconds = INFINITY;
  for (int k = 0; k <= RUNS; k++) {
    const double start = weir_clock();

    WEIR_TRY(body(b));
    WEIR_TRY(weir_device_queue_sync(b->queue));
    *seconds = k == 0 ? INFINITY : fmin(*seconds, weir_clock() - start);
  }
  return WEIR_OK;
}

static weir_status capture_launches(bench *b)
{
  WEIR_TRY(weir_device_capture_begin(b->queue));
  const weir_status given = launch_n(b, REPLAYED);
  const weir_status ended = weir_device_capture_end(b->queue, &b->capture);

  WEIR_TRY(given != WEIR_OK ? given : ended);
  return WEIR_OK;
}

static weir_status measure(bench *b, weir_device_costs *out)
{
  double seconds = 0;

  WEIR_TRY(best(b, upload, &seconds));
  out->upload = (double)b->bytes / seconds;
  WEIR_TRY(best(b, copy, &seconds));
  out->copy = 2 * (double)b->bytes / seconds;
  WEIR_TRY(best(b, map, &seconds));
  out->map = 2 * (double)(b->bytes / 4 * 4) / seconds;
  WEIR_TRY(best(b, download, &seconds));
  out->download = (double)b->bytes / seconds;
  WEIR_TRY(best(b, both, &seconds));
  out->both = 2 * (double)b->bytes / seconds;
  WEIR_TRY(best(b, launches, &seconds));
  out->launch = seconds / LAUNCHES;
  WEIR_TRY(best(b, one_launch, &seconds));
  out->sync = seconds;
  WEIR_TRY(best(b, events, &seconds));
  out->event = seconds / LAUNCHES;
  WEIR_TRY(capture_launches(b));
  WEIR_TRY(best(b, replays, &seconds));
  out->replay = seconds / LAUNCHES;
  return WEIR_OK;
}

weir_status weir_device_measure(weir_device *device, int64_t bytes, weir_device_costs *out)
{
  weir_status status = WEIR_OK;
  bench b = {.device = device, .bytes = bytes, .value = 1};
  weir_device_costs costs = {0};

  if (bytes < 8 || bytes > MAX_BYTES) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "device %s: cannot measure copies of %lld bytes: give at least 8, at most %lld",
        weir_device_name(device), (long long)bytes, (long long)MAX_BYTES);
  }
  WEIR_TRY_GOTO(set_up(&b), done);
  WEIR_TRY_GOTO(measure(&b, &costs), done);
  *out = costs;
done:
  tear_down(&b);
  return status;
}
