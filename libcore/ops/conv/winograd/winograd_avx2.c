/* winograd_avx2.c - Winograd convolutions, 8 channels at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 8
#define V_ROWS 6
typedef __m256 V;
typedef __m256i M;
#define V_FIRST(n) \
  _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define V_ZERO _mm256_setzero_ps()
#define V_SET(x) _mm256_set1_ps(x)
#define V_ADD(a, b) _mm256_add_ps(a, b)
#define V_SUB(a, b) _mm256_sub_ps(a, b)
#define V_MUL(a, b) _mm256_mul_ps(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, v) _mm256_storeu_ps(p, v)
#define V_LOADM(p, m) _mm256_maskload_ps(p, m)
#define V_STOREM(p, m, v) _mm256_maskstore_ps(p, m, v)
#define V_FINITE(x) \
  (_mm256_movemask_ps(_mm256_cmp_ps(_mm256_sub_ps(x, x), V_ZERO, _CMP_NEQ_UQ)) == 0)
// clang-format off
#define ALL_ROWS ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6)
// clang-format on
#define TABLE weir_winograd_avx2
#include "ops/conv/winograd/winograd_kernel.h"
#endif
