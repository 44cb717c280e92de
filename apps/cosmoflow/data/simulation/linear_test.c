/* linear_test.c - against the values of a prototype, closed forms and other quadratures. */
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/simulation/linear.h"

#define PI 3.14159265358979323846

static const cf_cosmology planck = {0.3089, 0.0486, 0.6774, 0.9667, 0.8159};

static cf_linear of(const cf_cosmology *c, cf_transfer transfer)
{
  cf_linear l;

  assert_ok(cf_linear_init(c, transfer, &l));
  return l;
}

/* Within 1e-4 and half of the last digit that the reference gives. */
static void check_value(double value, double reference, double last_digit)
{
  assert_near(value / reference, 1, 1e-4 + last_digit / 2 / reference);
}

static void values_of_the_reference(void **state)
{
  static const double k[4] = {0.001, 0.01, 0.1, 1};
  static const double smooth[4] = {0.99202, 0.78552, 0.13316, 0.00465};
  static const double full[4] = {0.99221, 0.77956, 0.13089, 0.00468};
  const cf_linear s = of(&planck, CF_TRANSFER_SMOOTH), f = of(&planck, CF_TRANSFER_FULL);

  for (int i = 0; i < 4; i++) {
    check_value(cf_linear_transfer(&s, k[i]), smooth[i], 1e-5);
    check_value(cf_linear_transfer(&f, k[i]), full[i], 1e-5);
  }
  check_value(cf_linear_power(&s, 0.01), 21905.2, 0.1);
  check_value(cf_linear_power(&s, 0.1), 5830.7, 0.1);
  check_value(cf_linear_power(&s, 1), 65.80, 0.01);
  check_value(cf_linear_growth(&s, 0.5), 0.60877, 1e-5);
  check_value(cf_linear_growth(&s, 0.25), 0.31677, 1e-5);
  /* Before D(1) = 1: of a universe that was all matter once, D = a there. */
  check_value(1e-3 / cf_linear_growth(&s, 1e-3), 0.78427, 1e-5);
}

static double top_hat(double x)
{
  return x < 1e-3 ? 1 : 3 * (sin(x) - x * cos(x)) / (x * x * x);
}

/* Simpson's rule in k^(1/4), not the rule that the amplitude was made with. */
static double sigma_by_simpson(const cf_linear *l, double radius)
{
  const int n = 40000;
  const double top = pow(60, 0.25);
  double sum = 0;

  for (int i = 1; i <= n; i++) {
    const double u = top * i / n, k = u * u * u * u, w = top_hat(k * radius);
    const double f = k * k * cf_linear_power(l, k) * w * w * 4 * u * u * u;

    sum += (i == n ? 1 : i % 2 == 1 ? 4 : 2) * f;
  }
  return sqrt(sum * top / (3 * n) / (2 * PI * PI));
}

/* A cosmology of the ranges that universes are drawn from, and wider. */
static cf_cosmology draw(uint32_t draw_no)
{
  const double u = weir_random_uniform(1, 1, draw_no, 0), v = weir_random_uniform(1, 1, draw_no, 1),
               w = weir_random_uniform(1, 1, draw_no, 2), x = weir_random_uniform(1, 1, draw_no, 3),
               y = weir_random_uniform(1, 1, draw_no, 4);
  const double omega_m = 0.1 + 0.85 * u;

  return (cf_cosmology){omega_m, omega_m * (0.02 + 0.3 * v), 0.5 + 0.4 * w, 0.8 + 0.3 * x,
                        0.4 + 0.8 * y};
}

static void the_amplitude_is_that_of_sigma_8(void **state)
{
  for (uint32_t draw_no = 0; draw_no < 6; draw_no++) {
    const cf_cosmology c = draw(draw_no);
    const cf_linear l = of(&c, draw_no % 2 ? CF_TRANSFER_SMOOTH : CF_TRANSFER_FULL);

    assert_near(cf_linear_sigma(&l, 8), c.sigma_8, 1e-12);
    assert_near(sigma_by_simpson(&l, 8) / c.sigma_8, 1, 1e-6);
    assert_true(cf_linear_sigma(&l, 4) > c.sigma_8 && cf_linear_sigma(&l, 16) < c.sigma_8);
  }
}

