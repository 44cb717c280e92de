/* solve_lu.c - systems of equations with few rows by own elimination. */
#include "graph/weir_kernel.h"
#include "ops/solve/weir_solve.h"
#include "ops/weir_batch.h"
#include "ops/weir_lu.h"

static double match(const weir_graph *g, const weir_group *group)
{
  if (!weir_batch_claims(g, group, &weir_op_solve)) {
    return -1;
  }
  const weir_access *a = &weir_graph_node(g, group->nodes[0])->access;
  const weir_operand *x = &a->out[0];
  const weir_box whole = weir_iterations(a);

  return x->extent[x->rank - 2] <= WEIR_LU_ROWS && weir_lu_can(x->dtype)
             ? weir_flops(a, &whole) / weir_lu_rate(x->dtype)
             : -1;
}

static int64_t scratch(const void *context)
{
  const weir_operand *x = &((const weir_node *)context)->access.out[0];

  return weir_lu_bytes(x->dtype, x->extent[x->rank - 2], x->extent[x->rank - 1]);
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
    .scratch = scratch,
    .run = run,
};
