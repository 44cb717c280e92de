/* lu_move.h - numbers of memory into lanes and back, for the instruction set of the file that
 * includes it: to and from memory of one lane each, and as one vector from V_LANES rows of lanes.
 * A pair is two numbers that are next to one another in memory; x has the first of every lane. */
#ifndef LU_MOVE_H
#define LU_MOVE_H
#include <immintrin.h>
#include <stdint.h>

#define LU_INLINE static inline __attribute__((always_inline))

/* Pairs of floats: two of them in 128 bits. */
LU_INLINE __m128 lu_two(const float *p, const float *q)
{
  const __m128i first = _mm_loadl_epi64((const __m128i *)(const void *)p);

  return _mm_loadh_pi(_mm_castsi128_ps(first), (const __m64 *)(const void *)q);
}

LU_INLINE void lu_put_two(float *p, float *q, __m128 z)
{
  _mm_storel_pi((__m64 *)(void *)p, z);
  _mm_storeh_pi((__m64 *)(void *)q, z);
}

#if defined(__AVX512F__)
LU_INLINE void lu_load_double(__m512d *x, __m512d *y, double *const from[8], int64_t at)
{
  __m512d a = _mm512_castpd128_pd512(_mm_loadu_pd(from[0] + at));
  __m512d b = _mm512_castpd128_pd512(_mm_loadu_pd(from[1] + at));

  a = _mm512_mask_broadcast_f64x2(a, 0x0c, _mm_loadu_pd(from[2] + at));
  b = _mm512_mask_broadcast_f64x2(b, 0x0c, _mm_loadu_pd(from[3] + at));
  a = _mm512_mask_broadcast_f64x2(a, 0x30, _mm_loadu_pd(from[4] + at));
  b = _mm512_mask_broadcast_f64x2(b, 0x30, _mm_loadu_pd(from[5] + at));
  a = _mm512_mask_broadcast_f64x2(a, 0xc0, _mm_loadu_pd(from[6] + at));
  b = _mm512_mask_broadcast_f64x2(b, 0xc0, _mm_loadu_pd(from[7] + at));
  *x = _mm512_unpacklo_pd(a, b);
  *y = _mm512_unpackhi_pd(a, b);
}

LU_INLINE void lu_store_double(double *const to[8], int64_t at, __m512d x, __m512d y)
{
  const __m512d a = _mm512_unpacklo_pd(x, y), b = _mm512_unpackhi_pd(x, y);

  _mm_storeu_pd(to[0] + at, _mm512_castpd512_pd128(a));
  _mm_storeu_pd(to[1] + at, _mm512_castpd512_pd128(b));
  _mm_storeu_pd(to[2] + at, _mm512_extractf64x2_pd(a, 1));
  _mm_storeu_pd(to[3] + at, _mm512_extractf64x2_pd(b, 1));
  _mm_storeu_pd(to[4] + at, _mm512_extractf64x2_pd(a, 2));
  _mm_storeu_pd(to[5] + at, _mm512_extractf64x2_pd(b, 2));
  _mm_storeu_pd(to[6] + at, _mm512_extractf64x2_pd(a, 3));
  _mm_storeu_pd(to[7] + at, _mm512_extractf64x2_pd(b, 3));
}

/* Lane l from row[l]. */
LU_INLINE __m512d lu_collect_double(double *const row[8], int64_t at)
{
  __m512d x = _mm512_loadu_pd(row[0] + at);

#pragma GCC unroll 8
  for (int l = 1; l < 8; l++) {
    x = _mm512_mask_loadu_pd(x, (__mmask8)(1u << l), row[l] + at);
  }
  return x;
}

LU_INLINE void lu_load_float(__m512 *x, __m512 *y, float *const from[16], int64_t at)
{
  __m512 a = _mm512_castps128_ps512(lu_two(from[0] + at, from[1] + at));
  __m512 b = _mm512_castps128_ps512(lu_two(from[2] + at, from[3] + at));

  a = _mm512_mask_broadcast_f32x4(a, 0x00f0, lu_two(from[4] + at, from[5] + at));
  b = _mm512_mask_broadcast_f32x4(b, 0x00f0, lu_two(from[6] + at, from[7] + at));
  a = _mm512_mask_broadcast_f32x4(a, 0x0f00, lu_two(from[8] + at, from[9] + at));
  b = _mm512_mask_broadcast_f32x4(b, 0x0f00, lu_two(from[10] + at, from[11] + at));
  a = _mm512_mask_broadcast_f32x4(a, 0xf000, lu_two(from[12] + at, from[13] + at));
  b = _mm512_mask_broadcast_f32x4(b, 0xf000, lu_two(from[14] + at, from[15] + at));
  *x = _mm512_shuffle_ps(a, b, 0x88);
  *y = _mm512_shuffle_ps(a, b, 0xdd);
}

