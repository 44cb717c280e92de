/* shape.c - operators of ONNX that change shapes, and those that reduce over a dimension. The
 * batch, dimension 0, stays what and where it is. */
#include "nn/onnx/onnx_net.h"
#include "base/weir_alloc.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pad/weir_pad.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "ops/transpose/weir_transpose.h"

enum { MAX_CONCAT = 64 };

weir_status onnx_concat(onnx_net *c, onnx_item *out)
{
  weir_value v[MAX_CONCAT];
  const onnx_item *in = NULL;
  const int64_t n = c->node->n_in;
  int axis = 0;

  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY(onnx_any(c, k, &in));
    out->last = out->last || in->last;
    out->batch = k == 0 ? in->batch : out->batch;
    if (in->batch != out->batch) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "the batch is dimension %d of some data, %d of others",
                         out->batch, in->batch);
    }
  }
  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY(onnx_any(c, k, &in));
    v[k] = in->v;
    if (out->last) {
      WEIR_TRY(onnx_data(c, k, true, &v[k]));
    }
  }
  WEIR_TRY(onnx_axis(c, onnx_int(c, "axis", 1), onnx_desc(c, v[0])->rank, out->batch, &axis));
  out->v = weir_concat(c->g, v, (int)n, onnx_placed(out, axis));
  return onnx_status(c);
}

/* The extents of data, in the order of the file. */
static void extents(const onnx_net *c, const onnx_item *in, int64_t *shape)
{
  const weir_array_desc *const d = onnx_desc(c, in->v);

  for (int k = 0; k < d->rank; k++) {
    shape[k] = d->shape[onnx_placed(in, k)];
  }
}

/* Data in the order of the file but for the batch, which comes first. */
static weir_status plain(const onnx_net *c, const onnx_item *in, weir_value *x)
{
  *x = onnx_ordered(c, in->v, in->last, false);
  return onnx_status(c);
}

/* x in another shape of the file, whose dimension `batch` is the batch; that one is not read. */
static weir_status reshape(onnx_net *c, weir_value x, int rank, const int64_t *shape, int batch,
                           onnx_item *out)
{
  const weir_array_desc *const d = onnx_desc(c, x);
  weir_reshape_spec spec = {.rank = rank};

  spec.shape[0] = d->shape[0];
  for (int k = 0, at = 1; k < rank; k++) {
    if (k != batch) {
      spec.shape[at++] = shape[k];
    }
  }
  out->v = weir_reshape(c->g, x, &spec);
  out->batch = batch;
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
  return reshape(c, x, 2, shape, 0, out);
}

/* Where the batch is not first, the dimensions before it stay. */
weir_status onnx_reshape(onnx_net *c, onnx_item *out)
{
  int64_t shape[WEIR_MAX_RANK], old[WEIR_MAX_RANK], have = 1, want = 1;
  const onnx_item *in = NULL;
  weir_value x = WEIR_NO_VALUE;
  int n = 0, free_dim = -1;

  WEIR_TRY(onnx_any(c, 0, &in));
  WEIR_TRY(plain(c, in, &x));
  const int batch = in->batch, rank = onnx_desc(c, x)->rank;

  extents(c, in, old);
  WEIR_TRY(onnx_numbers(c, 1, "shape", WEIR_MAX_RANK, shape, &n));
  for (int k = 0; k < rank; k++) {
    if (k != batch && !weir_mul_ok(have, old[k], &have)) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "the data have too many elements");
    }
  }
  for (int k = 0; k < n; k++) {
    if (k == batch) {
      continue;
    }
    if (shape[k] == 0 && k < rank && onnx_int(c, "allowzero", 0) == 0) {
      shape[k] = old[k];
    }
    if (shape[k] == -1 && free_dim < 0) {
      free_dim = k;
    } else if (shape[k] < 1 || !weir_mul_ok(want, shape[k], &want)) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "extent %lld", (long long)shape[k]);
    }
  }
  bool keeps = n > batch && have % want == 0 && (free_dim >= 0 || have == want) &&
               shape[batch] >= -1 && shape[batch] <= 1 && (shape[batch] != -1 || free_dim < 0);

  for (int k = 0; k < batch && keeps; k++) {
    keeps = shape[k] == old[k];
  }
  return keeps ? reshape(c, x, n, shape, batch, out)
               : onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                             "the result must keep dimension %d, the batch, those before it, and "
                             "the %lld elements of each of its windows",
                             batch, (long long)have);
}

