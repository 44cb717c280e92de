/* slice.c - out[i] = in[start + step i] along one dimension. */
#include "ops/slice/weir_slice.h"

/* A position as numpy reads it: negative counts from the end, then clipped to [lo, hi]. */
static int64_t position(int64_t at, int64_t extent, int64_t lo, int64_t hi)
{
  if (at < 0) {
    at = at < -extent ? -1 : at + extent;
  }
  return at < lo ? lo : at > hi ? hi : at;
}

/* First index and number of elements. */
static void resolve(const weir_slice_spec *s, int64_t extent, int64_t *start, int64_t *count)
{
  const int64_t step = s->step == 0 ? 1 : s->step;
  const bool up = step > 0;
  const int64_t lo = up ? 0 : -1, hi = up ? extent : extent - 1;
  int64_t stop = up ? extent : -1;

  *start = position(s->start, extent, lo, hi);
  if (s->stop != WEIR_SLICE_END) {
    stop = position(s->stop, extent, lo, hi);
  }
  const int64_t span = up ? stop - *start : *start - stop;
  const int64_t stride = up ? step : -step;

  *count = span <= 0 ? 0 : 1 + (span - 1) / stride;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_slice_spec *s = args->spec;
  int64_t start = 0, count = 0;

  WEIR_TRY(weir_need_count("slice", args, 1, 1));
  const weir_array_desc *x = &args->in[0];

  WEIR_TRY(weir_need_dim("slice", x, s->dim));
  if (s->step < -WEIR_UNBOUNDED) {
    return weir_fail(WEIR_ERR_SHAPE, "slice: step %lld is too large", (long long)s->step);
  }
  if (x->time == s->dim + 1) {
    if (s->start < 0 || s->stop != WEIR_SLICE_END || s->step < 0 || s->start > WEIR_UNBOUNDED / 2) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "slice: dimension %d is time, which has no end: start %lld must not be "
                       "negative, step %lld must be positive and stop WEIR_SLICE_END",
                       s->dim, (long long)s->start, (long long)s->step);
    }
    *out = *x;
    return WEIR_OK;
  }
  resolve(s, x->shape[s->dim], &start, &count);
  *out = *x;
  out->shape[s->dim] = count;
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_slice_spec *s = args->spec;
  const weir_array_desc *x = &args->in[0];
  int64_t start = s->start, count = 0;

  weir_map_copy(args, a);
  weir_map_identity(&a->in[0], x);
  if (x->time != s->dim + 1) {
    resolve(s, x->shape[s->dim], &start, &count);
  }
  weir_index *i = &a->in[0].index[s->dim];

  i->coef[s->dim] = s->step == 0 ? 1 : s->step;
  i->offset = start;
  i->border = x->time == s->dim + 1 && start > 0 ? WEIR_BORDER_ZERO : WEIR_BORDER_NEVER;
  return WEIR_OK;
}

const weir_op_desc weir_op_slice = {
    .name = "slice",
    .cite = "",
    .spec_size = sizeof(weir_slice_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_slice_at(weir_graph *g, weir_value x, const weir_slice_spec *spec,
                         const char *where)
{
  return weir_graph_add(g, &weir_op_slice, spec, &x, 1, where);
}
