/* slopes_test.c - the derivatives of the CRPS that EMOS and networks are fitted with, compared with
 * those of integrals with 40 digits (slopes_known.h, written by make_slopes.py). */
#include <math.h>
#include <stdio.h>
#include "base/weir_check.h"
#include "support/weather_ensemble/slopes_known.h"

/* In units of the scale, so that all are of order 1. */
static void slopes_are_those_of_integrals(void **state)
{
  for (size_t i = 0; i < sizeof known_cases / sizeof *known_cases; i++) {
    const known *const c = &known_cases[i];
    const wx_crps_slopes own = wx_distribution_crps_slopes(&c->d, c->y);
    const double s = c->d.scale;
    const double off[] = {
        (own.crps - c->is.crps) / s, own.m - c->is.m,         own.s - c->is.s,
        s * (own.mm - c->is.mm),     s * (own.ms - c->is.ms), s * (own.ss - c->is.ss)};

    for (int k = 0; k < 6; k++) {
      if (!(fabs(off[k]) <= 1e-10)) {
        printf("case %zu, family %d: value %d is off by %g\n", i, c->d.family, k, off[k]);
        fail();
      }
    }
    assert_near(wx_distribution_crps(&c->d, c->y) / s, c->is.crps / s, 1e-10);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_are_those_of_integrals)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
