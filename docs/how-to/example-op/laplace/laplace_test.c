/* laplace_test.c - needed elements of the input, and error cases. */
#include "ops/laplace/weir_laplace.h"
#include "support/ops/ops_check.h"

static void three_elements_are_needed(void **state)
{
  weir_graph *g = new_graph();
  const weir_laplace_spec s = {.dim = 0};
  const weir_value y = weir_laplace(g, GIVEN(g, "x", WEIR_F32, -1), &s);
  weir_box box = weir_iterations(access_of(g, y));

  assert_shape(g, y, WEIR_F32, -1);
  box.lo[0] = 10;
  box.hi[0] = 20;
  const weir_region r = weir_needed(access_of(g, y), 0, &box);

  assert_int_equal(r.interval[0][0].lo, 9);
  assert_int_equal(r.interval[0][0].hi, 21);
  weir_graph_destroy(&g);
}

static void integers_are_refused(void **state)
{
  weir_graph *g = new_graph();
  const weir_laplace_spec s = {.dim = 0};

  assert_refused(g, weir_laplace(g, GIVEN(g, "x", WEIR_I32, 4), &s),
                 "laplace: takes floats, not i32");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_elements_are_needed),
      cmocka_unit_test(integers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
