/* backend_kernel.h - what kernels of devices need in addition to native_row.h: indices of 32 bits.
 *
 * Pasted after native_row.h in front of the emitted text, which CUDA C and C compilers read. */
#ifndef EXEC_BACKEND_KERNEL_H
#define EXEC_BACKEND_KERNEL_H
#ifndef WEIR_SCALAR_FREESTANDING
#include <stdint.h>
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define EXEC_UNROLL _Pragma("unroll")
#else
#define EXEC_UNROLL
#endif

/* As native_div and the like; b > 0. The emitter proves that no value leaves 32 bits. */
static inline int32_t narrow_div(int32_t a, int32_t b)
{
  return a / b - (a % b < 0);
}
static inline int32_t narrow_mod(int32_t a, int32_t b)
{
  const int32_t r = a % b;

  return r < 0 ? r + b : r;
}
/* Where a >= 0 is known as well: divisions by constants become one product. */
static inline int32_t upward_div(int32_t a, int32_t b)
{
  return (int32_t)((uint32_t)a / (uint32_t)b);
}
static inline int32_t upward_mod(int32_t a, int32_t b)
{
  return (int32_t)((uint32_t)a % (uint32_t)b);
}
static inline int narrow_outside(int32_t at, int32_t extent)
{
  return (uint32_t)at >= (uint32_t)extent;
}
static inline int32_t narrow_wrap(int32_t at, int32_t extent)
{
  return narrow_outside(at, extent) && extent > 0 ? narrow_mod(at, extent) : at;
}
static inline int32_t narrow_replicate(int32_t at, int32_t extent)
{
  return at < 0 ? 0 : at >= extent ? extent - 1 : at;
}
static inline int32_t narrow_reflect(int32_t at, int32_t extent)
{
  if (!narrow_outside(at, extent)) {
    return at;
  }
  if (extent < 2) {
    return 0;
  }
  const int32_t folded = narrow_mod(at, 2 * (extent - 1));
  return folded < extent ? folded : 2 * (extent - 1) - folded;
}
#endif
