/* devices_refused.c - what every device refuses: misuse of queues, events and memory, and kernels
 * and launches that no GPU takes. */
#include <inttypes.h>
#include <string.h>
#include "devices.h"

static void check_refusals(weir_device *device, uint64_t seed)
{
  weir_device_arena *arenas[2];
  weir_device_queue *queue = NULL, *other = NULL;
  weir_device_event *event = NULL;
  weir_device_capture *capture = NULL;
  char *a = devices_array(device, WEIR_SPACE_DEVICE, 100, &arenas[0]);
  char *b = devices_array(device, WEIR_SPACE_DEVICE, 100, &arenas[1]), mine[100];

  assert_ok(weir_device_queue_create(device, &queue));
  assert_ok(weir_device_queue_create(device, &other));
  assert_ok(weir_device_event_create(device, &event));
  assert_int_equal(weir_device_copy(queue, a, b, 101), WEIR_ERR_SHAPE);
  assert_int_equal(weir_device_copy(queue, a + 1, b, 100), WEIR_ERR_SHAPE);
  assert_int_equal(weir_device_copy(queue, a, b + 99, 2), WEIR_ERR_SHAPE);
  assert_int_equal(weir_device_copy(queue, a, b, -1), WEIR_ERR_SHAPE);
  assert_int_equal(weir_device_copy(queue, a, mine, 100), WEIR_ERR_SHAPE);
  assert_int_equal(weir_device_copy(queue, a + 10, a, 11), WEIR_ERR_SHAPE);
  assert_int_equal(weir_device_queue_wait(queue, event), WEIR_ERR_EXTERNAL);
  assert_int_equal(weir_device_event_sync(event), WEIR_ERR_EXTERNAL);
  assert_int_equal(weir_device_capture_end(queue, &capture), WEIR_ERR_EXTERNAL);
  assert_ok(weir_device_capture_begin(queue));
  assert_int_equal(weir_device_capture_begin(other), WEIR_ERR_EXTERNAL);
  assert_int_equal(weir_device_queue_sync(queue), WEIR_ERR_EXTERNAL);
  assert_int_equal(weir_device_event_record(event, other), WEIR_ERR_EXTERNAL);
  assert_ok(weir_device_event_record(event, queue));
  assert_ok(weir_device_capture_end(queue, &capture));
  assert_int_equal(weir_device_queue_wait(other, event), WEIR_ERR_EXTERNAL);
  weir_device_capture_destroy(&capture);
  assert_ok(weir_device_queue_sync(queue));
  weir_device_arena_destroy(&arenas[1]);
  assert_int_equal(weir_device_copy(queue, a, b, 100), WEIR_ERR_SHAPE); /* b is freed */
  weir_device_event_destroy(&event);
  weir_device_queue_destroy(&other);
  weir_device_queue_destroy(&queue);
  weir_device_arena_destroy(&arenas[0]);
}

void devices_refuse_misuse(void **state)
{
  devices_each(check_refusals);
}

static void check_bad_kernels(weir_device *device, uint64_t seed)
{
  weir_device_kernel *kernel = NULL;
  weir_device_queue *queue = NULL;
  const weir_device_source wrong = {.name = "wrong", .body = "undeclared_thing = 1;"},
                           nothing = {.name = "nothing", .body = ""};
  const int64_t most = weir_device_info_get(device)->block_threads;

  assert_int_equal(weir_device_kernel_create(device, &wrong, &kernel), WEIR_ERR_UNSUPPORTED);
  assert_null(kernel);
  assert_non_null(strstr(weir_last_message(), "undeclared_thing"));
  assert_ok(weir_device_kernel_create(device, &nothing, &kernel));
  assert_ok(weir_device_queue_create(device, &queue));
  weir_device_launch_spec spec = {.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 0}};
  assert_int_equal(weir_device_launch(queue, &spec), WEIR_ERR_SHAPE);
  spec.block[2] = 1;
  assert_ok(weir_device_launch(queue, &spec));
  spec.block[0] = (int)most + 1;
  assert_int_equal(weir_device_launch(queue, &spec), WEIR_ERR_SHAPE);
  spec.block[0] = (int)most;
  assert_ok(weir_device_launch(queue, &spec));
  for (int k = 0; k < 3; k++) { /* along z a block takes less than along x and y */
    weir_device_launch_spec along = {.kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    along.block[k] = 64;
    assert_ok(weir_device_launch(queue, &along));
    along.block[k] = 65;
    assert_int_equal(weir_device_launch(queue, &along), k == 2 ? WEIR_ERR_SHAPE : WEIR_OK);
    along.block[k] = 1;
    along.grid[k] = 65536;
    assert_int_equal(weir_device_launch(queue, &along), k == 0 ? WEIR_OK : WEIR_ERR_SHAPE);
  }
  assert_ok(weir_device_queue_sync(queue));
  weir_device_queue_destroy(&queue);
  weir_device_kernel_destroy(&kernel);
}

/* All that a block of a GPU may share, and one word more. The cpu has no such bound. */
static void check_shared_bytes(weir_device *device, uint64_t seed)
{
  static const weir_device_param params[] = {{"int *", "out", sizeof(int *)}};
  const int64_t most = weir_device_info_get(device)->shared_bytes;

  for (int more = 0; more < 2 && strcmp(weir_device_name(device), "cpu") != 0; more++) {
    char body[256], bytes[32];
    weir_device_kernel *kernel = NULL;

    snprintf(bytes, sizeof bytes, "%" PRId64, most + 4 * more);
    snprintf(body, sizeof body,
             "__shared__ int s[%" PRId64 "];\ns[threadIdx.x] = out[0];\n__syncthreads();\n"
             "out[1] = s[%" PRId64 " - threadIdx.x];",
             most / 4 + more, most / 4 - 1);
    const weir_device_source source = {
        .name = "sharing", .params = params, .n_params = 1, .body = body};
    const weir_status status = weir_device_kernel_create(device, &source, &kernel);
    assert_int_equal(status, more == 0 ? WEIR_OK : WEIR_ERR_UNSUPPORTED);
    assert_int_equal(kernel == NULL, more);
    if (more > 0 && strcmp(weir_device_name(device), "emulated") == 0) {
      assert_non_null(strstr(weir_last_message(), bytes));
    }
    weir_device_kernel_destroy(&kernel);
  }
}

void devices_bound_shared_memory(void **state)
{
  devices_each(check_shared_bytes);
}

void devices_refuse_kernels(void **state)
{
  devices_each(check_bad_kernels);
}
