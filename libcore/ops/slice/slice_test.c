/* slice_test.c - extents as numpy counts them, and refusals on time. */
#include "ops/slice/weir_slice.h"
#include "support/ops/ops_check.h"

static void extents_follow_numpy(void **state)
{
  static const struct {
    int64_t start, stop, step, count, first;
  } rows[] = {
      {0, WEIR_SLICE_END, 1, 10, 0},  {2, 9, 3, 3, 2},    {-3, WEIR_SLICE_END, 0, 3, 7},
      {9, WEIR_SLICE_END, -2, 5, 9},  {-1, 2, -3, 3, 9},  {5, 5, 1, 0, 5},
      {20, WEIR_SLICE_END, 1, 0, 10}, {8, -20, -1, 9, 8},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    weir_graph *g = new_graph();
    const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 10);
    const weir_value y = weir_slice(g, x, 1, rows[i].start, rows[i].stop, rows[i].step);

    assert_shape(g, y, WEIR_F32, 2, rows[i].count);
    assert_int_equal(access_of(g, y)->in[0].index[1].offset, rows[i].first);
    weir_graph_destroy(&g);
  }
}

static void time_has_no_end_to_slice_from(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, -1);

  assert_shape(g, weir_slice(g, x, 0, 3, WEIR_SLICE_END, 2), WEIR_F32, -1);
  assert_refused(g, weir_slice(g, x, 0, -3, WEIR_SLICE_END, 1), "start -3 must not be negative");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, -1);
  assert_refused(g, weir_slice(g, x, 0, 0, 5, 1), "stop WEIR_SLICE_END");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(extents_follow_numpy),
      cmocka_unit_test(time_has_no_end_to_slice_from),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
