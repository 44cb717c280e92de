/* metrics_test.c - scores with closed forms, and intervals over universes. */
#include "eval/metrics.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { MAX_CASES = 4096 };
static double truth[MAX_CASES], predicted[MAX_CASES];
static int64_t group[MAX_CASES];

static cf_resamples resamples_of(int64_t groups, int64_t n, double confidence)
{
  const cf_bootstrap_opts o = {n, confidence, 0};
  cf_resamples r;

  assert_ok(cf_resamples_create(&o, 7, groups, &r));
  return r;
}

static cf_cases cases_of(int64_t n, int64_t groups)
{
  return (cf_cases){n, groups, group, truth, predicted};
}

static void scores_of_four_cases_by_hand(void **state)
{
  static const double t[] = {1, 2, 3, 4}, y[] = {1.5, 2, 2, 5}; /* e: .5 0 -1 1 */
  cf_resamples r = resamples_of(2, 100, 0.95);
  weir_estimate e[CF_SCORES];

  for (int i = 0; i < 4; i++) {
    truth[i] = t[i];
    predicted[i] = y[i];
    group[i] = i / 2;
  }
  const cf_cases c = cases_of(4, 2);

  assert_ok(cf_metrics(&c, &r, e));
  assert_near(e[CF_MAE].value, 2.5 / 4, 1e-15);
  assert_near(e[CF_RMSE].value, 0.75, 1e-15);
  assert_near(e[CF_BIAS].value, 0.125, 1e-15);
  assert_near(e[CF_RELATIVE].value, (0.5 + 1. / 3 + 0.25) / 4, 1e-15);
  assert_near(e[CF_R2].value, 1 - 2.25 / 5, 1e-15);
  assert_near(e[CF_SLOPE].value, 5.25 / 5, 1e-15);
  cf_resamples_fini(&r);
}

/* Predictions on a line: every score in closed form, of any number of cases. */
static void a_line_gives_its_slope(void **state)
{
  static const double slopes[] = {1, 0.4, 0, -2};
  static const int64_t sizes[] = {2, 7, 64, 1000};

  for (int s = 0; s < 4; s++) {
    for (int k = 0; k < 4; k++) {
      const int64_t n = sizes[k];
      const double middle = 1e6 + 0.5, a = slopes[s]; /* far from 0: squares must not lose it */
      cf_resamples r = resamples_of(n, 100, 0.9);
      weir_estimate e[CF_SCORES];
      double square = 0;

      for (int64_t i = 0; i < n; i++) {
        const double d = ((double)i + 0.5) / (double)n - 0.5;

        truth[i] = middle + d;
        predicted[i] = middle + a * d + 0.25;
        group[i] = i;
        square += d * d / (double)n;
      }
      const cf_cases c = cases_of(n, n);

      assert_ok(cf_metrics(&c, &r, e));
      assert_near(e[CF_SLOPE].value, a, 1e-8);
      assert_near(e[CF_BIAS].value, 0.25, 1e-9);
      assert_near(e[CF_RMSE].value, sqrt((1 - a) * (1 - a) * square + 0.0625), 1e-9);
      assert_near(e[CF_R2].value, 1 - ((1 - a) * (1 - a) + 0.0625 / square), 1e-8);
      assert_true(fabs(e[CF_SLOPE].lo - a) < 1e-8 || isnan(e[CF_SLOPE].lo));
      cf_resamples_fini(&r);
    }
  }
}

/* The middle of uniform labels: MAE 1/2, MSE 1/3, R2 0, slope 0. */
static void guessing_the_middle_scores_what_it_must(void **state)
{
  cf_resamples r = resamples_of(MAX_CASES, 100, 0.95);
  weir_estimate e[CF_SCORES];

  for (int64_t i = 0; i < MAX_CASES; i++) {
    truth[i] = ((double)i + 0.5) / (MAX_CASES / 2) - 1;
    predicted[i] = 0;
    group[i] = i;
  }
  const cf_cases c = cases_of(MAX_CASES, MAX_CASES);

  assert_ok(cf_metrics(&c, &r, e));
  assert_near(e[CF_MAE].value, 0.5, 1e-6);
  assert_near(e[CF_RMSE].value * e[CF_RMSE].value, 1. / 3, 1e-6);
  assert_near(e[CF_R2].value, 0, 1e-6);
  assert_near(e[CF_SLOPE].value, 0, 1e-12);
  cf_resamples_fini(&r);
}

