/* cascade_avx512.c - the block form, 8 doubles at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 8
typedef __m512d V;
#define V_LOAD(p) _mm512_loadu_pd(p)
#define V_STORE(p, v) _mm512_storeu_pd(p, v)
#define V_FROM(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))
#define V_TO(p, v) _mm256_storeu_ps(p, _mm512_cvtpd_ps(v))
#define V_SET(x) _mm512_set1_pd(x)
#define V_PICK(p, i) \
  _mm512_permutexvar_pd(_mm512_set1_epi64((i)&7), _mm512_loadu_pd((p) + ((i) & ~(int64_t)7)))
#define V_TURN(v) _mm512_permutexvar_pd(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v)
#define V_MUL(a, b) _mm512_mul_pd(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define V_ADD(a, b) _mm512_add_pd(a, b)
#define TABLE weir_cascade_avx512
#include "stream/op/filter/cascade_kernel.h"
#endif
