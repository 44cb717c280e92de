/* sums_test.c - sums against long double, and one order of additions on every instruction set. */
#include "stream/sums_priv.h"
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"

enum { MAX = 100003 };

static float x[MAX];

static void draw(uint64_t seed, float level)
{
  for (int64_t t = 0; t < MAX; t++) {
    x[t] = level + (float)(weir_random_bits(seed, 1, 0, (uint64_t)t) % 2000003) / 1000003 - 1;
  }
}

static void sums_are_those_of_a_plain_loop(void **state)
{
  static const int64_t lengths[] = {0, 1, 15, 16, 17, 4095, 4096, 4097, 30000, 65536, MAX};

  for (int level = 0; level < 5000; level += 1250) {
    draw(7, (float)level);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      const weir_sums s = weir_sums_of(x, lengths[i]);
      long double sum = 0, size = 0, square = 0;

      for (int64_t t = 0; t < lengths[i]; t++) {
        sum += (long double)x[t];
        size += fabsl((long double)x[t]);
        square += (long double)x[t] * (long double)x[t];
      }
      assert_true(fabsl((long double)s.x - sum) <= size * 3e-14L);
      assert_true(fabsl((long double)s.square - square) <= square * 3e-14L);
    }
  }
}

static void instruction_sets_change_nothing(void **state)
{
  sums_kernel others[2] = {weir_sums_base, weir_sums_base};

#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  others[0] = cpu->avx2 && cpu->fma ? weir_sums_avx2 : others[0];
  others[1] = cpu->avx512 ? weir_sums_avx512 : others[1];
#endif
  draw(11, 90);
  for (int64_t n = 0; n <= 4096; n += n < 70 ? 1 : 61) {
    const weir_sums base = weir_sums_base(x + n % 7, n);

    for (int k = 0; k < 2; k++) {
      const weir_sums other = others[k](x + n % 7, n);

      assert_memory_equal(&base, &other, sizeof base);
    }
  }
}

static void what_is_not_finite_stays(void **state)
{
  draw(5, 0);
  x[5000] = INFINITY;
  assert_true(isinf(weir_sums_of(x, 6000).x) && isinf(weir_sums_of(x, 6000).square));
  x[5001] = NAN;
  assert_true(isnan(weir_sums_of(x, 6000).x) && isnan(weir_sums_of(x, 6000).square));
  assert_true(isfinite(weir_sums_of(x, 5000).x));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_of_a_plain_loop),
      cmocka_unit_test(instruction_sets_change_nothing),
      cmocka_unit_test(what_is_not_finite_stays),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
