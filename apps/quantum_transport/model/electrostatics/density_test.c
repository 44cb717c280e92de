/* density_test.c - electrons of chains against closed forms and integrals over the real axis. */
#include "model/electrostatics/density.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/device.h"
#include "model/electrostatics/potential.h"
#include "model/system_check.h"
#include "support/quantum_transport/transmission_test.h"
#include "model/units.h"

static uint64_t draws;
static double draw(double lo, double hi)
{
  return lo + (hi - lo) * weir_random_uniform(23, 0, 0, draws++);
}

static const double origin[1][2] = {{0, 0}}, one = 1;

static qt_density_spec usual(double reference, double mu, double bias, double kelvin)
{
  qt_density_spec spec = {.n_k = 1,
                          .k = origin,
                          .weight = &one,
                          .spin = 2,
                          .reference = reference,
                          .reservoir = {{mu, kelvin}, {mu - bias, kelvin}},
                          .order = 12,
                          .tolerance = 1e-4,
                          .shift = 1e-6,
                          .threads = 1};

  weir_opts_default(qt_lead_options, sizeof spec.lead, &spec.lead);
  return spec;
}

/* Atoms of one orbital each, for systems that have none. */
static void add_atoms(qt_system *s)
{
  s->n_atoms = s->n;
  assert_ok(weir_alloc(s->n, sizeof *s->atom, (void **)&s->atom));
  for (int64_t i = 0; i < s->n; i++) {
    s->atom[i] = (qt_atom){.first = i, .n_orbitals = 1};
  }
}

/* At T -> 0 a site of a chain holds (2 / pi) arccos((e - mu) / (2 |t|)) electrons. */
static void a_cold_chain_is_filled_as_free_electrons(void **state)
{
  for (int round = 0; round < 5; round++) {
    const double e = draw(-0.3, 0.3), t = draw(0.6, 1.4), mu = e + draw(-1.5, 1.5) * t;
    const ribbon r = {.width = 1, .length = 4, .onsite = e, .hopping = -t};
    const qt_density_spec spec = usual(e - 2 * t - 0.5, mu, 0, 20);
    qt_density d;
    qt_system s;

    ribbon_create(&r, &s);
    assert_ok(qt_density_create(&s, &spec, &d));
    for (int64_t i = 0; i < s.n; i++) {
      assert_near(d.electrons[i], 2 / M_PI * acos((e - mu) / (2 * t)), 2e-5);
    }
    assert_near(d.current, 0, 0);
    qt_density_fini(&d);
    qt_system_fini(&s);
  }
}

/* Sum rules: a full band holds two electrons of every orbital, an empty one with the reference
 * above two holes less; of an overlap matrix in sum over a long wire's inner cells. */
static void full_and_empty_bands_hold_whole_electrons(void **state)
{
  for (int overlap = 0; overlap < 2; overlap++) {
    const ribbon r = {.width = 2,
                      .length = 3,
                      .onsite = 0.1,
                      .hopping = -1,
                      .overlap = overlap ? 0.08 : 0,
                      .disorder = 0.4};
    const double mu[] = {8, -8}, reference[] = {-6.5, 6.5}, expected[] = {2, -2};
    qt_system s;

    ribbon_create(&r, &s);
    for (int full = 0; full < 2; full++) {
      const qt_density_spec spec = usual(reference[full], mu[full], 0, 300);
      qt_density d;

      assert_ok(qt_density_create(&s, &spec, &d));
      for (int64_t i = 2; i < 4; i++) { /* the middle cell: others share with the leads */
        assert_near(d.electrons[i], expected[full], overlap ? 2e-2 : 2e-6);
      }
      qt_density_fini(&d);
    }
    qt_system_fini(&s);
  }
}

