/* fir_avx512.c - the direct form, 16 outputs at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#define V_LANES 16
#define V_ROWS 10
typedef __m512 V;
#define FIRST(n) ((__mmask16)((1u << (n)) - 1u))
#define V_ZERO _mm512_setzero_ps()
#define V_SET(x) _mm512_set1_ps(x)
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#define V_LOADN(p, n) _mm512_maskz_loadu_ps(FIRST(n), p)
#define V_STOREN(p, v, n) _mm512_mask_storeu_ps(p, FIRST(n), v)
#define TABLE weir_fir_avx512
#include "stream/op/filter/fir_kernel.h"
#endif
