/* posterior_test.c - densities against PyTorch, draws against the moments, files. */
#include "data/posterior.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "data/predicted.h"
#include "data/predictions.h"
#include "model/mixture.h"
#include "support/cosmoflow/flow_reference.h"

enum { N = 2, K = 3, D = 3, OUTPUTS = K * (1 + 2 * D + D * (D - 1) / 2), DRAWS = 40000 };

/* The case of three components of model/mixture_test.c; truth: [N, D]. */
static cf_posteriors *make(double *truth)
{
  double raw[N * OUTPUTS];
  float row[OUTPUTS];
  uint32_t state = 1;
  cf_posteriors *p = NULL;

  assert_ok(cf_posteriors_create(N, D, K, &p));
  congruential(&state, N * OUTPUTS, 1.5, raw);
  congruential(&state, N * D, 1, truth);
  for (int64_t i = 0; i < N; i++) {
    for (int64_t k = 0; k < OUTPUTS; k++) {
      const int64_t m = k - K;
      const bool mean = m >= 0 && m < K * D;

      row[k] = (float)(raw[i * OUTPUTS + k] - (mean ? cf_mixture_centre(K, m / D, m % D) : 0));
    }
    cf_mixture_decode(K, D, row, p->weight + i * K, p->mean + i * K * D, p->factor + i * K * D * D);
    assert_ok(cf_posteriors_check(p, i, "made"));
  }
  return p;
}

/* PyTorch 2.15.0, of which inputs here are rounded to f32: tests/bench/cosmo_posterior.py. */
static void densities_are_those_of_pytorch(void **state)
{
  static const double wanted[N] = {-6.2502877107539252, -4.7371330397634557};
  static const double mean[N * D] = {-0.14959804580228853, 0.19487666726256037,
                                     -0.61450230418963814, 0.39726829568251448,
                                     0.078213497625889708, -0.22302321137381564};
  double truth[N * D], m[D];
  cf_posteriors *p = make(truth);

  for (int64_t i = 0; i < N; i++) {
    assert_near(cf_posterior_log_density(p, i, truth + i * D), wanted[i], 1e-6);
    cf_posterior_mean(p, i, m);
    for (int64_t k = 0; k < D; k++) {
      assert_near(m[k], mean[i * D + k], 1e-6);
    }
  }
  cf_posteriors_destroy(&p);
}

/* The covariance of labels a and b: sum of w (C C' + (m - mean)(m - mean)'). */
static double covariance(const cf_posteriors *p, const double *mean, int64_t a, int64_t b)
{
  double sum = 0;

  for (int64_t k = 0; k < K; k++) {
    const double *const c = p->factor + k * D * D, *const m = p->mean + k * D;
    double within = (m[a] - mean[a]) * (m[b] - mean[b]);

    for (int64_t j = 0; j < D; j++) {
      within += c[a * D + j] * c[b * D + j];
    }
    sum += p->weight[k] * within;
  }
  return sum;
}

/* Means and covariances, within five standard errors; the same draws for the same sample. */
static void draws_have_the_moments(void **state)
{
  double truth[N * D], mean[D], inside = 0, again[5 * D], *y = NULL;
  cf_posteriors *p = make(truth);

  assert_ok(weir_alloc(DRAWS * D, sizeof *y, (void **)&y));
  assert_true(cf_posterior_draw(p, 0, 3, 17, DRAWS, y, &inside));
  assert_true(inside == 1);
  cf_posterior_mean(p, 0, mean);
  for (int64_t a = 0; a < D; a++) {
    const double variance = covariance(p, mean, a, a);
    double sum = 0;

    for (int64_t i = 0; i < DRAWS; i++) {
      sum += y[i * D + a] / DRAWS;
    }
    assert_true(fabs(sum - mean[a]) < 5 * sqrt(variance / DRAWS));
    for (int64_t b = 0; b <= a; b++) {
      double product = 0;

      for (int64_t i = 0; i < DRAWS; i++) {
        product += (y[i * D + a] - mean[a]) * (y[i * D + b] - mean[b]) / DRAWS;
      }
      const double both = sqrt(variance * covariance(p, mean, b, b));

      assert_true(fabs(product - covariance(p, mean, a, b)) < 0.05 * both);
    }
  }
  assert_true(cf_posterior_draw(p, 0, 3, 17, 5, again, &inside));
  assert_memory_equal(again, y, sizeof again);
  weir_free(&y);
  cf_posteriors_destroy(&p);
}

