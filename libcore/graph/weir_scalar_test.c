/* weir_scalar_test.c - accuracy against libm, special values, integers, casts and monoids; and the
 * same bits when the same text is compiled for another instruction set. */
#include "graph/weir_scalar.h"

#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "device/weir_parallel.h"

#define SAMPLES 60000

/* A fresh seed every run, printed when a comparison fails. */
static uint64_t fresh_seed(void)
{
  return (uint64_t)(weir_clock() * 1e9);
}

static double ulps(double actual, long double expected, double rounded, int digits, int least)
{
  int exponent;

  if (isnan(actual) || isnan(expected) || isinf(actual) || isinf(rounded)) {
    return (isnan(actual) && isnan(expected)) || actual == rounded ? 0 : INFINITY;
  }
  frexp(rounded, &exponent);
  exponent = rounded == 0 || exponent - digits < least ? least : exponent - digits;
  return (double)(fabsl((long double)actual - expected) / ldexpl(1, exponent));
}

/* Every exponent, or moderate sizes in turns. */
static double argument(uint64_t seed, int64_t i)
{
  const uint64_t bits = weir_random_bits(seed, 1, 0, (uint64_t)i);

  return i % 2 ? weir_float_f64(bits) : (double)(int64_t)bits * 0x1p-63 * (double)(1 << (i % 13));
}
static float argument_f32(uint64_t seed, int64_t i)
{
  return i % 2 ? weir_float_f32((uint32_t)weir_random_bits(seed, 2, 0, (uint64_t)i))
               : (float)argument(seed, i);
}

// clang-format off
/* X(function, libm's, limit f32, limit f64) */
#define FUNCTIONS(X)             \
  X(exp, exp, 1.1, 1.1)          \
  X(log, log, 1.0, 1.0)          \
  X(tanh, tanh, 1.5, 1.5)        \
  X(erf, erf, 1.6, 1.6)          \
  X(sin, sin, 0.52, 1.0)         \
  X(cos, cos, 0.52, 1.0)         \
  X(floor, floor, 0, 0)          \
  X(ceil, ceil, 0, 0)            \
  X(round, rint, 0, 0)           \
  X(sqrt, sqrt, 0.51, 0.51)
// clang-format on

static void check_function(const char *name, uint64_t seed, double (*f)(double),
                           float (*f32)(float), long double (*libm)(long double), double limit32,
                           double limit64)
{
  double worst64 = 0, worst32 = 0, at64 = 0, at32 = 0;

  for (int64_t i = 0; i < SAMPLES; i++) {
    const double x = argument(seed, i);
    const float y = argument_f32(seed, i);
    const long double exact = libm(x), exact32 = libm(y);
    const double e64 = ulps(f(x), exact, (double)exact, 53, -1074);
    const double e32 = ulps((double)f32(y), exact32, (double)(float)exact32, 24, -149);

    if (e64 > worst64) {
      worst64 = e64;
      at64 = x;
    }
    if (e32 > worst32) {
      worst32 = e32;
      at32 = (double)y;
    }
  }
  if (worst64 > limit64 || worst32 > limit32) {
    fprintf(stderr, "%s: f64 %.3f ulp at %a, f32 %.3f ulp at %a, seed %llu\n", name, worst64, at64,
            worst32, at32, (unsigned long long)seed);
  }
  assert_true(worst64 <= limit64 && worst32 <= limit32);
}

