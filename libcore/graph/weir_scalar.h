/* weir_scalar.h - the one meaning of every scalar operation: elementary functions, casts, integer
 * arithmetic, random bits and monoids.
 *
 * Included by libweir and, with WEIR_SCALAR_FREESTANDING defined, pasted in front of emitted C
 * after its first half, weir_elementary.h: then they need no other header. Both give the same
 * bits, whatever the instruction set, because only correctly rounded operations (+ - * / sqrt)
 * stand here in a fixed order: compile with -ffp-contract=off -fno-math-errno -fno-trapping-math
 * and never with -ffast-math. Every function is free of branches, so that loops over it vectorise.
 * The sign and payload of a NaN are not part of the definition. */
#ifndef WEIR_SCALAR_H
#define WEIR_SCALAR_H
#ifndef WEIR_SCALAR_FREESTANDING
#include "graph/weir_elementary.h"
#endif

/* Logical shift; the count is taken modulo 64. */
static inline int64_t weir_shr_i64(int64_t a, int64_t b)
{
  return (int64_t)((uint64_t)a >> ((uint64_t)b & 63u));
}

/* Names are built from dtypes, and <stdbool.h> makes bool a macro. */
#pragma push_macro("bool")
#undef bool

/* ---- Arithmetic of every dtype. Integers wrap (W: an unsigned type at least as wide), x / 0 is 0;
 * min and max give b when one is NaN. ---- */
// clang-format off
#define WEIR_SCALAR_CHOICE(t, T)                                                              \
  static inline T weir_min_##t(T a, T b) { return a < b ? a : b; }                            \
  static inline T weir_max_##t(T a, T b) { return a > b ? a : b; }                            \
  static inline T weir_select_##t(uint8_t c, T a, T b) { return c ? a : b; }
#define WEIR_SCALAR_FLOAT(t, T)                                                               \
  WEIR_SCALAR_CHOICE(t, T)                                                                    \
  static inline T weir_add_##t(T a, T b) { return a + b; }                                    \
  static inline T weir_sub_##t(T a, T b) { return a - b; }                                    \
  static inline T weir_mul_##t(T a, T b) { return a * b; }                                    \
  static inline T weir_div_##t(T a, T b) { return a / b; }                                    \
  static inline T weir_neg_##t(T x) { return -x; }                                            \
  static inline uint8_t weir_isnan_##t(T x) { return (uint8_t)(x != x); }                     \
  static inline T weir_floor_##t(T x)                                                         \
  {                                                                                           \
    const T r = weir_round_##t(x);                                                            \
    return r > x ? r - 1 : r;                                                                 \
  }                                                                                           \
  static inline T weir_ceil_##t(T x)                                                          \
  {                                                                                           \
    const T r = weir_round_##t(x);                                                            \
    return weir_sign_##t(r < x ? r + 1 : r, x);                                               \
  }
#define WEIR_SCALAR_INTEGER(t, T, W)                                                          \
  WEIR_SCALAR_CHOICE(t, T)                                                                    \
  static inline T weir_add_##t(T a, T b) { return (T)((W)a + (W)b); }                         \
  static inline T weir_sub_##t(T a, T b) { return (T)((W)a - (W)b); }                         \
  static inline T weir_mul_##t(T a, T b) { return (T)((W)a * (W)b); }                         \
  static inline T weir_neg_##t(T a) { return (T)((W)0 - (W)a); }                              \
  static inline T weir_abs_##t(T a) { return a < (T)1 ? (T)((W)0 - (W)a) : a; }               \
  static inline T weir_fma_##t(T a, T b, T c) { return (T)((W)a * (W)b + (W)c); }             \
  static inline T weir_div_##t(T a, T b)                                                      \
  {                                                                                           \
    const T minus = (T)((W)0 - (W)1);                                                         \
    const int less = (minus < (T)1) & (b == minus); /* the quotient may not fit: negate */    \
    const T d = ((b == 0) | less) ? (T)1 : b;                                                 \
    return (T)(b == 0 ? (T)0 : less ? (T)((W)0 - (W)a) : (T)(a / d));                         \
  }
WEIR_SCALAR_FLOAT(f32, float)
WEIR_SCALAR_FLOAT(f64, double)
WEIR_SCALAR_INTEGER(i8, int8_t, uint32_t)
WEIR_SCALAR_INTEGER(u8, uint8_t, uint32_t)
WEIR_SCALAR_INTEGER(i16, int16_t, uint32_t)
WEIR_SCALAR_INTEGER(i32, int32_t, uint32_t)
WEIR_SCALAR_INTEGER(i64, int64_t, uint64_t)
WEIR_SCALAR_CHOICE(bool, uint8_t)