/* n_i by a fine sum over the real axis of what each lead fills. */
static void sum_spectra(const qt_system *s, const qt_density_spec *spec, int64_t count,
                        double *electrons, double *current)
{
  const double lo = spec->reference, hi = spec->reservoir[0].mu + 1,
               step = (hi - lo) / (double)count;
  double *energy = NULL;
  qt_transport t;

  assert_ok(weir_alloc(count, sizeof *energy, (void **)&energy));
  for (int64_t i = 0; i < count; i++) {
    energy[i] = lo + step * ((double)i + 0.5);
  }
  const qt_transport_spec of = {.lead = spec->lead,
                                .n_k = 1,
                                .k = spec->k,
                                .n_energies = count,
                                .energy = energy,
                                .lead_dos = true,
                                .shift = 1e-6,
                                .threads = 1,
                                .quiet = true};

  assert_ok(qt_transport_create(s, &of, &t));
  memset(electrons, 0, (size_t)s->n * sizeof *electrons);
  *current = 0;
  for (int64_t e = 0; e < count; e++) {
    double f[QT_LEADS];

    for (int c = 0; c < QT_LEADS; c++) {
      f[c] = qt_fermi(energy[e], spec->reservoir[c].mu, spec->reservoir[c].temperature);
      for (int64_t i = 0; i < s->n; i++) {
        electrons[i] += 2 * step * f[c] * t.lead_dos[c][e * s->n + i];
      }
    }
    *current += 2 * QT_CONDUCTANCE * step * t.transmission[e] * (f[0] - f[1]);
  }
  qt_transport_fini(&t);
  weir_free(&energy);
}

/* A barrier between leads at a bias, the bands of the right one lower: a transistor. */
static void a_biased_barrier_holds_what_both_leads_inject(void **state)
{
  enum { LENGTH = 12, COUNT = 40000 };
  const ribbon r = {.width = 1, .length = LENGTH, .onsite = 2, .hopping = -1}; /* band from 0 */
  const double bias = 0.3;
  double u[LENGTH], expected[LENGTH], current;
  qt_system flat, s = {.n = 0};
  qt_density d;

  ribbon_create(&r, &flat);
  add_atoms(&flat);
  for (int i = 0; i < LENGTH; i++) {
    u[i] = (i < 4 ? 0 : i < 8 ? 0.25 : -bias) + (i > 0 && i < LENGTH - 1 ? draw(-0.02, 0.02) : 0);
  }
  assert_ok(qt_system_shift(&flat, u, &s));
  qt_density_spec spec = usual(-1, 0.15, bias, 300);

  assert_ok(qt_density_create(&s, &spec, &d));
  sum_spectra(&s, &spec, COUNT, expected, &current);
  for (int i = 0; i < LENGTH; i++) {
    assert_near(d.electrons[i], expected[i], 1e-3); /* that of the sum, at band edges */
  }
  assert_near(d.current / current, 1, 1e-3);
  assert_true(d.n_real < COUNT / 50 && d.n_contour < 150);
  qt_density_fini(&d);
  spec.broadening = 1e-3; /* of the charges alone */
  assert_ok(qt_density_create(&s, &spec, &d));
  for (int i = 0; i < LENGTH; i++) {
    assert_near(d.electrons[i], expected[i], 5e-3);
  }
  assert_near(d.current / current, 1, 1e-3);
  qt_density_fini(&d);
  for (int i = 0; i < 3; i++) { /* as many energies as no line has */
    spec.broadening = (const double[]){5e-7, 1e-14, 1e-300}[i];
    assert_int_equal(qt_density_create(&s, &spec, &d), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "electrostatics.broadening: "));
    assert_non_null(strstr(weir_last_message(), "give at least 6.2e-07 eV"));
    assert_null(d.electrons);
  }
  spec.broadening = 1e-300; /* not read where the leads are in equilibrium */
  spec.reservoir[QT_RIGHT] = spec.reservoir[QT_LEFT];
  assert_ok(qt_density_create(&s, &spec, &d));
  qt_density_fini(&d);
  qt_system_fini(&s);
  qt_system_fini(&flat);
}

/* A well between leads with a state that is bound below both bands, between the chemical
 * potentials: no orbital has less than in equilibrium with the right lead, nor more than with the
 * left one, and the electrons follow the depth of the well. */
