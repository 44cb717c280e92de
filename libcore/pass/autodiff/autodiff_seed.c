/* autodiff_seed.c - the rules of the monoids: from adjoints of outputs to those of the values
 * merged.
 */
#include "base/weir_alloc.h"
#include "pass/autodiff/autodiff_priv.h"

/* The element of output `o`, out of `array`, as an expression; -1: no space. */
static int32_t aux(derive_adjoint *d, const derive_aux_arrays *arrays, int o, int32_t array)
{
  const int k = derive_aux(d, o, d->from->out[o].dtype);

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
  g = cast(d, g, weir_dtype_compute_type(d->from->body.exprs[e].dtype));
  seed[e] = seed[e] < 0 ? g : weir_body_binary(&d->to->body, WEIR_CODE_ADD, seed[e], g);
}

void derive_read_result(derive_adjoint *d, const derive_aux_arrays *arrays, int32_t *expr)
{
  const weir_access *a = d->from;
  const weir_expr *y = &a->body.exprs[a->value[0]];

  if (a->combine == WEIR_COMBINE_NONE && a->n_values == 1 &&
      (y->code == WEIR_CODE_EXP || y->code == WEIR_CODE_TANH) && y->dtype == a->out[0].dtype) {
    const int32_t read = aux(d, arrays, 0, arrays->made[0]);

    expr[a->value[0]] = read >= 0 ? read : expr[a->value[0]];
  }
}

/* Of `c ? x : constant` only x has a derivative, and only where c holds. That the whole adjoint is
 * 0 elsewhere, and not x's term of it alone, keeps what x is there (an infinity) out of it. */
static int32_t unwrap(derive_adjoint *d, const int32_t *expr, int32_t e)
{
  const weir_expr *all = d->from->body.exprs;

  while (all[e].code == WEIR_CODE_SELECT && all[all[e].c].code == WEIR_CODE_CONST) {
    derive_demand(d, expr[all[e].a]);
    e = all[e].b;
  }
  return e;
}

/* Row-major position of an iteration among the reduced dimensions. index: writes dimension j. */
static int32_t position(const weir_access *a, weir_body *b, int32_t (*index)(void *context, int j),
                        void *context)
{
  int32_t sum = weir_body_int(b, WEIR_I64, 0);
  int64_t weight = 1;

  for (int j = a->n_dims - 1; j >= 0; j--) {
    if (a->dim[j].kind == WEIR_REDUCED) {
      const int32_t lo = weir_body_int(b, WEIR_I64, a->dim[j].lo);
      const int32_t from_lo = weir_body_binary(b, WEIR_CODE_SUB, index(context, j), lo);

      sum = weir_body_binary(
          b, WEIR_CODE_ADD, sum,
          weir_body_binary(b, WEIR_CODE_MUL, from_lo, weir_body_int(b, WEIR_I64, weight)));
      weight *= a->dim[j].hi - a->dim[j].lo;
    }
  }
  return sum;
}

static int32_t own_index(void *context, int j)
{
  return weir_body_index(context, j);
}

static int32_t index_there(void *context, int j)
{
  return derive_put_index(context, j);
}

weir_status derive_find_best(weir_access *a, bool *asks, int *output)
{
  *asks = true;
  switch (a->combine) {
  case WEIR_COMBINE_MIN:
    a->value[0] = weir_body_unary(&a->body, WEIR_CODE_NEG, a->value[0]);
    break;
  case WEIR_COMBINE_MAX:
  case WEIR_COMBINE_SOFTMAX:
    break;
  case WEIR_COMBINE_FIRST:
  case WEIR_COMBINE_LAST:
    a->value[0] = position(a, &a->body, own_index, &a->body);
    a->accumulator = a->out[0].dtype = WEIR_I64;
    *output = 0;
    return WEIR_OK;
  default:
    *asks = false;
    return WEIR_OK;
  }
  WEIR_TRY(weir_access_resize(a, a->n_in, 2, 0));
  a->combine = WEIR_COMBINE_ARGMAX;
  a->out[1] = a->out[0];
  a->out[1].dtype = WEIR_I64;
  *output = 1;
  return WEIR_OK;
}

bool derive_find_product(weir_access *a, bool zeros)
{
  const int32_t v = a->value[0];
  const weir_dtype t = a->body.exprs[v].dtype;

  if (a->combine != WEIR_COMBINE_PROD) {
    return false;
  }
  const int32_t zero = weir_body_binary(&a->body, WEIR_CODE_EQ, v, weir_body_real(&a->body, t, 0));
  const int32_t one = weir_body_real(&a->body, t, 1);

  if (zeros) {
    a->value[0] = weir_body_select(&a->body, zero, one, weir_body_real(&a->body, t, 0));
    a->combine = WEIR_COMBINE_SUM;
  } else {
    a->value[0] = weir_body_select(&a->body, zero, one, v);
  }
  return true;
}

int64_t derive_positions(const weir_access *a)
{
  int64_t n = 1;

  for (int j = 0; j < a->n_dims; j++) {
    if (a->dim[j].kind == WEIR_REDUCED && !weir_mul_ok(n, a->dim[j].hi - a->dim[j].lo, &n)) {
      return INT64_MAX;
    }
  }
  return n;
}

