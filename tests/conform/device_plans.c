/* device_plans.c - what plans cost on every device but the cpu: one table. Not a test.
 *
 * Groups are timed by exec.explain, which waits for each: launches of 4 us are part of the times.
 * Bytes are those of the access, read plus written. */
#include <stdio.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_device.h"
#include "exec/weir_plan.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/transpose/weir_transpose.h"

enum { ROWS = 8192, COLUMNS = 4096, SIDE = 512, RUNS = 5 };

static weir_graph *make_graph(const char **names)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {ROWS, COLUMNS}};
  const weir_array_desc m = {.dtype = WEIR_F32, .rank = 2, .shape = {SIDE, SIDE}};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d), y = weir_input(g, "y", &d);
  const weir_value a = weir_input(g, "a", &m), b = weir_input(g, "b", &m);
  const weir_value results[] = {weir_add_scalar(g, weir_mul(g, x, y), 2),
                                weir_sum(g, x, 1),
                                weir_sum(g, x, 0),
                                weir_sum(g, x, -1),
                                weir_argmax(g, y, 1),
                                weir_moments(g, y, 1),
                                weir_contract2_at(g, "ik,kj->ij", a, b, WEIR_WHERE)};

  for (int k = 0; names[k] != NULL; k++) {
    weir_label(g, results[k], names[k]);
    weir_output(g, names[k], results[k]);
  }
  assert_ok(weir_graph_status(g));
  return g;
}

static void fill(weir_tensor *t, uint32_t k)
{
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    ((float *)t->data)[i] = (float)(i * 7 % 1013 + k) / 1024;
  }
}

static void measure(const char *device)
{
  static const char *names[] = {"map",    "rows",    "columns", "all",
                                "argmax", "moments", "product", NULL};
  static const char *const inputs[] = {"x", "y", "a", "b"};
  weir_graph *g = make_graph(names);
  weir_binding bindings[4];
  weir_tensor tensors[4];
  weir_exec_cfg cfg;
  weir_plan *p = NULL;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.device = device;
  cfg.explain = true;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
  for (int k = 0; k < 4; k++) {
    const int64_t shape[2] = {k < 2 ? ROWS : SIDE, k < 2 ? COLUMNS : SIDE};

    assert_ok(weir_tensor_init(&tensors[k], WEIR_F32, 2, shape));
    fill(&tensors[k], (uint32_t)k);
    bindings[k] = (weir_binding){inputs[k], &tensors[k]};
  }
  for (int k = 0; k < RUNS; k++) {
    assert_ok(weir_plan_run(p, bindings, 4));
  }
  for (int32_t i = 0; i < weir_plan_groups(p); i++) {
    const weir_group_report r = weir_plan_group(p, i);

    printf("| %s | %s | %.1f | %.1f | %.1f |\n", device, r.members, r.bytes * 1e-6,
           r.measured_s * 1e6, r.bytes / r.measured_s * 1e-9);
  }
  weir_plan_destroy(&p);
  for (int k = 0; k < 4; k++) {
    weir_tensor_fini(&tensors[k]);
  }
  weir_graph_destroy(&g);
}

int main(int argc, char **argv)
{
  printf("| device | group | MB | us | GB/s |\n|---|---|---|---|---|\n");
  for (int k = 1; k < argc; k++) {
    measure(argv[k]);
  }
  return 0;
}
