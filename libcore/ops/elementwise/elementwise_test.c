/* elementwise_test.c - shapes by numpy's rule, and refusals that name what is wrong. */
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"

static void operands_broadcast_from_the_end(void **state)
{
  weir_graph *g = new_graph();
  const weir_value a = GIVEN(g, "a", WEIR_F32, 4, 1, 3);
  const weir_value b = GIVEN(g, "b", WEIR_F32, 5, 1);
  const weir_value y = weir_add(g, a, b);

  assert_shape(g, y, WEIR_F32, 4, 5, 3);
  assert_shape(g, weir_lt(g, a, b), WEIR_BOOL, 4, 5, 3);
  const weir_access *x = access_of(g, y);

  assert_int_equal(x->in[0].index[1].coef[1], 0); /* repeated: does not appear */
  assert_int_equal(x->in[1].index[0].coef[1], 1);
  assert_int_equal(x->in[1].index[1].coef[2], 0);
  weir_graph_destroy(&g);
}

static void time_stays_time(void **state)
{
  weir_graph *g = new_graph();
  const weir_value t = GIVEN(g, "t", WEIR_F64, 2, -1);
  const weir_value c = GIVEN(g, "c", WEIR_F64, 2, 1);
  const weir_value y = weir_mul(g, t, c);

  assert_shape(g, y, WEIR_F64, 2, -1);
  assert_true(access_of(g, y)->dim[1].time);
  assert_shape(g, weir_cast(g, WEIR_I16, weir_scale(g, t, 2.5)), WEIR_I16, 2, -1);
  weir_graph_destroy(&g);
}

static void what_does_not_fit_is_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value a = GIVEN(g, "a", WEIR_F32, 4);
  weir_value b = GIVEN(g, "b", WEIR_F64, 4);
  assert_refused(g, weir_add(g, a, b), "add: operand 0 is f32, operand 1 is f64");

  g = new_graph();
  a = GIVEN(g, "a", WEIR_F32, 4, 3);
  b = GIVEN(g, "b", WEIR_F32, 4);
  assert_refused(g, weir_sub(g, a, b), "sub: dimension 0 of operand 1 has extent 4");

  g = new_graph();
  a = GIVEN(g, "a", WEIR_I32, 4);
  assert_refused(g, weir_sqrt(g, a), "sqrt: it is undefined for i32");

  g = new_graph();
  a = GIVEN(g, "a", WEIR_I32, 4);
  assert_refused(g, weir_scale(g, a, 2.5), "mul: the constant 2.5 is not representable as i32");

  g = new_graph();
  a = GIVEN(g, "a", WEIR_U8, 4);
  assert_refused(g, weir_add_scalar(g, a, 300), "add: the constant 300 is not representable as u8");

  g = new_graph();
  a = GIVEN(g, "a", WEIR_F32, 4);
  assert_refused(g, weir_select(g, a, a, a), "select: the condition is f32: it must be bool");

  g = new_graph();
  a = GIVEN(g, "a", WEIR_F32, 4);
  assert_refused(g, weir_unary_at(g, WEIR_CODE_LOAD, a, WEIR_WHERE),
                 "code 0 is not an elementwise function");

  g = new_graph();
  a = GIVEN(g, "a", WEIR_F32, -1, 3);
  b = GIVEN(g, "b", WEIR_F32, -1);
  assert_refused(g, weir_add(g, a, b), "add: dimension 0 of operand 1");
}

static void complex_numbers_have_parts_and_no_order(void **state)
{
  weir_graph *g = new_graph();
  weir_value z = GIVEN(g, "z", WEIR_C128, 4);
  const weir_value x = GIVEN(g, "x", WEIR_F32, 4);

  assert_shape(g, weir_abs(g, z), WEIR_F64, 4);
  assert_shape(g, weir_imag(g, weir_make(g, x, x)), WEIR_F32, 4);
  assert_shape(g, weir_conj(g, weir_scale(g, z, 0.5)), WEIR_C128, 4);
  assert_shape(g, weir_ne(g, z, z), WEIR_BOOL, 4);
  assert_shape(g, weir_cast(g, WEIR_C64, x), WEIR_C64, 4);
  assert_refused(g, weir_cast(g, WEIR_F64, z), "cast: c128 to f64 would drop the imaginary part");

  g = new_graph();
  z = GIVEN(g, "z", WEIR_C64, 4);
  assert_refused(g, weir_lt(g, z, z), "lt: it is undefined for c64");

  g = new_graph();
  z = GIVEN(g, "z", WEIR_C64, 4);
  assert_refused(g, weir_max(g, z, z), "max: it is undefined for c64");

  g = new_graph();
  z = GIVEN(g, "z", WEIR_C64, 4);
  assert_refused(g, weir_sqrt(g, z), "sqrt: it is undefined for c64");

  g = new_graph();
  z = GIVEN(g, "b", WEIR_BF16, 4);
  assert_refused(g, weir_make(g, z, z), "make: it is undefined for bf16");
}

static void the_error_names_the_line_that_built_the_node(void **state)
{
  weir_graph *g = new_graph();
  const weir_value a = GIVEN(g, "a", WEIR_I32, 4);
  const weir_value y = weir_sqrt(g, a);

  assert_refused(g, y, "elementwise_test.c:");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operands_broadcast_from_the_end),
      cmocka_unit_test(time_stays_time),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(complex_numbers_have_parts_and_no_order),
      cmocka_unit_test(the_error_names_the_line_that_built_the_node),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
