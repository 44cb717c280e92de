/* bands_test.c - a chain, whose band and electrons are known. */
#include "model/electrostatics/bands.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/transmission_test.h"
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
      assert_int_equal(b.first, side ? 16 : 0);
      qt_bands_fini(&b);
    }
    qt_system_fini(&s);
  }
}

/* At low temperature a cell holds (2 / pi) arccos((e - mu) / 2 |t|)... electrons. */
static void electrons_and_mu_are_inverse(void **state)
{
  const qt_bands_spec spec = {.points = 400, .spin = 2, .mid_gap = -5};
  const double kt = 0.02;
  qt_system s;
  qt_bands b;

  make_chain(0.2, -0.8, 0, &s);
  assert_ok(qt_bands_create(&s.lead[0], 1, gamma_point, &spec, &b));
  for (double n = 1e-6; n < 1.9; n = n * 3 + 0.01) {
    double mu, slope, more;

    assert_ok(qt_bands_find_mu(&b, n, kt, &mu));
    assert_near(qt_bands_electrons(&b, mu, kt, &slope) / n, 1, 1e-6);
    more = qt_bands_electrons(&b, mu + 1e-5, kt, &more);
    assert_near((more - n) / 1e-5 / slope, 1, 1e-2);
  }
  double mu, slope;

  assert_ok(qt_bands_find_mu(&b, 0.5, 0.005, &mu)); /* a quarter of the band */
  assert_near(mu, 0.2 - 2 * 0.8 * cos(M_PI / 4), 1e-3);
  assert_near(qt_bands_electrons(&b, 100, kt, &slope), 2, 1e-12);
  assert_int_equal(qt_bands_find_mu(&b, 2.5, kt, &mu), WEIR_ERR_CONFIG);
  weir_clear_failure();
  qt_bands_fini(&b);
  qt_system_fini(&s);
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
    assert_int_equal(b.first, 16);
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_band_of_a_chain_ends_where_the_formula_says),
      cmocka_unit_test(electrons_and_mu_are_inverse),
      cmocka_unit_test(the_gap_of_a_dimer_chain_is_that_of_its_hoppings),
      cmocka_unit_test(a_mid_gap_in_a_band_is_refused_with_the_gaps),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