LU_INLINE void lu_store_float(float *const to[16], int64_t at, __m512 x, __m512 y)
{
  const __m512 a = _mm512_unpacklo_ps(x, y), b = _mm512_unpackhi_ps(x, y);

  lu_put_two(to[0] + at, to[1] + at, _mm512_castps512_ps128(a));
  lu_put_two(to[2] + at, to[3] + at, _mm512_castps512_ps128(b));
  lu_put_two(to[4] + at, to[5] + at, _mm512_extractf32x4_ps(a, 1));
  lu_put_two(to[6] + at, to[7] + at, _mm512_extractf32x4_ps(b, 1));
  lu_put_two(to[8] + at, to[9] + at, _mm512_extractf32x4_ps(a, 2));
  lu_put_two(to[10] + at, to[11] + at, _mm512_extractf32x4_ps(b, 2));
  lu_put_two(to[12] + at, to[13] + at, _mm512_extractf32x4_ps(a, 3));
  lu_put_two(to[14] + at, to[15] + at, _mm512_extractf32x4_ps(b, 3));
}

LU_INLINE __m512 lu_collect_float(float *const row[16], int64_t at)
{
  __m512 x = _mm512_loadu_ps(row[0] + at);

#pragma GCC unroll 16
  for (int l = 1; l < 16; l++) {
    x = _mm512_mask_loadu_ps(x, (__mmask16)(1u << l), row[l] + at);
  }
  return x;
}
#else
LU_INLINE void lu_load_double(__m256d *x, __m256d *y, double *const from[4], int64_t at)
{
  const __m256d a = _mm256_set_m128d(_mm_loadu_pd(from[2] + at), _mm_loadu_pd(from[0] + at));
  const __m256d b = _mm256_set_m128d(_mm_loadu_pd(from[3] + at), _mm_loadu_pd(from[1] + at));

  *x = _mm256_unpacklo_pd(a, b);
  *y = _mm256_unpackhi_pd(a, b);
}

LU_INLINE void lu_store_double(double *const to[4], int64_t at, __m256d x, __m256d y)
{
  const __m256d a = _mm256_unpacklo_pd(x, y), b = _mm256_unpackhi_pd(x, y);

  _mm_storeu_pd(to[0] + at, _mm256_castpd256_pd128(a));
  _mm_storeu_pd(to[1] + at, _mm256_castpd256_pd128(b));
  _mm_storeu_pd(to[2] + at, _mm256_extractf128_pd(a, 1));
  _mm_storeu_pd(to[3] + at, _mm256_extractf128_pd(b, 1));
}

/* Lane l from row[l]. */
LU_INLINE __m256d lu_collect_double(double *const row[4], int64_t at)
{
  const double *const *x = (const double *const *)row;

  return _mm256_set_pd(x[3][at + 3], x[2][at + 2], x[1][at + 1], x[0][at]);
}

LU_INLINE void lu_load_float(__m256 *x, __m256 *y, float *const from[8], int64_t at)
{
  const __m256 a =
      _mm256_set_m128(lu_two(from[4] + at, from[5] + at), lu_two(from[0] + at, from[1] + at));
  const __m256 b =
      _mm256_set_m128(lu_two(from[6] + at, from[7] + at), lu_two(from[2] + at, from[3] + at));

  *x = _mm256_shuffle_ps(a, b, 0x88);
  *y = _mm256_shuffle_ps(a, b, 0xdd);
}

LU_INLINE void lu_store_float(float *const to[8], int64_t at, __m256 x, __m256 y)
{
  const __m256 a = _mm256_unpacklo_ps(x, y), b = _mm256_unpackhi_ps(x, y);

  lu_put_two(to[0] + at, to[1] + at, _mm256_castps256_ps128(a));
  lu_put_two(to[2] + at, to[3] + at, _mm256_castps256_ps128(b));
  lu_put_two(to[4] + at, to[5] + at, _mm256_extractf128_ps(a, 1));
  lu_put_two(to[6] + at, to[7] + at, _mm256_extractf128_ps(b, 1));
}

LU_INLINE __m256 lu_collect_float(float *const row[8], int64_t at)
{
  return _mm256_set_ps(row[7][at + 7], row[6][at + 6], row[5][at + 5], row[4][at + 4],
                       row[3][at + 3], row[2][at + 2], row[1][at + 1], row[0][at]);
}
#endif
#undef LU_INLINE
#endif
