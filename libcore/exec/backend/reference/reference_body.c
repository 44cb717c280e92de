/* reference_body.c - one expression after the other: floats in double with libm, integers exact in
 * their dtype. */
#include "exec/backend/reference/reference_priv.h"

#include <math.h>

#include "base/weir_random.h"
#include "graph/weir_scalar.h"

/* An integer of any width as the dtype holds it. */
static int64_t wrap(weir_dtype dtype, uint64_t x)
{
  int64_t cell = 0;

  weir_dtype_store_int(dtype, &cell, 0, (int64_t)x);
  return weir_dtype_load_int(dtype, &cell, 0);
}

static int64_t saturate(weir_dtype dtype, double x)
{
  int64_t cell = 0;

  weir_dtype_store_real(dtype, &cell, 0, x);
  return weir_dtype_load_int(dtype, &cell, 0);
}

exec_scalar reference_cast(weir_dtype to, weir_dtype from, exec_scalar x)
{
  exec_scalar y = {.z = {0, 0}};

  if (weir_dtype_is_complex(to)) {
    const weir_dtype part = weir_dtype_part(to);

    y.z = weir_dtype_is_complex(from) ? x.z
          : weir_dtype_is_real(from)  ? (weir_c128){x.real, 0}
                                      : (weir_c128){(double)x.integer, 0};
    y.z.re = weir_dtype_rounded(part, y.z.re);
    y.z.im = weir_dtype_rounded(part, y.z.im);
  } else if (weir_dtype_is_real(to)) {
    y.real = weir_dtype_is_real(from) ? x.real : (double)x.integer;
    y.real = weir_dtype_rounded(to, y.real);
  } else {
    y.integer = weir_dtype_is_real(from) ? saturate(to, x.real) : wrap(to, (uint64_t)x.integer);
  }
  return y;
}

static double float_unary(weir_code code, double x)
{
  switch (code) {
  case WEIR_CODE_NEG:
    return -x;
  case WEIR_CODE_ABS:
    return fabs(x);
  case WEIR_CODE_SQRT:
    return sqrt(x);
  case WEIR_CODE_EXP:
    return exp(x);
  case WEIR_CODE_LOG:
    return log(x);
  case WEIR_CODE_TANH:
    return tanh(x);
  case WEIR_CODE_ERF:
    return erf(x);
  case WEIR_CODE_SIN:
    return sin(x);
  case WEIR_CODE_COS:
    return cos(x);
  case WEIR_CODE_FLOOR:
    return floor(x);
  case WEIR_CODE_CEIL:
    return ceil(x);
  default:
    return rint(x);
  }
}

static double float_binary(weir_code code, double a, double b, double c)
{
  switch (code) {
  case WEIR_CODE_ADD:
    return a + b;
  case WEIR_CODE_SUB:
    return a - b;
  case WEIR_CODE_MUL:
    return a * b;
  case WEIR_CODE_DIV:
    return a / b;
  case WEIR_CODE_MIN:
    return a < b ? a : b;
  case WEIR_CODE_MAX:
    return a > b ? a : b;
  default:
    return fma(a, b, c);
  }
}

static int64_t int_arithmetic(const weir_expr *e, int64_t a, int64_t b)
{
  switch (e->code) {
  case WEIR_CODE_NEG:
    return wrap(e->dtype, -(uint64_t)a);
  case WEIR_CODE_ABS:
    return wrap(e->dtype, a < 0 ? -(uint64_t)a : (uint64_t)a);
  case WEIR_CODE_ADD:
    return wrap(e->dtype, (uint64_t)a + (uint64_t)b);
  case WEIR_CODE_SUB:
    return wrap(e->dtype, (uint64_t)a - (uint64_t)b);
  case WEIR_CODE_MUL:
    return wrap(e->dtype, (uint64_t)a * (uint64_t)b);
  case WEIR_CODE_DIV:
    return wrap(e->dtype, (uint64_t)weir_div_i64(a, b));
  case WEIR_CODE_MIN:
    return a < b ? a : b;
  case WEIR_CODE_MAX:
    return a > b ? a : b;
  case WEIR_CODE_SHR:
    return weir_shr_i64(a, b);
  case WEIR_CODE_NOT:
    return a == 0;
  case WEIR_CODE_AND:
    return a & b;
  case WEIR_CODE_OR:
    return a | b;
  case WEIR_CODE_XOR:
    return a ^ b;
  default: /* floor, ceil and round of an integer */
    return a;
  }
}

/* Order of two values: -1, 0, 1, or 2 where one is NaN. */
static int order(weir_dtype dtype, exec_scalar a, exec_scalar b)
{
  if (weir_dtype_is_real(dtype)) {
    return a.real < b.real ? -1 : a.real > b.real ? 1 : a.real == b.real ? 0 : 2;
  }
  return a.integer < b.integer ? -1 : a.integer > b.integer;
}

static bool compare(weir_code code, int o)
{
  switch (code) {
  case WEIR_CODE_EQ:
    return o == 0;
  case WEIR_CODE_NE:
    return o != 0;
  case WEIR_CODE_LT:
    return o == -1;
  case WEIR_CODE_LE:
    return o == -1 || o == 0;
  case WEIR_CODE_GT:
    return o == 1;
  default:
    return o == 1 || o == 0;
  }
}

/* Smith's quotient in long double: that of the engines where parts are infinite or 0, too. */
static weir_c128 quotient(weir_c128 x, weir_c128 y)
{
  const long double a = x.re, b = x.im, c = y.re, d = y.im;

  if (fabsl(c) < fabsl(d)) {
    const long double ratio = c / d, below = d + c * ratio;

    return (weir_c128){(double)((b + a * ratio) / below), (double)((b * ratio - a) / below)};
  }
  const long double ratio = d / c, below = c + d * ratio;

  return (weir_c128){(double)((a + b * ratio) / below), (double)((b - a * ratio) / below)};
}

