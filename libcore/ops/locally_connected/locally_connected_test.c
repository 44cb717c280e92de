/* locally_connected_test.c - the weights that a position needs, and refusals. */
#include "ops/locally_connected/weir_locally_connected.h"
#include "support/ops/ops_check.h"

static void a_position_needs_its_own_weights(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 9, 8, 4);
  const weir_value w = GIVEN(g, "w", WEIR_F32, 4, 8, 3, 3, 2, 6);
  const weir_conv_spec s = {
      .stride = {2, 1}, .pad_before = {0, 1}, .pad_after = {0, 1}, .groups = 2};
  const weir_value y = weir_locally_connected(g, &s, x, w);
  const weir_access *a = access_of(g, y);
  weir_box box = weir_iterations(a);

  assert_shape(g, y, WEIR_F32, 2, 4, 8, 6);
  box.lo[1] = 2; /* o1 */
  box.hi[1] = 3;
  box.lo[2] = 5; /* o2 */
  box.hi[2] = 7;
  box.lo[3] = 1; /* group */
  box.hi[3] = 2;
  const weir_region in = weir_needed(a, 0, &box), r = weir_needed(a, 1, &box);

  assert_true(in.interval[1][0].lo == 4 && in.interval[1][0].hi == 7);
  assert_true(in.interval[2][0].lo == 4 && in.interval[2][0].hi == 8);
  assert_true(in.interval[3][0].lo == 2 && in.interval[3][0].hi == 4);
  assert_true(r.interval[0][0].lo == 2 && r.interval[0][0].hi == 3);
  assert_true(r.interval[1][0].lo == 5 && r.interval[1][0].hi == 7);
  assert_true(r.interval[2][0].lo == 0 && r.interval[2][0].hi == 3);
  assert_true(r.interval[5][0].lo == 3 && r.interval[5][0].hi == 6);
  weir_graph_destroy(&g);
}

static void wrong_weights_are_refused(void **state)
{
  const weir_conv_spec s = {.groups = 0};
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 2, 9, 4), w = GIVEN(g, "w", WEIR_F32, 3, 4, 6);

  assert_refused(g, weir_locally_connected(g, &s, x, w), "local: ranks 3 and 3");
  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 2, 9, 4);
  w = GIVEN(g, "w", WEIR_F32, 9, 3, 4, 6);
  assert_refused(g, weir_locally_connected(g, &s, x, w),
                 "weights for 9 positions, the output has 7");
  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 2, 9, 4);
  w = GIVEN(g, "w", WEIR_F32, 7, 3, 3, 6);
  assert_refused(g, weir_locally_connected(g, &s, x, w), "at each position: conv: 4 channels in");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_position_needs_its_own_weights),
      cmocka_unit_test(wrong_weights_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
