/* ensemble_test.c - moments, ranks, quantiles, intervals and vector scores, by hand and by what
 * they must be on average. */
#include "eval/ensemble.h"
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "eval/score/crps.h"
#include "eval/sort/sort.h"
#include "eval/score/histogram.h"
#include "eval/score/normal.h"

static void moments_by_hand(void **state)
{
  const double x[] = {1e8 + 1, 1e8 + 2, 1e8 + 6};
  const wx_moments one = wx_ensemble_moments(x, 3, 1), none = wx_ensemble_moments(x, 3, 0);

  assert_true(one.mean == 1e8 + 3 && one.variance == 7);
  assert_near(none.variance, 14 / 3.0, 1e-15);
  assert_true(isnan(wx_ensemble_moments(x, 1, 1).variance));
  assert_true(wx_ensemble_moments(x, 1, 0).variance == 0);
}

static void ranks_of_ties_are_shared_out(void **state)
{
  enum { M = 4, N = 40000 };
  const double x[M] = {1, 2, 2, 3};
  double count[M + 1] = {0};

  assert_int_equal(wx_ensemble_rank(x, M, 0, 7), 0);
  assert_int_equal(wx_ensemble_rank(x, M, 9, UINT64_MAX), M);
  assert_int_equal(wx_ensemble_rank(x, M, 2, UINT64_MAX), 3);
  assert_int_equal(wx_ensemble_rank(x, M, 2, 0), 1);
  for (uint64_t i = 0; i < N; i++) {
    count[wx_ensemble_rank(x, M, 2, weir_random_bits(1, 2, 3, i))]++;
  }
  assert_true(count[0] == 0 && count[4] == 0);
  for (int k = 1; k <= 3; k++) {
    assert_near(count[k] / N, 1 / 3.0, 5 * sqrt(2 / 9.0 / N));
  }
}

/* Members and truth of whole numbers, as precipitation: the histogram is flat nevertheless. */
static void exchangeable_members_with_ties_are_flat(void **state)
{
  enum { M = 5, N = 30000 };
  double count[M + 1] = {0};

  for (uint64_t i = 0; i < N; i++) {
    double x[M + 1];

    for (uint64_t k = 0; k <= M; k++) {
      x[k] = floor(fmax(0, 2 * weir_random_normal(3, 1, (uint32_t)k, i)));
    }
    count[wx_ensemble_rank(x, M, x[M], weir_random_bits(3, 2, 0, i))]++;
  }
  const wx_uniformity f = wx_histogram_uniformity(count, M + 1);

  assert_true(f.chi2 * N < 25); /* 5 degrees of freedom: exceeded once in 7000 times */
  assert_true(f.delta < 3 * wx_histogram_error(M + 1, N));
}

static void quantiles_and_intervals(void **state)
{
  const double x[] = {1, 2, 4, 8};

  assert_true(wx_ensemble_quantile(x, 4, 0.1) == 1 && wx_ensemble_quantile(x, 4, 0.9) == 8);
  assert_near(wx_ensemble_quantile(x, 4, 0.4), 2, 1e-15);
  assert_near(wx_ensemble_quantile(x, 4, 0.5), 3, 1e-15);
  const wx_interval all = wx_interval_ensemble(x, 4, 0.9), half = wx_interval_ensemble(x, 4, 0.2);

  assert_true(all.lo == 1 && all.hi == 8);
  assert_near(all.nominal, 0.6, 1e-15);
  assert_near(half.lo, 2, 1e-12);
  assert_near(half.hi, 4, 1e-12);
  assert_near(wx_interval_score(&all, 3), 7, 1e-15);
  assert_near(wx_interval_score(&all, 10), 7 + 2 / 0.4 * 2, 1e-12);
}

/* Where members and truth come from one distribution, its nominal coverage is met. */
static void ensemble_intervals_cover_what_they_say(void **state)
{
  enum { M = 9, N = 20000 };
  int inside = 0;

  for (uint64_t i = 0; i < N; i++) {
    double x[M];

    for (uint64_t k = 0; k < M; k++) {
      x[k] = weir_random_normal(5, 1, (uint32_t)k, i);
    }
    wx_sort(x, M);
    const wx_interval w = wx_interval_ensemble(x, M, 0.6);
    const double y = weir_random_normal(5, 2, 0, i);

    inside += y >= w.lo && y <= w.hi;
  }
  assert_near((double)inside / N, 0.6, 5 * sqrt(0.24 / N));
}

static void ranks_in_the_unit_interval(void **state)
{
  assert_near(wx_pit_rank(2, 9, 0.5), 0.25, 1e-15);
}

static void vector_scores(void **state)
{
  const double x[] = {0, 0, 3, 4, 1, 1}, y[] = {0, 0};
  const wx_energy e = wx_energy_score(x, 2, 2, y, 2);

  assert_near(e.empirical, 2.5 - 5 / 4.0, 1e-15);
  assert_near(e.fair, 2.5 - 5 / 2.0, 1e-15);
  assert_true(isnan(wx_energy_score(x, 1, 2, y, 2).fair));
  /* |x_i - x_j|^p: 0 and 1 for two members, 0 for the truth. */
  assert_near(wx_variogram_score(x, 2, 2, y, 2, 0.5), 0.25, 1e-15);
  assert_near(wx_variogram_score(x, 2, 2, y, 1, 0.5), 0, 0);
  /* Of one point it is the CRPS. */
  for (uint64_t seed = 0; seed < 20; seed++) {
    double v[7], at[1];

    for (uint64_t k = 0; k < 7; k++) {
      v[k] = weir_random_normal(seed, 1, 0, k);
    }
    at[0] = weir_random_normal(seed, 1, 1, 0);
    const wx_energy s = wx_energy_score(v, 7, 1, at, 1);
    wx_sort(v, 7);
    const wx_crps_decomposition p = wx_crps_sorted(v, 7, at[0]);

    assert_near(s.empirical, wx_crps_empirical(&p), 1e-13);
    assert_near(s.fair, wx_crps_fair(&p), 1e-13);
  }
}

static void histograms_of_known_shape(void **state)
{
  const double flat[] = {3, 3, 3, 3}, rising[] = {0, 1, 2, 3}, u[] = {5, 1, 1, 5};
  wx_uniformity f = wx_histogram_uniformity(flat, 4);

  assert_true(f.delta == 0 && f.chi2 == 0 && f.slope == 0 && f.curvature == 0);
  f = wx_histogram_uniformity(rising, 4);
  assert_near(f.delta, 0.25 + 1 / 12.0 + 1 / 12.0 + 0.25, 1e-14);
  assert_near(f.slope, f.chi2, 1e-14); /* a straight line is slope alone */
  assert_near(f.curvature, 0, 1e-14);
  f = wx_histogram_uniformity(u, 4);
  assert_near(f.curvature, f.chi2, 1e-14);
  assert_true(f.curvature > 0 && fabs(f.slope) < 1e-14);
  assert_true(isnan(wx_histogram_uniformity((const double[]){0, 0}, 2).delta));
  assert_near(wx_histogram_error(11, 1000), 0.1, 1e-15);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moments_by_hand),
      cmocka_unit_test(ranks_of_ties_are_shared_out),
      cmocka_unit_test(exchangeable_members_with_ties_are_flat),
      cmocka_unit_test(quantiles_and_intervals),
      cmocka_unit_test(ensemble_intervals_cover_what_they_say),
      cmocka_unit_test(ranks_in_the_unit_interval),
      cmocka_unit_test(vector_scores),
      cmocka_unit_test(histograms_of_known_shape),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