/* By the C library where it serves: the oracle shares no code with the engines. */
static exec_scalar of_complex(weir_code code, exec_scalar a, exec_scalar b)
{
  const weir_c128 x = a.z, y = b.z;
  exec_scalar z = {.z = {0, 0}};

  switch (code) {
  case WEIR_CODE_MAKE:
    z.z = (weir_c128){a.real, b.real};
    break;
  case WEIR_CODE_REAL:
    z.real = x.re;
    break;
  case WEIR_CODE_IMAG:
    z.real = x.im;
    break;
  case WEIR_CODE_CONJ:
    z.z = (weir_c128){x.re, -x.im};
    break;
  case WEIR_CODE_ABS:
    z.real = hypot(x.re, x.im);
    break;
  case WEIR_CODE_ABS2:
    z.real = x.re * x.re + x.im * x.im;
    break;
  case WEIR_CODE_NEG:
    z.z = (weir_c128){-x.re, -x.im};
    break;
  case WEIR_CODE_EXP:
    z.z = (weir_c128){exp(x.re) * cos(x.im), exp(x.re) * sin(x.im)};
    break;
  case WEIR_CODE_ADD:
    z.z = (weir_c128){x.re + y.re, x.im + y.im};
    break;
  case WEIR_CODE_SUB:
    z.z = (weir_c128){x.re - y.re, x.im - y.im};
    break;
  case WEIR_CODE_MUL:
    z.z = (weir_c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
    break;
  case WEIR_CODE_DIV:
    z.z = quotient(x, y);
    break;
  case WEIR_CODE_EQ:
    z.integer = x.re == y.re && x.im == y.im;
    break;
  case WEIR_CODE_NE:
    z.integer = !(x.re == y.re && x.im == y.im);
    break;
  default: /* ISNAN */
    z.integer = isnan(x.re) || isnan(x.im);
  }
  return z;
}

static exec_scalar constant(const weir_expr *e)
{
  exec_scalar y = {.z = {0, 0}};

  if (weir_dtype_is_real(e->dtype)) {
    y.real = weir_dtype_rounded(e->dtype, e->real);
  } else {
    y.integer = wrap(e->dtype, (uint64_t)e->integer);
  }
  return y;
}

/* Numerator modulo div of one index map. */
static int64_t remainder_of(const reference_point *p, int64_t which)
{
  const weir_index *x = &p->access->in[which / 16].index[which % 16];
  int64_t sum = x->offset, gathered;

  exec_gathered(p->access, x, p->in, p->iteration, &gathered);
  for (int k = 0; k < p->access->n_dims; k++) {
    sum += x->coef[k] * p->iteration[k];
  }
  return x->div > 1 ? weir_floor_mod(sum + gathered, x->div) : 0;
}

static exec_scalar leaf(const reference_point *p, const weir_expr *e, const exec_scalar *v)
{
  exec_scalar y = {.z = {0, 0}};

  switch (e->code) {
  case WEIR_CODE_LOAD:
    return p->loaded[e->integer];
  case WEIR_CODE_CONST:
    return constant(e);
  case WEIR_CODE_INDEX:
    y.integer = p->iteration[e->integer];
    return y;
  case WEIR_CODE_REMAINDER:
    y.integer = remainder_of(p, e->integer);
    return y;
  case WEIR_CODE_STATE:
    return p->state[e->integer];
  default:
    y.integer = exec_position(p->access, WEIR_PARALLEL, p->iteration);
    y.integer = e->real > 0 ? y.integer % (int64_t)e->real : y.integer;
    y.integer = (int64_t)weir_random_bits((uint64_t)v[e->a].integer, (uint32_t)e->integer,
                                          (uint32_t)v[e->b].integer, (uint64_t)y.integer);
    return y;
  }
}

void reference_body(const reference_point *p, exec_scalar *v)
{
  const weir_body *body = &p->access->body;

  for (int32_t i = 0; i < body->n; i++) {
    const weir_expr *e = &body->exprs[i];
    const int args = weir_code_args(e->code);
    const exec_scalar none = {.z = {0, 0}};
    const exec_scalar a = args > 0 ? v[e->a] : none, b = args > 1 ? v[e->b] : none;
    const exec_scalar c = args > 2 ? v[e->c] : none;
    const weir_dtype from = args > 0 ? body->exprs[e->a].dtype : e->dtype;

    if (args == 0 || e->code == WEIR_CODE_RANDOM) {
      v[i] = leaf(p, e, v);
    } else if (e->code == WEIR_CODE_CAST) {
      v[i] = reference_cast(e->dtype, from, a);
    } else if (e->code == WEIR_CODE_SELECT) {
      v[i] = a.integer != 0 ? b : c;
    } else if (weir_dtype_is_complex(from) || e->code == WEIR_CODE_MAKE) {
      v[i] = of_complex(e->code, a, b);
    } else if (e->code == WEIR_CODE_ISNAN) {
      v[i].integer = weir_dtype_is_real(from) && isnan(a.real);
    } else if (weir_code_is_compare(e->code)) {
      v[i].integer = compare(e->code, order(from, a, b));
    } else if (weir_dtype_is_whole(e->dtype)) {
      v[i].integer = int_arithmetic(e, a.integer, b.integer);
    } else {
      v[i].real =
          args == 1 ? float_unary(e->code, a.real) : float_binary(e->code, a.real, b.real, c.real);
    }
  }
}
