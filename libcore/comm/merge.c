/* merge.c - elements of two ranks become one. */
#include <math.h>
#include "comm/weir_request.h"

#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
/* NaN of either stays. */
#define FMAX(a, b) ((a) > (b) || isnan(a) ? (a) : (b))
#define FMIN(a, b) ((a) < (b) || isnan(a) ? (a) : (b))

#define MERGE(rule, type, name)                                          \
  static void rule##_##name(void *into, const void *from, int64_t count) \
  {                                                                      \
    type *a = into;                                                      \
    const type *b = from;                                                \
                                                                         \
    for (int64_t i = 0; i < count; i++) {                                \
      a[i] = (type)rule(a[i], b[i]);                                     \
    }                                                                    \
  }
#define FLOATS(type, name) \
  MERGE(SUM, type, name)   \
  MERGE(PROD, type, name)  \
  MERGE(FMAX, type, name)  \
  MERGE(FMIN, type, name)
#define SHORTS(type, name) \
  MERGE(SUM, type, name)   \
  MERGE(PROD, type, name)  \
  MERGE(MAX, type, name)   \
  MERGE(MIN, type, name)
/* Sums and products of integers wrap, as those of graphs do: those of the unsigned bits. */
#define LONGS(type, name, bits, bits_name) \
  MERGE(SUM, bits, bits_name)              \
  MERGE(PROD, bits, bits_name)             \
  MERGE(MAX, type, name)                   \
  MERGE(MIN, type, name)

// clang-format off
FLOATS(float, f32)
FLOATS(double, f64)
SHORTS(int8_t, i8)
SHORTS(uint8_t, u8)
SHORTS(int16_t, i16)
LONGS(int32_t, i32, uint32_t, u32)
LONGS(int64_t, i64, uint64_t, u64)
// clang-format on

/* Sums of complex numbers are those of their components. */
static void SUM_c64(void *into, const void *from, int64_t count)
{
  SUM_f32(into, from, 2 * count);
}

static void SUM_c128(void *into, const void *from, int64_t count)
{
  SUM_f64(into, from, 2 * count);
}

/* In the order of weir_reduce_op. Of zeros of both signs, the order decides which one is the
 * maximum. */
#define ROW(type, sum, prod, max, min)                                                \
  {                                                                                   \
    {"sum", sizeof(type), true, sum}, {"product", sizeof(type), true, prod},          \
        {"maximum", sizeof(type), false, max}, {"minimum", sizeof(type), false, min}, \
  }

static const weir_reducer table[WEIR_DTYPE_COUNT][4] = {
    [WEIR_F32] = ROW(float, SUM_f32, PROD_f32, FMAX_f32, FMIN_f32),
    [WEIR_F64] = ROW(double, SUM_f64, PROD_f64, FMAX_f64, FMIN_f64),
    [WEIR_I8] = ROW(int8_t, SUM_i8, PROD_i8, MAX_i8, MIN_i8),
    [WEIR_U8] = ROW(uint8_t, SUM_u8, PROD_u8, MAX_u8, MIN_u8),
    [WEIR_I16] = ROW(int16_t, SUM_i16, PROD_i16, MAX_i16, MIN_i16),
    [WEIR_I32] = ROW(int32_t, SUM_u32, PROD_u32, MAX_i32, MIN_i32),
    [WEIR_I64] = ROW(int64_t, SUM_u64, PROD_u64, MAX_i64, MIN_i64),
    [WEIR_C64] = ROW(weir_c64, SUM_c64, NULL, NULL, NULL),
    [WEIR_C128] = ROW(weir_c128, SUM_c128, NULL, NULL, NULL),
};

const weir_reducer *weir_reducer_of(weir_reduce_op merge, weir_dtype dtype)
{
  const weir_reducer *r = &table[dtype][merge];

  return r->merge == NULL ? NULL : r;
}
