/* sliding.c - convolution, pooling and normalisation over one dimension, channels last. */
#include <math.h>
#include "nn/onnx/onnx_net.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"

/* Strides, dilations and padding of a node. */
typedef struct slide {
  int64_t kernel, stride, dilation, pads[2];
} slide;

/* Padding so that ceil(length / stride) windows fit, the odd sample after the data or before. */
static void pad_same(slide *s, int64_t length, bool upper)
{
  const int64_t windows = (length + s->stride - 1) / s->stride;
  const int64_t reach = (windows - 1) * s->stride + s->dilation * (s->kernel - 1) + 1;
  const int64_t total = reach > length ? reach - length : 0;

  s->pads[0] = upper ? total / 2 : total - total / 2;
  s->pads[1] = total - s->pads[0];
}

/* Of data of `length`, with a kernel of `kernel` where the node does not say. */
static weir_status slide_of(const onnx_net *c, int64_t length, int64_t kernel, slide *s)
{
  const bool upper = onnx_text_is(c, "auto_pad", "NOTSET", "SAME_UPPER");

  WEIR_TRY(onnx_list(c, "kernel_shape", 1, kernel, &s->kernel));
  WEIR_TRY(onnx_list(c, "strides", 1, 1, &s->stride));
  WEIR_TRY(onnx_list(c, "dilations", 1, 1, &s->dilation));
  WEIR_TRY(onnx_list(c, "pads", 2, 0, s->pads));
  if (s->kernel < 1 || s->stride < 1 || s->dilation < 1) {
    return onnx_refuse(c, WEIR_ERR_SHAPE, "kernel_shape, strides or dilations of 0");
  }
  if (upper || onnx_text_is(c, "auto_pad", "NOTSET", "SAME_LOWER")) {
    pad_same(s, length, upper);
  } else if (onnx_text_is(c, "auto_pad", "NOTSET", "VALID")) {
    s->pads[0] = s->pads[1] = 0;
  } else if (!onnx_text_is(c, "auto_pad", "NOTSET", "NOTSET")) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "auto_pad: NOTSET, VALID, SAME_UPPER and SAME_LOWER are supported");
  }
  return WEIR_OK;
}

/* v plus or times the constant input k, a number per channel of `channels`. */
static weir_status per_channel(const onnx_net *c, weir_code code, int64_t k, int64_t channels,
                               weir_value *v)
{
  const weir_onnx_tensor *t = NULL;
  weir_value w = WEIR_NO_VALUE;

  WEIR_TRY(onnx_weights(c, k, &t));
  if (t->n_dims != 1 || t->count != channels) {
    return onnx_refuse(c, WEIR_ERR_SHAPE,
                       "input %lld does not have a number for each of %lld channels", (long long)k,
                       (long long)channels);
  }
  WEIR_TRY(onnx_constant(c, t, NULL, &w));
  *v = weir_binary_at(c->g, code, *v, w, WEIR_WHERE);
  return onnx_status(c);
}

weir_status onnx_conv(onnx_net *c, onnx_item *out)
{
  static const int order[] = {2, 1, 0}; /* [filters, channels, kernel]: kernel first */
  const weir_onnx_tensor *t = NULL;
  weir_value x = WEIR_NO_VALUE, w = WEIR_NO_VALUE;
  slide s;

  WEIR_TRY(onnx_data(c, 0, true, &x));
  WEIR_TRY(onnx_weights(c, 1, &t));
  if (t->n_dims != 3) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "weights of %d dimensions: only convolutions over "
                       "one dimension are supported",
                       t->n_dims);
  }
  WEIR_TRY(slide_of(c, onnx_desc(c, x)->shape[1], t->shape[2], &s));
  if (s.kernel != t->shape[2]) {
    return onnx_refuse(c, WEIR_ERR_SHAPE, "kernel_shape %lld, but weights of %lld",
                       (long long)s.kernel, (long long)t->shape[2]);
  }
  const weir_conv_spec spec = {.stride = {s.stride},
                               .dilation = {s.dilation},
                               .pad_before = {s.pads[0]},
                               .pad_after = {s.pads[1]},
                               .groups = onnx_int(c, "group", 1)};

  WEIR_TRY(onnx_constant(c, t, order, &w));
  out->v = weir_conv(c->g, &spec, x, w);
  out->last = true;
  WEIR_TRY(onnx_status(c));
  return onnx_has(c, 2) ? per_channel(c, WEIR_CODE_ADD, 2, t->shape[0], &out->v) : WEIR_OK;
}

/* The spec of a pooling node. */
static weir_status pool_of(const onnx_net *c, int64_t length, weir_pool_spec *spec)
{
  slide s;

  WEIR_TRY(slide_of(c, length, 0, &s));
  if (s.dilation != 1 || onnx_int(c, "storage_order", 0) != 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "dilations and storage_order are not supported");
  }
  *spec = (weir_pool_spec){.kernel_size = {s.kernel},
                           .stride = {s.stride},
                           .pad_before = {s.pads[0]},
                           .pad_after = {s.pads[1]},
                           .ceil = onnx_int(c, "ceil_mode", 0) != 0,
                           .exclude_pad = onnx_int(c, "count_include_pad", 0) == 0};
  return WEIR_OK;
}

