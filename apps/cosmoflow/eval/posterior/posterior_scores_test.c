/* posterior_scores_test.c - information and calibration of posteriors that are known. */
#include "eval/posterior/posterior_scores.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "io/weir_netcdf.h"

enum { N = 1000, LABELS = 2, OF_UNIVERSE = 2 };
#define SD 0.1

static char dir[256], path[512];

static int make_dir(void **state)
{
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/predictions.nc", dir);
  return 0;
}

static int drop_dir(void **state)
{
  weir_check_rmdir(dir);
  return 0;
}

/* Two samples of each universe, labels uniform in [-1, 1], estimates truth + SD times a normal
 * number: the posterior is N(estimate, SD^2), here with the standard deviation SD times width. */
static void write(double width, double limit)
{
  cf_predictions *p = NULL;

  assert_ok(cf_predictions_create(N, LABELS, &p));
  assert_ok(cf_posteriors_create(N, LABELS, 1, &p->posterior));
  p->posterior->limit = limit;
  for (int64_t i = 0; i < N; i++) {
    p->universe[i] = i / OF_UNIVERSE;
    p->subset[i] = CF_TEST;
    p->posterior->weight[i] = 1;
    for (int64_t k = 0; k < LABELS; k++) {
      const int64_t at = i * LABELS + k;
      const double u = weir_random_uniform(5, 1, (uint32_t)k, (uint64_t)(i / OF_UNIVERSE));

      p->truth[at] = (float)(2 * u - 1);
      p->posterior->mean[at] =
          (double)p->truth[at] + SD * weir_random_normal(5, 2, (uint32_t)k, (uint64_t)i);
      p->predicted[at] = (float)p->posterior->mean[at];
      for (int64_t j = 0; j < LABELS; j++) {
        p->posterior->factor[at * LABELS + j] = j == k ? width * SD : 0;
      }
    }
  }
  assert_ok(cf_predictions_write(p, path));
  cf_predictions_destroy(&p);
}

static void score(double width, double limit, cf_posterior_scores *out)
{
  const cf_posterior_opts o = {.draws = 199, .bins = 20};
  const cf_eval_set_opts set = {.name = "set", .predictions = path};
  const cf_source_spec spec = {0};
  const cf_bootstrap_opts draws = {.resamples = 200, .confidence = 0.95};
  cf_resamples resamples;
  cf_eval_set t;

  write(width, limit);
  assert_ok(cf_eval_set_open(&set, &spec, CF_TEST, &t));
  assert_ok(cf_resamples_create(&draws, 1, t.groups, &resamples));
  assert_ok(cf_posterior_scores_make(&o, &t, &resamples, 1, out));
  cf_resamples_fini(&resamples);
  cf_eval_set_close(&t);
}

#define NEEDS_NETCDF()                               \
  do {                                               \
    if (!weir_netcdf_available()) {                  \
      printf("skipped: this build has no NetCDF\n"); \
      skip();                                        \
    }                                                \
  } while (0)

/* The gain of a Gaussian: ln 2 - ln(sd sqrt(2 pi e)) a label. */
static void the_information_is_that_of_a_gaussian(void **state)
{
  const double gain = LABELS * (log(2) - log(SD * sqrt(2 * acos(-1) * exp(1))));
  cf_posterior_scores s;

  NEEDS_NETCDF();
  score(1, INFINITY, &s);
  assert_int_equal(s.n, N);
  assert_int_equal(s.cases, N / OF_UNIVERSE);
  assert_near(s.information.value, gain, 0.03); /* 3 standard errors, sqrt(LABELS / 2 / N) */
  assert_true(s.information.lo < gain && gain < s.information.hi);
  assert_near(s.information.value - s.log_density.value, LABELS * log(2), 1e-12);
  for (int k = 0; k < LABELS; k++) {
    assert_near(s.sd[k], SD, 0.002);
    assert_near(s.square[k], 1, 0.14); /* 3 standard errors, sqrt(2 / N), and 2 / draws */
    assert_true(s.test[k].chi2_p > 0.01 && s.test[k].bins == 20);
  }
  assert_true(s.test[LABELS].chi2_p > 0.01 && fabs(s.test[LABELS].area) < 0.02);
  assert_true(s.outside > 0.02 && s.outside < 0.12); /* near 2 LABELS SD / sqrt(2 pi) / 2 */
  cf_posterior_scores_fini(&s);
}

static void narrow_posteriors_have_less_information_and_are_found(void **state)
{
  const double gain = LABELS * (log(2) - log(0.5 * SD * sqrt(2 * acos(-1))) - 2);
  cf_posterior_scores s;

  NEEDS_NETCDF();
  score(0.5, INFINITY, &s);
  assert_near(s.information.value, gain, 0.3);
  assert_true(s.test[0].chi2_p < 1e-12 && s.test[LABELS].area < -0.02);
  assert_near(s.square[0], 4, 0.56);
  assert_true(cf_coverage_central(s.rank, s.cases, s.draws, 0.95) < 0.75);
  cf_posterior_scores_fini(&s);
}

/* With the prior, the posterior near the end of a range is narrower: more information, and it is
 * the true one. */
static void the_prior_adds_information(void **state)
{
  cf_posterior_scores free, restricted;

  NEEDS_NETCDF();
  score(1, INFINITY, &free);
  score(1, 1, &restricted);
  assert_true(restricted.information.value > free.information.value + 0.02);
  assert_near(restricted.outside, free.outside, 0.01);
  for (int k = 0; k <= LABELS; k++) {
    assert_true(restricted.test[k].chi2_p > 0.01);
  }
  cf_posterior_scores_fini(&free);
  cf_posterior_scores_fini(&restricted);
}

static void options_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(cf_posterior_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_information_is_that_of_a_gaussian),
      cmocka_unit_test(narrow_posteriors_have_less_information_and_are_found),
      cmocka_unit_test(the_prior_adds_information),
      cmocka_unit_test(options_are_complete),
  };

  return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
