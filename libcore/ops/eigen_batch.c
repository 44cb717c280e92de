/* eigen_batch.c - see weir_eigen_batch.h. */
#include "ops/weir_eigen_batch.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "ops/weir_dense.h"

weir_status weir_eigen_infer(const char *op, const weir_op_args *args, weir_array_desc *out)
{
  const weir_array_desc *a = &args->in[0];
  weir_array_desc batch;

  WEIR_TRY(weir_need_count(op, args, 1, 1));
  WEIR_TRY(weir_batch_need_dtype(op, a->dtype));
  WEIR_TRY(weir_batch_shape(op, a, (const int[]){2}, 1, &batch));
  if (a->shape[a->rank - 2] != a->shape[a->rank - 1]) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: matrices of %lld x %lld", op,
                     (long long)a->shape[a->rank - 2], (long long)a->shape[a->rank - 1]);
  }
  for (int k = 0; k < args->n_out; k++) {
    out[k] = *a;
  }
  out[0].rank--;
  return WEIR_OK;
}

void weir_eigen_access(const weir_op_args *args, weir_access *a, double cubes)
{
  weir_array_desc batch = args->in[0];
  const int64_t n = batch.shape[batch.rank - 1];

  batch.rank -= 2;
  weir_map_dims(a, &batch);
  const int row = weir_map_dim(a, WEIR_REDUCED, n), column = weir_map_dim(a, WEIR_REDUCED, n);

  a->maker = WEIR_MADE_BY_LIBRARY;
  a->point_flops = (weir_dtype_is_complex(batch.dtype) ? 4 : 1) * cubes * pow((double)n, 3);
  weir_batch_map(a, &a->in[0], &args->in[0], 2, (const int[]){row, column});
  weir_batch_map(a, &a->out[0], &args->out[0], 1, &column);
  if (args->n_out > 1) {
    weir_batch_map(a, &a->out[1], &args->out[1], 2, (const int[]){row, column});
  }
}

weir_eigen_item weir_eigen_item_of(const weir_access *a, const weir_box *box, int64_t number,
                                   const weir_view *in, const weir_view *out)
{
  int64_t at[WEIR_MAX_DIMS];
  weir_eigen_item m = {.has_vectors = a->n_out > 1};

  weir_batch_point(a, box, number, at);
  m.a = weir_batch_matrix(&a->in[0], a->n_dims, &in[0], at, 2);
  m.value = weir_batch_matrix(&a->out[0], a->n_dims, &out[0], at, 1);
  if (m.has_vectors) {
    m.vector = weir_batch_matrix(&a->out[1], a->n_dims, &out[1], at, 2);
  }
  return m;
}

void weir_eigen_run(const weir_kernel_run *r, void (*solve)(const weir_eigen_item *m, char *memory))
{
  const weir_access *a = &((const weir_node *)r->context)->access;
  int64_t from, to;

  weir_batch_piece(a, &r->box, r->piece, 1, &from, &to);
  for (int64_t p = from; p < to; p++) {
    const weir_eigen_item m = weir_eigen_item_of(a, &r->box, p, r->views, r->views + 1);

    solve(&m, r->scratch);
  }
}

void weir_eigen_spoil(const weir_eigen_item *m)
{
  weir_matrix_spoil(&m->value);
  if (m->has_vectors) {
    weir_matrix_spoil(&m->vector);
  }
}

double weir_eigen_residual(const weir_eigen_item *m, const weir_c128 *a, const weir_c128 *v,
                           weir_c128 *memory)
{
  const int64_t n = m->a.rows;
  const double size = weir_dense_norm(a, n, n);

  for (int64_t i = 0; i < n * n; i++) {
    const int64_t row = i / n, k = i % n;
    const weir_c128 value =
        weir_dtype_load_complex(m->value.dtype, m->value.data, k * m->value.down);
    weir_c128 sum = {-(v[i].re * value.re - v[i].im * value.im),
                     -(v[i].re * value.im + v[i].im * value.re)};

    for (int64_t j = 0; j < n; j++) {
      const weir_c128 x = a[row * n + j], y = v[j * n + k];

      sum.re += x.re * y.re - x.im * y.im;
      sum.im += x.re * y.im + x.im * y.re;
    }
    memory[k * n + row] = sum; /* a row for each vector */
  }
  double worst = 0;

  for (int64_t k = 0; k < n; k++) {
    worst = fmax(worst, weir_dense_norm(memory + k * n, 1, n));
    worst = isnan(memory[k * n].re) ? INFINITY : worst;
  }
  return worst == 0 ? 0 : worst / (size * weir_batch_eps(m->a.dtype) * (double)n);
}

double weir_eigen_worst(const weir_op_run *r, int64_t bytes,
                        double (*error)(const weir_eigen_item *m, weir_c128 *memory))
{
  const int64_t points = weir_batch_count(r->access, &r->box);
  double worst = 0;
  void *memory = NULL;

  if (weir_alloc(bytes + 1, 1, &memory) != WEIR_OK) {
    return INFINITY;
  }
  for (int64_t p = 0; p < points; p++) {
    const weir_eigen_item m = weir_eigen_item_of(r->access, &r->box, p, r->in, r->out);

    worst = fmax(worst, weir_matrix_is_finite(&m.a)                       ? error(&m, memory)
                        : weir_matrix_is_finite(&m.value) && m.a.rows > 0 ? INFINITY
                                                                          : 0);
  }
  weir_free(&memory);
  return worst;
}
