/* gather.c - out[a.., j.., b..] = in[a.., index[j..], b..]. */
#include "ops/gather/weir_gather.h"

static void range_of(const weir_gather_spec *s, const weir_array_desc *x, int64_t *lo, int64_t *hi)
{
  const bool whole = s->lo == 0 && s->hi == 0;

  *lo = s->lo;
  *hi = whole ? x->shape[s->dim] : s->hi;
}

static weir_status check_range(const weir_gather_spec *s, const weir_array_desc *x)
{
  int64_t lo = 0, hi = 0;

  range_of(s, x, &lo, &hi);
  if (hi <= lo || lo < -WEIR_UNBOUNDED || hi > WEIR_UNBOUNDED) {
    return weir_fail(WEIR_ERR_SHAPE, "gather: the declared range [%lld, %lld) is empty or too wide",
                     (long long)lo, (long long)hi);
  }
  if (lo < 0 || hi > x->shape[s->dim]) {
    if (s->border < WEIR_BORDER_ZERO || s->border > WEIR_BORDER_REFLECT) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "gather: the declared range [%lld, %lld) leaves dimension %d of extent "
                       "%lld; name a border rule",
                       (long long)lo, (long long)hi, s->dim, (long long)x->shape[s->dim]);
    }
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_gather_spec *s = args->spec;

  WEIR_TRY(weir_need_count("gather", args, 2, 2));
  const weir_array_desc *x = &args->in[0], *index = &args->in[1];

  WEIR_TRY(weir_need_dim("gather", x, s->dim));
  WEIR_TRY(weir_need_bounded("gather", x, s->dim, "its indices would be unbounded"));
  if (!weir_dtype_is_whole(index->dtype) || index->dtype == WEIR_BOOL) {
    return weir_fail(WEIR_ERR_SHAPE, "gather: the index is %s: it must be an integer",
                     weir_dtype_name(index->dtype));
  }
  if (x->rank - 1 + index->rank > WEIR_MAX_RANK || (x->time != 0 && index->time != 0)) {
    return weir_fail(WEIR_ERR_SHAPE, "gather: rank %d by rank %d%s", x->rank, index->rank,
                     x->time != 0 && index->time != 0 ? ", both with time" : "");
  }
  WEIR_TRY(check_range(s, x));
  weir_array_desc y = {.dtype = x->dtype};

  for (int d = 0; d < x->rank; d++) {
    for (int j = 0; d == s->dim && j < index->rank; j++) {
      y.shape[y.rank++] = index->shape[j];
      y.time = index->time == j + 1 ? y.rank : y.time;
    }
    if (d != s->dim) {
      y.shape[y.rank++] = x->shape[d];
      y.time = x->time == d + 1 ? y.rank : y.time;
    }
  }
  *out = y;
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_gather_spec *s = args->spec;
  const weir_array_desc *x = &args->in[0], *index = &args->in[1];

  weir_map_copy(args, a);
  weir_map_operand(&a->in[1], index);
  for (int d = 0; d < x->rank; d++) {
    if (d != s->dim) {
      a->in[0].index[d].coef[d < s->dim ? d : d + index->rank - 1] = 1;
    }
  }
  for (int j = 0; j < index->rank; j++) {
    a->in[1].index[j].coef[s->dim + j] = 1;
  }
  weir_index *i = &a->in[0].index[s->dim];

  i->gather = 2;
  range_of(s, x, &i->gather_lo, &i->gather_hi);
  if (i->gather_lo < 0 || i->gather_hi > x->shape[s->dim]) {
    i->border = s->border;
    i->fill = s->fill;
  }
  return WEIR_OK;
}

const weir_op_desc weir_op_gather = {
    .name = "gather",
    .cite = "",
    .spec_size = sizeof(weir_gather_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_gather_at(weir_graph *g, weir_value x, weir_value index,
                          const weir_gather_spec *spec, const char *where)
{
  const weir_value in[] = {x, index};

  return weir_graph_add(g, &weir_op_gather, spec, in, 2, where);
}
