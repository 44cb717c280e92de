/* emulated_test.c - mistakes of code for GPUs, planted: each is caught at every position and for
 * every seed, and the same work without it runs. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_check.h"
#include "device/weir_device.h"

enum { SEEDS = 4, WORDS = 100, BYTES = 4 * WORDS, QUEUES = 3 };

typedef struct machine {
  weir_device *device;
  weir_device_queue *queues[QUEUES];
  weir_device_event *event;
  weir_device_arena *arena, *staging;
  weir_device_kernel *kernel; /* y[i] = x[i] * factor for i < n */
  uint32_t *a, *b, *c, *in, *out;
} machine;

static const weir_device_param times_params[] = {{"const uint32_t *", "x", 8},
                                                 {"uint32_t *", "y", 8},
                                                 {"uint32_t", "factor", 4},
                                                 {"int", "n", 4}};
#define TIMES "int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);\n"
static const weir_device_source times_source = {
    .name = "times",
    .params = times_params,
    .n_params = 4,
    .body = TIMES "if (i < n) {\n  y[i] = x[i] * factor;\n}",
};

static void open_machine(machine *m, uint64_t seed)
{
  const int64_t bytes[] = {BYTES, BYTES, BYTES};
  void *arrays[3];

  *m = (machine){.device = NULL};
  assert_ok(weir_device_open("emulated", &(weir_device_options){.seed = seed}, &m->device));
  for (int i = 0; i < QUEUES; i++) {
    assert_ok(weir_device_queue_create(m->device, &m->queues[i]));
  }
  assert_ok(weir_device_event_create(m->device, &m->event));
  assert_ok(weir_device_arena_create(m->device, WEIR_SPACE_DEVICE, 3, bytes, arrays, &m->arena));
  m->a = arrays[0];
  m->b = arrays[1];
  m->c = arrays[2];
  assert_ok(weir_device_arena_create(m->device, WEIR_SPACE_STAGING, 2, bytes, arrays, &m->staging));
  m->in = arrays[0];
  m->out = arrays[1];
  for (uint32_t i = 0; i < WORDS; i++) {
    m->in[i] = i + 1;
  }
}

static void close_machine(machine *m)
{
  weir_device_kernel_destroy(&m->kernel);
  weir_device_arena_destroy(&m->staging);
  weir_device_arena_destroy(&m->arena);
  weir_device_event_destroy(&m->event);
  for (int i = 0; i < QUEUES; i++) {
    weir_device_queue_destroy(&m->queues[i]);
  }
  weir_device_close(&m->device);
}

static weir_status times(machine *m, int queue, const uint32_t *x, uint32_t *y, uint32_t factor)
{
  const int n = WORDS;
  const void *const args[] = {&x, &y, &factor, &n};
  const weir_device_range ranges[] = {{x, BYTES, WEIR_DEVICE_READ}, {y, BYTES, WEIR_DEVICE_WRITE}};

  return weir_device_launch(m->queues[queue], &(weir_device_launch_spec){.kernel = m->kernel,
                                                                         .grid = {2, 1, 1},
                                                                         .block = {64, 1, 1},
                                                                         .args = args,
                                                                         .ranges = ranges,
                                                                         .n_ranges = 2});
}

/* ---- Missing events. ---- */

static weir_status after(machine *m, int queue, int other, bool missing)
{
  if (!missing) {
    WEIR_TRY(weir_device_event_record(m->event, m->queues[other]));
    WEIR_TRY(weir_device_queue_wait(m->queues[queue], m->event));
  }
  return WEIR_OK;
}

enum { EVENTS = 5 };

