/* concat.c - out[.., offset + i, ..] = input[.., i, ..]; other writers fill the rest. */
#include "ops/concat/weir_concat.h"

#include "base/weir_alloc.h"

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_concat_spec *s = args->spec;

  WEIR_TRY(weir_need_count("concat", args, 1, 1));
  const weir_array_desc *x = &args->in[0];

  WEIR_TRY(weir_need_dim("concat", x, s->dim));
  WEIR_TRY(weir_need_bounded("concat", x, s->dim, "another input cannot follow it"));
  if (s->offset < 0 || s->extent > WEIR_UNBOUNDED || s->offset > s->extent - x->shape[s->dim]) {
    return weir_fail(WEIR_ERR_SHAPE, "concat: [%lld, %lld) of dimension %d is outside %lld",
                     (long long)s->offset, (long long)(s->offset + x->shape[s->dim]), s->dim,
                     (long long)s->extent);
  }
  *out = *x;
  out->shape[s->dim] = s->extent;
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_concat_spec *s = args->spec;

  weir_map_dims(a, &args->in[0]);
  weir_map_identity(&a->in[0], &args->in[0]);
  weir_map_identity(&a->out[0], &args->out[0]);
  a->out[0].index[s->dim].offset = s->offset;
  a->n_values = 1;
  a->value[0] = weir_body_load(&a->body, 0, args->in[0].dtype);
  return WEIR_OK;
}

const weir_op_desc weir_op_concat = {
    .name = "concat",
    .cite = "",
    .spec_size = sizeof(weir_concat_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

/* Shape of the whole. */
static weir_status join(const weir_graph *g, const weir_value *input, int n, int dim,
                        weir_array_desc *out)
{
  if (n < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "concat: there are no inputs: give at least one");
  }
  for (int i = 0; i < n; i++) {
    const weir_array_desc *d = weir_value_desc(g, input[i]);

    if (d == NULL) {
      return weir_fail(WEIR_ERR_SHAPE, "concat: input %d is not a value of the graph", i);
    }
    WEIR_TRY(weir_need_dim("concat", d, dim));
    if (i == 0) {
      *out = *d;
      continue;
    }
    bool same = d->dtype == out->dtype && d->rank == out->rank && d->time == out->time;

    for (int k = 0; k < d->rank && same; k++) {
      same = k == dim || d->shape[k] == out->shape[k];
    }
    if (!same || !weir_add_ok(out->shape[dim], d->shape[dim], &out->shape[dim])) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "concat: input %d differs from input 0 in dtype or in a dimension other "
                       "than %d",
                       i, dim);
    }
  }
  WEIR_TRY(weir_need_bounded("concat", out, dim, "another input cannot follow it"));
  return WEIR_OK;
}

weir_value weir_concat_at(weir_graph *g, const weir_value *input, int n, int dim, const char *where)
{
  weir_array_desc whole = {.rank = 0};
  weir_value v = WEIR_NO_VALUE;
  weir_concat_spec s = {.dim = dim};
  const weir_status status = join(g, input, n, dim, &whole);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  const int32_t array = weir_graph_array(g, &whole);

  s.extent = whole.shape[dim];
  for (int i = 0; i < n && array >= 0; i++) {
    v = weir_graph_add_into(g, &weir_op_concat, &s, &input[i], 1, array, where);
    s.offset += weir_value_desc(g, input[i])->shape[dim];
  }
  return v;
}
