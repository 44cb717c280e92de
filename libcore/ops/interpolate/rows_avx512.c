/* rows_avx512.c - sums of rows, 16 elements at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_NAME rows_sum_avx512
#define V_LANES 16
#define V_SUMS 8
typedef __m512 V;
#define V_SET(x) _mm512_set1_ps(x)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#include "ops/interpolate/rows_kernel.h"
#endif
