/* transpose.c - out[i_0, i_1, ..] = in with i_k at dimension order[k]. */
#include "ops/transpose/weir_transpose.h"

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_transpose_spec *s = args->spec;
  int seen = 0;

  WEIR_TRY(weir_need_count("transpose", args, 1, 1));
  const weir_array_desc *x = &args->in[0];

  *out = *x;
  out->time = 0;
  for (int k = 0; k < x->rank; k++) {
    WEIR_TRY(weir_need_dim("transpose", x, s->order[k]));
    if (seen >> s->order[k] & 1) {
      return weir_fail(WEIR_ERR_SHAPE, "transpose: dimension %d is twice in the order",
                       s->order[k]);
    }
    seen |= 1 << s->order[k];
    out->shape[k] = x->shape[s->order[k]];
    out->time = x->time == s->order[k] + 1 ? k + 1 : out->time;
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_transpose_spec *s = args->spec;

  weir_map_copy(args, a);
  for (int k = 0; k < args->in[0].rank; k++) {
    a->in[0].index[s->order[k]].coef[k] = 1;
  }
  return WEIR_OK;
}

const weir_op_desc weir_op_transpose = {
    .name = "transpose",
    .cite = "",
    .spec_size = sizeof(weir_transpose_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_transpose_at(weir_graph *g, weir_value x, const weir_transpose_spec *spec,
                             const char *where)
{
  return weir_graph_add(g, &weir_op_transpose, spec, &x, 1, where);
}
