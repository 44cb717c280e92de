/* weir_elementary.h - bits, rounding and elementary functions of floats, and random bits: the first
 * half of weir_scalar.h, under its rules.
 *
 * Worst errors found by weir_scalar_test.c, in units of the last place: see the functions. Minimax
 * coefficients were computed for Weir by Remez exchange in 45-digit arithmetic. */
#ifndef WEIR_ELEMENTARY_H
#define WEIR_ELEMENTARY_H
#ifdef WEIR_SCALAR_FREESTANDING
#define int8_t __INT8_TYPE__
#define uint8_t __UINT8_TYPE__
#define int16_t __INT16_TYPE__
#define uint16_t __UINT16_TYPE__
#define int32_t __INT32_TYPE__
#define uint32_t __UINT32_TYPE__
#define int64_t __INT64_TYPE__
#define uint64_t __UINT64_TYPE__

/* Philox4x32-10 and the keying rule of base/weir_random.h. */
static inline uint64_t weir_random_bits(uint64_t seed, uint32_t purpose, uint32_t step,
                                        uint64_t index)
{
  uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32), c2 = purpose, c3 = step;
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);

  for (int round = 0; round < 10; round++) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c0;
    const uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;

    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return ((uint64_t)c1 << 32) | c0;
}
#else
#include "base/weir_f16.h"
#include "base/weir_random.h"
#endif

/* ---- Bits. ---- */

static inline uint32_t weir_bits_f32(float x)
{
  uint32_t u;

  __builtin_memcpy(&u, &x, sizeof(u));
  return u;
}
static inline float weir_float_f32(uint32_t u)
{
  float x;

  __builtin_memcpy(&x, &u, sizeof(x));
  return x;
}
static inline uint64_t weir_bits_f64(double x)
{
  uint64_t u;

  __builtin_memcpy(&u, &x, sizeof(u));
  return u;
}
static inline double weir_float_f64(uint64_t u)
{
  double x;

  __builtin_memcpy(&x, &u, sizeof(x));
  return x;
}
static inline float weir_abs_f32(float x)
{
  return weir_float_f32(weir_bits_f32(x) & 0x7FFFFFFFu);
}
static inline double weir_abs_f64(double x)
{
  return weir_float_f64(weir_bits_f64(x) & 0x7FFFFFFFFFFFFFFFull);
}
/* |x| with the sign of s. */
static inline float weir_sign_f32(float x, float s)
{
  return weir_float_f32((weir_bits_f32(x) & 0x7FFFFFFFu) | (weir_bits_f32(s) & 0x80000000u));
}
static inline double weir_sign_f64(double x, double s)
{
  return weir_float_f64((weir_bits_f64(x) & 0x7FFFFFFFFFFFFFFFull) |
                        (weir_bits_f64(s) & 0x8000000000000000ull));
}
/* 0 <= u < 2^52 as a double, exactly, without the conversion that old vector units lack. */
static inline double weir_small_f64(uint64_t u)
{
  return weir_float_f64(0x4330000000000000ull | u) - 0x1p52;
}

/* ---- Rounding to integers: adding and taking away 2^23 (2^52) rounds to even. ---- */

static inline float weir_round_f32(float x)
{
  const float a = weir_abs_f32(x);
  const float r = (a + 0x1p23f) - 0x1p23f;

  return weir_sign_f32(a < 0x1p23f ? r : a, x);
}
static inline double weir_round_f64(double x)
{
  const double a = weir_abs_f64(x);
  const double r = (a + 0x1p52) - 0x1p52;

  return weir_sign_f64(a < 0x1p52 ? r : a, x);
}
static inline float weir_sqrt_f32(float x)
{
  return __builtin_sqrtf(x);
}
static inline double weir_sqrt_f64(double x)
{
  return __builtin_sqrt(x);
}
static inline float weir_fma_f32(float a, float b, float c)
{
  return __builtin_fmaf(a, b, c);
}
static inline double weir_fma_f64(double a, double b, double c)
{
  return __builtin_fma(a, b, c);
}

/* ---- exp: x = n ln 2 + r, |r| <= ln 2 / 2 (Cody and Waite, Software Manual, 1980); e^r = 1 + r +
 * r^2 P(r), P minimax; times 2^n in two exact halves, so that results below the normal range round
 * once. f32 1.0 ulp, f64 1.0 ulp. ---- */

