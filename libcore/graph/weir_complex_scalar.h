/* weir_complex_scalar.h - the one meaning of every scalar operation on complex numbers, under the
 * rules of weir_scalar.h: correctly rounded operations in a fixed order, no branches.
 *
 * Products and quotients are those of the formulas below, without fused operations and without the
 * recovery of infinities of C's Annex G: (inf + i nan) (1 + i 0) is nan + i nan. Errors are bounded
 * normwise, |error| <= k eps |result|, with eps = 2^-53 (c128) or 2^-24 (c64): see the functions.
 */
#ifndef WEIR_COMPLEX_SCALAR_H
#define WEIR_COMPLEX_SCALAR_H
#ifndef WEIR_SCALAR_FREESTANDING
#include "base/weir_complex.h"
#include "graph/weir_scalar.h"
#endif

/* |z|, infinite where a part is, whatever the other. Squares of f32 neither overflow nor vanish in
 * f64: correctly rounded but for double rounding. */
static inline float weir_abs_c64(weir_c64 z)
{
  const double re = (double)z.re, im = (double)z.im;
  const float size = (float)weir_sqrt_f64(re * re + im * im);
  const float a = weir_abs_f32(z.re), b = weir_abs_f32(z.im), infinite = 2 * 0x1p127f;

  return ((a == infinite) | (b == infinite)) != 0 ? infinite : size;
}

/* The larger part times sqrt(1 + (smaller / larger)^2): within 2 ulp, and overflows only where |z|
 * does. */
static inline double weir_abs_c128(weir_c128 z)
{
  const double a = weir_abs_f64(z.re), b = weir_abs_f64(z.im);
  const uint8_t first = (uint8_t)((a > b) | (b != b)); /* a nan is the smaller one */
  const double larger = first ? a : b, smaller = first ? b : a;
  const uint8_t finite = (uint8_t)((larger > 0) & (larger <= 0x1.fffffffffffffp1023));
  const double alone = larger == 0 ? smaller : 0; /* 0, or a nan next to 0 */
  const double ratio = finite ? smaller / larger : alone;

  return larger == 0 ? alone : larger * weir_sqrt_f64(1 + ratio * ratio);
}

// clang-format off
/* t: dtype; r: dtype of its parts, R their type.
 *
 * mul: re = ac - bd, im = ad + bc; k = sqrt(5) (Brent, Percival and Zimmermann, Math. Comp. 76
 * (2007)). div: R. L. Smith, Algorithm 116, Comm. ACM 5 (1962): the smaller part of the divisor over
 * the larger one first, so that no square is formed; k = 6 to first order (at most 2.83 of the two
 * numerators, 2 of the divisor, 1 of the division) where no part underflows; x / 0 is nan + i nan. */
#define WEIR_COMPLEX(t, T, r, R)                                                              \
  static inline T weir_make_##t(R re, R im) { const T z = {re, im}; return z; }               \
  static inline R weir_real_##t(T z) { return z.re; }                                         \
  static inline R weir_imag_##t(T z) { return z.im; }                                         \
  static inline T weir_conj_##t(T z) { return weir_make_##t(z.re, -z.im); }                   \
  static inline T weir_neg_##t(T z) { return weir_make_##t(-z.re, -z.im); }                   \
  static inline T weir_add_##t(T x, T y) { return weir_make_##t(x.re + y.re, x.im + y.im); }  \
  static inline T weir_sub_##t(T x, T y) { return weir_make_##t(x.re - y.re, x.im - y.im); }  \
  static inline T weir_mul_##t(T x, T y)                                                      \
  {                                                                                           \
    return weir_make_##t(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);               \
  }                                                                                           \
  static inline T weir_div_##t(T x, T y)                                                      \
  {                                                                                           \
    const uint8_t turned = weir_abs_##r(y.re) < weir_abs_##r(y.im);                           \
    const R p = turned ? y.im : y.re, q = turned ? y.re : y.im;                               \
    const R u = turned ? x.im : x.re, v = turned ? x.re : x.im;                               \
    const R ratio = q / p, below = p + q * ratio;                                             \
    const R re = u + v * ratio, im = turned ? u * ratio - v : v - u * ratio;                  \
    return weir_make_##t(re / below, im / below);                                             \
  }                                                                                           \
  static inline R weir_abs2_##t(T z) { return z.re * z.re + z.im * z.im; }                    \
  static inline T weir_exp_##t(T z)                                                           \
  {                                                                                           \
    const R size = weir_exp_##r(z.re);                                                        \
    return weir_make_##t(size * weir_cos_##r(z.im), size * weir_sin_##r(z.im));               \
  }                                                                                           \
  static inline uint8_t weir_eq_##t(T x, T y)                                                 \
  {                                                                                           \
    return (uint8_t)((x.re == y.re) & (x.im == y.im));                                        \
  }                                                                                           \
  static inline uint8_t weir_ne_##t(T x, T y) { return (uint8_t)!weir_eq_##t(x, y); }         \
  static inline uint8_t weir_isnan_##t(T z)                                                   \
  {                                                                                           \
    return (uint8_t)((z.re != z.re) | (z.im != z.im));                                        \
  }                                                                                           \
  static inline T weir_select_##t(uint8_t c, T x, T y)                                        \
  {                                                                                           \
    return weir_make_##t(c ? x.re : y.re, c ? x.im : y.im);                                   \
  }
WEIR_COMPLEX(c64, weir_c64, f32, float)
WEIR_COMPLEX(c128, weir_c128, f64, double)
// clang-format on
#endif
