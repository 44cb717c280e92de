/* calibration_test.c - ranks, coverage and tests against sbi and SciPy; a model whose posterior is
 * known. */
#include "eval/posterior/calibration.h"
#include <math.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "support/cosmoflow/congruential.h"

/* ---- Stored values: tests/bench/cosmo_posterior.py, SciPy 1.17.1 and sbi 0.27.0 ---- */

static void chi_square_is_that_of_scipy(void **state)
{
  static const struct {
    double x, p;
    int64_t freedom;
  } rows[] = {{0.5, 0.47950012218695337, 1},
              {9.6, 0.38382651737138412, 9},
              {22.4, 0.0076941199843233513, 9},
              {3.0, 0.99998920946565739, 19},
              {120.0, 0.074243855805966916, 99}};

  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_near(cf_chi2_above(rows[i].x, rows[i].freedom), rows[i].p, 1e-13);
  }
  assert_near(cf_chi2_above(0, 5), 1, 0);
  assert_near(cf_chi2_above(482, 19) / 3.3196180913024221e-90, 1, 1e-9);
}

/* Stephens' approximation: of 200 cases within 0.009 of the exact distribution where p is 0.7 to
 * 0.8, and within 0.003 where it is below 0.05. */
static void kolmogorov_smirnov_is_that_of_scipy(void **state)
{
  assert_near(cf_ks_above(0.05, 200), 0.680263, 0.01);
  assert_near(cf_ks_above(0.1, 200), 0.0341104, 0.003);
  assert_near(cf_ks_above(0.2, 50), 0.0314388, 0.003);
  assert_near(cf_ks_above(1e-3, 50), 1, 0);
}

enum { CASES = 200, DRAWS = 99, LABELS = 2, BINS = 20 };

/* Ranks of the cases of the reference, by label and by distance. */
static void rank_reference(int64_t rank[LABELS + 1][CASES])
{
  double truth[CASES][LABELS], point[CASES][LABELS], draws[DRAWS][LABELS];
  uint32_t state = 1;

  congruential(&state, CASES * LABELS, 1, truth[0]);
  congruential(&state, CASES * LABELS, 1, point[0]);
  for (int64_t c = 0; c < CASES; c++) {
    congruential(&state, DRAWS * LABELS, 1, draws[0]);
    for (int64_t d = 0; d < DRAWS; d++) {
      draws[d][1] *= 0.5;
    }
    for (int64_t k = 0; k < LABELS; k++) {
      rank[k][c] = cf_rank_of(draws[0] + k, DRAWS, LABELS, truth[c][k]);
    }
    rank[LABELS][c] = cf_rank_by_distance(draws[0], DRAWS, LABELS, truth[c], point[c]);
  }
}

static void ranks_and_tests_are_those_of_sbi_and_scipy(void **state)
{
  static const int64_t first[3][LABELS] = {{48, 0}, {30, 63}, {95, 0}}, sums[] = {950778, 915800};
  static const double ks[] = {0.045, 0.28}, ks_p[] = {0.79554644881, 2.3259076707e-14};
  static const double chi2[] = {21, 482}, chi2_p[] = {0.33680090192753348, 3.3196180913024221e-90};
  int64_t rank[LABELS + 1][CASES];

  rank_reference(rank);
  for (int k = 0; k < LABELS; k++) {
    int64_t sum = 0;
    cf_uniformity u;

    for (int64_t c = 0; c < CASES; c++) {
      sum += (c + 1) * rank[k][c];
      assert_true(c >= 3 || rank[k][c] == first[c][k]);
    }
    assert_int_equal(sum, sums[k]);
    assert_ok(cf_uniformity_test(rank[k], CASES, DRAWS, BINS, &u));
    assert_int_equal(u.bins, BINS);
    assert_near(u.chi2, chi2[k], 1e-12);
    assert_near(u.chi2_p, chi2_p[k], 1e-13);
    assert_near(u.ks, ks[k], 1e-12);
    assert_near(u.ks_p, ks_p[k], 0.01); /* of SciPy, which is exact: as above */
  }
}

static void coverage_is_that_of_sbi(void **state)
{
  static const double ecp[] = {0,     0.07, 0.145, 0.19,  0.23,  0.26,  0.28,
                               0.32,  0.35, 0.395, 0.415, 0.47,  0.515, 0.565,
                               0.615, 0.66, 0.705, 0.785, 0.835, 0.885, 1};
  int64_t rank[LABELS + 1][CASES];
  cf_uniformity u;

  rank_reference(rank);
  for (int i = 0; i <= BINS; i++) {
    assert_near(cf_coverage_lowest(rank[LABELS], CASES, DRAWS, i * 0.05 + 1e-12), ecp[i], 1e-12);
  }
  assert_ok(cf_uniformity_test(rank[LABELS], CASES, DRAWS, BINS, &u));
  assert_near(u.area, -0.04, 0.005); /* of sbi, a sum over 11 levels */
  assert_near(u.ks, 0.105, 1e-12);
  assert_near(u.ks_p, 0.022528, 0.002);
}