/* D obeys its equation: (a^3 E D')' = 3/2 Om D / (a^2 E); and its rate is its slope. */
static void growth_obeys_its_equation(void **state)
{
  for (uint32_t draw_no = 0; draw_no < 20; draw_no++) {
    const cf_cosmology c = draw(draw_no);
    const cf_linear l = of(&c, CF_TRANSFER_SMOOTH);
    const double a = 0.05 + 0.95 * weir_random_uniform(2, 1, draw_no, 0), step = 1e-3 * a;
    double flux[2];

    for (int i = 0; i < 2; i++) {
      const double at = a + (i == 0 ? -step : step);

      flux[i] = at * at * cf_linear_expansion(&l, at) * cf_linear_growth_rate(&l, at) *
                cf_linear_growth(&l, at);
    }
    const double force =
        1.5 * c.omega_m * cf_linear_growth(&l, a) / (a * a * cf_linear_expansion(&l, a));

    assert_near((flux[1] - flux[0]) / (2 * step) / force, 1, 1e-5);
    assert_near(log(cf_linear_growth(&l, a + step) / cf_linear_growth(&l, a - step)) /
                    log((a + step) / (a - step)),
                cf_linear_growth_rate(&l, a), 1e-6);
    /* The fits of second order agree to a few parts in a thousand. */
    assert_near(log(cf_linear_growth2(&l, a + step) / cf_linear_growth2(&l, a - step)) /
                    log((a + step) / (a - step)) / cf_linear_growth2_rate(&l, a),
                1, 0.03);
  }
}

/* Carroll, Press and Turner, ARA&A 30 (1992) 499. */
static void growth_is_near_its_fit(void **state)
{
  const cf_linear l = of(&planck, CF_TRANSFER_SMOOTH);
  const double om = planck.omega_m, ol = 1 - om;
  const double fit = 2.5 * om / (pow(om, 4.0 / 7) - ol + (1 + om / 2) * (1 + ol / 70));

  assert_near(1e-3 / cf_linear_growth(&l, 1e-3), fit, 1.2e-3);
}

static void matter_alone_grows_as_a(void **state)
{
  const cf_cosmology c = {1, 0.05, 0.5, 1, 0.7};
  const cf_linear l = of(&c, CF_TRANSFER_FULL);

  for (double a = 0.01; a < 1.5; a *= 1.7) {
    assert_near(cf_linear_growth(&l, a) / a, 1, 1e-9);
    assert_near(cf_linear_growth_rate(&l, a), 1, 1e-9);
    assert_near(cf_linear_growth2(&l, a) / (-3.0 / 7 * a * a), 1, 1e-9);
    assert_near(cf_linear_growth2_rate(&l, a), 2, 1e-9);
  }
}

static void both_ends_are_right(void **state)
{
  const cf_linear f = of(&planck, CF_TRANSFER_FULL), s = of(&planck, CF_TRANSFER_SMOOTH);

  assert_true(cf_linear_power(&f, 0) == 0 && cf_linear_transfer(&f, 0) == 1);
  assert_near(cf_linear_transfer(&f, 1e-7), 1, 1e-5);
  assert_near(cf_linear_transfer(&s, 1e-7), 1, 1e-5);
  assert_near(cf_linear_power(&f, 2e-6) / cf_linear_power(&f, 1e-6), pow(2, planck.n_s), 1e-4);
  /* Baryons oscillate around the smooth fit. */
  int above = 0, below = 0;

  for (double k = 0.03; k < 0.3; k *= 1.01) {
    const double ratio = cf_linear_transfer(&f, k) / cf_linear_transfer(&s, k);

    above += ratio > 1.005;
    below += ratio < 0.995;
    assert_near(ratio, 1, 0.06);
  }
  assert_true(above > 5 && below > 5);
}

static void what_cannot_be_is_refused(void **state)
{
  static const cf_cosmology bad[] = {
      {0, 0.05, 0.7, 1, 0.8},     {0.3, 0.3, 0.7, 1, 0.8},  {1.1, 0.05, 0.7, 1, 0.8},
      {0.3, 0, 0.7, 1, 0.8},      {0.3, 0.05, 0, 1, 0.8},   {0.3, 0.05, 0.7, 4, 0.8},
      {0.3, 0.05, 0.7, 1, 0},     {NAN, 0.05, 0.7, 1, 0.8}, {0.3, NAN, 0.7, 1, 0.8},
      {0.3, 0.05, NAN, 1, 0.8},   {0.3, 0.05, 0.7, NAN, 1}, {0.3, 0.05, 0.7, 1, NAN},
      {0.3, 0.05, 1e200, 1, 0.8},
  };
  cf_linear l = {.amplitude = 7};

  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(cf_linear_init(&bad[i], CF_TRANSFER_FULL, &l), WEIR_ERR_CONFIG);
    assert_true(l.amplitude == 7);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_of_the_reference),
      cmocka_unit_test(the_amplitude_is_that_of_sigma_8),
      cmocka_unit_test(growth_obeys_its_equation),
      cmocka_unit_test(growth_is_near_its_fit),
      cmocka_unit_test(matter_alone_grows_as_a),
      cmocka_unit_test(both_ends_are_right),
      cmocka_unit_test(what_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
