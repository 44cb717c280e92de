/* bulk_test.c - bands and phonons of the crystal against reference values. */
#include "support/quantum_transport/bulk_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/silicon/force_field.h"
#include "model/silicon/sp3d5s.h"
#include "model/units.h"

enum { CAPACITY = BULK_CAPACITY, COLUMNS = 64 };
static const double a = 5.431;
static const double kinetic = 3.80998211;       /* hbar^2 / (2 m_e) in eV Angstrom^2 */
static const double terahertz = 4.135667696e-3; /* h 1 THz in eV */

static void create(qt_crystal *c)
{
  assert_ok(qt_crystal_create((const int64_t[3]){1, 1, 1}, (const bool[3]){true, true, true},
                              (const double[3]){a, a, a}, c));
}

static void electrons(bool spin_orbit, qt_wire *w)
{
  qt_sp3d5s_opts o;
  qt_crystal c;

  weir_opts_default(qt_sp3d5s_options, sizeof o, &o);
  o.spin_orbit = spin_orbit;
  create(&c);
  assert_ok(qt_sp3d5s_wire(&c, &o, w));
  qt_crystal_fini(&c);
}

/* Splits a line of the file at commas; returns how many columns, 0 at the end of the file. */
static int read_row(FILE *file, char line[2048], char *column[COLUMNS])
{
  int n = 0;

  do {
    if (fgets(line, 2048, file) == NULL) {
      return 0;
    }
  } while (line[0] == '#');
  for (char *at = strtok(line, ",\n"); at != NULL && n < COLUMNS; at = strtok(NULL, ",\n")) {
    column[n++] = at;
  }
  return n;
}

static void bands_are_those_of_the_reference(void **state)
{
  char path[512], line[2048], *column[COLUMNS];
  double value[CAPACITY];
  int rows = 0;
  qt_wire w[2];

  weir_check_shared(path, sizeof path, "quantum/reference/si_bulk_bands.csv");
  FILE *file = fopen(path, "r");

  assert_non_null(file);
  electrons(false, &w[0]);
  electrons(true, &w[1]);
  for (int n; (n = read_row(file, line, column)) > 0; rows++) {
    const double k[3] = {atof(column[1]), atof(column[2]), atof(column[3])};
    const int spin_orbit = atoi(column[4]);

    assert_int_equal(bulk_bands(&w[spin_orbit], k, value), n - 5);
    for (int i = 5; i < n; i++) {
      assert_true(fabs(value[i - 5] - atof(column[i])) < 2e-8);
    }
  }
  assert_int_equal(rows, 12);
  (void)fclose(file);
  qt_wire_fini(&w[0]);
  qt_wire_fini(&w[1]);
}

static double band(const qt_wire *w, int64_t i, double kx, double ky, double kz)
{
  double value[CAPACITY];

  (void)bulk_bands(w, (const double[3]){kx, ky, kz}, value);
  return value[i];
}

/* hbar^2 / E'' in electron masses, of three energies at distances `step` in 2 pi / a. */
static double mass(double before, double at, double after, double step)
{
  const double k = step * 2 * M_PI / a;

  return 2 * kinetic * k * k / (before - 2 * at + after);
}

static void gap_minimum_and_masses_are_those_of_the_reference(void **state)
{
  const double gap[] = {1.1469, 1.1312}, top[] = {-0.0157, 0};

  for (int spin_orbit = 0; spin_orbit < 2; spin_orbit++) {
    const int64_t spins = 1 + spin_orbit, conduction = 4 * spins, valence = conduction - 1;
    const double step = 0.01;
    double at = 0.8;
    qt_wire w;

    electrons(spin_orbit == 1, &w);
    const double e_v = band(&w, valence, 0, 0, 0);

    for (int i = 0; i < 5; i++) { /* Newton's method */
      const double e0 = band(&w, conduction, at - step, 0, 0);
      const double e1 = band(&w, conduction, at, 0, 0);
      const double e2 = band(&w, conduction, at + step, 0, 0);

      at -= step / 2 * (e2 - e0) / (e0 - 2 * e1 + e2);
    }
    const double e_c = band(&w, conduction, at, 0, 0);
    const double near = band(&w, conduction, at, step / 4, 0);

    assert_true(fabs(e_v - top[spin_orbit]) < 5e-5);
    assert_true(fabs(e_c - e_v - gap[spin_orbit]) < 5e-5);
    assert_true(fabs(at - 0.8133) < 5e-5);
    assert_true(fabs(mass(band(&w, conduction, at - step, 0, 0), e_c,
                          band(&w, conduction, at + step, 0, 0), step) -
                     0.891) < 5e-4);
    assert_true(fabs(mass(near, e_c, near, step / 4) - 0.2012) < 5e-5);
    qt_wire_fini(&w);
  }
}

