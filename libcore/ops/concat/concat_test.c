/* concat_test.c - inputs write disjoint boxes that cover the whole, and refusals. */
#include "ops/concat/weir_concat.h"
#include "support/ops/ops_check.h"

static void inputs_cover_the_whole(void **state)
{
  weir_graph *g = new_graph();
  const weir_value input[] = {GIVEN(g, "a", WEIR_F32, 2, -1), GIVEN(g, "b", WEIR_F32, 0, -1),
                              GIVEN(g, "c", WEIR_F32, 3, -1)};
  const weir_value y = weir_concat(g, input, 3, 0);

  assert_shape(g, y, WEIR_F32, 5, -1);
  const weir_access *last = access_of(g, y);
  const weir_box box = weir_iterations(last);
  const weir_region r = weir_written(last, 0, &box);

  assert_int_equal(r.interval[0][0].lo, 2);
  assert_int_equal(r.interval[0][0].hi, 5);
  weir_output(g, "y", y);
  assert_ok(weir_graph_validate(g));
  weir_graph_destroy(&g);
}

static void inputs_that_do_not_fit_are_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value input[] = {GIVEN(g, "a", WEIR_F32, 2, 4), GIVEN(g, "b", WEIR_F32, 2, 3)};
  assert_refused(g, weir_concat(g, input, 2, 0), "concat: input 1 differs from input 0");

  g = new_graph();
  input[0] = GIVEN(g, "a", WEIR_F32, -1);
  assert_refused(g, weir_concat(g, input, 1, 0), "concat: dimension 0 is time");

  g = new_graph();
  assert_refused(g, weir_concat(g, input, 0, 0), "concat: there are no inputs");

  g = new_graph();
  input[0] = GIVEN(g, "a", WEIR_F32, 4);
  const weir_concat_spec beyond = {.offset = 3, .extent = 6};
  assert_refused(g, weir_graph_add(g, &weir_op_concat, &beyond, input, 1, WEIR_WHERE),
                 "concat: [3, 7) of dimension 0 is outside 6");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inputs_cover_the_whole),
      cmocka_unit_test(inputs_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