weir_status onnx_pool_max(onnx_net *c, onnx_item *out)
{
  weir_value x = WEIR_NO_VALUE;
  weir_pool_spec spec;

  WEIR_TRY(onnx_data(c, 0, true, &x));
  WEIR_TRY(pool_of(c, onnx_desc(c, x)->shape[1], &spec));
  spec.combine = WEIR_COMBINE_MAX;
  out->v = weir_pool(c->g, &spec, x);
  out->last = true;
  return onnx_status(c);
}

weir_status onnx_pool_mean(onnx_net *c, onnx_item *out)
{
  weir_value x = WEIR_NO_VALUE;
  weir_pool_spec spec;

  WEIR_TRY(onnx_data(c, 0, true, &x));
  WEIR_TRY(pool_of(c, onnx_desc(c, x)->shape[1], &spec));
  if (spec.ceil) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "ceil_mode of a mean is not supported");
  }
  out->v = weir_pool_mean(c->g, &spec, x);
  out->last = true;
  return onnx_status(c);
}

/* GlobalAveragePool, GlobalMaxPool: of the whole length. */
weir_status onnx_pool_global(onnx_net *c, onnx_item *out)
{
  const bool mean = weir_onnx_is(c->node->op, "GlobalAveragePool");
  const weir_reduce_spec spec = {
      .combine = mean ? WEIR_COMBINE_SUM : WEIR_COMBINE_MAX, .n_dims = 1, .dim = {1}, .keep = true};
  weir_value x = WEIR_NO_VALUE;

  WEIR_TRY(onnx_data(c, 0, true, &x));
  const double length = (double)onnx_desc(c, x)->shape[1];

  out->v = weir_reduce(c->g, &spec, x);
  out->v = mean ? weir_scale(c->g, out->v, 1 / length) : out->v;
  out->last = true;
  return onnx_status(c);
}

/* scale / sqrt(variance + epsilon) and bias - mean times that, in double precision. */
static weir_status normaliser(const onnx_net *c, int64_t channels, weir_tensor *factor,
                              weir_tensor *offset)
{
  float *values[4] = {NULL, NULL, NULL, NULL};
  weir_tensor t[4] = {{.owned = NULL}, {.owned = NULL}, {.owned = NULL}, {.owned = NULL}};
  const double epsilon = onnx_real(c, "epsilon", 1e-5);
  weir_status status = WEIR_OK;

  for (int k = 0; k < 4; k++) {
    const weir_onnx_tensor *w = NULL;

    WEIR_TRY_GOTO(onnx_weights(c, k + 1, &w), done);
    if (w->n_dims != 1 || w->count != channels) {
      status = onnx_refuse(c, WEIR_ERR_SHAPE,
                           "input %d does not have a number for each of %lld channels", k + 1,
                           (long long)channels);
      goto done;
    }
    WEIR_TRY_GOTO(weir_tensor_init(&t[k], WEIR_F32, 1, &channels), done);
    values[k] = t[k].data;
    weir_onnx_floats(w, values[k]);
  }
  WEIR_TRY_GOTO(weir_tensor_init(factor, WEIR_F32, 1, &channels), done);
  WEIR_TRY_GOTO(weir_tensor_init(offset, WEIR_F32, 1, &channels), done);
  for (int64_t i = 0; i < channels; i++) {
    const double by = (double)values[0][i] / sqrt((double)values[3][i] + epsilon);

    ((float *)factor->data)[i] = (float)by;
    ((float *)offset->data)[i] = (float)((double)values[1][i] - (double)values[2][i] * by);
  }
done:
  for (int k = 0; k < 4; k++) {
    weir_tensor_fini(&t[k]);
  }
  return status;
}

weir_status onnx_batch_norm(onnx_net *c, onnx_item *out)
{
  weir_tensor factor = {.owned = NULL}, offset = {.owned = NULL};
  const onnx_item *in = NULL;
  weir_value x = WEIR_NO_VALUE;

  if (onnx_int(c, "training_mode", 0) != 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "training_mode: export the network for inference");
  }
  WEIR_TRY(onnx_in(c, 0, &in));
  out->last = in->constant == NULL && onnx_desc(c, in->v)->rank == 3;
  WEIR_TRY(onnx_data(c, 0, out->last, &x));
  const weir_array_desc *const d = onnx_desc(c, x);

  if (d->rank < 2 || d->rank > 3) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "data of %d dimensions: 2 or 3 are supported",
                       d->rank);
  }
  const weir_status status = normaliser(c, d->shape[d->rank - 1], &factor, &offset);

  if (status == WEIR_OK) {
    out->v = weir_add(c->g, weir_mul(c->g, x, weir_constant(c->g, &factor)),
                      weir_constant(c->g, &offset));
  }
  weir_tensor_fini(&factor);
  weir_tensor_fini(&offset);
  WEIR_TRY(status);
  return onnx_status(c);
}
