/* reshape_test.c - what stays keeps the identity map, and refusals. */
#include "ops/reshape/weir_reshape.h"
#include "support/ops/ops_check.h"

static void what_stays_keeps_the_identity(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 6, 1, -1, 4);
  const weir_reshape_spec s = {.rank = 4, .shape = {4, -1, WEIR_UNBOUNDED, 4}};
  const weir_value y = weir_reshape(g, x, &s);

  assert_shape(g, y, WEIR_F32, 4, 3, -1, 4);
  const weir_operand *o = &access_of(g, y)->in[0];

  assert_int_equal(o->index[3].coef[2], 1);
  assert_int_equal(o->index[4].coef[3], 1);
  assert_int_equal(o->index[0].div, 6);
  assert_int_equal(o->index[0].coef[0], 3);
  assert_int_equal(o->index[1].border, WEIR_BORDER_WRAP);
  weir_graph_destroy(&g);
}

static void other_volumes_are_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 6);
  const weir_reshape_spec four = {.rank = 1, .shape = {4}};
  assert_refused(g, weir_reshape(g, x, &four), "reshape: 6 elements cannot be reshaped to 4");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 6);
  const weir_reshape_spec open = {.rank = 2, .shape = {4, -1}};
  assert_refused(g, weir_reshape(g, x, &open), "reshape: 6 elements cannot be reshaped to 4");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 3, -1);
  const weir_reshape_spec moved = {.rank = 2, .shape = {WEIR_UNBOUNDED, 3}};
  assert_refused(g, weir_reshape(g, x, &moved), "time must stay a separate dimension");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 3);
  const weir_reshape_spec grown = {.rank = 2, .shape = {3, WEIR_UNBOUNDED}};
  assert_refused(g, weir_reshape(g, x, &grown), "3 elements cannot be reshaped to 3 per slot");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_stays_keeps_the_identity),
      cmocka_unit_test(other_volumes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
