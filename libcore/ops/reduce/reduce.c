/* reduce.c - out[kept dims] = combine over the reduced dims of in[all dims]. */
#include "ops/reduce/weir_reduce.h"

static bool is_reduced(const weir_reduce_spec *s, int dim)
{
  bool found = s->n_dims == 0;

  for (int i = 0; i < s->n_dims; i++) {
    found = found || s->dim[i] == dim;
  }
  return found;
}

static weir_status check_dims(const weir_reduce_spec *s, const weir_array_desc *x)
{
  if (s->n_dims < 0 || s->n_dims > x->rank) {
    return weir_fail(WEIR_ERR_SHAPE, "reduce: %d dimensions of an array of rank %d", s->n_dims,
                     x->rank);
  }
  for (int i = 0; i < s->n_dims; i++) {
    WEIR_TRY(weir_need_dim("reduce", x, s->dim[i]));
    for (int j = 0; j < i; j++) {
      if (s->dim[i] == s->dim[j]) {
        return weir_fail(WEIR_ERR_SHAPE, "reduce: dimension %d is named twice", s->dim[i]);
      }
    }
  }
  for (int d = 0; d < x->rank; d++) {
    if (is_reduced(s, d)) {
      WEIR_TRY(weir_need_bounded("reduce", x, d, "use window or scan"));
    }
  }
  return WEIR_OK;
}

static int outputs(const weir_op_args *args)
{
  const weir_reduce_spec *s = args->spec;

  return weir_combine_outputs(s->combine);
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_reduce_spec *s = args->spec;
  weir_dtype accumulator = WEIR_F32;
  weir_array_desc kept = {.rank = 0};

  WEIR_TRY(weir_combine_inputs("reduce", args, s->combine));
  const weir_array_desc *x = &args->in[0];

  WEIR_TRY(weir_combine_accumulator("reduce", s->combine, x->dtype, s->accumulator, &accumulator));
  WEIR_TRY(check_dims(s, x));
  for (int d = 0; d < x->rank; d++) {
    if (is_reduced(s, d) && !s->keep) {
      continue;
    }
    kept.shape[kept.rank++] = is_reduced(s, d) ? 1 : x->shape[d];
    if (x->time == d + 1) {
      kept.time = kept.rank;
    }
  }
  for (int k = 0; k < weir_combine_outputs(s->combine); k++) {
    out[k] = kept;
    out[k].dtype = weir_combine_dtype(s->combine, accumulator, k);
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_reduce_spec *s = args->spec;
  const weir_array_desc *x = &args->in[0];

  weir_map_dims(a, x);
  weir_map_identity(&a->in[0], x);
  if (args->n_in == 2) {
    weir_map_broadcast(&a->in[1], &args->in[1], x);
  }
  for (int k = 0; k < args->n_out; k++) {
    weir_operand *o = &a->out[k];
    int at = 0;

    weir_map_operand(o, &args->out[k]);
    for (int d = 0; d < x->rank; d++) {
      const bool reduced = is_reduced(s, d);

      a->dim[d].kind = reduced ? WEIR_REDUCED : WEIR_PARALLEL;
      if (!reduced) {
        o->index[at].coef[d] = 1;
      }
      at += !reduced || s->keep;
    }
  }
  weir_combine_values(a, args, s->combine);
  return WEIR_OK;
}

const weir_op_desc weir_op_reduce = {
    .name = "reduce",
    .cite = "graph/weir_access.h",
    .spec_size = sizeof(weir_reduce_spec),
    .infer = infer,
    .access = access,
    .outputs = outputs,
};

weir_value weir_reduce_at(weir_graph *g, const weir_reduce_spec *spec, weir_value x,
                          weir_value presence, const char *where)
{
  const weir_value in[] = {x, presence};

  return weir_graph_add(g, &weir_op_reduce, spec, in, presence.node >= 0 ? 2 : 1, where);
}

weir_value weir_reduce_dim_at(weir_graph *g, weir_monoid combine, weir_value x, int dim,
                              const char *where)
{
  weir_reduce_spec s = {.combine = combine};

  if (dim >= 0) {
    s.n_dims = 1;
    s.dim[0] = dim;
  }
  return weir_reduce_at(g, &s, x, WEIR_NO_VALUE, where);
}
