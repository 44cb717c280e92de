/* devices.c - what every device must do, on every device that this machine has. A row that does not
 * open says why; results are compared with plain loops, bit for bit. */
#include <inttypes.h>
#include <string.h>
#include "devices.h"

static void rows_open_or_say_why(void **state)
{
  for (int k = 0; weir_device_row_get(k) != NULL; k++) {
    const char *name = weir_device_row_get(k)->name;
    weir_device *device = NULL;

    if (weir_device_open(name, NULL, &device) == WEIR_OK) {
      print_message("%s: %s\n", name, weir_device_info_get(device)->model);
      assert_string_equal(weir_device_name(device), name);
    } else {
      print_message("%s: not available: %s\n", name, weir_last_message());
    }
    weir_device_close(&device);
  }
}

/* ---- Memory and copies. ---- */

static void check_arenas(weir_device *device, uint64_t seed)
{
  const int64_t bytes[] = {1, 0, 255, 256, 257, 100003};
  void *address[6];
  weir_device_arena *arena = NULL;

  for (int space = WEIR_SPACE_DEVICE; space <= WEIR_SPACE_STAGING; space++) {
    assert_ok(
        weir_device_arena_create(device, (weir_device_space)space, 6, bytes, address, &arena));
    for (int i = 0; i < 6; i++) {
      assert_int_equal(address[i] == NULL, bytes[i] == 0);
      assert_int_equal((uintptr_t)address[i] % WEIR_DEVICE_ALIGN, 0);
      for (int k = 0; k < i; k++) {
        const char *a = address[i], *b = address[k];
        assert_true(bytes[i] == 0 || bytes[k] == 0 || a + bytes[i] <= b || b + bytes[k] <= a);
      }
    }
    weir_device_arena_destroy(&arena);
    assert_null(arena);
  }
  assert_ok(weir_device_arena_create(device, WEIR_SPACE_DEVICE, 0, NULL, NULL, &arena));
  weir_device_arena_destroy(&arena);
  assert_int_equal(
      weir_device_arena_create(device, WEIR_SPACE_DEVICE, 1, (int64_t[]){-1}, address, &arena),
      WEIR_ERR_SHAPE);
  assert_null(arena);
}

static void arenas_hold_arrays(void **state)
{
  devices_each(check_arenas);
}

/* Staging to device to device to staging, in odd pieces at odd places. */
static void check_copies(weir_device *device, uint64_t seed)
{
  enum { BYTES = 5003 };
  weir_device_arena *arenas[4];
  weir_device_queue *queue = NULL;
  uint64_t count = 0;
  char *from = devices_array(device, WEIR_SPACE_STAGING, BYTES, &arenas[0]);
  char *to = devices_array(device, WEIR_SPACE_STAGING, BYTES, &arenas[1]);
  char *a = devices_array(device, WEIR_SPACE_DEVICE, BYTES, &arenas[2]);
  char *b = devices_array(device, WEIR_SPACE_DEVICE, BYTES, &arenas[3]);

  assert_ok(weir_device_queue_create(device, &queue));
  for (int i = 0; i < BYTES; i++) {
    from[i] = (char)devices_draw(seed, &count, 256);
  }
  assert_ok(weir_device_copy(queue, a, from, BYTES));
  assert_ok(weir_device_copy(queue, b, a, BYTES));
  char expected[BYTES];
  memcpy(expected, from, BYTES);
  for (int k = 0; k < 40; k++) {
    const uint64_t n_drawn = devices_draw(seed, &count, 300);
    const int64_t n = (int64_t)n_drawn, p = (int64_t)devices_draw(seed, &count, BYTES - n_drawn),
                  q = (int64_t)devices_draw(seed, &count, BYTES - n_drawn);

    assert_ok(weir_device_copy(queue, b + p, a + q, n)); /* n may be 0 */
    memcpy(expected + p, from + q, (size_t)n);
  }
  assert_ok(weir_device_copy(queue, to, b, BYTES));
  assert_ok(weir_device_queue_sync(queue));
  assert_memory_equal(to, expected, BYTES);
  weir_device_queue_destroy(&queue);
  for (int i = 0; i < 4; i++) {
    weir_device_arena_destroy(&arenas[i]);
  }
}

static void copies_of_odd_pieces(void **state)
{
  devices_each(check_copies);
}

/* ---- Kernels. ---- */

static const weir_device_param axpy_params[] = {
    {"float", "a", 4}, {"const float *", "x", 8}, {"float *", "y", 8}, {"int64_t", "n", 8}};
