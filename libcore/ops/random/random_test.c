/* random_test.c - keys of their own, and refusals. */
#include "ops/random/weir_random_op.h"
#include "support/ops/ops_check.h"

static const weir_random_spec normal = {
    .kind = WEIR_RANDOM_NORMAL, .dtype = WEIR_F64, .rank = 1, .shape = {8}};

static void every_node_has_a_key_of_its_own(void **state)
{
  weir_graph *g = new_graph();
  const weir_value seed = weir_scalar(g, WEIR_I64, 1), step = weir_scalar(g, WEIR_I64, 2);
  const weir_value a = weir_random(g, &normal, seed, step);
  const weir_value b = weir_random(g, &normal, seed, step);

  assert_shape(g, a, WEIR_F64, 8);
  assert_int_not_equal(weir_graph_node(g, a.node)->random_id,
                       weir_graph_node(g, b.node)->random_id);
  weir_graph_destroy(&g);
}

static void wrong_keys_and_dtypes_are_refused(void **state)
{
  weir_graph *g = new_graph();
  const weir_value seed = weir_scalar(g, WEIR_I64, 1), narrow = weir_scalar(g, WEIR_I32, 2);
  assert_refused(g, weir_random(g, &normal, seed, narrow), "random: the step is i32");

  g = new_graph();
  const weir_value one = weir_scalar(g, WEIR_I64, 1);
  const weir_random_spec integer = {.dtype = WEIR_I32};
  assert_refused(g, weir_random(g, &integer, one, one), "random: dtype 5 is not a float");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_node_has_a_key_of_its_own),
      cmocka_unit_test(wrong_keys_and_dtypes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
