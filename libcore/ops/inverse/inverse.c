/* inverse.c - inverses: their access, and the reference of their kernels. */
#include "ops/inverse/weir_inverse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/weir_batch.h"
#include "ops/weir_dense.h"

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_array_desc *a = &args->in[0];
  weir_array_desc batch;

  WEIR_TRY(weir_need_count("inverse", args, 1, 1));
  WEIR_TRY(weir_batch_need_dtype("inverse", a->dtype));
  WEIR_TRY(weir_batch_shape("inverse", a, (const int[]){2}, 1, &batch));
  if (a->shape[a->rank - 2] != a->shape[a->rank - 1]) {
    return weir_fail(WEIR_ERR_SHAPE, "inverse: matrices of %lld x %lld are not square",
                     (long long)a->shape[a->rank - 2], (long long)a->shape[a->rank - 1]);
  }
  *out = *a;
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  weir_array_desc batch = args->in[0];
  const double n = (double)batch.shape[batch.rank - 1];
  const double each = weir_dtype_is_complex(batch.dtype) ? 4 : 1;

  batch.rank -= 2;
  weir_map_dims(a, &batch);
  const int row = weir_map_dim(a, WEIR_REDUCED, args->in[0].shape[batch.rank]);
  const int column = weir_map_dim(a, WEIR_REDUCED, args->in[0].shape[batch.rank]);

  a->maker = WEIR_MADE_BY_LIBRARY;
  a->point_flops = each * 2 * n * n * n;
  weir_batch_map(a, &a->in[0], &args->in[0], 2, (const int[]){row, column});
  weir_batch_map(a, &a->out[0], &args->out[0], 2, (const int[]){column, row});
  return WEIR_OK;
}

static int64_t scratch(const void *spec, const weir_access *a)
{
  (void)spec;
  const int64_t n = a->out[0].extent[a->out[0].rank - 1];

  return 2 * n * n * (int64_t)sizeof(weir_c128) + n * (int64_t)sizeof(int64_t);
}

static void set_identity(weir_c128 *x, int64_t n)
{
  memset(x, 0, (size_t)(n * n) * sizeof *x);
  for (int64_t i = 0; i < n; i++) {
    x[i * n + i].re = 1;
  }
}

static void item_of(const weir_op_run *r, int64_t number, weir_matrix *a, weir_matrix *x)
{
  const weir_access *access = r->access;
  int64_t at[WEIR_MAX_DIMS];

  weir_batch_point(access, &r->box, number, at);
  *a = weir_batch_matrix(&access->in[0], access->n_dims, &r->in[0], at, 2);
  *x = weir_batch_matrix(&access->out[0], access->n_dims, &r->out[0], at, 2);
}

static weir_status run(const weir_op_run *r)
{
  const int64_t points = weir_batch_count(r->access, &r->box);

  for (int64_t p = 0; p < points; p++) {
    weir_matrix from, to;

    item_of(r, p, &from, &to);
    const int64_t n = to.rows;
    weir_c128 *a = r->scratch, *x = a + n * n;
    int64_t *rows = (int64_t *)(x + n * n);

    weir_matrix_load(&from, WEIR_C128, a);
    if (!weir_batch_is_finite(WEIR_C128, a, n * n) || !weir_dense_factor(a, n, rows)) {
      weir_matrix_spoil(&to);
      continue;
    }
    set_identity(x, n);
    weir_dense_substitute(a, n, rows, x, n);
    weir_matrix_store(&to, WEIR_C128, x);
  }
  return WEIR_OK;
}

/* The smaller of ||x a - 1|| and ||a x - 1|| over ||a|| ||x|| in units of n eps (Higham 2002,
 * section 14.1: a program bounds one of the two). What is singular to working precision may be
 * anything. */
static double error_of(const weir_matrix *from, const weir_matrix *to, weir_c128 *memory)
{
  const int64_t n = to->rows;
  const double eps = weir_batch_eps(from->dtype);
  weir_c128 *a = memory, *factors = a + n * n, *x = factors + n * n, *left = x + n * n;
  double min = INFINITY;

  weir_matrix_load(from, WEIR_C128, a);
  weir_matrix_load(to, WEIR_C128, x);
  memcpy(factors, a, (size_t)(n * n) * sizeof *a);
  if (!weir_matrix_is_finite(from)) {
    return weir_matrix_is_finite(to) ? INFINITY : 0;
  }
  if (!weir_dense_factor(factors, n, (int64_t *)left) ||
      weir_dense_pivot_ratio(factors, n) < 1e3 * eps) {
    return 0;
  }
  for (int side = 0; side < 2 && n > 0; side++) {
    const weir_c128 *p = side == 0 ? a : x, *q = side == 0 ? x : a;

    set_identity(left, n);
    for (int64_t i = 0; i < n * n * n; i++) {
      const weir_c128 y = p[i / n / n * n + i % n], z = q[i % n * n + i / n % n];

      left[i / n].re -= y.re * z.re - y.im * z.im;
      left[i / n].im -= y.re * z.im + y.im * z.re;
    }
    const double size = weir_dense_norm(a, n, n) * weir_dense_norm(x, n, n);
    const double e = weir_dense_norm(left, n, n) / (size * eps * (double)n);

    min = e < min ? e : min;
  }
  return n > 0 ? min : 0;
}

static double error(const weir_op_run *r)
{
  const int64_t points = weir_batch_count(r->access, &r->box);
  double worst = 0;
  void *memory = NULL;

  if (weir_alloc(2 * scratch(r->spec, r->access) + 1, 1, &memory) != WEIR_OK) {
    return INFINITY;
  }
  for (int64_t p = 0; p < points; p++) {
    weir_matrix from, to;

    item_of(r, p, &from, &to);
    worst = fmax(worst, error_of(&from, &to, memory));
  }
  weir_free(&memory);
  return worst;
}

/* da = -x^T dx x^T (Giles 2008, section 2.2.3). */
static void derive(weir_graph *g, int32_t node, const weir_value *dout, weir_value *din)
{
  const weir_node *n = weir_graph_node(g, node);
  const weir_value x = weir_array_value(g, n->out[0]);
  const int outer = weir_value_desc(g, x)->rank - 2;
  const char *where = n->where;
  const char stack[] = "abcdefgh";
  weir_contract_spec left = {.accumulator = 0}, right = {.accumulator = 0};

  snprintf(left.labels, sizeof left.labels, "%.*sji,%.*sjk->%.*sik", outer, stack, outer, stack,
           outer, stack);
  snprintf(right.labels, sizeof right.labels, "%.*sik,%.*sjk->%.*sij", outer, stack, outer, stack,
           outer, stack);
  const weir_value first = weir_contract_at(g, &left, (weir_value[]){x, dout[0]}, 2, where);
  const weir_value both = weir_contract_at(g, &right, (weir_value[]){first, x}, 2, where);

  din[0] = weir_unary_at(g, WEIR_CODE_NEG, both, where);
}

const weir_op_desc weir_op_inverse = {
    .name = "inverse",
    .cite = "Golub and Van Loan 2013, section 3.4",
    .n_out = 1,
    .infer = infer,
    .access = access,
    .run = run,
    .scratch = scratch,
    .error = error,
    .derive = derive,
};

weir_value weir_inverse_at(weir_graph *g, weir_value a, const char *where)
{
  return weir_graph_add(g, &weir_op_inverse, NULL, &a, 1, where);
}
