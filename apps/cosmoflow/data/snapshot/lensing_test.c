/* lensing_test.c - a universe whose distances are in closed form. */
#include "data/snapshot/lensing.h"
#include <math.h>
#include "base/weir_check.h"

/* kappa = 3/2 Om (H0/c)^2 D_l D_ls / D_s (1 + z) L, in an Einstein-de Sitter universe, where
 * distances are 2 c / H0 (1 - (1 + z)^-1/2). */
static void lensing_of_einstein_de_sitter_is_in_closed_form(void **state)
{
  const double c = 2997.92458, lens = 2 * c * (1 - 1 / sqrt(1.5)), far = 2 * c * (1 - 1 / sqrt(3));

  (void)state;
  assert_near(cf_lensing_factor(1, 0.5, 2, 100) /
                  (1.5 / c / c * lens * (far - lens) / far * 1.5 * 100),
              1, 1e-9);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lensing_of_einstein_de_sitter_is_in_closed_form),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
