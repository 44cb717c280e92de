/* forecast_test.c - a line by hand, the mean over many sets of known information, summaries that
 * add none, and refusals. */
#include "eval/summary/forecast.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { ROWS = 400, SUMMARIES = 12, WIDTH = SUMMARIES + 3, LABELS = 2 };
static double x[ROWS * WIDTH], y[ROWS * LABELS];
static int64_t row[ROWS], group[ROWS];

/* Summary a = 2 p0 (a = 0), p1 (a = 1), 0.5 (p0 + p1) (a = 2), plus noise of deviations 1 + a / 4
 * that all share by half: C = S (I / 2 + 1 / 2) S. Then a constant, a sum and a copy. */
static double slope_of(int64_t a, int k)
{
  return a == k ? 2 - k : a == 2 ? 0.5 : 0;
}

static cf_ridge_rows make_rows(int64_t n, int64_t features, uint64_t seed)
{
  for (int64_t i = 0; i < n; i++) {
    double *const s = x + i * WIDTH, *const p = y + i * LABELS;
    const double common = weir_random_normal(seed, 1, 0, (uint64_t)i);

    row[i] = group[i] = i;
    for (uint32_t k = 0; k < LABELS; k++) {
      p[k] = 2 * weir_random_uniform(seed, 2, k, (uint64_t)i) - 1;
    }
    for (int64_t a = 0; a < SUMMARIES; a++) {
      const double own = weir_random_normal(seed, 3, (uint32_t)a, (uint64_t)i);

      s[a] = 5 + slope_of(a, 0) * p[0] + slope_of(a, 1) * p[1] +
             (1 + 0.25 * (double)a) * sqrt(0.5) * (own + common);
    }
    s[SUMMARIES] = 7.3;
    s[SUMMARIES + 1] = s[0] - 3 * s[4];
    s[SUMMARIES + 2] = 10 * s[5];
  }
  return (cf_ridge_rows){n, row, group, features, WIDTH, x, LABELS, y};
}

/* (I / 2 + 1 1' / 2)^-1 = 2 (I - 1 1' / (m + 1)). */
static double information(int j, int k)
{
  double both = 0, sum_j = 0, sum_k = 0;

  for (int64_t a = 0; a < SUMMARIES; a++) {
    const double scale = 1 + 0.25 * (double)a;

    both += slope_of(a, j) * slope_of(a, k) / (scale * scale);
    sum_j += slope_of(a, j) / scale;
    sum_k += slope_of(a, k) / scale;
  }
  return 2 * (both - sum_j * sum_k / (SUMMARIES + 1));
}

/* One summary of one parameter: s = 1, 2, 4, 5, 3 at p = -1, -1, 1, 1, 0: D = 1.5, residuals -+ 1/2
 * and 0, nu = 3, C = 1/3, the factor 1/3, spread 4: F = 1.5^2 / (1/3) / 3 - 1 / 4. */
static void one_summary_by_hand(void **state)
{
  static const double s[] = {1, 2, 4, 5, 3}, p[] = {-1, -1, 1, 1, 0};
  static const int64_t rows_of[] = {0, 1, 2, 3, 4};
  const cf_ridge_rows rows = {5, rows_of, rows_of, 1, 1, s, 1, p};
  cf_forecast f;

  assert_ok(cf_forecast_make(&rows, &f));
  assert_int_equal(f.universes, 5);
  assert_int_equal(f.rank, 1);
  assert_near(f.factor, 1.0 / 3, 1e-15);
  assert_near(f.alone[0], 1 / sqrt(2), 1e-14);
  assert_near(f.sigma[0], 1 / sqrt(5), 1e-14);
}

/* Of few universes, F is right on average: without the factor it would be 1.3 times as large, and
 * without the noise of the derivatives larger by 0.6. */
