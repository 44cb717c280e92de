/* pad_test.c - extents grow on both sides, and refusals. */
#include "ops/pad/weir_pad.h"
#include "support/ops/ops_check.h"

static void extents_grow_on_both_sides(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 4, -1);
  const weir_pad_spec s = {.before = {2}, .after = {1}, .border = WEIR_BORDER_REFLECT};

  assert_shape(g, weir_pad(g, x, &s), WEIR_F32, 7, -1);
  weir_graph_destroy(&g);
}

static void impossible_padding_is_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 4, -1);
  const weir_pad_spec time = {.before = {0, 2}};
  assert_refused(g, weir_pad(g, x, &time), "pad: dimension 1 is time");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  const weir_pad_spec negative = {.before = {-1}};
  assert_refused(g, weir_pad(g, x, &negative), "pad: -1 before and 0 after in dimension 0");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 0);
  const weir_pad_spec empty = {.before = {1}, .border = WEIR_BORDER_WRAP};
  assert_refused(g, weir_pad(g, x, &empty), "pad: dimension 0 is empty");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  const weir_pad_spec absent = {.border = WEIR_BORDER_ABSENT};
  assert_refused(g, weir_pad(g, x, &absent), "gives no value outside");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(extents_grow_on_both_sides),
      cmocka_unit_test(impossible_padding_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