/* Work on three queues, whose five events are all needed; one of them may be left out. */
static weir_status work(machine *m, int missing)
{
  WEIR_TRY(weir_device_copy(m->queues[0], m->a, m->in, BYTES));
  WEIR_TRY(after(m, 1, 0, missing == 0));
  WEIR_TRY(times(m, 1, m->a, m->b, 3)); /* reads what queue 0 wrote */
  WEIR_TRY(after(m, 0, 1, missing == 1));
  WEIR_TRY(times(m, 0, m->b, m->a, 5)); /* writes what queue 1 read */
  WEIR_TRY(after(m, 2, 0, missing == 2));
  WEIR_TRY(weir_device_copy(m->queues[2], m->c, m->a, BYTES - 4));
  WEIR_TRY(after(m, 1, 2, missing == 3));
  WEIR_TRY(
      weir_device_copy(m->queues[1], m->c + WORDS - 2, m->b + WORDS - 2, 8)); /* one word twice */
  WEIR_TRY(after(m, 0, 1, missing == 4));
  WEIR_TRY(weir_device_copy(m->queues[0], m->out, m->c, BYTES));
  return WEIR_OK;
}

static void check_out(const machine *m)
{
  for (uint32_t i = 0; i < WORDS; i++) {
    assert_int_equal(m->out[i], (i + 1) * (i < WORDS - 2 ? 15 : 3));
  }
}

/* The host waits for all queues: from here on nothing that was given before conflicts. */
static void wait_for_all(machine *m)
{
  for (int i = 0; i < QUEUES; i++) {
    assert_ok(weir_device_queue_sync(m->queues[i]));
  }
}

static void missing_event_is_refused(void **state)
{
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    machine m;

    open_machine(&m, seed);
    assert_ok(weir_device_kernel_create(m.device, &times_source, &m.kernel));
    for (int missing = -1; missing < EVENTS; missing++) {
      if (missing < 0) {
        assert_ok(work(&m, missing));
        assert_ok(weir_device_queue_sync(m.queues[0]));
        check_out(&m);
      } else {
        assert_int_equal(work(&m, missing), WEIR_ERR_EXTERNAL);
        assert_non_null(strstr(weir_last_message(), "without an ordering"));
      }
      wait_for_all(&m);
    }
    close_machine(&m);
  }
}

/* Replays of the work with all its events; they count as one piece of work of their queue. */
static void check_replays(machine *m, weir_device_capture *capture)
{
  for (int round = 0; round < 3; round++) {
    memset(m->out, 0, BYTES);
    assert_ok(weir_device_replay(capture, m->queues[1]));
    assert_ok(weir_device_queue_sync(m->queues[1]));
    check_out(m);
  }
  assert_ok(weir_device_replay(capture, m->queues[1]));
  assert_int_equal(weir_device_copy(m->queues[0], m->b, m->a, 4), WEIR_ERR_EXTERNAL);
  wait_for_all(m);
}

/* The same inside a capture; and, as `missing` EVENTS, work that the capture's queue does not wait
 * for. */
static void missing_event_is_refused_in_a_capture(void **state)
{
  machine m;

  open_machine(&m, 1);
  assert_ok(weir_device_kernel_create(m.device, &times_source, &m.kernel));
  for (int missing = -1; missing <= EVENTS; missing++) {
    weir_device_capture *capture = NULL;

    assert_ok(weir_device_capture_begin(m.queues[0]));
    assert_ok(after(&m, 1, 0, false));
    assert_ok(after(&m, 2, 0, false));
    const weir_status given = work(&m, missing);
    if (missing == EVENTS) {
      assert_ok(weir_device_copy(m.queues[2], m.a, m.a + 50, 4));
    }
    const weir_status ended = weir_device_capture_end(m.queues[0], &capture);
    assert_int_equal(given, missing < 0 || missing == EVENTS ? WEIR_OK : WEIR_ERR_EXTERNAL);
    if (missing < 0) {
      assert_ok(ended);
      check_replays(&m, capture);
    } else if (missing == EVENTS) {
      assert_int_equal(ended, WEIR_ERR_EXTERNAL);
    }
    weir_device_capture_destroy(&capture);
  }
  close_machine(&m);
}

