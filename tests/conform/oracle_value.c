/* oracle_value.c - scalar expressions in double and int64. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "base/weir_random.h"
#include "oracle.h"

static oracle_value from_real(double x)
{
  return (oracle_value){.real = x};
}

static oracle_value from_int(int64_t x)
{
  return (oracle_value){.integer = x};
}

oracle_value oracle_load(const weir_tensor *t, int64_t at)
{
  const weir_c128 x = weir_dtype_load_complex(t->dtype, t->data, at);

  return (oracle_value){
      .real = x.re,
      .integer = weir_dtype_is_whole(t->dtype) ? weir_dtype_load_int(t->dtype, t->data, at) : 0,
      .imaginary = x.im};
}

/* Through memory of the dtype: wraps integers, rounds to f32, saturates floats to integers. */
oracle_value oracle_cast(weir_dtype to, weir_dtype from, oracle_value v)
{
  int64_t cell[2] = {0};
  const weir_tensor t = {.data = cell, .dtype = to};

  if (weir_dtype_is_complex(to)) {
    const double re = weir_dtype_is_whole(from) ? (double)v.integer : v.real;
    const double im = weir_dtype_is_complex(from) ? v.imaginary : 0;

    weir_dtype_store_complex(to, cell, 0, (weir_c128){re, im});
    return oracle_load(&t, 0);
  }
  if (to == WEIR_BOOL) {
    return from_int(weir_dtype_is_real(from) ? v.real != 0 : v.integer != 0);
  }
  if (weir_dtype_is_real(from)) {
    weir_dtype_store_real(to, cell, 0, v.real);
  } else if (weir_dtype_is_real(to)) {
    weir_dtype_store_real(to, cell, 0, (double)v.integer);
  } else {
    weir_dtype_store_int(to, cell, 0, v.integer);
  }
  return oracle_load(&t, 0);
}

void oracle_store(weir_tensor *t, int64_t at, weir_dtype from, oracle_value v)
{
  const oracle_value y = oracle_cast(t->dtype, from, v);

  if (weir_dtype_is_complex(t->dtype)) {
    weir_dtype_store_complex(t->dtype, t->data, at, (weir_c128){y.real, y.imaginary});
  } else if (weir_dtype_is_real(t->dtype)) {
    weir_dtype_store_real(t->dtype, t->data, at, y.real);
  } else {
    weir_dtype_store_int(t->dtype, t->data, at, y.integer);
  }
}

static double real_function(weir_code code, double a, double b, double c)
{
  switch (code) {
  case WEIR_CODE_NEG:
    return -a;
  case WEIR_CODE_ABS:
    return fabs(a);
  case WEIR_CODE_SQRT:
    return sqrt(a);
  case WEIR_CODE_EXP:
    return exp(a);
  case WEIR_CODE_LOG:
    return log(a);
  case WEIR_CODE_TANH:
    return tanh(a);
  case WEIR_CODE_ERF:
    return erf(a);
  case WEIR_CODE_SIN:
    return sin(a);
  case WEIR_CODE_COS:
    return cos(a);
  case WEIR_CODE_FLOOR:
    return floor(a);
  case WEIR_CODE_CEIL:
    return ceil(a);
  case WEIR_CODE_ROUND:
    return nearbyint(a);
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
  case WEIR_CODE_FMA:
    return fma(a, b, c);
  default:
    WEIR_ASSERT(0 && "a float function");
    return 0;
  }
}

/* CMPLX of C11, which not every compiler has. */
static double _Complex pair(double re, double im)
{
  const double parts[2] = {re, im};
  double _Complex z;

  memcpy(&z, parts, sizeof z);
  return z;
}

static oracle_value from_complex(double _Complex z)
{
  return (oracle_value){.real = creal(z), .imaginary = cimag(z)};
}

/* By the arithmetic and the functions of C's own complex numbers. */
static oracle_value complex_function(weir_code code, oracle_value a, oracle_value b)
{
  const double _Complex x = pair(a.real, a.imaginary), y = pair(b.real, b.imaginary);

  switch (code) {
  case WEIR_CODE_MAKE:
    return from_complex(pair(a.real, b.real));
  case WEIR_CODE_REAL:
    return from_real(creal(x));
  case WEIR_CODE_IMAG:
    return from_real(cimag(x));
  case WEIR_CODE_CONJ:
    return from_complex(conj(x));
  case WEIR_CODE_ABS:
    return from_real(cabs(x));
  case WEIR_CODE_ABS2:
    return from_real(creal(x * conj(x)));
  case WEIR_CODE_NEG:
    return from_complex(-x);
  case WEIR_CODE_EXP:
    return from_complex(cexp(x));
  case WEIR_CODE_ADD:
    return from_complex(x + y);
  case WEIR_CODE_SUB:
    return from_complex(x - y);
  case WEIR_CODE_MUL:
    return from_complex(x * y);
  case WEIR_CODE_DIV: /* C makes infinities of what Smith's formula leaves undefined */
    return y == 0 ? from_complex(pair(NAN, NAN)) : from_complex(x / y);
  case WEIR_CODE_EQ:
    return from_int(x == y);
  case WEIR_CODE_NE:
    return from_int(x != y);
  case WEIR_CODE_ISNAN:
    return from_int(isnan(creal(x)) || isnan(cimag(x)));
  default:
    WEIR_ASSERT(0 && "a complex function");
    return from_int(0);
  }
}