static void functions_are_accurate(void **state)
{
  const uint64_t seed = fresh_seed();
#define X(name, libm, limit32, limit64) \
  check_function(#name, seed, weir_##name##_f64, weir_##name##_f32, libm##l, limit32, limit64);
  FUNCTIONS(X)
#undef X
}

static void special_values(void **state)
{
  const double inf = INFINITY;

  assert_true(isnan(weir_exp_f64(NAN)) && weir_exp_f64(inf) == inf && weir_exp_f64(-inf) == 0);
  assert_true(weir_exp_f64(0) == 1 && weir_exp_f32(0) == 1 && weir_exp_f32(89) == inf);
  assert_true(weir_exp_f64(-745.1) == 0x1p-1074 && weir_exp_f64(-745.2) == 0);
  assert_true(weir_exp_f32(-103.97f) == 0x1p-149f && weir_exp_f32(-104) == 0);
  assert_true(weir_log_f64(0) == -inf && weir_log_f64(-0.0) == -inf && weir_log_f64(inf) == inf);
  assert_true(isnan(weir_log_f64(-1)) && isnan(weir_log_f64(NAN)) && weir_log_f64(1) == 0);
  assert_true(isnan(weir_log_f32(-1)) && weir_log_f32(0) == -inf && weir_log_f32(1) == 0);
  assert_true(weir_tanh_f64(inf) == 1 && weir_tanh_f32(-(float)inf) == -1);
  assert_true(signbit(weir_tanh_f64(-0.0)) && isnan(weir_tanh_f64(NAN)));
  assert_true(weir_erf_f64(inf) == 1 && weir_erf_f32(-(float)inf) == -1);
  assert_true(signbit(weir_erf_f64(-0.0)) && isnan(weir_erf_f32(NAN)));
  assert_true(isnan(weir_sin_f64(inf)) && isnan(weir_cos_f64(-inf)) && isnan(weir_sin_f32(NAN)));
  assert_true(signbit(weir_sin_f64(-0.0)) && weir_cos_f64(0) == 1 && weir_cos_f64(-0.0) == 1);
  assert_true(weir_sin_f64(0x1p1023) == (double)sinl(0x1p1023L));
  assert_true(weir_round_f64(2.5) == 2 && weir_round_f64(-3.5) == -4 && weir_round_f32(0.5f) == 0);
  assert_true(signbit(weir_ceil_f64(-0.5)) && weir_floor_f64(-0.5) == -1 &&
              weir_floor_f64(inf) == inf && isnan(weir_floor_f64(NAN)));
}

static void integers_wrap_and_divide_by_zero_to_zero(void **state)
{
  const uint64_t seed = fresh_seed();

  for (int64_t i = 0; i < 2000; i++) {
    const uint64_t bits = weir_random_bits(seed, 3, 0, (uint64_t)i);
    const int8_t a = (int8_t)bits, b = (int8_t)(bits >> 8);
    const int64_t wide = (int64_t)bits;

    assert_int_equal(weir_add_i8(a, b), (int8_t)(a + b));
    assert_int_equal(weir_sub_i8(a, b), (int8_t)(a - b));
    assert_int_equal(weir_mul_i8(a, b), (int8_t)(a * b));
    assert_int_equal(weir_div_i8(a, b), b == 0 ? 0 : (int8_t)(a / b));
    assert_int_equal(weir_abs_i8(a), (int8_t)(a < 0 ? -a : a));
    assert_int_equal(weir_div_u8((uint8_t)a, 255), (uint8_t)a == 255);
    assert_int_equal(weir_shr_i64(wide, i % 64), (int64_t)(bits >> (i % 64)));
    assert_int_equal(weir_i8_from_i64(wide), (int8_t)bits);
  }
  assert_int_equal(weir_div_i64(INT64_MIN, -1), INT64_MIN);
  assert_int_equal(weir_div_i64(INT64_MIN, 0), 0);
  assert_int_equal(weir_div_i32(INT32_MIN, -1), INT32_MIN);
  assert_int_equal(weir_abs_i64(INT64_MIN), INT64_MIN);
  assert_int_equal(weir_mul_i16(INT16_MIN, -1), INT16_MIN);
}

static void casts_truncate_and_saturate(void **state)
{
  assert_int_equal(weir_i8_from_f32(-200), -128);
  assert_int_equal(weir_i8_from_f32(127.9f), 127);
  assert_int_equal(weir_i8_from_f64(-128.9), -128);
  assert_int_equal(weir_u8_from_f64(-1), 0);
  assert_int_equal(weir_u8_from_f64(256), 255);
  assert_int_equal(weir_u8_from_f64(-0.7), 0);
  assert_int_equal(weir_i16_from_f32(NAN), 0);
  assert_int_equal(weir_i32_from_f32(0x1p31f), INT32_MAX);
  assert_int_equal(weir_i32_from_f64(2147483647.9), INT32_MAX);
  assert_int_equal(weir_i32_from_f64(-2147483648.9), INT32_MIN);
  assert_int_equal(weir_i64_from_f64(0x1p63), INT64_MAX);
  assert_int_equal(weir_i64_from_f64(-INFINITY), INT64_MIN);
  assert_int_equal(weir_i64_from_f32(-2.5f), -2);
  assert_int_equal(weir_bool_from_f32(NAN), 1);
  assert_int_equal(weir_bool_from_f64(-0.0), 0);
  assert_true(weir_f32_from_i64(16777217) == 16777216.0f);
}

static void monoids_keep_their_promises(void **state)
{
  const weir_at_f32 none = {weir_least_f32(), -1}, low = {-INFINITY, 4}, nan = {NAN, 1};
  const weir_at_f32 tie = {2, 9}, same = {2, 3};

  assert_true(isnan(weir_highest_f32(1, NAN)) && isnan(weir_highest_f32(NAN, 1)));
  assert_true(isnan(weir_lowest_f64(1, NAN)) && weir_lowest_f64(1, 2) == 1);
  assert_int_equal(weir_argmax_f32(none, low).at, 4);
  assert_int_equal(weir_argmax_f32(none, nan).at, -1);
  assert_int_equal(weir_argmax_f32(tie, same).at, 3);
  assert_int_equal(weir_argmax_f32(same, tie).at, 3);
  assert_int_equal(weir_first_f32(tie, same).at, 3);
  assert_int_equal(weir_first_f32(none, same).at, 3);
  assert_int_equal(weir_last_f32(same, tie).at, 9);
  assert_int_equal(weir_last_f32(none, none).at, -1);

  weir_moments_f64 one = {0, 0, 0}, two = one;
  weir_softmax_f64 left = {-INFINITY, 0}, right = left;
  double sum = 0, sum2 = 0, total = 0;

  for (int i = 0; i < 40; i++) {
    const double x = weir_random_uniform(fresh_seed(), 1, 0, (uint64_t)i);
    const weir_softmax_f64 element = {x, 1};

    if (i < 13) {
      one = weir_moments_step_f64(one, x);
      left = weir_softmax_merge_f64(left, element);
    } else {
      two = weir_moments_step_f64(two, x);
      right = weir_softmax_merge_f64(right, element);
    }
    sum += x;
    sum2 += x * x;
    total += exp(x);
  }
  const weir_moments_f64 both = weir_moments_merge_f64(one, two);
  const weir_softmax_f64 merged = weir_softmax_merge_f64(left, right);
  assert_true(both.n == 40);
  assert_near(both.mean, sum / 40, 1e-14);
  assert_near(both.m2, sum2 - sum * sum / 40, 1e-12);
  assert_near(merged.sum * exp(merged.max), total, 1e-12);
  const weir_softmax_f64 low_one = {-INFINITY, 1}, low_two = {-INFINITY, 2}, high = {INFINITY, 1};
  const weir_softmax_f64 lows = weir_softmax_merge_f64(low_one, low_two);
  const weir_softmax_f64 finite = weir_softmax_merge_f64(lows, (weir_softmax_f64){3, 1});
  const weir_softmax_f64 highs = weir_softmax_merge_f64(weir_softmax_merge_f64(high, finite), high);

  assert_true(lows.max == -INFINITY && lows.sum == 3);
  assert_true(finite.max == 3 && finite.sum == 1);
  assert_true(highs.max == INFINITY && highs.sum == 2);
  assert_true(isnan(weir_softmax_merge_f64(lows, (weir_softmax_f64){NAN, 1}).max));
}

#if defined(__x86_64__)
#define AVX2 __attribute__((noinline, target("avx2,fma")))
#define AVX512 __attribute__((noinline, target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")))
#define EVALUATE(attribute, suffix, name)                               \
  attribute static void name##_f64_##suffix(const double *x, double *y) \
  {                                                                     \
    for (int64_t i = 0; i < SAMPLES; i++) {                             \
      y[i] = weir_##name##_f64(x[i]);                                   \
    }                                                                   \
  }                                                                     \
  attribute static void name##_f32_##suffix(const float *x, float *y)   \
  {                                                                     \
    for (int64_t i = 0; i < SAMPLES; i++) {                             \
      y[i] = weir_##name##_f32(x[i]);                                   \
    }                                                                   \
  }
#define X(name, libm, limit32, limit64)           \
  EVALUATE(__attribute__((noinline)), base, name) \
  EVALUATE(AVX2, avx2, name)                      \
  EVALUATE(AVX512, avx512, name)
FUNCTIONS(X)
#undef X

static double in64[SAMPLES], base64[SAMPLES], wide64[SAMPLES];
static float in32[SAMPLES], base32[SAMPLES], wide32[SAMPLES];

static void instruction_sets_agree_to_the_bit(void **state)
{
  const uint64_t seed = fresh_seed();
  /* What the processor has, whatever limits the tests run under. */
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl");

  for (int64_t i = 0; i < SAMPLES; i++) {
    in64[i] = argument(seed, i);
    in32[i] = argument_f32(seed, i);
  }
#define SAME(name, suffix, there)                                                          \
  if (there) {                                                                             \
    name##_f64_##suffix(in64, wide64);                                                     \
    name##_f32_##suffix(in32, wide32);                                                     \
    for (int64_t i = 0; i < SAMPLES; i++) {                                                \
      assert_true(weir_bits_f64(base64[i]) == weir_bits_f64(wide64[i]) || isnan(in64[i])); \
      assert_true(weir_bits_f32(base32[i]) == weir_bits_f32(wide32[i]) || isnan(in32[i])); \
    }                                                                                      \
  }
#define X(name, libm, limit32, limit64) \
  name##_f64_base(in64, base64);        \
  name##_f32_base(in32, base32);        \
  SAME(name, avx2, avx2)                \
  SAME(name, avx512, avx512)
  FUNCTIONS(X)
#undef X
#undef SAME
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(functions_are_accurate),
    cmocka_unit_test(special_values),
    cmocka_unit_test(integers_wrap_and_divide_by_zero_to_zero),
    cmocka_unit_test(casts_truncate_and_saturate),
    cmocka_unit_test(monoids_keep_their_promises),
#if defined(__x86_64__)
    cmocka_unit_test(instruction_sets_agree_to_the_bit),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
