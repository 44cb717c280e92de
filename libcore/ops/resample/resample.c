/* resample.c - the five methods as index maps: hold, linear, polyphase FIR, half-pixel resize.
 *
 * The two neighbours of a linear method are two operands on one array, so that the result is a
 * function of elements and may be fused with what follows. */
#include "ops/resample/weir_resample.h"

static const int64_t max = INT64_C(1) << 31;

static bool is_resize(const weir_resample_spec *s)
{
  return s->method == WEIR_RESAMPLE_RESIZE || s->method == WEIR_RESAMPLE_RESIZE_LINEAR;
}

static bool is_linear(const weir_resample_spec *s)
{
  return s->method == WEIR_RESAMPLE_LINEAR || s->method == WEIR_RESAMPLE_RESIZE_LINEAR;
}

static weir_border border_of(const weir_resample_spec *s)
{
  return s->border == WEIR_BORDER_NEVER ? WEIR_BORDER_ABSENT : s->border;
}

static weir_status check_taps(const weir_resample_spec *s, const weir_array_desc *x,
                              const weir_array_desc *taps)
{
  const int64_t up = weir_or_one(s->up);
  const weir_border border = border_of(s);
  const bool flat = taps->rank == 1 && up == 1;

  if (taps->dtype != x->dtype) {
    return weir_fail(WEIR_ERR_SHAPE, "resample: taps are %s, the array is %s: they must agree",
                     weir_dtype_name(taps->dtype), weir_dtype_name(x->dtype));
  }
  if (taps->time != 0 || (!flat && (taps->rank != 2 || taps->shape[1] != up))) {
    return weir_fail(WEIR_ERR_SHAPE, "resample: taps are [n, %lld], not of rank %d", (long long)up,
                     taps->rank);
  }
  if (taps->shape[0] > max || border > WEIR_BORDER_REFLECT) {
    return weir_fail(WEIR_ERR_SHAPE, "resample: %lld taps, border rule %d",
                     (long long)taps->shape[0], (int)border);
  }
  if (border == WEIR_BORDER_WRAP || border == WEIR_BORDER_REFLECT) {
    WEIR_TRY(weir_need_bounded("resample", x, s->dim, "wrap and reflect need its end"));
  }
  return WEIR_OK;
}

static bool same_desc(const weir_array_desc *a, const weir_array_desc *b)
{
  bool same = a->dtype == b->dtype && a->rank == b->rank && a->time == b->time;

  for (int d = 0; d < a->rank && same; d++) {
    same = a->shape[d] == b->shape[d];
  }
  return same;
}

static weir_status check_spec(const weir_op_args *args, const weir_resample_spec *s)
{
  const weir_array_desc *x = &args->in[0];

  if (is_linear(s) && !same_desc(x, &args->in[1])) {
    return weir_fail(WEIR_ERR_SHAPE, "resample: the two neighbours belong to different arrays");
  }

  WEIR_TRY(weir_need_dim("resample", x, s->dim));
  if (s->up < 0 || s->down < 0 || s->up > max || s->down > max || s->delay < -max ||
      s->delay > max) {
    return weir_fail(WEIR_ERR_SHAPE, "resample: up %lld, down %lld, delay %lld", (long long)s->up,
                     (long long)s->down, (long long)s->delay);
  }
  if ((is_linear(s) || s->method == WEIR_RESAMPLE_FIR) && !weir_dtype_is_real(x->dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "resample: linear and fir take floats, not %s",
                     weir_dtype_name(x->dtype));
  }
  if (is_resize(s)) {
    WEIR_TRY(weir_need_bounded("resample", x, s->dim, "resize needs its end; use up and down"));
    if (s->length < 0 || s->length > max || x->shape[s->dim] > max ||
        (s->length > 0 && x->shape[s->dim] == 0)) {
      return weir_fail(WEIR_ERR_SHAPE, "resample: %lld elements cannot be resized to %lld",
                       (long long)x->shape[s->dim], (long long)s->length);
    }
    if (s->method == WEIR_RESAMPLE_RESIZE_LINEAR && s->border != WEIR_BORDER_NEVER &&
        s->border != WEIR_BORDER_REPLICATE && s->border != WEIR_BORDER_WRAP) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "resample: a linear resize replicates or wraps, not border rule %d",
                       (int)s->border);
    }
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_resample_spec *s = args->spec;
  const int n = is_linear(s) || s->method == WEIR_RESAMPLE_FIR ? 2 : 1;

  if ((int)s->method < 0 || s->method > WEIR_RESAMPLE_RESIZE_LINEAR) {
    return weir_fail(WEIR_ERR_SHAPE, "resample: unknown method %d", (int)s->method);
  }
  WEIR_TRY(weir_need_count("resample", args, n, n));
  WEIR_TRY(check_spec(args, s));
  const weir_array_desc *x = &args->in[0];
  weir_array_desc y = *x;

  if (is_resize(s)) {
    y.shape[s->dim] = s->length;
  } else if (x->time != s->dim + 1) {
    if (x->shape[s->dim] > INT64_MAX / max / 2) {
      return weir_fail(WEIR_ERR_SHAPE, "resample: %lld elements are too many",
                       (long long)x->shape[s->dim]);
    }
    y.shape[s->dim] = -weir_floor_div(-x->shape[s->dim] * weir_or_one(s->up), weir_or_one(s->down));
  }
  if (s->method == WEIR_RESAMPLE_FIR) {
    WEIR_TRY(check_taps(s, x, &args->in[1]));
    y.dtype = s->accumulator == 0 ? x->dtype : (weir_dtype)(s->accumulator - 1);
    if (s->accumulator < 0 || s->accumulator > WEIR_DTYPE_COUNT || !weir_dtype_is_real(y.dtype)) {
      return weir_fail(WEIR_ERR_SHAPE, "resample: accumulator %d is not a float", s->accumulator);
    }
  }
  *out = y;
  return WEIR_OK;
}

