/* weir_dtype_test.c - names, sizes, and stores that no value makes undefined. */
#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"

static void table_agrees_with_c(void **state)
{
#define X(id, text, ctype, kind, component)                                                        \
  {                                                                                                \
    assert_string_equal(weir_dtype_name(id), text);                                                \
    assert_int_equal(weir_dtype_size(id), sizeof(ctype));                                          \
    assert_int_equal(weir_dtype_kind(id), WEIR_KIND_##kind);                                       \
    assert_int_equal(weir_dtype_part(id), component);                                              \
    assert_int_equal(weir_dtype_is_real(id) + weir_dtype_is_whole(id) + weir_dtype_is_complex(id), \
                     1);                                                                           \
    assert_int_equal(weir_dtype_size(id),                                                          \
                     (size_t)weir_dtype_parts(id) * weir_dtype_size(component));                   \
  }
  WEIR_DTYPE_LIST(X)
#undef X
}

/* Integers of each width round trip exactly through both ways. */
static void values_in_range_round_trip(void **state)
{
  for (int d = 0; d <= WEIR_F16; d++) {
    const weir_dtype dtype = (weir_dtype)d;
    const bool small = dtype == WEIR_BOOL;
    _Alignas(16) unsigned char data[3 * 8];
    for (uint64_t i = 0; i < 100; i++) {
      const int64_t value = (int64_t)(weir_random_bits(9, (uint32_t)d, 0, i) % (small ? 2 : 128));
      weir_dtype_store_int(dtype, data, 2, value);
      assert_int_equal(weir_dtype_load_int(dtype, data, 2), value);
      assert_true(weir_dtype_load_real(dtype, data, 2) == (double)value);
      weir_dtype_store_real(dtype, data, 1, (double)value);
      assert_int_equal(weir_dtype_load_int(dtype, data, 1), value);
    }
  }
}

static void complex_numbers_keep_both_parts(void **state)
{
  const weir_dtype dtypes[] = {WEIR_C64, WEIR_C128};
  weir_c128 data[3] = {{0, 0}};

  for (int i = 0; i < 2; i++) {
    weir_dtype_store_complex(dtypes[i], data, 1, (weir_c128){1.5, -0.1});
    weir_dtype_store_int(dtypes[i], data, 2, -7);
    const weir_c128 z = weir_dtype_load_complex(dtypes[i], data, 1);
    const weir_c128 whole = weir_dtype_load_complex(dtypes[i], data, 2);

    assert_true(z.re == 1.5 && z.im == (i == 0 ? (double)-0.1f : -0.1));
    assert_true(whole.re == -7 && whole.im == 0);
    weir_dtype_store_real(dtypes[i], data, 2, 0.1);
    assert_true(weir_dtype_load_complex(dtypes[i], data, 2).re == (i == 0 ? (double)0.1f : 0.1));
  }
  assert_true(weir_dtype_load_complex(WEIR_I16, (int16_t[]){1, -300}, 1).re == -300);
  assert_true(weir_dtype_load_complex(WEIR_F32, (float[]){0.5f}, 0).im == 0);
}

static void reals_that_do_not_fit_saturate(void **state)
{
  static const struct {
    weir_dtype dtype;
    double value;
    int64_t expected;
  } cases[] = {
      {WEIR_I8, 200.0, 127},
      {WEIR_I8, -200.0, -128},
      {WEIR_I8, -127.9, -127},
      {WEIR_U8, -3.0, 0},
      {WEIR_U8, 255.5, 255},
      {WEIR_I16, 1e9, 32767},
      {WEIR_I32, -1e30, INT32_MIN},
      {WEIR_I32, 2147483646.5, 2147483646},
      {WEIR_I64, 1e300, INT64_MAX},
      {WEIR_I64, -INFINITY, INT64_MIN},
      {WEIR_I64, 9007199254740993.0, 9007199254740992},
      {WEIR_I16, NAN, 0},
      {WEIR_BOOL, 0.25, 1},
      {WEIR_BOOL, NAN, 1},
      {WEIR_BOOL, -0.0, 0},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t cell = 0;
    weir_dtype_store_real(cases[i].dtype, &cell, 0, cases[i].value);
    assert_int_equal(weir_dtype_load_int(cases[i].dtype, &cell, 0), cases[i].expected);
  }
}

static void floats_truncate_to_integers(void **state)
{
  const double reals[] = {2.9, -2.9, NAN, INFINITY};
  const int64_t expected[] = {2, -2, 0, INT64_MAX};

  for (int64_t i = 0; i < 4; i++) {
    assert_int_equal(weir_dtype_load_int(WEIR_F64, reals, i), expected[i]);
  }
}

/* The nearest bf16 of an f32, found by looking at both neighbours. */
static void bf16_is_the_nearest(void **state)
{
  for (uint64_t i = 0; i < 200000; i++) {
    const uint32_t u = (uint32_t)weir_random_bits(11, 0, 0, i) << (i % 3 == 0 ? 12 : 0);
    float x;

    memcpy(&x, &u, sizeof x);
    const weir_bf16 y = weir_bf16_from_f32(x);
    const float back = weir_f32_from_bf16(y);

    if (isnan(x)) {
      assert_true(isnan(back));
      assert_true((y & 0x40) != 0);
      continue;
    }
    assert_int_equal(signbit(x) != 0, signbit(back) != 0);
    if (fabsf(x) < 0x1.ffp127f) { /* half a step above the largest */
      const double off = fabs((double)x - (double)back);

      for (int side = -1; side <= 1; side += 2) {
        const double other = (double)weir_f32_from_bf16((weir_bf16)(y + side));

        if ((y & 0x7FFF) != 0 || side > 0) {
          const double gap = fabs((double)x - other);
          assert_true(off < gap || (off == gap && (y & 1) == 0) || !isfinite(other));
        }
      }
    } else {
      assert_true(isinf(back));
    }
  }
}

static void bf16_special_values(void **state)
{
  static const struct {
    float from, to;
  } cases[] = {{0.0f, 0.0f},
               {-0.0f, -0.0f},
               {1.0f, 1.0f},
               {INFINITY, INFINITY},
               {-INFINITY, -INFINITY},
               {0x1.01p0f, 1.0f},      /* half way: to the even one */
               {0x1.03p0f, 0x1.04p0f}, /* half way: to the even one */
               {0x1.010002p0f, 0x1.02p0f},
               {0x1p-133f, 0x1p-133f}, /* the least denormal */
               {0x1p-134f, 0.0f},
               {0x1.8p-134f, 0x1p-133f},
               {0x1.fffffep127f, INFINITY},
               {0x1.fep127f, 0x1.fep127f}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const float got = weir_f32_from_bf16(weir_bf16_from_f32(cases[i].from));
    double cell[1];

    assert_true(got == cases[i].to && !signbit(got) == !signbit(cases[i].to));
    weir_dtype_store_real(WEIR_BF16, cell, 0, (double)cases[i].from);
    assert_true(weir_dtype_load_real(WEIR_BF16, cell, 0) == (double)cases[i].to);
    assert_true(weir_dtype_rounded(WEIR_BF16, (double)cases[i].from) == (double)cases[i].to);
  }
}

/* All that there are come back; an f32 becomes the nearest, of two as near the even one. */
static void f16_is_the_nearest(void **state)
{
  for (uint32_t u = 0; u < 0x10000; u++) {
    const float x = weir_f32_from_f16((weir_f16)u);
    const uint32_t size = u & 0x7FFF, next = size + 1;
    const double sign = (u & 0x8000) != 0 ? -1 : 1;

    if (size > 0x7C00) {
      assert_true(isnan(x) && isnan(weir_f32_from_f16(weir_f16_from_f32(x))));
      continue;
    }
    assert_int_equal(weir_f16_from_f32(x), u);
    if (size == 0x7C00) {
      assert_true(isinf(x) && !signbit(x) == (sign > 0));
      continue;
    }
    const int exponent = size < 0x400 ? -14 : (int)(size >> 10) - 15;
    const double step = ldexp(1, exponent - 10);
    const double exact = size < 0x400 ? step * size : ldexp(1, exponent) + step * (size & 0x3FF);
    const float middle = (float)(sign * (exact + step / 2));

    assert_true((double)x == sign * exact && !signbit(x) == (sign > 0));
    assert_int_equal(weir_f16_from_f32(middle) & 0x7FFF, (size & 1) != 0 ? next : size);
    assert_int_equal(weir_f16_from_f32(nextafterf(middle, 0)) & 0x7FFF, size);
    assert_int_equal(weir_f16_from_f32(nextafterf(middle, (float)sign * 1e6f)) & 0x7FFF, next);
  }
}

static void f16_special_values(void **state)
{
  static const struct {
    float from, to;
  } cases[] = {{65504, 65504},          {65519, 65504},       {65520, INFINITY},
               {-1e30f, -INFINITY},     {0x1p-25f, 0},        {0x1.000002p-25f, 0x1p-24f},
               {-0x1p-149f, -0.0f},     {0x1p-24f, 0x1p-24f}, {0x1.ff8p-15f, 0x1.ff8p-15f},
               {0x1.fffp-15f, 0x1p-14f}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const float got = weir_f32_from_f16(weir_f16_from_f32(cases[i].from));
    double cell[1];

    assert_true(got == cases[i].to && !signbit(got) == !signbit(cases[i].to));
    weir_dtype_store_real(WEIR_F16, cell, 0, (double)cases[i].from);
    assert_true(weir_dtype_load_real(WEIR_F16, cell, 0) == (double)cases[i].to);
    assert_true(weir_dtype_rounded(WEIR_F16, (double)cases[i].from) == (double)cases[i].to);
  }
  assert_true(isnan(weir_f32_from_f16(weir_f16_from_f32(NAN))));
}

static void formats_of_storage_are_computed_in_f32(void **state)
{
  for (int d = 0; d < WEIR_DTYPE_COUNT; d++) {
    const weir_dtype dtype = (weir_dtype)d;
    const bool storage = dtype == WEIR_BF16 || dtype == WEIR_F16;

    assert_int_equal(weir_dtype_is_storage(dtype), storage);
    assert_int_equal(weir_dtype_compute_type(dtype), storage ? WEIR_F32 : dtype);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_agrees_with_c),
      cmocka_unit_test(values_in_range_round_trip),
      cmocka_unit_test(complex_numbers_keep_both_parts),
      cmocka_unit_test(reals_that_do_not_fit_saturate),
      cmocka_unit_test(floats_truncate_to_integers),
      cmocka_unit_test(bf16_is_the_nearest),
      cmocka_unit_test(bf16_special_values),
      cmocka_unit_test(f16_is_the_nearest),
      cmocka_unit_test(f16_special_values),
      cmocka_unit_test(formats_of_storage_are_computed_in_f32),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
