/* boosting_test.c - trees against scikit-learn, the choice of rounds, seeds and threads, refusals.
 */
#include "eval/regression/boosting.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "device/weir_parallel.h"
#include "support/cosmoflow/congruential.h"

enum { ROWS = 120, FEATURES = 4, TARGETS = 2, SHOWN = 24, ROUNDS = 40 };
static double x[ROWS * FEATURES], y[ROWS * TARGETS];
static int64_t row[ROWS], group[ROWS];

/* The rows of tests/bench/cosmo_summaries.py; the second target is the first one turned round. */
static cf_ridge_rows make_rows(void)
{
  uint32_t bits = 1;
  double noise[ROWS];

  congruential(&bits, ROWS * FEATURES, 1, x);
  congruential(&bits, ROWS, 1, noise);
  for (int64_t i = 0; i < ROWS; i++) {
    for (int64_t k = 0; k < FEATURES; k++) {
      x[i * FEATURES + k] = (double)(float)x[i * FEATURES + k];
    }
    const double *const of = x + i * FEATURES;

    y[i * TARGETS] = sin(3 * of[0]) + of[1] * of[2] + 0.1 * noise[i];
    y[i * TARGETS + 1] = 1 - 2 * y[i * TARGETS];
    row[i] = group[i] = i;
  }
  return (cf_ridge_rows){ROWS, row, group, FEATURES, FEATURES, x, TARGETS, y};
}

static const cf_boosting_opts some = {
    .rounds = ROUNDS, .depth = 3, .min_leaf = 5, .folds = 4, .shrinkage = 0.1, .subsample = 1};

/* Checks predictions after all rounds of the first target, the mean square error and the first
 * split. */
static void check_sklearn(int64_t depth, int64_t min_leaf, const double *expected, double mse,
                          double threshold)
{
  const cf_ridge_rows rows = make_rows();
  cf_boosting_opts o = some;
  cf_boosting b;
  double sum = 0, out[TARGETS], worst = 0;

  o.depth = depth;
  o.min_leaf = min_leaf;
  assert_ok(cf_boosting_fit(&o, 0, &rows, &b));
  assert_int_equal(b.tree[0].feature, 0);
  assert_near(b.tree[0].threshold, threshold, 1e-8);
  b.rounds[0] = b.rounds[1] = ROUNDS;
  for (int64_t i = 0; i < ROWS; i++) {
    cf_boosting_predict(&b, x + i * FEATURES, out);
    sum += pow(out[0] - y[i * TARGETS], 2) / ROWS;
    worst = i < SHOWN ? fmax(worst, fabs(out[0] - expected[i])) : worst;
    assert_near(out[1], 1 - 2 * out[0], 1e-12);
  }
  printf("depth %lld: %.1e from scikit-learn\n", (long long)depth, worst);
  assert_true(worst < 1e-6);
  assert_near(sum, mse, 1e-9);
  cf_boosting_fini(&b);
}

/* GradientBoostingRegressor of scikit-learn 1.9.1 (tests/bench/cosmo_summaries.py): 40 rounds with
 * learning rate 0.1. */
static void predictions_are_those_of_scikit_learn(void **state)
{
  static const double stumps[SHOWN] = {0.03975841,  0.6125256,  0.03975841,  -0.8106225, 0.8098041,
                                       0.8098041,   -0.6571959, 0.7006266,   0.8098041,  -0.4499674,
                                       -0.5410859,  -0.7036779, 0.8529577,   -0.7036779, -0.7036779,
                                       -0.05591078, 0.4743352,  -0.05591078, -0.5394172, 0.03975841,
                                       0.8098041,   -0.7036779, 0.7006266,   0.6125256};
  static const double trees[SHOWN] = {
      0.2022939, 0.328351,   0.3361658,  -1.19218,   1.007127, 0.9696672,  -0.737889,  0.9918704,
      0.8811363, -0.4977665, -0.5018699, -0.7313424, 1.291711, -0.8410766, -0.5862905, -0.2130587,
      0.4590488, -0.2435085, -0.6513001, 0.02885961, 1.004384, -1.156186,  0.7126046,  0.2987148};

  check_sklearn(1, 1, stumps, 0.1049562844, 0.0981899239);
  check_sklearn(3, 5, trees, 0.03511083072, 0.0981899239);
}

/* The chosen number has the least error of folds; of pure noise few rounds are left. */
static void rounds_are_chosen_by_folds(void **state)
{
  const cf_ridge_rows rows = make_rows();
  cf_boosting_opts o = some;
  cf_boosting b;

  o.rounds = 400;
  assert_ok(cf_boosting_fit(&o, 3, &rows, &b));
  printf("%lld rounds, root mean square error of folds %.3f\n", (long long)b.rounds[0],
         sqrt(b.error[0]));
  assert_true(b.rounds[0] > 20 && b.rounds[0] <= 400);
  assert_true(b.error[0] < 0.12); /* the variance of y is 0.58 */
  assert_near(b.error[1] / b.error[0], 4, 1e-9);
  assert_int_equal(b.folds, 4);
  assert_int_equal(b.groups, ROWS);
  cf_boosting_fini(&b);
  for (int64_t i = 0; i < ROWS * TARGETS; i++) {
    y[i] = weir_random_normal(1, 1, 0, (uint64_t)i);
  }
  assert_ok(cf_boosting_fit(&o, 3, &rows, &b));
  assert_true(b.rounds[0] < 20);
  cf_boosting_fini(&b);
}

