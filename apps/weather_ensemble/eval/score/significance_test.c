/* significance_test.c - intervals that cover as often as they say, for independent values and for
 * such that remember; tests of means; false discoveries. */
#include "eval/score/significance.h"
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

static wx_bootstrap_opts options(int interval)
{
  return (wx_bootstrap_opts){
      .block = 10, .resamples = 120, .confidence = 0.9, .interval = interval, .seed = 0};
}

static void estimate(const wx_bootstrap_opts *o, uint64_t seed, int64_t block, int64_t n,
                     const double *d, const double *weight, weir_estimate *out)
{
  wx_resamples r;

  assert_ok(wx_resamples_create(o, seed, block, n, &r));
  assert_ok(wx_bootstrap(o, &r, wx_ratio_of, &(wx_ratio){d, weight}, out));
  wx_resamples_fini(&r);
}

/* d[i] = r d[i - 1] + noise, from its stationary distribution. */
static void series(uint64_t seed, double r, int64_t n, double *d)
{
  for (int64_t i = 0; i < n; i++) {
    const double e = weir_random_normal(seed, 1, 0, (uint64_t)i);

    d[i] = i == 0 ? e / sqrt(1 - r * r) : r * d[i - 1] + e;
  }
}

enum { TIMES = 100 };
/* Share of series whose interval holds the true mean, 0. */
static double coverage(double r, int64_t n, int64_t block, int interval)
{
  enum { MOST = 200 };
  const wx_bootstrap_opts o = options(interval);
  double d[MOST], one[MOST];
  int inside = 0;

  for (uint64_t seed = 0; seed < TIMES; seed++) {
    weir_estimate e;

    series(seed + 1, r, n, d);
    for (int64_t i = 0; i < n; i++) {
      one[i] = 1;
    }
    estimate(&o, seed, block, n, d, one, &e);
    inside += e.lo <= 0 && e.hi >= 0;
  }
  return (double)inside / TIMES;
}

static void intervals_cover_independent_values(void **state)
{
  const double tolerance = 3 * sqrt(0.09 / TIMES);

  assert_near(coverage(0, 60, 1, WX_INTERVAL_PERCENTILE), 0.9, tolerance);
  assert_near(coverage(0, 60, 1, WX_INTERVAL_BCA), 0.9, tolerance);
}

/* Blocks keep what values remember; single initialisation times do not, and promise too much. */
static void blocks_cover_values_that_remember(void **state)
{
  const double with = coverage(0.7, 160, 16, WX_INTERVAL_PERCENTILE);

  assert_true(with > 0.72 && with < 0.95);
  assert_true(coverage(0.7, 160, 1, WX_INTERVAL_PERCENTILE) < with - 0.12);
}

static void the_width_is_that_of_the_normal_mean(void **state)
{
  enum { N = 200 };
  wx_bootstrap_opts o = options(WX_INTERVAL_PERCENTILE);
  double d[N], one[N], mean = 0, squares = 0;
  weir_estimate e, again, other;

  o.resamples = 1000;
  series(4, 0, N, d);
  for (int i = 0; i < N; i++) {
    one[i] = 1;
    mean += d[i] / N;
  }
  for (int i = 0; i < N; i++) {
    squares += (d[i] - mean) * (d[i] - mean) / N;
  }
  estimate(&o, 9, 1, N, d, one, &e);
  estimate(&o, 9, 1, N, d, one, &again);
  estimate(&o, 10, 1, N, d, one, &other);
  assert_near(e.value, mean, 1e-14);
  assert_near((e.hi - e.lo) / (2 * 1.6448536269514722 * sqrt(squares / N)), 1, 0.08);
  assert_true(e.lo == again.lo && e.hi == again.hi && e.lo != other.lo);
}

