/* weir_complex_scalar_test.c - complex arithmetic against long double, normwise; special values;
 * and the layout that libraries expect. */
#include "graph/weir_complex_scalar.h"

#include <complex.h>
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_clock.h"

#define SAMPLES 40000

/* A fresh seed every run, printed when a comparison fails. */
static uint64_t fresh_seed(void)
{
  return (uint64_t)(weir_clock() * 1e9);
}

/* Either sign, sizes 2^-range to 2^range, at times 0. */
static double part(uint64_t seed, int64_t i, int range)
{
  const uint64_t bits = weir_random_bits(seed, 3, 0, (uint64_t)i);
  const double size = ldexp(1 + (double)(bits >> 12) * 0x1p-52,
                            (int)(bits % 1000003 % (2 * (unsigned)range)) - range);

  return bits % 97 == 0 ? 0 : bits & 2048 ? -size : size;
}

/* |z - exact| / (eps |exact|); NaN where one of them is. */
static double error_of(long double complex z, long double complex exact, double eps)
{
  const long double size = cabsl(exact), off = cabsl(z - exact);

  return off == 0 ? 0 : (double)(off / (eps * size));
}

#define WIDE(z) ((long double)(z).re + (long double)(z).im * I)

typedef struct worst {
  double mul, div, exp, abs, abs2, add;
} worst;

static double larger(double a, double b)
{
  return a > b || isnan(a) ? a : b;
}

/* Of one dtype: T is the type, R that of its parts, eps its unit roundoff; parts of sizes 2^range.
 */