static void replay_of_freed_arrays_is_refused(void **state)
{
  weir_device_capture *capture = NULL;
  weir_device_arena *arena = NULL;
  const int64_t bytes = BYTES;
  void *array = NULL;
  machine m;

  open_machine(&m, 0);
  for (int round = 0; round < 2; round++) { /* also where another array has the address now */
    assert_ok(weir_device_arena_create(m.device, WEIR_SPACE_DEVICE, 1, &bytes, &array, &arena));
    if (round == 0) {
      assert_ok(weir_device_capture_begin(m.queues[0]));
      assert_ok(weir_device_copy(m.queues[0], array, m.in, BYTES));
      assert_ok(weir_device_capture_end(m.queues[0], &capture));
      assert_ok(weir_device_replay(capture, m.queues[0]));
      weir_device_arena_destroy(&arena);
    }
    assert_int_equal(weir_device_replay(capture, m.queues[0]), WEIR_ERR_EXTERNAL);
    assert_non_null(strstr(weir_last_message(), "freed"));
  }
  weir_device_arena_destroy(&arena);
  weir_device_capture_destroy(&capture);
  close_machine(&m);
}

/* ---- The host. ---- */

/* Whether a process that calls `touch` at this state ends by a fault. */
static bool faults(void (*touch)(machine *m), machine *m)
{
  int code = 0;
  const pid_t child = fork();

  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL); /* not the runner's, nor a sanitizer's */
    signal(SIGBUS, SIG_DFL);
    touch(m);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &code, 0), child);
  return !(WIFEXITED(code) && WEXITSTATUS(code) == 0);
}

static void read_word(const uint32_t *at)
{
  volatile uint32_t value = *(const volatile uint32_t *)at;

  (void)value;
}

static void write_word(uint32_t *at)
{
  *(volatile uint32_t *)at = 1;
}

static void touch_first(machine *m)
{
  read_word(m->a);
}
static void touch_last(machine *m)
{
  write_word(m->b + WORDS - 1);
}
static void touch_behind(machine *m)
{
  write_word(m->out + WORDS + WEIR_DEVICE_ALIGN / 4);
}
static void touch_before(machine *m)
{
  read_word(m->in - 4096 / 4);
}
static void write_input(machine *m)
{
  write_word(m->in + 7);
}
static void read_input(machine *m)
{
  read_word(m->in + 7);
}
static void read_output(machine *m)
{
  read_word(m->out + WORDS - 1);
}
static void write_output(machine *m)
{
  write_word(m->out);
}

static void host_access_faults(void **state)
{
  machine m;

  open_machine(&m, 2);
  assert_ok(weir_device_kernel_create(m.device, &times_source, &m.kernel));
  for (int round = 0; round < 2; round++) { /* before and after work */
    assert_true(faults(touch_first, &m));
    assert_true(faults(touch_last, &m));
    assert_true(faults(touch_behind, &m));
    assert_true(faults(touch_before, &m));
    assert_false(faults(write_input, &m));
    assert_false(faults(write_output, &m));
    assert_ok(work(&m, -1));
    assert_true(faults(touch_first, &m)); /* given, not waited for */
    assert_true(faults(write_input, &m));
    assert_false(faults(read_input, &m));
    assert_true(faults(read_output, &m));
    assert_true(faults(write_output, &m));
    assert_ok(weir_device_queue_sync(m.queues[2])); /* it may have run, but nobody has waited */
    assert_true(faults(read_output, &m));
    assert_ok(weir_device_queue_sync(m.queues[0]));
    assert_false(faults(read_output, &m));
    assert_false(faults(write_input, &m));
  }
  close_machine(&m);
}

/* ---- Copies of a wrong size. ---- */

