/* interpolate.c - rows of a band matrix along one dimension. */
#include "ops/interpolate/weir_interpolate.h"

/* Largest extent and distance: products of two stay within 64 bits. */
static const int64_t max = INT64_C(1) << 30;

int64_t weir_interpolate_low(int64_t n, int64_t length, int64_t o)
{
  return weir_floor_div((2 * o + 1) * n - length, 2 * length);
}

static weir_border border_of(const weir_interpolate_spec *s)
{
  return s->border == WEIR_BORDER_NEVER ? WEIR_BORDER_ZERO : s->border;
}

static bool is_small(int64_t v)
{
  return v >= -max && v <= max;
}

static weir_status check_spec(const weir_interpolate_spec *s, const weir_array_desc *x)
{
  const weir_border border = border_of(s);

  WEIR_TRY(weir_need_dim("interpolate", x, s->dim));
  WEIR_TRY(weir_need_dim("interpolate", x, s->taps));
  if (s->taps <= s->dim || x->time != 0) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "interpolate: dimension %d, taps along %d: taps come later, and there is no "
                     "time; see resample",
                     s->dim, s->taps);
  }
  if (border != WEIR_BORDER_ZERO && border != WEIR_BORDER_WRAP) {
    return weir_fail(WEIR_ERR_SHAPE, "interpolate: border rule %d: zero or wrap", (int)border);
  }
  if (!is_small(s->pad) || !is_small(s->before) || !is_small(x->shape[s->dim])) {
    return weir_fail(WEIR_ERR_SHAPE, "interpolate: pad %lld, before %lld, %lld elements",
                     (long long)s->pad, (long long)s->before, (long long)x->shape[s->dim]);
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_interpolate_spec *s = args->spec;

  WEIR_TRY(weir_need_count("interpolate", args, 2, 2));
  const weir_array_desc *x = &args->in[0], *a = &args->in[1];

  WEIR_TRY(check_spec(s, x));
  if (!weir_dtype_is_real(x->dtype) || a->dtype != x->dtype) {
    return weir_fail(WEIR_ERR_SHAPE, "interpolate: x is %s, coefficients %s: floats of one dtype",
                     weir_dtype_name(x->dtype), weir_dtype_name(a->dtype));
  }
  if (a->rank != 3 || a->time != 0 || a->shape[1] != x->shape[s->taps] || !is_small(a->shape[0]) ||
      !is_small(a->shape[1]) || !is_small(a->shape[2]) ||
      (a->shape[0] > 0 && x->shape[s->dim] == 0)) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "interpolate: coefficients of rank %d for %lld elements and %lld taps: they "
                     "are [length, taps, neighbours]",
                     a->rank, (long long)x->shape[s->dim], (long long)x->shape[s->taps]);
  }
  *out = *x;
  out->dtype = weir_dtype_compute_type(x->dtype);
  out->shape[s->dim] = a->shape[0];
  out->rank--;
  for (int d = s->taps; d < out->rank; d++) {
    out->shape[d] = x->shape[d + 1];
  }
  return WEIR_OK;
}

/* low(o + t - pad) + k - before in smallest numbers, what is never reached left out. */
static void set_index(const weir_interpolate_spec *s, int64_t n, int64_t length, int t, int k,
                      weir_index *i)
{
  const int64_t common = weir_or_one(2 * weir_gcd(n, length));

  i->div = weir_or_one(2 * length / common);
  i->coef[s->dim] = i->coef[t] = 2 * n / common;
  i->coef[k] = i->div;
  i->offset = weir_floor_div(n - length, common) - i->coef[t] * s->pad - i->div * s->before;
  i->border = border_of(s);
}

/* Iterations: those of the result; tap, neighbour. */
static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_interpolate_spec *s = args->spec;
  const weir_array_desc *x = &args->in[0], *c = &args->in[1], *y = &args->out[0];

  weir_map_dims(a, y);
  const int t = weir_map_dim(a, WEIR_REDUCED, c->shape[1]);
  const int k = weir_map_dim(a, WEIR_REDUCED, c->shape[2]);

  weir_map_operand(&a->in[0], x);
  for (int d = 0; d < x->rank; d++) {
    a->in[0].index[d].coef[d == s->taps ? t : d < s->taps ? d : d - 1] = 1;
  }
  set_index(s, x->shape[s->dim], c->shape[0], t, k, &a->in[0].index[s->dim]);
  weir_map_operand(&a->in[1], c);
  a->in[1].index[0].coef[s->dim] = 1;
  a->in[1].index[1].coef[t] = 1;
  a->in[1].index[2].coef[k] = 1;
  weir_map_identity(&a->out[0], y);
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = y->dtype;
  a->n_values = 1;
  a->value[0] = weir_body_binary(&a->body, WEIR_CODE_MUL, weir_map_load(a, 1, c->dtype),
                                 weir_map_load(a, 0, x->dtype));
  return WEIR_OK;
}

const weir_op_desc weir_op_interpolate = {
    .name = "interpolate",
    .cite = "",
    .spec_size = sizeof(weir_interpolate_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_interpolate_at(weir_graph *g, const weir_interpolate_spec *spec, weir_value x,
                               weir_value a, const char *where)
{
  const weir_value in[] = {x, a};

  return weir_graph_add(g, &weir_op_interpolate, spec, in, 2, where);
}
