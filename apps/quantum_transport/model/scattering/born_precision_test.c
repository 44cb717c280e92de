/* born_precision_test.c - self-energies of rounded operands: the chain of 20 atoms with them
 * against f64, and what becomes of it without the scales. */
#include "support/quantum_transport/born_test.h"
#include "pass/weir_pass.h"

/* Chemical potentials of the leads about `mu`; as far as rounding lets it converge. */
static qt_born solve(double coupling, double mu, int precision, bool normalise)
{
  const double bias = 0.1;
  qt_born b;
  chain c;

  chain_init(20, 121, coupling, &c);
  c.opts.retarded = QT_RETARDED_HALF;
  c.opts.precision = precision;
  c.opts.normalise = normalise;
  c.opts.tolerance = precision == WEIR_PRODUCTS_F64     ? 1e-8
                     : precision == WEIR_PRODUCTS_F16X2 ? 1e-7
                                                        : 3e-5;
  c.opts.current_tolerance = 1e-7;
  c.reservoir[QT_LEFT].mu = mu + bias / 2;
  c.reservoir[QT_RIGHT].mu = mu - bias / 2;
  assert_ok(qt_born_create(&c.spec, &b));
  chain_fini(&c);
  return b;
}

/* Relative error of the current, and of the sum of both leads' currents and of the energies. */
typedef struct errors {
  double current, sum, energy;
} errors;

static errors errors_of(double coupling, double mu, int precision, bool normalise)
{
  qt_born exact = solve(coupling, mu, WEIR_PRODUCTS_F64, true);
  qt_born b = solve(coupling, mu, precision, normalise);
  const qt_born_step *x = &exact.step[exact.n_steps - 1], *y = &b.step[b.n_steps - 1];
  const errors e = {fabs(y->current[QT_LEFT] / x->current[QT_LEFT] - 1), y->current_error,
                    y->energy_error};

  assert_true(x->current[QT_LEFT] < 0.999 * exact.step[0].current[QT_LEFT]);
  print_message("coupling %g, mu %g, %s%s: current %.1e, sum of currents %.1e, energy %.1e\n",
                coupling, mu, (const char *[]){"f64", "f32", "bf16", "f16", "f16x2"}[precision],
                normalise ? "" : " unscaled", e.current, e.sum, e.energy);
  qt_born_fini(&exact);
  qt_born_fini(&b);
  return e;
}

static void currents_and_energies_of_f16_are_those_of_f64(void **state)
{
  const errors f16 = errors_of(0.15, 0.07, WEIR_PRODUCTS_F16, true);
  const errors f32 = errors_of(0.15, 0.07, WEIR_PRODUCTS_F32, true);
  const errors bf16 = errors_of(0.15, 0.07, WEIR_PRODUCTS_BF16, true);

  (void)state;
  assert_true(f16.current < 1e-5 && f16.energy < 1e-4);
  assert_true(f32.current < 1e-6 && f32.energy < 1e-4);
  assert_true(bf16.current < 1e-3);
}

/* Strong coupling: what rounding to f16 adds to each of emission and absorption is above 1e-4 of
 * the small difference of them, not so in two parts. */
static void two_parts_keep_the_energy_of_strong_coupling(void **state)
{
  const errors one = errors_of(0.3, 0.07, WEIR_PRODUCTS_F16, true);
  const errors two = errors_of(0.3, 0.07, WEIR_PRODUCTS_F16X2, true);

  (void)state;
  assert_true(one.current < 1e-5);
  assert_true(two.current < 1e-6 && two.energy < 1e-5 && two.energy < one.energy / 10);
}

/* Electrons far below the band, as in a transistor that is off: G^< is 1e-7 or less of G^>, and
 * f16 loses it. */
static void f16_fails_without_scales(void **state)
{
  const errors scaled = errors_of(0.3, -0.45, WEIR_PRODUCTS_F16, true);
  const errors unscaled = errors_of(0.3, -0.45, WEIR_PRODUCTS_F16, false);

  (void)state;
  assert_true(scaled.current < 1e-4 && scaled.sum < 3e-4);
  assert_true(unscaled.current > 1e-2 && unscaled.sum > 1e-2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(currents_and_energies_of_f16_are_those_of_f64),
      cmocka_unit_test(two_parts_keep_the_energy_of_strong_coupling),
      cmocka_unit_test(f16_fails_without_scales),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
