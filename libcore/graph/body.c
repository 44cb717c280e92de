/* body.c - building expression graphs; what the codes are called, take and cost. */
#include "graph/weir_body.h"

#include <string.h>

#include "base/weir_alloc.h"

static const struct {
  const char *name;
  int args;
  double flops, complex_flops;
} codes[WEIR_CODE_COUNT] = {
#define X(id, name, args, flops, more) {name, args, flops, more},
    WEIR_CODE_LIST(X)
#undef X
};

const char *weir_code_name(weir_code code)
{
  return (unsigned)code < WEIR_CODE_COUNT ? codes[code].name : "unknown";
}

int weir_code_args(weir_code code)
{
  return (unsigned)code < WEIR_CODE_COUNT ? codes[code].args : 0;
}

double weir_body_flops(const weir_body *b, int32_t i)
{
  const weir_expr *e = &b->exprs[i];
  const int n = codes[e->code].args;
  const weir_dtype of = n > 0 ? b->exprs[n > 2 ? e->c : e->a].dtype : e->dtype;

  return weir_dtype_is_complex(of) ? codes[e->code].complex_flops : codes[e->code].flops;
}

bool weir_code_is_compare(weir_code code)
{
  return (code >= WEIR_CODE_EQ && code <= WEIR_CODE_GE) || code == WEIR_CODE_ISNAN;
}

weir_dtype weir_code_result(weir_code code, weir_dtype argument)
{
  switch (code) {
  case WEIR_CODE_ABS:
  case WEIR_CODE_ABS2:
  case WEIR_CODE_REAL:
  case WEIR_CODE_IMAG:
    return weir_dtype_part(argument);
  case WEIR_CODE_MAKE:
    return weir_dtype_complex(argument);
  default:
    return weir_code_is_compare(code) ? WEIR_BOOL : argument;
  }
}

void weir_body_fini(weir_body *b)
{
  weir_free(&b->exprs);
  *b = (weir_body){0};
}

weir_status weir_body_copy(const weir_body *from, weir_body *to)
{
  void *exprs;

  WEIR_TRY(weir_alloc(from->n, sizeof *from->exprs, &exprs));
  if (from->n > 0) {
    memcpy(exprs, from->exprs, (size_t)from->n * sizeof *from->exprs);
  }
  *to = (weir_body){.n = from->n, .failed = from->failed, .capacity = from->n, .exprs = exprs};
  return WEIR_OK;
}

weir_expr weir_expr_renumber(weir_expr e, const int32_t *number)
{
  e.a = e.a >= 0 ? number[e.a] : -1;
  e.b = e.b >= 0 ? number[e.b] : -1;
  e.c = e.c >= 0 ? number[e.c] : -1;
  return e;
}

bool weir_body_uses(const weir_body *b, weir_code code)
{
  for (int32_t i = 0; i < b->n; i++) {
    if (b->exprs[i].code == code) {
      return true;
    }
  }
  return false;
}

static int32_t refuse(weir_body *b)
{
  b->failed = b->failed == WEIR_OK ? WEIR_ERR_SHAPE : b->failed;
  return -1;
}

int32_t weir_body_push(weir_body *b, weir_expr e)
{
  int32_t *const arg[3] = {&e.a, &e.b, &e.c};

  if ((unsigned)e.code >= WEIR_CODE_COUNT || (unsigned)e.dtype >= WEIR_DTYPE_COUNT ||
      b->failed != WEIR_OK) {
    return refuse(b);
  }
  for (int k = 0; k < 3; k++) {
    if (k >= codes[e.code].args) {
      *arg[k] = -1;
    } else if (*arg[k] < 0 || *arg[k] >= b->n) {
      return refuse(b);
    }
  }
  if (b->n == INT32_MAX ||
      weir_reserve(&b->exprs, &b->capacity, (int64_t)b->n + 1, sizeof *b->exprs) != WEIR_OK) {
    b->failed = WEIR_ERR_MEMORY;
    return -1;
  }
  b->exprs[b->n] = e;
  return b->n++;
}

int32_t weir_body_load(weir_body *b, int operand, weir_dtype dtype)
{
  return weir_body_push(b, (weir_expr){WEIR_CODE_LOAD, dtype, -1, -1, -1, operand, 0});
}

int32_t weir_body_real(weir_body *b, weir_dtype dtype, double value)
{
  if ((unsigned)dtype >= WEIR_DTYPE_COUNT) {
    return refuse(b);
  }
  weir_expr e = {WEIR_CODE_CONST, dtype, -1, -1, -1, 0, 0};
  if (weir_dtype_is_complex(dtype)) {
    const weir_dtype part = weir_dtype_part(dtype);
    const int32_t re = weir_body_real(b, part, value);

    return weir_body_binary(b, WEIR_CODE_MAKE, re, weir_body_real(b, part, 0));
  }
  if (weir_dtype_is_real(dtype)) {
    e.real = value;
  } else if (value >= -0x1p63 && value < 0x1p63) {
    e.integer = (int64_t)value;
  } else {
    return refuse(b);
  }
  return weir_body_push(b, e);
}

