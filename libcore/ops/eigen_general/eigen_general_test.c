/* eigen_general_test.c - a rotation, what is not finite, refusals. */
#include "ops/eigen_general/weir_eigen_general.h"
#include "support/exec/library_check.h"

/* A turn by 90 degrees has i and -i; a matrix with an infinity has nothing. */
static void a_rotation_has_imaginary_values(void **state)
{
  for (int kernel = 0; kernel < 2; kernel++) {
    static library_run r;

    memset(&r, 0, sizeof r);
    r.g = new_graph();
    library_output(&r, weir_eigen_general(r.g, LIBRARY_INPUT(&r, WEIR_F64, 2, 2, 2), NULL));
    memcpy(r.memory[0], (const double[]){0, -1, 1, 0, 1, INFINITY, 0, 1}, 8 * sizeof(double));
    (void)library_execute(&r, kernel ? "auto" : "none", 2);
    const double *value = r.memory[2];

    assert_near(value[0], 0, 1e-15);
    assert_near(value[2], 0, 1e-15);
    assert_near(fabs(value[1]), 1, 1e-15);
    assert_near(value[1] + value[3], 0, 1e-15);
    for (int k = 4; k < 8; k++) {
      assert_true(isnan(value[k]));
    }
    weir_graph_destroy(&r.g);
  }
}

static void wrong_shapes_are_refused(void **state)
{
  weir_graph *g = new_graph();

  assert_shape(g, weir_eigen_general(g, GIVEN(g, "a", WEIR_F32, 3, 3), NULL), WEIR_C64, 3);
  assert_refused(g, weir_eigen_general(g, GIVEN(g, "b", WEIR_F64, 4, 3), NULL),
                 "matrices of 4 x 3");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rotation_has_imaginary_values),
      cmocka_unit_test(wrong_shapes_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
