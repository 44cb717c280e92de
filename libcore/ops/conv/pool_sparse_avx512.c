/* pool_sparse_avx512.c - gradients of max-pooling, 16 numbers at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 16
#define V_VECTORS 6
typedef __m512 V;
#define V_ZERO _mm512_setzero_ps()
#define V_SET(x) _mm512_set1_ps(x)
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#define V_LOW(a, b) _mm512_permutex2var_ps(a, turns(0), b)
#define V_HIGH(a, b) _mm512_permutex2var_ps(a, turns(8), b)
// clang-format off
#define ALL_ROW ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6)
#define V_MAX_ROWS {9, 9, 9, 3, 3, 3}
#define ALL_ADD                                                                                  \
  ADD(1, 1) ADD(1, 2) ADD(1, 3) ADD(1, 4) ADD(1, 5) ADD(1, 6) ADD(1, 7) ADD(1, 8) ADD(1, 9)      \
  ADD(2, 1) ADD(2, 2) ADD(2, 3) ADD(2, 4) ADD(2, 5) ADD(2, 6) ADD(2, 7) ADD(2, 8) ADD(2, 9)      \
  ADD(3, 1) ADD(3, 2) ADD(3, 3) ADD(3, 4) ADD(3, 5) ADD(3, 6) ADD(3, 7) ADD(3, 8) ADD(3, 9)      \
  ADD(4, 1) ADD(4, 2) ADD(4, 3) NONE(4, 4) NONE(4, 5) NONE(4, 6) NONE(4, 7) NONE(4, 8) NONE(4, 9) \
  ADD(5, 1) ADD(5, 2) ADD(5, 3) NONE(5, 4) NONE(5, 5) NONE(5, 6) NONE(5, 7) NONE(5, 8) NONE(5, 9) \
  ADD(6, 1) ADD(6, 2) ADD(6, 3) NONE(6, 4) NONE(6, 5) NONE(6, 6) NONE(6, 7) NONE(6, 8) NONE(6, 9)
// clang-format on

/* Lanes from `first` on of one vector and another in turns. */
static inline __attribute__((always_inline)) __m512i turns(int first)
{
  const __m512i both = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);

  return _mm512_add_epi32(both, _mm512_set1_epi32(first));
}
#define TABLE weir_pool_sparse_avx512
#include "ops/conv/pool_sparse_kernel.h"
#endif
