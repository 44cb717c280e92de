/* transmission_test.c - transmissions and densities of states in closed form, and what must not
 * change them. */
#include "support/quantum_transport/transmission_test.h"

#include <complex.h>

#include "model/landauer.h"
#include "model/rgf/rgf.h"
#include "model/units.h"

/* Transmission of a ribbon at n energies, by modes. */
static void transmit(const ribbon *r, int64_t n, const double *energy, double *t)
{
  const qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, n, energy);
  qt_transport out;

  assert_ok(ribbon_transport(r, &spec, &out));
  assert_true(out.residual < 1e-10);
  memcpy(t, out.transmission, (size_t)n * sizeof *t);
  qt_transport_fini(&out);
}

static void perfect_wires_count_their_channels(void **state)
{
  static const double energy[] = {-4.1, -3.7, -3.4, -2.9, -1.9, -0.9, 0.1, 1.2, 2.6, 4.1};
  static const double channels[] = {0, 1, 1, 2, 3, 4, 5, 3, 2, 0};

  for (int method = 0; method <= QT_LEAD_CONTOUR; method++) {
    const ribbon r = {.width = 5, .length = 7, .hopping = -1};
    const qt_transport_spec spec = ribbon_spec(method, 10, energy);
    qt_transport out;

    assert_ok(ribbon_transport(&r, &spec, &out));
    for (int i = 0; i < 10; i++) {
      const double error = fabs(out.transmission[i] - channels[i]);

      assert_true(method == QT_LEAD_DECIMATION ? error < (channels[i] == 0 ? 1e-10 : 1e-4)
                  : channels[i] == 0           ? error == 0
                                               : error < 1e-10);
      assert_int_equal(out.n_modes[QT_LEFT][i], (int64_t)channels[i]);
      assert_int_equal(out.n_modes[QT_RIGHT][i], (int64_t)channels[i]);
    }
    qt_transport_fini(&out);
  }
}

/* Broadened leads of a chain of three sites: Sigma = (z - sqrt(z^2 - 4)) / 2, T = Gamma^2 |G_13|^2.
 * T stays continuous where the perfect wire's falls below one half of a mode. */
static void broadening_does_not_close_a_channel(void **state)
{
  enum { N = 9 };
  const ribbon r = {.width = 1, .length = 3, .hopping = -1};
  double energy[N];
  int below = 0;

  for (int i = 0; i < N; i++) {
    energy[i] = 1.9613 + 0.01 * i;
  }
  qt_transport_spec spec = ribbon_spec(QT_LEAD_DECIMATION, N, energy);
  qt_transport out;

  spec.lead.eta = 0.01;
  spec.lead.mode_error = 1; /* else modes take over where decimation blurs a band edge */
  assert_ok(ribbon_transport(&r, &spec, &out));
  for (int i = 0; i < N; i++) {
    const double complex x = energy[i], z = x + 0.01 * I, root = csqrt(z * z - 4);
    const double complex sigma = (z - (cimag(root) < 0 ? -root : root)) / 2;
    const double complex det = (x - sigma) * (x * (x - sigma) - 2);
    const double expected = pow(2 * cimag(sigma) / cabs(det), 2);

    assert_near(out.transmission[i], expected, 1e-7);
    below += out.n_modes[QT_LEFT][i] == 0 && expected > 0.01;
  }
  assert_true(below > 0);
  qt_transport_fini(&out);
}

/* The acoustic branch transmits 1 down to hbar omega = 0, where eta is larger than its square. */
static void broadening_leaves_long_waves_alone(void **state)
{
  enum { N = 6 };
  const double omega[N] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1};
  const ribbon r = {.width = 1, .length = 7, .onsite = 2, .hopping = -1, .particle = QT_PHONONS};
  const qt_transport_spec spec = ribbon_spec(QT_LEAD_DECIMATION, N, omega);
  qt_transport out;

  assert_ok(ribbon_transport(&r, &spec, &out));
  for (int i = 0; i < N; i++) {
    assert_near(out.transmission[i], 1, 1e-3);
  }
  qt_transport_fini(&out);
}

static double impurity(int64_t x, int64_t y)
{
  return x == 3 ? 0.7 + 0 * (double)y : 0;
}

static void one_impurity_in_a_chain(void **state)
{
  const double energy[] = {-1.5, -0.3, 0.9}, expected[] = {0.78125, 0.888636363636, 0.866847826087};
  const ribbon r = {.width = 1, .length = 6, .hopping = -1, .site = impurity};
  double t[3];

  transmit(&r, 3, energy, t);
  for (int i = 0; i < 3; i++) {
    assert_near(t[i], 1 / (1 + 0.49 / (4 - energy[i] * energy[i])), 1e-12);
    assert_near(t[i], expected[i], 1e-12);
  }
}

