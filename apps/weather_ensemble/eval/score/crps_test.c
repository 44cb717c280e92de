/* crps_test.c - unit values, double loops over pairs, integrals of distribution functions, slopes
 * by differences, and edge cases. */
#include "eval/score/crps.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "eval/score/normal.h"
#include "eval/sort/sort.h"

enum { MOST = 64 };

static void unit_values_of_the_normal_score(void **state)
{
  static const double value[][2] = {{0, 0.233694977255}, {0.5, 0.331403531255},
                                    {1, 0.602441357628}, {2, 1.452791821686},
                                    {5, 4.435810523376}, {10, 9.435810416452}};

  for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
    assert_near(wx_crps_normal(0, 1, value[i][0]), value[i][1], 1e-12);
    assert_near(wx_crps_normal(7, 2.5, 7 - 2.5 * value[i][0]), 2.5 * value[i][1], 1e-11);
  }
  assert_true(wx_crps_normal(3, 0, 5) == 2);
  assert_true(isnan(wx_crps_normal(3, -1, 5)));
  assert_true(isnan(wx_crps_normal(3, NAN, 5)));
  assert_true(isnan(wx_crps_normal(3, 1, NAN)));
  assert_near(wx_crps_normal(0, 1e-200, 1e200), 1e200, 1e-12);
}

/* Values with ties: of a grid in some cases. */
static void draw(uint64_t seed, int64_t m, double *x, double *y)
{
  const int coarse = weir_random_bits(seed, 5, 0, 0) % 2 == 0;

  for (int64_t i = 0; i <= m; i++) {
    const double v = 3 * weir_random_normal(seed, 6, 0, (uint64_t)i) + 280;

    *(i < m ? &x[i] : y) = coarse ? floor(v) : v;
  }
}

static void scores_equal_double_loops(void **state)
{
  for (uint64_t seed = 0; seed < 300; seed++) {
    const int64_t m = 1 + (int64_t)(weir_random_bits(seed, 4, 0, 0) % MOST);
    double x[MOST] = {0}, scratch[MOST], y = 0, skill = 0, pairs = 0, tail_skill = 0,
           tail_pairs = 0;
    const double t = 281;

    draw(seed, m, x, &y);
    for (int64_t i = 0; i < m; i++) {
      skill += fabs(x[i] - y);
      tail_skill += fabs(fmax(x[i], t) - fmax(y, t));
      for (int64_t j = 0; j < m; j++) {
        pairs += fabs(x[i] - x[j]);
        tail_pairs += fabs(fmax(x[i], t) - fmax(x[j], t));
      }
    }
    wx_sort(x, m);
    const double n = (double)m, empirical = skill / n - pairs / (2 * n * n);
    const wx_crps_decomposition p = wx_crps_sorted(x, m, y),
                                tail = wx_crps_tail(x, m, y, t, 1, scratch);

    assert_near(wx_crps_empirical(&p), empirical, 1e-12);
    assert_near(wx_crps_empirical(&tail), tail_skill / n - tail_pairs / (2 * n * n), 1e-12);
    if (m == 1) {
      assert_true(isnan(wx_crps_fair(&p)));
      continue;
    }
    const double fair = skill / n - pairs / (2 * n * (n - 1));

    assert_near(wx_crps_fair(&p), fair, 1e-12);
    assert_near(fair, empirical - (skill / n - empirical) / (n - 1), 1e-12);
    assert_near(wx_crps_almost_fair(&p, 0.95), 0.95 * fair + 0.05 * empirical, 1e-12);
  }
}

/* Values with ties, zeros of either sign, an infinite or a NaN member in some cases: the terms of
 * each case have the bits that it has alone, whatever the order of its zeros. */
