/* rgf_op.c - see rgf.h: the operator rgf. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/rgf/rgf.h"
#include "ops/linear/weir_linear.h"
#include "ops/weir_batch.h"
#include "ops/weir_dense.h"

/* A bank in a view that blocks are read from; diagonal_only: its diagonal blocks lie alone. */
typedef struct rgf_source {
  const qt_layout *layout;
  qt_bank bank;
  bool diagonal_only;
} rgf_source;

/* qt_blocks.read of a rgf_source. */
static void read_source(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  const rgf_source *s = context;
  const int64_t count = qt_layout_rows(s->layout, row) * qt_layout_rows(s->layout, column);
  const int64_t from =
      s->diagonal_only ? s->layout->diagonal[row] : qt_layout_at(s->layout, row, column);

  if (s->bank.step == 1) {
    memcpy(out, s->bank.data + from, (size_t)count * sizeof *out);
  }
  for (int64_t i = 0; i < count && s->bank.step != 1; i++) {
    out[i] = s->bank.data[(from + i) * s->bank.step];
  }
}

/* The bank of an operand at a point of the batch. */
static qt_bank bank_of(const weir_operand *o, int n_dims, const weir_view *v, const int64_t *point)
{
  const weir_matrix m = weir_batch_matrix(o, n_dims, v, point, 1);

  return (qt_bank){(weir_c128 *)m.data, m.down};
}

/* Fails: WEIR_ERR_SHAPE unless input i is c128 and ends in `count` numbers. */
static weir_status need_bank(const weir_op_args *args, int i, int64_t count)
{
  const weir_array_desc *d = &args->in[i];

  if (d->dtype != WEIR_C128) {
    return weir_fail(WEIR_ERR_SHAPE, "rgf: input %d is of %s, expected c128", i,
                     weir_dtype_name(d->dtype));
  }
  if (d->shape[d->rank - 1] != count) {
    return weir_fail(WEIR_ERR_SHAPE, "rgf: input %d has %lld elements a matrix, its blocks %lld", i,
                     (long long)d->shape[d->rank - 1], (long long)count);
  }
  return WEIR_OK;
}

static int outputs(const weir_op_args *args)
{
  return args->n_in == 1 ? 1 : 2 + (((const qt_rgf_spec *)args->spec)->greater != 0);
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const qt_rgf_spec *s = args->spec;
  const qt_layout *l = s->layout;

  WEIR_TRY(weir_need_count("rgf", args, 1, 2));
  WEIR_TRY(weir_batch_shape("rgf", args->in, (const int[]){1, 1}, args->n_in, out));
  WEIR_TRY(need_bank(args, 0, l->count));
  if (args->n_in > 1) {
    WEIR_TRY(need_bank(args, 1, s->tridiagonal ? l->count : l->diagonal_count));
  }
  if (out->rank + 1 > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_SHAPE, "rgf: the result has rank %d", out->rank + 1);
  }
  out->dtype = WEIR_C128;
  out->shape[out->rank++] = l->count;
  for (int o = 1; o < args->n_out; o++) {
    out[o] = out[0];
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const qt_rgf_spec *s = args->spec;
  weir_array_desc batch = args->out[0];

  batch.rank--;
  weir_map_dims(a, &batch);
  const int all = weir_map_dim(a, WEIR_REDUCED, s->layout->count);
  const int sigma = s->tridiagonal || args->n_in == 1
                        ? all
                        : weir_map_dim(a, WEIR_REDUCED, s->layout->diagonal_count);

  a->maker = WEIR_MADE_BY_LIBRARY;
  a->point_flops = qt_rgf_flops(s->layout, args->n_in > 1, s->tridiagonal != 0);
  for (int i = 0; i < args->n_in; i++) {
    weir_batch_map(a, &a->in[i], &args->in[i], 1, i == 0 ? &all : &sigma);
  }
  for (int o = 0; o < args->n_out; o++) {
    weir_batch_map(a, &a->out[o], &args->out[o], 1, &all);
  }
  return WEIR_OK;
}

static int64_t scratch(const void *spec, const weir_access *a)
{
  return qt_rgf_scratch(((const qt_rgf_spec *)spec)->layout->max, a->n_in > 1);
}

/* A and Sigma^< of a point, and the results. */
static void take(const weir_op_run *r, int64_t number, rgf_source in[2], qt_bank out[3])
{
  const qt_rgf_spec *spec = r->spec;
  const weir_access *a = r->access;
  int64_t at[WEIR_MAX_DIMS];

  weir_batch_point(a, &r->box, number, at);
  for (int i = 0; i < a->n_in; i++) {
    in[i] = (rgf_source){spec->layout, bank_of(&a->in[i], a->n_dims, &r->in[i], at),
                         i > 0 && spec->tridiagonal == 0};
  }
  for (int o = 0; o < 3; o++) {
    out[o] = o < a->n_out ? bank_of(&a->out[o], a->n_dims, &r->out[o], at) : (qt_bank){NULL, 0};
  }
}