/* 64-bit arithmetic modulo 2^64; the caller wraps to the dtype. */
static int64_t int_function(weir_code code, int64_t a, int64_t b)
{
  const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

  switch (code) {
  case WEIR_CODE_NEG:
    return (int64_t)(0 - ua);
  case WEIR_CODE_ABS:
    return a < 0 ? (int64_t)(0 - ua) : a;
  case WEIR_CODE_ADD:
    return (int64_t)(ua + ub);
  case WEIR_CODE_SUB:
    return (int64_t)(ua - ub);
  case WEIR_CODE_MUL:
    return (int64_t)(ua * ub);
  case WEIR_CODE_DIV:
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - ua) : a / b;
  case WEIR_CODE_MIN:
    return a < b ? a : b;
  case WEIR_CODE_MAX:
    return a > b ? a : b;
  case WEIR_CODE_SHR:
    return b < 0 || b > 63 ? 0 : (int64_t)(ua >> ub);
  case WEIR_CODE_NOT:
    return a == 0;
  case WEIR_CODE_AND:
    return a != 0 && b != 0;
  case WEIR_CODE_OR:
    return a != 0 || b != 0;
  case WEIR_CODE_XOR:
    return (a != 0) != (b != 0);
  default:
    WEIR_ASSERT(0 && "an integer function");
    return 0;
  }
}

static bool holds(weir_code code, bool less, bool equal, bool greater)
{
  switch (code) {
  case WEIR_CODE_EQ:
    return equal;
  case WEIR_CODE_NE:
    return !equal;
  case WEIR_CODE_LT:
    return less;
  case WEIR_CODE_LE:
    return less || equal;
  case WEIR_CODE_GT:
    return greater;
  default:
    return greater || equal;
  }
}

static oracle_value leaf(const oracle_point *p, const weir_expr *e)
{
  const weir_access *a = p->access;

  switch (e->code) {
  case WEIR_CODE_LOAD:
    return p->loaded[e->integer];
  case WEIR_CODE_STATE:
    return p->state[e->integer];
  case WEIR_CODE_INDEX:
    return from_int(p->iteration[e->integer]);
  case WEIR_CODE_CONST:
    return oracle_cast(e->dtype, weir_dtype_is_real(e->dtype) ? WEIR_F64 : WEIR_I64,
                       oracle_number(e->real, e->integer));
  default: { /* REMAINDER */
    const weir_index *x = &a->in[e->integer / 16].index[e->integer % 16];
    int64_t sum = x->offset + p->gathered[e->integer];

    for (int k = 0; k < a->n_dims; k++) {
      sum += x->coef[k] * p->iteration[k];
    }
    return from_int(weir_floor_mod(sum, x->div > 1 ? x->div : 1));
  }
  }
}

static oracle_value draw(const oracle_point *p, const weir_expr *e, int64_t seed, int64_t step)
{
  const weir_access *a = p->access;
  int64_t at = 0;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_PARALLEL) {
      at = at * (a->dim[k].hi - a->dim[k].lo) + p->iteration[k] - a->dim[k].lo;
    }
  }
  return from_int((int64_t)weir_random_bits((uint64_t)seed, (uint32_t)e->integer, (uint32_t)step,
                                            (uint64_t)at));
}

static oracle_value inner(const oracle_point *p, const weir_expr *e, const oracle_value *v)
{
  const int n = weir_code_args(e->code);
  const oracle_value zero = oracle_number(0, 0);
  const oracle_value a = v[e->a], b = n > 1 ? v[e->b] : zero, c = n > 2 ? v[e->c] : zero;
  const weir_dtype from = p->access->body.exprs[e->a].dtype;
  const bool real = weir_dtype_is_real(from);

  if (e->code == WEIR_CODE_RANDOM) {
    return draw(p, e, a.integer, b.integer);
  }
  if (e->code == WEIR_CODE_CAST) {
    return oracle_cast(e->dtype, from, a);
  }
  if (e->code == WEIR_CODE_SELECT) {
    return a.integer != 0 ? b : c;
  }
  if (weir_dtype_is_complex(from) || e->code == WEIR_CODE_MAKE) {
    return complex_function(e->code, a, b);
  }
  if (e->code == WEIR_CODE_ISNAN) {
    return from_int(real && isnan(a.real));
  }
  if (weir_code_is_compare(e->code)) {
    return from_int(
        real ? holds(e->code, a.real<b.real, a.real == b.real, a.real> b.real)
             : holds(e->code, a.integer<b.integer, a.integer == b.integer, a.integer> b.integer));
  }
  if (weir_dtype_is_real(e->dtype)) {
    return from_real(real_function(e->code, a.real, b.real, c.real));
  }
  return oracle_cast(e->dtype, WEIR_I64, from_int(int_function(e->code, a.integer, b.integer)));
}

void oracle_body(const oracle_point *p, oracle_value *values)
{
  const weir_body *b = &p->access->body;

  for (int32_t i = 0; i < b->n; i++) {
    const weir_expr *e = &b->exprs[i];

    values[i] = weir_code_args(e->code) == 0 ? leaf(p, e) : inner(p, e, values);
  }
}
