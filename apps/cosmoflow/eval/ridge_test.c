/* ridge_test.c - weights in closed form, the choice of the penalty, and rows that must not be
 * looked at. */
#include "eval/ridge.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { ROWS = 600, FEATURES = 6, TARGETS = 2 };
static double x[ROWS * FEATURES], y[ROWS * TARGETS];
static int64_t row[ROWS], group[ROWS];

/* Features of different sizes that hang together; targets 3 x0 - x1 + noise, and noise alone. */
static cf_ridge_rows random_rows(int64_t n, double noise)
{
  for (uint64_t i = 0; i < (uint64_t)n; i++) {
    const double common = weir_random_normal(1, 1, 0, i);

    for (uint64_t a = 0; a < FEATURES; a++) {
      x[i * FEATURES + a] =
          pow(10, (double)a - 2) * (100 + common + weir_random_normal(1, 2, (uint32_t)a, i));
    }
    y[i * 2] = 5 + 3 * x[i * FEATURES + 2] - 0.2 * x[i * FEATURES + 3] +
               noise * weir_random_normal(1, 3, 0, i);
    y[i * 2 + 1] = weir_random_normal(1, 4, 0, i);
    row[i] = (int64_t)i;
    group[i] = (int64_t)i / 3;
  }
  return (cf_ridge_rows){n, row, group, FEATURES, FEATURES, x, TARGETS, y};
}

static cf_ridge_opts with(double *penalty, int64_t n, int64_t folds)
{
  return (cf_ridge_opts){folds, {penalty, n}};
}

/* Standardised weights of one feature: r / (1 + penalty). */
static void one_feature_by_hand(void **state)
{
  static const double of_x[] = {0, 0, 2, 2}, of_y[] = {1, 2, 4, 5};
  double penalty[] = {0, 0.5}, out = 0;

  for (int k = 0; k < 2; k++) {
    const cf_ridge_opts o = with(&penalty[k], 1, 2);
    const cf_ridge_rows rows = {4, row, group, 1, 1, of_x, 1, of_y};
    cf_ridge r;

    for (int i = 0; i < 4; i++) {
      row[i] = i;
      group[i] = i % 2;
    }
    assert_ok(cf_ridge_fit(&o, 0, &rows, &r));
    /* mean 1, scale 1; mean of y 3, r = mean z y = 1.5 */
    assert_near(r.weight[0], 1.5 / (1 + penalty[k]), 1e-14);
    cf_ridge_predict(&r, &of_x[2], &out);
    assert_near(out, 3 + 1.5 / (1 + penalty[k]), 1e-14);
    assert_int_equal(r.folds, 2);
    /* Each fold has one case at 0 and one at 2, and lies half above or below the other. */
    assert_near(r.error[0], pow(1.5 - 1.5 / (1 + penalty[k]), 2) + 1, 1e-13);
    cf_ridge_fini(&r);
  }
}

/* Without noise and without penalty the line is found; a weight of noise alone is shrunk away. */
static void a_line_is_found(void **state)
{
  double penalty[] = {0};
  const cf_ridge_opts o = with(penalty, 1, 5);
  const cf_ridge_rows rows = random_rows(ROWS, 0);
  double out[TARGETS];
  cf_ridge r;

  assert_ok(cf_ridge_fit(&o, 3, &rows, &r));
  assert_int_equal(r.groups, ROWS / 3);
  for (int64_t i = 0; i < ROWS; i++) {
    cf_ridge_predict(&r, x + i * FEATURES, out);
    assert_near(out[0], y[i * 2], 1e-9);
  }
  assert_true(r.error[0] < 1e-16);
  cf_ridge_fini(&r);
}