/* Squeeze, Unsqueeze: axes are those that go, or those of the result that come. */
weir_status onnx_squeeze(onnx_net *c, onnx_item *out)
{
  const bool adds = weir_onnx_is(c->node->op, "Unsqueeze");
  int64_t axes[WEIR_MAX_RANK], old[WEIR_MAX_RANK], shape[2 * WEIR_MAX_RANK];
  bool named[2 * WEIR_MAX_RANK] = {false};
  const onnx_item *in = NULL;
  weir_value x = WEIR_NO_VALUE;
  int n = 0, rank = 0, from = 0, batch = 0;

  WEIR_TRY(onnx_any(c, 0, &in));
  WEIR_TRY(plain(c, in, &x));
  const int of_in = in->batch, all = onnx_desc(c, x)->rank;

  extents(c, in, old);
  WEIR_TRY(onnx_numbers(c, 1, "axes", WEIR_MAX_RANK, axes, &n));
  if (n == 0 || all + (adds ? n : 0) > WEIR_MAX_RANK) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "%d axes: give those that are meant", n);
  }
  for (int k = 0; k < n; k++) {
    int axis = 0;

    WEIR_TRY(onnx_axis(c, axes[k], all + (adds ? n : 0), adds ? 0 : of_in, &axis));
    if (named[axis] || (!adds && old[axis] != 1)) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "axis %lld", (long long)axes[k]);
    }
    named[axis] = true;
  }
  for (int k = 0; k < all + (adds ? n : 0); k++) {
    if (adds && named[k]) {
      shape[rank++] = 1;
      continue;
    }
    if (!named[k]) {
      batch = from == of_in ? rank : batch;
      shape[rank++] = old[from];
    }
    from++;
  }
  return reshape(c, x, rank, shape, batch, out);
}

/* The batch is first in the graph before and after. */
weir_status onnx_transpose(onnx_net *c, onnx_item *out)
{
  const weir_onnx_attribute *const a = weir_onnx_find(c->m, c->node, "perm");
  weir_transpose_spec spec = {.order = {0}};
  bool named[WEIR_MAX_RANK] = {false}, moves = false;
  const onnx_item *in = NULL;

  WEIR_TRY(onnx_any(c, 0, &in));
  const int rank = onnx_desc(c, in->v)->rank;

  if (a == NULL || a->n_ints != rank) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "perm must be given, with %d numbers", rank);
  }
  for (int k = 0, at = 1; k < rank; k++) {
    const int64_t from = a->ints[k];

    if (from < 0 || from >= rank || named[from]) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "perm: %lld of %d dimensions", (long long)from, rank);
    }
    named[from] = true;
    if (from == in->batch) {
      out->batch = k;
    } else {
      spec.order[at] = onnx_placed(in, (int)from);
      moves = moves || spec.order[at] != at;
      at++;
    }
  }
  out->v = moves ? weir_transpose(c->g, in->v, &spec) : in->v;
  return onnx_status(c);
}

/* One element of a dimension, which goes where the index is a number. */
weir_status onnx_gather(onnx_net *c, onnx_item *out)
{
  int64_t at = 0, old[WEIR_MAX_RANK], shape[WEIR_MAX_RANK];
  const onnx_item *in = NULL, *index = NULL;
  weir_value x = WEIR_NO_VALUE;
  int axis = 0, n = 0, rank = 0, batch = 0;

  WEIR_TRY(onnx_any(c, 0, &in));
  WEIR_TRY(plain(c, in, &x));
  const onnx_item from = *in;
  const int all = onnx_desc(c, x)->rank;

  extents(c, in, old);
  WEIR_TRY(onnx_numbers(c, 1, "indices", 1, &at, &n));
  WEIR_TRY(onnx_in(c, 1, &index));
  WEIR_TRY(onnx_axis(c, onnx_int(c, "axis", 0), all, from.batch, &axis));
  at = at < 0 ? at + old[axis] : at;
  if (n != 1 || at < 0 || at >= old[axis]) {
    return onnx_refuse(c, n != 1 ? WEIR_ERR_UNSUPPORTED : WEIR_ERR_SHAPE,
                       "one element of a dimension of %lld is supported", (long long)old[axis]);
  }
  const int placed = onnx_placed(&(onnx_item){.batch = from.batch}, axis);

  x = weir_slice(c->g, x, placed, at, at + 1, 1);
  WEIR_TRY(onnx_status(c));
  for (int k = 0; k < all; k++) {
    if (k != axis || index->constant->n_dims > 0) {
      batch = k == from.batch ? rank : batch;
      shape[rank++] = k == axis ? 1 : old[k];
    }
  }
  return reshape(c, x, rank, shape, batch, out);
}

