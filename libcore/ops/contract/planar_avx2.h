/* planar_avx2.h - pairs re, im of two vectors to one vector of each, and back. */
#ifndef PLANAR_AVX2_H
#define PLANAR_AVX2_H
#include <immintrin.h>

/* Order 0, 2, 1, 3 of four parts of 64 bits. */
enum { PLANAR_CROSS = 0xd8 };

static inline __m256d planar_re_c128(__m256d lo, __m256d hi)
{
  return _mm256_permute4x64_pd(_mm256_unpacklo_pd(lo, hi), PLANAR_CROSS);
}

static inline __m256d planar_im_c128(__m256d lo, __m256d hi)
{
  return _mm256_permute4x64_pd(_mm256_unpackhi_pd(lo, hi), PLANAR_CROSS);
}

static inline __m256d planar_lo_c128(__m256d re, __m256d im)
{
  return _mm256_unpacklo_pd(_mm256_permute4x64_pd(re, PLANAR_CROSS),
                            _mm256_permute4x64_pd(im, PLANAR_CROSS));
}

static inline __m256d planar_hi_c128(__m256d re, __m256d im)
{
  return _mm256_unpackhi_pd(_mm256_permute4x64_pd(re, PLANAR_CROSS),
                            _mm256_permute4x64_pd(im, PLANAR_CROSS));
}

static inline __m256 planar_cross_c64(__m256 x)
{
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), PLANAR_CROSS));
}

static inline __m256 planar_re_c64(__m256 lo, __m256 hi)
{
  return planar_cross_c64(_mm256_shuffle_ps(lo, hi, 0x88));
}

static inline __m256 planar_im_c64(__m256 lo, __m256 hi)
{
  return planar_cross_c64(_mm256_shuffle_ps(lo, hi, 0xdd));
}

static inline __m256 planar_lo_c64(__m256 re, __m256 im)
{
  return _mm256_unpacklo_ps(planar_cross_c64(re), planar_cross_c64(im));
}

static inline __m256 planar_hi_c64(__m256 re, __m256 im)
{
  return _mm256_unpackhi_ps(planar_cross_c64(re), planar_cross_c64(im));
}

#endif
