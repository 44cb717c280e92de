/* weir_design_test.c - stored scipy coefficients, and what theory says of any design. */
#include "base/weir_check.h"
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_random.h"
#include "stream/design/weir_design.h"

/* |H| at f. */
static double gain(const weir_sos *sos, int count, double f, double rate)
{
  const double complex u = cexp(-2 * M_PI * f / rate * (double complex)I);
  double complex h = 1.0;

  for (int k = 0; k < count; k++) {
    h *= (sos[k].b0 + u * (sos[k].b1 + u * sos[k].b2)) / (1.0 + u * (sos[k].a1 + u * sos[k].a2));
  }
  return cabs(h);
}

typedef struct stored_case {
  weir_design_spec spec;
  int count;
  weir_sos sos[4];
} stored_case;

/* scipy.signal.butter(order, band, fs=rate, output='sos') of scipy 1.10.1. */
// clang-format off
static const stored_case stored[] = {
  {{WEIR_DESIGN_LOWPASS, 3, 0, 40, 360}, 2,
   {{2.362283835860227e-02, 4.724567671720454e-02, 2.362283835860227e-02,
     -4.663076581549986e-01, 0.000000000000000e+00},
    {1.000000000000000e+00, 1.000000000000000e+00, 0.000000000000000e+00,
     -1.159449121543049e+00, 5.135533348722032e-01}}},
  {{WEIR_DESIGN_LOWPASS, 1, 0, 30, 250}, 1,
   {{2.836306788762870e-01, 2.836306788762870e-01, 0.000000000000000e+00,
     -4.327386422474259e-01, 0.000000000000000e+00}}},
  {{WEIR_DESIGN_HIGHPASS, 4, 0.5, 0, 500}, 2,
   {{9.918242120005331e-01, -1.983648424001066e+00, 9.918242120005331e-01,
     -1.988418017374658e+00, 9.884572678187328e-01},
    {1.000000000000000e+00, -2.000000000000000e+00, 1.000000000000000e+00,
     -1.995163241283863e+00, 9.952026248755107e-01}}},
  {{WEIR_DESIGN_BANDPASS, 2, 5, 20, 360}, 2,
   {{1.440144034651122e-02, 2.880288069302244e-02, 1.440144034651122e-02,
     -1.673646903906207e+00, 7.562128338331613e-01},
    {1.000000000000000e+00, -2.000000000000000e+00, 1.000000000000000e+00,
     -1.903835673287967e+00, 9.132335400087375e-01}}},
  {{WEIR_DESIGN_BANDPASS, 1, 8, 20, 125}, 1,
   {{2.372714497766067e-01, 0.000000000000000e+00, -2.372714497766067e-01,
     -1.218050610951831e+00, 5.254571004467863e-01}}},
  {{WEIR_DESIGN_BANDPASS, 1, 1, 100, 250}, 1,
   {{7.468982641182367e-01, 0.000000000000000e+00, -7.468982641182367e-01,
     -4.685043579548042e-01, -4.937965282364733e-01}}},
  {{WEIR_DESIGN_BANDPASS, 4, 20, 100, 256}, 4,
   {{1.905044108322621e-01, 3.810088216645242e-01, 1.905044108322621e-01,
     8.539759378681694e-01, 2.249013000746740e-01},
    {1.000000000000000e+00, -2.000000000000000e+00, 1.000000000000000e+00,
     -1.133978646457878e+00, 3.513033207591000e-01},
    {1.000000000000000e+00, 2.000000000000000e+00, 1.000000000000000e+00,
     1.265339808371639e+00, 6.539100004195384e-01},
    {1.000000000000000e+00, -2.000000000000000e+00, 1.000000000000000e+00,
     -1.518431988369609e+00, 7.303638876391267e-01}}},
  {{WEIR_DESIGN_BANDPASS, 3, 0.5, 40, 1000}, 3,
   {{1.513166753630396e-03, 3.026333507260792e-03, 1.513166753630396e-03,
     -1.728275039728066e+00, 7.836512398054386e-01},
    {1.000000000000000e+00, 0.000000000000000e+00, -1.000000000000000e+00,
     -1.777492909472920e+00, 7.781984933611464e-01},
    {1.000000000000000e+00, -2.000000000000000e+00, 1.000000000000000e+00,
     -1.996893734436133e+00, 9.969037081627870e-01}}},
  {{WEIR_DESIGN_BANDSTOP, 2, 45, 55, 360}, 2,
   {{8.838748274589634e-01, -1.140628009148721e+00, 8.838748274589634e-01,
     -1.118238289892922e+00, 8.782053516496768e-01},
    {1.000000000000000e+00, -1.290485907860837e+00, 1.000000000000000e+00,
     -1.304144956647476e+00, 8.896330225778560e-01}}},
  {{WEIR_DESIGN_BANDSTOP, 3, 5, 100, 250}, 3,
   {{2.863530017091790e-02, -3.868967454902241e-02, 2.863530017091791e-02,
     1.251977607779459e+00, 5.540125942508924e-01},
    {1.000000000000000e+00, -1.351118176449771e+00, 1.000000000000000e+00,
     -3.832185656285394e-01, -4.327386422474259e-01},
    {1.000000000000000e+00, -1.351118176449771e+00, 1.000000000000000e+00,
     -1.869323774495777e+00, 8.844731106732820e-01}}},
};
// clang-format on

