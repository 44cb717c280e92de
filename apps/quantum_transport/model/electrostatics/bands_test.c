/* bands_test.c - a chain, whose band and electrons are known. */
#include "model/electrostatics/bands.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "support/quantum_transport/transmission_test.h"
#include "model/units.h"
#include "model/wire.h"

static const double gamma_point[1][2] = {{0, 0}};

static void make_chain(double onsite, double hopping, double overlap, qt_system *s)
{
  const ribbon r = {
      .width = 1, .length = 2, .onsite = onsite, .hopping = hopping, .overlap = overlap};

  ribbon_create(&r, s);
}

/* E(k) = (e + 2 t cos k) / (1 + 2 s cos k). */
static void the_band_of_a_chain_ends_where_the_formula_says(void **state)
{
  for (int round = 0; round < 6; round++) {
    const double e = weir_random_uniform(22, 0, 0, (uint64_t)round) - 0.5, t = -1.1;
    const double overlap = round % 2 ? 0.1 : 0;
    const double end[] = {(e + 2 * t) / (1 + 2 * overlap), (e - 2 * t) / (1 - 2 * overlap)};
    qt_system s;
    qt_bands b;

    make_chain(e, t, overlap, &s);
    for (int side = 0; side < 2; side++) {
      const qt_bands_spec spec = {.points = 16, .spin = 2, .mid_gap = side ? 10 : -10};

      assert_ok(qt_bands_create(&s.lead[0], 1, gamma_point, &spec, &b));
      assert_near(side ? b.valence : b.conduction, end[side], 1e-12);
      assert_true(isinf(side ? b.conduction : b.valence));
      assert_int_equal(b.first, side);
      qt_bands_fini(&b);
    }
    qt_system_fini(&s);
  }
}

/* At low temperature a cell holds (2 / pi) arccos((e - mu) / 2 |t|) electrons. */
static void electrons_and_mu_are_inverse(void **state)
{
  const qt_bands_spec spec = {
      .points = 400, .spin = 2, .mid_gap = -5, .tolerance = 1e-4, .max_points = 400};
  const double kt = 0.02;
  qt_system s;
  qt_bands b;

  make_chain(0.2, -0.8, 0, &s);
  assert_ok(qt_bands_create(&s.lead[0], 1, gamma_point, &spec, &b));
  for (double n = 1e-6; n < 1.9; n = n * 3 + 0.01) {
    double mu, slope, more;

    assert_ok(qt_bands_find_mu(&s.lead[0], gamma_point, &spec, n, kt, &b, &mu));
    assert_near(qt_bands_electrons(&b, mu, kt, &slope) / n, 1, 1e-6);
    more = qt_bands_electrons(&b, mu + 1e-5, kt, &more);
    assert_near((more - n) / 1e-5 / slope, 1, 1e-2);
  }
  double mu, slope;

  assert_ok(qt_bands_find_mu(&s.lead[0], gamma_point, &spec, 0.5, 0.005, &b,
                             &mu)); /* a quarter of the band */
  assert_near(mu, 0.2 - 2 * 0.8 * cos(M_PI / 4), 1e-3);
  assert_near(qt_bands_electrons(&b, 100, kt, &slope), 2, 1e-12);
  assert_int_equal(qt_bands_find_mu(&s.lead[0], gamma_point, &spec, 2.5, kt, &b, &mu),
                   WEIR_ERR_CONFIG);
  weir_clear_failure();
  qt_bands_fini(&b);
  qt_system_fini(&s);
}

/* Electrons of a cell of `sites` of a chain, 2 / pi times the integral of Fermi's function over
 * half a zone: by enough points for the coldest. */
static double count_chain(double e, double t, double mu, double kt, int64_t sites)
{
  const int64_t points = 400000;
  double sum = 0;

  for (int64_t i = 0; i < points; i++) {
    const double k = M_PI * ((double)i + 0.5) / (double)points;

    sum += 1 / (1 + exp((e + 2 * t * cos(k) - mu) / kt));
  }
  return 2 * (double)sites * sum / (double)points;
}