/* With spin-orbit coupling, above the valence band: split-off band, Gamma15c, X1c, L. */
static void edges_have_the_energies_of_the_reference(void **state)
{
  static const struct {
    double k[3];
    int64_t band;
    double energy;
  } edges[] = {{{0, 0, 0}, 3, -0.0472},
               {{0, 0, 0}, 8, 3.399},
               {{1, 0, 0}, 8, 1.343},
               {{0.5, 0.5, 0.5}, 8, 2.383}};
  qt_wire w;

  electrons(true, &w);
  const double top = band(&w, 7, 0, 0, 0);

  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    const double *k = edges[i].k;
    const double energy = band(&w, edges[i].band, k[0], k[1], k[2]) - top;

    assert_true(fabs(energy - edges[i].energy) < (i == 0 ? 5e-5 : 5e-4));
  }
  qt_wire_fini(&w);
}

static void holes_have_the_masses_of_the_reference(void **state)
{
  const double directions[3][3] = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}};
  const double masses[3][3] = {{0.276, 0.215, 0.245}, {0.595, 0.154, 0.239}, {0.734, 0.148, 0.236}};
  const int64_t bands[3] = {7, 5, 3}; /* heavy, light, split off */
  qt_wire w;

  electrons(true, &w);
  for (int d = 0; d < 3; d++) {
    const double *u = directions[d], step = 0.01 / sqrt(u[0] + u[1] + u[2]);

    for (int b = 0; b < 3; b++) {
      const double at = band(&w, bands[b], 0, 0, 0);
      const double near = band(&w, bands[b], step * u[0], step * u[1], step * u[2]);

      assert_true(fabs(-mass(near, at, near, 0.01) - masses[d][b]) < 5e-4);
    }
  }
  qt_wire_fini(&w);
}

static void phonons(int model, qt_wire *w)
{
  qt_force_opts o;
  qt_crystal c;

  weir_opts_default(qt_force_options, sizeof o, &o);
  o.model = model;
  create(&c);
  assert_ok(qt_force_wire(&c, &o, w));
  qt_crystal_fini(&c);
}

static void phonons_have_the_frequencies_of_the_reference(void **state)
{
  char path[512], line[2048], *column[COLUMNS];
  double value[CAPACITY];
  qt_wire w[2]; /* mvff, keating */
  int rows = 0;

  weir_check_shared(path, sizeof path, "quantum/reference/si_bulk_phonons.csv");
  FILE *file = fopen(path, "r");

  assert_non_null(file);
  phonons(0, &w[0]);
  phonons(1, &w[1]);
  for (int n; (n = read_row(file, line, column)) > 0; rows++) {
    const double q[3] = {atof(column[2]), atof(column[3]), atof(column[4])};

    assert_int_equal(n, 11);
    assert_int_equal(bulk_bands(&w[strcmp(column[0], "keating") == 0], q, value), 6);
    for (int i = 0; i < 6; i++) { /* printed with 6 digits, compared as squares, for some are 0 */
      const double energy = atof(column[5 + i]) * terahertz;

      assert_true(fabs(value[i] - energy * energy) < 2 * energy * 5.5e-7 * terahertz + 1e-16);
    }
  }
  assert_int_equal(rows, 10);
  (void)fclose(file);
  qt_wire_fini(&w[0]);
  qt_wire_fini(&w[1]);
}

