/* positive_test.c - log-normal and censored shifted gamma: CRPS of scoringrules 0.10.0
 * (crps_lognormal, crps_csg0), integrals of the probabilities, slopes by differences, quantiles,
 * moments and limits. */
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "eval/score/distribution.h"
#include "eval/score/positive.h"

static const struct {
  double location, scale, lower, shift, y, log_normal, gamma;
} known[] = {
    {1.3, 0.7, 0, 0.4, 0.9, 0.183449165253686, 0.215078477708843},
    {2.4, 1.9, 0, 1.1, 0.25, 1.24258160888988, 1.18526755519206},
    {4.5, 3, 1.5, 0.3, 7.25, 2.23474165189617, 2.08910005731848},
    {0.2, 1.5, 0, 0.8, 0.5, 0.3426131508678, 0.296247989565899},
    {0.8, 2.2, 0, 0.05, 0, 0.240089659095876, 0.122938686708807},
    {3, 0.6, 0, 2.5, 1.75, 0.916784812230679, 0.916412119369177},
};

static void scores_are_those_of_scoringrules(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const wx_distribution log_normal = {
        WX_LOG_NORMAL, known[i].location, known[i].scale, known[i].lower, 0, 0};
    const wx_distribution gamma = {WX_CENSORED_SHIFTED_GAMMA,
                                   known[i].location,
                                   known[i].scale,
                                   known[i].lower,
                                   known[i].shift,
                                   0};

    assert_near(wx_distribution_crps(&log_normal, known[i].y), known[i].log_normal, 1e-12);
    assert_near(wx_distribution_crps(&gamma, known[i].y), known[i].gamma, 1e-12);
  }
}

/* Mean from 0.1 to 10 scales above the origin. */
static wx_distribution draw(uint64_t seed, double *y)
{
  const bool gamma = seed % 2 == 1;
  wx_distribution d = {.family = gamma ? WX_CENSORED_SHIFTED_GAMMA : WX_LOG_NORMAL};

  d.lower = 3 * weir_random_normal(seed, 1, 0, 0);
  d.scale = exp(2 * weir_random_normal(seed, 2, 0, 0));
  const double mean = d.scale * pow(10, 2 * weir_random_uniform(seed, 3, 0, 0) - 1);

  d.shift = gamma ? mean * (0.01 + 1.2 * weir_random_uniform(seed, 5, 0, 0)) : 0;
  d.location = d.lower - d.shift + mean;
  *y = fmax(d.lower, d.location) + d.scale * fabs(weir_random_normal(seed, 4, 0, 0));
  *y = seed % 5 == 0 ? d.lower : seed % 7 == 0 ? d.lower - d.scale : *y;
  return d;
}

/* The whole score is a closed form, its parts above and below t are integrals. */
static void scores_are_integrals_of_the_probabilities(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    double y;
    const wx_distribution d = draw(seed, &y);
    const double t = d.location + d.scale * weir_random_normal(seed, 6, 0, 0);
    const double low = wx_distribution_crps_tail(&d, y, t, false);
    const double high = wx_distribution_crps_tail(&d, y, t, true);

    assert_true(low >= 0 && high >= 0);
    assert_near((low + high) / d.scale, wx_distribution_crps(&d, y) / d.scale, 1e-9);
  }
}

static wx_crps_slopes slopes_at(wx_distribution d, double m, double s, double y)
{
  d.location += m;
  d.scale += s;
  return wx_distribution_crps_slopes(&d, y);
}

static void slopes_are_those_of_differences(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    double y;
    const wx_distribution d = draw(seed, &y);
    const double e = 1e-5 * fmin(1, (d.location - d.lower + d.shift) / d.scale), h = e * d.scale;
    const wx_crps_slopes c = wx_distribution_crps_slopes(&d, y);
    const wx_crps_slopes left = slopes_at(d, -h, 0, y), right = slopes_at(d, h, 0, y);
    const wx_crps_slopes low = slopes_at(d, 0, -h, y), high = slopes_at(d, 0, h, y);
    const double mm = c.mm * d.scale, ms = c.ms * d.scale, ss = c.ss * d.scale;

    assert_near(c.m, (right.crps - left.crps) / (2 * h), 1e-6 * fmax(1, fabs(c.m)));
    assert_near(c.s, (high.crps - low.crps) / (2 * h), 1e-6 * fmax(1, fabs(c.s)));
    assert_near(mm, (right.m - left.m) / (2 * e), 1e-6 * fmax(1, fabs(mm)));
    assert_near(ms, (right.s - left.s) / (2 * e), 1e-6 * fmax(1, fabs(ms)));
    assert_near(ms, (high.m - low.m) / (2 * e), 1e-6 * fmax(1, fabs(ms)));
    assert_near(ss, (high.s - low.s) / (2 * e), 1e-6 * fmax(1, fabs(ss)));
  }
}

static void quantiles_invert_the_probabilities(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    double y;
    const wx_distribution d = draw(seed, &y);
    const double p = 0.001 + 0.998 * weir_random_uniform(seed, 7, 0, 0);
    const double x = wx_distribution_quantile(&d, p);

    assert_true(x >= d.lower);
    if (x > d.lower) {
      assert_near(wx_distribution_above(&d, x), 1 - p, 1e-10);
      assert_near(wx_distribution_below(&d, x), p, 1e-10);
    } else {
      assert_true(1 - wx_distribution_above(&d, x) >= p - 1e-10);
    }
  }
}

