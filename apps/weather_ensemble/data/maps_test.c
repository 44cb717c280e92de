/* maps_test.c - windows against double loops, smoothing against what it keeps. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/maps.h"

enum { LAT = 7, LON = 9, CELLS = LAT * LON };

static void draw(double *map, uint32_t purpose)
{
  for (uint64_t i = 0; i < CELLS; i++) {
    map[i] = weir_random_uniform(5, purpose, 0, i) - 0.5;
  }
}

static double by_loop(const double *map, int64_t window, bool wraps, int64_t j, int64_t i)
{
  const int64_t half = window / 2;
  double sum = 0;

  for (int64_t a = 0; a < LAT; a++) {
    for (int64_t b = 0; b < LON; b++) {
      const int64_t apart = b > i ? b - i : i - b;
      const int64_t near = wraps && LON - apart < apart ? LON - apart : apart;

      sum += (a > j ? a - j : j - a) <= half && near <= half ? map[a * LON + b] : 0;
    }
  }
  return sum;
}

static void windows_are_sums(void **state)
{
  for (int64_t window = 1; window <= 11; window += 2) {
    for (int wraps = 0; wraps < 2; wraps++) {
      const wx_map_shape shape = {LAT, LON, wraps};
      double map[CELLS], sum[CELLS];

      draw(map, (uint32_t)window);
      memcpy(sum, map, sizeof sum);
      assert_ok(wx_map_window(&shape, window, sum));
      for (int64_t i = 0; i < CELLS; i++) {
        assert_near(sum[i], by_loop(map, window, wraps, i / LON, i % LON), 1e-12);
      }
    }
  }
}

/* A constant stays; along a circle so does the sum; a peak becomes a Gaussian. */
static void smoothing_keeps_what_it_has_to(void **state)
{
  const wx_map_shape circle = {1, 64, true};
  double row[64] = {0}, map[CELLS], sum = 0;

  for (int i = 0; i < CELLS; i++) {
    map[i] = 3;
  }
  assert_ok(wx_map_smooth(&(wx_map_shape){LAT, LON, false}, 2.5, map));
  assert_near(map[0], 3, 1e-12);
  assert_near(map[CELLS / 2], 3, 1e-12);
  row[62] = 1;
  assert_ok(wx_map_smooth(&circle, 2, row));
  for (int i = 0; i < 64; i++) {
    sum += row[i];
  }
  assert_near(sum, 1, 1e-12);
  assert_near(row[1] / row[62], exp(-9.0 / 8), 1e-12); /* 3 cells on, over the seam */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_are_sums),
      cmocka_unit_test(smoothing_keeps_what_it_has_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