/* The interval of a mean of independent errors is that of the normal distribution, and holds what
 * it should in as many experiments as it says. */
static void intervals_hold_what_they_promise(void **state)
{
  enum { UNIVERSES = 120, EXPERIMENTS = 400 };
  cf_resamples r = resamples_of(UNIVERSES, 1000, 0.9);
  int64_t covered = 0;
  double width = 0;

  for (uint32_t x = 0; x < EXPERIMENTS; x++) {
    weir_estimate e[CF_SCORES];

    for (int64_t i = 0; i < UNIVERSES; i++) {
      truth[i] = weir_random_uniform(3, 1, x, (uint64_t)i);
      predicted[i] = truth[i] + 0.3 + 0.2 * weir_random_normal(3, 2, x, (uint64_t)i);
      group[i] = i;
    }
    const cf_cases c = cases_of(UNIVERSES, UNIVERSES);

    assert_ok(cf_metrics(&c, &r, e));
    covered += e[CF_BIAS].lo <= 0.3 && 0.3 <= e[CF_BIAS].hi;
    width += (e[CF_BIAS].hi - e[CF_BIAS].lo) / EXPERIMENTS;
  }
  /* 2 * 1.645 * 0.2 / sqrt(120), and 90 % of 400 with a standard deviation of 6. */
  assert_near(width, 2 * 1.645 * 0.2 / sqrt(UNIVERSES), 0.02 * 0.06);
  assert_true(covered >= 360 - 24 && covered <= 360 + 24);
  cf_resamples_fini(&r);
}

/* Copies of a sample are no new case: neither scores nor intervals change. */
static void samples_of_a_universe_do_not_narrow_the_interval(void **state)
{
  enum { UNIVERSES = 50 };
  cf_resamples r = resamples_of(UNIVERSES, 500, 0.95);
  weir_estimate one[CF_SCORES], eight[CF_SCORES];

  for (int times = 1; times <= 8; times += 7) {
    for (int64_t i = 0; i < UNIVERSES * times; i++) {
      truth[i] = 1 + weir_random_uniform(5, 1, 0, (uint64_t)(i / times));
      predicted[i] = truth[i] + weir_random_normal(5, 2, 0, (uint64_t)(i / times));
      group[i] = i / times;
    }
    const cf_cases c = cases_of(UNIVERSES * times, UNIVERSES);

    assert_ok(cf_metrics(&c, &r, times == 1 ? one : eight));
  }
  for (int s = 0; s < CF_SCORES; s++) {
    assert_true(one[s].hi > one[s].lo);
    assert_near(eight[s].value, one[s].value, 1e-12);
    assert_near(eight[s].lo, one[s].lo, 1e-12);
    assert_near(eight[s].hi, one[s].hi, 1e-12);
  }
  cf_resamples_fini(&r);
}

static void what_is_not_defined_is_nan(void **state)
{
  cf_resamples r = resamples_of(3, 100, 0.95);
  weir_estimate e[CF_SCORES];
  cf_cases c = cases_of(0, 3);

  assert_ok(cf_metrics(&c, &r, e));
  for (int s = 0; s < CF_SCORES; s++) {
    assert_true(isnan(e[s].value) && isnan(e[s].lo) && isnan(e[s].hi));
  }
  /* One universe: values without intervals; truths that are one number: no slope. */
  for (int i = 0; i < 2; i++) {
    truth[i] = 0;
    predicted[i] = i;
    group[i] = 1;
  }
  c.n = 2;
  assert_ok(cf_metrics(&c, &r, e));
  assert_near(e[CF_MAE].value, 0.5, 0);
  assert_true(isnan(e[CF_MAE].lo) && isnan(e[CF_R2].value) && isnan(e[CF_SLOPE].value));
  assert_true(isnan(e[CF_RELATIVE].value));
  cf_resamples_fini(&r);
}

