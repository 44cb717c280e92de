/* broadcast_test.c - repeated dimensions do not appear, and refusals. */
#include "ops/broadcast/weir_broadcast.h"
#include "support/ops/ops_check.h"

static void repeated_dimensions_do_not_appear(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_I16, 1, -1);
  const weir_broadcast_spec s = {.rank = 3, .shape = {4, 3, WEIR_UNBOUNDED}, .time = 3};
  const weir_value y = weir_broadcast(g, x, &s);

  assert_shape(g, y, WEIR_I16, 4, 3, -1);
  const weir_operand *o = &access_of(g, y)->in[0];

  assert_int_equal(o->index[0].coef[0] + o->index[0].coef[1] + o->index[0].coef[2], 0);
  assert_int_equal(o->index[1].coef[2], 1);
  weir_graph_destroy(&g);
}

static void other_extents_are_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_I16, 2);
  const weir_broadcast_spec three = {.rank = 1, .shape = {3}}, none = {.rank = 0};
  assert_refused(g, weir_broadcast(g, x, &three), "dimension 0 of operand 1 has extent 2");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_I16, 2);
  assert_refused(g, weir_broadcast(g, x, &none), "broadcast: to rank 0 from rank 1");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_I16, 2);
  const weir_broadcast_spec one = {.rank = 1, .shape = {1}};
  assert_refused(g, weir_broadcast(g, x, &one), "extent 2 of dimension 0 cannot be broadcast to 1");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(repeated_dimensions_do_not_appear),
      cmocka_unit_test(other_extents_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
