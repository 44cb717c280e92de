/* gather_test.c - the index's shape replaces a dimension, and refusals. */
#include "ops/gather/weir_gather.h"
#include "support/ops/ops_check.h"

static const weir_gather_spec along1 = {.dim = 1};

static void index_shape_replaces_the_dimension(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 7, -1);
  const weir_value i = GIVEN(g, "i", WEIR_I32, 3, 4);
  const weir_value y = weir_gather(g, x, i, &along1);

  assert_shape(g, y, WEIR_F32, 2, 3, 4, -1);
  assert_int_equal(access_of(g, y)->in[0].index[1].gather_hi, 7);
  weir_graph_destroy(&g);
}

static void impossible_gathers_are_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 2, 7);
  weir_value i = GIVEN(g, "i", WEIR_F32, 3);
  assert_refused(g, weir_gather(g, x, i, &along1), "gather: the index is f32");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_C128, 2, 7);
  i = GIVEN(g, "i", WEIR_C64, 3);
  assert_refused(g, weir_gather(g, x, i, &along1),
                 "gather: the index is c64: it must be an integer");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 2, 7);
  i = GIVEN(g, "i", WEIR_I64, 3);
  const weir_gather_spec wide = {.dim = 1, .lo = -1, .hi = 7};
  assert_refused(g, weir_gather(g, x, i, &wide), "range [-1, 7) leaves dimension 1 of extent 7");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 2, -1);
  i = GIVEN(g, "i", WEIR_I64, 3);
  assert_refused(g, weir_gather(g, x, i, &along1), "gather: dimension 1 is time");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 2, 0);
  i = GIVEN(g, "i", WEIR_I64, 3);
  assert_refused(g, weir_gather(g, x, i, &along1), "range [0, 0) is empty");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(index_shape_replaces_the_dimension),
      cmocka_unit_test(impossible_gathers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
