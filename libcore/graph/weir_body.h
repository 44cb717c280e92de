/* weir_body.h - the scalar expressions of an operator, in single-assignment order. */
#ifndef WEIR_BODY_H
#define WEIR_BODY_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_dtype.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
/* X(code, name, arguments, flops, flops of complex arguments). The result has the dtype of the expression;
 * arithmetic arguments have that dtype too. Compare codes: bool result, arguments of one dtype. Integers wrap; x/0 is 0; min(a,b) is
 * a < b ? a : b and max(a,b) is a > b ? a : b (so b when one is NaN); AND, OR, XOR, NOT on bool;
 * SHR is logical on i64; casts float -> integer truncate, saturate, and take NaN to 0; anything -> bool is
 * != 0. bf16 and f16 are loaded, stored, chosen and cast, through f32, and no other code takes them. ROUND goes to even.
 * SELECT(bool, a, b). FMA(a, b, c) = a*b + c in one rounding.
 * Complex numbers (graph/weir_complex_scalar.h) have LOAD, STATE, SELECT, NEG, ABS, ABS2 = |z|^2, EXP, ISNAN,
 * ADD, SUB, MUL, DIV, EQ, NE, REAL, IMAG, CONJ. ABS, ABS2, REAL, IMAG give reals. MAKE(re, im) of two reals
 * is one, and the way to a constant; a cast makes re + 0 i of any number, and none makes a complex one real. */
#define WEIR_CODE_LIST(X)               \
  X(LOAD,      "load",      0, 0, 0)    \
  X(CONST,     "const",     0, 0, 0)    \
  X(INDEX,     "index",     0, 0, 0)    \
  X(REMAINDER, "remainder", 0, 0, 0)    \
  X(STATE,     "state",     0, 0, 0)    \
  X(RANDOM,    "random",    2, 0, 0)    \
  X(CAST,      "cast",      1, 0, 0)    \
  X(NEG,       "neg",       1, 1, 2)    \
  X(ABS,       "abs",       1, 1, 6)    \
  X(SQRT,      "sqrt",      1, 1, 0)    \
  X(EXP,       "exp",       1, 1, 5)    \
  X(LOG,       "log",       1, 1, 0)    \
  X(TANH,      "tanh",      1, 1, 0)    \
  X(ERF,       "erf",       1, 1, 0)    \
  X(SIN,       "sin",       1, 1, 0)    \
  X(COS,       "cos",       1, 1, 0)    \
  X(FLOOR,     "floor",     1, 1, 0)    \
  X(CEIL,      "ceil",      1, 1, 0)    \
  X(ROUND,     "round",     1, 1, 0)    \
  X(NOT,       "not",       1, 0, 0)    \
  X(ISNAN,     "isnan",     1, 1, 2)    \
  X(ADD,       "add",       2, 1, 2)    \
  X(SUB,       "sub",       2, 1, 2)    \
  X(MUL,       "mul",       2, 1, 6)    \
  X(DIV,       "div",       2, 1, 9)    \
  X(MIN,       "min",       2, 1, 0)    \
  X(MAX,       "max",       2, 1, 0)    \
  X(EQ,        "eq",        2, 1, 2)    \
  X(NE,        "ne",        2, 1, 2)    \
  X(LT,        "lt",        2, 1, 0)    \
  X(LE,        "le",        2, 1, 0)    \
  X(GT,        "gt",        2, 1, 0)    \
  X(GE,        "ge",        2, 1, 0)    \
  X(AND,       "and",       2, 0, 0)    \
  X(OR,        "or",        2, 0, 0)    \
  X(XOR,       "xor",       2, 0, 0)    \
  X(SHR,       "shr",       2, 0, 0)    \
  X(SELECT,    "select",    3, 0, 0)    \
  X(FMA,       "fma",       3, 2, 0)    \
  X(REAL,      "real",      1, 0, 0)    \
  X(IMAG,      "imag",      1, 0, 0)    \
  X(CONJ,      "conj",      1, 0, 1)    \
  X(ABS2,      "abs2",      1, 0, 3)    \
  X(MAKE,      "make",      2, 0, 0)
// clang-format on

