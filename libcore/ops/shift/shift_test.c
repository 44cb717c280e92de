/* shift_test.c - border rules of shift, and refusals. */
#include "ops/shift/weir_shift.h"
#include "support/ops/ops_check.h"

static void shape_stays_and_index_moves(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 3, -1);
  const weir_value y = weir_shift(g, x, 1, 5);

  assert_shape(g, y, WEIR_F32, 3, -1);
  assert_int_equal(access_of(g, y)->in[0].index[1].offset, -5);
  assert_int_equal(access_of(g, y)->in[0].index[1].border, WEIR_BORDER_ZERO);
  weir_graph_destroy(&g);
}

static void impossible_borders_are_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 3, -1);
  const weir_shift_spec wrap = {.dim = 1, .by = 1, .border = WEIR_BORDER_WRAP};
  assert_refused(g, weir_shift_with(g, x, &wrap), "shift: dimension 1 is time");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 3);
  const weir_shift_spec absent = {.by = 1, .border = WEIR_BORDER_ABSENT};
  assert_refused(g, weir_shift_with(g, x, &absent), "shift: border rule 1 gives no value");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 3);
  assert_refused(g, weir_shift(g, x, 1, 1), "shift: dimension 1 of an array of rank 1");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shape_stays_and_index_moves),
      cmocka_unit_test(impossible_borders_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