static void weights_and_pairs(void **state)
{
  const double a[] = {1, 4, 9, NAN}, w[] = {1, 2, 3, 0}, b[] = {2, 8, 18, NAN};
  const double count[] = {1, 0, 2, 5};
  const wx_pair p = {a, w, b, w};

  assert_near(wx_ratio_of(&(wx_ratio){a, w}, count, 4), 19 / 7.0, 1e-15);
  assert_near(wx_root_ratio_of(&(wx_ratio){a, w}, count, 4), sqrt(19 / 7.0), 1e-15);
  assert_near(wx_skill_of(&p, count, 4), 0.5, 1e-15);
  assert_near(wx_difference_of(&p, count, 4), -19 / 7.0, 1e-15);
}

static int64_t block_of(const int64_t *time, int64_t n, double days)
{
  int64_t block = 0;

  assert_ok(wx_block_length(time, n, days, &block));
  return block;
}

static void little_is_not_made_much_of(void **state)
{
  const wx_bootstrap_opts o = options(WX_INTERVAL_BCA);
  const double d[] = {1, 2, 3}, one[] = {1, 1, 1};
  weir_estimate e;

  estimate(&o, 0, 2, 3, d, one, &e);
  assert_true(e.value == 2 && isnan(e.lo) && isnan(e.hi));
  estimate(&o, 0, 1, 0, d, one, &e);
  assert_true(isnan(e.value));
  const int64_t time[] = {0, 86400 * 5, 86400 * 10, 86400 * 15, 86400 * 20, 86400 * 25};

  assert_int_equal(block_of(time, 6, 10), 2);
  assert_int_equal(block_of(time, 6, 1), 1);
  assert_int_equal(block_of(time, 6, 1000), 3);
  assert_int_equal(block_of(time, 1, 10), 1);
}

static void lag_one_and_count(void **state)
{
  enum { N = 20000 };
  static double d[N];

  series(3, 0.5, N, d);
  assert_near(wx_lag_one(d, N), 0.5, 0.03);
  assert_near(wx_effective_count(d, N) / N, 1 / 3.0, 0.04);
  const double swing[] = {1, -1, 1, -1, NAN};
  assert_near(wx_effective_count(swing, 5), 4, 1e-12);
}

static void means_are_tested(void **state)
{
  const double d[] = {1, 2, 4, 1, NAN}, same[] = {0, 0, 0}, one[] = {3};
  int rejected = 0;

  wx_mean_test t = wx_diebold_mariano(d, 5);
  assert_int_equal(t.n, 4);
  assert_near(t.mean, 2, 1e-15);
  assert_near(t.t, 2 / sqrt(2.0 / 4), 1e-12);
  assert_true(wx_diebold_mariano(same, 3).p == 1);
  assert_true(isnan(wx_diebold_mariano(one, 1).p));
  for (uint64_t seed = 0; seed < 300; seed++) {
    double x[60];

    series(seed, 0, 60, x);
    rejected += wx_diebold_mariano(x, 60).p < 0.1;
  }
  assert_near(rejected / 300.0, 0.1, 0.05); /* clipping n_eff at n makes it careful */
}

static void false_discoveries(void **state)
{
  /* Benjamini and Hochberg 1995, section 3.2: 15 tests, 4 significant at 0.05. */
  const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                      0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000, NAN};
  bool significant[16];
  int64_t count = 0;

  assert_ok(wx_false_discovery(p, 16, 0.05, significant, &count));
  assert_int_equal(count, 4);
  assert_true(significant[3] && !significant[4] && !significant[15]);
  assert_ok(wx_false_discovery(p + 9, 6, 0.05, significant, &count));
  assert_int_equal(count, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_cover_independent_values),
      cmocka_unit_test(blocks_cover_values_that_remember),
      cmocka_unit_test(the_width_is_that_of_the_normal_mean),
      cmocka_unit_test(weights_and_pairs),
      cmocka_unit_test(little_is_not_made_much_of),
      cmocka_unit_test(lag_one_and_count),
      cmocka_unit_test(means_are_tested),
      cmocka_unit_test(false_discoveries),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