typedef enum weir_code {
#define X(id, name, args, flops, more) WEIR_CODE_##id,
  WEIR_CODE_LIST(X)
#undef X
      WEIR_CODE_COUNT
} weir_code;

/* One expression. Arguments a, b, c are numbers of earlier expressions (unused ones are -1).
 * LOAD: integer = input operand. CONST: real (float dtypes) or integer, not complex. INDEX: integer
 * = iteration dimension; i64, absolute. REMAINDER: integer = operand * 16 + array dimension;
 * numerator modulo div of that index, i64. STATE: integer = state. RANDOM: i64,
 * weir_random_bits(seed = a, purpose = integer, step = b, index = row-major position of the
 * iteration in the whole box of the parallel dimensions, modulo `real`, a whole number, unless that
 * is 0); seed and step are i64. */
typedef struct weir_expr {
  weir_code code;
  weir_dtype dtype;
  int32_t a, b, c;
  int64_t integer;
  double real;
} weir_expr;

typedef struct weir_body {
  int32_t n;
  weir_status failed; /* WEIR_OK, or the error that weir_access_check reports: no memory, an invalid
                         argument */
  int64_t capacity;
  weir_expr *exprs;
} weir_body;

/* Frees the expressions; a zeroed body is empty. copy is deep. Fails: WEIR_ERR_MEMORY. */
/* Frees the expressions; `b` is then empty. */
void weir_body_fini(weir_body *b);
/* Copies deeply into uninitialised storage. Fails: WEIR_ERR_MEMORY. */
weir_status weir_body_copy(const weir_body *from, weir_body *to) WEIR_CHECKED;

/* Returns whether one of the expressions has that code. */
bool weir_body_uses(const weir_body *b, weir_code code);

/* Returns the expression with argument i renumbered to number[i]. */
weir_expr weir_expr_renumber(weir_expr e, const int32_t *number);
/* Append an expression and return its number, or -1 (and set `failed`). Unary, binary: dtype of the
 * first argument, bool for compares; of complex arguments what stands above. real, int: of a
 * complex dtype that number plus 0 i. */
int32_t weir_body_push(weir_body *b, weir_expr e);
int32_t weir_body_load(weir_body *b, int operand, weir_dtype dtype);
int32_t weir_body_real(weir_body *b, weir_dtype dtype, double value);
int32_t weir_body_int(weir_body *b, weir_dtype dtype, int64_t value);
int32_t weir_body_index(weir_body *b, int dim);
int32_t weir_body_state(weir_body *b, int state, weir_dtype dtype);
int32_t weir_body_unary(weir_body *b, weir_code code, int32_t x);
int32_t weir_body_binary(weir_body *b, weir_code code, int32_t x, int32_t y);
int32_t weir_body_select(weir_body *b, int32_t condition, int32_t yes, int32_t no);
int32_t weir_body_cast(weir_body *b, weir_dtype dtype, int32_t x);

/* True for values whose sums and products do not wrap, and for whole numbers that hold all those.
 */
bool weir_whole_fits(int64_t v);
bool weir_dtype_is_wide_whole(weir_dtype dtype);
/* Value of an argument of expressions that is no constant, such as an index; false: it has none. */
typedef bool weir_body_leaf(const weir_expr *e, const void *context, int64_t *v);
/* Computes expression i, of whole numbers and truth values, once. Returns false, leaving *v
 * undefined, where it is made of others, or a value does not fit. */
bool weir_body_whole(const weir_body *b, int32_t i, weir_body_leaf *leaf, const void *context,
                     int64_t *v);

/* Returns the name of a code as listed above. */
const char *weir_code_name(weir_code code);
/* Returns the number of arguments of a code. */
int weir_code_args(weir_code code);
/* Returns the flops of one evaluation of expression i. */
double weir_body_flops(const weir_body *b, int32_t i);
/* Returns whether the result is bool for all arguments. */
bool weir_code_is_compare(weir_code code);
/* Returns the dtype of the result of a code, except CAST, for arguments of dtype `argument` (for
 * SELECT the choices); WEIR_DTYPE_COUNT: undefined. */
weir_dtype weir_code_result(weir_code code, weir_dtype argument);

#ifdef __cplusplus
}
#endif
#endif
