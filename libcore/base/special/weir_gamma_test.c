/* weir_gamma_test.c - the incomplete gamma functions against known distributions and SciPy. */
#include "base/special/weir_gamma.h"
#include <math.h>
#include "base/weir_check.h"

/* Shape 1 is the exponential distribution, 1/2 half the square of a normal number. */
static void gamma_probabilities_are_those_of_known_distributions(void **state)
{
  (void)state;
  for (double x = 1e-3; x < 60; x *= 1.5) {
    assert_near(weir_gamma_below(1, x).v, -expm1(-x), 1e-14);
    assert_near(weir_gamma_below(0.5, x).v, erf(sqrt(x)), 1e-14);
    assert_near(weir_gamma_below(2, x).v, 1 - (1 + x) * exp(-x), 1e-14);
  }
  for (double k = 0.01; k < 2e6; k *= 7) { /* ln Gamma of the library */
    double rest[3];

    weir_stirling_rest(k, rest);
    assert_near(rest[0] + (k - 0.5) * log(k) - k + 0.91893853320467274178, lgamma(k),
                1e-14 * fmax(10, fabs(lgamma(k))));
  }
  assert_true(weir_gamma_below(3, 0).v == 0 && weir_gamma_below(3, -1).v == 0);
  assert_true(weir_gamma_below(3, INFINITY).v == 1 && isnan(weir_gamma_below(3, NAN).v));
}

/* scipy.special.gammaincc of SciPy 1.17.1. */
static void upper_tails_are_those_of_scipy(void **state)
{
  static const struct {
    double k, x, q;
  } rows[] = {{0.5, 0.25, 0.47950012218695337},   {0.5, 30, 9.4857375710738573e-15},
              {9.5, 9, 0.52243827398626275},      {9.5, 241, 3.3196180913024221e-90},
              {49.5, 60, 0.074243855805966916},   {1000, 1001.5, 0.47689409610691708},
              {1e5, 100100, 0.37555486929559451}, {1e5, 102000, 1.650606135936284e-10}};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const double k = rows[i].k, q = weir_gamma_above(k, rows[i].x);

    assert_near(q / rows[i].q, 1, 2e-12 + 1e-15 * k);
    assert_near(q + weir_gamma_below(k, rows[i].x).v, 1, 1e-13 + 2e-16 * k);
  }
  assert_true(weir_gamma_above(3, 0) == 1 && weir_gamma_above(3, -1) == 1);
  assert_true(weir_gamma_above(3, INFINITY) == 0 && isnan(weir_gamma_above(3, NAN)));
  assert_true(isnan(weir_gamma_above(NAN, 1)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gamma_probabilities_are_those_of_known_distributions),
      cmocka_unit_test(upper_tails_are_those_of_scipy),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