/* From quantiles at the middles of many equal shares, and the density from differences. */
static void moments_and_densities_are_those_of_the_probabilities(void **state)
{
  enum { SHARES = 20000 };

  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    double y, mean, sd, sum = 0, squares = 0;
    wx_distribution d = draw(seed, &y);

    d.shift = fmin(d.shift, d.scale / 2);
    d.location = d.lower - d.shift + d.scale * (1 + weir_random_uniform(seed, 8, 0, 0));
    wx_distribution_moments(&d, &mean, &sd);
    for (int i = 0; i < SHARES; i++) {
      const double x = wx_distribution_quantile(&d, (i + 0.5) / SHARES) - mean;

      sum += x;
      squares += x * x;
    }
    assert_near(sum / SHARES / d.scale, 0, 1e-3);
    assert_near(sqrt(squares / SHARES) / d.scale, sd / d.scale, 2e-2);
    const double x = wx_distribution_quantile(&d, 0.9), h = 1e-5 * d.scale;
    const double density =
        (wx_distribution_below(&d, x + h) - wx_distribution_below(&d, x - h)) / (2 * h);

    assert_near(wx_distribution_log_score(&d, x), -log(density), 1e-6);
    if (d.family == WX_CENSORED_SHIFTED_GAMMA) {
      assert_near(wx_distribution_log_score(&d, d.lower),
                  -log(1 - wx_distribution_above(&d, d.lower)), 1e-9);
    } else {
      assert_true(isnan(wx_distribution_log_score(&d, d.lower)));
    }
    assert_true(isnan(wx_distribution_log_score(&d, d.lower - 1)));
  }
}

/* On both sides of the share of the scale from which they are taken for normal or for a point. */
static void limits_join(void **state)
{
  (void)state;
  for (int f = WX_LOG_NORMAL; f < WX_FAMILIES; f++) {
    const double share = f == WX_LOG_NORMAL ? 1e-7 : 1e-3;
    const double shift = f == WX_LOG_NORMAL ? 0 : 0.5;

    for (int i = -3; i <= 3; i++) {
      const double mean = 2 + shift;
      const wx_distribution in = {(wx_family)f, 2, mean * share * 0.9999, 0, shift, 0};
      const wx_distribution out = {(wx_family)f, 2, mean * share * 1.0001, 0, shift, 0};
      const double y = 2 + i * mean * share;

      assert_near(wx_distribution_crps(&in, y) / in.scale,
                  wx_distribution_crps(&out, y) / out.scale, 0.01 * fmax(share / 1e-3, 0.1));
      assert_near(wx_distribution_above(&in, y), wx_distribution_above(&out, y), 1e-3);
    }
    const wx_distribution none = {(wx_family)f, -1, 3, 0, shift, 0};
    const wx_distribution nearly = {(wx_family)f, 2e-6 - shift, 1, 0, shift, 0};

    assert_true(wx_distribution_crps(&none, 2) == 2 && wx_distribution_above(&none, 0) == 0);
    assert_true(wx_distribution_quantile(&none, 0.9) == 0);
    assert_true(wx_distribution_crps_slopes(&none, 2).m == 0);
    assert_near(wx_distribution_crps(&nearly, 2), 2, 1e-4);
  }
}

static void no_number_comes_of_nan_or_of_no_width(void **state)
{
  (void)state;
  for (int f = WX_LOG_NORMAL; f < WX_FAMILIES; f++) {
    const wx_distribution good = {(wx_family)f, 2, 1, 1, 0.5, 0},
                          point = {(wx_family)f, 2, 0, 1, 0.5, 0};
    const wx_distribution bad[] = {{(wx_family)f, NAN, 1, 1, 0.5, 0},
                                   {(wx_family)f, 2, NAN, 1, 0.5, 0},
                                   {(wx_family)f, 2, -1, 1, 0.5, 0},
                                   {WX_CENSORED_SHIFTED_GAMMA, 2, 1, 1, -0.5, 0},
                                   {WX_CENSORED_SHIFTED_GAMMA, 2, 1, 1, NAN, 0}};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
      assert_true(isnan(wx_distribution_crps(&bad[i], 2)));
      assert_true(isnan(wx_distribution_crps_tail(&bad[i], 2, 1.5, true)));
      assert_true(isnan(wx_distribution_above(&bad[i], 2)));
      assert_true(isnan(wx_distribution_below(&bad[i], 2)));
      assert_true(isnan(wx_distribution_quantile(&bad[i], 0.5)));
      assert_true(isnan(wx_distribution_log_score(&bad[i], 2)));
    }
    assert_true(isnan(wx_distribution_crps(&good, NAN)) &&
                isnan(wx_distribution_above(&good, NAN)));
    assert_true(isnan(wx_distribution_below(&good, NAN)));
    assert_true(isnan(wx_distribution_crps_tail(&good, NAN, 1, false)));
    assert_true(isnan(wx_distribution_quantile(&good, NAN)));
    assert_true(isnan(wx_distribution_log_score(&good, NAN)));
    assert_true(wx_distribution_crps(&point, 5) == 3 && wx_distribution_quantile(&point, 0.1) == 2);
    assert_true(wx_distribution_above(&good, 1e300) == 0);
    assert_true(wx_distribution_below(&good, 1e300) == 1);
    assert_near(wx_distribution_crps(&good, 1e9) / 1e9, 1, 1e-8);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_are_those_of_scoringrules),
      cmocka_unit_test(scores_are_integrals_of_the_probabilities),
      cmocka_unit_test(slopes_are_those_of_differences),
      cmocka_unit_test(quantiles_invert_the_probabilities),
      cmocka_unit_test(moments_and_densities_are_those_of_the_probabilities),
      cmocka_unit_test(limits_join),
      cmocka_unit_test(no_number_comes_of_nan_or_of_no_width),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
