/* rows_avx512bf16.c - sums of rows of bf16, or rounded to it, 16 elements at a time. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "base/weir_bf16.h"
#define V_LANES 16
#define V_SUMS 8
typedef __m512 V;
#define V_SET(x) _mm512_set1_ps(x)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define LOAD_HALF(p)                     \
  _mm512_castsi512_ps(_mm512_slli_epi32( \
      _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(p))), 16))
#define STORE_HALF(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), (__m256i)_mm512_cvtneps_pbh(v))

#define V_NAME rows_sum_to_half
#define V_VECTORS vectors_to_half
#define V_IN float
#define V_WIDEN(x) (x)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_OUT weir_bf16
#define V_ROUND(x) weir_bf16_from_f32(x)
#define V_STORE(p, v) STORE_HALF(p, v)
#include "ops/interpolate/rows_kernel.h"

#undef V_NAME
#undef V_VECTORS
#undef V_IN
#undef V_WIDEN
#undef V_LOAD
#define V_NAME rows_sum_half_to_half
#define V_VECTORS vectors_half_to_half
#define V_IN weir_bf16
#define V_WIDEN(x) weir_f32_from_bf16(x)
#define V_LOAD(p) LOAD_HALF(p)
#include "ops/interpolate/rows_kernel.h"

#undef V_NAME
#undef V_VECTORS
#undef V_OUT
#undef V_ROUND
#undef V_STORE
#define V_NAME rows_sum_of_half
#define V_VECTORS vectors_of_half
#define V_OUT float
#define V_ROUND(x) (x)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#include "ops/interpolate/rows_kernel.h"
#endif
