/* interpolate_test.c - the elements that a box needs, and refusals. */
#include "ops/interpolate/weir_interpolate.h"
#include "support/ops/ops_check.h"

static void a_row_needs_its_neighbours(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 5, 3, 4), a = GIVEN(g, "a", WEIR_F32, 10, 3, 2);
  const weir_interpolate_spec s = {.dim = 1, .taps = 2, .pad = 1};
  const weir_value y = weir_interpolate(g, &s, x, a);

  assert_shape(g, y, WEIR_F32, 2, 10, 4);
  weir_box box = weir_iterations(access_of(g, y));

  box.lo[1] = 4; /* taps at 3, 4, 5 of 10: centres 1.25, 1.75, 2.25 of 5 */
  box.hi[1] = 5;
  const weir_region r = weir_needed(access_of(g, y), 0, &box);

  assert_int_equal(r.interval[1][0].lo, 1);
  assert_int_equal(r.interval[1][0].hi, 4);
  assert_int_equal(r.interval[2][0].hi, 3);
  weir_graph_destroy(&g);
}

static void refuse(const weir_interpolate_spec *s, weir_dtype dtype, int64_t taps, const char *text)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 5, 3, 4);
  const weir_value a = GIVEN(g, "a", dtype, 10, taps, 2);

  assert_refused(g, weir_interpolate(g, s, x, a), text);
}

static void impossible_sums_are_refused(void **state)
{
  refuse(&(weir_interpolate_spec){.dim = 1, .taps = 1}, WEIR_F32, 3, "taps come later");
  refuse(&(weir_interpolate_spec){.dim = 4, .taps = 2}, WEIR_F32, 3, "interpolate: dimension 4");
  refuse(&(weir_interpolate_spec){.dim = 1, .taps = 2}, WEIR_F64, 3, "coefficients f64");
  refuse(&(weir_interpolate_spec){.dim = 1, .taps = 2}, WEIR_F32, 4, "5 elements and 3 taps");
  refuse(&(weir_interpolate_spec){.dim = 1, .taps = 2, .border = WEIR_BORDER_REFLECT}, WEIR_F32, 3,
         "zero or wrap");
  refuse(&(weir_interpolate_spec){.dim = 1, .taps = 2, .pad = INT64_MAX}, WEIR_F32, 3, "pad 92");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_needs_its_neighbours),
      cmocka_unit_test(impossible_sums_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
