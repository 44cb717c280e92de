/* pool_sparse_avx2.c - gradients of max-pooling, 8 numbers at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 8
#define V_VECTORS 4
typedef __m256 V;
#define V_ZERO _mm256_setzero_ps()
#define V_SET(x) _mm256_set1_ps(x)
#define V_ADD(a, b) _mm256_add_ps(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, v) _mm256_storeu_ps(p, v)
#define V_HALVES(a, b, which) \
  _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), which)
#define V_LOW(a, b) V_HALVES(a, b, 0x20)
#define V_HIGH(a, b) V_HALVES(a, b, 0x31)
// clang-format off
#define ALL_ROW ROW(1) ROW(2) ROW(3) ROW(4)
#define V_MAX_ROWS {9, 3, 3, 3}
#define ALL_ADD                                                                                  \
  ADD(1, 1) ADD(1, 2) ADD(1, 3) ADD(1, 4) ADD(1, 5) ADD(1, 6) ADD(1, 7) ADD(1, 8) ADD(1, 9)      \
  ADD(2, 1) ADD(2, 2) ADD(2, 3) NONE(2, 4) NONE(2, 5) NONE(2, 6) NONE(2, 7) NONE(2, 8) NONE(2, 9) \
  ADD(3, 1) ADD(3, 2) ADD(3, 3) NONE(3, 4) NONE(3, 5) NONE(3, 6) NONE(3, 7) NONE(3, 8) NONE(3, 9) \
  ADD(4, 1) ADD(4, 2) ADD(4, 3) NONE(4, 4) NONE(4, 5) NONE(4, 6) NONE(4, 7) NONE(4, 8) NONE(4, 9)
// clang-format on
#define TABLE weir_pool_sparse_avx2
#include "ops/conv/pool_sparse_kernel.h"
#endif
