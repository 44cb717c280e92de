/* reduce_test.c - shapes and dtypes of each monoid, and refusals. */
#include "ops/reduce/weir_reduce.h"
#include "ops/ops_check.h"

static void outputs_follow_monoid_and_accumulator(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 4, 5, 6);
  const weir_value n = GIVEN(g, "n", WEIR_U8, 4, -1);

  assert_shape(g, weir_sum(g, x, 1), WEIR_F32, 4, 6);
  assert_shape(g, weir_sum(g, n, 0), WEIR_I64, -1);
  assert_shape(g, weir_max_over(g, n, 0), WEIR_U8, -1);
  const weir_value a = weir_argmax(g, x, 2);

  assert_shape(g, a, WEIR_F32, 4, 5);
  assert_shape(g, ((weir_value){a.node, 1}), WEIR_I64, 4, 5);
  const weir_reduce_spec s = {.combine = WEIR_COMBINE_MOMENTS,
                              .n_dims = 2,
                              .dim = {0, 2},
                              .keep = true,
                              .accumulator = 1 + WEIR_F64};
  const weir_value m = weir_reduce(g, &s, x);

  assert_shape(g, ((weir_value){m.node, 2}), WEIR_F64, 1, 5, 1);
  assert_int_equal(weir_value_desc(g, weir_sum(g, x, -1))->rank, 0);
  weir_graph_destroy(&g);
}

static void what_cannot_be_reduced_is_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 4, -1);
  assert_refused(g, weir_sum(g, x, 1), "reduce: dimension 1 is time");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  assert_refused(g, weir_sum(g, x, 1), "reduce: dimension 1 of an array of rank 1");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4, 4);
  assert_refused(g,
                 weir_reduce(g, &((weir_reduce_spec){.combine = WEIR_COMBINE_SUM, .n_dims = 2}), x),
                 "reduce: dimension 0 is named twice");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_I32, 4);
  assert_refused(g, weir_moments(g, x, 0), "moments of i32 in i32 is not defined");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  assert_refused(g, weir_reduce_dim_at(g, WEIR_COMBINE_NONE, x, 0, WEIR_WHERE), "does not reduce");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  const weir_reduce_spec first = {.combine = WEIR_COMBINE_FIRST};
  assert_refused(g, weir_reduce_present(g, &first, x, x), "the presence is f32, not bool");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  const weir_value p = GIVEN(g, "p", WEIR_BOOL, 2, 4);
  assert_refused(g, weir_reduce_present(g, &first, x, p), "the presence does not broadcast");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_follow_monoid_and_accumulator),
      cmocka_unit_test(what_cannot_be_reduced_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
