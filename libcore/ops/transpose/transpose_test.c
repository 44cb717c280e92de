/* transpose_test.c - dimensions move with time, and refusals. */
#include "ops/transpose/weir_transpose.h"
#include "support/ops/ops_check.h"

static void dimensions_and_time_move(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_U8, 2, -1, 5);
  const weir_transpose_spec s = {.order = {1, 2, 0}};

  assert_shape(g, weir_transpose(g, x, &s), WEIR_U8, -1, 5, 2);
  weir_graph_destroy(&g);
}

static void what_is_no_order_is_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_U8, 2, 5);
  const weir_transpose_spec twice = {.order = {1, 1}}, beyond = {.order = {0, 2}};
  assert_refused(g, weir_transpose(g, x, &twice), "dimension 1 is twice");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_U8, 2, 5);
  assert_refused(g, weir_transpose(g, x, &beyond), "dimension 2 of an array of rank 2");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dimensions_and_time_move),
      cmocka_unit_test(what_is_no_order_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
