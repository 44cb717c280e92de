/* window_test.c - extents, reach on time, and refusals. */
#include "ops/window/weir_window.h"
#include "support/ops/ops_check.h"

static void a_window_on_time_needs_its_size(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, -1);
  const weir_value y = weir_moving_sum(g, x, 1, 10);

  assert_shape(g, y, WEIR_F32, 2, -1);
  weir_box box = weir_iterations(access_of(g, y));

  box.lo[1] = 100;
  box.hi[1] = 200;
  const weir_region r = weir_needed(access_of(g, y), 0, &box);

  assert_int_equal(r.interval[1][0].lo, 91);
  assert_int_equal(r.interval[1][0].hi, 200);
  weir_graph_destroy(&g);
}

static void extents_are_rounded_up(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_I16, 10);
  const weir_window_spec s = {.combine = WEIR_COMBINE_SUM, .size = 4, .stride = 4};

  assert_shape(g, weir_window(g, &s, x), WEIR_I64, 3);
  weir_graph_destroy(&g);
}

static void impossible_windows_are_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 8);
  const weir_window_spec none = {.combine = WEIR_COMBINE_SUM};
  assert_refused(g, weir_window(g, &none, x), "window: size 0");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 8);
  const weir_window_spec back = {.combine = WEIR_COMBINE_SUM, .size = 2, .stride = -1};
  assert_refused(g, weir_window(g, &back, x), "window: stride -1");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, -1);
  const weir_window_spec wrap = {
      .combine = WEIR_COMBINE_SUM, .size = 2, .border = WEIR_BORDER_WRAP};
  assert_refused(g, weir_window(g, &wrap, x), "window: dimension 0 is time");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_BOOL, 8);
  const weir_window_spec max = {.combine = WEIR_COMBINE_MAX, .size = 2};
  assert_refused(g, weir_window(g, &max, x), "window: max of bool in bool is not defined");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_window_on_time_needs_its_size),
      cmocka_unit_test(extents_are_rounded_up),
      cmocka_unit_test(impossible_windows_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
