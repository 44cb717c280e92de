/* resample_test.c - extents, phases on time, and refusals. */
#include "ops/resample/weir_resample.h"
#include "support/ops/ops_check.h"

static void extents_follow_the_factor(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 10), t = GIVEN(g, "t", WEIR_F32, -1);
  const weir_value h = GIVEN(g, "h", WEIR_F32, 8, 3), f = GIVEN(g, "f", WEIR_F32, 5);
  weir_resample_spec s = {.method = WEIR_RESAMPLE_FIR, .dim = 1, .up = 3, .down = 2, .delay = 12};

  assert_shape(g, weir_resample_fir(g, &s, x, h), WEIR_F32, 2, 15);
  assert_shape(g, weir_fir(g, t, f, 0), WEIR_F32, -1);
  s.method = WEIR_RESAMPLE_HOLD;
  assert_shape(g, weir_resample(g, &s, x), WEIR_F32, 2, 15);
  s = (weir_resample_spec){.method = WEIR_RESAMPLE_LINEAR, .up = 4};
  const weir_value y = weir_resample(g, &s, t);
  weir_box box = weir_iterations(access_of(g, y));

  assert_shape(g, y, WEIR_F32, -1);
  box.lo[0] = 8;
  box.hi[0] = 17;
  const weir_region r = weir_needed(access_of(g, y), 1, &box);

  assert_int_equal(r.interval[0][0].lo, 3);
  assert_int_equal(r.interval[0][0].hi, 6);
  s = (weir_resample_spec){.method = WEIR_RESAMPLE_RESIZE_LINEAR, .dim = 1, .length = 7};
  assert_shape(g, weir_resample(g, &s, x), WEIR_F32, 2, 7);
  weir_graph_destroy(&g);
}

static void impossible_resampling_is_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_I16, 8);
  weir_resample_spec s = {.method = WEIR_RESAMPLE_LINEAR};
  assert_refused(g, weir_resample(g, &s, x), "resample: linear and fir take floats, not i16");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, -1);
  s.method = WEIR_RESAMPLE_RESIZE;
  assert_refused(g, weir_resample(g, &s, x), "resample: dimension 0 is time");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 8);
  s = (weir_resample_spec){.method = WEIR_RESAMPLE_FIR, .up = 3};
  const weir_value h = GIVEN(g, "h", WEIR_F32, 8);
  assert_refused(g, weir_resample_fir(g, &s, x, h), "resample: taps are [n, 3], not of rank 1");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 8);
  s = (weir_resample_spec){.down = -2};
  assert_refused(g, weir_resample(g, &s, x), "resample: up 0, down -2");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(extents_follow_the_factor),
      cmocka_unit_test(impossible_resampling_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
