/* winograd_avx512.h - vectors of 16 f32, for winograd_kernel.h. */
#include <immintrin.h>
#define V_LANES 16
#define V_ROWS 12
typedef __m512 V;
typedef __mmask16 M;
#define V_FIRST(n) ((__mmask16)((1u << (n)) - 1u))
#define V_ZERO _mm512_setzero_ps()
#define V_SET(x) _mm512_set1_ps(x)
#define V_ADD(a, b) _mm512_add_ps(a, b)
#define V_SUB(a, b) _mm512_sub_ps(a, b)
#define V_MUL(a, b) _mm512_mul_ps(a, b)
#define V_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define V_LOAD(p) _mm512_loadu_ps(p)
#define V_STORE(p, v) _mm512_storeu_ps(p, v)
#define V_LOADM(p, m) _mm512_maskz_loadu_ps(m, p)
#define V_STOREM(p, m, v) _mm512_mask_storeu_ps(p, m, v)
#define V_FINITE(x) (_mm512_cmp_ps_mask(_mm512_sub_ps(x, x), V_ZERO, _CMP_NEQ_UQ) == 0)
// clang-format off
#define ALL_ROWS \
  ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8) ROWS(9) ROWS(10) ROWS(11) ROWS(12)
// clang-format on
