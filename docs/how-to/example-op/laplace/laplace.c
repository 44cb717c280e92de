/* laplace.c - out[i] = sum over k = 0 .. 2 of w[k] in[i + k - 1], w = 1, -2, 1. */
#include "ops/laplace/weir_laplace.h"

static weir_border border_of(const weir_laplace_spec *s)
{
  return s->border == WEIR_BORDER_NEVER ? WEIR_BORDER_REPLICATE : s->border;
}

/* Refuses all invalid arguments, naming problem and remedy. */
static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_laplace_spec *s = args->spec;
  const weir_border border = border_of(s);

  WEIR_TRY(weir_need_count("laplace", args, 1, 1));
  WEIR_TRY(weir_need_dim("laplace", &args->in[0], s->dim));
  WEIR_TRY(weir_need_border("laplace", border));
  if (weir_dtype_is_whole(args->in[0].dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "laplace: takes floats, not %s; cast the operand",
                     weir_dtype_name(args->in[0].dtype));
  }
  if (border == WEIR_BORDER_WRAP || border == WEIR_BORDER_REFLECT) {
    WEIR_TRY(weir_need_bounded("laplace", &args->in[0], s->dim, "wrap and reflect need its end"));
  }
  *out = args->in[0];
  return WEIR_OK;
}

/* Declares one parallel dimension per output dimension and one reduced over the three taps. */
static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_laplace_spec *s = args->spec;
  const weir_dtype dtype = args->in[0].dtype;
  weir_body *b = &a->body;

  weir_map_dims(a, &args->out[0]);
  const int tap = weir_map_dim(a, WEIR_REDUCED, 3);

  weir_map_identity(&a->in[0], &args->in[0]);
  weir_map_identity(&a->out[0], &args->out[0]);
  weir_index *x = &a->in[0].index[s->dim];

  x->coef[tap] = 1;
  x->offset = -1;
  x->border = border_of(s);
  x->fill = s->fill;
  const int32_t value = weir_body_load(b, 0, dtype);
  const int32_t twice = weir_body_binary(b, WEIR_CODE_MUL, weir_body_real(b, dtype, -2.0), value);
  const int32_t middle =
      weir_body_binary(b, WEIR_CODE_EQ, weir_body_index(b, tap), weir_body_int(b, WEIR_I64, 1));

  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = dtype;
  a->n_values = 1;
  a->value[0] = weir_body_select(b, middle, twice, value);
  return WEIR_OK;
}

const weir_op_desc weir_op_laplace = {
    .name = "laplace",
    .cite = "",
    .spec_size = sizeof(weir_laplace_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_laplace_at(weir_graph *g, weir_value x, const weir_laplace_spec *spec,
                           const char *where)
{
  return weir_graph_add(g, &weir_op_laplace, spec, &x, 1, where);
}
