/* packed_avx512.c - products of complex matrices, 512 bits at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>
#include "ops/contract/packed_priv.h"
#include "ops/contract/planar_avx512.h"

#define REAL double
#define NAME(x) x##_c128
#define TABLE weir_packed_c128_avx512
#define V_LANES 8
#define V_VECTORS 2
#define V __m512d
#define V_ZERO _mm512_setzero_pd()
#define V_SET(x) _mm512_set1_pd(x)
#define V_ADD(a, b) _mm512_add_pd(a, b)
#define V_MUL(a, b) _mm512_mul_pd(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define V_FNMA(a, b, c) _mm512_fnmadd_pd(a, b, c)
#define V_LOAD(p) _mm512_loadu_pd(p)
#define V_STORE(p, v) _mm512_storeu_pd(p, v)
#include "ops/contract/packed_kernel.h"

#define REAL float
#define NAME(x) x##_c64
#define TABLE weir_packed_c64_avx512
#define V_LANES 16
#define V_VECTORS 2
#define V __m512
#define V_ZERO _mm512_setzero_ps()
#define V_SET(x) _mm512_set1_ps(x)
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_MUL(a, b) _mm512_mul_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#include "ops/contract/packed_kernel.h"
#endif
