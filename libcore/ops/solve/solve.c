/* solve.c - systems of linear equations: their access, and the reference of their kernels. */
#include "ops/solve/weir_solve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/weir_batch.h"
#include "ops/weir_dense.h"

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_solve_spec *s = args->spec;
  const weir_array_desc *a = &args->in[0], *b = &args->in[1];
  weir_array_desc batch;

  WEIR_TRY(weir_need_count("solve", args, 2, 2));
  WEIR_TRY(weir_batch_need_dtype("solve", a->dtype));
  WEIR_TRY(weir_batch_shape("solve", args->in, (const int[]){2, 2}, 2, &batch));
  const int64_t n = a->shape[a->rank - 1];

  if (a->dtype != b->dtype || a->shape[a->rank - 2] != n || b->shape[b->rank - 2] != n) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "solve: a matrix of %lld x %lld %s does not fit a right-hand side of %lld rows of %s",
        (long long)a->shape[a->rank - 2], (long long)n, weir_dtype_name(a->dtype),
        (long long)b->shape[b->rank - 2], weir_dtype_name(b->dtype));
  }
  if (s->conjugated != 0 && !weir_dtype_is_complex(a->dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "solve: the conjugate of %s is undefined",
                     weir_dtype_name(a->dtype));
  }
  if (batch.rank + 2 > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_SHAPE, "solve: the result has rank %d", batch.rank + 2);
  }
  *out = batch;
  out->dtype = a->dtype;
  out->shape[out->rank++] = n;
  out->shape[out->rank++] = b->shape[b->rank - 1];
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  weir_array_desc batch = args->out[0];
  const int64_t n = batch.shape[batch.rank - 2], k = batch.shape[batch.rank - 1];
  const double each = weir_dtype_is_complex(batch.dtype) ? 4 : 1;

  batch.rank -= 2;
  weir_map_dims(a, &batch);
  const int row = weir_map_dim(a, WEIR_REDUCED, n), unknown = weir_map_dim(a, WEIR_REDUCED, n);
  const int side = weir_map_dim(a, WEIR_REDUCED, k);

  a->maker = WEIR_MADE_BY_LIBRARY;
  a->point_flops = each * (2. / 3 * (double)n + 2 * (double)k) * (double)n * (double)n;
  weir_batch_map(a, &a->in[0], &args->in[0], 2, (const int[]){row, unknown});
  weir_batch_map(a, &a->in[1], &args->in[1], 2, (const int[]){row, side});
  weir_batch_map(a, &a->out[0], &args->out[0], 2, (const int[]){unknown, side});
  return WEIR_OK;
}

/* Matrix, right sides and rows of one point. */
static int64_t scratch(const void *spec, const weir_access *a)
{
  (void)spec;
  const weir_operand *b = &a->out[0];
  const int64_t n = b->extent[b->rank - 2], k = b->extent[b->rank - 1];

  return n * (n + k) * (int64_t)sizeof(weir_c128) + n * (int64_t)sizeof(int64_t);
}

/* The matrix that is meant, in memory. */
static void load_matrix(const weir_solve_spec *s, const weir_matrix *a, weir_c128 *to)
{
  const weir_matrix turned = weir_matrix_transposed(a);

  weir_matrix_load(s->transposed ? &turned : a, WEIR_C128, to);
  for (int64_t i = 0; i < a->rows * a->rows && s->conjugated; i++) {
    to[i].im = -to[i].im;
  }
}

void weir_solve_spoil(const weir_matrix *b, const weir_matrix *x)
{
  for (int64_t k = 0; k < b->columns; k++) {
    const int64_t in = k * b->across * (int64_t)weir_dtype_size(b->dtype);
    const int64_t to = k * x->across * (int64_t)weir_dtype_size(x->dtype);
    const weir_matrix from = {b->data + in, b->dtype, b->rows, 1, b->down, 0};
    const weir_matrix column = {x->data + to, x->dtype, x->rows, 1, x->down, 0};

    if (x->rows > 0 && !weir_matrix_is_finite(&from)) {
      weir_matrix_spoil(&column);
    }
  }
}

/* The matrices of one point. */
typedef struct item {
  weir_matrix a, b, x;
} item;

static item item_of(const weir_op_run *r, int64_t number)
{
  const weir_access *access = r->access;
  int64_t at[WEIR_MAX_DIMS];

  weir_batch_point(access, &r->box, number, at);
  return (item){weir_batch_matrix(&access->in[0], access->n_dims, &r->in[0], at, 2),
                weir_batch_matrix(&access->in[1], access->n_dims, &r->in[1], at, 2),
                weir_batch_matrix(&access->out[0], access->n_dims, &r->out[0], at, 2)};
}

static weir_status run(const weir_op_run *r)
{
  const int64_t points = weir_batch_count(r->access, &r->box);

  for (int64_t p = 0; p < points; p++) {
    const item m = item_of(r, p);
    const int64_t n = m.x.rows, k = m.x.columns;
    weir_c128 *a = r->scratch, *b = a + n * n;
    int64_t *rows = (int64_t *)(b + n * k);

    load_matrix(r->spec, &m.a, a);
    if (!weir_matrix_is_finite(&m.a) || !weir_dense_factor(a, n, rows)) {
      weir_matrix_spoil(&m.x);
      continue;
    }
    weir_matrix_load(&m.b, WEIR_C128, b);
    weir_dense_substitute(a, n, rows, b, k);
    weir_matrix_store(&m.x, WEIR_C128, b);
    weir_solve_spoil(&m.b, &m.x);
  }
  return WEIR_OK;
}