/* The gradient of the penalised error vanishes at its minimum. */
static void weights_minimise_the_penalised_error(void **state)
{
  static const double penalties[] = {1e-6, 0.01, 0.3, 10};

  for (int k = 0; k < 4; k++) {
    double penalty[] = {penalties[k]};
    const cf_ridge_opts o = with(penalty, 1, 4);
    const cf_ridge_rows rows = random_rows(200, 20);
    cf_ridge r;

    assert_ok(cf_ridge_fit(&o, 0, &rows, &r));
    for (int64_t t = 0; t < TARGETS; t++) {
      double slope[FEATURES] = {0}, size = 0;

      for (int64_t i = 0; i < 200; i++) {
        double out[TARGETS];

        cf_ridge_predict(&r, x + i * FEATURES, out);
        for (int64_t a = 0; a < FEATURES; a++) {
          slope[a] +=
              (y[i * 2 + t] - out[t]) * (x[i * FEATURES + a] - r.mean[a]) / r.scale[a] / 200;
        }
        size += fabs(y[i * 2 + t] - out[t]) / 200;
      }
      for (int64_t a = 0; a < FEATURES; a++) {
        assert_near(slope[a], penalties[k] * r.weight[t * FEATURES + a], 1e-9 * fmax(1, size));
      }
    }
    cf_ridge_fini(&r);
  }
}

/* The penalty is the one of the list that is best by folds; for noise alone the largest. */
static void the_penalty_is_chosen_by_folds(void **state)
{
  double all[] = {1e-4, 0.1, 1e4}, best = INFINITY;
  const cf_ridge_rows rows = random_rows(60, 50);
  cf_ridge r, one;
  int at = 0;

  for (int k = 0; k < 3; k++) {
    const cf_ridge_opts o = with(&all[k], 1, 6);

    assert_ok(cf_ridge_fit(&o, 1, &rows, &one));
    at = one.error[0] < best ? k : at;
    best = fmin(best, one.error[0]);
    cf_ridge_fini(&one);
  }
  const cf_ridge_opts o = with(all, 3, 6);

  assert_ok(cf_ridge_fit(&o, 1, &rows, &r));
  assert_near(r.penalty[0], all[at], 0);
  assert_near(r.error[0], best, 0);
  assert_near(r.penalty[1], 1e4, 0);
  cf_ridge_fini(&r);
}

/* Samples of a universe are never on both sides: where targets are a universe's own number, which
 * the features tell siblings alone, no fold can know it. */
static void samples_of_a_universe_are_in_one_fold(void **state)
{
  double penalty[] = {1e-3};
  const cf_ridge_opts o = with(penalty, 1, 10);
  const int64_t universes = 30, features = 30, each = 8;
  static double of_x[30 * 8 * 30], of_y[30 * 8];
  cf_ridge r;

  for (int64_t i = 0; i < universes * each; i++) {
    group[i] = i / each;
    row[i] = i;
    of_y[i] = weir_random_normal(2, 1, 0, (uint64_t)group[i]);
    for (int64_t a = 0; a < features; a++) {
      of_x[i * features + a] = weir_random_normal(2, 2, (uint32_t)a, (uint64_t)group[i]);
    }
  }
  const cf_ridge_rows rows = {universes * each, row, group, features, features, of_x, 1, of_y};

  assert_ok(cf_ridge_fit(&o, 0, &rows, &r));
  assert_true(r.error[0] > 0.5);
  double fitted = 0, out = 0;

  for (int64_t i = 0; i < universes * each; i++) {
    cf_ridge_predict(&r, of_x + i * features, &out);
    fitted += pow(out - of_y[i], 2) / (double)(universes * each);
  }
  assert_true(fitted < 0.1);
  cf_ridge_fini(&r);
}

