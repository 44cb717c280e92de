/* derive_seed.c - the rules of the monoids: from adjoints of outputs to those of the values merged.
 */
#include "pass/derive/derive_priv.h"

/* The element of output `o`, out of `array`, as an expression; -1: no room. */
static int32_t beside(derive_adjoint *d, const derive_beside_arrays *arrays, int o, int32_t array)
{
  const int k = derive_beside(d, o, d->from->out[o].dtype);

  if (k < 0) {
    return -1;
  }
  arrays->array[k] = array;
  return weir_body_load(&d->to->body, k, d->from->out[o].dtype);
}

static int32_t cast(derive_adjoint *d, int32_t x, weir_dtype dtype)
{
  weir_body *b = &d->to->body;

  return x < 0 || b->exprs[x].dtype == dtype ? x : weir_body_cast(b, dtype, x);
}

static void add_seed(derive_adjoint *d, int32_t *seed, int32_t e, int32_t g)
{
  g = cast(d, g, d->from->body.exprs[e].dtype);
  seed[e] = seed[e] < 0 ? g : weir_body_binary(&d->to->body, WEIR_CODE_ADD, seed[e], g);
}

bool derive_needs_best(const weir_access *a)
{
  return a->combine == WEIR_COMBINE_MAX || a->combine == WEIR_COMBINE_MIN ||
         a->combine == WEIR_COMBINE_SOFTMAX;
}

/* True at the iteration that the maximum comes from: its position is that of the reduced ones. */
static int32_t is_best(derive_adjoint *d, const derive_beside_arrays *arrays)
{
  const weir_access *a = d->from;
  weir_body *b = &d->to->body;
  const bool own = a->combine == WEIR_COMBINE_ARGMAX;
  const int k = derive_beside(d, 0, WEIR_I64);
  int32_t sum = weir_body_int(b, WEIR_I64, 0);
  int64_t weight = 1;

  if (k < 0) {
    return -1;
  }
  arrays->array[k] = own ? arrays->made[1] : arrays->best;
  for (int j = a->n_dims - 1; j >= 0; j--) {
    if (a->dim[j].kind == WEIR_REDUCED) {
      const int32_t from_lo = weir_body_binary(b, WEIR_CODE_SUB, derive_put_index(d, j),
                                               weir_body_int(b, WEIR_I64, a->dim[j].lo));

      sum = weir_body_binary(
          b, WEIR_CODE_ADD, sum,
          weir_body_binary(b, WEIR_CODE_MUL, from_lo, weir_body_int(b, WEIR_I64, weight)));
      weight *= a->dim[j].hi - a->dim[j].lo;
    }
  }
  return weir_body_binary(b, WEIR_CODE_EQ, weir_body_load(b, k, WEIR_I64), sum);
}

/* (n, mean, M2): d mean = 1 / n, d M2 = 2 (x - mean), of samples that are present. */
static int32_t of_moments(derive_adjoint *d, const derive_beside_arrays *arrays,
                          const int32_t *expr, const int32_t *g)
{
  const weir_access *a = d->from;
  weir_body *b = &d->to->body;
  const weir_dtype t = a->out[1].dtype;
  const int32_t n = beside(d, arrays, 0, arrays->made[0]);
  const int32_t mean = beside(d, arrays, 1, arrays->made[1]);
  const int32_t x = cast(d, expr[a->value[0]], t);
  int32_t sum = weir_body_real(b, t, 0);

  if (n < 0 || mean < 0) {
    return -1;
  }
  if (g[1] >= 0) {
    sum = weir_body_binary(b, WEIR_CODE_DIV, g[1], cast(d, n, t));
  }
  if (g[2] >= 0) {
    const int32_t twice = weir_body_binary(b, WEIR_CODE_MUL, g[2], weir_body_real(b, t, 2));
    const int32_t off = weir_body_binary(b, WEIR_CODE_SUB, x, mean);

    sum = weir_body_binary(b, WEIR_CODE_ADD, sum, weir_body_binary(b, WEIR_CODE_MUL, twice, off));
  }
  return weir_body_select(b, expr[a->value[1]], sum, weir_body_real(b, t, 0));
}

/* (m, s) with s = sum exp(x - m): d s = exp(x - m), and through m, where x is the maximum, -s. */
static int32_t of_softmax(derive_adjoint *d, const derive_beside_arrays *arrays,
                          const int32_t *expr, const int32_t *g)
{
  weir_body *b = &d->to->body;
  const weir_dtype t = d->from->out[1].dtype;
  const int32_t m = beside(d, arrays, 0, arrays->made[0]);
  const int32_t s = beside(d, arrays, 1, arrays->made[1]), best = is_best(d, arrays);
  const int32_t x = cast(d, expr[d->from->value[0]], t), zero = weir_body_real(b, t, 0);
  int32_t sum = zero, at_best = g[0] < 0 ? zero : g[0];

  if (m < 0 || s < 0 || best < 0) {
    return -1;
  }
  if (g[1] >= 0) {
    const int32_t p = weir_body_unary(b, WEIR_CODE_EXP, weir_body_binary(b, WEIR_CODE_SUB, x, m));

    sum = weir_body_binary(b, WEIR_CODE_MUL, g[1], p);
    at_best =
        weir_body_binary(b, WEIR_CODE_SUB, at_best, weir_body_binary(b, WEIR_CODE_MUL, g[1], s));
  }
  return weir_body_binary(b, WEIR_CODE_ADD, sum, weir_body_select(b, best, at_best, zero));
}

/* What the monoid's first value gets. */
static int32_t merged(derive_adjoint *d, const derive_beside_arrays *arrays, const int32_t *expr,
                      const int32_t *g)
{
  int32_t best;

  switch (d->from->combine) {
  case WEIR_COMBINE_SUM:
    return g[0];
  case WEIR_COMBINE_MAX:
  case WEIR_COMBINE_MIN:
  case WEIR_COMBINE_ARGMAX:
    best = is_best(d, arrays);
    if (best < 0) {
      return -1;
    }
    derive_demand(d, best);
    return g[0];
  case WEIR_COMBINE_MOMENTS:
    return of_moments(d, arrays, expr, g);
  case WEIR_COMBINE_SOFTMAX:
    return of_softmax(d, arrays, expr, g);
  default:
    return -1;
  }
}

weir_status derive_seed(derive_adjoint *d, const derive_beside_arrays *arrays, const int32_t *expr,
                        int32_t *seed)
{
  const weir_access *a = d->from;
  int32_t g[WEIR_MAX_OUTPUTS];

  if (a->combine == WEIR_COMBINE_PROD || a->combine >= WEIR_COMBINE_FIRST) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "there is no rule for products, first and last");
  }
  for (int o = 0; o < a->n_out; o++) {
    const bool given = (d->seeded >> o & 1) != 0 && weir_dtype_is_float(a->out[o].dtype);

    g[o] = given ? beside(d, arrays, o, arrays->adjoint[o]) : -1;
    if (given && g[o] >= 0 && a->combine == WEIR_COMBINE_NONE) {
      add_seed(d, seed, a->value[o], g[o]);
    }
  }
  if (a->combine != WEIR_COMBINE_NONE) {
    const int32_t v = merged(d, arrays, expr, g);

    if (v >= 0) {
      add_seed(d, seed, a->value[0], v);
    }
  }
  return d->overflow ? weir_fail(WEIR_ERR_UNSUPPORTED, "the derivative has more than %d operands",
                                 WEIR_MAX_OPERANDS)
                     : WEIR_OK;
}
