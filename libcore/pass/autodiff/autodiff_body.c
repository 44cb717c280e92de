/* autodiff_body.c - the node's expressions again, at the adjoint's iterations, and their
 * derivatives from the last to the first. */
#include <math.h>
#include "pass/autodiff/autodiff_priv.h"

/* n modulo a positive number: from 0 on, whatever the sign of n. */
static int32_t put_modulo(weir_body *b, int32_t n, int64_t by)
{
  const int32_t div = weir_body_int(b, WEIR_I64, by);
  const int32_t whole =
      weir_body_binary(b, WEIR_CODE_MUL, weir_body_binary(b, WEIR_CODE_DIV, n, div), div);
  const int32_t rest = weir_body_binary(b, WEIR_CODE_SUB, n, whole);
  const int32_t below = weir_body_binary(b, WEIR_CODE_LT, rest, weir_body_int(b, WEIR_I64, 0));

  return weir_body_select(b, below, weir_body_binary(b, WEIR_CODE_ADD, rest, div), rest);
}

/* Numerator of an index modulo its divisor. */
static int32_t put_remainder(derive_adjoint *d, const weir_index *x)
{
  weir_body *b = &d->to->body;
  derive_form f;

  if (weir_index_divisor(x) == 1 || !derive_substitute(d, x, &f)) {
    return weir_body_int(b, WEIR_I64, 0);
  }
  const int32_t sum = derive_put_form(d, &f), den = weir_body_int(b, WEIR_I64, f.den);

  return put_modulo(b, f.den == 1 ? sum : weir_body_binary(b, WEIR_CODE_DIV, sum, den), x->div);
}

int32_t derive_put_index(derive_adjoint *d, int dim)
{
  weir_body *b = &d->to->body;
  const derive_form *f = &d->dim[dim];
  const int32_t sum = derive_put_form(d, f);

  if (d->left_by[dim] >= 0) {
    const derive_form *of = &d->dim[d->left_by[dim]];
    const int32_t left = put_modulo(b, derive_put_form(d, of), of->den);

    return weir_body_binary(b, WEIR_CODE_ADD, left, sum);
  }
  return f->den == 1 ? sum
                     : weir_body_binary(b, WEIR_CODE_DIV, sum, weir_body_int(b, WEIR_I64, f->den));
}

weir_status derive_forward(derive_adjoint *d, int32_t *expr)
{
  const weir_body *from = &d->from->body;
  weir_body *b = &d->to->body;

  for (int32_t i = 0; i < from->n; i++) {
    weir_expr e = from->exprs[i];

    switch (e.code) {
    case WEIR_CODE_INDEX:
      expr[i] = derive_put_index(d, (int)e.integer);
      break;
    case WEIR_CODE_REMAINDER:
      expr[i] = put_remainder(d, &d->from->in[e.integer / 16].index[e.integer % 16]);
      break;
    case WEIR_CODE_STATE:
      expr[i] = weir_body_load(b, d->saved[e.integer], e.dtype);
      break;
    case WEIR_CODE_RANDOM:
      return weir_fail(WEIR_ERR_UNSUPPORTED, "no derivative is defined for `%s`",
                       weir_code_name(e.code));
    default:
      expr[i] = weir_body_push(b, weir_expr_renumber(e, expr));
    }
  }
  return b->failed ? weir_fail(WEIR_ERR_MEMORY, "out of memory for the expressions of a derivative")
                   : WEIR_OK;
}

/* Writing of expressions: x, y, .. are numbers, of one float dtype. */
typedef struct writer {
  weir_body *b;
  weir_dtype dtype;
} writer;

static int32_t num(const writer *w, double value)
{
  return weir_body_real(w->b, w->dtype, value);
}

static int32_t mul(const writer *w, int32_t x, int32_t y)
{
  return weir_body_binary(w->b, WEIR_CODE_MUL, x, y);
}

static int32_t quotient(const writer *w, int32_t x, int32_t y)
{
  return weir_body_binary(w->b, WEIR_CODE_DIV, x, y);
}

static int32_t neg(const writer *w, int32_t x)
{
  return weir_body_unary(w->b, WEIR_CODE_NEG, x);
}

/* g where `condition` holds, else 0. */
static int32_t where(const writer *w, int32_t condition, int32_t g)
{
  return weir_body_select(w->b, condition, g, num(w, 0));
}

static int32_t compare(const writer *w, weir_code code, int32_t x, int32_t y)
{
  return weir_body_binary(w->b, code, x, y);
}

