/* pad.c - out[i] = in[i - before] with a border rule. */
#include "ops/pad/weir_pad.h"

static weir_border border_of(const weir_pad_spec *s)
{
  return s->border == WEIR_BORDER_NEVER ? WEIR_BORDER_ZERO : s->border;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_pad_spec *s = args->spec;
  const weir_border border = border_of(s);

  WEIR_TRY(weir_need_count("pad", args, 1, 1));
  const weir_array_desc *x = &args->in[0];

  WEIR_TRY(weir_need_border("pad", border));
  *out = *x;
  for (int d = 0; d < x->rank; d++) {
    const int64_t more = s->before[d] + s->after[d];

    if (s->before[d] < 0 || s->after[d] < 0 || s->before[d] > INT32_MAX ||
        s->after[d] > INT32_MAX) {
      return weir_fail(WEIR_ERR_SHAPE, "pad: %lld before and %lld after in dimension %d",
                       (long long)s->before[d], (long long)s->after[d], d);
    }
    if (more > 0) {
      WEIR_TRY(weir_need_bounded("pad", x, d, "use shift"));
    }
    if (more > 0 && x->shape[d] == 0 && border >= WEIR_BORDER_WRAP) {
      return weir_fail(
          WEIR_ERR_SHAPE,
          "pad: dimension %d is empty: wrap, replicate and reflect need at least one element", d);
    }
    out->shape[d] += more;
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_pad_spec *s = args->spec;

  weir_map_copy(args, a);
  weir_map_identity(&a->in[0], &args->in[0]);
  for (int d = 0; d < args->in[0].rank; d++) {
    weir_index *x = &a->in[0].index[d];

    if (s->before[d] + s->after[d] > 0) {
      x->offset = -s->before[d];
      x->border = border_of(s);
      x->fill = s->fill;
    }
  }
  return WEIR_OK;
}

const weir_op_desc weir_op_pad = {
    .name = "pad",
    .cite = "",
    .spec_size = sizeof(weir_pad_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_pad_at(weir_graph *g, weir_value x, const weir_pad_spec *spec, const char *where)
{
  return weir_graph_add(g, &weir_op_pad, spec, &x, 1, where);
}