/* A chain whose cell has three sites: bands that touch at the ends and the middle of the zone. */
static void make_folded_chain(double e, double t, qt_system *s)
{
  qt_wire wire = {.n = 3, .n_atoms = 1, .cell = {{1}, {0, 1}, {0, 0, 1}}};

  assert_ok(weir_alloc(1, sizeof *wire.atom, (void **)&wire.atom));
  wire.atom[0] = (qt_atom){.n_orbitals = 3, .symbol = "X"};
  for (int64_t i = 0; i < 3; i++) {
    const int64_t here[3] = {0, 0, 0}, up[3] = {i == 2, 0, 0}, down[3] = {-(i == 2), 0, 0};

    qt_elements_add(&wire.elements, i, i, here, (weir_c128){e, 0});
    qt_elements_add(&wire.elements, i, (i + 1) % 3, up, (weir_c128){t, 0});
    qt_elements_add(&wire.elements, (i + 1) % 3, i, down, (weir_c128){t, 0});
  }
  assert_ok(qt_wire_create(&wire, 2, NULL, (const double[QT_LEADS]){0, 0}, s));
  qt_wire_fini(&wire);
}

static void check_level(const qt_system *s, double electrons, double kt, double mu, double accuracy)
{
  const qt_bands_spec spec = {
      .points = 64, .spin = 2, .mid_gap = -9, .tolerance = 1e-5, .max_points = 1 << 14};
  qt_bands b;
  double found;

  assert_ok(qt_bands_create(&s->lead[0], 1, gamma_point, &spec, &b));
  assert_ok(qt_bands_find_mu(&s->lead[0], gamma_point, &spec, electrons, kt, &b, &found));
  assert_near(found, mu, accuracy);
  qt_bands_fini(&b);
}

/* From full degeneracy to fewer electrons than 1e-9 a cell, near both band edges. */
static void the_level_of_a_chain_is_found_at_any_temperature(void **state)
{
  static const double kelvin[] = {300, 77, 20, 4, 1};
  static const double mu[] = {-2.3, -1.99, -1.9, -1.2, 0.3, 2.1};
  const double e = 0.1, t = -1;
  qt_system one, three = {.n = 0};

  make_chain(e, t, 0, &one);
  make_folded_chain(e, t, &three);
  for (size_t i = 0; i < sizeof kelvin / sizeof *kelvin; i++) {
    for (size_t j = 0; j < sizeof mu / sizeof *mu; j++) {
      const double kt = QT_BOLTZMANN * kelvin[i], n = count_chain(e, t, mu[j], kt, 1);

      if (n < 1e-12) { /* what the reference loses */
        continue;
      }
      check_level(&one, n, kt, mu[j], 2e-6);
      check_level(&three, 3 * n, kt, mu[j], 1e-5);
    }
  }
  qt_system_fini(&one);
  qt_system_fini(&three);
}

/* Alternating hoppings v, w: E = +-|v + w exp(i k)|, with a complex phase of w that k takes up. */
static void the_gap_of_a_dimer_chain_is_that_of_its_hoppings(void **state)
{
  for (uint64_t round = 0; round < 4; round++) {
    const double v = 0.3 + weir_random_uniform(25, 0, 0, round), w = v + 0.2 + 0.3 * (double)round;
    const double phase = 2 * M_PI * (double)round / 16;
    const int64_t here[3] = {0, 0, 0}, up[3] = {1, 0, 0}, down[3] = {-1, 0, 0};
    const qt_bands_spec spec = {.points = 16, .spin = 2, .mid_gap = 0};
    qt_wire wire = {.n = 2, .n_atoms = 1, .cell = {{1}, {0, 1}, {0, 0, 1}}};
    qt_system s = {.n = 0};
    qt_bands b;

    assert_ok(weir_alloc(1, sizeof *wire.atom, (void **)&wire.atom));
    wire.atom[0] = (qt_atom){.n_orbitals = 2, .symbol = "X"};
    qt_elements_add(&wire.elements, 0, 1, here, (weir_c128){v, 0});
    qt_elements_add(&wire.elements, 1, 0, here, (weir_c128){v, 0});
    qt_elements_add(&wire.elements, 1, 0, up, (weir_c128){w * cos(phase), w * sin(phase)});
    qt_elements_add(&wire.elements, 0, 1, down, (weir_c128){w * cos(phase), -w * sin(phase)});
    assert_ok(qt_wire_create(&wire, 2, NULL, (const double[QT_LEADS]){0, 0}, &s));
    assert_ok(qt_bands_create(&s.lead[0], 1, gamma_point, &spec, &b));
    assert_near(b.valence, v - w, 1e-12);
    assert_near(b.conduction, w - v, 1e-12);
    assert_int_equal(b.first, 1);
    qt_bands_fini(&b);
    qt_wire_fini(&wire);
    qt_system_fini(&s);
  }
}

