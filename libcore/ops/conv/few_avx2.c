/* few_avx2.c - convolutions with few channels on one side, 8 channels at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 8
#define V_ROWS 6
#define V_WIDEN 5
#define V_REST 2
#define V_SUMS 16
#define V_MAX_FEW 15
#define V_TAPS 3
#define V_SLIDE 2
typedef __m256 V;
typedef __m256i M;
#define V_FIRST(n) \
  _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define V_ZERO _mm256_setzero_ps()
#define V_SET(x) _mm256_set1_ps(x)
#define V_ADD(a, b) _mm256_add_ps(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, v) _mm256_storeu_ps(p, v)
#define V_LOADM(p, m) _mm256_maskload_ps(p, m)
#define V_STOREM(p, m, v) _mm256_maskstore_ps(p, m, v)
#define V_KEEP(a) __asm__("" : "+x"(a))
#define V_SUM(v) sum_of(v)
// clang-format off
#define ALL_WEIGHTS WEIGHTS(1) WEIGHTS(2) WEIGHTS(3) WEIGHTS(4) WEIGHTS(5) WEIGHTS(6)
#define ALL_NARROW                                                                      \
  NARROW(1, 8) NARROW(2, 4) NARROW(3, 3) NARROW(4, 2) NARROW(5, 2)                      \
  NARROW(6, 2) NARROW(7, 1) NARROW(8, 1) NARROW(9, 1) NARROW(10, 1)                     \
  NARROW(11, 1) NARROW(12, 1) NARROW(13, 1) NARROW(14, 1) NARROW(15, 1)
#define ALL_WIDEN                                                                       \
  WIDEN(0) WIDEN(1) WIDEN(2) WIDEN(3) WIDEN(4) WIDEN(5) WIDEN(6) WIDEN(7)               \
  WIDEN(8) WIDEN(9) WIDEN(10) WIDEN(11) WIDEN(12) WIDEN(13) WIDEN(14) WIDEN(15)
// clang-format on

/* Lane i of the result: the sum of the lanes of v[i]. */
static inline __attribute__((always_inline)) V sum_of(const V *v)
{
  V four[2];

#pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    const V a = _mm256_add_ps(_mm256_unpacklo_ps(v[4 * i], v[4 * i + 1]),
                              _mm256_unpackhi_ps(v[4 * i], v[4 * i + 1]));
    const V b = _mm256_add_ps(_mm256_unpacklo_ps(v[4 * i + 2], v[4 * i + 3]),
                              _mm256_unpackhi_ps(v[4 * i + 2], v[4 * i + 3]));

    four[i] = _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xEE));
  }
  return _mm256_add_ps(_mm256_permute2f128_ps(four[0], four[1], 0x20),
                       _mm256_permute2f128_ps(four[0], four[1], 0x31));
}
#define TABLE weir_few_avx2
#include "ops/conv/few_kernel.h"
#endif
