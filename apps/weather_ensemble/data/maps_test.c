/* maps_test.c - smoothing against the Gaussian and against what it keeps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "data/maps.h"

enum { LAT = 9, LON = 12, CELLS = LAT * LON };

/* A constant stays, also where some of it is missing; along a circle so does the sum. */
static void smoothing_keeps_what_it_has_to(void **state)
{
  const wx_map_shape circle = {1, 64, true};
  double row[64] = {0}, map[CELLS], sum = 0;

  for (int wraps = 0; wraps < 2; wraps++) {
    for (int i = 0; i < CELLS; i++) {
      map[i] = wraps && i % 5 == 0 ? NAN : 3;
    }
    assert_ok(wx_map_smooth(&(wx_map_shape){LAT, LON, wraps}, 2.5, map));
    for (int i = 0; i < CELLS; i++) {
      assert_near(map[i], 3, 1e-14);
    }
  }
  row[62] = 1;
  assert_ok(wx_map_smooth(&circle, 2, row));
  for (int i = 0; i < 64; i++) {
    sum += row[i];
  }
  assert_near(sum, 1, 1e-12);
  assert_near(row[1] / row[62], exp(-9.0 / 8), 1e-12); /* 3 cells on, over the seam */
  assert_true(row[7] == 0 && row[6] > 0);              /* 4 sigma, as SciPy cuts it */
}

/* A peak becomes the product of two Gaussians. */
static void a_peak_becomes_a_gaussian(void **state)
{
  double map[CELLS] = {0}, norm = 0;

  map[4 * LON] = 1;
  assert_ok(wx_map_smooth(&(wx_map_shape){LAT, LON, true}, 1, map));
  for (int k = -4; k <= 4; k++) {
    norm += exp(-0.5 * k * k);
  }
  for (int c = 0; c < CELLS; c++) {
    const int j = c / LON - 4, i = (c % LON + 6) % LON - 6;
    const double expected = abs(i) > 4 ? 0 : exp(-0.5 * (i * i + j * j)) / (norm * norm);

    assert_near(map[c], expected, 1e-15);
  }
}

static void nothing_happens_without_width(void **state)
{
  double map[CELLS], same[CELLS];

  for (int i = 0; i < CELLS; i++) {
    map[i] = i % 7 == 0 ? NAN : sin(i);
  }
  memcpy(same, map, sizeof map);
  assert_ok(wx_map_smooth(&(wx_map_shape){LAT, LON, true}, 0, map));
  assert_memory_equal(map, same, sizeof map);
  for (int i = 0; i < CELLS; i++) {
    map[i] = NAN;
  }
  assert_ok(wx_map_smooth(&(wx_map_shape){LAT, LON, false}, 1, map));
  assert_true(isnan(map[0]) && isnan(map[CELLS - 1]));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(smoothing_keeps_what_it_has_to),
      cmocka_unit_test(a_peak_becomes_a_gaussian),
      cmocka_unit_test(nothing_happens_without_width),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
