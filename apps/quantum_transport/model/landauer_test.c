/* landauer_test.c - currents and conductances of known transmissions. */
#include "model/landauer.h"

#include <math.h>

#include "base/weir_check.h"
#include "model/units.h"

enum { N = 4001 };
static double energy[N], one[N];

static void make_grid(double from, double to, double value)
{
  for (int64_t i = 0; i < N; i++) {
    energy[i] = from + (to - from) * (double)i / (N - 1);
    one[i] = value;
  }
}

static void open_channels_have_the_conductance_quantum(void **state)
{
  make_grid(-3, 3, 1);
  for (double t = 50; t < 700; t += 150) {
    const qt_reservoir lead[] = {{0.05, t}, {-0.05, t}}, hot[] = {{0, 2 * t}, {0, t}};
    const double kt = QT_BOLTZMANN * t;

    assert_near(qt_electron_conductance(N, energy, one, 0.1, t, 2) / 7.748091730e-5, 1, 1e-9);
    assert_near(qt_electron_current(N, energy, one, lead, 2) / 7.748091730e-6, 1, 1e-9);
    assert_near(qt_electron_current(N, energy, one, hot, 2), 0, 1e-18);
    /* (2 / h) pi^2 k^2 (T1^2 - T2^2) / 6 */
    assert_near(qt_electron_energy_current(N, energy, one, hot, 2) /
                    (7.748091730e-5 * M_PI * M_PI / 6 * 3 * kt * kt),
                1, 1e-6);
  }
}

/* At 0 K occupations are steps, and the conductance is that at mu, between its neighbours. */
static void cold_leads(void **state)
{
  const qt_reservoir lead[] = {{0.5, 0}, {-0.5, 0}};

  make_grid(-3, 3, 1);
  for (int64_t i = 0; i < N; i++) {
    one[i] = energy[i];
  }
  assert_near(qt_electron_conductance(N, energy, one, 0.1234, 0, 1) / QT_CONDUCTANCE, 0.1234,
              1e-12);
  assert_true(qt_electron_conductance(N, energy, one, 5, 0, 1) == 0);
  assert_near(qt_electron_conductance(N, energy, one, 3, 0, 1) / QT_CONDUCTANCE, 3, 1e-12);
  make_grid(-3, 3, 1);
  assert_near(qt_electron_current(N, energy, one, lead, 1) / QT_CONDUCTANCE, 1, 1e-3);
  assert_true(qt_phonon_conductance(N, energy, one, 0) == 0);
  assert_true(qt_bose(0.1, 0) == 0 && qt_fermi(0, 0, 0) == 0.5);
}

/* Lines between few energies are integrated to rounding, at any temperature. */
static void coarse_grids_lose_nothing_of_a_line(void **state)
{
  static const double few[] = {-3, -0.7, 0.2, 3};
  const double line[] = {1 + 0.1 * few[0], 1 + 0.1 * few[1], 1 + 0.1 * few[2], 1 + 0.1 * few[3]};

  for (int i = 0; i < 4; i++) {
    const double t = (double[]){0, 0.1, 10, 300}[i];
    const qt_reservoir lead[] = {{0.25, t}, {-0.13, t}};

    /* by parts: the mean of the line over the window of mu, and over -df/dE */
    assert_near(qt_electron_current(4, few, line, lead, 1) / QT_CONDUCTANCE,
                0.38 * (1 + 0.1 * 0.06), 1e-12);
    assert_near(qt_electron_conductance(4, few, line, 0.11, t, 1) / QT_CONDUCTANCE, 1.011, 1e-12);
  }
}

/* pi^2 k^2 T / (3 h) a branch: 9.4643e-13 W/K^2 T, of a wire with 4 acoustic branches four times
 * that. */
static void thermal_conductance_has_its_quantum(void **state)
{
  for (double t = 0.5; t < 30; t *= 3) {
    const double kt = QT_BOLTZMANN * t;
    const qt_reservoir lead[] = {{0, t + 0.001 * t}, {0, t - 0.001 * t}};

    make_grid(1e-9 * kt, 40 * kt, 4);
    const double g = qt_phonon_conductance(N, energy, one, t);

    assert_near(g / (4 * 9.4643e-13 * t), 1, 1e-5);
    assert_near(qt_phonon_current(N, energy, one, lead) / (0.002 * t * g), 1, 1e-5);
  }
}

/* The same of a grid that begins within k_B T. */
static void thermal_conductance_begins_at_zero(void **state)
{
  for (double t = 1; t < 300; t *= 4) {
    const double kt = QT_BOLTZMANN * t;
    const qt_reservoir lead[] = {{0, t + 0.001 * t}, {0, t - 0.001 * t}};

    make_grid(0.3 * kt, 40 * kt, 1);
    const double g = qt_phonon_conductance(N, energy, one, t);

    assert_near(g / (9.4643e-13 * t), 1, 1e-3);
    assert_near(qt_phonon_current(N, energy, one, lead) / (0.002 * t * g), 1, 1e-5);
  }
}

static void windows_hold_what_is_integrated(void **state)
{
  const qt_reservoir lead[] = {{0.3, 300}, {0.1, 100}}, cold[] = {{0.3, 0}, {0.3, 0}};
  const double grid[] = {0.31, 0.4, 0.5};
  qt_window w = qt_electron_window(lead);

  assert_near(w.low, 0.1 - 10 * QT_BOLTZMANN * 100, 1e-15);
  assert_near(w.high, 0.3 + 10 * QT_BOLTZMANN * 300, 1e-15);
  assert_near(w.kt, QT_BOLTZMANN * 100, 1e-15);
  assert_true(qt_window_is_met(&w, 3, grid) && !qt_window_is_met(&w, 1, grid));
  w = qt_electron_window(cold);
  assert_true(w.low == 0.3 && w.high == 0.3 && w.kt == 0 && !qt_window_is_met(&w, 3, grid));
  w = qt_phonon_window(lead);
  assert_true(w.low == 0);
  assert_near(w.high, 10 * QT_BOLTZMANN * 300, 1e-15);
  assert_false(qt_window_is_met(&w, 3, grid));
}

static void extreme_arguments_are_finite(void **state)
{
  make_grid(1e-12, 300, 1);
  assert_true(isfinite(qt_phonon_conductance(N, energy, one, 1e-3)));
  assert_true(isfinite(qt_electron_conductance(N, energy, one, 0, 1e-3, 2)));
  assert_true(qt_fermi(1e6, 0, 1) == 0 && qt_fermi(-1e6, 0, 1) == 1 && qt_bose(1e6, 1) == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(open_channels_have_the_conductance_quantum),
      cmocka_unit_test(cold_leads),
      cmocka_unit_test(coarse_grids_lose_nothing_of_a_line),
      cmocka_unit_test(thermal_conductance_has_its_quantum),
      cmocka_unit_test(thermal_conductance_begins_at_zero),
      cmocka_unit_test(windows_hold_what_is_integrated),
      cmocka_unit_test(extreme_arguments_are_finite),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