/* ---- Casts, weir_<to>_from_<from>: floats to integers truncate, saturate and take NaN to 0;
 * integers to narrower ones wrap; to bool is != 0. above: 1 + the largest value. ---- */
#define WEIR_SCALAR_SATURATE(to, T, from, F, least, above)                                    \
  static inline T weir_##to##_from_##from(F x)                                                \
  {                                                                                           \
    const F inside = ((x >= (F)(least)) & (x < (F)(above))) ? x : (F)0;                       \
    const T most = (T)((uint64_t)(above) - 1u);                                               \
    return x >= (F)(above) ? most : x < (F)(least) ? (T)(least) : (T)inside;                  \
  }
#define WEIR_SCALAR_CAST(to, T, from, F)                                                      \
  static inline T weir_##to##_from_##from(F x) { return (T)x; }
/* The sign of zero is set by hand: gcc 12 turns a cast to an integer and back into a rounding where
 * the machine has one, and then -0.6 became -0. */
#define WEIR_SCALAR_REAL(to, T, bits, from, F)                                                \
  static inline T weir_##to##_from_##from(F x)                                                \
  {                                                                                           \
    return weir_float_##to(weir_bits_##to((T)x) & ((bits)0 - (bits)(x != 0)));                \
  }
#define WEIR_SCALAR_CASTS_FLOAT(from, F)                                                      \
  WEIR_SCALAR_CAST(f32, float, from, F)                                                       \
  WEIR_SCALAR_CAST(f64, double, from, F)                                                      \
  static inline uint8_t weir_bool_from_##from(F x) { return (uint8_t)(x != 0); }              \
  WEIR_SCALAR_SATURATE(i8, int8_t, from, F, -128.0, 128.0)                                    \
  WEIR_SCALAR_SATURATE(u8, uint8_t, from, F, 0.0, 256.0)                                      \
  WEIR_SCALAR_SATURATE(i16, int16_t, from, F, -32768.0, 32768.0)                              \
  WEIR_SCALAR_SATURATE(i32, int32_t, from, F, -2147483648.0, 2147483648.0)                    \
  WEIR_SCALAR_SATURATE(i64, int64_t, from, F, -0x1p63, 0x1p63)
#define WEIR_SCALAR_CASTS_INTEGER(from, F)                                                    \
  WEIR_SCALAR_REAL(f32, float, uint32_t, from, F)                                             \
  WEIR_SCALAR_REAL(f64, double, uint64_t, from, F)                                            \
  static inline uint8_t weir_bool_from_##from(F x) { return (uint8_t)(x != 0); }              \
  WEIR_SCALAR_CAST(i8, int8_t, from, F)                                                       \
  WEIR_SCALAR_CAST(u8, uint8_t, from, F)                                                      \
  WEIR_SCALAR_CAST(i16, int16_t, from, F)                                                     \
  WEIR_SCALAR_CAST(i32, int32_t, from, F)                                                     \
  WEIR_SCALAR_CAST(i64, int64_t, from, F)
WEIR_SCALAR_CASTS_FLOAT(f32, float)
WEIR_SCALAR_CASTS_FLOAT(f64, double)
WEIR_SCALAR_CASTS_INTEGER(i8, int8_t)
WEIR_SCALAR_CASTS_INTEGER(u8, uint8_t)
WEIR_SCALAR_CASTS_INTEGER(i16, int16_t)
WEIR_SCALAR_CASTS_INTEGER(i32, int32_t)
WEIR_SCALAR_CASTS_INTEGER(i64, int64_t)
WEIR_SCALAR_CASTS_INTEGER(bool, uint8_t)
WEIR_BF16_CASTS(f64, double) WEIR_BF16_CASTS(i8, int8_t) WEIR_BF16_CASTS(u8, uint8_t)
WEIR_BF16_CASTS(i16, int16_t) WEIR_BF16_CASTS(i32, int32_t) WEIR_BF16_CASTS(i64, int64_t)
WEIR_BF16_CASTS(bool, uint8_t)
WEIR_F16_CASTS(f64, double) WEIR_F16_CASTS(i8, int8_t) WEIR_F16_CASTS(u8, uint8_t)
WEIR_F16_CASTS(i16, int16_t) WEIR_F16_CASTS(i32, int32_t) WEIR_F16_CASTS(i64, int64_t)
WEIR_F16_CASTS(bool, uint8_t)

/* ---- Monoids (graph/weir_access.h: weir_monoid; exec/weir_engine.h: order). SUM and PROD are add
 * and mul, MAX and MIN highest and lowest. An `at` is a row-major position, -1: nothing yet; argmax
 * and first prefer the smaller one, so that their result does not depend on the order. `near`: where
 * positions are few, in numbers as wide as most values. ---- */