static const weir_device_source axpy_source = {
    .name = "axpy",
    .params = axpy_params,
    .n_params = 4,
    .helpers = "__device__ float times(float a, float b)\n{\n  return a * b;\n}\n",
    .body = "int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
            "if (i < n) {\n  y[i] = y[i] + times(a, x[i]);\n}",
};

static void check_elementwise(weir_device *device, uint64_t seed)
{
  const int64_t n = 1 + 333 * (int64_t)seed, bytes = 4 * n;
  const float a = 1.1f + (float)seed;
  weir_device_arena *arenas[3];
  weir_device_queue *queue = NULL;
  weir_device_kernel *kernel = NULL;
  float *host = devices_array(device, WEIR_SPACE_STAGING, 2 * bytes, &arenas[0]);
  float *x = devices_array(device, WEIR_SPACE_DEVICE, bytes, &arenas[1]);
  float *y = devices_array(device, WEIR_SPACE_DEVICE, bytes, &arenas[2]);
  float expected[1024];

  for (int64_t i = 0; i < n; i++) {
    host[i] = (float)weir_random_uniform(seed, 2, 0, (uint64_t)i) - 0.5f;
    host[n + i] = (float)weir_random_uniform(seed, 3, 0, (uint64_t)i);
    const float product = a * host[i];
    expected[i] = host[n + i] + product;
  }
  assert_ok(weir_device_queue_create(device, &queue));
  assert_ok(weir_device_kernel_create(device, &axpy_source, &kernel));
  assert_ok(weir_device_copy(queue, x, host, bytes));
  assert_ok(weir_device_copy(queue, y, host + n, bytes));
  const void *const args[] = {&a, &x, &y, &n};
  const weir_device_range ranges[] = {{x, bytes, WEIR_DEVICE_READ}, {y, bytes, WEIR_DEVICE_UPDATE}};
  assert_ok(
      weir_device_launch(queue, &(weir_device_launch_spec){.kernel = kernel,
                                                           .grid = {(int)(n + 127) / 128, 1, 1},
                                                           .block = {128, 1, 1},
                                                           .args = args,
                                                           .ranges = ranges,
                                                           .n_ranges = 2}));
  assert_ok(weir_device_copy(queue, host, y, bytes));
  assert_ok(weir_device_queue_sync(queue));
  assert_memory_equal(host, expected, (size_t)bytes);
  weir_device_kernel_destroy(&kernel);
  weir_device_queue_destroy(&queue);
  for (int i = 0; i < 3; i++) {
    weir_device_arena_destroy(&arenas[i]);
  }
}

static void elementwise_launch(void **state)
{
  devices_each(check_elementwise);
}

/* Sum of a block by halves through shared memory; grid and block in three directions. */
static const weir_device_param sum_params[] = {{"const float *", "x", 8}, {"float *", "sums", 8}};
static const weir_device_source sum_source = {
    .name = "block_sum",
    .params = sum_params,
    .n_params = 2,
    .body = "__shared__ float part[64];\n"
            "int t = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));\n"
            "int b = (int)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));\n"
            "part[t] = x[64 * b + t];\n"
            "for (int half = 32; half > 0; half /= 2) {\n"
            "  __syncthreads();\n"
            "  if (t < half) {\n    part[t] = part[t] + part[t + half];\n  }\n"
            "}\n"
            "if (t == 0) {\n  sums[b] = part[0];\n}",
};

