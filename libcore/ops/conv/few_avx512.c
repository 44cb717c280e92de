/* few_avx512.c - convolutions with few channels on one side, 16 channels at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 16
#define V_REGISTERS 32
typedef __m512 V;
typedef __mmask16 M;
#define V_FIRST(n) ((__mmask16)((1u << (n)) - 1u))
#define V_ZERO _mm512_setzero_ps()
#define V_SET(x) _mm512_set1_ps(x)
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#define V_LOADM(p, m) _mm512_maskz_loadu_ps(m, p)
#define V_STOREM(p, m, v) _mm512_mask_storeu_ps(p, m, v)
#define V_KEEP(a) __asm__("" : "+v"(a))
#define V_SUM(v) sum_of(v)

/* Lane i of the result: the sum of the lanes of v[i]. Halves are merged 4 times, lanes i and i + 2,
 * then i and i + 1 of each quarter, then quarters. */
static inline __attribute__((always_inline)) V sum_of(const V *v)
{
  V four[4], two[2];

#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    const V a = _mm512_add_ps(_mm512_unpacklo_ps(v[4 * i], v[4 * i + 1]),
                              _mm512_unpackhi_ps(v[4 * i], v[4 * i + 1]));
    const V b = _mm512_add_ps(_mm512_unpacklo_ps(v[4 * i + 2], v[4 * i + 3]),
                              _mm512_unpackhi_ps(v[4 * i + 2], v[4 * i + 3]));

    four[i] = _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xEE));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    two[i] = _mm512_add_ps(_mm512_shuffle_f32x4(four[2 * i], four[2 * i + 1], 0x88),
                           _mm512_shuffle_f32x4(four[2 * i], four[2 * i + 1], 0xDD));
  }
  return _mm512_add_ps(_mm512_shuffle_f32x4(two[0], two[1], 0x88),
                       _mm512_shuffle_f32x4(two[0], two[1], 0xDD));
}
#define TABLE weir_few_avx512
#include "ops/conv/few_kernel.h"
#endif
