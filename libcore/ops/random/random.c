/* random.c - uniform and normal numbers from Philox bits keyed by (seed, node, step, position). */
#include "ops/random/weir_random_op.h"

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_random_spec *s = args->spec;

  WEIR_TRY(weir_need_count("random", args, 2, 2));
  for (int i = 0; i < 2; i++) {
    if (args->in[i].dtype != WEIR_I64 || args->in[i].rank != 0) {
      return weir_fail(
          WEIR_ERR_SHAPE, "random: the %s is %s of rank %d: it must be a scalar of i64",
          i == 0 ? "seed" : "step", weir_dtype_name(args->in[i].dtype), args->in[i].rank);
    }
  }
  if (s->kind != WEIR_RANDOM_UNIFORM && s->kind != WEIR_RANDOM_NORMAL) {
    return weir_fail(WEIR_ERR_SHAPE, "random: unknown kind %d", (int)s->kind);
  }
  if ((int)s->dtype < 0 || s->dtype >= WEIR_DTYPE_COUNT || !weir_dtype_is_real(s->dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "random: dtype %d is not a float", (int)s->dtype);
  }
  if (s->rank < 0 || s->rank > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_SHAPE, "random: rank %d", s->rank);
  }
  *out = (weir_array_desc){.dtype = s->dtype, .rank = s->rank};
  for (int d = 0; d < s->rank; d++) {
    if (s->shape[d] < 0 || s->shape[d] >= WEIR_UNBOUNDED) {
      return weir_fail(WEIR_ERR_SHAPE, "random: extent %lld of dimension %d",
                       (long long)s->shape[d], d);
    }
    out->shape[d] = s->shape[d];
  }
  return WEIR_OK;
}

static int32_t shift_right(weir_body *b, int32_t x, int64_t by)
{
  return weir_body_binary(b, WEIR_CODE_SHR, x, weir_body_int(b, WEIR_I64, by));
}

/* (x + plus) * 2^-bits in `dtype`, exact for bits up to its precision. */
static int32_t fraction(weir_body *b, weir_dtype dtype, int32_t x, int64_t plus, int bits)
{
  const int32_t n =
      plus == 0 ? x : weir_body_binary(b, WEIR_CODE_ADD, x, weir_body_int(b, WEIR_I64, plus));
  const double scale = 1.0 / (double)(INT64_C(1) << bits);

  return weir_body_binary(b, WEIR_CODE_MUL, weir_body_cast(b, dtype, n),
                          weir_body_real(b, dtype, scale));
}

/* sqrt(-2 log u) cos(2 pi v), u in (0, 1], v in [0, 1). */
static int32_t normal(weir_body *b, weir_dtype dtype, int32_t u, int32_t v)
{
  const int32_t log = weir_body_unary(b, WEIR_CODE_LOG, u);
  const int32_t square = weir_body_binary(b, WEIR_CODE_MUL, weir_body_real(b, dtype, -2.0), log);
  const int32_t angle =
      weir_body_binary(b, WEIR_CODE_MUL, weir_body_real(b, dtype, 6.283185307179586476925), v);

  return weir_body_binary(b, WEIR_CODE_MUL, weir_body_unary(b, WEIR_CODE_SQRT, square),
                          weir_body_unary(b, WEIR_CODE_COS, angle));
}

static int32_t bits_of(weir_access *a, int64_t purpose)
{
  weir_body *b = &a->body;

  return weir_body_push(b, (weir_expr){.code = WEIR_CODE_RANDOM,
                                       .dtype = WEIR_I64,
                                       .a = weir_body_load(b, 0, WEIR_I64),
                                       .b = weir_body_load(b, 1, WEIR_I64),
                                       .c = -1,
                                       .integer = purpose});
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_random_spec *s = args->spec;
  const bool narrow = s->dtype == WEIR_F32;
  const int64_t id = args->random_id;
  weir_body *b = &a->body;

  weir_map_dims(a, &args->out[0]);
  weir_map_identity(&a->in[0], &args->in[0]);
  weir_map_identity(&a->in[1], &args->in[1]);
  weir_map_identity(&a->out[0], &args->out[0]);
  const int32_t first = bits_of(a, id);

  a->n_values = 1;
  if (s->kind == WEIR_RANDOM_UNIFORM) {
    a->value[0] =
        fraction(b, s->dtype, shift_right(b, first, narrow ? 40 : 11), 0, narrow ? 24 : 53);
    return WEIR_OK;
  }
  if (narrow) { /* 24 bits from each end of one draw */
    const int32_t rest =
        weir_body_binary(b, WEIR_CODE_MUL, first, weir_body_int(b, WEIR_I64, INT64_C(1) << 40));
    const int32_t u = fraction(b, s->dtype, shift_right(b, first, 40), 1, 24);

    a->value[0] = normal(b, s->dtype, u, fraction(b, s->dtype, shift_right(b, rest, 40), 0, 24));
    return WEIR_OK;
  }
  /* A second draw with a separate purpose: node numbers stay below 2^31. */
  const int32_t second = bits_of(a, id + (INT64_C(1) << 31));
  const int32_t u = fraction(b, s->dtype, shift_right(b, first, 11), 1, 53);

  a->value[0] = normal(b, s->dtype, u, fraction(b, s->dtype, shift_right(b, second, 11), 0, 53));
  return WEIR_OK;
}

const weir_op_desc weir_op_random = {
    .name = "random",
    .cite = "Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC'11",
    .spec_size = sizeof(weir_random_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_random_at(weir_graph *g, const weir_random_spec *spec, weir_value seed,
                          weir_value step, const char *where)
{
  const weir_value in[] = {seed, step};

  return weir_graph_add(g, &weir_op_random, spec, in, 2, where);
}
