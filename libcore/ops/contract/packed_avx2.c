/* packed_avx2.c - products of complex matrices, 256 bits at a time. */
#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>
#include "ops/contract/packed_priv.h"
#include "ops/contract/planar_avx2.h"

#define REAL double
#define NAME(x) x##_c128
#define TABLE weir_packed_c128_avx2
#define V_LANES 4
#define V_VECTORS 1
#define V __m256d
#define V_ZERO _mm256_setzero_pd()
#define V_SET(x) _mm256_set1_pd(x)
#define V_ADD(a, b) _mm256_add_pd(a, b)
#define V_MUL(a, b) _mm256_mul_pd(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define V_FNMA(a, b, c) _mm256_fnmadd_pd(a, b, c)
#define V_LOAD(p) _mm256_loadu_pd(p)
#define V_STORE(p, v) _mm256_storeu_pd(p, v)
#include "ops/contract/packed_kernel.h"

#define REAL float
#define NAME(x) x##_c64
#define TABLE weir_packed_c64_avx2
#define V_LANES 8
#define V_VECTORS 1
#define V __m256
#define V_ZERO _mm256_setzero_ps()
#define V_SET(x) _mm256_set1_ps(x)
#define V_ADD(a, b) _mm256_add_ps(a, b)
#define V_MUL(a, b) _mm256_mul_ps(a, b)
#define V_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define V_FNMA(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define V_LOAD(p) _mm256_loadu_ps(p)
#define V_STORE(p, v) _mm256_storeu_ps(p, v)
#include "ops/contract/packed_kernel.h"
#endif
