/* simplify_test.c - what the steps remove, and what they must leave. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/random/weir_random_op.h"
#include "ops/shift/weir_shift.h"
#include "ops/transpose/weir_transpose.h"
#include "pass/weir_pass.h"

extern const weir_pass weir_pass_simplify;

static const weir_array_desc plane = {.dtype = WEIR_F32, .rank = 2, .shape = {3, 5}};

static weir_graph *new_graph(weir_value *x)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  *x = weir_input(g, "x", &plane);
  return g;
}

/* Runs the pass; returns the number of operators left. */
static int simplified(weir_graph *g)
{
  const weir_pass_opts opts = {.cache_bytes = 0};
  int n = 0;

  assert_ok(weir_graph_status(g));
  assert_ok(weir_pass_simplify.run(g, &opts));
  assert_ok(weir_graph_validate(g));
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    n += weir_graph_node(g, i)->op != NULL && !weir_graph_node(g, i)->dead;
  }
  return n;
}

static void what_changes_nothing_goes(void **state)
{
  weir_value x;
  weir_graph *g = new_graph(&x);
  const weir_value y = weir_scale(g, weir_add_scalar(g, weir_exp(g, x), -0.0), 1);

  weir_output(g, "y", weir_tanh(g, weir_cast(g, WEIR_F32, weir_neg(g, weir_neg(g, y)))));
  assert_int_equal(simplified(g), 2 + 2); /* neg of neg spans two nodes: left to lowering */
  weir_graph_destroy(&g);
}

/* Two casts that meet in one body: the access is built by hand, as fusing would. */
static void a_cast_there_and_back_goes(void **state)
{
  static const struct {
    weir_dtype from, wide;
    int left; /* operators */
  } cases[] = {{WEIR_BF16, WEIR_F32, 1}, {WEIR_BF16, WEIR_F64, 1}, {WEIR_F32, WEIR_F64, 1},
               {WEIR_F32, WEIR_BF16, 2}, {WEIR_F16, WEIR_F32, 1},  {WEIR_BF16, WEIR_F16, 2},
               {WEIR_F64, WEIR_F32, 2},  {WEIR_I32, WEIR_F32, 2}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_graph *g;

    assert_ok(weir_graph_create(&g));
    const weir_array_desc d = {.dtype = cases[i].from, .rank = 1, .shape = {5}};
    const weir_value y = weir_cast(g, cases[i].from, weir_input(g, "x", &d));
    weir_access *a = &weir_graph_node_mut(g, y.node)->access;
    const int32_t wide = weir_body_cast(&a->body, cases[i].wide, 0);

    a->value[0] = weir_body_cast(&a->body, cases[i].from, wide);
    weir_output(g, "y", weir_neg(g, y));
    assert_int_equal(simplified(g), cases[i].left);
    weir_graph_destroy(&g);
  }
}

static void adding_zero_stays(void **state)
{
  weir_value x;
  weir_graph *g = new_graph(&x);

  weir_output(g, "y", weir_exp(g, weir_add_scalar(g, x, 0))); /* -0 + 0 is 0 */
  assert_int_equal(simplified(g), 2);
  weir_graph_destroy(&g);
}

static void the_same_is_computed_once(void **state)
{
  weir_value x;
  weir_graph *g = new_graph(&x);
  const weir_value a = weir_tanh(g, weir_shift(g, x, 1, 2)),
                   b = weir_tanh(g, weir_shift(g, x, 1, 2));
  const weir_value c = weir_tanh(g, weir_shift(g, x, 1, 3));

  weir_output(g, "y", weir_add(g, weir_mul(g, a, b), c));
  assert_int_equal(simplified(g), 2 + 2 + 2);
  weir_graph_destroy(&g);
}

static void random_bits_are_never_shared(void **state)
{
  weir_value x;
  weir_graph *g = new_graph(&x);
  const weir_random_spec s = {.dtype = WEIR_F32, .rank = 2, .shape = {3, 5}};
  const weir_value seed = weir_scalar(g, WEIR_I64, 7), step = weir_scalar(g, WEIR_I64, 0);

  weir_output(g, "y", weir_sub(g, weir_random(g, &s, seed, step), weir_random(g, &s, seed, step)));
  assert_int_equal(simplified(g), 3);
  weir_graph_destroy(&g);
}

static void constants_are_computed_now(void **state)
{
  weir_value x;
  weir_graph *g = new_graph(&x);
  float data[5] = {0.5f, -1, 2, 0, 3};
  const weir_tensor t = weir_tensor_wrap(data, WEIR_F32, 1, (int64_t[]){5});
  const weir_value w = weir_shift(g, weir_exp(g, weir_constant(g, &t)), 0, 1);

  weir_output(g, "y", weir_mul(g, x, w));
  assert_int_equal(simplified(g), 1);
  const weir_array *a = weir_graph_get_array(g, weir_value_array(g, w));

  assert_int_equal(a->kind, WEIR_ARRAY_CONSTANT);
  assert_near(((const float *)a->constant.data)[0], 0, 0);
  assert_near(((const float *)a->constant.data)[1], exp(0.5), 1e-6);
  assert_near(((const float *)a->constant.data)[4], 1, 1e-6);
  weir_graph_destroy(&g);
}

static void transposing_twice_is_nothing(void **state)
{
  weir_value x;
  weir_graph *g = new_graph(&x);
  const weir_transpose_spec swap = {.order = {1, 0}};

  weir_output(g, "y", weir_exp(g, weir_transpose(g, weir_transpose(g, x, &swap), &swap)));
  assert_int_equal(simplified(g), 1);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_changes_nothing_goes),    cmocka_unit_test(adding_zero_stays),
      cmocka_unit_test(a_cast_there_and_back_goes),   cmocka_unit_test(the_same_is_computed_once),
      cmocka_unit_test(random_bits_are_never_shared), cmocka_unit_test(constants_are_computed_now),
      cmocka_unit_test(transposing_twice_is_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