/* A Gaussian in one dimension: the probability of +-1 is known. */
static void restricted_draws_are_inside(void **state)
{
  const double probability = 0.5 * (erf(1.5 / sqrt(2)) + erf(0.5 / sqrt(2))); /* mean 0.5, sd 1 */
  double y[4000], inside = 0;
  cf_posteriors *p = NULL;

  assert_ok(cf_posteriors_create(1, 1, 1, &p));
  p->weight[0] = p->factor[0] = 1;
  p->mean[0] = 0.5;
  p->limit = 1;
  assert_true(cf_posterior_draw(p, 0, 1, 0, 4000, y, &inside));
  assert_near(inside, probability, 0.025);
  for (int i = 0; i < 4000; i++) {
    assert_true(fabs(y[i]) <= 1);
  }
  p->mean[0] = 50;
  assert_false(cf_posterior_draw(p, 0, 1, 0, 10, y, &inside));
  cf_posteriors_destroy(&p);
}

/* The posteriors of the reference flow, whose density is stored; truth: [N, D]. */
static cf_posteriors *make_flow(double *truth)
{
  const cf_flow_shape *const s = &flow_references[1].shape;
  flow_numbers x;
  cf_posteriors *p = NULL;

  flow_numbers_make(s, &x);
  assert_ok(cf_posteriors_create_flow(FLOW_N, s, &p));
  memcpy(p->flow->weight, x.weight, (size_t)cf_flow_count(s) * sizeof(double));
  memcpy(p->feature, x.feature, (size_t)(FLOW_N * s->features) * sizeof(double));
  memcpy(truth, x.truth, (size_t)(FLOW_N * s->labels) * sizeof(double));
  return p;
}

/* Their means are those of the other draws that cf_posterior_mean takes, within five standard
 * errors; restricted ones are inside. */
static void draws_are_of_the_flow(void **state)
{
  enum { FEW = 4000 };
  double truth[N * D], mean[D], inside = 0, again[5 * D], *y = NULL;
  cf_posteriors *p = make_flow(truth);

  assert_ok(weir_alloc(FEW * D, sizeof *y, (void **)&y));
  for (int64_t i = 0; i < N; i++) {
    assert_ok(cf_posteriors_check(p, i, "made"));
    assert_near(cf_posterior_log_density(p, i, truth + i * D), flow_references[1].density[i],
                1e-12);
    assert_true(cf_posterior_draw(p, i, 3, 17, FEW, y, &inside));
    assert_true(inside == 1);
    cf_posterior_mean(p, i, mean);
    for (int64_t a = 0; a < D; a++) {
      double sum = 0, square = 0;

      for (int64_t d = 0; d < FEW; d++) {
        sum += y[d * D + a] / FEW;
        square += y[d * D + a] * y[d * D + a] / FEW;
      }
      assert_near(sum, mean[a], 5 * sqrt((square - sum * sum) * (1.0 / FEW + 1e-3)));
    }
  }
  assert_true(cf_posterior_draw(p, N - 1, 3, 17, 5, again, &inside));
  assert_memory_equal(again, y, sizeof again);
  p->limit = 1;
  assert_true(cf_posterior_draw(p, 0, 3, 17, 50, y, &inside));
  assert_true(inside > 0 && inside < 1);
  for (int64_t k = 0; k < 50 * D; k++) {
    assert_true(fabs(y[k]) <= 1);
  }
  weir_free(&y);
  cf_posteriors_destroy(&p);
}

static void unsound_posteriors_are_refused(void **state)
{
  double truth[N * D];
  cf_posteriors *p = make_flow(truth);

  p->feature[p->flow->shape.features] = INFINITY;
  assert_ok(cf_posteriors_check(p, 0, "here"));
  assert_int_equal(cf_posteriors_check(p, 1, "here"), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "here: row 2"));
  assert_ok(cf_posteriors_check_flow(p, "here"));
  p->flow->weight[0] = NAN;
  assert_int_equal(cf_posteriors_check_flow(p, "here"), WEIR_ERR_NUMERIC);
  cf_posteriors_destroy(&p);
  p = make(truth);

  p->weight[0] += 0.1;
  assert_int_equal(cf_posteriors_check(p, 0, "here"), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "here: row 1"));
  p->weight[0] -= 0.1;
  p->factor[K * D * D] = 0;
  assert_int_equal(cf_posteriors_check(p, 1, "here"), WEIR_ERR_NUMERIC);
  p->mean[0] = NAN;
  assert_int_equal(cf_posteriors_check(p, 0, "here"), WEIR_ERR_NUMERIC);
  cf_posteriors_destroy(&p);
  assert_int_equal(cf_posteriors_create(1, D, CF_MAX_COMPONENTS + 1, &p), WEIR_ERR_SHAPE);
  assert_null(p);
}

