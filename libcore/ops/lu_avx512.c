/* lu_avx512.c - elimination with partial pivoting, 512 bits at a time. */
#if defined(__x86_64__)
#include <float.h>
#include "ops/lu_move.h"
#include "ops/lu_priv.h"

#define REAL double
#define MIN DBL_MIN
#define NAME(x) x##_double
#define REAL_TABLE weir_lu_f64_avx512
#define COMPLEX_TABLE weir_lu_c128_avx512
#define V_LANES 8
#define V __m512d
#define V_SET(x) _mm512_set1_pd(x)
#define V_ABS(x) _mm512_abs_pd(x)
#define V_MAX(a, b) _mm512_max_pd(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define V_FNMA(a, b, c) _mm512_fnmadd_pd(a, b, c)
#define V_LOAD(p) _mm512_loadu_pd(p)
#define V_STORE(p, v) _mm512_storeu_pd(p, v)
#define V_ROWS 2
#define V_ADD(a, b) _mm512_add_pd(a, b)
#define V_SUB(a, b) _mm512_sub_pd(a, b)
#define V_MUL(a, b) _mm512_mul_pd(a, b)
#define V_DIV(a, b) _mm512_div_pd(a, b)
#define V_MASK __mmask8
#define V_MORE(a, b) _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ)
#define V_MORE_OR_EQUAL(a, b) _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ)
#define V_PICK(m, a, b) _mm512_mask_blend_pd(m, b, a)
#define V_BITS(m) (unsigned)(m)
#define V_ALL 0xffu
#include "ops/lu_kernel.h"

#define REAL float
#define MIN FLT_MIN
#define NAME(x) x##_float
#define REAL_TABLE weir_lu_f32_avx512
#define COMPLEX_TABLE weir_lu_c64_avx512
#define V_LANES 16
#define V __m512
#define V_SET(x) _mm512_set1_ps(x)
#define V_ABS(x) _mm512_abs_ps(x)
#define V_MAX(a, b) _mm512_max_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#define V_ROWS 2
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_SUB(a, b) _mm512_sub_ps(a, b)
#define V_MUL(a, b) _mm512_mul_ps(a, b)
#define V_DIV(a, b) _mm512_div_ps(a, b)
#define V_MASK __mmask16
#define V_MORE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)
#define V_MORE_OR_EQUAL(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ)
#define V_PICK(m, a, b) _mm512_mask_blend_ps(m, b, a)
#define V_BITS(m) (unsigned)(m)
#define V_ALL 0xffffu
#include "ops/lu_kernel.h"
#endif