static void check_shared(weir_device *device, uint64_t seed)
{
  enum { BLOCKS = 2 * 3 * 2, N = 64 * BLOCKS };
  weir_device_arena *arenas[2];
  weir_device_queue *queue = NULL;
  weir_device_kernel *kernel = NULL;
  float *host = devices_array(device, WEIR_SPACE_STAGING, 4 * N, &arenas[0]);
  const int64_t sizes[] = {4 * N, 4 * BLOCKS};
  void *arrays[2];
  float expected[BLOCKS], part[64];

  assert_ok(weir_device_arena_create(device, WEIR_SPACE_DEVICE, 2, sizes, arrays, &arenas[1]));
  for (int i = 0; i < N; i++) {
    host[i] = (float)weir_random_uniform(seed, 4, 0, (uint64_t)i);
  }
  for (int b = 0; b < BLOCKS; b++) {
    memcpy(part, host + 64 * b, sizeof part);
    for (int half = 32; half > 0; half /= 2) {
      for (int t = 0; t < half; t++) {
        part[t] = part[t] + part[t + half];
      }
    }
    expected[b] = part[0];
  }
  assert_ok(weir_device_queue_create(device, &queue));
  assert_ok(weir_device_kernel_create(device, &sum_source, &kernel));
  assert_ok(weir_device_copy(queue, arrays[0], host, 4 * N));
  const void *const args[] = {&arrays[0], &arrays[1]};
  const weir_device_range ranges[] = {{arrays[0], 4 * N, WEIR_DEVICE_READ},
                                      {arrays[1], 4 * BLOCKS, WEIR_DEVICE_WRITE}};
  assert_ok(weir_device_launch(queue, &(weir_device_launch_spec){.kernel = kernel,
                                                                 .grid = {2, 3, 2},
                                                                 .block = {4, 8, 2},
                                                                 .args = args,
                                                                 .ranges = ranges,
                                                                 .n_ranges = 2}));
  assert_ok(weir_device_copy(queue, host, arrays[1], 4 * BLOCKS));
  assert_ok(weir_device_queue_sync(queue));
  assert_memory_equal(host, expected, sizeof expected);
  weir_device_kernel_destroy(&kernel);
  weir_device_queue_destroy(&queue);
  weir_device_arena_destroy(&arenas[1]);
  weir_device_arena_destroy(&arenas[0]);
}

static void launch_with_barriers(void **state)
{
  devices_each(check_shared);
}

/* ---- Queues, events, captures: a random program, and the same program as plain loops. ---- */

enum { ARRAYS = 4, WORDS = 600, QUEUES = 3, STEPS = 60 };

static const weir_device_param mix_params[] = {
    {"const uint32_t *", "x", 8}, {"uint32_t *", "y", 8}, {"uint32_t", "factor", 4}};
static const weir_device_source mix_source = {
    .name = "mix",
    .params = mix_params,
    .n_params = 3,
    .body = "int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);\n"
            "if (i < 600) {\n  y[i] = y[i] * factor + x[599 - i];\n}",
};

typedef struct program {
  weir_device *device;
  weir_device_queue *queues[QUEUES];
  weir_device_event *event;
  weir_device_kernel *kernel;
  weir_device_arena *arena, *staging;
  uint32_t *arrays[ARRAYS], *host;
  uint32_t expected[ARRAYS][WORDS];
  int last[ARRAYS]; /* queue that used the array last */
  uint64_t seed, count;
} program;

static void open_program(program *p, weir_device *device, uint64_t seed)
{
  int64_t bytes[ARRAYS];
  void *arrays[ARRAYS];

  *p = (program){.device = device, .seed = seed};
  for (int i = 0; i < ARRAYS; i++) {
    bytes[i] = 4 * WORDS;
  }
  assert_ok(weir_device_arena_create(device, WEIR_SPACE_DEVICE, ARRAYS, bytes, arrays, &p->arena));
  for (int i = 0; i < ARRAYS; i++) {
    p->arrays[i] = arrays[i];
  }
  for (int i = 0; i < QUEUES; i++) {
    assert_ok(weir_device_queue_create(device, &p->queues[i]));
  }
  p->host = devices_array(device, WEIR_SPACE_STAGING, 4 * ARRAYS * WORDS, &p->staging);
  assert_ok(weir_device_event_create(device, &p->event));
  assert_ok(weir_device_kernel_create(device, &mix_source, &p->kernel));
}

static void close_program(program *p)
{
  weir_device_kernel_destroy(&p->kernel);
  weir_device_event_destroy(&p->event);
  weir_device_arena_destroy(&p->staging);
  weir_device_arena_destroy(&p->arena);
  for (int i = 0; i < QUEUES; i++) {
    weir_device_queue_destroy(&p->queues[i]);
  }
}

/* Orders the queue after the last use of the array. */
static void order(program *p, int queue, int array)
{
  if (p->last[array] != queue) {
    assert_ok(weir_device_event_record(p->event, p->queues[p->last[array]]));
    assert_ok(weir_device_queue_wait(p->queues[queue], p->event));
    p->last[array] = queue;
  }
}

static void upload(program *p, int queue)
{
  for (int i = 0; i < ARRAYS; i++) {
    order(p, queue, i);
    assert_ok(weir_device_copy(p->queues[queue], p->arrays[i], p->host + i * WORDS, 4 * WORDS));
  }
}