/* Rows that are not listed may hold anything: not a bit of the model changes. */
static void rows_that_are_not_listed_are_not_looked_at(void **state)
{
  double penalty[] = {1e-4, 1e-2, 1};
  const cf_ridge_opts o = with(penalty, 3, 5);
  cf_ridge_rows rows = random_rows(ROWS, 10);
  cf_ridge first, second;
  int64_t n = 0;

  for (int64_t i = 0; i < ROWS; i++) {
    if (group[i] % 5 != 2) {
      row[n++] = i;
    }
  }
  rows.n = n;
  assert_ok(cf_ridge_fit(&o, 0, &rows, &first));
  for (int64_t i = 0; i < ROWS; i++) {
    for (int64_t a = 0; a < FEATURES && group[i] % 5 == 2; a++) {
      x[i * FEATURES + a] = NAN;
      y[i * 2 + a % 2] = NAN;
    }
  }
  assert_ok(cf_ridge_fit(&o, 0, &rows, &second));
  assert_memory_equal(first.weight, second.weight, sizeof(double) * FEATURES * TARGETS);
  assert_memory_equal(first.mean, second.mean, sizeof(double) * FEATURES);
  assert_memory_equal(first.scale, second.scale, sizeof(double) * FEATURES);
  assert_memory_equal(first.offset, second.offset, sizeof first.offset);
  assert_memory_equal(first.error, second.error, sizeof first.error);
  cf_ridge_fini(&first);
  cf_ridge_fini(&second);
}

/* A constant feature, one that is another's copy, and more features than rows. */
static void features_that_say_nothing_do_no_harm(void **state)
{
  double penalty[] = {0, 1e-6};
  const cf_ridge_opts o = with(penalty, 2, 4);
  cf_ridge_rows rows = random_rows(ROWS, 0);
  double out[TARGETS];
  cf_ridge r;

  for (int64_t i = 0; i < ROWS; i++) {
    x[i * FEATURES] = 1.1;
    x[i * FEATURES + 5] = -2 * x[i * FEATURES + 2];
  }
  assert_ok(cf_ridge_fit(&o, 0, &rows, &r));
  assert_true(r.scale[0] == 0);
  for (int64_t i = 0; i < ROWS; i++) {
    cf_ridge_predict(&r, x + i * FEATURES, out);
    assert_near(out[0], y[i * 2], 1e-6);
  }
  cf_ridge_fini(&r);
  rows.n = 4; /* two universes */
  assert_ok(cf_ridge_fit(&o, 0, &rows, &r));
  assert_int_equal(r.folds, 2);
  assert_true(isfinite(r.weight[1]) && isfinite(r.error[0]));
  cf_ridge_fini(&r);
}

static void what_cannot_be_fitted_is_refused(void **state)
{
  double penalty[] = {1};
  cf_ridge_opts o = with(penalty, 1, 4);
  cf_ridge_rows rows = random_rows(ROWS, 0);
  cf_ridge r;

  rows.n = 3; /* one universe */
  assert_int_equal(cf_ridge_fit(&o, 0, &rows, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "1 universes"));
  rows.n = 0;
  assert_int_equal(cf_ridge_fit(&o, 0, &rows, &r), WEIR_ERR_DATA);
  rows.n = ROWS;
  x[7 * FEATURES + 2] = NAN;
  assert_int_equal(cf_ridge_fit(&o, 0, &rows, &r), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "feature 3 of training row 8 is nan"));
  o.penalties.count = 0;
  assert_int_equal(cf_ridge_fit(&o, 0, &rows, &r), WEIR_ERR_CONFIG);
}

static weir_status make(void *context)
{
  double penalty[] = {1};
  const cf_ridge_opts o = with(penalty, 1, 4);
  const cf_ridge_rows rows = *(const cf_ridge_rows *)context;
  cf_ridge r;

  WEIR_TRY(cf_ridge_fit(&o, 0, &rows, &r));
  cf_ridge_fini(&r);
  return WEIR_OK;
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  cf_ridge_rows rows = random_rows(30, 1);

  assert_true(weir_check_faults(make, &rows) >= 16);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_feature_by_hand),
      cmocka_unit_test(a_line_is_found),
      cmocka_unit_test(weights_minimise_the_penalised_error),
      cmocka_unit_test(the_penalty_is_chosen_by_folds),
      cmocka_unit_test(samples_of_a_universe_are_in_one_fold),
      cmocka_unit_test(rows_that_are_not_listed_are_not_looked_at),
      cmocka_unit_test(features_that_say_nothing_do_no_harm),
      cmocka_unit_test(what_cannot_be_fitted_is_refused),
      cmocka_unit_test(memory_that_is_missing_is_no_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
