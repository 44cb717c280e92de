/* vector_kernels.h - the kernels of the vector interpreter: included once per instruction set, with
 * VM_TABLE the name of the table. Loops without branches that the compiler vectorises. */
#include "exec/backend/vector/vector_priv.h"

#include <string.h>

#include "graph/weir_scalar.h"

#undef bool /* names below are built from dtypes */

#if defined(__clang__)
#define VM_LOOP _Pragma("clang loop interleave_count(1)")
#else
#define VM_LOOP _Pragma("GCC ivdep")
#endif

#define KERNEL(name, D, A, B, C, expression)                                             \
  static void name(void *dst, const void *pa, const void *pb, const void *pc, int64_t n) \
  {                                                                                      \
    D *d = dst;                                                                          \
    const A *a = pa;                                                                     \
    const B *b = pb;                                                                     \
    const C *c = pc;                                                                     \
    (void)a, (void)b, (void)c;                                                           \
    VM_LOOP for (int64_t i = 0; i < n; i++)                                              \
    {                                                                                    \
      d[i] = (D)(expression);                                                            \
    }                                                                                    \
  }

#define KERNELS_ANY(t, T)                                 \
  KERNEL(k_eq_##t, uint8_t, T, T, T, a[i] == b[i])        \
  KERNEL(k_ne_##t, uint8_t, T, T, T, a[i] != b[i])        \
  KERNEL(k_lt_##t, uint8_t, T, T, T, a[i] < b[i])         \
  KERNEL(k_le_##t, uint8_t, T, T, T, a[i] <= b[i])        \
  KERNEL(k_gt_##t, uint8_t, T, T, T, a[i] > b[i])         \
  KERNEL(k_ge_##t, uint8_t, T, T, T, a[i] >= b[i])        \
  KERNEL(k_isnan_##t, uint8_t, T, T, T, a[i] != a[i])     \
  KERNEL(k_min_##t, T, T, T, T, weir_min_##t(a[i], b[i])) \
  KERNEL(k_max_##t, T, T, T, T, weir_max_##t(a[i], b[i])) \
  KERNEL(k_select_##t, T, uint8_t, T, T, a[i] ? b[i] : c[i])
#define KERNELS_NUMBER(t, T)                              \
  KERNELS_ANY(t, T)                                       \
  KERNEL(k_neg_##t, T, T, T, T, weir_neg_##t(a[i]))       \
  KERNEL(k_abs_##t, T, T, T, T, weir_abs_##t(a[i]))       \
  KERNEL(k_add_##t, T, T, T, T, weir_add_##t(a[i], b[i])) \
  KERNEL(k_sub_##t, T, T, T, T, weir_sub_##t(a[i], b[i])) \
  KERNEL(k_mul_##t, T, T, T, T, weir_mul_##t(a[i], b[i])) \
  KERNEL(k_div_##t, T, T, T, T, weir_div_##t(a[i], b[i]))
#define KERNELS_FLOAT(t, T)                             \
  KERNELS_NUMBER(t, T)                                  \
  KERNEL(k_sqrt_##t, T, T, T, T, weir_sqrt_##t(a[i]))   \
  KERNEL(k_exp_##t, T, T, T, T, weir_exp_##t(a[i]))     \
  KERNEL(k_log_##t, T, T, T, T, weir_log_##t(a[i]))     \
  KERNEL(k_tanh_##t, T, T, T, T, weir_tanh_##t(a[i]))   \
  KERNEL(k_erf_##t, T, T, T, T, weir_erf_##t(a[i]))     \
  KERNEL(k_sin_##t, T, T, T, T, weir_sin_##t(a[i]))     \
  KERNEL(k_cos_##t, T, T, T, T, weir_cos_##t(a[i]))     \
  KERNEL(k_floor_##t, T, T, T, T, weir_floor_##t(a[i])) \
  KERNEL(k_ceil_##t, T, T, T, T, weir_ceil_##t(a[i]))   \
  KERNEL(k_round_##t, T, T, T, T, weir_round_##t(a[i])) \
  KERNEL(k_fma_##t, T, T, T, T, weir_fma_##t(a[i], b[i], c[i]))
#define KERNELS_INTEGER(t, T) \
  KERNELS_NUMBER(t, T)        \
  KERNEL(k_same_##t, T, T, T, T, a[i])

KERNELS_FLOAT(f32, float)
KERNELS_FLOAT(f64, double)
KERNELS_INTEGER(i8, int8_t)
KERNELS_INTEGER(u8, uint8_t)
KERNELS_INTEGER(i16, int16_t)
KERNELS_INTEGER(i32, int32_t)
KERNELS_INTEGER(i64, int64_t)
KERNELS_ANY(bool, uint8_t)
KERNEL(k_select_bf16, weir_bf16, uint8_t, weir_bf16, weir_bf16, a[i] ? b[i] : c[i])
KERNEL(k_select_f16, weir_f16, uint8_t, weir_f16, weir_f16, a[i] ? b[i] : c[i])
KERNEL(k_not_bool, uint8_t, uint8_t, uint8_t, uint8_t, !a[i])
KERNEL(k_and_bool, uint8_t, uint8_t, uint8_t, uint8_t, a[i] & b[i])
KERNEL(k_or_bool, uint8_t, uint8_t, uint8_t, uint8_t, a[i] | b[i])
KERNEL(k_xor_bool, uint8_t, uint8_t, uint8_t, uint8_t, a[i] ^ b[i])
KERNEL(k_shr_i64, int64_t, int64_t, int64_t, int64_t, weir_shr_i64(a[i], b[i]))

#define CASTS(from, F)                                                        \
  KERNEL(k_f32_from_##from, float, F, F, F, weir_f32_from_##from(a[i]))       \
  KERNEL(k_f64_from_##from, double, F, F, F, weir_f64_from_##from(a[i]))      \
  KERNEL(k_i8_from_##from, int8_t, F, F, F, weir_i8_from_##from(a[i]))        \
  KERNEL(k_u8_from_##from, uint8_t, F, F, F, weir_u8_from_##from(a[i]))       \
  KERNEL(k_i16_from_##from, int16_t, F, F, F, weir_i16_from_##from(a[i]))     \
  KERNEL(k_i32_from_##from, int32_t, F, F, F, weir_i32_from_##from(a[i]))     \
  KERNEL(k_i64_from_##from, int64_t, F, F, F, weir_i64_from_##from(a[i]))     \
  KERNEL(k_bool_from_##from, uint8_t, F, F, F, weir_bool_from_##from(a[i]))   \
  KERNEL(k_bf16_from_##from, weir_bf16, F, F, F, weir_bf16_from_##from(a[i])) \
  KERNEL(k_f16_from_##from, weir_f16, F, F, F, weir_f16_from_##from(a[i]))
#define CASTS_FROM_HALVES(to, T)                                                              \
  KERNEL(k_##to##_from_bf16, T, weir_bf16, weir_bf16, weir_bf16, weir_##to##_from_bf16(a[i])) \
  KERNEL(k_##to##_from_f16, T, weir_f16, weir_f16, weir_f16, weir_##to##_from_f16(a[i]))
CASTS(f32, float)
CASTS(f64, double)
CASTS(i8, int8_t)
CASTS(u8, uint8_t)
CASTS(i16, int16_t)
CASTS(i32, int32_t)
CASTS(i64, int64_t)
CASTS(bool, uint8_t)
CASTS_FROM_HALVES(f32, float)
CASTS_FROM_HALVES(f64, double)
CASTS_FROM_HALVES(i8, int8_t)
CASTS_FROM_HALVES(u8, uint8_t)
CASTS_FROM_HALVES(i16, int16_t)
CASTS_FROM_HALVES(i32, int32_t)
CASTS_FROM_HALVES(i64, int64_t)
CASTS_FROM_HALVES(bool, uint8_t)
KERNEL(k_bf16_from_f16, weir_bf16, weir_f16, weir_f16, weir_f16, weir_bf16_from_f16(a[i]))
KERNEL(k_f16_from_bf16, weir_f16, weir_bf16, weir_bf16, weir_bf16, weir_f16_from_bf16(a[i]))

/* ---- Strips from and to memory. ---- */

#define MOVES(bits, U)                                                            \
  static void gather_##bits(void *dst, const char *src, int64_t step, int64_t n)  \
  {                                                                               \
    U *d = dst;                                                                   \
    for (int64_t i = 0; i < n; i++) {                                             \
      memcpy(&d[i], src + i * step, sizeof(U));                                   \
    }                                                                             \
  }                                                                               \
  static void scatter_##bits(char *dst, int64_t step, const void *src, int64_t n) \
  {                                                                               \
    const U *s = src;                                                             \
    for (int64_t i = 0; i < n; i++) {                                             \
      memcpy(dst + i * step, &s[i], sizeof(U));                                   \
    }                                                                             \
  }                                                                               \
  static void fill_##bits(void *dst, const void *value, int64_t n)                \
  {                                                                               \
    U *d = dst, v;                                                                \
    memcpy(&v, value, sizeof v);                                                  \
    for (int64_t i = 0; i < n; i++) {                                             \
      d[i] = v;                                                                   \
    }                                                                             \
  }
MOVES(8, uint8_t)
MOVES(16, uint16_t)
MOVES(32, uint32_t)
MOVES(64, uint64_t)

static void ramp(int64_t *dst, int64_t first, int64_t step, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    dst[i] = first + i * step;
  }
}

static void random_bits(int64_t *dst, const int64_t *seed, const int64_t *step,
                        const int64_t *position, uint32_t purpose, int64_t period, int64_t n)
{
  for (int64_t i = 0; i < n && period > 0; i++) {
    dst[i] = (int64_t)weir_random_bits((uint64_t)seed[i], purpose, (uint32_t)step[i],
                                       (uint64_t)(position[i] % period));
  }
  if (period > 0) {
    return;
  }
  VM_LOOP for (int64_t i = 0; i < n; i++)
  {
    dst[i] = (int64_t)weir_random_bits((uint64_t)seed[i], purpose, (uint32_t)step[i],
                                       (uint64_t)position[i]);
  }
}

#include "exec/backend/vector/vector_monoids.h"
#include "exec/backend/vector/vector_chain.h"

/* ---- The table: a row per operation, a cell per dtype. ---- */

#define CELLS_FLOAT(k) [WEIR_F32] = k##_f32, [WEIR_F64] = k##_f64
#define CELLS_INTEGER(k)                                                              \
  [WEIR_I8] = k##_i8, [WEIR_U8] = k##_u8, [WEIR_I16] = k##_i16, [WEIR_I32] = k##_i32, \
  [WEIR_I64] = k##_i64
#define CELLS_NUMBER(k) CELLS_FLOAT(k), CELLS_INTEGER(k)
#define CELLS_ANY(k) CELLS_NUMBER(k), [WEIR_BOOL] = k##_bool
#define ROW_FLOAT(CODE, k) [WEIR_CODE_##CODE] = {CELLS_FLOAT(k)}
#define ROW_NUMBER(CODE, k) [WEIR_CODE_##CODE] = {CELLS_NUMBER(k)}
#define ROW_ANY(CODE, k) [WEIR_CODE_##CODE] = {CELLS_ANY(k)}
#define ROW_ROUND(CODE, k) [WEIR_CODE_##CODE] = {CELLS_FLOAT(k), CELLS_INTEGER(k_same)}
#define ROW_CAST(TO, k) \
  [WEIR_##TO] = {CELLS_ANY(k##_from), [WEIR_BF16] = k##_from_bf16, [WEIR_F16] = k##_from_f16}
#define ROW_BOOL(CODE, k) [WEIR_CODE_##CODE] = {[WEIR_BOOL] = k##_bool}

#define MONOID(m, t)                                   \
  {                                                    \
    neutral_##m##_##t, take_##m##_##t, merge_##m##_##t \
  }
#define CELLS_MONOID_FLOAT(m) [WEIR_F32] = MONOID(m, f32), [WEIR_F64] = MONOID(m, f64)
#define CELLS_MONOID_NUMBER(m)                                                     \
  CELLS_MONOID_FLOAT(m), [WEIR_I8] = MONOID(m, i8), [WEIR_U8] = MONOID(m, u8),     \
                         [WEIR_I16] = MONOID(m, i16), [WEIR_I32] = MONOID(m, i32), \
                         [WEIR_I64] = MONOID(m, i64)
#define ROW_MONOID_FLOAT(CODE, m) [WEIR_COMBINE_##CODE] = {CELLS_MONOID_FLOAT(m)}
#define ROW_MONOID_NUMBER(CODE, m) [WEIR_COMBINE_##CODE] = {CELLS_MONOID_NUMBER(m)}
#define ROW_MONOID_ANY(CODE, m) \
  [WEIR_COMBINE_##CODE] = {CELLS_MONOID_NUMBER(m), [WEIR_BOOL] = MONOID(m, bool)}

const vm_kernels VM_TABLE = {
    .op =
        {
            ROW_NUMBER(NEG, k_neg),
            ROW_NUMBER(ABS, k_abs),
            ROW_FLOAT(SQRT, k_sqrt),
            ROW_FLOAT(EXP, k_exp),
            ROW_FLOAT(LOG, k_log),
            ROW_FLOAT(TANH, k_tanh),
            ROW_FLOAT(ERF, k_erf),
            ROW_FLOAT(SIN, k_sin),
            ROW_FLOAT(COS, k_cos),
            ROW_ROUND(FLOOR, k_floor),
            ROW_ROUND(CEIL, k_ceil),
            ROW_ROUND(ROUND, k_round),
            ROW_FLOAT(FMA, k_fma),
            ROW_NUMBER(ADD, k_add),
            ROW_NUMBER(SUB, k_sub),
            ROW_NUMBER(MUL, k_mul),
            ROW_NUMBER(DIV, k_div),
            ROW_ANY(MIN, k_min),
            ROW_ANY(MAX, k_max),
            ROW_ANY(EQ, k_eq),
            ROW_ANY(NE, k_ne),
            ROW_ANY(LT, k_lt),
            ROW_ANY(LE, k_le),
            ROW_ANY(GT, k_gt),
            ROW_ANY(GE, k_ge),
            ROW_ANY(ISNAN, k_isnan),
            [WEIR_CODE_SELECT] =
                {CELLS_ANY(k_select), [WEIR_BF16] = k_select_bf16, [WEIR_F16] = k_select_f16},
            ROW_BOOL(NOT, k_not),
            ROW_BOOL(AND, k_and),
            ROW_BOOL(OR, k_or),
            ROW_BOOL(XOR, k_xor),
            [WEIR_CODE_SHR] = {[WEIR_I64] = k_shr_i64},
        },
    .cast =
        {
            ROW_CAST(F32, k_f32),
            ROW_CAST(F64, k_f64),
            ROW_CAST(I8, k_i8),
            ROW_CAST(U8, k_u8),
            ROW_CAST(I16, k_i16),
            ROW_CAST(I32, k_i32),
            ROW_CAST(I64, k_i64),
            ROW_CAST(BOOL, k_bool),
            [WEIR_BF16] = {CELLS_ANY(k_bf16_from), [WEIR_F16] = k_bf16_from_f16},
            [WEIR_F16] = {CELLS_ANY(k_f16_from), [WEIR_BF16] = k_f16_from_bf16},
        },
    .monoid =
        {
            ROW_MONOID_NUMBER(SUM, sum),
            ROW_MONOID_NUMBER(PROD, prod),
            ROW_MONOID_ANY(MAX, max),
            ROW_MONOID_ANY(MIN, min),
            ROW_MONOID_ANY(ARGMAX, argmax),
            ROW_MONOID_ANY(FIRST, first),
            ROW_MONOID_ANY(LAST, last),
            ROW_MONOID_FLOAT(MOMENTS, moments),
            ROW_MONOID_FLOAT(SOFTMAX, softmax),
        },
    .chain = {chain_run_f32, chain_run_f64},
    .gather = {gather_8, gather_16, gather_32, gather_64},
    .scatter = {scatter_8, scatter_16, scatter_32, scatter_64},
    .fill = {fill_8, fill_16, fill_32, fill_64},
    .ramp = ramp,
    .random = random_bits,
};
