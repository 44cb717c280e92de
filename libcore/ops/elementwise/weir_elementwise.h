/* weir_elementwise.h - one scalar function applied element by element, with numpy's broadcasting.
 *
 * Operands have one dtype (cast where they differ). Floats only: sqrt, log, tanh, erf, sin, cos,
 * floor, ceil, round, fma, and make, which pairs f32 to c64, f64 to c128. Floats and complex
 * numbers: exp, isnan. Complex numbers only: real, imag, conj, abs2. Real numbers: the ordering
 * ones. Numbers: the arithmetic ones. Any: eq, ne, select, cast (but not from complex to others).
 * Bool only: not, and, or, xor. Codes are defined in graph/weir_body.h.
 */
#ifndef WEIR_ELEMENTWISE_H
#define WEIR_ELEMENTWISE_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_elementwise_spec {
  weir_code code;
  weir_dtype dtype; /* cast: of the result                                        */
  int scalar;       /* 1 + argument that is the constant `value` and no operand, 0: none */
  double value;
} weir_elementwise_spec;

extern const weir_op_desc weir_op_elementwise;

/* Builders. On failure the value is invalid and the graph keeps the error with `where`. */
weir_value weir_unary_at(weir_graph *g, weir_code code, weir_value x, const char *where);
weir_value weir_binary_at(weir_graph *g, weir_code code, weir_value a, weir_value b,
                          const char *where);
weir_value weir_ternary_at(weir_graph *g, weir_code code, weir_value a, weir_value b, weir_value c,
                           const char *where);
weir_value weir_cast_at(weir_graph *g, weir_dtype dtype, weir_value x, const char *where);
/* code(x, c) and code(c, x); integers refuse a constant that they cannot represent. */
weir_value weir_right_at(weir_graph *g, weir_code code, weir_value x, double c, const char *where);
weir_value weir_left_at(weir_graph *g, weir_code code, double c, weir_value x, const char *where);

#define weir_neg(g, x) weir_unary_at(g, WEIR_CODE_NEG, x, WEIR_WHERE)
#define weir_abs(g, x) weir_unary_at(g, WEIR_CODE_ABS, x, WEIR_WHERE)
#define weir_sqrt(g, x) weir_unary_at(g, WEIR_CODE_SQRT, x, WEIR_WHERE)
#define weir_exp(g, x) weir_unary_at(g, WEIR_CODE_EXP, x, WEIR_WHERE)
#define weir_log(g, x) weir_unary_at(g, WEIR_CODE_LOG, x, WEIR_WHERE)
#define weir_tanh(g, x) weir_unary_at(g, WEIR_CODE_TANH, x, WEIR_WHERE)
#define weir_erf(g, x) weir_unary_at(g, WEIR_CODE_ERF, x, WEIR_WHERE)
#define weir_sin(g, x) weir_unary_at(g, WEIR_CODE_SIN, x, WEIR_WHERE)
#define weir_cos(g, x) weir_unary_at(g, WEIR_CODE_COS, x, WEIR_WHERE)
#define weir_floor(g, x) weir_unary_at(g, WEIR_CODE_FLOOR, x, WEIR_WHERE)
#define weir_ceil(g, x) weir_unary_at(g, WEIR_CODE_CEIL, x, WEIR_WHERE)
#define weir_round(g, x) weir_unary_at(g, WEIR_CODE_ROUND, x, WEIR_WHERE)
#define weir_not(g, x) weir_unary_at(g, WEIR_CODE_NOT, x, WEIR_WHERE)
#define weir_isnan(g, x) weir_unary_at(g, WEIR_CODE_ISNAN, x, WEIR_WHERE)
#define weir_real(g, z) weir_unary_at(g, WEIR_CODE_REAL, z, WEIR_WHERE)
#define weir_imag(g, z) weir_unary_at(g, WEIR_CODE_IMAG, z, WEIR_WHERE)
#define weir_conj(g, z) weir_unary_at(g, WEIR_CODE_CONJ, z, WEIR_WHERE)
#define weir_abs2(g, z) weir_unary_at(g, WEIR_CODE_ABS2, z, WEIR_WHERE)
/* re + i im. */
#define weir_make(g, re, im) weir_binary_at(g, WEIR_CODE_MAKE, re, im, WEIR_WHERE)
#define weir_square(g, x) weir_binary_at(g, WEIR_CODE_MUL, x, x, WEIR_WHERE)
#define weir_add(g, a, b) weir_binary_at(g, WEIR_CODE_ADD, a, b, WEIR_WHERE)
#define weir_sub(g, a, b) weir_binary_at(g, WEIR_CODE_SUB, a, b, WEIR_WHERE)
#define weir_mul(g, a, b) weir_binary_at(g, WEIR_CODE_MUL, a, b, WEIR_WHERE)
#define weir_div(g, a, b) weir_binary_at(g, WEIR_CODE_DIV, a, b, WEIR_WHERE)
#define weir_min(g, a, b) weir_binary_at(g, WEIR_CODE_MIN, a, b, WEIR_WHERE)
#define weir_max(g, a, b) weir_binary_at(g, WEIR_CODE_MAX, a, b, WEIR_WHERE)
#define weir_eq(g, a, b) weir_binary_at(g, WEIR_CODE_EQ, a, b, WEIR_WHERE)
#define weir_ne(g, a, b) weir_binary_at(g, WEIR_CODE_NE, a, b, WEIR_WHERE)
#define weir_lt(g, a, b) weir_binary_at(g, WEIR_CODE_LT, a, b, WEIR_WHERE)
#define weir_le(g, a, b) weir_binary_at(g, WEIR_CODE_LE, a, b, WEIR_WHERE)
#define weir_gt(g, a, b) weir_binary_at(g, WEIR_CODE_GT, a, b, WEIR_WHERE)
#define weir_ge(g, a, b) weir_binary_at(g, WEIR_CODE_GE, a, b, WEIR_WHERE)
#define weir_and(g, a, b) weir_binary_at(g, WEIR_CODE_AND, a, b, WEIR_WHERE)
#define weir_or(g, a, b) weir_binary_at(g, WEIR_CODE_OR, a, b, WEIR_WHERE)
#define weir_xor(g, a, b) weir_binary_at(g, WEIR_CODE_XOR, a, b, WEIR_WHERE)
/* condition ? yes : no, elementwise. */
#define weir_select(g, condition, yes, no) \
  weir_ternary_at(g, WEIR_CODE_SELECT, condition, yes, no, WEIR_WHERE)
