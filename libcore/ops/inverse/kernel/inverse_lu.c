/* inverse_lu.c - inverses with few rows: systems whose right sides are the identity. */
#include "graph/weir_kernel.h"
#include "ops/inverse/weir_inverse.h"
#include "ops/weir_batch.h"
#include "ops/weir_lu.h"

static double match(const weir_graph *g, const weir_group *group)
{
  if (!weir_batch_claims(g, group, &weir_op_inverse)) {
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

/* Matrix, nothing and inverse of a point. */
static void take(const weir_kernel_run *r, int64_t point, weir_matrix *m)
{
  const weir_access *a = &((const weir_node *)r->context)->access;
  int64_t at[WEIR_MAX_DIMS];

  weir_batch_point(a, &r->box, point, at);
  m[0] = weir_batch_matrix(&a->in[0], a->n_dims, &r->views[0], at, 2);
  m[1] = (weir_matrix){.dtype = m[0].dtype};
  m[2] = weir_batch_matrix(&a->out[0], a->n_dims, &r->views[1], at, 2);
}

static void run(const weir_kernel_run *r)
{
  weir_lu_run(r, false, take);
}

const weir_kernel weir_kernel_inverse_lu = {
    .name = "inverse.lu",
    .device = "cpu",
    .match = match,
    .arrays = weir_batch_arrays,
    .prepare = weir_batch_prepare,
    .release = weir_batch_release,
    .pieces = weir_batch_stage,
    .scratch = scratch,
    .run = run,
};