/* ---- A posterior in closed form ---- */

/* theta ~ N(0, 1), two labels; data theta + noise N(0, s^2): the posterior is N(x v / s^2, v), v =
 * 1 / (1 + 1 / s^2). Draws of it with its standard deviation times `narrow`. */
static void rank_linear_model(double narrow, int64_t rank[LABELS + 1][CASES])
{
  const double s = 0.5, v = 1 / (1 + 1 / (s * s));
  double truth[LABELS], point[LABELS], draws[DRAWS][LABELS];

  for (int64_t c = 0; c < CASES; c++) {
    for (int64_t k = 0; k < LABELS; k++) {
      const uint64_t i = (uint64_t)(c * LABELS + k);

      truth[k] = weir_random_normal(7, 1, 0, i);
      point[k] = 4 * weir_random_uniform(7, 2, 0, i) - 2;
      const double x = truth[k] + s * weir_random_normal(7, 3, 0, i);

      for (int64_t d = 0; d < DRAWS; d++) {
        draws[d][k] = x * v / (s * s) + narrow * sqrt(v) * weir_random_normal(7, 4, (uint32_t)d, i);
      }
    }
    for (int64_t k = 0; k < LABELS; k++) {
      rank[k][c] = cf_rank_of(draws[0] + k, DRAWS, LABELS, truth[k]);
    }
    rank[LABELS][c] = cf_rank_by_distance(draws[0], DRAWS, LABELS, truth, point);
  }
}

static void the_true_posterior_is_calibrated(void **state)
{
  int64_t rank[LABELS + 1][CASES];
  cf_uniformity u;

  rank_linear_model(1, rank);
  for (int k = 0; k <= LABELS; k++) {
    assert_ok(cf_uniformity_test(rank[k], CASES, DRAWS, BINS, &u));
    assert_true(u.chi2_p > 0.01 && u.ks_p > 0.01 && fabs(u.area) < 0.03);
  }
  for (int level = 1; level < 10; level++) { /* 3.5 standard errors of a share */
    const double p = 0.1 * level, error = 3.5 * sqrt(p * (1 - p) / CASES);

    for (int k = 0; k < LABELS; k++) {
      assert_true(fabs(cf_coverage_central(rank[k], CASES, DRAWS, p) - p) < error);
    }
    assert_true(fabs(cf_coverage_lowest(rank[LABELS], CASES, DRAWS, p) - p) < error);
  }
}

static void narrow_and_wide_posteriors_are_found(void **state)
{
  int64_t rank[LABELS + 1][CASES];
  cf_uniformity u;

  rank_linear_model(0.5, rank);
  for (int k = 0; k < LABELS; k++) {
    assert_ok(cf_uniformity_test(rank[k], CASES, DRAWS, BINS, &u));
    assert_true(u.chi2_p < 1e-6);
    assert_true(cf_coverage_central(rank[k], CASES, DRAWS, 0.68) < 0.5);
  }
  assert_ok(cf_uniformity_test(rank[LABELS], CASES, DRAWS, BINS, &u));
  assert_true(u.area < -0.02 && u.chi2_p < 1e-6);
  rank_linear_model(2, rank);
  assert_ok(cf_uniformity_test(rank[LABELS], CASES, DRAWS, BINS, &u));
  assert_true(u.area > 0.02 && u.chi2_p < 1e-4);
  assert_true(cf_coverage_central(rank[0], CASES, DRAWS, 0.68) > 0.85);
}

/* ---- Few cases ---- */

static void few_cases_have_few_bins(void **state)
{
  static const int64_t rank[] = {0, 5, 9};
  cf_uniformity u;

  assert_int_equal(cf_uniformity_bins(50, 999, 20), 10);
  assert_int_equal(cf_uniformity_bins(1000, 999, 20), 20);
  assert_int_equal(cf_uniformity_bins(1000, 999, 19), 10);
  assert_int_equal(cf_uniformity_bins(9, 999, 20), 0);
  assert_int_equal(cf_uniformity_bins(1000, 1000, 20), 13);
  assert_ok(cf_uniformity_test(rank, 3, 9, 20, &u));
  assert_true(u.bins == 0 && isnan(u.chi2_p) && u.ks_p > 0.5);
  assert_ok(cf_uniformity_test(rank, 0, 9, 20, &u));
  assert_true(isnan(u.ks) && isnan(u.area));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chi_square_is_that_of_scipy),
      cmocka_unit_test(kolmogorov_smirnov_is_that_of_scipy),
      cmocka_unit_test(ranks_and_tests_are_those_of_sbi_and_scipy),
      cmocka_unit_test(coverage_is_that_of_sbi),
      cmocka_unit_test(the_true_posterior_is_calibrated),
      cmocka_unit_test(narrow_and_wide_posteriors_are_found),
      cmocka_unit_test(few_cases_have_few_bins),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
