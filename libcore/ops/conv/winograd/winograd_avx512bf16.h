/* winograd_avx512bf16.h - numbers of bf16, 16 at a time, for winograd_kernel.h. */
#include "ops/conv/winograd/winograd_avx512.h"
#define V_HALF
/* bf16 to f32, and back. */
#define WIDEN(x) _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16))
#define ROUND(v) ((__m256i)_mm512_cvtneps_pbh(v))
#define V_DOT(y, x, sum) _mm512_dpbf16_ps(sum, (__m512bh)(y), (__m512bh)(x))
#define V_READ(p) WIDEN(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define V_READM(p, m) WIDEN(_mm256_maskz_loadu_epi16(m, p))
#define V_WRITE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), ROUND(v))
#define V_WRITEM(p, m, v) _mm256_mask_storeu_epi16(p, m, ROUND(v))
#define V_PUT(to, v, store) put(to, v, store)
#include "ops/conv/winograd/winograd_priv.h"

/* Rounds, and puts 16 numbers into words. */
static inline __attribute__((always_inline)) void put(void *to, __m512 v, winograd_store store)
{
  const __m256i half = ROUND(v);

  if (store == WINOGRAD_ALONG) {
    _mm256_storeu_si256(to, half);
  } else if (store == WINOGRAD_FIRST) {
    _mm512_storeu_si512(to, _mm512_cvtepu16_epi32(half));
  } else {
    const __m512i second = _mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16);

    _mm512_storeu_si512(to, _mm512_or_si512(second, _mm512_loadu_si512(to)));
  }
}

static void pair_rows(const weir_bf16 *first, const weir_bf16 *second, int64_t n, winograd_word *to)
{
  for (int64_t i = 0; i < n; i += 16) {
    const __mmask16 lanes = n - i < 16 ? (__mmask16)((1u << (n - i)) - 1) : 0xffff;
    __m512i words = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, first + i));

    if (second != NULL) {
      const __m256i high = _mm256_maskz_loadu_epi16(lanes, second + i);

      words = _mm512_or_si512(words, _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
    }
    _mm512_mask_storeu_epi32(to + i, lanes, words);
  }
}

static void round_row(const float *from, int64_t n, weir_bf16 *to)
{
  for (int64_t i = 0; i < n; i += 16) {
    V_WRITE(to + i, _mm512_loadu_ps(from + i));
  }
}