static void assert_same(const void *a, const void *b, int64_t n)
{
  assert_memory_equal(a, b, (size_t)n * sizeof(double));
}

static void assert_same_posteriors(const cf_posteriors *a, const cf_posteriors *b)
{
  assert_true(a->limit == b->limit && a->moments == b->moments);
  assert_int_equal(a->components, b->components);
  if (a->flow != NULL) {
    assert_memory_equal(&a->flow->shape, &b->flow->shape, sizeof a->flow->shape);
    assert_same(a->flow->weight, b->flow->weight, cf_flow_count(&a->flow->shape));
    assert_same(a->feature, b->feature, N * a->flow->shape.features);
    return;
  }
  assert_same(a->weight, b->weight, N * K);
  assert_same(a->mean, b->mean, N * K * D);
  assert_same(a->factor, b->factor, N * K * D * D);
}

static void the_same_comes_back_from_a_file(void **state)
{
  double truth[N * D];
  char dir[256], path[512];
  cf_predictions *p = NULL, *q = NULL;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/predictions.nc", dir);
  for (int kind = 0; kind < 4; kind++) {
    assert_ok(cf_predictions_create(N, D, &p));
    p->posterior = kind / 2 == 0 ? make(truth) : make_flow(truth);
    p->posterior->limit = kind % 2 == 1 ? 1 : (double)INFINITY;
    p->posterior->moments = kind == 1;
    p->draws = 7;
    for (int64_t i = 0; i < N * D; i++) {
      p->predicted[i] = 0;
    }
    assert_ok(cf_predictions_write(p, path));
    assert_ok(cf_predictions_read(path, &q));
    assert_non_null(q->posterior);
    assert_same_posteriors(q->posterior, p->posterior);
    cf_predictions_destroy(&p);
    cf_predictions_destroy(&q);
  }
  weir_check_rmdir(dir);
}

/* One sample far outside does not keep the others from being written. */
static void draws_are_nan_where_too_few_are_inside(void **state)
{
  const int64_t zero[3] = {0}, count[3] = {2, 7, 1};
  double draws[2 * 7];
  char dir[256], path[512];
  cf_predictions *p = NULL;
  weir_netcdf *nc = NULL;
  weir_netcdf_shape s;
  int var = 0;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/predictions.nc", dir);
  assert_ok(cf_predictions_create(2, 1, &p));
  assert_ok(cf_posteriors_create(2, 1, 1, &p->posterior));
  p->posterior->limit = 1;
  p->draws = 7;
  for (int i = 0; i < 2; i++) {
    p->predicted[i] = 0;
    p->posterior->weight[i] = p->posterior->factor[i] = 1;
    p->posterior->mean[i] = i == 0 ? 50 : 0;
  }
  assert_ok(cf_predictions_write(p, path));
  cf_predictions_destroy(&p);
  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(cf_predicted_find(nc, path, "physPosterior", WEIR_F64, false, 3, count, &var, &s));
  assert_ok(weir_netcdf_read(nc, var, zero, count, draws));
  weir_netcdf_close(&nc);
  for (int i = 0; i < 7; i++) {
    assert_true(isnan(draws[i]) && fabs(draws[7 + i]) <= 1);
  }
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(densities_are_those_of_pytorch),
      cmocka_unit_test(draws_have_the_moments),
      cmocka_unit_test(restricted_draws_are_inside),
      cmocka_unit_test(draws_are_of_the_flow),
      cmocka_unit_test(unsound_posteriors_are_refused),
      cmocka_unit_test(the_same_comes_back_from_a_file),
      cmocka_unit_test(draws_are_nan_where_too_few_are_inside),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
