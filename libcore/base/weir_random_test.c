/* weir_random_test.c - Philox against published vectors, and the distributions. */
#include <math.h>

#include "base/weir_check.h"
#include "base/weir_random.h"

/* kat_vectors of Random123 (Salmon et al., SC'11), lines philox4x32 10. */
static void philox_gives_the_published_vectors(void **state)
{
  static const struct {
    uint32_t counter[4], key[2], expected[4];
  } vectors[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };

  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    uint32_t out[4];
    weir_philox(vectors[i].counter, vectors[i].key, out);
    assert_memory_equal(out, vectors[i].expected, sizeof out);
  }
}

static void bits_follow_the_keying_rule(void **state)
{
  const uint64_t seed = UINT64_C(0x299f31d0a4093822), index = UINT64_C(0x85a308d3243f6a88);

  assert_true(weir_random_bits(seed, 0x13198a2e, 0x03707344, index) ==
              UINT64_C(0x94fdccebd16cfe09));
}

enum { SAMPLES = 200000 };

/* Bounds are five standard errors of each moment: a sound generator fails once in a million. */
static void uniform_is_flat_in_its_interval(void **state)
{
  double sum = 0, squares = 0;
  int bins[16] = {0};

  for (uint64_t i = 0; i < SAMPLES; i++) {
    const double u = weir_random_uniform(11, 1, 2, i);
    assert_true(u >= 0 && u < 1);
    sum += u;
    squares += (u - 0.5) * (u - 0.5);
    bins[(int)(u * 16)]++;
  }
  assert_true(fabs(sum / SAMPLES - 0.5) < 5 * sqrt(1.0 / 12 / SAMPLES));
  assert_true(fabs(squares / SAMPLES - 1.0 / 12) < 5 * sqrt(1.0 / 180 / SAMPLES));
  for (int b = 0; b < 16; b++) {
    assert_true(fabs(bins[b] - SAMPLES / 16.0) < 5 * sqrt(SAMPLES / 16.0));
  }
}

static void normal_has_the_moments_of_a_normal(void **state)
{
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;

  for (uint64_t i = 0; i < SAMPLES; i++) {
    const double x = weir_random_normal(11, 3, 0, i);
    assert_true(isfinite(x));
    m1 += x / SAMPLES;
    m2 += x * x / SAMPLES;
    m3 += x * x * x / SAMPLES;
    m4 += x * x * x * x / SAMPLES;
  }
  assert_true(fabs(m1) < 5 * sqrt(1.0 / SAMPLES));
  assert_true(fabs(m2 - 1) < 5 * sqrt(2.0 / SAMPLES));
  assert_true(fabs(m3) < 5 * sqrt(15.0 / SAMPLES));
  assert_true(fabs(m4 - 3) < 5 * sqrt(96.0 / SAMPLES));
}

static void streams_differ_by_seed_purpose_step_and_index(void **state)
{
  const uint64_t reference = weir_random_bits(1, 1, 1, 1);

  assert_true(reference == weir_random_bits(1, 1, 1, 1));
  assert_true(reference != weir_random_bits(2, 1, 1, 1));
  assert_true(reference != weir_random_bits(1, 2, 1, 1));
  assert_true(reference != weir_random_bits(1, 1, 2, 1));
  assert_true(reference != weir_random_bits(1, 1, 1, 2));
  assert_true(reference != weir_random_bits(1, 1, 1, 1 + (UINT64_C(1) << 32)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox_gives_the_published_vectors),
      cmocka_unit_test(bits_follow_the_keying_rule),
      cmocka_unit_test(uniform_is_flat_in_its_interval),
      cmocka_unit_test(normal_has_the_moments_of_a_normal),
      cmocka_unit_test(streams_differ_by_seed_purpose_step_and_index),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
