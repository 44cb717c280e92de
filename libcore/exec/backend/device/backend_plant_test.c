/* backend_plant_test.c - mistakes planted under a plan on the emulated device, with time and
 * without, one at every position in which it can be made: a missing wait for an event, a copy that
 * is too short, an access of the host to the device's memory. Each is caught. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device_priv.h"
#include "support/exec/backend_stream.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/inverse/weir_inverse.h"

typedef enum mistake { NONE, NO_WAIT, SHORT_COPY } mistake;

/* Functions of the device, and which call of them goes wrong; number 0: none. */
static struct plant {
  const weir_device_ops *real;
  mistake mistake;
  int number, calls;
} plant;

static bool strikes(mistake m)
{
  return plant.mistake == m && ++plant.calls == plant.number;
}

static weir_status wait_planted(weir_device_queue *queue, weir_device_event *event)
{
  return strikes(NO_WAIT) ? WEIR_OK : plant.real->queue_wait(queue, event);
}

/* One word less than it should be; not of one word, such as the newest slot of a result, which
 * slides only for the sake of gaps. */
static weir_status enqueue_planted(weir_device_queue *queue, const device_op *op)
{
  device_use uses[2];
  device_op less = *op;

  if (op->kind != DEVICE_COPY || op->uses[0].hi - op->uses[0].lo <= 4 || !strikes(SHORT_COPY)) {
    return plant.real->enqueue(queue, op);
  }
  memcpy(uses, op->uses, sizeof uses);
  uses[0].hi -= 4;
  uses[1].hi -= 4;
  less.uses = uses;
  return plant.real->enqueue(queue, &less);
}

/* Two maps around a call of the host, and a result of its own: arrays go up and down. */
static weir_graph *make_graph(void)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 5, 5}};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d), y = weir_input(g, "y", &d);
  const weir_value a = weir_add_scalar(g, weir_mul(g, x, y), 2);

  weir_output(g, "inverse", weir_mul(g, weir_inverse(g, a), y));
  weir_output(g, "sum", weir_add(g, a, y));
  assert_ok(weir_graph_status(g));
  return g;
}

/* Sums of slots before and after a filter, which is a call of the host. */
static weir_graph *make_stream(void)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_sos_spec sos = {.dim = 0, .n = 1, .section = {{0.2, 0.3, 0.1, 1, -0.5, 0.2}}};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d);
  const weir_value even = weir_moving_sum(g, x, 0, 5);
  const weir_value smooth = weir_sos(g, &sos, even, WEIR_NO_VALUE);

  weir_output(g, "even", even);
  weir_output(g, "y", weir_moving_sum(g, weir_mul(g, smooth, x), 0, 3));
  assert_ok(weir_graph_status(g));
  return g;
}

/* As many as it takes for the device's windows to slide. */
static const stream_chunk chunks[] = {{0, 40}, {40, 80}, {80, 120}, {120, 130}};
enum { CHUNKS = sizeof chunks / sizeof *chunks };

/* The first run of a plan with the n-th call going wrong; *calls: how many there were. */
static weir_status run_planted(const weir_graph *g, mistake m, int n, backend_bits *bits,
                               int *calls)
{
  const weir_exec_cfg cfg = backend_config("emulated");
  const bool stream = weir_graph_get_array(g, 0)->desc.time > 0;
  weir_binding bindings[BACKEND_MAX];
  weir_device_ops ops;
  draw_outcome o = {NULL, 0, 0};
  weir_plan *p = NULL;

  if (stream) {
    p = stream_plan(g, "emulated");
  } else {
    assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
    bits->n = backend_bind(g, bits->tensor, bindings);
  }
  plant = (struct plant){p->backend->device->ops, m, n, 0};
  ops = *plant.real;
  ops.queue_wait = wait_planted;
  ops.enqueue = enqueue_planted;
  p->backend->device->ops = &ops;
  const weir_status status =
      stream ? stream_run(g, p, chunks, CHUNKS, &o) : weir_plan_run(p, bindings, bits->n);

  if (stream) { /* the results as one tensor */
    assert_ok(weir_tensor_init(&bits->tensor[0], WEIR_F32, 1, &o.n));
    if (o.n > 0) {
      memcpy(bits->tensor[0].data, o.values, (size_t)o.n * sizeof *o.values);
    }
    bits->n = 1;
    weir_free(&o.values);
  }
  *calls = plant.calls;
  p->backend->device->ops = plant.real;
  weir_plan_destroy(&p);
  return status;
}

