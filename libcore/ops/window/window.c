/* window.c - out[t] = combine over k of in[stride t + offset + dilation k]. */
#include "ops/window/weir_window.h"

static const int64_t max = INT64_C(1) << 31;

static weir_border border_of(const weir_window_spec *s)
{
  return s->border == WEIR_BORDER_NEVER ? WEIR_BORDER_ABSENT : s->border;
}

static weir_status check_spec(const weir_window_spec *s, const weir_array_desc *x)
{
  const weir_border border = border_of(s);

  WEIR_TRY(weir_need_dim("window", x, s->dim));
  if (s->size < 1 || s->size > max) {
    return weir_fail(WEIR_ERR_SHAPE, "window: size %lld is out of range", (long long)s->size);
  }
  if (s->stride < 0 || s->stride > max || s->dilation < -max || s->dilation > max ||
      s->offset < -max || s->offset > max) {
    return weir_fail(WEIR_ERR_SHAPE, "window: stride %lld, dilation %lld, offset %lld",
                     (long long)s->stride, (long long)s->dilation, (long long)s->offset);
  }
  if (border > WEIR_BORDER_REFLECT) {
    return weir_fail(WEIR_ERR_SHAPE, "window: unknown border rule %d", (int)border);
  }
  if (border == WEIR_BORDER_WRAP || border == WEIR_BORDER_REFLECT) {
    WEIR_TRY(weir_need_bounded("window", x, s->dim,
                               "wrap and reflect need its end; use absent, zero, value or "
                               "replicate"));
  }
  return WEIR_OK;
}

static int outputs(const weir_op_args *args)
{
  const weir_window_spec *s = args->spec;

  return weir_combine_outputs(s->combine);
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_window_spec *s = args->spec;
  weir_dtype accumulator = WEIR_F32;

  WEIR_TRY(weir_combine_inputs("window", args, s->combine));
  const weir_array_desc *x = &args->in[0];

  WEIR_TRY(check_spec(s, x));
  WEIR_TRY(weir_combine_accumulator("window", s->combine, x->dtype, s->accumulator, &accumulator));
  for (int k = 0; k < weir_combine_outputs(s->combine); k++) {
    const int64_t stride = weir_or_one(s->stride);

    out[k] = *x;
    out[k].dtype = weir_combine_dtype(s->combine, accumulator, k);
    if (x->time != s->dim + 1) {
      out[k].shape[s->dim] = (x->shape[s->dim] + stride - 1) / stride;
    }
  }
  return WEIR_OK;
}

/* The window's map along `dim`, where the operand moves with it. */
static void slide(weir_operand *o, const weir_window_spec *s, int array_dim, int tap)
{
  weir_index *x = &o->index[array_dim];

  if (x->coef[s->dim] == 0) {
    return;
  }
  x->coef[s->dim] = weir_or_one(s->stride);
  x->coef[tap] = weir_or_one(s->dilation);
  x->offset = s->offset;
  x->border = border_of(s);
  x->fill = s->fill;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_window_spec *s = args->spec;
  const weir_array_desc *x = &args->in[0];

  weir_map_dims(a, &args->out[0]);
  const int tap = weir_map_dim(a, WEIR_REDUCED, s->size);

  weir_map_identity(&a->in[0], x);
  slide(&a->in[0], s, s->dim, tap);
  if (args->n_in == 2) {
    const int at = s->dim - (x->rank - args->in[1].rank);

    weir_map_broadcast(&a->in[1], &args->in[1], x);
    if (at >= 0) {
      slide(&a->in[1], s, at, tap);
    }
  }
  for (int k = 0; k < args->n_out; k++) {
    weir_map_identity(&a->out[k], &args->out[k]);
  }
  weir_combine_values(a, args, s->combine);
  return WEIR_OK;
}

const weir_op_desc weir_op_window = {
    .name = "window",
    .cite = "",
    .spec_size = sizeof(weir_window_spec),
    .infer = infer,
    .access = access,
    .outputs = outputs,
};

weir_value weir_window_at(weir_graph *g, const weir_window_spec *spec, weir_value x,
                          weir_value presence, const char *where)
{
  const weir_value in[] = {x, presence};

  return weir_graph_add(g, &weir_op_window, spec, in, presence.node >= 0 ? 2 : 1, where);
}
