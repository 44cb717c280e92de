/* shape.c - operators of ONNX that change shapes, and those that reduce over a dimension. The
 * batch, dimension 0, stays what and where it is. */
#include "nn/onnx/onnx_net.h"
#include "base/weir_alloc.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pad/weir_pad.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/transpose/weir_transpose.h"

enum { MAX_CONCAT = 64 };

/* Dimension `axis` of the file in the graph. */
static int placed(int axis, bool last)
{
  return last ? 3 - axis : axis;
}

weir_status onnx_concat(onnx_net *c, onnx_item *out)
{
  weir_value v[MAX_CONCAT];
  const onnx_item *in = NULL;
  const int64_t n = c->node->n_in;
  int axis = 0;

  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY(onnx_in(c, k, &in));
    out->last = out->last || in->last;
  }
  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY(onnx_data(c, k, out->last, &v[k]));
  }
  WEIR_TRY(onnx_axis(c, onnx_int(c, "axis", 1), onnx_desc(c, v[0])->rank, &axis));
  out->v = weir_concat(c->g, v, (int)n, placed(axis, out->last));
  return onnx_status(c);
}

/* v in another shape; shape[0], the batch, is that of v. */
static weir_status reshape(onnx_net *c, weir_value v, int rank, const int64_t *shape,
                           onnx_item *out)
{
  const weir_array_desc *const d = onnx_desc(c, v);
  weir_reshape_spec spec = {.rank = rank};

  for (int k = 0; k < rank; k++) {
    spec.shape[k] = k == 0 ? d->shape[0] : shape[k];
  }
  out->v = weir_reshape(c->g, v, &spec);
  return onnx_status(c);
}

weir_status onnx_flatten(onnx_net *c, onnx_item *out)
{
  const int64_t axis = onnx_int(c, "axis", 1), shape[] = {0, -1};
  weir_value x = WEIR_NO_VALUE;

  WEIR_TRY(onnx_data(c, 0, false, &x));
  const int rank = onnx_desc(c, x)->rank;

  if (axis != 1 && axis != 1 - rank) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "axis %lld: only 1, all but the batch, is supported", (long long)axis);
  }
  return reshape(c, x, 2, shape, out);
}

weir_status onnx_reshape(onnx_net *c, onnx_item *out)
{
  int64_t shape[WEIR_MAX_RANK], have = 1, want = 1;
  weir_value x = WEIR_NO_VALUE;
  int n = 0, free_dim = -1;

  WEIR_TRY(onnx_data(c, 0, false, &x));
  WEIR_TRY(onnx_numbers(c, 1, "shape", WEIR_MAX_RANK, shape, &n));
  const weir_array_desc *const d = onnx_desc(c, x);

  for (int k = 1; k < d->rank; k++) {
    if (!weir_mul_ok(have, d->shape[k], &have)) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "the data have too many elements");
    }
  }
  for (int k = 1; k < n; k++) {
    if (shape[k] == 0 && k < d->rank && onnx_int(c, "allowzero", 0) == 0) {
      shape[k] = d->shape[k];
    }
    if (shape[k] == -1 && free_dim < 0) {
      free_dim = k;
    } else if (shape[k] < 1 || !weir_mul_ok(want, shape[k], &want)) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "extent %lld", (long long)shape[k]);
    }
  }
  if (n < 1 || shape[0] < -1 || shape[0] > 1 || (shape[0] == -1 && free_dim >= 0) ||
      have % want != 0 || (free_dim < 0 && have != want)) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "the result must keep dimension 0, the batch, and "
                       "the %lld elements of each of its windows",
                       (long long)have);
  }
  return reshape(c, x, n, shape, out);
}

/* Squeeze, Unsqueeze: axes are those that go, or those of the result that come. */
weir_status onnx_squeeze(onnx_net *c, onnx_item *out)
{
  const bool adds = weir_onnx_is(c->node->op, "Unsqueeze");
  int64_t axes[WEIR_MAX_RANK], shape[2 * WEIR_MAX_RANK];
  bool named[2 * WEIR_MAX_RANK] = {false};
  weir_value x = WEIR_NO_VALUE;
  int n = 0, rank = 0, from = 0;

  WEIR_TRY(onnx_data(c, 0, false, &x));
  WEIR_TRY(onnx_numbers(c, 1, "axes", WEIR_MAX_RANK, axes, &n));
  const weir_array_desc *const d = onnx_desc(c, x);
  const int all = d->rank + (adds ? n : 0);

  if (n == 0 || all > WEIR_MAX_RANK) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "%d axes: give those that are meant", n);
  }
  for (int k = 0; k < n; k++) {
    int axis = 0;

    WEIR_TRY(onnx_axis(c, axes[k], all, &axis));
    if (named[axis] || (!adds && d->shape[axis] != 1)) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "axis %lld", (long long)axes[k]);
    }
    named[axis] = true;
  }
  for (int k = 0; k < all; k++) {
    if (!named[k] || adds) {
      shape[rank++] = named[k] ? 1 : d->shape[from];
    }
    from += !adds || !named[k];
  }
  return reshape(c, x, rank, shape, out);
}

