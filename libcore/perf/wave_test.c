/* wave_test.c - wave scaling against cases by hand, and what it must keep whatever the numbers. */
#include "perf/weir_wave.h"

#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

/* Ridges of 10 and 40 flop/byte. */
static const weir_wave_device slow = {2, 1, 10, 2, 20}, fast = {8, 1, 40, 8, 320};

/* What the seconds of work show of gamma: it alone tells how much a device gains that differs in
 * bandwidth. */
static double memory_share(const weir_wave_work *w, const weir_wave_device *there)
{
  weir_wave_device here = *there;

  here.bandwidth *= 2;
  return log2(weir_wave_seconds(w, &here, there) / w->seconds);
}

static void two_devices_by_hand(void **state)
{
  const weir_wave_work half = {16, 400, 10, 0}; /* at the ridge of `fast`: gamma is 1/2 */
  const weir_wave_work memory = {16, 0, 10, 0}, flops = {16, 10, 0, 0}, unknown = {16, 0, 0, 1};

  assert_near(memory_share(&half, &fast), 0.5, 1e-15);
  assert_near(memory_share(&half, &slow), 0.125, 1e-15);
  assert_near(memory_share(&(weir_wave_work){1, 100, 10, 0}, &fast), 0.875, 1e-15);
  assert_near(memory_share(&memory, &fast), 1, 1e-15);
  assert_near(memory_share(&flops, &fast), 0, 1e-15);
  /* Bandwidth: a quarter; rate and processors: a sixteenth. */
  assert_near(weir_wave_seconds(&memory, &slow, &fast), 4, 1e-14);
  assert_near(weir_wave_seconds(&flops, &slow, &fast), 1, 1e-14);
  assert_near(weir_wave_seconds(&half, &slow, &fast), 2, 1e-14);
  assert_near(weir_wave_seconds(&unknown, &slow, &fast), 4, 1e-14);
  assert_near(weir_wave_seconds(&(weir_wave_work){0, 5, 5, 5}, &slow, &fast), 0, 0);
}

static void work_of_less_than_a_wave_gains_no_processors(void **state)
{
  weir_wave_work w = {16, 10, 0, 1};

  assert_near(weir_wave_seconds(&w, &slow, &fast), 4, 1e-14);
  w.blocks = 2; /* a wave of `slow` */
  assert_near(weir_wave_seconds(&w, &slow, &fast), 1, 1e-14);
  w.blocks = 3;
  assert_near(weir_wave_seconds(&w, &slow, &fast), 1, 1e-14);
  /* Three blocks on two processors, two of which one has at a time: two turns, one on `fast`. */
  const weir_wave_device resident = {2, 2, 10, 2, 20};

  assert_near(weir_wave_seconds(&w, &resident, &fast), 2, 1e-14);
  w = (weir_wave_work){16, 0, 10, 1};
  assert_near(weir_wave_seconds(&w, &slow, &fast), 16, 1e-14);
}

static double draw(uint64_t k, double lo, double hi)
{
  return lo + (hi - lo) * weir_random_uniform(7, 0, 0, k);
}

static weir_wave_device draw_device(uint64_t k)
{
  return (weir_wave_device){.processors = floor(draw(k, 1, 200)),
                            .resident_blocks = floor(draw(k + 1, 1, 9)),
                            .rate = draw(k + 2, 1e9, 1e12),
                            .bandwidth = draw(k + 3, 1e9, 1e13),
                            .flop_rate = draw(k + 4, 1e9, 1e15)};
}

static void properties_of_random_devices(void **state)
{
  for (uint64_t k = 0; k < 2000; k += 20) {
    const weir_wave_device here = draw_device(k), there = draw_device(k + 5);
    const weir_wave_work w = {draw(k + 10, 1e-6, 1), draw(k + 11, 1, 1e12), draw(k + 12, 1, 1e12),
                              floor(draw(k + 13, 0, 4000))};
    const weir_wave_work many = {w.seconds, w.flops, w.bytes, 0};
    const double s = weir_wave_seconds(&w, &here, &there), gamma = memory_share(&many, &there);
    weir_wave_work other = w;
    weir_wave_device faster = there;

    assert_true(gamma >= -1e-12 && gamma <= 1 + 1e-12 && s > 0);
    assert_near(weir_wave_seconds(&w, &here, &here) / w.seconds, 1, 1e-14);
    other.seconds *= 3; /* linear */
    assert_near(weir_wave_seconds(&other, &here, &there) / s, 3, 1e-13);
    /* Faster processors of the same peak take less time, and more of them where there are blocks
     * for all. */
    faster.rate *= 2;
    assert_true(weir_wave_seconds(&w, &here, &faster) <= s);
    faster = there;
    faster.processors *= 2;
    assert_true(weir_wave_seconds(&many, &here, &faster) <=
                weir_wave_seconds(&many, &here, &there));
    /* Twice the bandwidth halves what memory alone limits. */
    other = (weir_wave_work){w.seconds, 0, w.bytes, 0};
    faster = there;
    faster.bandwidth *= 2;
    assert_near(weir_wave_seconds(&other, &here, &faster) /
                    weir_wave_seconds(&other, &here, &there),
                0.5, 1e-14);
    /* More flops a byte: less memory-bound. */
    other = many;
    other.flops *= 1.5;
    assert_true(memory_share(&other, &there) <= gamma + 1e-12);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_devices_by_hand),
      cmocka_unit_test(work_of_less_than_a_wave_gains_no_processors),
      cmocka_unit_test(properties_of_random_devices),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