static void coefficients_equal_those_of_scipy(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) {
    weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
    int count = 0;

    assert_ok(weir_design_butterworth(&stored[i].spec, sos, &count));
    assert_int_equal(count, stored[i].count);
    const double *ours = &sos[0].b0, *theirs = &stored[i].sos[0].b0;

    for (int k = 0; k < 5 * count; k++) {
      assert_near(ours[k], theirs[k], 1e-10);
    }
  }
}

static weir_design_spec random_spec(uint64_t seed)
{
  const double rate = 125.0 + 875.0 * weir_random_uniform(1, 1, 0, seed);
  const double lo = rate * (0.01 + 0.1 * weir_random_uniform(1, 2, 0, seed));

  return (weir_design_spec){.band = (weir_design_band)(weir_random_bits(1, 3, 0, seed) % 4),
                            .order = 1 + (int)(weir_random_bits(1, 4, 0, seed) % 6),
                            .lo = lo,
                            .hi = lo * (1.5 + 2.0 * weir_random_uniform(1, 5, 0, seed)),
                            .rate = rate};
}

static void edges_lie_at_3_dB_and_poles_inside_the_circle(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    const weir_design_spec s = random_spec(seed);
    weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
    int n = 0;

    assert_ok(weir_design_butterworth(&s, sos, &n));
    assert_true(weir_design_radius(sos, n) < 1.0);
    if (s.band != WEIR_DESIGN_LOWPASS) {
      assert_near(gain(sos, n, s.lo, s.rate), sqrt(0.5), 1e-7);
    }
    if (s.band != WEIR_DESIGN_HIGHPASS) {
      assert_near(gain(sos, n, s.hi, s.rate), sqrt(0.5), 1e-7);
    }
    const bool dc = s.band == WEIR_DESIGN_LOWPASS || s.band == WEIR_DESIGN_BANDSTOP;
    const bool top = s.band == WEIR_DESIGN_HIGHPASS || s.band == WEIR_DESIGN_BANDSTOP;

    assert_near(gain(sos, n, 0.0, s.rate), dc ? 1.0 : 0.0, 1e-9);
    assert_near(gain(sos, n, s.rate / 2, s.rate), top ? 1.0 : 0.0, 1e-9);
    if (s.band == WEIR_DESIGN_BANDSTOP) {
      const double w = sqrt(tan(M_PI * s.lo / s.rate) * tan(M_PI * s.hi / s.rate));

      assert_near(gain(sos, n, atan(w) * s.rate / M_PI, s.rate), 0.0, 1e-7);
    }
  }
}

/* The analytic magnitude of a Butterworth filter on the warped axis. */
static void magnitude_follows_the_butterworth_law(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 100; seed++) {
    weir_design_spec s = random_spec(seed);
    weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
    int n = 0;

    s.band = WEIR_DESIGN_BANDPASS;
    assert_ok(weir_design_butterworth(&s, sos, &n));
    const double lo = tan(M_PI * s.lo / s.rate), hi = tan(M_PI * s.hi / s.rate);

    for (int k = 1; k < 20; k++) {
      const double f = s.rate / 2 * k / 20, w = tan(M_PI * f / s.rate);
      const double u = (w * w - lo * hi) / (w * (hi - lo));

      assert_near(gain(sos, n, f, s.rate), 1.0 / sqrt(1.0 + pow(u, 2 * s.order)), 1e-8);
    }
  }
}

static double step(const weir_sos *s, double *z, double x)
{
  const double y = s->b0 * x + z[0];

  z[0] = s->b1 * x - s->a1 * y + z[1];
  z[1] = s->b2 * x - s->a2 * y;
  return y;
}

