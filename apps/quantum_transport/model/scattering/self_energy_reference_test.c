/* self_energy_reference_test.c - self-energies and powers of random Green's functions of three
 * momenta against a file that another program wrote. */
#include "support/quantum_transport/self_energy_reference.h"
#include "pass/weir_pass.h"

/* Splits of the sums, with windows and without, of all atoms and of one at once. */
typedef struct way {
  int fission;
  bool window;
  double memory;
} way;

static const way ways[] = {
    {WEIR_FISSION_OFF, false, 0},         {WEIR_FISSION_PRODUCTS, true, 0},
    {WEIR_FISSION_HOIST, true, 0},        {WEIR_FISSION_HOIST, true, 1},
    {WEIR_FISSION_REASSOCIATE, false, 0}, {WEIR_FISSION_REASSOCIATE, true, 1}};

static void check_power(const reference *r)
{
  double power[2];

  check_conservation(&r->c, power);
  for (int p = 0; p < 2; p++) {
    assert_true(fabs(power[p] - r->power[p]) <= 1e-12 * fabs(r->power[p]));
  }
}

static void reference_file_is_reproduced(void **state)
{
  reference r;

  (void)state;
  if (!weir_netcdf_available()) {
    fprintf(stderr, "skipped: this build has no NetCDF\n");
    skip();
  }
  reference_init(&r);
  for (size_t y = 0; y < sizeof ways / sizeof *ways; y++) {
    r.c.spec.fission = ways[y].fission;
    r.c.spec.window = ways[y].window;
    r.c.spec.memory = ways[y].memory;
    run(&r.c);
    assert_close("Sigma", data_of(&r.c, QT_SIGMA), r.sigma, 2 * r.half);
    check_pi(&r.c, r.pi);
    check_power(&r);
  }
  reference_fini(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_file_is_reproduced),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