/* The same index in smaller numbers: its divisor is what a derivative goes through. The remainder
 * over the divisor stays as it is where `rest` says that it is read. */
static void shorten(weir_index *i, int dim, bool rest)
{
  int64_t common = weir_gcd(i->div, i->coef[dim]);

  if (rest) {
    common = weir_gcd(common, i->offset < 0 ? -i->offset : i->offset);
  }
  i->coef[dim] /= common;
  i->offset = weir_floor_div(i->offset, common);
  i->div /= common;
}

/* Index of the element at or before the position of output t; rests in [0, div). */
static void set_index(const weir_resample_spec *s, const weir_array_desc *x, weir_index *i)
{
  const int64_t in = x->shape[s->dim];

  if (s->method == WEIR_RESAMPLE_RESIZE) { /* floor((o + 1/2) in / out) */
    i->coef[s->dim] = 2 * in;
    i->offset = in;
    i->div = 2 * s->length;
  } else if (s->method == WEIR_RESAMPLE_RESIZE_LINEAR) { /* floor((o + 1/2) in / out - 1/2) */
    i->coef[s->dim] = 2 * in;
    i->offset = in - s->length;
    i->div = 2 * s->length;
    i->border = s->border == WEIR_BORDER_WRAP ? WEIR_BORDER_WRAP : WEIR_BORDER_REPLICATE;
  } else {
    i->coef[s->dim] = weir_or_one(s->down);
    i->div = weir_or_one(s->up);
  }
  i->div = weir_or_one(i->div); /* no output: nothing is read */
  if (is_resize(s)) {
    shorten(i, s->dim, is_linear(s));
  }
}

static void access_linear(const weir_op_args *args, weir_access *a)
{
  const weir_resample_spec *s = args->spec;
  const weir_dtype dtype = args->in[0].dtype;
  weir_body *b = &a->body;
  weir_index *after = &a->in[1].index[s->dim];

  a->in[1] = a->in[0];
  after->offset += after->div;
  after->border = after->border == WEIR_BORDER_WRAP ? WEIR_BORDER_WRAP : WEIR_BORDER_REPLICATE;
  const int64_t div = after->div;
  const int32_t low = a->value[0], high = weir_body_load(b, 1, dtype);
  const int32_t rest = weir_body_push(b, (weir_expr){.code = WEIR_CODE_REMAINDER,
                                                     .dtype = WEIR_I64,
                                                     .a = -1,
                                                     .b = -1,
                                                     .c = -1,
                                                     .integer = s->dim});
  const int32_t weight = weir_body_binary(b, WEIR_CODE_DIV, weir_body_cast(b, dtype, rest),
                                          weir_body_real(b, dtype, (double)div));
  const int32_t step = weir_body_binary(b, WEIR_CODE_SUB, high, low);

  a->value[0] =
      weir_body_binary(b, WEIR_CODE_ADD, low, weir_body_binary(b, WEIR_CODE_MUL, weight, step));
}

static void access_fir(const weir_op_args *args, weir_access *a)
{
  const weir_resample_spec *s = args->spec;
  const weir_array_desc *taps = &args->in[1];
  const weir_dtype accumulator = args->out[0].dtype;
  const int k = weir_map_dim(a, WEIR_REDUCED, taps->shape[0]);
  weir_index *x = &a->in[0].index[s->dim];
  weir_operand *h = &a->in[1];
  weir_body *b = &a->body;

  x->offset = s->delay;
  x->coef[k] = -x->div;
  x->border = border_of(s);
  x->fill = s->fill;
  weir_map_operand(h, taps);
  h->index[0].coef[k] = 1;
  if (taps->rank == 2 && taps->shape[1] > 1) { /* the phase: (down t + delay) modulo up */
    h->index[1].coef[s->dim] = x->coef[s->dim];
    h->index[1].offset = s->delay;
    h->index[1].border = WEIR_BORDER_WRAP;
  }
  const int32_t tap = weir_body_load(b, 1, taps->dtype);
  const bool same = accumulator == taps->dtype;

  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = accumulator;
  a->value[0] = weir_body_binary(b, WEIR_CODE_MUL, same ? tap : weir_body_cast(b, accumulator, tap),
                                 same ? a->value[0] : weir_body_cast(b, accumulator, a->value[0]));
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_resample_spec *s = args->spec;

  weir_map_copy(args, a);
  weir_map_identity(&a->in[0], &args->in[0]);
  set_index(s, &args->in[0], &a->in[0].index[s->dim]);
  if (is_linear(s)) {
    access_linear(args, a);
  } else if (s->method == WEIR_RESAMPLE_FIR) {
    access_fir(args, a);
  }
  return WEIR_OK;
}

const weir_op_desc weir_op_resample = {
    .name = "resample",
    .cite = "Crochiere and Rabiner, Multirate Digital Signal Processing, 1983, ch. 3",
    .spec_size = sizeof(weir_resample_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_resample_at(weir_graph *g, const weir_resample_spec *spec, weir_value x,
                            weir_value taps, const char *where)
{
  const weir_value in[] = {x, is_linear(spec) ? x : taps};
  const int n = is_linear(spec) || spec->method == WEIR_RESAMPLE_FIR ? 2 : 1;

  return weir_graph_add(g, &weir_op_resample, spec, in, n, where);
}