/* True at the iteration that the result comes from. */
static int32_t is_best(derive_adjoint *d, const derive_aux_arrays *arrays, const int32_t *expr)
{
  const weir_access *a = d->from;
  weir_body *b = &d->to->body;
  const bool present = a->combine == WEIR_COMBINE_FIRST || a->combine == WEIR_COMBINE_LAST;
  const int k = derive_aux(d, 0, arrays->argmax_dtype);

  if (k < 0) {
    return -1;
  }
  arrays->array[k] = arrays->best;
  int32_t at = weir_body_load(b, k, arrays->argmax_dtype), here = position(a, b, index_there, d);

  if (derive_positions(a) <= INT32_MAX) { /* vectors hold twice as many, as many as of f32 */
    at = weir_body_cast(b, WEIR_I32, at);
    here = weir_body_cast(b, WEIR_I32, here);
  }
  const int32_t same = weir_body_binary(b, WEIR_CODE_EQ, at, here);

  return present ? weir_body_binary(b, WEIR_CODE_AND, same, expr[a->value[1]]) : same;
}

/* The product of the other values: P / x without zeros, P of the rest at the only zero, else 0. */
static int32_t of_product(derive_adjoint *d, const derive_aux_arrays *arrays, const int32_t *expr,
                          int32_t g)
{
  weir_body *b = &d->to->body;
  const weir_dtype t = d->from->out[0].dtype;
  const int32_t zeros = aux(d, arrays, 0, arrays->zeros);
  const int32_t rest = aux(d, arrays, 0, arrays->others);
  const int32_t x = cast(d, expr[d->from->value[0]], t), none = weir_body_real(b, t, 0);

  if (zeros < 0 || rest < 0) {
    return -1;
  }
  const int32_t here = weir_body_binary(b, WEIR_CODE_EQ, x, none);
  const int32_t others =
      weir_body_select(b, here, rest, weir_body_binary(b, WEIR_CODE_DIV, rest, x));
  const int32_t elsewhere = weir_body_binary(
      b, WEIR_CODE_EQ, zeros, weir_body_select(b, here, weir_body_real(b, t, 1), none));

  return weir_body_binary(b, WEIR_CODE_MUL, g, weir_body_select(b, elsewhere, others, none));
}

/* (n, mean, M2): d mean = 1 / n, d M2 = 2 (x - mean), of samples that are present. */
static int32_t of_moments(derive_adjoint *d, const derive_aux_arrays *arrays, const int32_t *expr,
                          const int32_t *g)
{
  const weir_access *a = d->from;
  weir_body *b = &d->to->body;
  const weir_dtype t = a->out[1].dtype;
  const int32_t n = aux(d, arrays, 0, arrays->made[0]);
  const int32_t mean = aux(d, arrays, 1, arrays->made[1]);
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
static int32_t of_softmax(derive_adjoint *d, const derive_aux_arrays *arrays, const int32_t *expr,
                          const int32_t *g)
{
  weir_body *b = &d->to->body;
  const weir_dtype t = d->from->out[1].dtype;
  const int32_t m = aux(d, arrays, 0, arrays->made[0]);
  const int32_t s = aux(d, arrays, 1, arrays->made[1]);
  const int32_t best = is_best(d, arrays, expr);
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
static int32_t merged(derive_adjoint *d, const derive_aux_arrays *arrays, const int32_t *expr,
                      const int32_t *g)
{
  int32_t best;

  switch (d->from->combine) {
  case WEIR_COMBINE_SUM:
    return g[0];
  case WEIR_COMBINE_MAX:
  case WEIR_COMBINE_MIN:
  case WEIR_COMBINE_ARGMAX:
  case WEIR_COMBINE_FIRST:
  case WEIR_COMBINE_LAST:
    best = is_best(d, arrays, expr);
    if (best < 0) {
      return -1;
    }
    derive_demand(d, best);
    return g[0];
  case WEIR_COMBINE_PROD:
    return of_product(d, arrays, expr, g[0]);
  case WEIR_COMBINE_MOMENTS:
    return of_moments(d, arrays, expr, g);
  case WEIR_COMBINE_SOFTMAX:
    return of_softmax(d, arrays, expr, g);
  default:
    return -1;
  }
}

weir_status derive_seed(derive_adjoint *d, const derive_aux_arrays *arrays, const int32_t *expr,
                        int32_t *seed)
{
  const weir_access *a = d->from;
  int32_t g[WEIR_MAX_OUTPUTS];

  for (int o = 0; o < a->n_out; o++) {
    const bool given = (d->seeded >> o & 1) != 0 && weir_dtype_is_real(a->out[o].dtype);

    g[o] = given ? aux(d, arrays, o, arrays->adjoint[o]) : -1;
    if (given && g[o] >= 0 && a->combine == WEIR_COMBINE_NONE) {
      add_seed(d, seed, a->n_values == 1 ? unwrap(d, expr, a->value[o]) : a->value[o], g[o]);
    }
  }
  if (a->combine != WEIR_COMBINE_NONE) {
    const int32_t v = merged(d, arrays, expr, g);

    if (v >= 0) {
      add_seed(d, seed, unwrap(d, expr, a->value[0]), v);
    }
  }
  if (d->to->body.failed != WEIR_OK) {
    return weir_fail(d->to->body.failed, "out of memory for the operands of a derivative");
  }
  return d->overflow ? weir_fail(WEIR_ERR_UNSUPPORTED, "the derivative has more than %d operands",
                                 WEIR_MAX_OPERANDS)
                     : WEIR_OK;
}