/* Of some dimensions, forward. */
weir_status onnx_slice(onnx_net *c, onnx_item *out)
{
  int64_t part[4][WEIR_MAX_RANK]; /* starts, ends, axes, steps */
  int n[4] = {0};
  const onnx_item *in = NULL;

  WEIR_TRY(onnx_any(c, 0, &in));
  for (int k = 0; k < 4; k++) {
    WEIR_TRY(onnx_numbers(c, 1 + k, "starts, ends, axes and steps", WEIR_MAX_RANK, part[k], &n[k]));
    if (n[k] != n[0] && (k == 1 || n[k] != 0)) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "%d starts and %d others", n[0], n[k]);
    }
  }
  const weir_onnx_text name = out->name;

  *out = *in;
  out->name = name;
  for (int k = 0; k < n[0]; k++) {
    const int rank = onnx_desc(c, out->v)->rank;
    int axis = 0;

    WEIR_TRY(onnx_axis(c, n[2] > 0 ? part[2][k] : k, rank, out->batch, &axis));
    const int placed = onnx_placed(out, axis);
    const int64_t extent = onnx_desc(c, out->v)->shape[placed], by = n[3] > 0 ? part[3][k] : 1;
    int64_t lo = part[0][k] < 0 ? part[0][k] + extent : part[0][k];
    int64_t hi = part[1][k] < 0 ? part[1][k] + extent : part[1][k];

    lo = lo < 0 ? 0 : lo;
    hi = hi > extent ? extent : hi;
    if (by < 1 || by > INT32_MAX || lo >= hi) {
      return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                         "slots %lld to %lld of %lld, step %lld: an extent above 0 and steps "
                         "forward are supported",
                         (long long)part[0][k], (long long)part[1][k], (long long)extent,
                         (long long)by);
    }
    out->v = weir_slice(c->g, out->v, placed, lo, hi, by);
    WEIR_TRY(onnx_status(c));
  }
  return WEIR_OK;
}

/* A constant that has the shape already, as the initial states of recurrent layers of a batch of 1.
 */
weir_status onnx_expand(onnx_net *c, onnx_item *out)
{
  int64_t shape[WEIR_ONNX_DIMS];
  const onnx_item *in = NULL;
  int n = 0;

  WEIR_TRY(onnx_in(c, 0, &in));
  WEIR_TRY(onnx_numbers(c, 1, "shape", WEIR_ONNX_DIMS, shape, &n));
  bool same = in->constant != NULL && in->constant->n_dims == n;

  for (int k = 0; k < n && same; k++) {
    same = shape[k] == in->constant->shape[k];
  }
  if (!same) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "only a constant that has the shape already is supported: export the "
                       "network with a batch of 1");
  }
  out->constant = in->constant;
  return WEIR_OK;
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

  WEIR_TRY(onnx_any(c, 0, &in));
  const onnx_item from = *in;
  int before = 0;

  x = in->v;
  WEIR_TRY(onnx_numbers(c, 1, "axes", WEIR_MAX_RANK, axes, &spec.n_dims));
  const weir_array_desc *const d = onnx_desc(c, x);

  if (spec.n_dims == 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "without axes it reduces the batch, too");
  }
  for (int k = 0; k < spec.n_dims; k++) {
    int axis = 0;

    WEIR_TRY(onnx_axis(c, axes[k], d->rank, from.batch, &axis));
    spec.dim[k] = onnx_placed(&from, axis);
    before += axis < from.batch;
    count *= (double)d->shape[spec.dim[k]];
  }
  out->v = weir_reduce(c->g, &spec, x);
  if (weir_onnx_is(c->node->op, "ReduceMean")) {
    out->v = weir_scale(c->g, out->v, 1 / count);
  }
  out->last = from.last && spec.keep;
  out->batch = from.batch - (spec.keep ? 0 : before);
  return onnx_status(c);
}

/* exp(x - max) over its sum. */
weir_status onnx_softmax(onnx_net *c, onnx_item *out)
{
  weir_reduce_spec spec = {.combine = WEIR_COMBINE_MAX, .n_dims = 1, .keep = true};
  const onnx_item *in = NULL;
  weir_value x = WEIR_NO_VALUE;
  int axis = 0;

  WEIR_TRY(onnx_any(c, 0, &in));
  x = in->v;
  out->last = in->last;
  out->batch = in->batch;
  WEIR_TRY(onnx_axis(c, onnx_int(c, "axis", -1), onnx_desc(c, x)->rank, in->batch, &axis));
  spec.dim[0] = onnx_placed(out, axis);
  const weir_value part = weir_exp(c->g, weir_sub(c->g, x, weir_reduce(c->g, &spec, x)));

  spec.combine = WEIR_COMBINE_SUM;
  out->v = weir_div(c->g, part, weir_reduce(c->g, &spec, part));
  return onnx_status(c);
}
