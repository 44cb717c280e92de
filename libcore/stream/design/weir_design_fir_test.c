/* weir_design_fir_test.c - stored scipy coefficients, and what theory says of any design. */
#include "stream/design/weir_design_fir.h"
#include <complex.h>
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

/* |H| at f of h[taps]. */
static double gain(const double *h, int64_t taps, double f, double rate)
{
  double complex sum = 0;

  for (int64_t k = 0; k < taps; k++) {
    sum += h[k] * cexp(-2 * M_PI * f / rate * (double)k * (double complex)I);
  }
  return cabs(sum);
}

/* First half and middle of scipy.signal.firwin(taps, edges, pass_zero, fs=rate), scipy 1.10.1. */
// clang-format off
static const struct {
  weir_fir_spec spec;
  double h[5];
} stored[] = {
  {{WEIR_DESIGN_LOWPASS, 7, 0, 40, 360},
   {1.132335194486739e-02, 7.484431176249910e-02, 2.426799316376272e-01, 3.423048093100125e-01}},
  {{WEIR_DESIGN_HIGHPASS, 7, 25, 0, 250},
   {-7.989489486156479e-03, -4.643890763828453e-02, -1.425782835940338e-01, 7.917422691161885e-01}},
  {{WEIR_DESIGN_BANDPASS, 9, 5, 20, 125},
   {-1.860963393165831e-02, -2.306371213302781e-02, 6.581994037891370e-02,
    2.969693654665635e-01, 4.344493345413797e-01}},
  {{WEIR_DESIGN_BANDSTOP, 9, 20, 40, 125},
   {-1.200670995260614e-02, 9.169237818804276e-03, 1.549274366730501e-01,
    -1.792923869022079e-02, 7.316785483019452e-01}},
};

/* Taps 1, 5, 20, middle - 1, middle of firwin(20 m + 1, 1 / m, window=('kaiser', 5.0)) * up. */
static const struct {
  int64_t up, down;
  double h[5];
} stored_rate[] = {
  {4, 1, {-1.130597579184462e-03, 2.926514108961888e-03, 2.156483064750302e-17,
          8.996325710102085e-01, 1.000636565089112e+00}},
  {2, 3, {-1.015151620440063e-03, 3.272651507255246e-03, -4.277165928593858e-02,
          5.502954453578675e-01, 6.670707823691848e-01}},
};
// clang-format on

static void coefficients_equal_those_of_scipy(void **state)
{
  double h[101];

  for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) {
    assert_ok(weir_design_fir(&stored[i].spec, h));
    for (int64_t k = 0; k <= stored[i].spec.taps / 2; k++) {
      assert_near(h[k], stored[i].h[k], 1e-10);
    }
  }
  for (size_t i = 0; i < sizeof stored_rate / sizeof *stored_rate; i++) {
    const int64_t up = stored_rate[i].up, down = stored_rate[i].down;
    const int64_t taps = weir_design_polyphase_taps(up, down);
    const int64_t at[] = {1, 5, 20, taps / 2 - 1, taps / 2};

    assert_ok(weir_design_polyphase(up, down, h));
    for (int k = 0; k < 5; k++) {
      assert_near(h[at[k]], stored_rate[i].h[k], 1e-10);
    }
  }
}

static weir_fir_spec random_spec(uint64_t seed)
{
  const double rate = 100 + 900 * weir_random_uniform(5, 1, 0, seed);
  const double lo = rate * (0.1 + 0.1 * weir_random_uniform(5, 2, 0, seed));

  return (weir_fir_spec){.band = (weir_design_band)(seed % 4),
                         .taps = 2 * (40 + (int64_t)(weir_random_bits(5, 3, 0, seed) % 100)) + 1,
                         .lo = lo,
                         .hi = lo + rate * (0.1 + 0.1 * weir_random_uniform(5, 4, 0, seed)),
                         .rate = rate};
}

