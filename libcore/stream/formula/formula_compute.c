/* formula_compute.c - the operations of expressions as ops of the graph, or on constants. */
#include <float.h>
#include <math.h>
#include "ops/elementwise/weir_elementwise.h"
#include "stream/formula/formula_priv.h"

enum { MAX_FACTORS = 64 };

/* A constant whole exponent is computed by multiplication. */
static bool is_whole_power(const formula_operand *b)
{
  return b->constant && fabs(b->number) <= MAX_FACTORS && b->number == nearbyint(b->number);
}

static double power(double a, double b)
{
  return b == 0.5 ? sqrt(a) : pow(a, b);
}

/* The operation on constants. */
static double fold(formula_op op, double a, double b, double c)
{
  switch (op) {
  case FORMULA_OR:
    return a != 0 || b != 0;
  case FORMULA_AND:
    return a != 0 && b != 0;
  case FORMULA_NOT:
    return a == 0;
  case FORMULA_LT:
    return a < b;
  case FORMULA_LE:
    return a <= b;
  case FORMULA_GT:
    return a > b;
  case FORMULA_GE:
    return a >= b;
  case FORMULA_EQ:
    return a == b;
  case FORMULA_NE:
    return a != b;
  case FORMULA_ADD:
    return a + b;
  case FORMULA_SUB:
    return a - b;
  case FORMULA_MUL:
    return a * b;
  case FORMULA_DIV:
    return a / b;
  case FORMULA_NEG:
    return -a;
  case FORMULA_POWER:
  case FORMULA_POW:
    return power(a, b);
  case FORMULA_HYPOT:
    return hypot(a, b);
  case FORMULA_MOD:
    return a - b * floor(a / b);
  case FORMULA_MIN:
    return isnan(a) || a < b ? a : b;
  case FORMULA_MAX:
    return isnan(a) || a > b ? a : b;
  default: /* clamp */
    return isnan(a) ? a : fmin(fmax(a, b), c);
  }
}

static double fold_unary(formula_op op, double a)
{
  switch (op) {
  case FORMULA_ABS:
    return fabs(a);
  case FORMULA_SQRT:
    return sqrt(a);
  case FORMULA_EXP:
    return exp(a);
  case FORMULA_LOG:
    return log(a);
  case FORMULA_LOG10:
    return log10(a);
  case FORMULA_SIN:
    return sin(a);
  case FORMULA_COS:
    return cos(a);
  case FORMULA_TANH:
    return tanh(a);
  case FORMULA_FLOOR:
    return floor(a);
  case FORMULA_CEIL:
    return ceil(a);
  case FORMULA_ROUND:
    return nearbyint(a);
  case FORMULA_SIGN:
    return a > 0 ? 1 : a < 0 ? -1 : a;
  case FORMULA_ISFINITE:
    return isfinite(a) != 0;
  default: /* of one or two arguments, in the other table */
    return fold(op, a, 0, 0);
  }
}

/* What the builders below work on. */
typedef struct world {
  weir_graph *g;
  weir_dtype dtype;
} world;

weir_value formula_value(weir_graph *g, weir_dtype dtype, const formula_operand *p, bool truth)
{
  return p->constant ? weir_scalar(g, truth ? WEIR_BOOL : dtype, p->number) : p->value;
}

static weir_value number(const world *w, const formula_operand *p)
{
  return formula_value(w->g, w->dtype, p, false);
}

static weir_value binary(const world *w, weir_code code, const formula_operand *a,
                         const formula_operand *b)
{
  if (b->constant) {
    return weir_right_at(w->g, code, a->value, b->number, WEIR_WHERE);
  }
  if (a->constant) {
    return weir_left_at(w->g, code, a->number, b->value, WEIR_WHERE);
  }
  return weir_binary_at(w->g, code, a->value, b->value, WEIR_WHERE);
}

/* The same in f64, and back. */
static weir_value wide(const world *w, const formula_operand *p)
{
  if (p->constant) {
    return weir_scalar(w->g, WEIR_F64, p->number);
  }
  return w->dtype == WEIR_F64 ? p->value : weir_cast(w->g, WEIR_F64, p->value);
}

