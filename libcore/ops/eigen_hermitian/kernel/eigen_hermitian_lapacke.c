/* eigen_hermitian_lapacke.c - Hermitian eigenproblems by LAPACK's syevd and heevd. */
#include "graph/weir_kernel.h"
#include "ops/eigen_hermitian/weir_eigen_hermitian.h"
#include "ops/weir_eigen_batch.h"
#include "ops/weir_lapack.h"

static double match(const weir_graph *g, const weir_group *group)
{
  return weir_lapack_match(g, group, &weir_op_eigen_hermitian, 0.05);
}

/* The matrix, its values, workspace of the library. */
static int64_t scratch(const void *context)
{
  const weir_access *a = &((const weir_node *)context)->access;
  const int64_t n = a->in[0].extent[a->in[0].rank - 1];

  return (n * n + n) * (int64_t)weir_dtype_size(a->in[0].dtype) +
         weir_lapack_work(a->in[0].dtype, n);
}

static void solve(const weir_eigen_item *m, char *memory)
{
  const int64_t n = m->a.rows, size = (int64_t)weir_dtype_size(m->a.dtype);
  const weir_matrix columns = weir_matrix_transposed(&m->a);
  char *value = memory + n * n * size, *work = value + n * size;

  if (n == 0) {
    return;
  }
  weir_matrix_load(&columns, m->a.dtype, memory);
  if (!weir_batch_is_finite(m->a.dtype, memory, n * n) ||
      weir_lapack_hermitian(m->a.dtype, m->has_vectors, (int)n, memory, value, work) != 0) {
    weir_eigen_spoil(m);
    return;
  }
  weir_matrix_store(&m->value, m->value.dtype, value);
  if (m->has_vectors) {
    const weir_matrix vectors = weir_matrix_transposed(&m->vector);

    weir_matrix_store(&vectors, m->vector.dtype, memory);
  }
}

static void run(const weir_kernel_run *r)
{
  weir_eigen_run(r, solve);
}

const weir_kernel weir_kernel_eigen_hermitian_lapacke = {
    .name = "eigen_hermitian.lapacke",
    .device = "cpu",
    .match = match,
    .arrays = weir_batch_arrays,
    .prepare = weir_batch_prepare,
    .release = weir_batch_release,
    .pieces = weir_batch_stage,
    .scratch = scratch,
    .run = run,
};