/* One random copy of a piece or launch on a random queue; with `model` set also as plain loops. */
static void step(program *p, bool run, bool model)
{
  const int queue = (int)devices_draw(p->seed, &p->count, QUEUES),
            x = (int)devices_draw(p->seed, &p->count, ARRAYS),
            y = (x + 1 + (int)devices_draw(p->seed, &p->count, ARRAYS - 1)) % ARRAYS;
  const bool launch = devices_draw(p->seed, &p->count, 2) == 0;
  const int64_t n = 1 + (int64_t)devices_draw(p->seed, &p->count, WORDS);
  const uint32_t factor = 2 * (uint32_t)devices_draw(p->seed, &p->count, 1000) + 1;

  if (run) {
    order(p, queue, x);
    order(p, queue, y);
    if (launch) {
      const void *const args[] = {&p->arrays[x], &p->arrays[y], &factor};
      const weir_device_range ranges[] = {{p->arrays[x], 4 * WORDS, WEIR_DEVICE_READ},
                                          {p->arrays[y], 4 * WORDS, WEIR_DEVICE_UPDATE}};
      assert_ok(weir_device_launch(p->queues[queue], &(weir_device_launch_spec){.kernel = p->kernel,
                                                                                .grid = {10, 1, 1},
                                                                                .block = {64, 1, 1},
                                                                                .args = args,
                                                                                .ranges = ranges,
                                                                                .n_ranges = 2}));
    } else {
      assert_ok(weir_device_copy(p->queues[queue], p->arrays[y], p->arrays[x], 4 * n));
    }
  }
  if (model) {
    for (int i = 0; i < (launch ? WORDS : n); i++) {
      p->expected[y][i] =
          launch ? p->expected[y][i] * factor + p->expected[x][WORDS - 1 - i] : p->expected[x][i];
    }
  }
}

static void fill(program *p, uint32_t purpose)
{
  for (int i = 0; i < ARRAYS * WORDS; i++) {
    p->host[i] = (uint32_t)weir_random_bits(p->seed, 5, purpose, (uint64_t)i);
  }
  memcpy(p->expected, p->host, sizeof p->expected);
}

/* All on one queue, which the host waits for. */
static void compare(program *p)
{
  for (int i = 0; i < ARRAYS; i++) {
    order(p, 0, i);
    assert_ok(weir_device_copy(p->queues[0], p->host + i * WORDS, p->arrays[i], 4 * WORDS));
  }
  assert_ok(weir_device_event_record(p->event, p->queues[0]));
  assert_ok(weir_device_event_sync(p->event));
  assert_memory_equal(p->host, p->expected, sizeof p->expected);
}

static void check_queues(weir_device *device, uint64_t seed)
{
  program p;

  open_program(&p, device, seed);
  fill(&p, 0);
  upload(&p, 1);
  for (int k = 0; k < STEPS; k++) {
    step(&p, true, true);
  }
  compare(&p);
  close_program(&p);
}

static void queues_ordered_by_events(void **state)
{
  devices_each(check_queues);
}

/* The captured program, replayed with other input each time. */
static void check_replays(weir_device *device, uint64_t seed)
{
  weir_device_capture *capture = NULL;
  program p;

  open_program(&p, device, seed);
  assert_ok(weir_device_capture_begin(p.queues[0]));
  assert_ok(weir_device_event_record(p.event, p.queues[0]));
  for (int i = 1; i < QUEUES; i++) {
    assert_ok(weir_device_queue_wait(p.queues[i], p.event));
  }
  upload(&p, 0);
  for (int k = 0; k < STEPS; k++) {
    step(&p, true, false);
  }
  for (int i = 1; i < QUEUES; i++) {
    assert_ok(weir_device_event_record(p.event, p.queues[i]));
    assert_ok(weir_device_queue_wait(p.queues[0], p.event));
  }
  assert_ok(weir_device_capture_end(p.queues[0], &capture));
  for (uint32_t round = 0; round < 3; round++) {
    fill(&p, round);
    assert_ok(weir_device_replay(capture, p.queues[0]));
    memset(p.last, 0, sizeof p.last); /* all of it on queue 0 */
    p.count = 0;
    for (int k = 0; k < STEPS; k++) {
      step(&p, false, true);
    }
    compare(&p);
  }
  weir_device_capture_destroy(&capture);
  close_program(&p);
}

static void captured_replays(void **state)
{
  devices_each(check_replays);
}

/* Three copies on three queues: what the last is given comes before the end of the first's capture
 * through the queues between, through none, or has more work after that. */
typedef enum joined { ALL_JOINED, LAST_NOT_JOINED, WORK_AFTER_JOIN, LAST_WITHOUT_WORK } joined;