static void few_universes_are_right_on_average(void **state)
{
  enum { SETS = 600, N = 60 };
  double mean[2] = {0};

  for (uint64_t i = 0; i < SETS; i++) {
    const cf_ridge_rows rows = make_rows(N, SUMMARIES, 1 + i);
    cf_forecast f;

    assert_ok(cf_forecast_make(&rows, &f));
    for (int k = 0; k < 2; k++) {
      mean[k] += 1 / (f.sigma[k] * f.sigma[k]) / SETS;
    }
  }
  for (int k = 0; k < 2; k++) {
    const double own = information(k, k) + 3, other = information(!k, !k) + 3;
    const double expected = own - information(0, 1) * information(0, 1) / other;

    printf("parameter %d: 1 / sigma^2 %.3f, known %.3f\n", k, mean[k], expected);
    assert_near(mean[k], expected, 0.03 * expected);
  }
}

static void many_universes_know_it(void **state)
{
  const cf_ridge_rows rows = make_rows(ROWS, SUMMARIES, 5);
  const double a = information(0, 0), b = information(0, 1), c = information(1, 1);
  cf_forecast f;

  assert_ok(cf_forecast_make(&rows, &f));
  assert_near(f.alone[0], sqrt(c / (a * c - b * b)), 0.1 * f.alone[0]);
  assert_near(f.alone[1], sqrt(a / (a * c - b * b)), 0.1 * f.alone[1]);
}

/* A constant, a sum of others and a copy change neither rank nor information. */
static void summaries_that_add_nothing_change_nothing(void **state)
{
  cf_ridge_rows rows = make_rows(100, SUMMARIES, 9);
  cf_forecast f, more;

  assert_ok(cf_forecast_make(&rows, &f));
  rows.n_features = WIDTH;
  assert_ok(cf_forecast_make(&rows, &more));
  assert_int_equal(more.rank, SUMMARIES);
  for (int k = 0; k < 2; k++) {
    assert_near(more.sigma[k], f.sigma[k], 1e-6 * f.sigma[k]);
  }
}

/* Further samples of a universe are not independent of the first, and are not used. */
static void one_sample_of_a_universe_counts(void **state)
{
  cf_ridge_rows rows = make_rows(120, SUMMARIES, 3);
  cf_forecast f, first;

  for (int64_t i = 0; i < 120; i++) {
    group[i] = i % 60;
  }
  assert_ok(cf_forecast_make(&rows, &f));
  rows.n = 60;
  assert_ok(cf_forecast_make(&rows, &first));
  assert_int_equal(f.universes, 60);
  assert_memory_equal(&f, &first, sizeof f);
}

static void refused(const cf_ridge_rows *rows, weir_status status, const char *text)
{
  cf_forecast f;

  assert_int_equal(cf_forecast_make(rows, &f), status);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("'%s' is not in %s", text, weir_last_message());
  }
}

static void too_few_universes_are_refused(void **state)
{
  cf_ridge_rows rows = make_rows(SUMMARIES + LABELS + 2, SUMMARIES, 4);
  cf_forecast f;

  refused(&rows, WEIR_ERR_DATA, "of 12 summaries needs 17 training universes, and there are 16");
  rows.n = 3;
  refused(&rows, WEIR_ERR_DATA, "needs 6 training universes, and there are 3");
  rows.n = 0;
  refused(&rows, WEIR_ERR_DATA, "there are 0");
  rows = make_rows(60, SUMMARIES, 4);
  for (int64_t i = 0; i < 60; i++) {
    y[i * 2 + 1] = -y[i * 2];
  }
  refused(&rows, WEIR_ERR_DATA, "do not vary independently");
  rows = make_rows(60, SUMMARIES, 4);
  x[7 * WIDTH + 3] = NAN;
  refused(&rows, WEIR_ERR_NUMERIC, "summary 4 is not finite");
  rows = make_rows(17, 2, 4);
  assert_ok(cf_forecast_make(&rows, &f));
}

static weir_status make(void *context)
{
  cf_forecast f;

  return cf_forecast_make(context, &f);
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  cf_ridge_rows rows = make_rows(60, SUMMARIES, 2);

  assert_true(weir_check_faults(make, &rows) >= 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_summary_by_hand),
      cmocka_unit_test(few_universes_are_right_on_average),
      cmocka_unit_test(many_universes_know_it),
      cmocka_unit_test(summaries_that_add_nothing_change_nothing),
      cmocka_unit_test(one_sample_of_a_universe_counts),
      cmocka_unit_test(too_few_universes_are_refused),
      cmocka_unit_test(memory_that_is_missing_is_no_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
