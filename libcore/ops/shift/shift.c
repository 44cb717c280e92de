/* shift.c - out[i] = in[i - by] along one dimension. */
#include "ops/shift/weir_shift.h"

static weir_border border_of(const weir_shift_spec *s)
{
  return s->border == WEIR_BORDER_NEVER ? WEIR_BORDER_ZERO : s->border;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_shift_spec *s = args->spec;
  const weir_border border = border_of(s);

  WEIR_TRY(weir_need_count("shift", args, 1, 1));
  WEIR_TRY(weir_need_dim("shift", &args->in[0], s->dim));
  WEIR_TRY(weir_need_border("shift", border));
  if (s->by > WEIR_UNBOUNDED || s->by < -WEIR_UNBOUNDED) {
    return weir_fail(WEIR_ERR_SHAPE, "shift: by %lld is too far", (long long)s->by);
  }
  if (border == WEIR_BORDER_WRAP || border == WEIR_BORDER_REFLECT) {
    WEIR_TRY(weir_need_bounded("shift", &args->in[0], s->dim,
                               "wrap and reflect need its end; use zero, value or replicate"));
  }
  *out = args->in[0];
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_shift_spec *s = args->spec;

  weir_map_copy(args, a);
  weir_map_identity(&a->in[0], &args->in[0]);
  weir_index *x = &a->in[0].index[s->dim];

  x->offset = -s->by;
  x->border = s->by == 0 ? WEIR_BORDER_NEVER : border_of(s);
  x->fill = s->fill;
  return WEIR_OK;
}

const weir_op_desc weir_op_shift = {
    .name = "shift",
    .cite = "",
    .spec_size = sizeof(weir_shift_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_shift_at(weir_graph *g, weir_value x, const weir_shift_spec *spec,
                         const char *where)
{
  return weir_graph_add(g, &weir_op_shift, spec, &x, 1, where);
}
