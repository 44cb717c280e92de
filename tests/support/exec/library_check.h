/* library_check.h - one library operator run by a plan, for its tests. Tests only. */
#ifndef LIBRARY_CHECK_H
#define LIBRARY_CHECK_H
#include <math.h>

#include "exec/weir_plan.h"
#include "support/ops/ops_check.h"

enum { LIBRARY_CAPACITY = 1 << 14 };

/* Inputs "a", "b"; results "y", "z". */
typedef struct library_run {
  weir_graph *g;
  weir_array_desc in[2], out[2];
  int n_in, n_out;
  double memory[4][LIBRARY_CAPACITY];
} library_run;

static inline weir_value library_input(library_run *r, weir_dtype dtype, int rank,
                                       const int64_t *shape)
{
  static const char *const names[] = {"a", "b"};
  weir_array_desc *d = &r->in[r->n_in];

  *d = (weir_array_desc){.dtype = dtype, .rank = rank};
  memcpy(d->shape, shape, (size_t)rank * sizeof *shape);
  return weir_input(r->g, names[r->n_in++], d);
}
#define LIBRARY_INPUT(r, dtype, ...)                                                 \
  library_input(r, dtype, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
                (int64_t[]){__VA_ARGS__})

/* All outputs of the value's node are results. */
static inline void library_output(library_run *r, weir_value v)
{
  static const char *const names[] = {"y", "z"};

  assert_ok(weir_graph_status(r->g));
  r->n_out = weir_graph_node(r->g, v.node)->n_out;
  for (int o = 0; o < r->n_out; o++) {
    r->out[o] = *weir_value_desc(r->g, (weir_value){v.node, o});
    weir_output(r->g, names[o], (weir_value){v.node, o});
  }
}

/* Inputs stand in memory[0], memory[1]; results come into memory[2], memory[3]. Returns how many
 * groups a kernel has. */
static inline int library_execute(library_run *r, const char *kernel, int threads)
{
  static const char *const names[] = {"a", "b", "y", "z"};
  weir_binding bindings[4];
  weir_tensor t[4];
  weir_exec_cfg cfg;
  weir_plan *plan;
  int n = 0, claimed = 0;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = kernel;
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(
      weir_plan_create(r->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = threads}, &plan));
  for (int k = 0; k < 4; k++) {
    const weir_array_desc *d = k < 2 ? &r->in[k] : &r->out[k - 2];

    if (k < 2 ? k < r->n_in : k - 2 < r->n_out) {
      assert_true(weir_desc_bytes(d) <= (int64_t)sizeof r->memory[k]);
      t[n] = weir_tensor_wrap(r->memory[k], d->dtype, d->rank, d->shape);
      bindings[n] = (weir_binding){names[k], &t[n]};
      n++;
    }
  }
  assert_ok(weir_plan_run(plan, bindings, n));
  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    claimed += strchr(weir_plan_group(plan, i).kernel, '.') != NULL;
  }
  weir_plan_destroy(&plan);
  return claimed;
}
#endif