static weir_value narrow(const world *w, weir_value v)
{
  return w->dtype == WEIR_F64 ? v : weir_cast(w->g, w->dtype, v);
}

/* x^n by squaring, n > 0. */
static weir_value multiplied(const world *w, weir_value x, int n)
{
  weir_value result = WEIR_NO_VALUE, square = x;
  bool started = false;

  for (; n > 0; n /= 2) {
    if (n % 2 != 0) {
      result = started ? weir_mul(w->g, result, square) : square;
      started = true;
    }
    if (n > 1) {
      square = weir_mul(w->g, square, square);
    }
  }
  return result;
}

/* exp(b log |a|), the sign of a where b is odd, NaN for a < 0 where b is not whole, a^0 = 1. */
static weir_value general_power(const world *w, const formula_operand *base,
                                const formula_operand *raise)
{
  weir_graph *g = w->g;
  const weir_value a = wide(w, base), b = wide(w, raise);
  const weir_value size = weir_exp(g, weir_mul(g, b, weir_log(g, weir_abs(g, a))));
  const weir_value half = weir_scale(g, b, 0.5);
  const weir_value whole = weir_eq(g, b, weir_floor(g, b));
  const weir_value even = weir_eq(g, half, weir_floor(g, half));
  const weir_value one = weir_scalar(g, WEIR_F64, 1), none = weir_scalar(g, WEIR_F64, (double)NAN);
  const weir_value signed_size = weir_select(g, even, size, weir_neg(g, size));
  const weir_value below = weir_select(g, whole, signed_size, none);
  const weir_value any = weir_select(g, weir_lt_scalar(g, a, 0), below, size);

  return narrow(w, weir_select(g, weir_eq_scalar(g, b, 0), one, any));
}

static void raise_to(const world *w, const formula_operand *a, const formula_operand *b,
                     formula_operand *out)
{
  if (b->constant && b->number == 0.5) {
    out->value = weir_sqrt(w->g, a->value);
  } else if (is_whole_power(b) && b->number == 0) {
    out->constant = true;
    out->number = 1;
  } else if (is_whole_power(b)) {
    const int n = (int)fabs(b->number);
    const weir_value product =
        n <= 3 ? multiplied(w, a->value, n) : narrow(w, multiplied(w, wide(w, a), n));

    out->value = b->number < 0 ? weir_rdiv_scalar(w->g, 1, product) : product;
  } else {
    out->value = general_power(w, a, b);
  }
}

/* The code's own rule loses a NaN of the first argument, for which a constant is substituted. */
static weir_value extreme(const world *w, weir_code code, const formula_operand *a,
                          const formula_operand *b)
{
  const formula_operand *first = b->constant ? b : a, *second = b->constant ? a : b;

  if (!first->constant) {
    return weir_select(w->g, weir_isnan(w->g, first->value), first->value,
                       binary(w, code, first, second));
  }
  return isnan(first->number) ? weir_scale(w->g, second->value, first->number)
                              : binary(w, code, first, second);
}

static weir_value sign_of(const world *w, weir_value x)
{
  const weir_value one = weir_scalar(w->g, w->dtype, 1), minus = weir_scalar(w->g, w->dtype, -1);

  return weir_select(w->g, weir_gt_scalar(w->g, x, 0), one,
                     weir_select(w->g, weir_lt_scalar(w->g, x, 0), minus, x));
}