#define WEIR_SCALAR_AT(t, T, near, A, U)                                                         \
  typedef struct weir_at_##t##near { T value; A at; } weir_at_##t##near;                         \
  static inline weir_at_##t##near weir_argmax_##t##near(weir_at_##t##near a, weir_at_##t##near b)\
  {                                                                                              \
    const int tie = (b.value == a.value) & ((U)b.at < (U)a.at);                                  \
    const int take = (b.value > a.value) | tie;                                                  \
    return take ? b : a;                                                                         \
  }                                                                                              \
  static inline weir_at_##t##near weir_first_##t##near(weir_at_##t##near a, weir_at_##t##near b) \
  {                                                                                              \
    const int take = (b.at >= 0) & ((a.at < 0) | (b.at < a.at));                                 \
    return take ? b : a;                                                                         \
  }                                                                                              \
  static inline weir_at_##t##near weir_last_##t##near(weir_at_##t##near a, weir_at_##t##near b)  \
  {                                                                                              \
    return b.at > a.at ? b : a;                                                                  \
  }
#define WEIR_SCALAR_MONOIDS(t, T, least, greatest)                                               \
  static inline T weir_least_##t(void) { return (T)(least); }                                    \
  static inline T weir_greatest_##t(void) { return (T)(greatest); }                              \
  static inline T weir_highest_##t(T a, T b) { return ((b > a) | (b != b)) ? b : a; }            \
  static inline T weir_lowest_##t(T a, T b) { return ((b < a) | (b != b)) ? b : a; }             \
  WEIR_SCALAR_AT(t, T, , int64_t, uint64_t)                                                      \
  WEIR_SCALAR_AT(t, T, _near, int32_t, uint32_t)
WEIR_SCALAR_MONOIDS(f32, float, -__builtin_inff(), __builtin_inff())
WEIR_SCALAR_MONOIDS(f64, double, -__builtin_inf(), __builtin_inf())
WEIR_SCALAR_MONOIDS(i8, int8_t, -128, 127)
WEIR_SCALAR_MONOIDS(u8, uint8_t, 0, 255)
WEIR_SCALAR_MONOIDS(i16, int16_t, -32768, 32767)
WEIR_SCALAR_MONOIDS(i32, int32_t, -2147483647 - 1, 2147483647)
WEIR_SCALAR_MONOIDS(i64, int64_t, -9223372036854775807 - 1, 9223372036854775807)
WEIR_SCALAR_MONOIDS(bool, uint8_t, 0, 1)

#define WEIR_SCALAR_STATISTICS(t, T)                                                          \
  typedef struct weir_moments_##t { T n, mean, m2; } weir_moments_##t;                        \
  typedef struct weir_softmax_##t { T max, sum; } weir_softmax_##t;                           \
  static inline weir_moments_##t weir_moments_step_##t(weir_moments_##t a, T x)               \
  {                                                                                           \
    const T n = a.n + 1, d = x - a.mean, mean = a.mean + d / n;                               \
    const weir_moments_##t next = {n, mean, a.m2 + d * (x - mean)};                           \
    return next;                                                                              \
  }                                                                                           \
  static inline weir_moments_##t weir_moments_merge_##t(weir_moments_##t a, weir_moments_##t b) \
  {                                                                                           \
    const T n = a.n + b.n, d = b.mean - a.mean, share = b.n / n;                              \
    const weir_moments_##t both = {n, a.mean + d * share,                                     \
                                   a.m2 + b.m2 + d * d * (a.n * share)};                      \
    return a.n == 0 ? b : b.n == 0 ? a : both;                                                \
  }                                                                                           \
  /* Not neutral: the sum counts exp(0) of the maximum at least. Infinite ones count so too. */ \
  static inline weir_softmax_##t weir_softmax_merge_##t(weir_softmax_##t a, weir_softmax_##t b) \
  {                                                                                           \
    const T m = weir_highest_##t(a.max, b.max);                                               \
    const T below = a.max == m ? 0 : a.max - m, other = b.max == m ? 0 : b.max - m;           \
    const weir_softmax_##t both = {                                                           \
        m, a.sum * weir_exp_##t(below) + b.sum * weir_exp_##t(other)};                        \
    return a.sum == 0 ? b : b.sum == 0 ? a : both;                                            \
  }
WEIR_SCALAR_STATISTICS(f32, float)
WEIR_SCALAR_STATISTICS(f64, double)
// clang-format on
#pragma pop_macro("bool")
#endif