static void bound_states_are_filled_between_both_equilibria(void **state)
{
  enum { LENGTH = 30, STEPS = 6 };
  const ribbon r = {.width = 1, .length = LENGTH, .onsite = 2, .hopping = -1}; /* band from 0 */
  const double right = -0.1, bias = 0.3;
  double u[LENGTH], last = 0;
  qt_system flat;

  ribbon_create(&r, &flat);
  add_atoms(&flat);
  for (int step = 0; step < STEPS; step++) {
    qt_system s = {.n = 0};
    qt_density d[3];
    double sum = 0;

    for (int i = 0; i < LENGTH; i++) {
      u[i] = i < 10 ? 0 : i < 15 ? -0.23 - 0.02 * step : i < 18 ? 0.2 : right;
    }
    assert_ok(qt_system_shift(&flat, u, &s));
    for (int k = 0; k < 3; k++) { /* biased; both as the left lead, as the right one */
      const qt_density_spec spec = usual(-1.5, k < 2 ? 0.1 : 0.1 - bias, k == 0 ? bias : 0, 300);

      assert_ok(qt_density_create(&s, &spec, &d[k]));
    }
    for (int i = 0; i < LENGTH; i++) {
      sum += d[0].electrons[i];
      assert_true(d[0].electrons[i] > d[2].electrons[i] - 1e-3);
      assert_true(d[0].electrons[i] < d[1].electrons[i] + 1e-3);
    }
    assert_true(step == 0 || (sum > last && sum < last + 0.4));
    last = sum;
    for (int k = 0; k < 3; k++) {
      qt_density_fini(&d[k]);
    }
    qt_system_fini(&s);
  }
  qt_system_fini(&flat);
}

/* Above 0: nothing is bound below the bands. */
static double rough_site(int64_t x, int64_t y)
{
  return 0.1 * (double)((5 * x + 3 * y) % 7);
}

/* Away from k = 0, with an overlap, G and S are not symmetric: orbital by orbital what leads fill.
 */
static void orbitals_hold_their_mulliken_charge_at_all_wave_vectors(void **state)
{
  enum { N = 18, COUNT = 40000 };
  static const double k[1][2] = {{0, 0.17}};
  const ribbon r = {.width = 3,
                    .length = N / 3,
                    .onsite = 2,
                    .hopping = -1,
                    .periodic = -0.6,
                    .site = rough_site,
                    .overlap = 0.1};
  double expected[N], current;
  qt_density_spec spec = usual(-2.5, 1.1, 0, 300);
  qt_density d;
  qt_system s;

  ribbon_create(&r, &s);
  spec.k = k;
  assert_ok(qt_density_create(&s, &spec, &d));
  sum_spectra(&s, &spec, COUNT, expected, &current);
  for (int i = 0; i < N; i++) {
    assert_near(d.electrons[i], expected[i], 1e-4);
  }
  qt_density_fini(&d);
  qt_system_fini(&s);
}

static double weak_bond(int64_t x, int64_t y)
{
  (void)y;
  return x == 3 || x == 4 ? 5e-4 : 1;
}

/* Through a site between two weak bonds flows pi Gamma e / h, each Gamma 5e-7 eV. */
static void sharp_resonances_are_not_missed(void **state)
{
  const double level = -0.4137, mu = -0.3, bias = 0.25;
  const ribbon r = {.width = 1, .length = 9, .onsite = level, .hopping = -1, .bond = weak_bond};
  qt_density_spec spec = usual(-2.6, mu, bias, 300);
  double *share[QT_LEADS], current;
  int64_t n;
  qt_system s;

  ribbon_create(&r, &s);
  spec.tolerance = 5e-4;
  spec.lead.method = QT_LEAD_MODES;
  for (int c = 0; c < QT_LEADS; c++) {
    assert_ok(weir_alloc(s.n, sizeof **share, (void **)&share[c]));
  }
  assert_ok(qt_density_window(&s, &spec, share, &current, &n));
  const double gamma = 2 * 5e-4 * 5e-4; /* of each side, in the middle of the band */
  const double f = qt_fermi(level, mu, 300) - qt_fermi(level, mu - bias, 300);

  assert_near(current / (2 * QT_CONDUCTANCE * M_PI * gamma * f), 1, 5e-3);
  assert_true(n < 400);
  weir_free(&share[QT_LEFT]);
  weir_free(&share[QT_RIGHT]);
  qt_system_fini(&s);
}

/* Over a barrier of 20 k_B T flows what its top lets through, far from the chemical potentials, and
 * of holes as of electrons: both bands of a chain mirror each other. */