static void response_is_one_where_it_passes_and_half_at_its_edges(void **state)
{
  double h[300];

  for (uint64_t seed = 0; seed < 60; seed++) {
    const weir_fir_spec s = random_spec(seed);
    const double middle = (s.lo + s.hi) / 2;
    const double pass = s.band == WEIR_DESIGN_BANDPASS   ? middle
                        : s.band == WEIR_DESIGN_HIGHPASS ? s.rate / 2
                                                         : 0;
    const double stop = s.band == WEIR_DESIGN_BANDPASS || s.band == WEIR_DESIGN_HIGHPASS ? 0
                        : s.band == WEIR_DESIGN_BANDSTOP                                 ? middle
                                                         : s.rate / 2;

    assert_ok(weir_design_fir(&s, h));
    for (int64_t k = 0; k < s.taps; k++) {
      assert_near(h[k], h[s.taps - 1 - k], 1e-15);
    }
    assert_near(gain(h, s.taps, pass, s.rate), 1, 1e-12);
    assert_near(gain(h, s.taps, stop, s.rate), 0, 0.01);
    if (s.band != WEIR_DESIGN_LOWPASS) {
      assert_near(gain(h, s.taps, s.lo, s.rate), 0.5, 0.01);
    }
    if (s.band != WEIR_DESIGN_HIGHPASS) {
      assert_near(gain(h, s.taps, s.hi, s.rate), 0.5, 0.01);
    }
  }
}

static void a_change_of_rate_keeps_levels_and_is_reduced(void **state)
{
  static double h[2001], same[2001];
  static const int64_t ratios[][2] = {{4, 1}, {1, 4}, {2, 3}, {25, 36}, {100, 99}};

  for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
    const int64_t up = ratios[i][0], down = ratios[i][1];
    const int64_t taps = weir_design_polyphase_taps(up, down);
    double sum = 0;

    assert_ok(weir_design_polyphase(up, down, h));
    for (int64_t k = 0; k < taps; k++) {
      assert_near(h[k], h[taps - 1 - k], 1e-14);
      sum += h[k];
    }
    assert_near(sum, (double)up, 1e-12);
    assert_int_equal(weir_design_polyphase_taps(7 * up, 7 * down), taps);
    assert_ok(weir_design_polyphase(7 * up, 7 * down, same));
    assert_memory_equal(h, same, (size_t)taps * sizeof *h);
  }
  assert_int_equal(weir_design_polyphase_taps(5, 5), 1);
  assert_ok(weir_design_polyphase(5, 5, h));
  assert_near(h[0], 1, 0);
}

static void impossible_filters_are_refused(void **state)
{
  const weir_fir_spec bad[] = {
      {WEIR_DESIGN_LOWPASS, 8, 0, 20, 360},    {WEIR_DESIGN_LOWPASS, 1, 0, 20, 360},
      {WEIR_DESIGN_LOWPASS, 8193, 0, 20, 360}, {WEIR_DESIGN_LOWPASS, 9, 0, 180, 360},
      {WEIR_DESIGN_HIGHPASS, 9, 0, 20, 360},   {WEIR_DESIGN_BANDPASS, 9, 20, 5, 360},
      {WEIR_DESIGN_BANDSTOP, 9, 20, NAN, 360}, {WEIR_DESIGN_LOWPASS, 9, 0, 20, -1},
  };
  double h[9] = {-7};

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(weir_design_fir(&bad[i], h), WEIR_ERR_CONFIG);
  }
  assert_int_equal(weir_design_polyphase(0, 1, h), WEIR_ERR_CONFIG);
  assert_int_equal(weir_design_polyphase(1, -1, h), WEIR_ERR_CONFIG);
  assert_int_equal(weir_design_polyphase(INT64_MAX, 2, h), WEIR_ERR_CONFIG);
  assert_int_equal(weir_design_polyphase(100001, 7, h), WEIR_ERR_CONFIG);
  assert_near(h[0], -7, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coefficients_equal_those_of_scipy),
      cmocka_unit_test(response_is_one_where_it_passes_and_half_at_its_edges),
      cmocka_unit_test(a_change_of_rate_keeps_levels_and_is_reduced),
      cmocka_unit_test(impossible_filters_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
