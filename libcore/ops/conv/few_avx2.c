/* few_avx2.c - convolutions with few channels on one side, 8 channels at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 8
#define V_REGISTERS 16
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
