/* exec_literal.h - the definitions of weir_engine.h and weir_scalar.h read word for word, in the
 * loop's own dtypes: what every engine must give to the bit. Tests only. */
#ifndef WEIR_EXEC_LITERAL_H
#define WEIR_EXEC_LITERAL_H
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "exec/exec_priv.h"
#include "graph/weir_complex_scalar.h"
#undef bool

typedef union literal {
  weir_c128 c128;
  weir_c64 c64;
  float f32;
  double f64;
  int8_t i8;
  uint8_t u8, bool;
  int16_t i16;
  weir_bf16 bf16;
  weir_f16 f16;
  int32_t i32;
  int64_t i64;
  uint64_t bits;
} literal;

// clang-format off
#define LITERAL_INTEGERS(X) X(I8, i8) X(U8, u8) X(I16, i16) X(I32, i32) X(I64, i64)
#define LITERAL_NUMBERS(X) X(F32, f32) X(F64, f64) LITERAL_INTEGERS(X)
#define LITERAL_ALL(X) LITERAL_NUMBERS(X) X(BOOL, bool)
#define LITERAL_CASTS(X) LITERAL_ALL(X) X(BF16, bf16) X(F16, f16)
// clang-format on

static inline literal literal_load(weir_dtype dtype, const void *at)
{
  literal x = {.c128 = {0, 0}};

  memcpy(&x, at, weir_dtype_size(dtype));
  return x;
}

