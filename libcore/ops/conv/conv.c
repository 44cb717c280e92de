/* conv.c - out[n, o, c] = sum over kernel elements and channels of x[n, stride o + dilation t - lo,
 * ..] w[t,
 * ..]. */
#include "ops/conv/weir_conv.h"

static const int64_t max = INT64_C(1) << 31;

/* Padding with 0 adds nothing: those iterations are dropped. */
static weir_border border_of(const weir_conv_spec *s, int k)
{
  const bool zero = s->border[k] == WEIR_BORDER_NEVER || s->border[k] == WEIR_BORDER_ZERO;

  return s->pad_before[k] == 0 && s->pad_after[k] == 0 ? WEIR_BORDER_NEVER
         : zero                                        ? WEIR_BORDER_ABSENT
                                                       : s->border[k];
}

static weir_status check_dim(const weir_conv_spec *s, const weir_array_desc *x,
                             const weir_array_desc *w, int k, int64_t *extent)
{
  const int64_t stride = weir_or_one(s->stride[k]), dilation = weir_or_one(s->dilation[k]);
  const int64_t n = x->shape[k + 1], kernel_size = w->shape[k];
  const weir_border b = s->border[k];

  if (stride < 1 || stride > max || dilation < 1 || dilation > max || s->pad_before[k] < 0 ||
      s->pad_before[k] > max || s->pad_after[k] < 0 || s->pad_after[k] > max || n > max ||
      kernel_size > max) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "conv: dimension %d: stride %lld, dilation %lld, padding %lld and %lld of an "
                     "extent of %lld, kernel size %lld",
                     k, (long long)stride, (long long)dilation, (long long)s->pad_before[k],
                     (long long)s->pad_after[k], (long long)n, (long long)kernel_size);
  }
  if (b != WEIR_BORDER_NEVER && b != WEIR_BORDER_ZERO && b != WEIR_BORDER_WRAP &&
      b != WEIR_BORDER_REPLICATE && b != WEIR_BORDER_REFLECT) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "conv: dimension %d: padding must be zero, wrap, replicate or reflect, not border rule %d",
        k, (int)b);
  }
  const int64_t reach = n + s->pad_before[k] + s->pad_after[k] - dilation * (kernel_size - 1) - 1;

  if (kernel_size < 1 || reach < 0) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "conv: dimension %d: kernel size %lld with dilation %lld exceeds the padded "
                     "extent %lld: increase the padding",
                     k, (long long)kernel_size, (long long)dilation,
                     (long long)(n + s->pad_before[k] + s->pad_after[k]));
  }
  *extent = reach / stride + 1;
  return WEIR_OK;
}

weir_status weir_conv_check(const char *op, const weir_op_args *args, const char *channels)
{
  WEIR_TRY(weir_need_count(op, args, 2, 2));
  const weir_array_desc *x = &args->in[0], *w = &args->in[1];

  if (x->rank < 3 || x->rank > WEIR_CONV_DIMS + 2 || w->rank != x->rank || x->time > 0 ||
      w->time > 0) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: ranks %d and %d: x must be [n, 1 to %d dimensions, channels], w "
                     "[kernel sizes, %s], without time",
                     op, x->rank, w->rank, WEIR_CONV_DIMS, channels);
  }
  if (!weir_dtype_is_real(x->dtype) || w->dtype != x->dtype) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: x is %s, w %s: both must be floats of one dtype", op,
                     weir_dtype_name(x->dtype), weir_dtype_name(w->dtype));
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_conv_spec *s = args->spec;
  const int64_t groups = weir_or_one(s->groups);

  WEIR_TRY(weir_conv_check("conv", args, "channels in, channels out"));
  const weir_array_desc *x = &args->in[0], *w = &args->in[1];
  const int d = x->rank - 2;
  const int64_t ci = x->shape[d + 1], per_group = w->shape[d], co = w->shape[d + 1];

  if (groups < 1 || ci % groups != 0 || co % groups != 0 || per_group != ci / groups) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "conv: %lld channels in, %lld out, %lld groups: w has %lld channels in, but "
                     "needs channels / groups",
                     (long long)ci, (long long)co, (long long)groups, (long long)per_group);
  }
  *out = *x;
  out->dtype = weir_dtype_compute_type(x->dtype);
  out->shape[d + 1] = co;
  for (int k = 0; k < d; k++) {
    WEIR_TRY(check_dim(s, x, w, k, &out->shape[k + 1]));
  }
  return WEIR_OK;
}

/* Iterations: n, o1 .. od, group, channel of the group; kernel elements t1 .. td, channel in of the
 * group. */
static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_conv_spec *s = args->spec;
  const weir_array_desc *x = &args->in[0], *w = &args->in[1], *y = &args->out[0];
  const int d = x->rank - 2;
  const int64_t groups = weir_or_one(s->groups), out = w->shape[d + 1] / groups;

  for (int k = 0; k <= d; k++) {
    (void)weir_map_dim(a, WEIR_PARALLEL, y->shape[k]);
  }
  const int group = weir_map_dim(a, WEIR_PARALLEL, groups);
  const int channel = weir_map_dim(a, WEIR_PARALLEL, out);
  const int tap = a->n_dims;

  for (int k = 0; k < d; k++) {
    (void)weir_map_dim(a, WEIR_REDUCED, w->shape[k]);
  }
  const int from = weir_map_dim(a, WEIR_REDUCED, w->shape[d]);
  weir_operand *in = &a->in[0], *weight = &a->in[1], *made = &a->out[0];

  weir_map_operand(in, x);
  weir_map_operand(weight, w);
  weir_map_operand(made, y);
  in->index[0].coef[0] = made->index[0].coef[0] = 1;
  for (int k = 0; k < d; k++) {
    weir_index *i = &in->index[k + 1];

    i->coef[k + 1] = weir_or_one(s->stride[k]);
    i->coef[tap + k] = weir_or_one(s->dilation[k]);
    i->offset = -s->pad_before[k];
    i->border = border_of(s, k);
    weight->index[k].coef[tap + k] = 1;
    made->index[k + 1].coef[k + 1] = 1;
  }
  in->index[d + 1].coef[group] = w->shape[d];
  in->index[d + 1].coef[from] = 1;
  weight->index[d].coef[from] = 1;
  weight->index[d + 1].coef[group] = made->index[d + 1].coef[group] = out;
  weight->index[d + 1].coef[channel] = made->index[d + 1].coef[channel] = 1;
  a->n_values = 1;
  a->value[0] = weir_body_binary(&a->body, WEIR_CODE_MUL, weir_map_load(a, 0, x->dtype),
                                 weir_map_load(a, 1, w->dtype));
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = y->dtype;
  return WEIR_OK;
}

const weir_op_desc weir_op_conv = {
    .name = "conv",
    .cite = "",
    .spec_size = sizeof(weir_conv_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_conv_at(weir_graph *g, const weir_conv_spec *spec, weir_value x, weir_value w,
                        const char *where)
{
  const weir_value in[] = {x, w};

  return weir_graph_add(g, &weir_op_conv, spec, in, 2, where);
}
