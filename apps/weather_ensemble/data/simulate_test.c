/* simulate_test.c - the simulation against what its equations say: a perfect forecast is the truth,
 * a wrong wind displaces it, the variance is the one asked for, bits depend on the seed alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "data/simulate.h"

enum { LAT = 6, LON = 14, CELLS = LAT * LON };

/* Without errors, damping and diffusion. */
static wx_simulate_opts perfect(void)
{
  wx_simulate_opts o;

  weir_opts_default(wx_simulate_options, sizeof o, &o);
  o.samples = 40;
  o.lat = LAT;
  o.lon = LON;
  o.memory = 1e6;
  o.diffusion = 0;
  o.error.wind = o.error.analysis = o.error.noise = o.error.mountain = o.error.offset = 0;
  return o;
}

static void a_perfect_forecast_is_the_truth(void **state)
{
  const wx_simulate_opts o = perfect();
  float x[WX_SIM_X * CELLS], y[CELLS];
  wx_simulation *s = NULL;

  assert_ok(wx_simulation_create(&o, 5, &s));
  for (int64_t i = 0; i < o.samples; i++) {
    wx_simulation_x(s, i, x);
    wx_simulation_y(s, i, y);
    for (int64_t c = 0; c < CELLS; c++) { /* what is stirred in: 5 K sqrt(2 d / 1e6 d) */
      assert_true(fabs((double)x[c] - (double)y[c]) < 0.1);
    }
  }
  wx_simulation_destroy(&s);
}

/* The forecast's wind carries everything three cells too far. */
static void a_wrong_wind_displaces(void **state)
{
  const int shift = 3;
  wx_simulate_opts o = perfect();
  float x[WX_SIM_X * CELLS], y[CELLS];
  wx_simulation *s = NULL;
  double most = 0;

  o.error.wind = shift * o.length * 1e3 / LON / (o.step * 3600 * (double)o.lead);
  assert_ok(wx_simulation_create(&o, 6, &s));
  wx_simulation_x(s, 7, x);
  wx_simulation_y(s, 7, y);
  for (int64_t j = 0; j < LAT; j++) {
    for (int64_t i = 0; i < LON; i++) {
      const int64_t to = j * LON + (i + shift) % LON;

      assert_true(fabs((double)x[to] - (double)y[j * LON + i]) < 0.1);
      most = fmax(most, fabs((double)x[j * LON + i] - (double)y[j * LON + i]));
    }
  }
  assert_true(most > 1);
  wx_simulation_destroy(&s);
}

static void the_variance_is_that_of_the_options(void **state)
{
  wx_simulate_opts o = perfect();
  float y[CELLS];
  wx_simulation *s = NULL;
  double sum = 0;

  o.samples = 4000;
  o.memory = 1; /* many independent fields */
  assert_ok(wx_simulation_create(&o, 8, &s));
  for (int64_t i = 0; i < o.samples; i++) {
    wx_simulation_y(s, i, y);
    for (int64_t c = 0; c < CELLS; c++) {
      sum += (double)y[c] * (double)y[c];
    }
  }
  assert_near(sqrt(sum / (double)(o.samples * CELLS)) / o.amplitude, 1, 0.03);
  wx_simulation_destroy(&s);
}

static void the_seed_decides_the_bits(void **state)
{
  wx_simulate_opts o = perfect();
  float a[WX_SIM_X * CELLS], b[WX_SIM_X * CELLS];
  wx_simulation *s = NULL;

  o.error.noise = 1;
  for (uint64_t seed = 1; seed < 4; seed++) {
    assert_ok(wx_simulation_create(&o, seed < 3 ? 1 : 2, &s));
    wx_simulation_x(s, 9, seed == 1 ? a : b);
    wx_simulation_destroy(&s);
    assert_int_equal(seed == 1 || memcmp(a, b, sizeof a) == 0, seed < 3);
  }
}

static weir_status make(void *context)
{
  wx_simulation *s = NULL;
  const weir_status status = wx_simulation_create(context, 1, &s);

  wx_simulation_destroy(&s);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  wx_simulate_opts o = perfect();

  assert_true(weir_check_faults(make, &o) > 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_perfect_forecast_is_the_truth),
      cmocka_unit_test(a_wrong_wind_displaces),
      cmocka_unit_test(the_variance_is_that_of_the_options),
      cmocka_unit_test(the_seed_decides_the_bits),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
