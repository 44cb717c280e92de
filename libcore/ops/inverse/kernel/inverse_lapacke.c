/* inverse_lapacke.c - inverses by LAPACK's getrf and getri, one matrix at a time. */
#include "graph/weir_kernel.h"
#include "ops/inverse/weir_inverse.h"
#include "ops/weir_batch.h"
#include "ops/weir_lapack.h"

static double match(const weir_graph *g, const weir_group *group)
{
  return weir_lapack_match(g, group, &weir_op_inverse, 0.1);
}

static int64_t matrix_bytes(const weir_access *a)
{
  const int64_t n = a->out[0].extent[a->out[0].rank - 1];

  return n * n * (int64_t)weir_dtype_size(a->out[0].dtype);
}

static int64_t scratch(const void *context)
{
  const weir_access *a = &((const weir_node *)context)->access;
  const int64_t n = a->out[0].extent[a->out[0].rank - 1];

  return matrix_bytes(a) + weir_lapack_work(a->out[0].dtype, n) + n * (int64_t)sizeof(int);
}

/* The inverse of the transpose is the transpose of the inverse: rows serve as columns. */
static void invert(const weir_matrix *from, const weir_matrix *to, char *memory)
{
  const int64_t n = to->rows, size = n * n * (int64_t)weir_dtype_size(to->dtype);
  char *work = memory + size;
  int *pivot = (int *)(work + weir_lapack_work(to->dtype, n));

  if (n == 0) {
    return;
  }
  weir_matrix_load(from, from->dtype, memory);
  if (!weir_batch_is_finite(from->dtype, memory, n * n) ||
      weir_lapack_invert(from->dtype, (int)n, memory, pivot, work) != 0) {
    weir_matrix_spoil(to);
    return;
  }
  weir_matrix_store(to, to->dtype, memory);
}

static void run(const weir_kernel_run *r)
{
  const weir_access *a = &((const weir_node *)r->context)->access;
  int64_t from, to, at[WEIR_MAX_DIMS];

  weir_batch_piece(a, &r->box, r->piece, 1, &from, &to);
  for (int64_t p = from; p < to; p++) {
    weir_batch_point(a, &r->box, p, at);
    const weir_matrix x = weir_batch_matrix(&a->in[0], a->n_dims, &r->views[0], at, 2);
    const weir_matrix y = weir_batch_matrix(&a->out[0], a->n_dims, &r->views[1], at, 2);

    invert(&x, &y, r->scratch);
  }
}

const weir_kernel weir_kernel_inverse_lapacke = {
    .name = "inverse.lapacke",
    .device = "cpu",
    .match = match,
    .arrays = weir_batch_arrays,
    .prepare = weir_batch_prepare,
    .release = weir_batch_release,
    .pieces = weir_batch_stage,
    .scratch = scratch,
    .run = run,
};
