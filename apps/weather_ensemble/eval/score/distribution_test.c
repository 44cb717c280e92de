/* distribution_test.c - CRPS of scoringrules 0.10.0, integrals of the probabilities, slopes by
 * differences, quantiles and moments, far from the bound on either side, and edge cases. */
#include "eval/score/distribution.h"
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "eval/score/crps.h"

/* scoringrules has no logistic score without an upper bound: one is 60 scales above the location.
 */
static const struct {
  double location, scale, lower, y, crps[WX_LOG_NORMAL];
} known[] = {
    {1.3,
     0.7,
     0,
     0.9,
     {0.252370735097132, 0.262179143426721, 0.252225877728771, 0.32678797165128, 0.372864871966171,
      0.319765951443838}},
    {-0.4,
     1.9,
     0,
     0.25,
     {0.531877433154136, 0.574434810226266, 0.19219915012212, 0.789282393044142, 1.15151439113428,
      0.311428101385933}},
    {2.5,
     3,
     1.5,
     7.25,
     {3.20245624528514, 2.07965351900551, 3.04179830130844, 2.87031950674242, 1.2481763690758,
      2.50169216328725}},
    {-3,
     1.5,
     0,
     0.5,
     {2.66367399155898, 0.113408968547943, 0.48463911134252, 2.27766088254721, 0.450388440705922,
      0.408464482949575}},
    {0.8,
     2.2,
     0,
     0,
     {0.628922745627991, 1.26171423928565, 0.519928239581813, 0.922177663243365, 1.90589748773033,
      0.663263931244064}},
    {-1,
     0.6,
     0,
     1.75,
     {2.41148680212709, 1.38478228753573, 1.72651155810051, 2.1622026696086, 0.85612778774947,
      1.56307641334854}},
};

static void scores_are_those_of_scoringrules(void **state)
{
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    for (int f = 0; f < WX_LOG_NORMAL; f++) {
      const wx_distribution d = {
          (wx_family)f, known[i].location, known[i].scale, known[i].lower, 0, 0};

      assert_near(wx_distribution_crps(&d, known[i].y), known[i].crps[f], 1e-12);
    }
  }
}

/* Censored at both bounds: cnormal and clogistic with `upper`; the last truths are at a bound and
 * outside. */
static const struct {
  double location, scale, lower, upper, y, normal, logistic;
} known_between[] = {
    {1.3, 0.7, 0, 1, 0.9, 0.0673527258375334, 0.0924857477788913},
    {-0.4, 1.9, 0, 1, 0.25, 0.159560548472912, 0.183337403694064},
    {2.5, 3, 1.5, 9, 7.25, 3.04167023813658, 2.48466822501558},
    {-3, 1.5, 0, 2, 0.5, 0.484639074201187, 0.407553652329697},
    {1.9, 0.4, 0, 1, 0.6, 0.396746159199984, 0.352195888484498},
    {0.45, 0.2, 0, 1, 0.3, 0.0896231439250446, 0.103400795876594},
    {0.8, 2.2, 0, 1, 0, 0.309327056228463, 0.286102595754711},
    {0.8, 0.3, 0, 1, 1, 0.115032462483665, 0.125422133351532},
};

static void scores_between_bounds_are_those_of_scoringrules(void **state)
{
  for (size_t i = 0; i < sizeof known_between / sizeof known_between[0]; i++) {
    const double width = known_between[i].upper - known_between[i].lower, y = known_between[i].y;
    const wx_distribution normal = {WX_CENSORED_NORMAL,
                                    known_between[i].location,
                                    known_between[i].scale,
                                    known_between[i].lower,
                                    0,
                                    width};
    wx_distribution logistic = normal;

    logistic.family = WX_CENSORED_LOGISTIC;
    assert_near(wx_distribution_crps(&normal, y), known_between[i].normal, 1e-12);
    assert_near(wx_distribution_crps(&logistic, y), known_between[i].logistic, 1e-12);
    if (y == known_between[i].upper) {
      assert_near(wx_distribution_crps(&normal, y + 2), known_between[i].normal + 2, 1e-12);
    }
  }
}

/* Location from 8 scales above the bound to as many below it; every second family that may have an
 * upper bound has one. */
