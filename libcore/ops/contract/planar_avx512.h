/* planar_avx512.h - pairs re, im of two vectors to one vector of each, and back. */
#ifndef PLANAR_AVX512_H
#define PLANAR_AVX512_H
#include <immintrin.h>

static inline __m512d planar_re_c128(__m512d lo, __m512d hi)
{
  return _mm512_permutex2var_pd(lo, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), hi);
}

static inline __m512d planar_im_c128(__m512d lo, __m512d hi)
{
  return _mm512_permutex2var_pd(lo, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), hi);
}

static inline __m512d planar_lo_c128(__m512d re, __m512d im)
{
  return _mm512_permutex2var_pd(re, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), im);
}

static inline __m512d planar_hi_c128(__m512d re, __m512d im)
{
  return _mm512_permutex2var_pd(re, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), im);
}

static inline __m512 planar_re_c64(__m512 lo, __m512 hi)
{
  return _mm512_permutex2var_ps(
      lo, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), hi);
}

static inline __m512 planar_im_c64(__m512 lo, __m512 hi)
{
  return _mm512_permutex2var_ps(
      lo, _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), hi);
}

static inline __m512 planar_lo_c64(__m512 re, __m512 im)
{
  return _mm512_permutex2var_ps(
      re, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), im);
}

static inline __m512 planar_hi_c64(__m512 re, __m512 im)
{
  return _mm512_permutex2var_ps(
      re, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), im);
}

#endif