/* Derivative of y = code(x) times g. */
static int32_t of_unary(const writer *w, weir_code code, int32_t x, int32_t y, int32_t g)
{
  switch (code) {
  case WEIR_CODE_NEG:
    return neg(w, g);
  case WEIR_CODE_ABS:
    return weir_body_select(w->b, compare(w, WEIR_CODE_LT, x, num(w, 0)), neg(w, g), g);
  case WEIR_CODE_SQRT:
    return quotient(w, mul(w, g, num(w, 0.5)), y);
  case WEIR_CODE_EXP:
    return mul(w, g, y);
  case WEIR_CODE_LOG:
    return quotient(w, g, x);
  case WEIR_CODE_TANH:
    return mul(w, g, weir_body_binary(w->b, WEIR_CODE_SUB, num(w, 1), mul(w, y, y)));
  case WEIR_CODE_ERF:
    return mul(w, mul(w, g, num(w, 2 / sqrt(3.14159265358979323846))),
               weir_body_unary(w->b, WEIR_CODE_EXP, neg(w, mul(w, x, x))));
  case WEIR_CODE_SIN:
    return mul(w, g, weir_body_unary(w->b, WEIR_CODE_COS, x));
  case WEIR_CODE_COS:
    return neg(w, mul(w, g, weir_body_unary(w->b, WEIR_CODE_SIN, x)));
  default: /* floor, ceil, round: flat; not and isnan are no real numbers */
    return -1;
  }
}

/* Derivatives of y = code(a, b) times g. */
static void of_binary(const writer *w, weir_code code, const int32_t *arg, int32_t y, int32_t g,
                      int32_t *out)
{
  int32_t first;

  switch (code) {
  case WEIR_CODE_ADD:
    out[0] = out[1] = g;
    break;
  case WEIR_CODE_SUB:
    out[0] = g;
    out[1] = neg(w, g);
    break;
  case WEIR_CODE_MUL:
    out[0] = mul(w, g, arg[1]);
    out[1] = mul(w, g, arg[0]);
    break;
  case WEIR_CODE_DIV:
    out[0] = quotient(w, g, arg[1]);
    out[1] = neg(w, mul(w, out[0], y));
    break;
  case WEIR_CODE_MIN:
  case WEIR_CODE_MAX:
    first = compare(w, code == WEIR_CODE_MIN ? WEIR_CODE_LT : WEIR_CODE_GT, arg[0], arg[1]);
    out[0] = where(w, first, g);
    out[1] = weir_body_select(w->b, first, num(w, 0), g);
    break;
  default:
    break;
  }
}

/* Derivatives by the arguments of one expression of the node, times g; -1: 0. */
static void of_expression(const writer *w, const weir_body *from, const weir_expr *e,
                          const int32_t *expr, int32_t y, int32_t g, int32_t out[3])
{
  const int32_t arg[3] = {e->a < 0 ? -1 : expr[e->a], e->b < 0 ? -1 : expr[e->b],
                          e->c < 0 ? -1 : expr[e->c]};

  switch (e->code) {
  case WEIR_CODE_CAST:
    if (weir_dtype_is_real(from->exprs[e->a].dtype)) {
      out[0] = weir_body_cast(w->b, weir_dtype_compute_type(from->exprs[e->a].dtype), g);
    }
    break;
  case WEIR_CODE_SELECT:
    out[1] = where(w, arg[0], g);
    out[2] = weir_body_select(w->b, arg[0], num(w, 0), g);
    break;
  case WEIR_CODE_FMA:
    out[0] = mul(w, g, arg[1]);
    out[1] = mul(w, g, arg[0]);
    out[2] = g;
    break;
  default:
    if (weir_code_args(e->code) == 1) {
      out[0] = of_unary(w, e->code, arg[0], y, g);
    } else if (weir_code_args(e->code) == 2) {
      of_binary(w, e->code, arg, y, g, out);
    }
  }
}

int32_t derive_backward(derive_adjoint *d, const int32_t *expr, int32_t *seed)
{
  const weir_body *from = &d->from->body;
  weir_body *b = &d->to->body;
  int32_t sum = -1;

  for (int32_t i = from->n - 1; i >= 0; i--) {
    const weir_expr *e = &from->exprs[i];
    int32_t by[3] = {-1, -1, -1};
    const int32_t at[3] = {e->a, e->b, e->c};

    if (seed[i] < 0 || !weir_dtype_is_real(e->dtype)) {
      continue;
    }
    if (e->code == WEIR_CODE_LOAD && e->integer == d->operand) {
      sum = sum < 0 ? seed[i] : weir_body_binary(b, WEIR_CODE_ADD, sum, seed[i]);
    }
    of_expression(&(writer){b, weir_dtype_compute_type(e->dtype)}, from, e, expr, expr[i], seed[i],
                  by);
    for (int k = 0; k < 3; k++) {
      if (by[k] >= 0) {
        seed[at[k]] =
            seed[at[k]] < 0 ? by[k] : weir_body_binary(b, WEIR_CODE_ADD, seed[at[k]], by[k]);
      }
    }
  }
  return sum;
}