static wx_distribution draw(uint64_t seed, int family, double *y)
{
  wx_distribution d = {.family = (wx_family)family};

  d.lower = 3 * weir_random_normal(seed, 1, 0, 0);
  d.scale = 0.2 + 3 * weir_random_uniform(seed, 2, 0, 0);
  d.location = d.lower + d.scale * 16 * (weir_random_uniform(seed, 3, 0, 0) - 0.5);
  if (wx_family_has_upper(d.family) && seed / WX_LOG_NORMAL % 2 == 1) {
    d.width = d.scale * (0.1 + 8 * weir_random_uniform(seed, 7, 0, 0));
  }
  *y = fmax(d.lower, d.location) + 2 * d.scale * fabs(weir_random_normal(seed, 4, 0, 0));
  return d;
}

/* Integral of (P(X <= x) - 1{y <= x})^2 from lo to hi by Simpson's rule, pieces end at the bound,
 * at t and at y. */
static double integral(const wx_distribution *d, double y, double lo, double hi)
{
  enum { STEPS = 3000 };
  double sum = 0, from = lo;

  while (from < hi) {
    double to = hi;

    to = y > from && y < to ? y : to;
    to = d->lower > from && d->lower < to ? d->lower : to;
    to = wx_distribution_upper(d) > from ? fmin(wx_distribution_upper(d), to) : to;
    const double step = (to - from) / STEPS;

    for (int i = 0; i <= STEPS; i++) {
      const double middle = (from + to) / 2; /* and at ends a little inside */
      const double x = middle + (from + i * step - middle) * (1 - 1e-12);
      const double p = middle >= y ? wx_distribution_above(d, x) : 1 - wx_distribution_above(d, x);

      sum += p * p * step / 3 * (i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2);
    }
    from = to;
  }
  return sum;
}

