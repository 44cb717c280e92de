/* solve_lu.c - systems of equations with few rows by own elimination. */
#include "graph/weir_kernel.h"
#include "ops/solve/weir_solve.h"
#include "ops/weir_batch.h"
#include "ops/weir_lu.h"

static double match(const weir_graph *g, const weir_group *group)
{
  return weir_lu_match(g, group, &weir_op_solve);
}

/* Matrix, right sides and result of a point. */
static void take(const weir_kernel_run *r, int64_t point, weir_matrix *m)
{
  const weir_node *node = r->context;
  const weir_access *a = &node->access;
  int64_t at[WEIR_MAX_DIMS];

  weir_batch_point(a, &r->box, point, at);
  for (int i = 0; i < 3; i++) {
    m[i] = weir_batch_matrix(i < 2 ? &a->in[i] : &a->out[0], a->n_dims, &r->views[i], at, 2);
  }
  if (((const weir_solve_spec *)node->spec)->transposed) {
    m[0] = weir_matrix_transposed(&m[0]);
  }
}

static void run(const weir_kernel_run *r)
{
  const weir_solve_spec *spec = ((const weir_node *)r->context)->spec;

  weir_lu_run(r, spec->conjugated != 0, take);
}

const weir_kernel weir_kernel_solve_lu = {
    .name = "solve.lu",
    .device = "cpu",
    .match = match,
    .arrays = weir_batch_arrays,
    .prepare = weir_batch_prepare,
    .release = weir_batch_release,
    .pieces = weir_batch_stage,
    .scratch = weir_lu_scratch,
    .run = run,
};
