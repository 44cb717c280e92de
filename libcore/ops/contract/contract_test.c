/* contract_test.c - labels become dimensions, and refusals. */
#include "ops/contract/weir_contract.h"
#include "support/ops/ops_check.h"

static void labels_become_dimensions(void **state)
{
  weir_graph *g = new_graph();
  const weir_value a = GIVEN(g, "a", WEIR_F32, 2, 3), b = GIVEN(g, "b", WEIR_F32, 3, -1);
  const weir_value n = GIVEN(g, "n", WEIR_I8, 3, 3);
  const weir_value y = weir_contract(g, "ik,kt->ti", a, b);

  assert_shape(g, y, WEIR_F32, -1, 2);
  assert_int_equal(access_of(g, y)->dim[2].kind, WEIR_REDUCED);
  const weir_contract_spec trace = {.labels = "ii->"};

  assert_int_equal(weir_value_desc(g, weir_contract_n(g, &trace, &n, 1))->dtype, WEIR_I64);
  weir_graph_destroy(&g);
}

static weir_value of(weir_graph **g, const char *labels)
{
  *g = new_graph();
  const weir_value a = GIVEN(*g, "a", WEIR_F32, 2, 3), b = GIVEN(*g, "b", WEIR_F32, 3, -1);

  return weir_contract(*g, labels, a, b);
}

static void wrong_labels_are_refused(void **state)
{
  static const struct {
    const char *labels, *text;
  } rows[] = {
      {"ik,kt", "labels without \"->\""},
      {"ik,kt,t->i", "takes 3 inputs, not 2"},
      {"ik,it->kt", "label 'i' has extent 3 in operand 1, 2 before"},
      {"ik,kt->i", "label 't' is time, which cannot be summed over"},
      {"ik,kt->iit", "label 'i' is twice in the output"},
      {"ik,kt->itx", "no operand has the output's label 'x'"},
      {"i,kt->it", "operand 0 has rank 2, not 1"},
      {"i k,kt->it", "' ' is not a label"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    weir_graph *g;
    const weir_value v = of(&g, rows[i].labels);

    assert_refused(g, v, rows[i].text);
  }
}

static void conjugates_are_of_complex_operands(void **state)
{
  const weir_contract_spec both = {.labels = "ik,kj->ij", .conjugate = 3};
  const weir_contract_spec third = {.labels = "ik,kj->ij", .conjugate = 4};
  weir_graph *g = new_graph();
  weir_value z[] = {GIVEN(g, "a", WEIR_C64, 2, 3), GIVEN(g, "b", WEIR_C64, 3, 4)};
  const weir_value x[] = {GIVEN(g, "x", WEIR_F64, 2, 3), GIVEN(g, "y", WEIR_F64, 3, 4)};

  assert_shape(g, weir_contract_n(g, &both, z, 2), WEIR_C64, 2, 4);
  assert_refused(g, weir_contract_n(g, &both, x, 2),
                 "conjugate mask 0x3 does not fit 2 operands of f64");
  g = new_graph();
  z[0] = GIVEN(g, "a", WEIR_C64, 2, 3);
  z[1] = GIVEN(g, "b", WEIR_C64, 3, 4);
  assert_refused(g, weir_contract_n(g, &third, z, 2),
                 "conjugate mask 0x4 does not fit 2 operands of c64");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(conjugates_are_of_complex_operands),
      cmocka_unit_test(labels_become_dimensions),
      cmocka_unit_test(wrong_labels_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