int32_t weir_body_int(weir_body *b, weir_dtype dtype, int64_t value)
{
  if ((unsigned)dtype >= WEIR_DTYPE_COUNT) {
    return refuse(b);
  }
  weir_expr e = {WEIR_CODE_CONST, dtype, -1, -1, -1, 0, 0};
  if (weir_dtype_is_complex(dtype)) {
    return weir_body_real(b, dtype, (double)value);
  }
  if (weir_dtype_is_real(dtype)) {
    e.real = (double)value;
  } else {
    e.integer = value;
  }
  return weir_body_push(b, e);
}

int32_t weir_body_index(weir_body *b, int dim)
{
  return weir_body_push(b, (weir_expr){WEIR_CODE_INDEX, WEIR_I64, -1, -1, -1, dim, 0});
}

int32_t weir_body_state(weir_body *b, int state, weir_dtype dtype)
{
  return weir_body_push(b, (weir_expr){WEIR_CODE_STATE, dtype, -1, -1, -1, state, 0});
}

static bool known(const weir_body *b, int32_t x)
{
  return x >= 0 && x < b->n;
}

int32_t weir_body_unary(weir_body *b, weir_code code, int32_t x)
{
  if (!known(b, x) || weir_code_args(code) != 1) {
    return refuse(b);
  }
  const weir_dtype dtype = weir_code_result(code, b->exprs[x].dtype);

  return weir_body_push(b, (weir_expr){code, dtype, x, -1, -1, 0, 0});
}

int32_t weir_body_binary(weir_body *b, weir_code code, int32_t x, int32_t y)
{
  if (!known(b, x) || !known(b, y) || weir_code_args(code) != 2) {
    return refuse(b);
  }
  const weir_dtype dtype = weir_code_result(code, b->exprs[x].dtype);

  return weir_body_push(b, (weir_expr){code, dtype, x, y, -1, 0, 0});
}

int32_t weir_body_select(weir_body *b, int32_t condition, int32_t yes, int32_t no)
{
  if (!known(b, condition) || !known(b, yes) || !known(b, no)) {
    return refuse(b);
  }
  return weir_body_push(
      b, (weir_expr){WEIR_CODE_SELECT, b->exprs[yes].dtype, condition, yes, no, 0, 0});
}

int32_t weir_body_cast(weir_body *b, weir_dtype dtype, int32_t x)
{
  if (!known(b, x)) {
    return refuse(b);
  }
  return b->exprs[x].dtype == dtype
             ? x
             : weir_body_push(b, (weir_expr){WEIR_CODE_CAST, dtype, x, -1, -1, 0, 0});
}

bool weir_whole_fits(int64_t v)
{
  return v >= -INT32_MAX && v <= INT32_MAX;
}

bool weir_dtype_is_wide_whole(weir_dtype dtype)
{
  return weir_dtype_is_whole(dtype) && weir_dtype_size(dtype) >= sizeof(int32_t);
}

/* Of whole numbers. */
static bool calculate(weir_code code, const int64_t *x, int64_t *v)
{
  switch (code) {
  case WEIR_CODE_CAST:
    *v = x[0];
    return true;
  case WEIR_CODE_NEG:
    *v = -x[0];
    return true;
  case WEIR_CODE_ADD:
    *v = x[0] + x[1];
    return true;
  case WEIR_CODE_SUB:
    *v = x[0] - x[1];
    return true;
  case WEIR_CODE_MUL:
    *v = x[0] * x[1];
    return true;
  case WEIR_CODE_DIV:
    *v = x[1] == 0 ? 0 : x[0] / x[1];
    return true;
  case WEIR_CODE_SELECT:
    *v = x[0] != 0 ? x[1] : x[2];
    return true;
  default:
    return false;
  }
}

static bool decide(weir_code code, const int64_t *x, int64_t *v)
{
  switch (code) {
  case WEIR_CODE_LT:
    *v = x[0] < x[1];
    return true;
  case WEIR_CODE_LE:
    *v = x[0] <= x[1];
    return true;
  case WEIR_CODE_GT:
    *v = x[0] > x[1];
    return true;
  case WEIR_CODE_GE:
    *v = x[0] >= x[1];
    return true;
  case WEIR_CODE_EQ:
    *v = x[0] == x[1];
    return true;
  case WEIR_CODE_NE:
    *v = x[0] != x[1];
    return true;
  case WEIR_CODE_AND:
    *v = x[0] != 0 && x[1] != 0;
    return true;
  case WEIR_CODE_OR:
    *v = x[0] != 0 || x[1] != 0;
    return true;
  case WEIR_CODE_NOT:
    *v = x[0] == 0;
    return true;
  default:
    return false;
  }
}

bool weir_body_whole(const weir_body *b, int32_t i, weir_body_leaf *leaf, const void *context,
                     int64_t *v)
{
  const weir_expr *e = &b->exprs[i];
  const int32_t args[] = {e->a, e->b, e->c};
  const int n = weir_code_args(e->code);
  int64_t x[3] = {0};

  if (e->code == WEIR_CODE_CONST) {
    *v = e->integer;
    return weir_dtype_is_whole(e->dtype) && weir_whole_fits(*v);
  }
  if (leaf(e, context, v)) {
    return weir_whole_fits(*v);
  }
  for (int k = 0; k < n; k++) {
    if (!weir_body_whole(b, args[k], leaf, context, &x[k])) {
      return false;
    }
  }
  return n > 0 &&
         (e->dtype == WEIR_BOOL ? decide(e->code, x, v)
                                : weir_dtype_is_wide_whole(e->dtype) && calculate(e->code, x, v)) &&
         weir_whole_fits(*v);
}
