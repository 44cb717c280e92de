/* weir_bf16.h - brain floating point: the upper half of an f32.
 *
 * A storage format: arithmetic is done in f32. Needs no other header where WEIR_SCALAR_FREESTANDING
 * is defined, and is then pasted in front of emitted C. */
#ifndef WEIR_BF16_H
#define WEIR_BF16_H
#ifdef WEIR_SCALAR_FREESTANDING
#define uint16_t __UINT16_TYPE__
#define uint32_t __UINT32_TYPE__
#else
#include <stdint.h>
#endif

typedef uint16_t weir_bf16;

/* Exact; a signalling NaN stays one. */
static inline float weir_f32_from_bf16(weir_bf16 x)
{
  const uint32_t u = (uint32_t)x << 16;
  float y;

  __builtin_memcpy(&y, &u, sizeof(y));
  return y;
}

/* Rounds to the nearest value, ties to even; values that are too large become infinite, denormals
 * are kept, a NaN becomes a quiet one. */
static inline weir_bf16 weir_bf16_from_f32(float x)
{
  uint32_t u;

  __builtin_memcpy(&u, &x, sizeof(u));
  const uint32_t rounded = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16, quiet = (u >> 16) | 0x40u;
  return (weir_bf16)(x != x ? quiet : rounded);
}

static inline weir_bf16 weir_select_bf16(unsigned char c, weir_bf16 a, weir_bf16 b)
{
  return c ? a : b;
}

/* Casts between bf16 and a type that has casts from and to f32: through f32. */
#define WEIR_BF16_CASTS(t, T)                          \
  static inline T weir_##t##_from_bf16(weir_bf16 x)    \
  {                                                    \
    return weir_##t##_from_f32(weir_f32_from_bf16(x)); \
  }                                                    \
  static inline weir_bf16 weir_bf16_from_##t(T x)      \
  {                                                    \
    return weir_bf16_from_f32(weir_f32_from_##t(x));   \
  }
#endif