static void a_mid_gap_in_a_band_is_refused_with_the_gaps(void **state)
{
  const qt_bands_spec spec = {.points = 16, .spin = 2, .mid_gap = 0.1};
  qt_system s;
  qt_bands b;

  make_chain(0, -1, 0, &s);
  assert_int_equal(qt_bands_create(&s.lead[0], 1, gamma_point, &spec, &b), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "gap below is -3 eV, above 3 eV"));
  weir_clear_failure();
  qt_system_fini(&s);
}

/* Electrons and holes of an undoped dimer chain are equal in the middle of its gap, also where
 * both are too few for a number. */
static void the_level_without_doping_is_in_the_middle_of_a_symmetric_gap(void **state)
{
  const int64_t here[3] = {0, 0, 0}, up[3] = {1, 0, 0}, down[3] = {-1, 0, 0};
  qt_wire wire = {.n = 2, .n_atoms = 1, .cell = {{1}, {0, 1}, {0, 0, 1}}};
  const qt_bands_spec spec = {
      .points = 16, .spin = 2, .mid_gap = 1, .tolerance = 1e-6, .max_points = 1000};
  qt_system s = {.n = 0};
  qt_bands b;

  assert_ok(weir_alloc(1, sizeof *wire.atom, (void **)&wire.atom));
  wire.atom[0] = (qt_atom){.n_orbitals = 2, .symbol = "X"};
  for (int64_t i = 0; i < 2; i++) {
    qt_elements_add(&wire.elements, i, i, here, (weir_c128){0.7, 0});
    qt_elements_add(&wire.elements, i, 1 - i, here, (weir_c128){-1, 0});
  }
  qt_elements_add(&wire.elements, 1, 0, up, (weir_c128){-3.1, 0});
  qt_elements_add(&wire.elements, 0, 1, down, (weir_c128){-3.1, 0});
  assert_ok(qt_wire_create(&wire, 2, NULL, (const double[QT_LEADS]){0, 0}, &s));
  for (double kelvin = 1; kelvin < 2000; kelvin *= 7) {
    double mu;

    assert_ok(qt_bands_create(&s.lead[0], 1, gamma_point, &spec, &b));
    assert_ok(qt_bands_find_mu(&s.lead[0], gamma_point, &spec, 0, QT_BOLTZMANN * kelvin, &b, &mu));
    assert_near(mu, 0.7, 1e-8);
    qt_bands_fini(&b);
  }
  qt_wire_fini(&wire);
  qt_system_fini(&s);
}

static void a_level_that_needs_more_points_than_allowed_is_refused(void **state)
{
  const qt_bands_spec spec = {
      .points = 4, .spin = 2, .mid_gap = -5, .tolerance = 1e-9, .max_points = 20};
  qt_system s;
  qt_bands b;
  double mu;

  make_chain(0, -1, 0, &s);
  assert_ok(qt_bands_create(&s.lead[0], 1, gamma_point, &spec, &b));
  assert_int_equal(qt_bands_find_mu(&s.lead[0], gamma_point, &spec, 0.3, 1e-3, &b, &mu),
                   WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "from 8 to 16 wave vectors along x"));
  assert_non_null(strstr(weir_last_message(), "more electrostatics.max_band_points than 20"));
  weir_clear_failure();
  assert_int_equal(b.points, 16);
  qt_bands_fini(&b);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_band_of_a_chain_ends_where_the_formula_says),
      cmocka_unit_test(electrons_and_mu_are_inverse),
      cmocka_unit_test(the_level_of_a_chain_is_found_at_any_temperature),
      cmocka_unit_test(the_level_without_doping_is_in_the_middle_of_a_symmetric_gap),
      cmocka_unit_test(a_level_that_needs_more_points_than_allowed_is_refused),
      cmocka_unit_test(the_gap_of_a_dimer_chain_is_that_of_its_hoppings),
      cmocka_unit_test(a_mid_gap_in_a_band_is_refused_with_the_gaps),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
