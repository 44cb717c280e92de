/* fir_avx2.c - the direct form, 8 outputs at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 8
#define V_ROWS 4
typedef __m256 V;
/* All bits in the first n of 8. */
#define FIRST(n) \
  _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define V_ZERO _mm256_setzero_ps()
#define V_SET(x) _mm256_set1_ps(x)
#define V_ADD(a, b) _mm256_add_ps(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, v) _mm256_storeu_ps(p, v)
#define V_LOADN(p, n) _mm256_maskload_ps(p, FIRST(n))
#define V_STOREN(p, v, n) _mm256_maskstore_ps(p, FIRST(n), v)
#define TABLE weir_fir_avx2
#include "stream/op/filter/fir_kernel.h"
#endif