static weir_value unary(const world *w, formula_op op, const formula_operand *a)
{
  static const struct {
    formula_op op;
    weir_code code;
  } same[] = {
      {FORMULA_NOT, WEIR_CODE_NOT},   {FORMULA_NEG, WEIR_CODE_NEG},
      {FORMULA_ABS, WEIR_CODE_ABS},   {FORMULA_SQRT, WEIR_CODE_SQRT},
      {FORMULA_EXP, WEIR_CODE_EXP},   {FORMULA_LOG, WEIR_CODE_LOG},
      {FORMULA_SIN, WEIR_CODE_SIN},   {FORMULA_COS, WEIR_CODE_COS},
      {FORMULA_TANH, WEIR_CODE_TANH}, {FORMULA_FLOOR, WEIR_CODE_FLOOR},
      {FORMULA_CEIL, WEIR_CODE_CEIL}, {FORMULA_ROUND, WEIR_CODE_ROUND},
  };

  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    if (same[i].op == op) {
      return weir_unary_at(w->g, same[i].code, a->value, WEIR_WHERE);
    }
  }
  switch (op) {
  case FORMULA_LOG10:
    return narrow(w, weir_scale(w->g, weir_log(w->g, wide(w, a)), 0.43429448190325182765));
  case FORMULA_SIGN:
    return sign_of(w, a->value);
  default: /* isfinite */
    return weir_le_scalar(w->g, weir_abs(w->g, a->value),
                          w->dtype == WEIR_F64 ? DBL_MAX : (double)FLT_MAX);
  }
}

static weir_value hypotenuse(const world *w, const formula_operand *a, const formula_operand *b)
{
  const weir_value x = wide(w, a), y = wide(w, b);

  return narrow(w, weir_sqrt(w->g, weir_add(w->g, weir_mul(w->g, x, x), weir_mul(w->g, y, y))));
}

static weir_value remainder_of(const world *w, const formula_operand *a, const formula_operand *b)
{
  const weir_value x = wide(w, a), y = wide(w, b);
  const weir_value whole = weir_floor(w->g, weir_div(w->g, x, y));

  return narrow(w, weir_sub(w->g, x, weir_mul(w->g, y, whole)));
}

/* Not all three are constants. */
static weir_value clamped(const world *w, const formula_operand *const *arg)
{
  const weir_value x = number(w, arg[0]), lo = number(w, arg[1]), hi = number(w, arg[2]);

  return weir_min(w->g, hi, weir_max(w->g, lo, x));
}

static weir_code code_of(formula_op op)
{
  static const weir_code codes[FORMULA_OPS] = {
      [FORMULA_OR] = WEIR_CODE_OR,   [FORMULA_AND] = WEIR_CODE_AND, [FORMULA_LT] = WEIR_CODE_LT,
      [FORMULA_LE] = WEIR_CODE_LE,   [FORMULA_GT] = WEIR_CODE_GT,   [FORMULA_GE] = WEIR_CODE_GE,
      [FORMULA_EQ] = WEIR_CODE_EQ,   [FORMULA_NE] = WEIR_CODE_NE,   [FORMULA_ADD] = WEIR_CODE_ADD,
      [FORMULA_SUB] = WEIR_CODE_SUB, [FORMULA_MUL] = WEIR_CODE_MUL, [FORMULA_DIV] = WEIR_CODE_DIV,
  };

  return codes[op];
}

void formula_compute(weir_graph *g, weir_dtype dtype, formula_op op,
                     const formula_operand *const *arg, formula_operand *out)
{
  const world w = {g, dtype};
  const int n = formula_table[op].min_args;
  bool constant = true;

  for (int k = 0; k < n; k++) {
    constant = constant && arg[k]->constant;
  }
  if (constant) {
    out->constant = true;
    out->number = n == 1 ? fold_unary(op, arg[0]->number)
                         : fold(op, arg[0]->number, arg[1]->number, n > 2 ? arg[2]->number : 0);
    return;
  }
  if (n == 1) {
    out->value = unary(&w, op, arg[0]);
    return;
  }
  switch (op) {
  case FORMULA_POWER:
  case FORMULA_POW:
    raise_to(&w, arg[0], arg[1], out);
    break;
  case FORMULA_HYPOT:
    out->value = hypotenuse(&w, arg[0], arg[1]);
    break;
  case FORMULA_MOD:
    out->value = remainder_of(&w, arg[0], arg[1]);
    break;
  case FORMULA_MIN:
    out->value = extreme(&w, WEIR_CODE_MIN, arg[0], arg[1]);
    break;
  case FORMULA_MAX:
    out->value = extreme(&w, WEIR_CODE_MAX, arg[0], arg[1]);
    break;
  case FORMULA_CLAMP:
    out->value = clamped(&w, arg);
    break;
  default:
    out->value = binary(&w, code_of(op), arg[0], arg[1]);
    break;
  }
}
