/* rows_avx512bf16.c - sums of rows, rounded to bf16, 16 elements at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_NAME rows_sum_half_avx512bf16
#define V_LANES 16
#define V_SUMS 8
typedef __m512 V;
#define V_SET(x) _mm512_set1_ps(x)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_OUT weir_bf16
#define V_ROUND(x) weir_bf16_from_f32(x)
#define V_STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), (__m256i)_mm512_cvtneps_pbh(v))
#include "ops/interpolate/rows_kernel.h"
#endif
