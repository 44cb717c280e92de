/* planar_body.c - the formulas of graph/weir_complex_scalar.h as expressions of real numbers: same
 * operations, same order, so that all engines give the same bits. */
#include "exec/backend/planar.h"

#include <float.h>
#include <math.h>

/* A complex value that is being made: numbers of its parts in the body; im < 0: it is real. */
typedef struct pair {
  int32_t re, im;
} pair;

static int32_t two(weir_body *b, weir_code code, int32_t x, int32_t y)
{
  return weir_body_binary(b, code, x, y);
}

static int32_t one(weir_body *b, weir_code code, int32_t x)
{
  return weir_body_unary(b, code, x);
}

/* |z| of c64: the root of the sum of squares in f64. */
static int32_t abs_by_f64(weir_body *b, pair z)
{
  const int32_t re = weir_body_cast(b, WEIR_F64, z.re), im = weir_body_cast(b, WEIR_F64, z.im);
  const int32_t squares =
      two(b, WEIR_CODE_ADD, two(b, WEIR_CODE_MUL, re, re), two(b, WEIR_CODE_MUL, im, im));
  const int32_t size = weir_body_cast(b, WEIR_F32, one(b, WEIR_CODE_SQRT, squares));
  const int32_t infinite = weir_body_real(b, WEIR_F32, INFINITY);
  const int32_t first = two(b, WEIR_CODE_EQ, one(b, WEIR_CODE_ABS, z.re), infinite);
  const int32_t second = two(b, WEIR_CODE_EQ, one(b, WEIR_CODE_ABS, z.im), infinite);

  return weir_body_select(b, two(b, WEIR_CODE_OR, first, second), infinite, size);
}

/* |z| of c128: the larger part times the root of 1 + the square of the ratio. */
static int32_t abs_scaled(weir_body *b, pair z)
{
  const int32_t x = one(b, WEIR_CODE_ABS, z.re), y = one(b, WEIR_CODE_ABS, z.im);
  const int32_t first =
      two(b, WEIR_CODE_OR, two(b, WEIR_CODE_GT, x, y), one(b, WEIR_CODE_ISNAN, y));
  const int32_t larger = weir_body_select(b, first, x, y);
  const int32_t smaller = weir_body_select(b, first, y, x);
  const int32_t zero = weir_body_real(b, WEIR_F64, 0), unit = weir_body_real(b, WEIR_F64, 1);
  const int32_t max = weir_body_real(b, WEIR_F64, DBL_MAX);
  const int32_t none = two(b, WEIR_CODE_EQ, larger, zero);
  const int32_t alone = weir_body_select(b, none, smaller, zero);
  const int32_t finite =
      two(b, WEIR_CODE_AND, two(b, WEIR_CODE_GT, larger, zero), two(b, WEIR_CODE_LE, larger, max));
  const int32_t ratio = weir_body_select(b, finite, two(b, WEIR_CODE_DIV, smaller, larger), alone);
  const int32_t sum = two(b, WEIR_CODE_ADD, unit, two(b, WEIR_CODE_MUL, ratio, ratio));

  return weir_body_select(b, none, alone,
                          two(b, WEIR_CODE_MUL, larger, one(b, WEIR_CODE_SQRT, sum)));
}

static pair product(weir_body *b, pair x, pair y)
{
  const int32_t rr = two(b, WEIR_CODE_MUL, x.re, y.re), ii = two(b, WEIR_CODE_MUL, x.im, y.im);
  const int32_t ri = two(b, WEIR_CODE_MUL, x.re, y.im), ir = two(b, WEIR_CODE_MUL, x.im, y.re);

  return (pair){two(b, WEIR_CODE_SUB, rr, ii), two(b, WEIR_CODE_ADD, ri, ir)};
}

/* Smith's: the smaller part of the divisor over the larger one first. */
static pair quotient(weir_body *b, pair x, pair y)
{
  const int32_t turned =
      two(b, WEIR_CODE_LT, one(b, WEIR_CODE_ABS, y.re), one(b, WEIR_CODE_ABS, y.im));
  const int32_t p = weir_body_select(b, turned, y.im, y.re);
  const int32_t q = weir_body_select(b, turned, y.re, y.im);
  const int32_t u = weir_body_select(b, turned, x.im, x.re);
  const int32_t v = weir_body_select(b, turned, x.re, x.im);
  const int32_t ratio = two(b, WEIR_CODE_DIV, q, p);
  const int32_t below = two(b, WEIR_CODE_ADD, p, two(b, WEIR_CODE_MUL, q, ratio));
  const int32_t re = two(b, WEIR_CODE_ADD, u, two(b, WEIR_CODE_MUL, v, ratio));
  const int32_t scaled = two(b, WEIR_CODE_MUL, u, ratio);
  const int32_t im = weir_body_select(b, turned, two(b, WEIR_CODE_SUB, scaled, v),
                                      two(b, WEIR_CODE_SUB, v, scaled));

  return (pair){two(b, WEIR_CODE_DIV, re, below), two(b, WEIR_CODE_DIV, im, below)};
}

