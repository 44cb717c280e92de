/* weir_integer.h - integer arithmetic beyond that of C. */
#ifndef WEIR_INTEGER_H
#define WEIR_INTEGER_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Floor division and modulo for any sign of a; b > 0. */
static inline int64_t weir_floor_div(int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}
static inline int64_t weir_floor_mod(int64_t a, int64_t b)
{
  const int64_t r = a % b;

  return r < 0 ? r + b : r;
}

/* A number of a spec, such as a stride, in which 0 stands for 1. */
static inline int64_t weir_or_one(int64_t x)
{
  return x == 0 ? 1 : x;
}

/* Greatest common divisor of a and b >= 0, by Euclid's algorithm; that of 0 and 0 is 0. */
static inline int64_t weir_gcd(int64_t a, int64_t b)
{
  while (b != 0) {
    const int64_t rest = a % b;

    a = b;
    b = rest;
  }
  return a;
}

/* Sum and product of counts a and b >= 0; INT64_MAX on overflow. */
static inline int64_t weir_saturating_add(int64_t a, int64_t b)
{
  int64_t sum;

  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
static inline int64_t weir_saturating_mul(int64_t a, int64_t b)
{
  int64_t product;

  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

#ifdef __cplusplus
}
#endif
#endif