static void wrong_size_is_refused(void **state)
{
  for (int64_t bytes = 0; bytes <= BYTES + 8; bytes++) {
    machine m;

    if (bytes > 40 && bytes < BYTES - 40 && bytes % 17 != 0) {
      continue; /* the others are alike */
    }
    open_machine(&m, (uint64_t)bytes);
    const weir_status copied = weir_device_copy(m.queues[0], m.a, m.in, bytes);
    assert_int_equal(copied, bytes <= BYTES ? WEIR_OK : WEIR_ERR_SHAPE);
    /* What was not copied cannot be read. */
    assert_int_equal(weir_device_copy(m.queues[0], m.b, m.a, BYTES),
                     bytes == BYTES ? WEIR_OK : WEIR_ERR_EXTERNAL);
    if (bytes != BYTES) {
      close_machine(&m);
      continue;
    }
    /* A short copy to the host leaves NaN. */
    assert_ok(weir_device_copy(m.queues[0], m.out, m.b, BYTES - 4));
    assert_ok(weir_device_queue_sync(m.queues[0]));
    float last;
    memcpy(&last, m.out + WORDS - 1, sizeof last);
    assert_true(last != last);
    close_machine(&m);
  }
}

/* ---- Kernels. ---- */

typedef struct planted {
  const char *what, *body;
  weir_device_access access; /* of y */
  int64_t bytes;             /* of y that are named */
  const char *message;       /* NULL: nothing is wrong */
} planted;

#define PLACE TIMES "if (i < n) {\n"
static const planted kernels[] = {
    {"nothing", PLACE "y[i] = x[i] * factor; }", WEIR_DEVICE_WRITE, BYTES, NULL},
    {"reads what it names as written", PLACE "y[i] = y[i] + x[i]; }", WEIR_DEVICE_WRITE, BYTES,
     "order of threads"},
    {"the last is not written", "n = n - 1;\n" PLACE "y[i] = x[i]; }", WEIR_DEVICE_WRITE, BYTES,
     "order of threads"},
    {"one word behind", "n = n + 1;\n" PLACE "y[i] = factor; }", WEIR_DEVICE_WRITE, BYTES,
     "none of the ranges"},
    {"one word before", PLACE "y[i - 1] = x[i]; }", WEIR_DEVICE_UPDATE, BYTES, "ranges"},
    {"a page behind", PLACE "y[i + 1024] = x[i]; }", WEIR_DEVICE_UPDATE, BYTES, "ranges"},
    {"reads far behind", PLACE "y[i] = x[i + 1024]; }", WEIR_DEVICE_WRITE, BYTES, "ranges"},
    {"fewer bytes are named", PLACE "y[i] = x[i] + 1; }", WEIR_DEVICE_WRITE, BYTES - 4,
     "none of the ranges"},
    {"writes what it names as read", PLACE "y[i] = x[i]; }", WEIR_DEVICE_READ, BYTES, "ranges"},
    {"neighbours in one launch", PLACE "y[i] = i > 0 ? y[i - 1] + 1 : 0; }", WEIR_DEVICE_UPDATE,
     BYTES, "order of threads"},
    {"no barrier",
     "__shared__ uint32_t s[64];\n" TIMES "s[threadIdx.x] = i < n ? x[i] : 0;\n"
     "if (i < n) {\n  y[i] = s[63 - threadIdx.x];\n}",
     WEIR_DEVICE_WRITE, BYTES, "order of threads"},
    {"a barrier",
     "__shared__ uint32_t s[64];\n" TIMES "s[threadIdx.x] = i < n ? x[i] : 0;\n__syncthreads();\n"
     "if (i < n) {\n  y[i] = s[63 - threadIdx.x];\n}",
     WEIR_DEVICE_WRITE, BYTES, NULL},
    {"shared memory that nothing has set",
     "__shared__ uint32_t s[64];\n" TIMES "s[threadIdx.x / 2] = i;\n__syncthreads();\n"
     "if (i < n) {\n  y[i] = s[63 - threadIdx.x];\n}",
     WEIR_DEVICE_WRITE, BYTES, "order of threads"},
    {"a barrier that not all reach", TIMES "if (i < n) {\n  __syncthreads();\n  y[i] = x[i];\n}",
     WEIR_DEVICE_WRITE, BYTES, "before a barrier"},
    {"reads NULL", PLACE "y[i] = ((const uint32_t *)(uintptr_t)(x[0] - 1))[0]; }",
     WEIR_DEVICE_WRITE, BYTES, "NULL"},
    {"writes to NULL in the last thread",
     PLACE "y[i] = x[i];\nif (i == n - 1) {\n*(uint32_t *)(uintptr_t)(x[i] - n) = 1;\n} }",
     WEIR_DEVICE_WRITE, BYTES, "NULL"},
    {"reads NULL after a barrier",
     PLACE "}\n__syncthreads();\nif (i < n) {\n"
           "  y[i] = ((const uint32_t *)(uintptr_t)(x[0] - 1))[0];\n}",
     WEIR_DEVICE_WRITE, BYTES, "NULL"},
    {"an index of shared memory that nothing has set",
     "__shared__ uint64_t s[64];\n" TIMES "__syncthreads();\nif (i < n) {\n"
     "  y[i] = x[s[threadIdx.x]];\n}",
     WEIR_DEVICE_WRITE, BYTES, "it must not access address"},
    {"an index of an array that nothing has set",
     TIMES "if (i < n / 2) {\n  y[i] = x[((const uint64_t *)y)[i]];\n}", WEIR_DEVICE_WRITE, BYTES,
     "it must not access address"},
};