static pair exponential(weir_body *b, pair z)
{
  const int32_t size = one(b, WEIR_CODE_EXP, z.re);

  return (pair){two(b, WEIR_CODE_MUL, size, one(b, WEIR_CODE_COS, z.im)),
                two(b, WEIR_CODE_MUL, size, one(b, WEIR_CODE_SIN, z.im))};
}

static pair of_one(weir_body *b, weir_code code, weir_dtype result, pair z)
{
  switch (code) {
  case WEIR_CODE_REAL:
    return (pair){z.re, -1};
  case WEIR_CODE_IMAG:
    return (pair){z.im, -1};
  case WEIR_CODE_CONJ:
    return (pair){z.re, one(b, WEIR_CODE_NEG, z.im)};
  case WEIR_CODE_ABS:
    return (pair){result == WEIR_F32 ? abs_by_f64(b, z) : abs_scaled(b, z), -1};
  case WEIR_CODE_ABS2:
    return (pair){
        two(b, WEIR_CODE_ADD, two(b, WEIR_CODE_MUL, z.re, z.re), two(b, WEIR_CODE_MUL, z.im, z.im)),
        -1};
  case WEIR_CODE_EXP:
    return exponential(b, z);
  case WEIR_CODE_ISNAN:
    return (pair){
        two(b, WEIR_CODE_OR, one(b, WEIR_CODE_ISNAN, z.re), one(b, WEIR_CODE_ISNAN, z.im)), -1};
  default: /* NEG */
    return (pair){one(b, code, z.re), one(b, code, z.im)};
  }
}

static pair of_two(weir_body *b, weir_code code, pair x, pair y)
{
  switch (code) {
  case WEIR_CODE_MAKE:
    return (pair){x.re, y.re};
  case WEIR_CODE_MUL:
    return product(b, x, y);
  case WEIR_CODE_DIV:
    return quotient(b, x, y);
  case WEIR_CODE_EQ:
  case WEIR_CODE_NE: {
    const int32_t same =
        two(b, WEIR_CODE_AND, two(b, WEIR_CODE_EQ, x.re, y.re), two(b, WEIR_CODE_EQ, x.im, y.im));

    return (pair){code == WEIR_CODE_EQ ? same : one(b, WEIR_CODE_NOT, same), -1};
  }
  default: /* ADD, SUB */
    return (pair){two(b, code, x.re, y.re), two(b, code, x.im, y.im)};
  }
}

static pair cast(weir_body *b, weir_dtype part, pair z)
{
  const int32_t re = weir_body_cast(b, part, z.re);

  return (pair){re, z.im < 0 ? weir_body_real(b, part, 0) : weir_body_cast(b, part, z.im)};
}

void planar_body(const weir_body *from, const int *re, const int *im, const int *state,
                 weir_body *body, int32_t *real, int32_t *imag)
{
  for (int32_t i = 0; i < from->n; i++) {
    const weir_expr *e = &from->exprs[i];
    const int args = weir_code_args(e->code);
    const int32_t last = args > 2 ? e->c : args > 1 ? e->b : e->a;
    const bool is_complex = weir_dtype_is_complex(e->dtype);
    const weir_dtype part = weir_dtype_part(e->dtype);
    pair x = {-1, -1}, y = {-1, -1}, z = {-1, -1};

    if (args > 0) {
      x = (pair){real[e->a], imag[e->a]};
      z = (pair){real[last], imag[last]};
    }
    if (args > 1) {
      y = (pair){real[e->b], imag[e->b]};
    }
    pair result = {-1, -1};
    if (!is_complex && (args == 0 || imag[last] < 0)) { /* of reals alone */
      weir_expr copy = *e;

      copy.a = x.re;
      copy.b = y.re;
      copy.c = args > 2 ? z.re : -1;
      copy.integer = e->code == WEIR_CODE_LOAD        ? re[e->integer]
                     : e->code == WEIR_CODE_STATE     ? state[e->integer]
                     : e->code == WEIR_CODE_REMAINDER ? re[e->integer / 16] * 16 + e->integer % 16
                                                      : e->integer;
      result.re = weir_body_push(body, copy);
    } else if (e->code == WEIR_CODE_LOAD) {
      result = (pair){weir_body_load(body, re[e->integer], part),
                      weir_body_load(body, im[e->integer], part)};
    } else if (e->code == WEIR_CODE_STATE) {
      result = (pair){weir_body_state(body, state[e->integer], part),
                      weir_body_state(body, state[e->integer] + 1, part)};
    } else if (e->code == WEIR_CODE_CAST) {
      result = cast(body, part, x);
    } else if (e->code == WEIR_CODE_SELECT) {
      result = (pair){weir_body_select(body, x.re, y.re, z.re),
                      weir_body_select(body, x.re, y.im, z.im)};
    } else {
      result = args == 1 ? of_one(body, e->code, part, x) : of_two(body, e->code, x, y);
    }
    real[i] = result.re;
    imag[i] = result.im;
  }
}
