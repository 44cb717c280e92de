/* inverse_lu.c - inverses with few rows: systems whose right sides are the identity. */
#include "graph/weir_kernel.h"
#include "ops/inverse/weir_inverse.h"
#include "ops/weir_batch.h"
#include "ops/weir_lu.h"

static double match(const weir_graph *g, const weir_group *group)
{
  return weir_lu_match(g, group, &weir_op_inverse);
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
    .scratch = weir_lu_scratch,
    .run = run,
};