weir_status onnx_transpose(onnx_net *c, onnx_item *out)
{
  const weir_onnx_attribute *const a = weir_onnx_find(c->m, c->node, "perm");
  weir_transpose_spec spec = {.order = {0}};
  weir_value x = WEIR_NO_VALUE;

  WEIR_TRY(onnx_data(c, 0, false, &x));
  const int rank = onnx_desc(c, x)->rank;

  if (a == NULL || a->n_ints != rank || a->ints[0] != 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "perm must be given and begin with 0, the batch");
  }
  for (int k = 1; k < rank; k++) {
    WEIR_TRY(onnx_axis(c, a->ints[k], rank, &spec.order[k]));
  }
  out->v = weir_transpose(c->g, x, &spec);
  return onnx_status(c);
}

weir_status onnx_pad(onnx_net *c, onnx_item *out)
{
  int64_t pads[2 * WEIR_MAX_RANK];
  weir_pad_spec spec = {.border = WEIR_BORDER_VALUE};
  const weir_onnx_tensor *t = NULL;
  weir_value x = WEIR_NO_VALUE;
  float fill = 0;
  int n = 0;

  WEIR_TRY(onnx_data(c, 0, false, &x));
  const int rank = onnx_desc(c, x)->rank;

  WEIR_TRY(onnx_numbers(c, 1, "pads", 2 * WEIR_MAX_RANK, pads, &n));
  if (onnx_has(c, 2)) {
    WEIR_TRY(onnx_weights(c, 2, &t));
    if (t->count != 1) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "constant_value is not one number");
    }
    weir_onnx_floats(t, &fill);
  }
  if (n != 2 * rank || pads[0] != 0 || pads[rank] != 0 || onnx_has(c, 3)) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "only pads of every dimension but the batch are supported, without axes");
  }
  if (onnx_text_is(c, "mode", "constant", "reflect")) {
    spec.border = WEIR_BORDER_REFLECT;
  } else if (onnx_text_is(c, "mode", "constant", "edge")) {
    spec.border = WEIR_BORDER_REPLICATE;
  } else if (!onnx_text_is(c, "mode", "constant", "constant")) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "mode: constant, reflect and edge are supported");
  }
  spec.fill = (double)fill;
  for (int k = 0; k < rank; k++) {
    spec.before[k] = pads[k];
    spec.after[k] = pads[rank + k];
  }
  out->v = weir_pad(c->g, x, &spec);
  return onnx_status(c);
}

/* ReduceMean, ReduceMax, ReduceSum: over axes given by an attribute or, in later versions, an
 * input. */
weir_status onnx_reduce(onnx_net *c, onnx_item *out)
{
  const bool max = weir_onnx_is(c->node->op, "ReduceMax");
  weir_reduce_spec spec = {.combine = max ? WEIR_COMBINE_MAX : WEIR_COMBINE_SUM,
                           .keep = onnx_int(c, "keepdims", 1) != 0};
  int64_t axes[WEIR_MAX_RANK];
  const onnx_item *in = NULL;
  weir_value x = WEIR_NO_VALUE;
  double count = 1;

  WEIR_TRY(onnx_in(c, 0, &in));
  const bool last = in->last;

  WEIR_TRY(onnx_data(c, 0, last, &x));
  WEIR_TRY(onnx_numbers(c, 1, "axes", WEIR_MAX_RANK, axes, &spec.n_dims));
  const weir_array_desc *const d = onnx_desc(c, x);

  if (spec.n_dims == 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "without axes it reduces the batch, too");
  }
  for (int k = 0; k < spec.n_dims; k++) {
    int axis = 0;

    WEIR_TRY(onnx_axis(c, axes[k], d->rank, &axis));
    spec.dim[k] = placed(axis, last);
    count *= (double)d->shape[spec.dim[k]];
  }
  out->v = weir_reduce(c->g, &spec, x);
  if (weir_onnx_is(c->node->op, "ReduceMean")) {
    out->v = weir_scale(c->g, out->v, 1 / count);
  }
  out->last = last && spec.keep;
  return onnx_status(c);
}

/* exp(x - max) over its sum. */
weir_status onnx_softmax(onnx_net *c, onnx_item *out)
{
  weir_reduce_spec spec = {.combine = WEIR_COMBINE_MAX, .n_dims = 1, .keep = true};
  const onnx_item *in = NULL;
  weir_value x = WEIR_NO_VALUE;
  int axis = 0;

  WEIR_TRY(onnx_in(c, 0, &in));
  out->last = in->last;
  WEIR_TRY(onnx_data(c, 0, out->last, &x));
  WEIR_TRY(onnx_axis(c, onnx_int(c, "axis", -1), onnx_desc(c, x)->rank, &axis));
  spec.dim[0] = placed(axis, out->last);
  const weir_value part = weir_exp(c->g, weir_sub(c->g, x, weir_reduce(c->g, &spec, x)));

  spec.combine = WEIR_COMBINE_SUM;
  out->v = weir_div(c->g, part, weir_reduce(c->g, &spec, part));
  return onnx_status(c);
}