/* a * b + c in one rounding. */
#define weir_fma(g, a, b, c) weir_ternary_at(g, WEIR_CODE_FMA, a, b, c, WEIR_WHERE)
#define weir_cast(g, dtype, x) weir_cast_at(g, dtype, x, WEIR_WHERE)
#define weir_scale(g, x, c) weir_right_at(g, WEIR_CODE_MUL, x, c, WEIR_WHERE)
#define weir_add_scalar(g, x, c) weir_right_at(g, WEIR_CODE_ADD, x, c, WEIR_WHERE)
#define weir_sub_scalar(g, x, c) weir_right_at(g, WEIR_CODE_SUB, x, c, WEIR_WHERE)
#define weir_div_scalar(g, x, c) weir_right_at(g, WEIR_CODE_DIV, x, c, WEIR_WHERE)
#define weir_min_scalar(g, x, c) weir_right_at(g, WEIR_CODE_MIN, x, c, WEIR_WHERE)
#define weir_max_scalar(g, x, c) weir_right_at(g, WEIR_CODE_MAX, x, c, WEIR_WHERE)
#define weir_eq_scalar(g, x, c) weir_right_at(g, WEIR_CODE_EQ, x, c, WEIR_WHERE)
#define weir_ne_scalar(g, x, c) weir_right_at(g, WEIR_CODE_NE, x, c, WEIR_WHERE)
#define weir_lt_scalar(g, x, c) weir_right_at(g, WEIR_CODE_LT, x, c, WEIR_WHERE)
#define weir_le_scalar(g, x, c) weir_right_at(g, WEIR_CODE_LE, x, c, WEIR_WHERE)
#define weir_gt_scalar(g, x, c) weir_right_at(g, WEIR_CODE_GT, x, c, WEIR_WHERE)
#define weir_ge_scalar(g, x, c) weir_right_at(g, WEIR_CODE_GE, x, c, WEIR_WHERE)
/* c - x and c / x. */
#define weir_rsub_scalar(g, c, x) weir_left_at(g, WEIR_CODE_SUB, c, x, WEIR_WHERE)
#define weir_rdiv_scalar(g, c, x) weir_left_at(g, WEIR_CODE_DIV, c, x, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