static inline float weir_exp_f32(float x)
{
  const float low = x < -104.0f ? -104.0f : x, c = low > 89.0f ? 89.0f : low;
  const float t = c * 0x1.715476p+0f + 0x1.8p23f;
  const float n = t - 0x1.8p23f;
  const float r = (c - n * 0x1.62ep-1f) - n * 0x1.0bfbe8p-15f;
  float p = 0x1.6a23e8p-10f;

  p = p * r + 0x1.123a6cp-7f;
  p = p * r + 0x1.5558f4p-5f;
  p = p * r + 0x1.55549p-3f;
  p = p * r + 0x1.fffffcp-2f;
  const uint32_t u = weir_bits_f32(t) - 0x4B400000u + 254u, half = u >> 1;
  const float y = (p * (r * r) + r) + 1.0f;
  const float v = y * weir_float_f32(half << 23) * weir_float_f32((u - half) << 23);
  return x != x ? x : v;
}

static inline double weir_exp_f64(double x)
{
  const double low = x < -746.0 ? -746.0 : x, c = low > 710.0 ? 710.0 : low;
  const double t = c * 0x1.71547652b82fep+0 + 0x1.8p52;
  const double n = t - 0x1.8p52;
  const double r = (c - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  double p = 0x1.ad839cf4dd377p-26;

  p = p * r + 0x1.28addd28a8e29p-22;
  p = p * r + 0x1.71df23551f8d9p-19;
  p = p * r + 0x1.a019999bcfb4fp-16;
  p = p * r + 0x1.a01a012aec1edp-13;
  p = p * r + 0x1.6c16c18452be3p-10;
  p = p * r + 0x1.1111111127b2dp-7;
  p = p * r + 0x1.55555555507c6p-5;
  p = p * r + 0x1.55555555554fap-3;
  p = p * r + 0x1.000000000000ap-1;
  const uint64_t u = weir_bits_f64(t) - 0x4338000000000000ull + 2046u, half = u >> 1;
  const double y = (p * (r * r) + r) + 1.0;
  const double v = y * weir_float_f64(half << 52) * weir_float_f64((u - half) << 52);
  return x != x ? x : v;
}

/* ---- log: x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)). f32: log(1 + f) = f - f^2/2 + f^3 P(f).
 * f64: with s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))), the arrangement of
 * fdlibm e_log.c (Sun Microsystems, 1993). log(0) = -inf, log(x < 0) = NaN. f32 0.9 ulp, f64 0.9
 * ulp. ---- */

static inline float weir_log_f32(float x)
{
  const float tiny = x < 0x1p-126f ? 1.0f : 0.0f;
  const uint32_t bits = weir_bits_f32(x < 0x1p-126f ? x * 0x1p24f : x);
  const uint32_t up = bits - 0x3F3504F3u + (128u << 23); /* exponent + 128, then the fraction */
  const float e = (weir_float_f32(0x4B000000u | (up >> 23)) - 0x1.0001p23f) - tiny * 24.0f;
  const float f = weir_float_f32((up & 0x7FFFFFu) + 0x3F3504F3u) - 1.0f;
  const float f2 = f * f;
  float p = -0x1.41f398p-4f;

  p = p * f + 0x1.07d22ep-3f;
  p = p * f - 0x1.0ce018p-3f;
  p = p * f + 0x1.226e1ep-3f;
  p = p * f - 0x1.54788ep-3f;
  p = p * f + 0x1.99a598p-3f;
  p = p * f - 0x1.00022p-2f;
  p = p * f + 0x1.55554ap-2f;
  const float y = (p * f) * f2 + e * 0x1.0bfbe8p-15f;
  const float v = (f + (y - 0.5f * f2)) + e * 0x1.62ep-1f;
  const float special = x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
  return x > 0.0f ? (x < __builtin_inff() ? v : x) : special;
}

static inline double weir_log_f64(double x)
{
  const double tiny = x < 0x1p-1022 ? 1.0 : 0.0;
  const uint64_t bits = weir_bits_f64(x < 0x1p-1022 ? x * 0x1p53 : x);
  const uint64_t up = bits - 0x3FE6A09E667F3BCDull + (1024ull << 52);
  const double e = (weir_small_f64(up >> 52) - 1024.0) - tiny * 53.0;
  const double f = weir_float_f64((up & 0xFFFFFFFFFFFFFull) + 0x3FE6A09E667F3BCDull) - 1.0;
  const double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  double r = 0x1.2f05c269647eap-3;

  r = r * z + 0x1.39a1b3763262cp-3;
  r = r * z + 0x1.74663f17b8d5dp-3;
  r = r * z + 0x1.c71c520905020p-3;
  r = r * z + 0x1.24924941f0b85p-2;
  r = r * z + 0x1.999999997fdd4p-2;
  r = r * z + 0x1.5555555555592p-1;
  const double low = s * (half + r * z) + e * 0x1.a39ef35793c76p-33;
  const double v = e * 0x1.62e42feep-1 - ((half - low) - f);
  const double special = x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  return x > 0.0 ? (x < __builtin_inf() ? v : x) : special;
}

/* ---- tanh: x + x^3 P(x^2) below 0.625, 1 - 2 / (e^2x + 1) above. f32 1.4 ulp, f64 1.4 ulp. ----
 */

static inline float weir_tanh_f32(float x)
{
  const float a = weir_abs_f32(x), z = x * x;
  float p = -0x1.76b394p-8f;

  p = p * z + 0x1.5258bcp-6f;
  p = p * z - 0x1.b844ap-5f;
  p = p * z + 0x1.11076cp-3f;
  p = p * z - 0x1.555534p-2f;
  const float small = p * z * x + x;
  const float large = 1.0f - 2.0f / (weir_exp_f32(a + a) + 1.0f);
  return weir_sign_f32(a < 0.625f ? small : large, x);
}

static inline double weir_tanh_f64(double x)
{
  const double a = weir_abs_f64(x), z = x * x;
  double p = 0x1.96778e860fbf2p-18;

  p = p * z - 0x1.fb0590e9c5a51p-16;
  p = p * z + 0x1.802b14330e14cp-14;
  p = p * z - 0x1.f1179423be433p-13;
  p = p * z + 0x1.350be5046605fp-11;
  p = p * z - 0x1.7d9c3d430df9fp-10;
  p = p * z + 0x1.d6d35aeb87c92p-9;
  p = p * z - 0x1.226e32d331fccp-7;
  p = p * z + 0x1.664f4870d3ec5p-6;
  p = p * z - 0x1.ba1ba1b9d181cp-5;
  p = p * z + 0x1.1111111110c43p-3;
  p = p * z - 0x1.5555555555552p-2;
  const double small = p * z * x + x;
  const double large = 1.0 - 2.0 / (weir_exp_f64(a + a) + 1.0);
  return weir_sign_f64(a < 0.625 ? small : large, x);
}

/* ---- erf: x + x P(x^2) below 1; above, f32: 1 - e^P(x) with P minimax for log(erfc x); f64: 1 -
 * e^(-x^2) Q((x - 3) / (x + 3)). f32 1.5 ulp, f64 1.5 ulp. ---- */

static inline float weir_erf_f32(float x)
{
  const float a = weir_abs_f32(x), c = a > 4.0f ? 4.0f : a, z = x * x;
  float p = 0x1.4ae59p-14f, q = 0x1.8528c8p-13f;

  p = p * z - 0x1.a4863ap-11f;
  p = p * z + 0x1.541ap-8f;
  p = p * z - 0x1.b7fbb6p-6f;
  p = p * z + 0x1.ce2d2p-4f;
  p = p * z - 0x1.81273ep-2f;
  p = p * z + 0x1.06eba8p-3f;
  q = q * c - 0x1.814a1cp-9f;
  q = q * c + 0x1.6540c8p-6f;
  q = q * c - 0x1.a609d2p-4f;
  q = q * c - 0x1.46c59cp-1f;
  q = q * c - 0x1.2085aap+0f;
  q = q * c - 0x1.730228p-12f;
  return a < 1.0f ? p * x + x : weir_sign_f32(1.0f - weir_exp_f32(q), x);
}

static inline double weir_erf_f64(double x)
{
  const double a = weir_abs_f64(x), c = a > 6.0 ? 6.0 : a, z = x * x;
  const double t = (c - 3.0) / (c + 3.0);
  double p = -0x1.acdffb2624318p-31, q = 0x1.fe4d9a201409dp-17;

  p = p * z + 0x1.d784912f0d676p-27;
  p = p * z - 0x1.5c16e23ff7a40p-23;
  p = p * z + 0x1.b9827ade8e81ap-20;
  p = p * z - 0x1.f4ca94904cd1ep-17;
  p = p * z + 0x1.f9a2bf7326009p-14;
  p = p * z - 0x1.c02db072e8a76p-11;
  p = p * z + 0x1.565bccfa9a1f6p-8;
  p = p * z - 0x1.b82ce3120627ep-6;
  p = p * z + 0x1.ce2f21a041017p-4;
  p = p * z - 0x1.812746b0379c2p-2;
  p = p * z + 0x1.06eba8214db68p-3;
  q = q * t + 0x1.afcedb6941d2dp-14;
  q = q * t + 0x1.404fcbf1458a3p-14;
  q = q * t - 0x1.30ae7d831d34bp-11;
  q = q * t + 0x1.75e462a0f0359p-11;
  q = q * t + 0x1.17dc66387ff2bp-8;
  q = q * t - 0x1.8fa4db09a8caep-6;
  q = q * t + 0x1.258b16fa3b607p-4;
  q = q * t - 0x1.336ffbebaaeb8p-3;
  q = q * t + 0x1.f6ff203f51313p-3;
  q = q * t - 0x1.4e102b9d0484ap-2;
  q = q * t + 0x1.6e9827d2298a0p-3;
  return a < 1.0 ? p * x + x : weir_sign_f64(1.0 - weir_exp_f64(-c * c) * q, x);
}

/* ---- sin, cos: |x| below pi/4 goes straight to the polynomials; every larger argument, up to the
 * largest finite one, is reduced by Payne and Hanek (SIGNUM Newsletter 18, 1983): the significand
 * times those 192 bits of 2/pi that can leave a remainder modulo 4. Infinite arguments give NaN.
 * f64 1.0 ulp everywhere; f32 is the rounded f64 result, 0.51 ulp. ---- */

/* 2/pi in binary after 64 zero bits, 32 bits a word. */
static const uint32_t weir_two_over_pi[42] = {
    0x00000000u, 0x00000000u, 0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u, 0xDB629599u,
    0x3C439041u, 0xFE5163ABu, 0xDEBBC561u, 0xB7246E3Au, 0x424DD2E0u, 0x06492EEAu, 0x09D1921Cu,
    0xFE1DEB1Cu, 0xB129A73Eu, 0xE88235F5u, 0x2EBB4484u, 0xE99C7026u, 0xB45F7E41u, 0x3991D639u,
    0x835339F4u, 0x9C845F8Bu, 0xBDF9283Bu, 0x1FF897FFu, 0xDE05980Fu, 0xEF2F118Bu, 0x5A0A6D1Fu,
    0x6D367ECFu, 0x27CB09B7u, 0x4F463F66u, 0x9E5FEA2Du, 0x7527BAC7u, 0xEBE5F17Bu, 0x3D0739F7u,
    0x8A5292EAu, 0x6BFB5FB1u, 0x1F8D5D08u, 0x56033046u, 0xFC7B6BABu, 0xF0CFBC20u, 0x9AF4361Du};

/* 32 bits of the table from bit `at` on. */
static inline uint64_t weir_two_over_pi_bits(uint64_t at)
{
  const uint64_t word = at >> 5, shift = at & 31u;
  const uint64_t pair = ((uint64_t)weir_two_over_pi[word] << 32) | weir_two_over_pi[word + 1];

  return (pair >> (32u - shift)) & 0xFFFFFFFFull;
}

/* x = n pi/2 + *high + *low, n modulo 4, |*high| <= pi/4; for pi/4 <= x < inf. */
static inline uint64_t weir_reduce_f64(double x, double *high, double *low)
{
  const uint64_t bits = weir_bits_f64(x), mask = 0xFFFFFFFFull;
  const uint64_t m = (bits & 0xFFFFFFFFFFFFFull) | 0x10000000000000ull;
  const uint64_t m0 = m & mask, m1 = m >> 32;
  const uint64_t top =
      bits >> 52; /* x = m 2^(top - 1075); the first useful bit is top - 1075 - 1 */
  const uint64_t at = (top < 1022u ? 1022u : top > 2046u ? 2046u : top) - 1013u;
  const uint64_t f0 = weir_two_over_pi_bits(at), f1 = weir_two_over_pi_bits(at + 32),
                 f2 = weir_two_over_pi_bits(at + 64);
  const uint64_t f3 = weir_two_over_pi_bits(at + 96), f4 = weir_two_over_pi_bits(at + 128),
                 f5 = weir_two_over_pi_bits(at + 160);
  /* Columns of 32 bits of m f modulo 2^192, lowest first. */
  const uint64_t c5 = (f5 * m0) >> 32;
  const uint64_t p4 = f4 * m0, q5 = f5 * m1;
  const uint64_t c4 = c5 + (p4 & mask) + (q5 & mask);
  const uint64_t p3 = f3 * m0, q4 = f4 * m1;
  const uint64_t c3 = (c4 >> 32) + (p4 >> 32) + (q5 >> 32) + (p3 & mask) + (q4 & mask);
  const uint64_t p2 = f2 * m0, q3 = f3 * m1;
  const uint64_t c2 = (c3 >> 32) + (p3 >> 32) + (q4 >> 32) + (p2 & mask) + (q3 & mask);
  const uint64_t p1 = f1 * m0, q2 = f2 * m1;
  const uint64_t c1 = (c2 >> 32) + (p2 >> 32) + (q3 >> 32) + (p1 & mask) + (q2 & mask);
  const uint64_t c0 = (c1 >> 32) + (p1 >> 32) + (q2 >> 32) + f0 * m0 + f1 * m1;
  const uint64_t w0 = ((c0 & mask) << 32) | (c1 & mask), w1 = ((c2 & mask) << 32) | (c3 & mask);
  /* Quarter turns n = nearest; the rest as sign and 128-bit magnitude, units of 2^-128. */
  const uint64_t n = ((w0 >> 62) + ((w0 >> 61) & 1u)) & 3u;
  const uint64_t s0 = (w0 << 2) | (w1 >> 62), s1 = w1 << 2, sign = s0 >> 63, flip = 0 - sign;
  const uint64_t a0 = s0 ^ flip, a1 = s1 ^ flip;
  const double d0 = weir_small_f64(a0 >> 32) * 0x1p-32;
  const double d1 = weir_small_f64(a0 & mask) * 0x1p-64 +
                    (weir_small_f64(a1 >> 32) * 0x1p-96 + weir_small_f64(a1 & mask) * 0x1p-128);
  /* d0 has 31 bits and the head of pi/2 22: their product is exact. */
  const double head = d0 * 0x1.921fbp+0;
  const double tail = d0 * 0x1.5110b4611a626p-22 + d1 * 0x1.921fb54442d18p+0;
  const double h = head + tail, l = tail - (h - head);
  *high = sign ? -h : h;
  *low = sign ? -l : l;
  return n;
}

/* Sine of x + shift quarter turns. */
static inline double weir_turn_f64(double x, uint64_t shift)
{
  const double a = weir_abs_f64(x);
  double high, low;
  const uint64_t n = weir_reduce_f64(a, &high, &low);
  const uint64_t near = a < 0x1.921fb54442d18p-1 ? 1u : 0u;
  const double r = near ? a : high, d = near ? 0.0 : low, z = r * r;
  const uint64_t q = (near ? 0u : n) + shift;
  double s = 0x1.5d926633ee7f9p-33, c = -0x1.8faeacdfa0b0fp-37;

  s = s * z - 0x1.ae5e6446a9144p-26;
  s = s * z + 0x1.71de35756a739p-19;
  s = s * z - 0x1.a01a019c0f392p-13;
  s = s * z + 0x1.111111110f86ap-7;
  s = s * z - 0x1.5555555555549p-3;
  c = c * z + 0x1.1ee9ec3e2d24bp-29;
  c = c * z - 0x1.27e4f80accd0ap-22;
  c = c * z + 0x1.a01a019cb3942p-16;
  c = c * z - 0x1.6c16c16c15199p-10;
  c = c * z + 0x1.555555555554cp-5;
  const double half = 0.5 * z, one = 1.0 - half;
  const double sine = r + (s * z * r + d * one);
  const double cosine = one + (((1.0 - one) - half) + (c * z * z - r * d));
  const double v = (q & 1u) ? cosine : sine;
  const uint64_t odd = shift ? 0u : weir_bits_f64(x) & 0x8000000000000000ull;
  const double turned = weir_float_f64(weir_bits_f64(v) ^ ((q & 2u) << 62) ^ odd);
  return a < __builtin_inf() ? turned : __builtin_nan("");
}

static inline double weir_sin_f64(double x)
{
  return weir_turn_f64(x, 0);
}
static inline double weir_cos_f64(double x)
{
  return weir_turn_f64(x, 1);
}
static inline float weir_sin_f32(float x)
{
  return (float)weir_turn_f64((double)x, 0);
}
static inline float weir_cos_f32(float x)
{
  return (float)weir_turn_f64((double)x, 1);
}
#endif