static void scores_are_integrals_of_the_probabilities(void **state)
{
  for (uint64_t seed = 0; seed < 60; seed++) {
    double y;
    const wx_distribution d = draw(seed, (int)(seed % WX_LOG_NORMAL), &y);
    const double t = d.location + d.scale * weir_random_normal(seed, 5, 0, 0), far = 60 * d.scale;
    const double lo = fmin(fmin(d.location, d.lower), fmin(y, t)) - far;
    const double hi = fmax(fmax(d.location, d.lower), fmax(y, t)) + far;

    assert_near(wx_distribution_crps(&d, y), integral(&d, y, lo, hi), 1e-7);
    assert_near(wx_distribution_crps_tail(&d, y, t, true), integral(&d, y, t, hi), 1e-7);
    assert_near(wx_distribution_crps_tail(&d, y, t, false), integral(&d, y, lo, t), 1e-7);
    assert_near(wx_distribution_crps_tail(&d, y, t, true) +
                    wx_distribution_crps_tail(&d, y, t, false),
                wx_distribution_crps(&d, y), 1e-11);
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
  for (uint64_t seed = 0; seed < 600; seed++) {
    double y;
    const wx_distribution d = draw(seed, (int)(seed % WX_LOG_NORMAL), &y);
    const bool at_upper = d.width > 0 && seed % 11 == 0;
    const double at = at_upper        ? d.lower + d.width
                      : seed % 5 == 0 ? d.lower
                      : seed % 7 == 0 ? d.lower - 1
                                      : y;
    const double h = 1e-5 * d.scale, near = 1e-7;
    const wx_crps_slopes c = wx_distribution_crps_slopes(&d, at);
    const wx_crps_slopes left = slopes_at(d, -h, 0, at), right = slopes_at(d, h, 0, at);
    const wx_crps_slopes low = slopes_at(d, 0, -h, at), high = slopes_at(d, 0, h, at);

    assert_near(c.m, (right.crps - left.crps) / (2 * h), near);
    assert_near(c.s, (high.crps - low.crps) / (2 * h), near * fmax(1, fabs(c.s)));
    assert_near(c.mm * d.scale, (right.m - left.m) / (2e-5), near);
    assert_near(c.ms * d.scale, (right.s - left.s) / (2e-5), near * fmax(1, fabs(c.ms * d.scale)));
    assert_near(c.ms * d.scale, (high.m - low.m) / (2e-5), near * fmax(1, fabs(c.ms * d.scale)));
    assert_near(c.ss * d.scale, (high.s - low.s) / (2e-5), near * fmax(1, fabs(c.ss * d.scale)));
  }
}

static void quantiles_invert_the_probabilities(void **state)
{
  for (uint64_t seed = 0; seed < 600; seed++) {
    double y;
    const wx_distribution d = draw(seed, (int)(seed % WX_LOG_NORMAL), &y);
    const double p = 0.001 + 0.998 * weir_random_uniform(seed, 6, 0, 0);
    const double x = wx_distribution_quantile(&d, p);

    assert_true(!wx_family_is_bounded(d.family) || x >= d.lower);
    assert_true(x <= wx_distribution_upper(&d));
    if (x == wx_distribution_upper(&d)) {
      assert_true(wx_distribution_above(&d, x) == 0 && wx_distribution_below(&d, x) <= p + 1e-12);
    } else if (x > d.lower || !wx_family_is_bounded(d.family)) {
      assert_near(wx_distribution_above(&d, x), 1 - p, 1e-9);
      assert_near(wx_distribution_below(&d, x), p, 1e-9);
    } else {
      assert_true(1 - wx_distribution_above(&d, x) >= p - 1e-12);
    }
  }
}

/* From quantiles at the middles of many equal shares. */
static void moments_are_those_of_many_quantiles(void **state)
{
  enum { SHARES = 200000 };

  for (uint64_t seed = 0; seed < 24; seed++) {
    double y, mean, sd, sum = 0, squares = 0;
    const wx_distribution d = draw(seed, (int)(seed % WX_LOG_NORMAL), &y);

    wx_distribution_moments(&d, &mean, &sd);
    for (int i = 0; i < SHARES; i++) {
      const double x = wx_distribution_quantile(&d, (i + 0.5) / SHARES) - mean;

      sum += x;
      squares += x * x;
    }
    assert_near(sum / SHARES / d.scale, 0, 1e-4);
    assert_near(sqrt(squares / SHARES), sd, 2e-3 * d.scale);
  }
}

/* With the bound far below, nothing is cut; with it far above, the normal distribution is nearly
 * exponential: mean excess 1 / a - 2 / a^3 + 10 / a^5, CRPS at it by the exponential's formula. */
static void bounds_may_be_far_from_the_location(void **state)
{
  for (int f = 0; f < WX_LOG_NORMAL; f++) {
    const wx_family family = (wx_family)f, whole = f < WX_LOGISTIC ? WX_NORMAL : WX_LOGISTIC;
    const wx_distribution cut = {family, 280, 2, 0, 0, 0}, all = {whole, 280, 2, 0, 0, 0};

    assert_near(wx_distribution_crps(&cut, 283), wx_distribution_crps(&all, 283), 1e-12);
    assert_near(wx_distribution_quantile(&cut, 0.9), wx_distribution_quantile(&all, 0.9), 1e-10);
  }
  const double a = 200;
  const wx_distribution d = {WX_TRUNCATED_NORMAL, -a, 1, 0, 0, 0};
  double mean, sd;

  wx_distribution_moments(&d, &mean, &sd);
  assert_near(mean * a, 1 - 2 / (a * a), 1e-8);
  assert_near(wx_distribution_crps(&d, 0) * a, 0.5, 1e-4);
  assert_near(wx_distribution_above(&d, wx_distribution_quantile(&d, 0.75)), 0.25, 1e-10);
}

static void distributions_without_width_or_with_nan(void **state)
{
  for (int f = 0; f < WX_LOG_NORMAL; f++) {
    const wx_distribution point = {(wx_family)f, 2, 0, 1, 0, 0},
                          none = {(wx_family)f, 2, NAN, 1, 0, 0};
    const wx_distribution negative = {(wx_family)f, 2, -1, 1, 0, 0};
    double mean, sd;

    assert_true(wx_distribution_crps(&point, 5) == 3);
    assert_true(wx_distribution_crps_tail(&point, 5, 4, true) == 1);
    assert_true(wx_distribution_above(&point, 1) == 1 && wx_distribution_below(&point, 1) == 0);
    assert_true(wx_distribution_above(&point, 2) == 0 && wx_distribution_below(&point, 2) == 0);
    assert_true(wx_distribution_quantile(&point, 0.3) == 2);
    assert_true(isnan(wx_distribution_log_score(&point, 2)));
    wx_distribution_moments(&point, &mean, &sd);
    assert_true(mean == 2 && sd == 0);
    assert_true(isnan(wx_distribution_crps(&none, 2)) && isnan(wx_distribution_crps(&negative, 2)));
    assert_true(isnan(wx_distribution_above(&none, 2)) && isnan(wx_distribution_below(&none, 2)));
    assert_true(isnan(wx_distribution_crps_tail(&none, 2, 1, false)));
    assert_true(isnan(wx_distribution_quantile(&none, 0.5)));
    assert_true(isnan(wx_distribution_above(&negative, 2)) &&
                isnan(wx_distribution_below(&negative, 2)) &&
                isnan(wx_distribution_quantile(&negative, 0.5)));
    const wx_distribution nowhere = {(wx_family)f, NAN, 0, 1, 0, 0};

    assert_true(isnan(wx_distribution_above(&nowhere, 2)) &&
                isnan(wx_distribution_quantile(&nowhere, 0.5)) &&
                isnan(wx_distribution_crps(&nowhere, 2)) &&
                isnan(wx_distribution_crps_tail(&nowhere, 2, 1, true)));
  }
  double mean, sd;
  const wx_distribution unit = {WX_NORMAL, 0, 1, 0, 0, 0}, other = {WX_NORMAL, 1, 2, 0, 0, 0};

  assert_near(wx_distribution_log_score(&unit, 0), 0.9189385332046727, 1e-15);
  assert_near(wx_distribution_log_score(&other, 5), log(2) + 2 + 0.9189385332046727, 1e-14);
  assert_near(wx_distribution_below(&unit, 1.959963984540054), 0.975, 1e-14);
  assert_near(wx_distribution_quantile(&other, 0.95), 1 + 2 * 1.6448536269514722, 1e-12);
  const wx_distribution rain = {WX_CENSORED_LOGISTIC, 0, 1, 0, 0, 0},
                        wind = {WX_TRUNCATED_NORMAL, 0, 1, 0, 0, 0};

  assert_near(wx_distribution_log_score(&rain, 0), log(2), 1e-14);
  assert_true(isnan(wx_distribution_log_score(&rain, -1)));
  assert_near(wx_distribution_log_score(&wind, 0), 0.5 * log(2 * 3.14159265358979323846) - log(2),
              1e-14);
  assert_near(wx_distribution_log_score(&wind, 60),
              1800 + 0.5 * log(2 * 3.14159265358979323846) - log(2), 1e-9);
  const wx_distribution far = {WX_TRUNCATED_NORMAL, -1e5, 1, 0, 0, 0};

  wx_distribution_moments(&far, &mean, &sd);
  assert_near(mean * 1e5, 1, 1e-4);
  assert_near(sd * 1e5, 1, 1e-4);
  assert_near(wx_distribution_log_score(&far, 2e-5), 2 - log(1e5), 1e-4);
  assert_true(wx_distribution_quantile(&rain, 0.4) == 0 && wx_distribution_below(&rain, 0) == 0);
}

/* The upper bound is an atom, too; it may be where all of the distribution is. */
static void both_bounds_have_a_probability(void **state)
{
  const wx_distribution cover = {WX_CENSORED_LOGISTIC, 0.5, 0.25, 0, 0, 1};
  const wx_distribution over = {WX_CENSORED_NORMAL, 80, 1, 0, 0, 1},
                        full = {WX_CENSORED_NORMAL, 2, 0, 0, 0, 1};
  const wx_distribution missing = {WX_CENSORED_NORMAL, NAN, 1, 0, 0, 1};
  const double edge = 1 / (1 + exp(2));
  double mean, sd;

  assert_near(wx_distribution_below(&cover, 1), 1 - edge, 1e-15);
  assert_true(wx_distribution_above(&cover, 1) == 0 && wx_distribution_below(&cover, 1.5) == 1);
  assert_near(wx_distribution_log_score(&cover, 1), -log(edge), 1e-14);
  assert_near(wx_distribution_log_score(&cover, 0), -log(edge), 1e-14);
  assert_true(isnan(wx_distribution_log_score(&cover, 1.5)));
  assert_true(wx_distribution_quantile(&cover, 0.95) == 1);
  assert_true(isnan(wx_distribution_quantile(&cover, NAN)) &&
              isnan(wx_distribution_quantile(&missing, 0.5)));
  wx_distribution_moments(&cover, &mean, &sd);
  assert_near(mean, 0.5, 1e-15);
  assert_true(wx_distribution_crps(&over, 0.25) == 0.75 &&
              wx_distribution_quantile(&over, 0.01) == 1);
  wx_distribution_moments(&over, &mean, &sd);
  assert_true(mean == 1 && sd == 0);
  assert_true(wx_distribution_crps(&full, 0.5) == 0.5 && wx_distribution_crps(&full, 3) == 2);
  assert_true(wx_distribution_below(&full, 1) == 0 && wx_distribution_above(&full, 1) == 0);
}

/* CRPS of the closed forms in mpmath 1.3.0, 120 digits: location far beyond a bound, tails in which
 * nothing is left, and a scale far above the width; 0 where the family has no upper bound. */
static void scores_are_right_at_extreme_bounds(void **state)
{
  static const wx_family family[] = {WX_CENSORED_NORMAL, WX_CENSORED_LOGISTIC, WX_TRUNCATED_NORMAL,
                                     WX_TRUNCATED_LOGISTIC};
  static const struct {
    double location, scale, width, y, crps[4];
  } extreme[] = {
      {-5e11, 1, 4, 0, {0, 0, 0, 0}},
      {-5e11, 1, 4, 1.5, {1.5, 1.5, 0, 0}},
      {-5e11, 1, 4, 4, {4, 4, 0, 0}},
      {1e12, 1, 4, 1.5, {2.5, 2.5, 0, 0}},
      {1e12, 1, 4, 4, {0, 0, 0, 0}},
      {-1e12, 1, 0, 3, {3, 3, 2.9999999999985, 1.5995741367357279}},
      {-1, 1e-12, 0, 0.25, {0.25, 0.25, 0.25, 0.2499999999985}},
      {1e12, 1, 0, 3, {999999999996.43581, 999999999996, 999999999996.43581, 999999999996}},
      {-45, 1, 4, 0.5, {0.5, 0.5, 0, 0}},
      {48, 1, 4, 3.5, {0.5, 0.5, 0, 0}},
      {-7,
       0.5,
       0,
       0.0625,
       {0.0625, 0.062499902293049248, 0.021486962231868532, 0.19499703543224152}},
      {11, 0.5, 4, 3.75, {0.25, 0.24999967281933486, 0, 0}},
      {-3e4, 128, 0, 0.5, {0.5, 0.5, 0.11803880533637802, 63.501950584350077}},
      {-2, 1e3, 4, 1, {0.99562268869204841, 0.99725433930676768, 0, 0}},
  };

  for (size_t i = 0; i < sizeof extreme / sizeof extreme[0]; i++) {
    for (int f = 0; f < (extreme[i].width > 0 ? 2 : 4); f++) {
      const wx_distribution d = {family[f], extreme[i].location, extreme[i].scale, 0,
                                 0,         extreme[i].width};
      const double want = extreme[i].crps[f];

      assert_near(wx_distribution_crps(&d, extreme[i].y), want, 1e-12 * fmax(1, want));
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_are_those_of_scoringrules),
      cmocka_unit_test(scores_between_bounds_are_those_of_scoringrules),
      cmocka_unit_test(both_bounds_have_a_probability),
      cmocka_unit_test(scores_are_integrals_of_the_probabilities),
      cmocka_unit_test(slopes_are_those_of_differences),
      cmocka_unit_test(quantiles_invert_the_probabilities),
      cmocka_unit_test(moments_are_those_of_many_quantiles),
      cmocka_unit_test(bounds_may_be_far_from_the_location),
      cmocka_unit_test(scores_are_right_at_extreme_bounds),
      cmocka_unit_test(distributions_without_width_or_with_nan),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
