/* solve_lapacke.c - systems of equations by LAPACK's gesv, one matrix at a time. */
#include "graph/weir_kernel.h"
#include "ops/solve/weir_solve.h"
#include "ops/weir_batch.h"
#include "ops/weir_lapack.h"

static double match(const weir_graph *g, const weir_group *group)
{
  return weir_lapack_match(g, group, &weir_op_solve, 0.1);
}

static int64_t scratch(const void *context)
{
  const weir_access *a = &((const weir_node *)context)->access;
  const weir_operand *x = &a->out[0];
  const int64_t n = x->extent[x->rank - 2], k = x->extent[x->rank - 1];

  return n * (n + k) * (int64_t)weir_dtype_size(x->dtype) + n * (int64_t)sizeof(int);
}

/* The matrix that is meant, column by column. */
static void load(const weir_solve_spec *s, const weir_matrix *a, char *to)
{
  const weir_matrix turned = weir_matrix_transposed(a);
  const int64_t n = a->rows * a->columns;

  weir_matrix_load(s->transposed ? a : &turned, a->dtype, to);
  for (int64_t i = 0; i < n && s->conjugated; i++) {
    const weir_c128 z = weir_dtype_load_complex(a->dtype, to, i);

    weir_dtype_store_complex(a->dtype, to, i, (weir_c128){z.re, -z.im});
  }
}

static void solve(const weir_solve_spec *s, const weir_matrix *a, const weir_matrix *b,
                  const weir_matrix *x, char *memory)
{
  const int64_t n = x->rows, k = x->columns, size = (int64_t)weir_dtype_size(a->dtype);
  const weir_matrix sides = weir_matrix_transposed(b), result = weir_matrix_transposed(x);
  char *right = memory + n * n * size;

  if (n == 0 || k == 0) {
    return;
  }
  load(s, a, memory);
  weir_matrix_load(&sides, b->dtype, right);
  if (!weir_batch_is_finite(a->dtype, memory, n * n) ||
      weir_lapack_solve(a->dtype, (int)n, (int)k, memory, (int *)(right + n * k * size), right) !=
          0) {
    weir_matrix_spoil(x);
    return;
  }
  weir_matrix_store(&result, x->dtype, right);
  weir_solve_spoil(b, x);
}

static void run(const weir_kernel_run *r)
{
  const weir_node *node = r->context;
  const weir_access *a = &node->access;
  int64_t from, to, at[WEIR_MAX_DIMS];

  weir_batch_piece(a, &r->box, r->piece, 1, &from, &to);
  for (int64_t p = from; p < to; p++) {
    weir_batch_point(a, &r->box, p, at);
    const weir_matrix m[] = {weir_batch_matrix(&a->in[0], a->n_dims, &r->views[0], at, 2),
                             weir_batch_matrix(&a->in[1], a->n_dims, &r->views[1], at, 2),
                             weir_batch_matrix(&a->out[0], a->n_dims, &r->views[2], at, 2)};

    solve(node->spec, &m[0], &m[1], &m[2], r->scratch);
  }
}

const weir_kernel weir_kernel_solve_lapacke = {
    .name = "solve.lapacke",
    .device = "cpu",
    .match = match,
    .arrays = weir_batch_arrays,
    .prepare = weir_batch_prepare,
    .release = weir_batch_release,
    .pieces = weir_batch_stage,
    .scratch = scratch,
    .run = run,
};
