/* builder_test.c - every random case of every operator is a node that the graph takes. */
#include "ops/ops_cases.h"
#include "support/ops/ops_check.h"

static void every_case_is_accepted(void **state)
{
  for (int i = 0; weir_op_table[i] != NULL; i++) {
    const weir_op_desc *op = weir_op_table[i];

    for (uint64_t seed = 0; seed < 300; seed++) {
      static weir_op_case c;
      weir_value in[WEIR_MAX_OPERANDS];
      weir_graph *g = new_graph();
      char name[16];

      weir_op_draw(op, seed, &c);
      for (int k = 0; k < c.n_in; k++) {
        snprintf(name, sizeof name, "in%d", k);
        in[k] = weir_input(g, name, &c.in[k]);
      }
      const weir_value v = weir_graph_add(g, op, c.spec.bytes, in, c.n_in, "case");

      assert_ok(weir_graph_status(g));
      weir_output(g, "y", v);
      assert_ok(weir_graph_validate(g));
      weir_graph_destroy(&g);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_case_is_accepted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