static weir_status capture_three(program *p, joined how, weir_device_capture **capture)
{
  assert_ok(weir_device_capture_begin(p->queues[0]));
  for (int i = 0; i < QUEUES; i++) {
    if (i > 0) { /* after the one before */
      assert_ok(weir_device_event_record(p->event, p->queues[i - 1]));
      assert_ok(weir_device_queue_wait(p->queues[i], p->event));
    }
    if (i < QUEUES - 1 || how != LAST_WITHOUT_WORK) {
      assert_ok(weir_device_copy(p->queues[i], p->arrays[i], p->host + i * WORDS, 4 * WORDS));
    }
  }
  for (int i = QUEUES - 1; i > 0; i--) {
    if (i < QUEUES - 1 || how == ALL_JOINED || how == WORK_AFTER_JOIN) {
      assert_ok(weir_device_event_record(p->event, p->queues[i]));
      assert_ok(weir_device_queue_wait(p->queues[i - 1], p->event));
    }
  }
  if (how == WORK_AFTER_JOIN) {
    assert_ok(weir_device_copy(p->queues[QUEUES - 1], p->arrays[QUEUES], p->host, 4 * WORDS));
  }
  return weir_device_capture_end(p->queues[0], capture);
}

static void check_joined(weir_device *device, uint64_t seed)
{
  weir_device_capture *capture = NULL;
  program p;

  open_program(&p, device, seed);
  for (int how = ALL_JOINED; how <= LAST_WITHOUT_WORK; how++) {
    const bool right = how == ALL_JOINED || how == LAST_WITHOUT_WORK;

    fill(&p, (uint32_t)how);
    upload(&p, QUEUES - 1); /* it works on after a capture that failed */
    for (int i = 0; i < ARRAYS; i++) {
      order(&p, 0, i);
    }
    const weir_status status = capture_three(&p, (joined)how, &capture);
    assert_int_equal(status, right ? WEIR_OK : WEIR_ERR_EXTERNAL);
    assert_int_equal(capture != NULL, right);
    if (right) {
      assert_ok(weir_device_replay(capture, p.queues[0]));
    } else {
      assert_non_null(strstr(weir_last_message(), "queue 2 has not been joined"));
    }
    compare(&p);
    weir_device_capture_destroy(&capture);
  }
  close_program(&p);
}

static void captures_end_joined(void **state)
{
  devices_each(check_joined);
}

/* Without a GPU, too, where the build has NVRTC. */
static void kernels_compile_for_gpus_cuda(void **state)
{
  const weir_device_source *const sources[] = {&axpy_source, &sum_source, &mix_source};
  const char *const architectures[] = {"sm_80", "sm_90", "sm_100"};
  weir_device_usage usage;

  for (int k = 0; k < 9; k++) {
    const weir_status status =
        weir_device_compile("cuda", architectures[k % 3], sources[k / 3], &usage);
    if (status != WEIR_OK && strstr(weir_last_message(), "is made by a build") != NULL) {
      print_message("this build has no NVRTC: %s\n", weir_last_message());
      skip();
    }
    assert_ok(status);
    assert_in_range(usage.registers, 1, 64); /* half of the threads that a multiprocessor holds */
    assert_int_equal(usage.spill_bytes, 0);
  }
}

static void check_measured(weir_device *device, uint64_t seed)
{
  weir_device_costs costs = {0};

  if (seed == 0) {
    assert_ok(weir_device_measure(device, 4096, &costs));
    assert_true(costs.copy > 0 && costs.map > 0 && costs.upload > 0 && costs.download > 0 &&
                costs.launch > 0 && costs.replay > 0 && costs.event > 0 && costs.sync > 0);
    assert_int_equal(weir_device_measure(device, 7, &costs), WEIR_ERR_SHAPE);
  }
}

static void costs_are_measured(void **state)
{
  devices_each(check_measured);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_open_or_say_why),
      cmocka_unit_test(arenas_hold_arrays),
      cmocka_unit_test(copies_of_odd_pieces),
      cmocka_unit_test(elementwise_launch),
      cmocka_unit_test(launch_with_barriers),
      cmocka_unit_test(queues_ordered_by_events),
      cmocka_unit_test(captured_replays),
      cmocka_unit_test(captures_end_joined),
      cmocka_unit_test(devices_refuse_misuse),
      cmocka_unit_test(devices_refuse_kernels),
      cmocka_unit_test(devices_bound_shared_memory),
      cmocka_unit_test(devices_host_calls),
      cmocka_unit_test(devices_scalar_operations),
      cmocka_unit_test(devices_scalars_compile_for_gpus_cuda),
      cmocka_unit_test(costs_are_measured),
      cmocka_unit_test(kernels_compile_for_gpus_cuda),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