static weir_status run(const weir_op_run *r)
{
  const qt_rgf_spec *spec = r->spec;
  const int64_t points = weir_batch_count(r->access, &r->box);

  weir_linear_start();
  for (int64_t p = 0; p < points; p++) {
    rgf_source in[2];
    qt_bank out[3];

    take(r, p, in, out);
    const qt_rgf_job job = {.layout = spec->layout,
                            .a = {read_source, &in[0]},
                            .sigma = {r->access->n_in > 1 ? read_source : NULL, &in[1]},
                            .tridiagonal = spec->tridiagonal != 0,
                            .g = out[0],
                            .lesser = out[1],
                            .greater = out[2]};

    (void)qt_rgf_solve(&job, r->scratch);
  }
  return WEIR_OK;
}

/* sum [rows n, rows n] -= sum over m next to n of X[n,m] Y[m,n], or of X[n,m] Y[n,m]^H; returns the
 * sum of norms of the products. memory: two blocks. */
static double subtract_row(const qt_blocks *x, const qt_blocks *y, bool adjoint, const qt_layout *l,
                           int64_t n, weir_c128 *memory, weir_c128 *sum)
{
  const int64_t rows = qt_layout_rows(l, n);
  weir_c128 *other = memory + l->max * l->max;
  double size = 0;

  for (int64_t m = n > 0 ? n - 1 : 0; m <= n + 1 && m < l->n_blocks; m++) {
    const int64_t columns = qt_layout_rows(l, m);

    x->read(x->context, n, m, memory);
    y->read(y->context, adjoint ? n : m, adjoint ? m : n, other);
    weir_linear_multiply(
        rows, rows, columns, adjoint ? 1 : -1, (weir_linear_factor){memory, columns, false},
        (weir_linear_factor){other, adjoint ? columns : rows, adjoint}, 1, sum, rows);
    size += weir_dense_norm(memory, rows, columns) *
            weir_dense_norm(other, adjoint ? rows : columns, adjoint ? columns : rows);
  }
  return size;
}

/* The largest of A G - 1 and of A G^< - Sigma^< G^A, of diagonal blocks, over the size of the
 * products in units of n eps: off-diagonal blocks are in them. */
static double error_of(const qt_rgf_spec *spec, const rgf_source in[2], const qt_bank out[3],
                       bool lesser, weir_c128 *memory)
{
  const qt_layout *l = spec->layout;
  const rgf_source g = {l, out[0], false}, less = {l, out[1], false};
  const qt_blocks a = {read_source, &in[0]}, sigma = {read_source, &in[1]};
  const qt_blocks green = {read_source, &g}, correlation = {read_source, &less};
  weir_c128 *sum = memory + 2 * l->max * l->max;
  double worst = 0;

  for (int64_t n = 0; n < l->n_blocks; n++) {
    const int64_t rows = qt_layout_rows(l, n);

    for (int function = 0; function < 1 + lesser; function++) {
      memset(sum, 0, (size_t)(rows * rows) * sizeof *sum);
      for (int64_t i = 0; i < rows && function == 0; i++) {
        sum[i * rows + i].re = 1;
      }
      double size =
          subtract_row(&a, function == 0 ? &green : &correlation, false, l, n, memory, sum);

      if (function == 1 && spec->tridiagonal) {
        size += subtract_row(&sigma, &green, true, l, n, memory, sum);
      } else if (function == 1) {
        weir_c128 *other = memory + l->max * l->max;

        read_source(&in[1], n, n, memory);
        read_source(&g, n, n, other);
        weir_linear_multiply(rows, rows, rows, 1, (weir_linear_factor){memory, rows, false},
                             (weir_linear_factor){other, rows, true}, 1, sum, rows);
        size += weir_dense_norm(memory, rows, rows) * weir_dense_norm(other, rows, rows);
      }
      const double e = weir_dense_norm(sum, rows, rows) / size;

      worst = e > worst || isnan(e) ? e : worst;
    }
  }
  return isnan(worst) ? INFINITY : worst / ((double)l->max * weir_batch_eps(WEIR_C128));
}

static double error(const weir_op_run *r)
{
  const qt_rgf_spec *spec = r->spec;
  const int64_t points = weir_batch_count(r->access, &r->box), max = spec->layout->max;
  weir_c128 *memory = NULL;
  double worst = 0;

  if (weir_alloc(3 * max * max, sizeof *memory, (void **)&memory) != WEIR_OK) {
    return INFINITY;
  }
  for (int64_t p = 0; p < points; p++) {
    rgf_source in[2];
    qt_bank out[3];

    take(r, p, in, out);
    worst = fmax(worst, error_of(spec, in, out, r->access->n_in > 1, memory));
  }
  weir_free(&memory);
  return worst;
}

const weir_op_desc qt_op_rgf = {
    .name = "rgf",
    .cite = "Svizhenko et al. 2002, doi 10.1063/1.1432117",
    .spec_size = sizeof(qt_rgf_spec),
    .outputs = outputs,
    .infer = infer,
    .access = access,
    .run = run,
    .scratch = scratch,
    .error = error,
};

weir_value qt_rgf_at(weir_graph *g, weir_value a, weir_value sigma, const qt_rgf_spec *spec,
                     const char *where)
{
  return weir_graph_add(g, &qt_op_rgf, spec, (weir_value[]){a, sigma},
                        sigma.node == WEIR_NO_VALUE.node ? 1 : 2, where);
}