static void skill_is_of_the_same_universes(void **state)
{
  enum { UNIVERSES = 80 };
  static double half[UNIVERSES];
  cf_resamples r = resamples_of(UNIVERSES, 500, 0.95);
  weir_estimate e;

  for (int64_t i = 0; i < UNIVERSES; i++) {
    const double error = weir_random_normal(9, 1, 0, (uint64_t)i);

    truth[i] = 5;
    predicted[i] = 5 + error;
    half[i] = 5 - 0.5 * error;
    group[i] = i;
  }
  const cf_cases b = cases_of(UNIVERSES, UNIVERSES);
  cf_cases a = b;

  a.predicted = half; /* half the error of every case: half in every resample, too */
  assert_ok(cf_metrics_skill(&a, &b, CF_MAE, &r, &e));
  assert_near(e.value, 0.5, 1e-12);
  assert_near(e.lo, 0.5, 1e-12);
  assert_near(e.hi, 0.5, 1e-12);
  assert_ok(cf_metrics_skill(&b, &a, CF_RMSE, &r, &e));
  assert_near(e.value, -1, 1e-12);
  a.predicted = truth;
  assert_ok(cf_metrics_skill(&b, &a, CF_RMSE, &r, &e));
  assert_true(isnan(e.value) && isnan(e.lo)); /* nothing is better than no error */
  cf_resamples_fini(&r);
}

/* Errors that samples share stay, those of their own go as one over their number. */
static void averaging_leaves_what_is_shared(void **state)
{
  enum { UNIVERSES = 500, EACH = 8 };
  int64_t blocks = 0;

  for (int64_t i = 0; i < UNIVERSES * EACH; i++) {
    group[i] = i / EACH;
    truth[i] = 0;
    predicted[i] = 0.3 * weir_random_normal(11, 1, 0, (uint64_t)group[i]) +
                   0.6 * weir_random_normal(11, 2, 0, (uint64_t)i);
  }
  const cf_cases c = cases_of(UNIVERSES * EACH, UNIVERSES);
  const cf_sharing s = cf_metrics_sharing(&c);

  assert_near(s.within, 0.6, 0.6 * 4 / sqrt(2 * UNIVERSES * (EACH - 1)));
  assert_near(s.shared, 0.3, 0.06);
  for (int64_t m = 1; m <= EACH; m *= 2) {
    const double expected = sqrt(0.09 + 0.36 / (double)m);

    assert_near(cf_metrics_blocks(&c, m, &blocks), expected, 0.1 * expected);
    assert_int_equal(blocks, UNIVERSES * EACH / m);
  }
  assert_near(cf_metrics_blocks(&c, 3, &blocks), sqrt(0.09 + 0.12), 0.05);
  assert_int_equal(blocks, UNIVERSES * 2);
  assert_true(isnan(cf_metrics_blocks(&c, EACH + 1, &blocks)) && blocks == 0);
  for (int64_t i = 0; i < UNIVERSES; i++) {
    group[i] = i;
  }
  const cf_cases alone = cases_of(UNIVERSES, UNIVERSES);

  assert_true(isnan(cf_metrics_sharing(&alone).within));
}

static weir_status make(void *context)
{
  cf_resamples r;
  weir_estimate e[CF_SCORES];
  const cf_bootstrap_opts o = {100, 0.95, 0};
  const cf_cases c = cases_of(10, 10);

  (void)context;
  WEIR_TRY(cf_resamples_create(&o, 0, 10, &r));
  weir_status status = cf_metrics(&c, &r, e);

  status = status == WEIR_OK ? cf_metrics_skill(&c, &c, CF_MAE, &r, e) : status;
  cf_resamples_fini(&r);
  return status;
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  for (int64_t i = 0; i < 10; i++) {
    group[i] = i;
  }
  assert_int_equal(weir_check_faults(make, NULL), 6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_of_four_cases_by_hand),
      cmocka_unit_test(a_line_gives_its_slope),
      cmocka_unit_test(guessing_the_middle_scores_what_it_must),
      cmocka_unit_test(intervals_hold_what_they_promise),
      cmocka_unit_test(samples_of_a_universe_do_not_narrow_the_interval),
      cmocka_unit_test(what_is_not_defined_is_nan),
      cmocka_unit_test(skill_is_of_the_same_universes),
      cmocka_unit_test(averaging_leaves_what_is_shared),
      cmocka_unit_test(memory_that_is_missing_is_no_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