static void steady_state_starts_without_a_step(void **state)
{
  const weir_design_spec s = {WEIR_DESIGN_LOWPASS, 5, 0, 20, 360};
  weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
  double zi[2 * WEIR_DESIGN_MAX_SECTIONS];
  int n = 0;

  (void)state;
  assert_ok(weir_design_butterworth(&s, sos, &n));
  weir_design_steady_state(sos, n, zi);
  for (int t = 0; t < 50; t++) {
    double x = 1.0;

    for (int k = 0; k < n; k++) {
      x = step(&sos[k], &zi[2 * k], x);
    }
    assert_near(x, 1.0, 1e-10);
  }
}

/* Group delay against the centre of gravity of the response to a slow modulation: the phase
 * difference of two close frequencies. */
static void delay_equals_the_slope_of_the_phase(void **state)
{
  const weir_design_spec s = {WEIR_DESIGN_BANDPASS, 2, 5, 20, 360};
  weir_sos sos[WEIR_DESIGN_MAX_SECTIONS];
  int n = 0;

  (void)state;
  assert_ok(weir_design_butterworth(&s, sos, &n));
  for (double f = 6; f < 20; f += 1.5) {
    double phase[2];

    for (int side = 0; side < 2; side++) {
      const double w = 2 * M_PI * (f + (side ? 1e-3 : -1e-3)) / s.rate;
      double z[2 * WEIR_DESIGN_MAX_SECTIONS] = {0}, re = 0, im = 0;

      for (int t = 0; t < 4000; t++) {
        double x = t == 0;

        for (int k = 0; k < n; k++) {
          x = step(&sos[k], &z[2 * k], x);
        }
        re += x * cos(w * t);
        im -= x * sin(w * t);
      }
      phase[side] = atan2(im, re);
    }
    const double phase_step = remainder(phase[0] - phase[1], 2 * M_PI);

    assert_near(weir_design_delay(sos, n, f, s.rate), phase_step / (2 * M_PI * 2e-3 / s.rate),
                1e-4);
  }
}

static void a_notch_removes_its_line_only(void **state)
{
  weir_sos s;

  (void)state;
  assert_ok(weir_design_notch(50.0, 30.0, 360.0, &s));
  assert_near(gain(&s, 1, 50.0, 360.0), 0.0, 1e-9);
  assert_near(gain(&s, 1, 0.0, 360.0), 1.0, 1e-9);
  assert_near(gain(&s, 1, 10.0, 360.0), 1.0, 1e-3);
  assert_true(weir_design_radius(&s, 1) < 1.0);
}

static void impossible_filters_are_refused(void **state)
{
  const weir_design_spec bad[] = {
      {WEIR_DESIGN_BANDPASS, 2, 20, 5, 360},    {WEIR_DESIGN_BANDPASS, 2, 5, 200, 360},
      {WEIR_DESIGN_LOWPASS, 0, 0, 20, 360},     {WEIR_DESIGN_BANDPASS, 17, 5, 20, 360},
      {WEIR_DESIGN_HIGHPASS, 2, 0, 20, 360},    {WEIR_DESIGN_LOWPASS, 2, 0, 20, NAN},
      {WEIR_DESIGN_LOWPASS, 2, 0, INFINITY, 1}, {WEIR_DESIGN_HIGHPASS, 2, NAN, 20, 360},
      {WEIR_DESIGN_BANDSTOP, 2, 60, 50, 360},   {WEIR_DESIGN_BANDSTOP, 17, 50, 60, 360},
  };
  weir_sos sos[WEIR_DESIGN_MAX_SECTIONS], notch;
  int n = -1;

  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(weir_design_butterworth(&bad[i], sos, &n), WEIR_ERR_CONFIG);
  }
  assert_int_equal(weir_design_butterworth(&bad[0], sos, &n), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "wrong order: the low one, 20 Hz"));
  assert_int_equal(n, -1);
  assert_int_equal(weir_design_notch(200.0, 30.0, 360.0, &notch), WEIR_ERR_CONFIG);
  assert_int_equal(weir_design_notch(50.0, 0.0, 360.0, &notch), WEIR_ERR_CONFIG);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coefficients_equal_those_of_scipy),
      cmocka_unit_test(edges_lie_at_3_dB_and_poles_inside_the_circle),
      cmocka_unit_test(magnitude_follows_the_butterworth_law),
      cmocka_unit_test(steady_state_starts_without_a_step),
      cmocka_unit_test(delay_equals_the_slope_of_the_phase),
      cmocka_unit_test(a_notch_removes_its_line_only),
      cmocka_unit_test(impossible_filters_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
