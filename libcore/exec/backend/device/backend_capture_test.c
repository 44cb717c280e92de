/* backend_capture_test.c - runs that are recorded and replayed: the bits of runs that are not, for
 * new inputs and stored arrays that the host changes; nothing is submitted but the replay. */
#include "device/device_priv.h"
#include "graph/weir_store_device.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/gather/weir_gather.h"
#include "ops/reduce/weir_reduce.h"
#include "support/exec/backend_check.h"

enum { N = 40, M = 5, RUNS = 13 };

typedef struct counted {
  const weir_device_ops *ops;
  weir_device_ops with;
  int submitted, replayed;
} counted;
static counted seen;

static weir_status enqueue(weir_device_queue *queue, const device_op *op)
{
  seen.submitted++;
  return seen.ops->enqueue(queue, op);
}

static weir_status replay(weir_device_capture *capture, weir_device_queue *queue)
{
  seen.replayed++;
  return seen.ops->replay(capture, queue);
}

/* w += scale x; the sum of the new w, and some of its elements. */
static weir_graph *make_graph(weir_store *s)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {N}};
  const weir_array_desc which = {.dtype = WEIR_I32, .rank = 1, .shape = {M}};
  const weir_array_desc one = {.dtype = WEIR_F32};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value w = weir_stored(g, s, "w");
  const weir_value next =
      weir_add(g, w, weir_mul(g, weir_input(g, "x", &x), weir_input(g, "scale", &one)));

  weir_update(g, w, next);
  weir_output(g, "sum", weir_sum(g, next, -1));
  weir_output(g, "some",
              weir_gather(g, next, weir_input(g, "which", &which), &(weir_gather_spec){0}));
  assert_ok(weir_graph_status(g));
  return g;
}

static weir_store *make_store(void)
{
  const int64_t shape[1] = {N};
  weir_store *s = NULL;

  assert_ok(weir_store_create(&s));
  assert_ok(weir_store_add(s, "w", WEIR_F32, 1, shape));
  return s;
}

/* One run; false where it is refused. out: the sum, then the elements. */
static bool run(weir_plan *p, int step, int32_t index, float *out)
{
  float x[N], scale = 0.5F + (float)step;
  int32_t which[M] = {0, 1, 2, 3, index};
  weir_tensor t[] = {weir_tensor_wrap(x, WEIR_F32, 1, (int64_t[]){N}),
                     weir_tensor_wrap(&scale, WEIR_F32, 0, NULL),
                     weir_tensor_wrap(which, WEIR_I32, 1, (int64_t[]){M}),
                     weir_tensor_wrap(out, WEIR_F32, 0, NULL),
                     weir_tensor_wrap(out + 1, WEIR_F32, 1, (int64_t[]){M})};
  const weir_binding b[] = {
      {"x", &t[0]}, {"scale", &t[1]}, {"which", &t[2]}, {"sum", &t[3]}, {"some", &t[4]}};

  for (int i = 0; i < N; i++) {
    x[i] = (float)(i * i % 7) * (float)(step + 1) / 3;
  }
  return weir_plan_run(p, b, 5) == WEIR_OK;
}

/* RUNS runs; before the seventh the host changes w; run `bad` has an index that is none. */
static void run_all(const char *device, bool counts, int bad, float (*out)[M + 1])
{
  weir_store *s = make_store();
  weir_graph *g = make_graph(s);
  weir_exec_cfg cfg = backend_config(device);
  const weir_store_device *shared = NULL;
  weir_plan *p = NULL;

  assert_ok(weir_plan_create(g, s, &(weir_plan_opts){.exec = &cfg}, &p));
  if (counts) {
    assert_ok(weir_store_device_use(s, device, &shared));
    seen = (counted){.ops = shared->device->ops, .with = *shared->device->ops};
    seen.with.enqueue = enqueue;
    seen.with.replay = replay;
    shared->device->ops = &seen.with;
  }
  for (int k = 0; k < RUNS; k++) {
    weir_tensor *w = NULL;

    seen.submitted = seen.replayed = 0;
    if (k == 6) {
      assert_ok(weir_store_write(s, "w", &w));
      ((float *)w->data)[3] = -2;
    }
    assert_int_equal(run(p, k, k == bad ? N : N - 1, out[k]), k != bad);
    if (counts && (k == RUNS - 1 || (bad > k && (k == 4 || k == 5)))) {
      assert_int_equal(seen.submitted, 0);
      assert_int_equal(seen.replayed, 1);
    } else if (counts && (k == 6 || (bad > k + 1 && k < 2))) {
      assert_true(seen.submitted > 0);
      assert_int_equal(seen.replayed, 0);
    }
  }
  if (counts) {
    shared->device->ops = seen.ops;
    weir_store_device_release(s);
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  weir_store_destroy(&s);
}

/* The run that is refused may be the first, one that is recorded, or a replay. */
static void check(const char *device)
{
  static float cpu[RUNS][M + 1], other[RUNS][M + 1];
  static const int bad[] = {0, 1, 2, 3, 8};

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    run_all("cpu", false, bad[i], cpu);
    run_all(device, true, bad[i], other);
    for (int k = 0; k < RUNS; k++) {
      if (k != bad[i]) {
        assert_memory_equal(cpu[k], other[k], sizeof cpu[k]);
      }
    }
  }
}

static void replays_give_the_bits_of_runs(void **state)
{
  backend_each(check);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replays_give_the_bits_of_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
