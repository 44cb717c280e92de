/* eigen_hermitian_test.c - Pauli's matrix, which triangle is looked at, refusals. */
#include "ops/eigen_hermitian/weir_eigen_hermitian.h"
#include "support/exec/library_check.h"

/* [0 -i; i 0] has -1 and 1, whatever stands above its diagonal. */
static void the_lower_triangle_is_meant(void **state)
{
  for (int kernel = 0; kernel < 2; kernel++) {
    static library_run r;

    memset(&r, 0, sizeof r);
    r.g = new_graph();
    library_output(&r, weir_eigen_hermitian(r.g, LIBRARY_INPUT(&r, WEIR_C128, 2, 2), NULL));
    memcpy(r.memory[0], (const double[]){0, 9, 7, 8, 0, 1, 0, -9}, 8 * sizeof(double));
    (void)library_execute(&r, kernel ? "auto" : "none", 1);
    assert_near(r.memory[2][0], -1, 1e-15);
    assert_near(r.memory[2][1], 1, 1e-15);
    for (int k = 0; k < 4; k++) { /* |elements| of both vectors: sqrt(1/2) */
      assert_near(hypot(r.memory[3][2 * k], r.memory[3][2 * k + 1]), sqrt(0.5), 1e-15);
    }
    weir_graph_destroy(&r.g);
  }
}

static void values_alone_are_one_output(void **state)
{
  const weir_eigen_hermitian_spec alone = {.values_only = 1};
  weir_graph *g = new_graph();
  const weir_value v = weir_eigen_hermitian(g, GIVEN(g, "a", WEIR_C64, 4, 3, 3), &alone);

  assert_shape(g, v, WEIR_F32, 4, 3);
  assert_int_equal(weir_graph_node(g, v.node)->n_out, 1);
  assert_refused(g, weir_eigen_hermitian(g, GIVEN(g, "b", WEIR_F64, 4, 3), NULL),
                 "matrices of 4 x 3");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_lower_triangle_is_meant),
      cmocka_unit_test(values_alone_are_one_output),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