static void cases_side_by_side_have_the_bits_of_one(void **state)
{
  for (int64_t m = 1; m <= 200; m++) {
    static double x[200 * WX_LANES], alone[WX_LANES][200];
    double y[WX_LANES];
    wx_crps_decomposition p[WX_LANES];

    for (int64_t l = 0; l < WX_LANES; l++) {
      double of_case[201];

      draw((uint64_t)(m * WX_LANES + l), m, of_case, &of_case[m]);
      for (int64_t k = 0; k <= m; k++) {
        const double v =
            l % 4 == 1 ? copysign(fmax(floor(of_case[k] - 280), 0), of_case[k] - 281) : of_case[k];

        *(k < m ? &alone[l][k] : &y[l]) = v;
      }
      alone[l][m / 2] = l == 6 ? (double)NAN : l == 7 ? (double)INFINITY : alone[l][m / 2];
      y[l] = l == 8 ? (double)NAN : y[l];
      for (int64_t k = 0; k < m; k++) {
        x[k * WX_LANES + l] = alone[l][k];
      }
    }
    wx_sort_lanes(x, m);
    wx_crps_sorted_lanes(x, m, y, p);
    for (int64_t l = 0; l < WX_LANES; l++) {
      wx_sort(alone[l], m);
      const wx_crps_decomposition one = wx_crps_sorted(alone[l], m, y[l]);

      assert_int_equal(p[l].m, m);
      if (l == 6 || l == 8) {
        assert_true(isnan(p[l].skill) && isnan(p[l].pairs) && isnan(wx_crps_fair(&p[l])));
        continue;
      }
      assert_memory_equal(&p[l].skill, &one.skill, sizeof one.skill);
      assert_true(memcmp(&p[l].pairs, &one.pairs, sizeof one.pairs) == 0 ||
                  (isnan(p[l].pairs) && isnan(one.pairs)));
    }
  }
}

static void known_ensembles_are_exact(void **state)
{
  const double two[] = {1, 3}, same[] = {2, 2, 2}, one[] = {4};
  wx_crps_decomposition p = wx_crps_sorted(two, 2, 2);

  assert_true(wx_crps_empirical(&p) == 0.5); /* 1 - 1/2 */
  assert_true(wx_crps_fair(&p) == 0);        /* 1 - 1   */
  p = wx_crps_sorted(same, 3, 5);
  assert_true(wx_crps_empirical(&p) == 3 && wx_crps_fair(&p) == 3);
  p = wx_crps_sorted(one, 1, 1.5);
  assert_true(wx_crps_empirical(&p) == 2.5);
  /* m evenly spaced members around the truth: mean |x - y| is 2 and the pairs of 5 have mean 2 with
   * themselves left out. */
  const double five[] = {-2, -1, 0, 1, 2};
  p = wx_crps_sorted(five, 5, 0);
  assert_near(wx_crps_fair(&p), 1.2 - 1, 1e-15);
}

static void quantiles_invert_the_distribution(void **state)
{
  for (int i = 1; i < 400; i++) {
    const double p = pow(10, -0.05 * i) * 0.5;
    const double z = wx_normal_quantile(p);

    assert_near(wx_normal_below(z) / p, 1, 1e-12);
  }
  assert_near(wx_normal_quantile(0.975), 1.959963984540054, 1e-14);
  assert_true(isinf(wx_normal_quantile(0)) && isnan(wx_normal_quantile(1.5)));
}

static void student_matches_tables(void **state)
{
  assert_near(wx_student_two_sided(1, 1), 0.5, 1e-13); /* Cauchy */
  assert_near(wx_student_two_sided(sqrt(2), 2), 1 - sqrt(0.5), 1e-13);
  for (int i = 1; i < 40; i++) { /* Abramowitz and Stegun 26.7.4 */
    const double t = 0.2 * i, angle = atan(t / sqrt(10)), c = pow(cos(angle), 2);
    const double within =
        sin(angle) * (1 + c * (0.5 + c * (3 / 8.0 + c * (15 / 48.0 + c * 105 / 384))));

    assert_near(wx_student_two_sided(t, 10), 1 - within, 1e-13);
  }
  assert_near(wx_student_two_sided(12.7062047364, 1), 0.05, 1e-10);
  assert_near(wx_student_two_sided(1.96, 1e7), 2 * wx_normal_above(1.96), 1e-6);
  assert_near(wx_student_two_sided(0, 5), 1, 0);
  assert_true(isnan(wx_student_two_sided(1, 0)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unit_values_of_the_normal_score),
      cmocka_unit_test(cases_side_by_side_have_the_bits_of_one),
      cmocka_unit_test(scores_equal_double_loops),
      cmocka_unit_test(known_ensembles_are_exact),
      cmocka_unit_test(quantiles_invert_the_distribution),
      cmocka_unit_test(student_matches_tables),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