static bool same_bits(const backend_bits *a, const backend_bits *b)
{
  bool same = true;

  for (int k = 0; k < a->n; k++) {
    same = same && backend_difference(&a->tensor[k], &b->tensor[k]) < 0;
  }
  return same;
}

static void drop(backend_bits *bits)
{
  for (int k = 0; k < bits->n; k++) {
    weir_tensor_fini(&bits->tensor[k]);
  }
}

/* Refused, or, of a copy, seen in the results. */
static void check_mistakes(weir_graph *g, mistake m, const char *what)
{
  backend_bits right = {.n = 0}, wrong = {.n = 0};
  int calls = 0, ignored = 0;

  assert_ok(run_planted(g, m, 0, &right, &calls));
  assert_true(calls >= 4);
  for (int n = 1; n <= calls; n++) {
    const weir_status status = run_planted(g, m, n, &wrong, &ignored);
    const bool caught =
        status == WEIR_ERR_EXTERNAL || (m == SHORT_COPY && !same_bits(&right, &wrong));

    if (!caught) {
      print_error("%s %d of %d is not caught\n", what, n, calls);
    }
    assert_true(caught);
    drop(&wrong);
  }
  print_message("%s: %d of %d caught\n", what, calls, calls);
  drop(&right);
  weir_graph_destroy(&g);
}

static void a_missing_event_is_caught_everywhere(void **state)
{
  check_mistakes(make_graph(), NO_WAIT, "missing wait");
  check_mistakes(make_stream(), NO_WAIT, "missing wait of a stream");
}

static void a_short_copy_is_caught_everywhere(void **state)
{
  check_mistakes(make_graph(), SHORT_COPY, "short copy");
  check_mistakes(make_stream(), SHORT_COPY, "short copy of a stream");
}

/* ---- The host. ---- */

static bool faults(const char *at)
{
  const pid_t child = fork();
  int code = 0;

  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL); /* not the runner's, nor a sanitizer's */
    signal(SIGBUS, SIG_DFL);
    (void)*(const volatile char *)at;
    _exit(0);
  }
  assert_int_equal(waitpid(child, &code, 0), child);
  return !(WIFEXITED(code) && WEXITSTATUS(code) == 0);
}

/* Also by a call of the host that is given what a launch would be. */
static bool run_faults(weir_plan *p, const weir_binding *bindings, int n)
{
  const pid_t child = fork();
  int code = 0;

  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    for (int32_t a = 0; a < p->n_arrays; a++) {
      exec_side *side = &p->backend->sides[a];

      side->staging = side->device != NULL ? side->device : side->staging;
    }
    const weir_status status = weir_plan_run(p, bindings, n);

    _exit(status == WEIR_OK ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &code, 0), child);
  return WIFSIGNALED(code);
}

static void the_host_cannot_touch_the_device(void **state)
{
  const weir_exec_cfg cfg = backend_config("emulated");
  weir_graph *g = make_graph();
  weir_binding bindings[BACKEND_MAX];
  weir_tensor tensors[BACKEND_MAX];
  weir_plan *p = NULL;
  int touched = 0;

  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
  const int n = backend_bind(g, tensors, bindings);

  assert_ok(weir_plan_run(p, bindings, n));
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const exec_side *side = &p->backend->sides[a];

    if (side->device != NULL) {
      assert_true(faults(side->device));
      assert_true(faults(side->device + side->bytes - 1));
      touched++;
    }
    assert_true(side->staging == NULL || !faults(side->staging));
  }
  assert_true(touched >= 4);
  assert_true(run_faults(p, bindings, n));
  weir_plan_destroy(&p);
  for (int k = 0; k < n; k++) {
    weir_tensor_fini(&tensors[k]);
  }
  weir_graph_destroy(&g);
}

static void the_host_cannot_touch_windows_of_the_device(void **state)
{
  weir_graph *g = make_stream();
  weir_plan *p = stream_plan(g, "emulated");
  draw_outcome o = {NULL, 0, 0};
  int touched = 0;

  assert_ok(stream_run(g, p, chunks, 2, &o));
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const exec_side *side = &p->backend->sides[a];

    if (side->device != NULL && p->arrays[a].time >= 0) {
      assert_true(faults(side->device));
      assert_true(faults(side->device + (side->capacity - 1) * 4));
      touched++;
    }
  }
  assert_true(touched >= 4);
  weir_free(&o.values);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_missing_event_is_caught_everywhere),
      cmocka_unit_test(a_short_copy_is_caught_everywhere),
      cmocka_unit_test(the_host_cannot_touch_the_device),
      cmocka_unit_test(the_host_cannot_touch_windows_of_the_device),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