#define DEFINE_CHECK(t, T, R, eps, range)                                                         \
  static worst check_##t(uint64_t seed)                                                           \
  {                                                                                               \
    worst w = {0};                                                                                \
                                                                                                  \
    for (int64_t i = 0; i < SAMPLES; i++) {                                                       \
      const T x = {(R)part(seed, 4 * i, range), (R)part(seed, 4 * i + 1, range)};                 \
      const T y = {(R)part(seed, 4 * i + 2, range), (R)part(seed, 4 * i + 3, range)};             \
      const T e = {(R)fmod((double)x.re, 40), (R)fmod((double)x.im, 1e4)};                        \
                                                                                                  \
      w.add = larger(w.add, error_of(WIDE(weir_add_##t(x, y)), WIDE(x) + WIDE(y), eps));          \
      w.mul = larger(w.mul, error_of(WIDE(weir_mul_##t(x, y)), WIDE(x) * WIDE(y), eps));          \
      if (y.re != 0 || y.im != 0) {                                                               \
        w.div = larger(w.div, error_of(WIDE(weir_div_##t(x, y)), WIDE(x) / WIDE(y), eps));        \
      }                                                                                           \
      w.exp = larger(w.exp, error_of(WIDE(weir_exp_##t(e)), cexpl(WIDE(e)), eps));                \
      w.abs = larger(w.abs, error_of((long double)weir_abs_##t(x), cabsl(WIDE(x)), eps));         \
      w.abs2 = larger(                                                                            \
          w.abs2, error_of((long double)weir_abs2_##t(x), cabsl(WIDE(x)) * cabsl(WIDE(x)), eps)); \
    }                                                                                             \
    return w;                                                                                     \
  }
DEFINE_CHECK(c64, weir_c64, float, 0x1p-24, 20)
DEFINE_CHECK(c128, weir_c128, double, 0x1p-53, 150)

static bool within_bounds(worst w, uint64_t seed)
{
  print_message("seed %llu, in eps of the norm: add %.3g, mul %.3g, div %.3g, exp %.3g, abs %.3g, "
                "abs2 %.3g\n",
                (unsigned long long)seed, w.add, w.mul, w.div, w.exp, w.abs, w.abs2);
  return w.add <= 1 && w.mul <= 2.24 && w.div <= 6 && w.exp <= 4 && w.abs <= 4 && w.abs2 <= 2;
}

static void errors_are_within_their_bounds(void **state)
{
  const uint64_t seed = fresh_seed();

  assert_true(within_bounds(check_c64(seed), seed));
  assert_true(within_bounds(check_c128(seed), seed));
}

/* The formulas word for word: what every engine gives to the bit. */
static void products_are_not_fused(void **state)
{
  const double tiny = 0x1p-53;
  const weir_c128 x = {1 + 2 * tiny, 1}, y = {1 - tiny, 1};
  const volatile double first = x.re * y.re, second = x.im * y.im;

  assert_true(weir_mul_c128(x, y).re == first - second);
  assert_true(weir_mul_c128(x, y).re != fma(x.re, y.re, -second));
}

static void sizes_neither_overflow_nor_vanish(void **state)
{
  assert_true(weir_abs_c128((weir_c128){3e300, 4e300}) == 5e300);
  assert_true(weir_abs_c128((weir_c128){3e-310, -4e-310}) > 4.9e-310);
  assert_true(weir_abs_c64((weir_c64){3e30f, -4e30f}) == 5e30f);
  assert_true(weir_abs_c64((weir_c64){3e-40f, 4e-40f}) > 4.9e-40f);
  assert_true(weir_div_c128((weir_c128){1e300, 1e300}, (weir_c128){1e300, 1e300}).re == 1);
  assert_true(weir_div_c64((weir_c64){0, 1e30f}, (weir_c64){0, 1e30f}).re == 1);
  assert_true(isinf(weir_abs2_c128((weir_c128){1e200, 0})));
}

static void special_values(void **state)
{
  static const double odd[] = {0, -0.0, 1, -2.5, INFINITY, -INFINITY, NAN};
  const int n = (int)(sizeof odd / sizeof odd[0]);

  for (int i = 0; i < n * n; i++) {
    const weir_c128 z = {odd[i / n], odd[i % n]};
    const weir_c64 f = {(float)z.re, (float)z.im};
    const double size = hypot(z.re, z.im), size64 = (double)weir_abs_c64(f);

    assert_true(weir_abs_c128(z) == size || fabs(weir_abs_c128(z) - size) < 1e-15 || isnan(size));
    assert_true(isnan(weir_abs_c128(z)) == isnan(size) && isnan(size64) == isnan(size));
    assert_true(isinf(size64) == isinf(size));
    assert_int_equal(weir_isnan_c128(z), isnan(z.re) || isnan(z.im));
    assert_int_equal(weir_eq_c128(z, z), !(isnan(z.re) || isnan(z.im)));
    assert_int_equal(weir_ne_c64(f, f), isnan(z.re) || isnan(z.im));
    assert_true(signbit(weir_conj_c128(z).im) != signbit(z.im) || isnan(z.im));
    assert_true(signbit(weir_neg_c128(z).re) != signbit(z.re) || isnan(z.re));
    const weir_c128 by_zero = weir_div_c128(z, (weir_c128){0, 0});

    assert_true(isnan(by_zero.re) && isnan(by_zero.im));
  }
  assert_true(weir_real_c64(weir_select_c64(1, (weir_c64){2, 3}, (weir_c64){4, 5})) == 2);
  assert_true(weir_imag_c64(weir_select_c64(0, (weir_c64){2, 3}, (weir_c64){4, 5})) == 5);
}

/* As C's own, so that arrays go to BLAS, LAPACK, FFTW and MPI as they are. */
static void layout_is_that_of_c(void **state)
{
  const weir_c64 z = weir_make_c64(1.5f, -2);
  const weir_c128 w = weir_make_c128(1.5, -2);
  float complex c = 0;
  double complex d = 0;

  assert_int_equal(sizeof z, sizeof c);
  assert_int_equal(sizeof w, sizeof d);
  memcpy(&c, &z, sizeof c);
  memcpy(&d, &w, sizeof d);
  assert_true(crealf(c) == 1.5f && cimagf(c) == -2 && creal(d) == 1.5 && cimag(d) == -2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_within_their_bounds),
      cmocka_unit_test(products_are_not_fused),
      cmocka_unit_test(sizes_neither_overflow_nor_vanish),
      cmocka_unit_test(special_values),
      cmocka_unit_test(layout_is_that_of_c),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