/* Both bonds of site 3 are weak. */
static double weak(int64_t x, int64_t y)
{
  return x == 2 || x == 3 ? 0.1 + 0 * (double)y : 1;
}

/* Breit-Wigner: equal barriers transmit all at resonance. With Sigma = t'^2 g of either side,
 * T = Gamma^2 / ((E - 2 Re Sigma)^2 + Gamma^2) exactly, Gamma = 0.02 near E = 0. */
static void a_double_barrier_resonates(void **state)
{
  const double energy[] = {0, 0.01, -0.02, 0.04, 0.5};
  const ribbon r = {.width = 1, .length = 7, .hopping = -1, .bond = weak};
  double t[5];

  transmit(&r, 5, energy, t);
  assert_near(t[0], 1, 1e-12);
  for (int i = 0; i < 5; i++) {
    const double e = energy[i], gamma = 0.01 * sqrt(4 - e * e), shift = 0.01 * e;
    const double near = 4e-4 / (e * e + 4e-4);

    assert_near(t[i], gamma * gamma / ((e - shift) * (e - shift) + gamma * gamma), 1e-12);
    assert_true(fabs(t[i] - near) < 0.02 * near || fabs(e) > 0.1);
  }
}

/* K = M = 1 in units of hbar omega: Phi = 2 at a site, -1 to its neighbours; omega^2 is E. */
static double heavy_site(int64_t x, int64_t y)
{
  return x == 3 ? 2 / 1.5 - 2 + 0 * (double)y : 0;
}

static double heavy_bond(int64_t x, int64_t y)
{
  return x == 2 || x == 3 ? 1 / sqrt(1.5) + 0 * (double)y : 1;
}

static void harmonic_chains_and_a_mass_defect(void **state)
{
  const double omega[] = {0.05, 0.5, 1, 1.7, 1.99, 2.1};
  ribbon r = {.width = 1, .length = 7, .onsite = 2, .hopping = -1, .particle = QT_PHONONS};
  double t[6];

  transmit(&r, 6, omega, t);
  for (int i = 0; i < 6; i++) {
    assert_near(t[i], omega[i] < 2, 1e-10);
  }
  r.site = heavy_site;
  r.bond = heavy_bond;
  transmit(&r, 6, omega, t);
  for (int i = 0; i < 5; i++) {
    const double w = omega[i] * omega[i];

    assert_near(t[i], 1 / (1 + 0.25 * w / (4 - w)), 1e-10);
  }
  assert_near(t[2], 0.923076923, 1e-9);
  assert_true(t[5] == 0);
}

/* Half-infinite chains of other site energies: T = 4 s1 s2 / ((c1 - c2)^2 + (s1 + s2)^2) with
 * 2 t c = E - e0, c^2 + s^2 = 1. */
static void different_leads_reflect_at_the_step(void **state)
{
  const double energy[] = {-1.2, 0.1, 1.4, 1.9, 2.2};
  const ribbon r = {.width = 1, .length = 4, .hopping = -1, .lead_onsite = {0, 0.5}};
  double t[5];

  transmit(&r, 5, energy, t);
  for (int i = 0; i < 5; i++) {
    const double c1 = -energy[i] / 2, c2 = (0.5 - energy[i]) / 2;
    const double s1 = sqrt(fmax(1 - c1 * c1, 0)), s2 = sqrt(fmax(1 - c2 * c2, 0));
    const double width = (c1 - c2) * (c1 - c2) + (s1 + s2) * (s1 + s2);

    assert_near(t[i], 4 * s1 * s2 / width, 1e-10);
  }
}

/* Interior sites of a chain have dk/dE / pi, E = 2 t cos k / (1 + 2 s cos k); leads fill one half
 * each. */
static void densities_of_states_are_those_of_bands(void **state)
{
  const double overlaps[] = {0, 0.1}, energy[] = {-1.3, -0.2, 0.7, 1.1};

  for (int o = 0; o < 2; o++) {
    const ribbon r = {.width = 1, .length = 6, .hopping = -1, .overlap = overlaps[o]};
    qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 4, energy);
    qt_transport out;

    spec.lead_dos = true;
    assert_ok(ribbon_transport(&r, &spec, &out));
    for (int i = 0; i < 4; i++) {
      const double e = energy[i], s = overlaps[o], c = e / (-2 - 2 * s * e);
      const double slope = 2 * sqrt(1 - c * c) / pow(1 + 2 * s * c, 2); /* |dE/dk| */

      assert_near(out.transmission[i], 1, 1e-10);
      for (int64_t site = 1; site < 5; site++) {
        const double all = out.dos[6 * i + site];

        assert_near(all, 1 / (M_PI * slope), 1e-10);
        assert_near(out.lead_dos[QT_LEFT][6 * i + site], all / 2, 1e-10);
        assert_near(out.lead_dos[QT_RIGHT][6 * i + site], all / 2, 1e-10);
      }
    }
    qt_transport_fini(&out);
  }
}

