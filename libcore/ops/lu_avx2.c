/* lu_avx2.c - elimination with partial pivoting, 256 bits at a time. */
#if defined(__x86_64__)
#include <float.h>
#include "ops/lu_move.h"
#include "ops/lu_priv.h"

#define REAL double
#define MIN DBL_MIN
#define NAME(x) x##_double
#define REAL_TABLE weir_lu_f64_avx2
#define COMPLEX_TABLE weir_lu_c128_avx2
#define V_LANES 4
#define V __m256d
#define V_SET(x) _mm256_set1_pd(x)
#define V_ABS(x) _mm256_andnot_pd(_mm256_set1_pd(-0.0), x)
#define V_MAX(a, b) _mm256_max_pd(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define V_FNMA(a, b, c) _mm256_fnmadd_pd(a, b, c)
#define V_LOAD(p) _mm256_loadu_pd(p)
#define V_STORE(p, v) _mm256_storeu_pd(p, v)
#define V_ROWS 1
#define V_ADD(a, b) _mm256_add_pd(a, b)
#define V_SUB(a, b) _mm256_sub_pd(a, b)
#define V_MUL(a, b) _mm256_mul_pd(a, b)
#define V_DIV(a, b) _mm256_div_pd(a, b)
#define V_MASK __m256d
#define V_MORE(a, b) _mm256_cmp_pd(a, b, _CMP_GT_OQ)
#define V_MORE_OR_EQUAL(a, b) _mm256_cmp_pd(a, b, _CMP_GE_OQ)
#define V_PICK(m, a, b) _mm256_blendv_pd(b, a, m)
#define V_BITS(m) (unsigned)_mm256_movemask_pd(m)
#define V_ALL 0xfu
#include "ops/lu_kernel.h"

#define REAL float
#define MIN FLT_MIN
#define NAME(x) x##_float
#define REAL_TABLE weir_lu_f32_avx2
#define COMPLEX_TABLE weir_lu_c64_avx2
#define V_LANES 8
#define V __m256
#define V_SET(x) _mm256_set1_ps(x)
#define V_ABS(x) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x)
#define V_MAX(a, b) _mm256_max_ps(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, v) _mm256_storeu_ps(p, v)
#define V_ROWS 1
#define V_ADD(a, b) _mm256_add_ps(a, b)
#define V_SUB(a, b) _mm256_sub_ps(a, b)
#define V_MUL(a, b) _mm256_mul_ps(a, b)
#define V_DIV(a, b) _mm256_div_ps(a, b)
#define V_MASK __m256
#define V_MORE(a, b) _mm256_cmp_ps(a, b, _CMP_GT_OQ)
#define V_MORE_OR_EQUAL(a, b) _mm256_cmp_ps(a, b, _CMP_GE_OQ)
#define V_PICK(m, a, b) _mm256_blendv_ps(b, a, m)
#define V_BITS(m) (unsigned)_mm256_movemask_ps(m)
#define V_ALL 0xffu
#include "ops/lu_kernel.h"
#endif
