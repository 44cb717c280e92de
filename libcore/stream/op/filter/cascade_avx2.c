/* cascade_avx2.c - the block form, 4 doubles at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 4
typedef __m256d V;
#define V_LOAD(p) _mm256_loadu_pd(p)
#define V_STORE(p, v) _mm256_storeu_pd(p, v)
#define V_FROM(p) _mm256_cvtps_pd(_mm_loadu_ps(p))
#define V_TO(p, v) _mm_storeu_ps(p, _mm256_cvtpd_ps(v))
#define V_SET(x) _mm256_set1_pd(x)
#define V_PICK(p, i) _mm256_set1_pd((p)[i])
#define V_TURN(v) _mm256_permute4x64_pd(v, 0x1b)
#define V_MUL(a, b) _mm256_mul_pd(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define V_ADD(a, b) _mm256_add_pd(a, b)
#define TABLE weir_cascade_avx2
#include "stream/op/filter/cascade_kernel.h"
#endif
