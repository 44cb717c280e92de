/* given_test.c - quantiles and probabilities of distributions and of members. */
#include "eval/given.h"
#include <math.h>
#include "base/weir_check.h"
#include "eval/score/normal.h"
#include "eval/sort/sort.h"

/* Three cells: members 3 1 2 4, with one missing, with none. */
static const float member[4 * 3] = {3, 3, NAN, 1, NAN, NAN, 2, 1, NAN, 4, 2, NAN};
static const wx_given members = {.members = 4, .member = member};

static void quantiles_of_members_lie_between_them(void **state)
{
  static const double p[3] = {0.25, 0.5, 0.9};
  double scratch[4 * (WX_LANES + 1)];
  float out[9];

  (void)state;
  wx_given_quantiles(&members, 3, p, 3, scratch, out);
  assert_near((double)out[0], 1.75, 1e-7); /* numpy.quantile([1, 2, 3, 4], p) */
  assert_near((double)out[3], 2.5, 1e-7);
  assert_near((double)out[6], 3.7, 1e-6);
  assert_near((double)out[1], 1.5, 1e-7); /* of 1, 2, 3 */
  assert_near((double)out[7], 2.8, 1e-6);
  assert_true(isnan(out[2]) && isnan(out[8]));
  const wx_given one = {.members = 1, .member = member};

  wx_given_quantiles(&one, 3, p, 3, scratch, out);
  assert_near((double)out[0], 3, 0);
  assert_near((double)out[6], 3, 0);
}

static void chances_of_members_are_their_share(void **state)
{
  float out[3];

  (void)state;
  wx_given_chance(&members, 3, 2, true, out); /* 3 and 4 of four; 3 of three */
  assert_near((double)out[0], 0.5, 0);
  assert_near((double)out[1], 1.0 / 3, 1e-7);
  assert_true(isnan(out[2]));
  wx_given_chance(&members, 3, 2, false, out); /* what is at the threshold is neither */
  assert_near((double)out[0], 0.25, 0);
}

/* Rain at a point: logistic of location -1 and scale 2, all below 0 at 0; then a point that is dry.
 */
static void censored_distributions_have_a_share_at_the_bound(void **state)
{
  static const float mean[2] = {9, 9}, location[2] = {-1, -4}, scale[2] = {2, 0};
  static const double p[3] = {0.25, 0.6, 0.9};
  const wx_given g = {.mean = mean,
                      .sd = mean,
                      .family = WX_CENSORED_LOGISTIC,
                      .location = location,
                      .scale = scale};
  const double dry = 1 / (1 + exp(-0.5));
  float out[6];

  (void)state;
  wx_given_quantiles(&g, 2, p, 3, NULL, out);
  assert_true(out[0] == 0 && out[2] == 0 && out[1] == 0 && out[5] == 0); /* 0.6 < dry */
  assert_near((double)out[4], -1 + 2 * log(9), 1e-6);
  wx_given_chance(&g, 2, 0, true, out);
  assert_near((double)out[0], 1 - dry, 1e-7);
  assert_true(out[1] == 0);
  wx_given_chance(&g, 2, 0, false, out);
  assert_true(out[0] == 0 && out[1] == 0);
  wx_given_chance(&g, 2, 1, false, out);
  assert_near((double)out[0], 1 / (1 + exp(-1)), 1e-7);
}

/* Cloud cover at a point: normal of location 0.5 and scale 1 between 0 and 1; then an overcast one.
 */
static void fractions_have_a_share_at_both_bounds(void **state)
{
  static const float mean[2] = {9, 9}, location[2] = {0.5F, 1.5F}, scale[2] = {1, 0};
  static const double p[3] = {0.25, 0.5, 0.75};
  const wx_given g = {.mean = mean,
                      .sd = mean,
                      .family = WX_CENSORED_NORMAL,
                      .width = 1,
                      .location = location,
                      .scale = scale};
  const double edge = 0.3085375387259869; /* S(0.5) */
  float out[6];

  (void)state;
  wx_given_quantiles(&g, 2, p, 3, NULL, out);
  assert_true(out[0] == 0 && out[2] == 0.5F && out[4] == 1);
  assert_true(out[1] == 1 && out[3] == 1 && out[5] == 1);
  wx_given_chance(&g, 2, 0, true, out);
  assert_near((double)out[0], 1 - edge, 1e-7);
  assert_true(out[1] == 1);
  wx_given_chance(&g, 2, 1, false, out);
  assert_near((double)out[0], 1 - edge, 1e-7);
  wx_given_chance(&g, 2, 1, true, out);
  assert_true(out[0] == 0 && out[1] == 0);
}

static void distributions_have_theirs(void **state)
{
  static const float mean[3] = {10, 5, NAN}, sd[3] = {2, 0, 1};
  static const double p[2] = {0.025, 0.5};
  const wx_given g = {.mean = mean, .sd = sd};
  float out[6];

  (void)state;
  wx_given_quantiles(&g, 3, p, 2, NULL, out);
  assert_near((double)out[0], 10 - 2 * 1.9599639845400545, 1e-6);
  assert_near((double)out[3], 10, 0);
  assert_near((double)out[4], 5, 0);
  assert_true(isnan(out[2]));
  wx_given_chance(&g, 3, 12, true, out);
  assert_near((double)out[0], wx_normal_above(1), 1e-7);
  assert_near((double)out[1], 0, 0);
  assert_true(isnan(out[2]));
  wx_given_chance(&g, 3, 12, false, out);
  assert_near((double)out[0], wx_normal_below(1), 1e-7);
  assert_near((double)out[1], 1, 0);
  wx_given_chance(&g, 3, 5, true, out); /* at the threshold */
  assert_near((double)out[1], 0, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantiles_of_members_lie_between_them),
      cmocka_unit_test(chances_of_members_are_their_share),
      cmocka_unit_test(censored_distributions_have_a_share_at_the_bound),
      cmocka_unit_test(fractions_have_a_share_at_both_bounds),
      cmocka_unit_test(distributions_have_theirs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
