/* backend_launches_test.c - the launches that a plan reports: those that its device is given in a
 * run, and bytes by hand. */
#include <stdio.h>
#include <unistd.h>

#include "device/device_priv.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "support/exec/backend_check.h"
#include "support/exec/draw_graph.h"
#include "support/ops/ops_check.h"

/* What the device is given. */
static struct given_work {
  const weir_device_ops *ops;
  int64_t launches, blocks, threads;
} work;

static weir_status count(weir_device_queue *queue, const device_op *op)
{
  if (op->kind == DEVICE_LAUNCH) {
    work.launches++;
    work.blocks += op->grid[0];
    work.threads += (int64_t)op->grid[0] * op->block[0];
  }
  return work.ops->enqueue(queue, op);
}

/* A run is given as many launches, of as many threads, as the report says. Returns their number. */
static int64_t check_run(const weir_graph *g, const char *device, const char *kernel)
{
  weir_exec_cfg cfg = backend_config(device);
  const weir_store_device *shared = NULL;
  weir_tensor tensors[BACKEND_MAX];
  weir_binding bindings[BACKEND_MAX];
  weir_store *store = NULL;
  weir_plan *p = NULL;
  int64_t blocks = 0, threads = 0;

  cfg.kernel = kernel;
  assert_ok(weir_store_create(&store));
  assert_ok(weir_plan_create(g, store, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p));
  assert_ok(weir_store_device_use(store, device, &shared));
  const int64_t n = weir_plan_launches(p);

  for (int64_t k = 0; k < n; k++) {
    const weir_launch_report r = weir_plan_launch(p, k);

    assert_in_range(r.group, 0, weir_plan_groups(p) - 1);
    assert_false(weir_plan_group(p, r.group).on_host);
    blocks += r.blocks;
    threads += r.blocks * r.threads;
  }
  weir_device_ops counting = *shared->device->ops;

  work = (struct given_work){.ops = shared->device->ops};
  counting.enqueue = count;
  shared->device->ops = &counting;
  const int bound = backend_bind(g, tensors, bindings);

  assert_ok(weir_plan_run(p, bindings, bound));
  shared->device->ops = work.ops;
  assert_int_equal(work.launches, n);
  assert_int_equal(work.blocks, blocks);
  assert_int_equal(work.threads, threads);
  for (int k = 0; k < bound; k++) {
    weir_tensor_fini(&tensors[k]);
  }
  weir_plan_destroy(&p);
  weir_store_device_release(store);
  weir_store_destroy(&store);
  return n;
}

static void check_graphs(const char *device)
{
  int64_t n = 0;

  for (uint64_t seed = 20; seed < 26; seed++) {
    draw_graph d = draw_make(seed, false, false);

    n += check_run(d.g, device, "none");
    weir_graph_destroy(&d.g);
  }
  assert_true(n > 12);
}

static void reports_are_the_launches_of_a_run(void **state)
{
  backend_each(check_graphs);
}

/* A kernel brings weights into the library's order. */
static void check_library(const char *device)
{
  weir_graph *g = new_graph();
  const weir_conv_spec spec = {.pad_before = {1, 1}, .pad_after = {1, 1}};

  const weir_value x = given(g, "x", WEIR_F32, 4, (const int64_t[]){2, 6, 7, 3});
  const weir_value w = given(g, "w", WEIR_F32, 4, (const int64_t[]){3, 3, 3, 5});

  weir_output(g, "y", weir_conv(g, &spec, x, w));
  assert_int_equal(check_run(g, device, "auto"), 1);
  weir_graph_destroy(&g);
}

static void kernels_beside_library_calls_are_reported(void **state)
{
  backend_each(check_library);
}

/* Bytes of all launches; *n: how many. */
static int64_t bytes_of(weir_graph *g, const char *device, int64_t *n)
{
  weir_exec_cfg cfg = backend_config(device);
  char folder[] = "/tmp/backend_launches.XXXXXX", path[256];
  weir_plan *p = NULL;
  int64_t bytes = 0;

  assert_non_null(mkdtemp(folder));
  cfg.kernel_dir = folder;
  const weir_plan_opts opts = {.exec = &cfg, .threads = 1, .sizes_only = true};

  assert_ok(weir_plan_create(g, NULL, &opts, &p));
  *n = weir_plan_launches(p);
  for (int64_t k = 0; k < *n; k++) {
    bytes += weir_plan_launch(p, k).bytes;
  }
  for (int64_t k = 0; k < *n; k++) { /* several launches may be of one text */
    (void)snprintf(path, sizeof path, "%s/%s", folder, weir_plan_launch(p, k).file);
    assert_true(unlink(path) == 0 || k > 0);
  }
  assert_int_equal(rmdir(folder), 0);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  return bytes;
}

static void check_bytes(const char *device)
{
  enum { ROWS = 64, COLUMNS = 96, F32 = 4 };
  const int64_t shape[] = {ROWS, COLUMNS}, line[] = {COLUMNS}, large[] = {512, 1024};
  weir_graph *g = new_graph();
  int64_t n;

  /* Eight columns and four rows a thread, which loads the elements of b once for its rows. */
  weir_output(g, "y",
              weir_add(g, given(g, "x", WEIR_F32, 2, shape), given(g, "b", WEIR_F32, 1, line)));
  assert_int_equal(bytes_of(g, device, &n), F32 * (2 * ROWS * COLUMNS + ROWS / 4 * COLUMNS));
  assert_int_equal(n, 1);

  g = new_graph(); /* both kernels have the parts of the chunks */
  weir_output(g, "y",
              weir_sum(g,
                       weir_reshape(g, given(g, "x", WEIR_F32, 2, large),
                                    (&(weir_reshape_spec){.rank = 1, .shape = {-1}})),
                       0));
  const int64_t bytes = bytes_of(g, device, &n) - F32 * (large[0] * large[1] + 1);

  assert_int_equal(n, 2);
  assert_int_equal(bytes % (2 * F32), 0);
  assert_in_range(bytes / (2 * F32), 2, 1024);
}

static void bytes_are_those_by_hand(void **state)
{
  backend_each(check_bytes);
}

/* A plan of the cpu has none, nor has one that makes no texts. */
static void plans_without_kernels_have_no_launches(void **state)
{
  for (int k = 0; k < 2; k++) {
    weir_exec_cfg cfg = backend_config(k == 0 ? "cpu" : "emulated");
    weir_graph *g = new_graph();
    weir_plan *p = NULL;

    cfg.kernel_dir = "";
    weir_output(g, "y", weir_scale(g, given(g, "x", WEIR_F32, 1, (const int64_t[]){5}), 2));
    assert_ok(weir_plan_create(
        g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1, .sizes_only = k == 1}, &p));
    assert_int_equal(weir_plan_launches(p), 0);
    weir_plan_destroy(&p);
    weir_graph_destroy(&g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reports_are_the_launches_of_a_run),
      cmocka_unit_test(kernels_beside_library_calls_are_reported),
      cmocka_unit_test(bytes_are_those_by_hand),
      cmocka_unit_test(plans_without_kernels_have_no_launches),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