static void optical_phonons_have_their_closed_form(void **state)
{
  const double alpha = 48.5, beta = 13.8, mass = 28.0855;
  double value[CAPACITY];
  qt_wire w;

  phonons(1, &w); /* M omega^2 = 8 (alpha + beta) (Keating 1966) */
  (void)bulk_bands(&w, (const double[3]){0, 0, 0}, value);
  assert_near(value[5] / (QT_VIBRATION * QT_NEWTON * 8 * (alpha + beta) / mass), 1, 1e-13);
  qt_wire_fini(&w);
  phonons(0, &w);
  (void)bulk_bands(&w, (const double[3]){0, 0, 0}, value);
  assert_true(fabs(sqrt(value[5]) / terahertz - 15.60) < 5e-3);
  qt_wire_fini(&w);
}

/* m/s along [100]; of Keating's model v^2 = C / density with C11 = (alpha + 3 beta) / a,
 * C44 = 4 alpha beta / ((alpha + beta) a). */
static void sound_has_the_velocities_of_the_reference(void **state)
{
  const double expected[2][2] = {{5423, 8906}, {5829, 8430}}; /* mvff, keating: TA, LA */
  const double hbar = 6.582119569e-16, q = 2e-3, dalton = 1.66053906660e-27; /* eV s; kg */
  const double alpha = 48.5, beta = 13.8, metre = a * 1e-10;
  const double density = 8 * 28.0855 * dalton / pow(metre, 3);
  const double keating[2] = {4 * alpha * beta / ((alpha + beta) * metre),
                             (alpha + 3 * beta) / metre};

  for (int model = 0; model < 2; model++) {
    double value[CAPACITY];
    qt_wire w;

    phonons(model, &w);
    (void)bulk_bands(&w, (const double[3]){q, 0, 0}, value);
    assert_near(value[0] / value[1], 1, 1e-9);
    for (int branch = 0; branch < 2; branch++) {
      const double v = sqrt(value[2 * branch]) / hbar / (2 * M_PI * q / metre);

      assert_true(fabs(v - expected[model][branch]) < 0.5);
      assert_true(model == 0 || fabs(v / sqrt(keating[branch] / density) - 1) < 1e-5);
    }
    qt_wire_fini(&w);
  }
}

/* Along [110] density v^2 is (C11 - C12) / 2, C44, (C11 + C12) / 2 + C44, with C12 = (alpha - beta)
 * / a of Keating's model. */
static void sound_across_the_axes_has_the_stiffness_of_keating(void **state)
{
  const double alpha = 48.5, beta = 13.8, hbar = 6.582119569e-16, dalton = 1.66053906660e-27;
  const double metre = a * 1e-10, q = 1e-3, density = 8 * 28.0855 * dalton / pow(metre, 3);
  const double c11 = (alpha + 3 * beta) / metre, c12 = (alpha - beta) / metre;
  const double c44 = 4 * alpha * beta / ((alpha + beta) * metre);
  const double stiffness[3] = {(c11 - c12) / 2, c44, (c11 + c12) / 2 + c44};
  double value[CAPACITY];
  qt_wire w;

  phonons(1, &w);
  (void)bulk_bands(&w, (const double[3]){q, q, 0}, value);
  for (int branch = 0; branch < 3; branch++) {
    const double v = sqrt(value[branch]) / hbar / (2 * M_PI * sqrt(2) * q / metre);

    assert_true(fabs(v * v * density / stiffness[branch] - 1) < 1e-5);
  }
  qt_wire_fini(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bands_are_those_of_the_reference),
      cmocka_unit_test(gap_minimum_and_masses_are_those_of_the_reference),
      cmocka_unit_test(edges_have_the_energies_of_the_reference),
      cmocka_unit_test(holes_have_the_masses_of_the_reference),
      cmocka_unit_test(phonons_have_the_frequencies_of_the_reference),
      cmocka_unit_test(optical_phonons_have_their_closed_form),
      cmocka_unit_test(sound_has_the_velocities_of_the_reference),
      cmocka_unit_test(sound_across_the_axes_has_the_stiffness_of_keating),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