static void run_planted(const planted *p, uint64_t seed)
{
  const weir_device_source source = {
      .name = "planted", .params = times_params, .n_params = 4, .body = p->body};
  const uint32_t factor = 3;
  const int n = WORDS;
  machine m;

  open_machine(&m, seed);
  assert_ok(weir_device_kernel_create(m.device, &source, &m.kernel));
  assert_ok(weir_device_copy(m.queues[0], m.a, m.in, BYTES));
  assert_ok(weir_device_copy(m.queues[0], m.b, m.in, BYTES));
  const void *const args[] = {&m.a, &m.b, &factor, &n};
  const weir_device_range ranges[] = {{m.a, BYTES, WEIR_DEVICE_READ}, {m.b, p->bytes, p->access}};
  assert_ok(weir_device_launch(m.queues[0], &(weir_device_launch_spec){.kernel = m.kernel,
                                                                       .grid = {2, 1, 1},
                                                                       .block = {64, 1, 1},
                                                                       .args = args,
                                                                       .ranges = ranges,
                                                                       .n_ranges = 2}));
  const weir_status status = weir_device_queue_sync(m.queues[0]);
  if (p->message == NULL) {
    assert_ok(status);
  } else {
    if (status == WEIR_OK || strstr(weir_last_message(), p->message) == NULL) {
      print_error("%s: status %d: %s\n", p->what, (int)status, weir_last_message());
    }
    assert_int_equal(status, WEIR_ERR_EXTERNAL);
    assert_non_null(strstr(weir_last_message(), p->message));
    /* A device on which work failed stays failed. */
    assert_int_equal(weir_device_queue_sync(m.queues[0]), WEIR_ERR_EXTERNAL);
    assert_int_equal(weir_device_copy(m.queues[0], m.a, m.in, 4), WEIR_ERR_EXTERNAL);
  }
  close_machine(&m);
}

static void wrong_kernel_is_caught(void **state)
{
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
    run_planted(&kernels[k], k);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(missing_event_is_refused),
      cmocka_unit_test(missing_event_is_refused_in_a_capture),
      cmocka_unit_test(replay_of_freed_arrays_is_refused),
      cmocka_unit_test(host_access_faults),
      cmocka_unit_test(wrong_size_is_refused),
      cmocka_unit_test(wrong_kernel_is_caught),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
