/* kernel_check.h - graphs run with one kernel, for tests of kernels. Tests only. */
#ifndef KERNEL_CHECK_H
#define KERNEL_CHECK_H
#include <string.h>

#include "base/weir_check.h"
#include "exec/weir_plan.h"

enum { MAX_ARRAYS = 8 };

/* Runs g: reads of[k], k < read, and makes made[k], read <= k < n, allocated here; returns how many
 * groups the kernel has. half: exec.precision is bf16. */
static inline int run_kernel_in(bool half, weir_graph *g, const char *kernel, int threads,
                                const char *const *names, weir_tensor *of, int read, int n,
                                weir_tensor *made)
{
  weir_exec_cfg cfg;
  weir_plan *plan;
  weir_binding bindings[MAX_ARRAYS];
  int claimed = 0;

  assert_true(n <= MAX_ARRAYS);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = kernel;
  cfg.precision = half;
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = threads}, &plan));
  for (int k = 0; k < n; k++) {
    if (k >= read) {
      assert_ok(weir_tensor_init(&made[k], WEIR_F32, of[k].rank, of[k].shape));
    }
    bindings[k] = (weir_binding){names[k], k < read ? &of[k] : &made[k]};
  }
  assert_ok(weir_plan_run(plan, bindings, n));
  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    claimed += strcmp(weir_plan_group(plan, i).kernel, kernel) == 0;
  }
  weir_plan_destroy(&plan);
  return claimed;
}

/* The same in f32. */
static inline int run_kernel(weir_graph *g, const char *kernel, int threads,
                             const char *const *names, weir_tensor *of, int read, int n,
                             weir_tensor *made)
{
  return run_kernel_in(false, g, kernel, threads, names, of, read, n, made);
}
#endif