static double softer(int64_t x, int64_t y)
{
  return x == 2 ? 0.6 + 0 * (double)y : 1;
}

/* The integral of A[i,i] / 2 pi over the band is 1, of phonons over frequency, too, where nothing
 * is bound outside: a weak bond, a heavy mass. */
static void densities_of_states_sum_to_one(void **state)
{
  enum { N = 400 };
  static double energy[N];

  for (int phonons = 0; phonons < 2; phonons++) {
    const ribbon electrons = {.width = 1, .length = 5, .hopping = -1, .bond = softer};
    const ribbon vibrations = {.width = 1,
                               .length = 5,
                               .onsite = 2,
                               .hopping = -1,
                               .particle = QT_PHONONS,
                               .site = heavy_site,
                               .bond = heavy_bond};
    double sum = 0;

    for (int i = 0; i < N; i++) { /* E = -2 cos(theta), omega = 2 sin(theta / 2) */
      const double theta = M_PI * (i + 0.5) / N;

      energy[i] = phonons ? 2 * sin(theta / 2) : -2 * cos(theta);
    }
    qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, N, energy);
    qt_transport out;

    spec.dos = true;
    assert_ok(ribbon_transport(phonons ? &vibrations : &electrons, &spec, &out));
    for (int i = 0; i < N; i++) {
      const double theta = M_PI * (i + 0.5) / N;
      const double width = M_PI / N * (phonons ? cos(theta / 2) : 2 * sin(theta));

      sum += width * out.dos[5 * i + (phonons ? 3 : 2)];
    }
    assert_near(sum, 1, 1e-3);
    qt_transport_fini(&out);
  }
}

static void what_must_not_change_a_transmission(void **state)
{
  const double energy[] = {-2.6, -1.1, 0.13, 1.7}, shifted[] = {-1.35, 0.15, 1.38, 2.95};
  const ribbon plain = {.width = 4, .length = 9, .hopping = -1, .disorder = 1.5};
  ribbon r = plain;
  double first[4], t[4];

  transmit(&plain, 4, energy, first);
  assert_true(first[1] > 0.1 && first[1] < 3.9);
  r.mirrored = true;
  transmit(&r, 4, energy, t);
  for (int i = 0; i < 4; i++) {
    assert_near(t[i], first[i], 1e-12);
  }
  for (r = plain, r.merge = 2; r.merge < 6; r.merge++) {
    transmit(&r, 4, energy, t);
    for (int i = 0; i < 4; i++) {
      assert_near(t[i], first[i], 1e-12);
    }
  }
  r = plain;
  r.onsite = 1.25; /* all numbers of `shifted` are those of `energy` and 1.25 */
  transmit(&r, 4, shifted, t);
  for (int i = 0; i < 4; i++) {
    assert_near(t[i], first[i], 1e-12);
  }
}

/* A ribbon with a period across: T(E, k) is that of the channels 2 t cos((q + 2 pi k) / 4), and
 * T(E, k) = T(E, -k) with disorder, on any number of threads. */
static void transverse_wave_vectors(void **state)
{
  const double k[][2] = {{0, 0}, {0, 0.13}, {0, -0.13}, {0.4, 0.5}};
  const double energy[] = {-3.1, -1.37, 0.21}, weight[] = {0.25, 0.25, 0.25, 0.25};
  ribbon r = {.width = 4, .length = 6, .hopping = -1, .periodic = -1};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 3, energy);
  qt_transport out, again;
  double mean[3];

  spec.n_k = 4;
  spec.k = k;
  assert_ok(ribbon_transport(&r, &spec, &out));
  for (int i = 0; i < 12; i++) {
    double open = 0;

    for (int q = 0; q < 4; q++) {
      open += fabs(energy[i % 3] + 2 * cos(M_PI / 2 * (q + k[i / 3][1]))) < 2;
    }
    assert_near(out.transmission[i], open, 1e-10);
  }
  qt_transport_average(4, weight, 3, out.transmission, mean);
  assert_near(
      mean[1],
      (out.transmission[1] + out.transmission[4] + out.transmission[7] + out.transmission[10]) / 4,
      1e-15);
  qt_transport_fini(&out);
  r.disorder = 1;
  assert_ok(ribbon_transport(&r, &spec, &out));
  spec.threads = 2;
  assert_ok(ribbon_transport(&r, &spec, &again));
  assert_memory_equal(out.transmission, again.transmission, 12 * sizeof(double));
  for (int i = 3; i < 6; i++) {
    assert_near(out.transmission[i], out.transmission[i + 3], 1e-12);
  }
  qt_transport_fini(&out);
  qt_transport_fini(&again);
}

