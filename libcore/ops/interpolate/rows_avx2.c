/* rows_avx2.c - sums of rows, 8 elements at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_NAME rows_sum_avx2
#define V_LANES 8
#define V_SUMS 8
typedef __m256 V;
#define V_SET(x) _mm256_set1_ps(x)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, v) _mm256_storeu_ps(p, v)
#include "ops/interpolate/rows_kernel.h"
#endif