/* From its definition: of the two numbers that end in sixteen zero bits the nearer, or the even. */
static inline weir_bf16 literal_half_f32(float x)
{
  const double low = weir_f32_from_bf16((weir_bf16)(weir_bits_f32(x) >> 16));
  const uint32_t up = (weir_bits_f32(x) >> 16) + 1;
  /* Beyond the largest one, as far as the next would be. */
  const double high =
      (up & 0x7FFF) == 0x7F80 ? (x < 0 ? -0x1p128 : 0x1p128) : weir_f32_from_bf16((weir_bf16)up);
  const double below = fabs((double)x - low), above = fabs(high - (double)x);

  if (x != x) {
    return 0x7FC0;
  }
  if (isinf(x) || below < above || (below == above && (up & 1) != 0)) {
    return (weir_bf16)(up - 1);
  }
  return (weir_bf16)up;
}
static inline weir_bf16 literal_half_bf16(weir_bf16 x)
{
  return x;
}
/* From its definition: a multiple of the step at its size, 2^(exponent - 10), at least 2^-24. */
static inline weir_f16 literal_f16_f32(float x)
{
  const double size = fabs((double)x);
  const weir_f16 sign = signbit(x) ? 0x8000 : 0;
  int exponent;

  if (x != x) {
    return 0x7E00;
  }
  if (size >= 65520) {
    return sign | 0x7C00;
  }
  (void)frexp(size, &exponent);
  exponent = size < 0x1p-14 ? -14 : exponent - 1;
  const int64_t steps = (int64_t)nearbyint(ldexp(size, 10 - exponent)); /* half way: to the even */

  return (weir_f16)(sign + (exponent + 14) * 1024 + steps);
}
static inline weir_f16 literal_f16_f16(weir_f16 x)
{
  return x;
}
static inline weir_f16 literal_f16_bf16(weir_bf16 x)
{
  return literal_f16_f32(weir_f32_from_bf16(x));
}
static inline weir_bf16 literal_half_f16(weir_f16 x)
{
  return literal_half_f32(weir_f32_from_f16(x));
}
#define HALF(f, T)                                 \
  static inline weir_bf16 literal_half_##f(T x)    \
  {                                                \
    return literal_half_f32(weir_f32_from_##f(x)); \
  }                                                \
  static inline weir_f16 literal_f16_##f(T x)      \
  {                                                \
    return literal_f16_f32(weir_f32_from_##f(x));  \
  }
HALF(f64, double)
HALF(i8, int8_t)
HALF(u8, uint8_t)
HALF(i16, int16_t)
HALF(i32, int32_t)
HALF(i64, int64_t)
HALF(bool, uint8_t)
#undef HALF

static inline literal literal_cast_real(weir_dtype to, weir_dtype from, literal x)
{
  literal y = {.c128 = {0, 0}};

#define FROM(F, f)                      \
  case WEIR_##F:                        \
    switch (to) {                       \
    case WEIR_F32:                      \
      y.f32 = weir_f32_from_##f(x.f);   \
      break;                            \
    case WEIR_F64:                      \
      y.f64 = weir_f64_from_##f(x.f);   \
      break;                            \
    case WEIR_I8:                       \
      y.i8 = weir_i8_from_##f(x.f);     \
      break;                            \
    case WEIR_U8:                       \
      y.u8 = weir_u8_from_##f(x.f);     \
      break;                            \
    case WEIR_I16:                      \
      y.i16 = weir_i16_from_##f(x.f);   \
      break;                            \
    case WEIR_I32:                      \
      y.i32 = weir_i32_from_##f(x.f);   \
      break;                            \
    case WEIR_I64:                      \
      y.i64 = weir_i64_from_##f(x.f);   \
      break;                            \
    case WEIR_BF16:                     \
      y.bf16 = literal_half_##f(x.f);   \
      break;                            \
    case WEIR_F16:                      \
      y.f16 = literal_f16_##f(x.f);     \
      break;                            \
    default:                            \
      y.bool = weir_bool_from_##f(x.f); \
    }                                   \
    break;
  if (to == from) {
    return x;
  }
  switch (from) {
    LITERAL_CASTS(FROM)
  default:
    break;
  }
#undef FROM
  return y;
}

static inline literal literal_cast(weir_dtype to, weir_dtype from, literal x)
{
  const weir_dtype part = weir_dtype_part(to);
  literal re = x, im = {.f64 = 0}, y = {.c128 = {0, 0}};

  if (to == from || !weir_dtype_is_complex(to)) {
    return literal_cast_real(to, from, x);
  }
  if (weir_dtype_is_complex(from)) {
    re.f64 = from == WEIR_C64 ? (double)x.c64.re : x.c128.re;
    im.f64 = from == WEIR_C64 ? (double)x.c64.im : x.c128.im;
    from = WEIR_F64;
  }
  re = literal_cast_real(part, from, re);
  im = literal_cast_real(part, WEIR_F64, im);
  memcpy(&y, &re, weir_dtype_size(part));
  memcpy((char *)&y + weir_dtype_size(part), &im, weir_dtype_size(part));
  return y;
}

/* The cases of literal_apply: whether the code is one of theirs, and *y then. */
#define EITHER(CODE, f, call) \
  case WEIR_CODE_##CODE:      \
    y->f = call;              \
    return true;
#define TRUTH(CODE, f, test) \
  case WEIR_CODE_##CODE:     \
    y->bool = test;          \
    return true;

static inline _Bool literal_any(weir_code code, weir_dtype from, literal a, literal b, literal c,
                                literal *y)
{
#define ANY(F, f)                                          \
  if (from == WEIR_##F) {                                  \
    switch (code) {                                        \
      TRUTH(EQ, f, a.f == b.f)                             \
      TRUTH(NE, f, a.f != b.f)                             \
      TRUTH(LT, f, a.f < b.f)                              \
      TRUTH(LE, f, a.f <= b.f)                             \
      TRUTH(GT, f, a.f > b.f)                              \
      TRUTH(GE, f, a.f >= b.f)                             \
      TRUTH(ISNAN, f, a.f != a.f)                          \
      EITHER(MIN, f, weir_min_##f(a.f, b.f))               \
      EITHER(MAX, f, weir_max_##f(a.f, b.f))               \
      EITHER(SELECT, f, weir_select_##f(a.bool, b.f, c.f)) \
    default:                                               \
      break;                                               \
    }                                                      \
  }
  LITERAL_ALL(ANY)
#undef ANY
  return false;
}

static inline _Bool literal_number(weir_code code, weir_dtype from, literal a, literal b,
                                   literal *y)
{
#define NUMBER(F, f)                         \
  if (from == WEIR_##F) {                    \
    switch (code) {                          \
      EITHER(NEG, f, weir_neg_##f(a.f))      \
      EITHER(ABS, f, weir_abs_##f(a.f))      \
      EITHER(ADD, f, weir_add_##f(a.f, b.f)) \
      EITHER(SUB, f, weir_sub_##f(a.f, b.f)) \
      EITHER(MUL, f, weir_mul_##f(a.f, b.f)) \
      EITHER(DIV, f, weir_div_##f(a.f, b.f)) \
    default:                                 \
      break;                                 \
    }                                        \
  }
  LITERAL_NUMBERS(NUMBER)
#undef NUMBER
  return false;
}

static inline _Bool literal_real(weir_code code, weir_dtype from, literal a, literal b, literal c,
                                 literal *y)
{
#define REAL(F, f)                                \
  if (from == WEIR_##F) {                         \
    switch (code) {                               \
      EITHER(SQRT, f, weir_sqrt_##f(a.f))         \
      EITHER(EXP, f, weir_exp_##f(a.f))           \
      EITHER(LOG, f, weir_log_##f(a.f))           \
      EITHER(TANH, f, weir_tanh_##f(a.f))         \
      EITHER(ERF, f, weir_erf_##f(a.f))           \
      EITHER(SIN, f, weir_sin_##f(a.f))           \
      EITHER(COS, f, weir_cos_##f(a.f))           \
      EITHER(FLOOR, f, weir_floor_##f(a.f))       \
      EITHER(CEIL, f, weir_ceil_##f(a.f))         \
      EITHER(ROUND, f, weir_round_##f(a.f))       \
      EITHER(FMA, f, weir_fma_##f(a.f, b.f, c.f)) \
    default:                                      \
      break;                                      \
    }                                             \
  }
  REAL(F32, f32)
  REAL(F64, f64)
#undef REAL
  return false;
}

static inline _Bool literal_bits(weir_code code, literal a, literal b, literal *y)
{
  switch (code) {
    TRUTH(NOT, bool, !a.bool)
    TRUTH(AND, bool, a.bool &b.bool)
    TRUTH(OR, bool, a.bool | b.bool)
    TRUTH(XOR, bool, a.bool ^ b.bool)
    EITHER(SHR, i64, weir_shr_i64(a.i64, b.i64))
  default:
    return false;
  }
}
static inline _Bool literal_complex(weir_code code, weir_dtype from, literal a, literal b,
                                    literal c, literal *y)
{
#define COMPLEX(F, f, P, p)                                \
  if (from == WEIR_##P && code == WEIR_CODE_MAKE) {        \
    y->f = weir_make_##f(a.p, b.p);                        \
    return true;                                           \
  }                                                        \
  if (from == WEIR_##F) {                                  \
    switch (code) {                                        \
      EITHER(REAL, p, weir_real_##f(a.f))                  \
      EITHER(IMAG, p, weir_imag_##f(a.f))                  \
      EITHER(CONJ, f, weir_conj_##f(a.f))                  \
      EITHER(NEG, f, weir_neg_##f(a.f))                    \
      EITHER(ABS, p, weir_abs_##f(a.f))                    \
      EITHER(ABS2, p, weir_abs2_##f(a.f))                  \
      EITHER(EXP, f, weir_exp_##f(a.f))                    \
      EITHER(ADD, f, weir_add_##f(a.f, b.f))               \
      EITHER(SUB, f, weir_sub_##f(a.f, b.f))               \
      EITHER(MUL, f, weir_mul_##f(a.f, b.f))               \
      EITHER(DIV, f, weir_div_##f(a.f, b.f))               \
      TRUTH(EQ, f, weir_eq_##f(a.f, b.f))                  \
      TRUTH(NE, f, weir_ne_##f(a.f, b.f))                  \
      TRUTH(ISNAN, f, weir_isnan_##f(a.f))                 \
      EITHER(SELECT, f, weir_select_##f(a.bool, b.f, c.f)) \
    default:                                               \
      break;                                               \
    }                                                      \
  }
  COMPLEX(C64, c64, F32, f32)
  COMPLEX(C128, c128, F64, f64)
#undef COMPLEX
  return false;
}
#undef EITHER
#undef TRUTH

/* Any code with arguments of dtype `from` (of the last one). */
static inline literal literal_apply(weir_code code, weir_dtype from, literal a, literal b,
                                    literal c)
{
  literal y = {.c128 = {0, 0}};

  if (weir_dtype_is_storage(from)) { /* a choice: all are 16 bits */
    y.bf16 = a.bool ? b.bf16 : c.bf16;
    return y;
  }
  if (literal_complex(code, from, a, b, c, &y) || literal_any(code, from, a, b, c, &y) ||
      literal_number(code, from, a, b, &y) || literal_real(code, from, a, b, c, &y) ||
      literal_bits(code, a, b, &y)) {
    return y;
  }
  return a; /* rounding of an integer */
}

/* ---- One iteration. ---- */

typedef struct literal_run {
  const weir_access *a;
  const weir_loop_run *run;
  int64_t iteration[WEIR_MAX_DIMS];
  literal state[WEIR_MAX_STATES];
  literal *v; /* [body.n] */
} literal_run;

static inline literal literal_leaf(const literal_run *r, const weir_expr *e)
{
  const weir_access *a = r->a;
  literal y = {.c128 = {0, 0}}, wide = {.c128 = {0, 0}};
  int64_t index[WEIR_MAX_RANK];

  switch (e->code) {
  case WEIR_CODE_LOAD: {
    const weir_view *view = &r->run->in[e->integer];
    double fill = 0;
    if (exec_locate(a, &a->in[e->integer], view->extent, r->run->in, r->iteration, index, &fill) ==
        EXEC_IN_BOUNDS) {
      return literal_load(e->dtype, weir_view_at(view, index));
    }
    wide.f64 = fill;
    return literal_cast(e->dtype, WEIR_F64, wide);
  }
  case WEIR_CODE_CONST:
    if (weir_dtype_is_real(e->dtype)) {
      wide.f64 = e->real;
      return literal_cast(e->dtype, WEIR_F64, wide);
    }
    wide.i64 = e->integer;
    return literal_cast(e->dtype, WEIR_I64, wide);
  case WEIR_CODE_INDEX:
    y.i64 = r->iteration[e->integer];
    return y;
  case WEIR_CODE_REMAINDER: {
    const weir_index *x = &a->in[e->integer / 16].index[e->integer % 16];
    int64_t sum = x->offset, gathered;
    exec_gathered(a, x, r->run->in, r->iteration, &gathered);
    for (int k = 0; k < a->n_dims; k++) {
      sum += x->coef[k] * r->iteration[k];
    }
    y.i64 = x->div > 1 ? weir_floor_mod(sum + gathered, x->div) : 0;
    return y;
  }
  case WEIR_CODE_STATE:
    return r->state[e->integer];
  default: /* random bits */
    y.i64 = (int64_t)weir_random_bits((uint64_t)r->v[e->a].i64, (uint32_t)e->integer,
                                      (uint32_t)r->v[e->b].i64,
                                      (uint64_t)exec_position(a, WEIR_PARALLEL, r->iteration));
    return y;
  }
}

/* All expressions of the iteration; 0: it is dropped. */
static inline int literal_iteration(literal_run *r)
{
  const weir_access *a = r->a;
  int64_t index[WEIR_MAX_RANK];
  const literal none = {.c128 = {0, 0}};
  double fill;

  for (int k = 0; k < a->n_in; k++) {
    if (a->in[k].role == WEIR_ROLE_DATA &&
        exec_locate(a, &a->in[k], r->run->in[k].extent, r->run->in, r->iteration, index, &fill) ==
            EXEC_DROPPED) {
      return 0;
    }
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    const weir_expr *e = &a->body.exprs[i];
    const int args = weir_code_args(e->code);
    const int32_t last = args > 2 ? e->c : args > 1 ? e->b : e->a;

    if (args == 0 || e->code == WEIR_CODE_RANDOM) {
      r->v[i] = literal_leaf(r, e);
    } else if (e->code == WEIR_CODE_CAST) {
      r->v[i] = literal_cast(e->dtype, a->body.exprs[e->a].dtype, r->v[e->a]);
    } else {
      r->v[i] = literal_apply(e->code, a->body.exprs[last].dtype, r->v[e->a],
                              args > 1 ? r->v[e->b] : none, args > 2 ? r->v[e->c] : none);
    }
  }
  return 1;
}

static inline void literal_put(const literal_run *r, int k, weir_dtype from, literal x)
{
  const weir_access *a = r->a;
  int64_t index[WEIR_MAX_RANK];
  int out = 0;

  for (int seen = 0; a->out[out].role != WEIR_ROLE_DATA || seen++ != k; out++) {
  }
  for (int d = 0; d < a->out[out].rank; d++) {
    index[d] = weir_index_raw(&a->out[out].index[d], a->n_dims, r->iteration, 0);
  }
  x = literal_cast(a->out[out].dtype, from, x);
  memcpy(weir_view_at(&r->run->out[out], index), &x, weir_dtype_size(a->out[out].dtype));
}
#endif
