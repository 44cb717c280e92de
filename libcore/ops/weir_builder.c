/* weir_builder.c - the usual maps and checks of operators. */
#include "ops/weir_builder.h"

#include <string.h>

void weir_map_dims(weir_access *a, const weir_array_desc *shape)
{
  for (int d = 0; d < shape->rank; d++) {
    const int dim = weir_map_dim(a, WEIR_PARALLEL, shape->shape[d]);

    a->dim[dim].time = shape->time == d + 1;
  }
}

int weir_map_dim(weir_access *a, weir_dim_kind kind, int64_t extent)
{
  a->dim[a->n_dims] = (weir_dim){.kind = kind, .lo = 0, .hi = extent};
  return a->n_dims++;
}

void weir_map_operand(weir_operand *o, const weir_array_desc *d)
{
  memset(o, 0, sizeof *o);
  o->dtype = d->dtype;
  o->rank = d->rank;
  for (int k = 0; k < d->rank; k++) {
    o->extent[k] = d->shape[k];
    o->index[k].div = 1;
  }
}

void weir_map_identity(weir_operand *o, const weir_array_desc *d)
{
  weir_map_operand(o, d);
  for (int k = 0; k < d->rank; k++) {
    o->index[k].coef[k] = 1;
  }
}

void weir_map_broadcast(weir_operand *o, const weir_array_desc *d, const weir_array_desc *shape)
{
  const int skip = shape->rank - d->rank;

  weir_map_operand(o, d);
  for (int k = 0; k < d->rank; k++) {
    o->index[k].coef[skip + k] = d->shape[k] == shape->shape[skip + k];
  }
}

void weir_map_copy(const weir_op_args *args, weir_access *a)
{
  weir_map_dims(a, &args->out[0]);
  weir_map_operand(&a->in[0], &args->in[0]);
  weir_map_identity(&a->out[0], &args->out[0]);
  a->n_values = 1;
  a->value[0] = weir_body_load(&a->body, 0, args->in[0].dtype);
}

weir_status weir_map_pointwise(weir_access *a, const weir_array_desc *d, int n_in)
{
  weir_access_init(a);
  WEIR_TRY(weir_access_resize(a, n_in, 1, 0));
  weir_map_dims(a, d);
  for (int k = 0; k < n_in; k++) {
    weir_map_identity(&a->in[k], d);
  }
  weir_map_identity(&a->out[0], d);
  a->n_values = 1;
  return WEIR_OK;
}

int32_t weir_map_load(weir_access *a, int operand, weir_dtype dtype)
{
  return weir_body_cast(&a->body, weir_dtype_compute_type(dtype),
                        weir_body_load(&a->body, operand, dtype));
}

weir_status weir_need_count(const char *op, const weir_op_args *args, int lo, int hi)
{
  if (args->n_in < lo || args->n_in > hi) {
    return lo == hi ? weir_fail(WEIR_ERR_SHAPE, "%s: takes %d inputs, not %d", op, lo, args->n_in)
                    : weir_fail(WEIR_ERR_SHAPE, "%s: takes %d to %d inputs, not %d", op, lo, hi,
                                args->n_in);
  }
  return WEIR_OK;
}

weir_status weir_need_dim(const char *op, const weir_array_desc *d, int dim)
{
  if (dim < 0 || dim >= d->rank) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: dimension %d of an array of rank %d", op, dim, d->rank);
  }
  return WEIR_OK;
}

weir_status weir_need_bounded(const char *op, const weir_array_desc *d, int dim, const char *why)
{
  if (d->time == dim + 1) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: dimension %d is time, which has no end; %s", op, dim,
                     why);
  }
  return WEIR_OK;
}

/* Merges one array into the common shape. */
static weir_status merge_shape(const char *op, int operand, const weir_array_desc *d,
                               weir_array_desc *out)
{
  for (int k = 0; k < d->rank; k++) {
    const int at = out->rank - d->rank + k;
    int64_t *extent = &out->shape[at];

    if (*extent == 1) {
      *extent = d->shape[k];
    }
    if (d->shape[k] != 1 && d->shape[k] != *extent) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "%s: dimension %d of operand %d has extent %lld, of another operand %lld",
                       op, k, operand, (long long)d->shape[k], (long long)*extent);
    }
    if (d->time == k + 1) {
      out->time = at + 1;
    }
  }
  return WEIR_OK;
}

weir_status weir_common_shape(const char *op, const weir_array_desc *in, int n,
                              weir_array_desc *out)
{
  weir_array_desc common = {.dtype = in[0].dtype};
  int times = 0;

  for (int i = 0; i < n; i++) {
    common.rank = in[i].rank > common.rank ? in[i].rank : common.rank;
  }
  for (int d = 0; d < common.rank; d++) {
    common.shape[d] = 1;
  }
  for (int i = 0; i < n; i++) {
    WEIR_TRY(merge_shape(op, i, &in[i], &common));
  }
  for (int d = 0; d < common.rank; d++) {
    times += common.shape[d] == WEIR_UNBOUNDED;
  }
  if (times > 1) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: the time dimensions of the operands are not aligned", op);
  }
  *out = common;
  return WEIR_OK;
}

weir_status weir_need_border(const char *op, weir_border border)
{
  if (border < WEIR_BORDER_ZERO || border > WEIR_BORDER_REFLECT) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "%s: border rule %d gives no value outside the array; choose zero, value, wrap, "
        "replicate or reflect",
        op, (int)border);
  }
  return WEIR_OK;
}