/* ||b - a x|| / (||a|| ||x|| + ||b||) in units of n eps (Higham 2002, theorem 7.1); memory: twice
 * a, b and x. What is singular to working precision may be anything. */
static double error_of(const weir_solve_spec *s, const item *m, weir_c128 *memory)
{
  const int64_t n = m->x.rows, k = m->x.columns;
  const double eps = weir_batch_eps(m->a.dtype);
  weir_c128 *a = memory, *factors = a + n * n, *b = factors + n * n, *x = b + n * k;
  int64_t *rows = (int64_t *)(x + n * k);
  bool found = true;

  load_matrix(s, &m->a, a);
  memcpy(factors, a, (size_t)(n * n) * sizeof *a);
  weir_matrix_load(&m->b, WEIR_C128, b);
  weir_matrix_load(&m->x, WEIR_C128, x);
  if (!weir_matrix_is_finite(&m->a) || !weir_matrix_is_finite(&m->b)) {
    return weir_matrix_is_finite(&m->x) && n * k > 0 ? INFINITY : 0;
  }
  found = weir_dense_factor(factors, n, rows);
  if (!found || weir_dense_pivot_ratio(factors, n) < 1e3 * eps) {
    return 0;
  }
  const double size =
      weir_dense_norm(a, n, n) * weir_dense_norm(x, n, k) + weir_dense_norm(b, n, k);

  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      for (int64_t c = 0; c < k; c++) {
        const weir_c128 p = a[i * n + j], q = x[j * k + c];

        b[i * k + c].re -= p.re * q.re - p.im * q.im;
        b[i * k + c].im -= p.re * q.im + p.im * q.re;
      }
    }
  }
  const double left = weir_dense_norm(b, n, k);

  return left == 0 ? 0 : left / (size * eps * (double)n);
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
    const item m = item_of(r, p);
    const double e = error_of(r->spec, &m, memory);

    worst = e > worst || isnan(e) ? e : worst;
  }
  weir_free(&memory);
  return isnan(worst) ? INFINITY : worst;
}

/* Summed over what was repeated to make `v` of an array of shape `to`, which it then has. */
static weir_value fold(weir_graph *g, weir_value v, const weir_array_desc *to, const char *where)
{
  const weir_array_desc from = *weir_value_desc(g, v);
  weir_reduce_spec sum = {.combine = WEIR_COMBINE_SUM, .keep = true};
  weir_reshape_spec shape = {.rank = to->rank};

  for (int d = 0; d < from.rank; d++) {
    const int own = d - (from.rank - to->rank);

    if (own < 0 || from.shape[d] != to->shape[own]) {
      sum.dim[sum.n_dims++] = d;
    }
  }
  if (sum.n_dims == 0) {
    return v;
  }
  memcpy(shape.shape, to->shape, sizeof shape.shape);
  return weir_reshape_at(g, weir_reduce_at(g, &sum, v, WEIR_NO_VALUE, where), &shape, where);
}

/* db solves with the transposed matrix; d(matrix) = -db x^T (Giles 2008, section 2.3.1). */
static void derive(weir_graph *g, int32_t node, const weir_value *dout, weir_value *din)
{
  const weir_node *n = weir_graph_node(g, node);
  const weir_solve_spec *s = n->spec;
  const weir_solve_spec turned = {.transposed = s->transposed == 0};
  const weir_array_desc a = weir_graph_get_array(g, n->in[0])->desc;
  const weir_array_desc b = weir_graph_get_array(g, n->in[1])->desc;
  const weir_value x = weir_array_value(g, n->out[0]), matrix = weir_array_value(g, n->in[0]);
  const int outer = weir_value_desc(g, x)->rank - 2;
  const char *where = n->where;
  const char stack[] = "abcdefgh";
  weir_contract_spec product = {.accumulator = 0};

  snprintf(product.labels, sizeof product.labels, "%.*sik,%.*sjk->%.*s%s", outer, stack, outer,
           stack, outer, stack, s->transposed ? "ji" : "ij");
  const weir_value db = weir_solve_at(g, matrix, dout[0], &turned, where);
  const weir_value da = weir_contract_at(g, &product, (weir_value[]){db, x}, 2, where);

  din[0] = fold(g, weir_unary_at(g, WEIR_CODE_NEG, da, where), &a, where);
  din[1] = fold(g, db, &b, where);
}

const weir_op_desc weir_op_solve = {
    .name = "solve",
    .cite = "Golub and Van Loan 2013, section 3.4",
    .spec_size = sizeof(weir_solve_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
    .run = run,
    .scratch = scratch,
    .error = error,
    .derive = derive,
};

weir_value weir_solve_at(weir_graph *g, weir_value a, weir_value b, const weir_solve_spec *spec,
                         const char *where)
{
  const weir_solve_spec plain = {.transposed = 0};

  return weir_graph_add(g, &weir_op_solve, spec != NULL ? spec : &plain, (weir_value[]){a, b}, 2,
                        where);
}