static double deep_sites(int64_t x, int64_t y)
{
  return x == 4 ? -3.5 + (double)y : 0;
}

/* Every cut of a ribbon is crossed by T from the left, and by as much from the right; inner sites
 * lose nothing. */
static void check_bond_currents(const ribbon *r, int method, int64_t n_k, const double (*k)[2])
{
  const double energy[] = {0.21, 0.9, 1.73};
  qt_transport_spec spec = ribbon_spec(method, 3, energy);
  qt_transport out;

  spec.n_k = n_k;
  spec.k = k;
  spec.bond_currents = true;
  assert_ok(ribbon_transport(r, &spec, &out));
  assert_null(out.dos);
  const qt_sparse *b = &out.bonds;
  const int64_t n_bonds = qt_sparse_count(b);

  assert_true(n_bonds >= (r->length - 1) * r->width);
  for (int64_t item = 0; item < 3 * n_k; item++) {
    for (int c = 0; c < QT_LEADS; c++) {
      const double *j = out.bond_current[c] + item * n_bonds;
      const double t = (c == QT_LEFT ? 1 : -1) * out.transmission[item];
      double lost[64] = {0};

      assert_true(fabs(t) > 0.01);
      for (int64_t cut = 1; cut < r->length; cut++) {
        double sum = 0;

        for (int64_t i = 0; i < b->rows; i++) {
          for (int64_t at = b->start[i]; at < b->start[i + 1]; at++) {
            const bool crosses = i < cut * r->width && b->column[at] >= cut * r->width;

            assert_true(b->column[at] > i);
            sum += crosses ? j[at] : 0;
            lost[i] += cut == 1 ? j[at] : 0;
            lost[b->column[at]] -= cut == 1 ? j[at] : 0;
          }
        }
        assert_near(sum, t, 1e-10);
      }
      for (int64_t i = r->width; i < b->rows - r->width; i++) {
        assert_near(lost[i], 0, 1e-10);
      }
    }
  }
  qt_transport_fini(&out);
}

static void bond_currents_are_conserved(void **state)
{
  static const double none[1][2] = {{0, 0}}, k[][2] = {{0, 0}, {0, 0.13}, {0.4, 0.5}};
  const ribbon perfect = {.width = 1, .length = 5, .hopping = -1};
  const ribbon rough = {.width = 4, .length = 9, .hopping = -1, .disorder = 1.5};

  for (int method = 0; method <= QT_LEAD_CONTOUR; method++) {
    ribbon r = rough;

    check_bond_currents(&perfect, method, 1, none);
    check_bond_currents(&rough, method, 1, none);
    r.site = deep_sites;
    r.merge = 3;
    check_bond_currents(&r, method, 1, none);
    r = (ribbon){.width = 1, .length = 6, .hopping = -1, .overlap = 0.1, .bond = softer};
    check_bond_currents(&r, method, 1, none);
    r = rough;
    r.periodic = -1;
    check_bond_currents(&r, method, 3, k);
    r = (ribbon){.width = 3, .length = 7, .onsite = 2.5, .hopping = -1, .site = heavy_site};
    r.particle = QT_PHONONS;
    check_bond_currents(&r, method, 1, none);
  }
}

static void points_that_fail_are_named(void **state)
{
  const double k[][2] = {{0, 0}, {0, 0.25}}, energy[] = {0.3, 0.5, 0.5};
  const ribbon r = {.width = 1, .length = 3, .hopping = -1};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 3, energy);
  qt_transport out;
  qt_system s;

  ribbon_create(&r, &s);
  spec.n_k = 2;
  spec.k = k;
  spec.threads = 2;
  s.lead[QT_RIGHT].cell.matrix[0].value[0].re = NAN;
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "k (0, 0), energy 0.3 eV: lead:"));
  assert_null(out.transmission);
  s.lead[QT_RIGHT].n = 2;
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_SHAPE);
  s.lead[QT_RIGHT].n = 1;
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(perfect_wires_count_their_channels),
      cmocka_unit_test(broadening_does_not_close_a_channel),
      cmocka_unit_test(broadening_leaves_long_waves_alone),
      cmocka_unit_test(one_impurity_in_a_chain),
      cmocka_unit_test(a_double_barrier_resonates),
      cmocka_unit_test(harmonic_chains_and_a_mass_defect),
      cmocka_unit_test(different_leads_reflect_at_the_step),
      cmocka_unit_test(densities_of_states_are_those_of_bands),
      cmocka_unit_test(densities_of_states_sum_to_one),
      cmocka_unit_test(what_must_not_change_a_transmission),
      cmocka_unit_test(transverse_wave_vectors),
      cmocka_unit_test(bond_currents_are_conserved),
      cmocka_unit_test(points_that_fail_are_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
