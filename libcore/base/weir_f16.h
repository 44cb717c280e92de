/* weir_f16.h - half precision of IEEE 754: 11 significant bits, numbers from 2^-24 to 65504.
 *
 * A storage format: arithmetic is done in f32, which holds the product of two of them. Needs no
 * other header but weir_bf16.h, and is pasted in front of emitted C after that. */
#ifndef WEIR_F16_H
#define WEIR_F16_H
#ifndef WEIR_SCALAR_FREESTANDING
#include "base/weir_bf16.h"
#endif

typedef uint16_t weir_f16;

/* Exact; a signalling NaN stays one. Numbers below 2^-14 are 2^-14 + x less 2^-14, so that no f32
 * is denormal. */
static inline float weir_f32_from_f16(weir_f16 x)
{
  const uint32_t u = (uint32_t)(x & 0x7FFFu) << 13, sign = (uint32_t)(x & 0x8000u) << 16;
  const uint32_t shifted = u + 0x38800000u, normal = u + 0x38000000u, special = u + 0x70000000u;
  float small, y;
  uint32_t bits;

  __builtin_memcpy(&small, &shifted, sizeof(small));
  small -= 0x1p-14f;
  __builtin_memcpy(&bits, &small, sizeof(bits));
  bits = u < 0x00800000u ? bits : u >= 0x0F800000u ? special : normal;
  bits |= sign;
  __builtin_memcpy(&y, &bits, sizeof(y));
  return y;
}

/* Rounds to the nearest value, ties to even; from 65520 on infinite, denormals are kept, a NaN
 * becomes a quiet one. Below 2^-14 the sum with 0.5 rounds to multiples of 2^-24. */
static inline weir_f16 weir_f16_from_f32(float x)
{
  uint32_t u, small_bits;

  __builtin_memcpy(&u, &x, sizeof(u));
  const uint32_t sign = (u >> 16) & 0x8000u, size = u & 0x7FFFFFFFu;
  float small;

  __builtin_memcpy(&small, &size, sizeof(small));
  small += 0.5f;
  __builtin_memcpy(&small_bits, &small, sizeof(small_bits));
  const uint32_t low = small_bits - 0x3F000000u;
  const uint32_t normal = (size - 0x38000000u + 0xFFFu + ((size >> 13) & 1u)) >> 13;
  const uint32_t high = size > 0x7F800000u ? 0x7E00u | ((size >> 13) & 0x3FFu) : 0x7C00u;
  const uint32_t y = size >= 0x47800000u ? high : size < 0x38800000u ? low : normal;

  return (weir_f16)(y | sign);
}

static inline weir_f16 weir_select_f16(unsigned char c, weir_f16 a, weir_f16 b)
{
  return c ? a : b;
}

static inline weir_bf16 weir_bf16_from_f16(weir_f16 x)
{
  return weir_bf16_from_f32(weir_f32_from_f16(x));
}

static inline weir_f16 weir_f16_from_bf16(weir_bf16 x)
{
  return weir_f16_from_f32(weir_f32_from_bf16(x));
}

/* Casts between f16 and a type that has casts from and to f32: through f32. */
#define WEIR_F16_CASTS(t, T)                          \
  static inline T weir_##t##_from_f16(weir_f16 x)     \
  {                                                   \
    return weir_##t##_from_f32(weir_f32_from_f16(x)); \
  }                                                   \
  static inline weir_f16 weir_f16_from_##t(T x)       \
  {                                                   \
    return weir_f16_from_f32(weir_f32_from_##t(x));   \
  }
#endif