static void currents_over_high_barriers_are_thermionic(void **state)
{
  enum { LENGTH = 120 };
  const double kt = QT_BOLTZMANN * 300, barrier = 0.52, bias = 0.05;
  double current[2];

  for (int holes = 0; holes < 2; holes++) {
    const double sign = holes ? -1 : 1;
    const ribbon r = {.width = 1, .length = LENGTH, .onsite = 2 * sign, .hopping = -1};
    double u[LENGTH];
    qt_system flat, s = {.n = 0};
    qt_density d;

    ribbon_create(&r, &flat);
    add_atoms(&flat);
    for (int i = 0; i < LENGTH; i++) { /* smooth enough to reflect nothing above its top */
      u[i] = sign * barrier * exp(-(i - 59.5) * (i - 59.5) / 500);
    }
    assert_ok(qt_system_shift(&flat, u, &s));
    const qt_density_spec spec = usual(-sign, 0, sign * bias, 300);

    assert_ok(qt_density_create(&s, &spec, &d));
    current[holes] = d.current;
    qt_density_fini(&d);
    qt_system_fini(&s);
    qt_system_fini(&flat);
  }
  const double expected = 2 * QT_CONDUCTANCE * kt * exp(-barrier / kt) * (1 - exp(-bias / kt));

  assert_near(current[0] / expected, 1.3, 0.15); /* (x / sin x, x = 1.25: some tunnel) */
  assert_near(current[1] / current[0], -1, 2e-3);
}

/* The same with more points of both kinds. */
static void integrals_converge(void **state)
{
  enum { LENGTH = 10 };
  const ribbon r = {.width = 1, .length = LENGTH, .onsite = 2, .hopping = -1};
  double u[LENGTH];
  qt_system flat, s = {.n = 0};
  qt_density coarse, fine;

  ribbon_create(&r, &flat);
  add_atoms(&flat);
  for (int i = 0; i < LENGTH; i++) {
    u[i] = 0.3 * exp(-(i - 4.5) * (i - 4.5) / 4) - 0.2 / (1 + exp(-2.0 * (i - 5)));
  }
  assert_ok(qt_system_shift(&flat, u, &s));
  qt_density_spec spec = usual(-1, 0.1, 0.2, 300);

  spec.order = 8;
  spec.tolerance = 1e-3;
  assert_ok(qt_density_create(&s, &spec, &coarse));
  spec.order = 20;
  spec.tolerance = 1e-7;
  assert_ok(qt_density_create(&s, &spec, &fine));
  for (int i = 0; i < LENGTH; i++) {
    assert_near(coarse.electrons[i], fine.electrons[i], 2e-4);
  }
  assert_near(coarse.current / fine.current, 1, 1e-3);
  qt_density_fini(&coarse);
  qt_density_fini(&fine);
  qt_system_fini(&s);
  qt_system_fini(&flat);
}

/* A rigid shift of everything changes nothing but the zero of energy; with an overlap, too. */
static void a_constant_potential_is_a_shift_of_energies(void **state)
{
  for (int overlap = 0; overlap < 2; overlap++) {
    const ribbon r = {.width = 2,
                      .length = 4,
                      .onsite = 0.2,
                      .hopping = -1,
                      .overlap = overlap ? 0.1 : 0,
                      .periodic = -0.4,
                      .disorder = 0.5};
    const double by = 0.37;
    double u[8];
    qt_system s, shifted = {.n = 0};
    qt_density d[2];

    ribbon_create(&r, &s);
    add_atoms(&s);
    for (int i = 0; i < 8; i++) {
      u[i] = by;
    }
    assert_ok(qt_system_shift(&s, u, &shifted));
    assert_ok(qt_system_check(&shifted, 1e-12));
    qt_density_spec spec = usual(-5, -0.4, 0.05, 300);

    assert_ok(qt_density_create(&s, &spec, &d[0]));
    spec.reference += by;
    spec.reservoir[0].mu += by;
    spec.reservoir[1].mu += by;
    assert_ok(qt_density_create(&shifted, &spec, &d[1]));
    for (int i = 0; i < 8; i++) {
      assert_near(d[1].electrons[i], d[0].electrons[i], 1e-6);
    }
    assert_near(d[1].current / d[0].current, 1, 1e-4);
    for (int i = 0; i < 2; i++) {
      qt_density_fini(&d[i]);
    }
    qt_system_fini(&shifted);
    qt_system_fini(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cold_chain_is_filled_as_free_electrons),
      cmocka_unit_test(full_and_empty_bands_hold_whole_electrons),
      cmocka_unit_test(a_biased_barrier_holds_what_both_leads_inject),
      cmocka_unit_test(bound_states_are_filled_between_both_equilibria),
      cmocka_unit_test(orbitals_hold_their_mulliken_charge_at_all_wave_vectors),
      cmocka_unit_test(sharp_resonances_are_not_missed),
      cmocka_unit_test(currents_over_high_barriers_are_thermionic),
      cmocka_unit_test(integrals_converge),
      cmocka_unit_test(a_constant_potential_is_a_shift_of_energies),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