/* Rows of a universe that repeat each other are in one fold: their error is not that of a copy. */
static void universes_are_not_divided(void **state)
{
  enum { PAIRS = ROWS / 2 };
  const cf_ridge_rows rows = make_rows();
  cf_boosting_opts o = some;
  cf_boosting b;

  o.min_leaf = 1;
  o.depth = 6;
  for (int64_t i = 0; i < PAIRS; i++) {
    memcpy(x + (PAIRS + i) * FEATURES, x + i * FEATURES, FEATURES * sizeof *x);
    y[i * TARGETS] = y[(PAIRS + i) * TARGETS] = weir_random_normal(1, 1, 0, (uint64_t)i);
    group[PAIRS + i] = i;
  }
  assert_ok(cf_boosting_fit(&o, 0, &rows, &b));
  assert_int_equal(b.groups, PAIRS);
  assert_true(b.error[0] > 0.7); /* of noise with variance 1; copies would give 0 */
  cf_boosting_fini(&b);
}

/* Subsampling depends on the seed, and nothing on threads. */
static void threads_make_no_difference(void **state)
{
  static const uint64_t seed[3] = {5, 5, 6};
  const cf_ridge_rows rows = make_rows();
  const int threads = weir_threads_get();
  cf_boosting_opts o = some;
  cf_boosting b[3];

  o.subsample = 0.6;
  for (int k = 0; k < 3; k++) {
    weir_threads_set(1 + 2 * (k % 2));
    assert_ok(cf_boosting_fit(&o, seed[k], &rows, &b[k]));
  }
  weir_threads_set(threads);
  bool same = true;

  for (int64_t i = 0; i < TARGETS * ROUNDS * b[0].tree_nodes; i++) {
    const cf_tree_node *const p = &b[0].tree[i], *const q = &b[1].tree[i], *const r = &b[2].tree[i];

    assert_int_equal(p->feature, q->feature);
    assert_true(p->threshold == q->threshold && p->value == q->value);
    same = same && p->feature == r->feature && p->threshold == r->threshold;
  }
  assert_false(same);
  assert_true(b[0].error[0] == b[1].error[0] && b[0].rounds[1] == b[1].rounds[1]);
  for (int k = 0; k < 3; k++) {
    cf_boosting_fini(&b[k]);
  }
}

static void leaves_have_enough_rows(void **state)
{
  const cf_ridge_rows rows = make_rows();
  cf_boosting_opts o = some;
  cf_boosting b;

  o.min_leaf = 40;
  assert_ok(cf_boosting_fit(&o, 0, &rows, &b));
  for (int64_t round = 0; round < ROUNDS; round++) {
    int64_t left = 0;

    for (int64_t i = 0; i < ROWS; i++) {
      const cf_tree_node *const root = b.tree + round * b.tree_nodes;

      left += root->feature >= 0 && x[i * FEATURES + root->feature] <= root->threshold;
    }
    assert_true(left == 0 || (left >= 40 && ROWS - left >= 40));
  }
  cf_boosting_fini(&b);
}

static void what_cannot_be_is_refused(void **state)
{
  cf_ridge_rows rows = make_rows();
  cf_boosting b;

  x[7] = NAN;
  assert_int_equal(cf_boosting_fit(&some, 0, &rows, &b), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "boosting: feature 4 of training row 2 is nan"));
  rows = make_rows();
  memset(group, 0, sizeof group);
  assert_int_equal(cf_boosting_fit(&some, 0, &rows, &b), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "boosting: there are 1 universes to train on"));
}

static void a_request_to_stop_is_heard(void **state)
{
  const cf_ridge_rows rows = make_rows();
  cf_boosting b;

  weir_stop_request(15);
  assert_int_equal(cf_boosting_fit(&some, 0, &rows, &b), WEIR_ERR_STOPPED);
  weir_stop_request(0);
}

static weir_status make(void *context)
{
  cf_boosting b;

  WEIR_TRY(cf_boosting_fit(&some, 0, context, &b));
  cf_boosting_fini(&b);
  return WEIR_OK;
}

static void every_allocation_may_fail(void **state)
{
  cf_ridge_rows rows = make_rows();

  assert_true(weir_check_faults(make, &rows) > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_those_of_scikit_learn),
      cmocka_unit_test(rounds_are_chosen_by_folds),
      cmocka_unit_test(universes_are_not_divided),
      cmocka_unit_test(threads_make_no_difference),
      cmocka_unit_test(leaves_have_enough_rows),
      cmocka_unit_test(what_cannot_be_is_refused),
      cmocka_unit_test(a_request_to_stop_is_heard),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
