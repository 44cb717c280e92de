/* inverse_test.c - inverses by hand, what has none, refusals. */
#include "ops/inverse/weir_inverse.h"
#include "support/exec/library_check.h"

static void inverses_by_hand(void **state)
{
  for (int kernel = 0; kernel < 2; kernel++) {
    static library_run r;

    memset(&r, 0, sizeof r);
    r.g = new_graph();
    library_output(&r, weir_inverse(r.g, LIBRARY_INPUT(&r, WEIR_C128, 2, 2, 2)));
    /* [i 1; 0 2] has -i, i/2; 0, 1/2; the other one is singular. */
    memcpy(r.memory[0], (const double[]){0, 1, 1, 0, 0, 0, 2, 0, 1, 0, 1, 0, 1, 0, 1, 0},
           16 * sizeof(double));
    (void)library_execute(&r, kernel ? "auto" : "none", 2);
    const double expected[] = {0, -1, 0, 0.5, 0, 0, 0.5, 0};

    for (int k = 0; k < 8; k++) {
      assert_near(r.memory[2][k], expected[k], 1e-15);
      assert_true(isnan(r.memory[2][8 + k]));
    }
    weir_graph_destroy(&r.g);
  }
}

static void wrong_shapes_are_refused(void **state)
{
  weir_graph *g = new_graph();

  assert_refused(g, weir_inverse(g, GIVEN(g, "a", WEIR_F64, 3, 2)), "matrices of 3 x 2");
  g = new_graph();
  assert_refused(g, weir_inverse(g, GIVEN(g, "a", WEIR_BF16, 3, 3)), "arrays of bf16");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inverses_by_hand),
      cmocka_unit_test(wrong_shapes_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
