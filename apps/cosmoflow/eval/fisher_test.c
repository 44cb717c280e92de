/* fisher_test.c - bounds in closed form. */
#include "eval/fisher.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "data/simulation/power.h"
#include "ops/fft/weir_fft_plan.h"

#define NEEDS_FFTW()                               \
  do {                                             \
    if (!weir_fft_plan_available()) {              \
      printf("skipped: this build has no FFTW\n"); \
      skip();                                      \
    }                                              \
  } while (0)

static const cf_fisher_opts planck = {.box = 128, .n_s = 0.9667, .h = 0.6774, .baryons = 0.0224};

static cf_predictions *labels(const char *const *name, const double *lo, const double *hi, int n)
{
  cf_predictions *p = NULL;

  assert_ok(cf_predictions_create(1, n, &p));
  for (int k = 0; k < n; k++) {
    snprintf(p->label[k], CF_MAX_NAME, "%s", name[k]);
    p->lo[k] = lo[k];
    p->hi[k] = hi[k];
  }
  return p;
}

static double waves_of(int64_t side, double box)
{
  cf_mesh *m = NULL;
  cf_power power;
  double sum = 0;

  assert_ok(cf_mesh_create(side, &m));
  assert_ok(cf_power_init(&power, m, box, cf_mesh_side(m) / 2));
  for (int64_t b = 0; b < power.n_bins; b++) {
    sum += power.modes[b];
  }
  cf_power_fini(&power);
  cf_mesh_destroy(&m);
  return sum;
}

/* P goes as sigma_8^2: sigma = sigma_8 / sqrt(2 waves), plus 1 / variance of the prior. */
static void an_amplitude_alone_by_hand(void **state)
{
  static const char *const name[] = {"sigma_8"};
  const double lo = 0.5, hi = 1.1, value = 0.9;
  double sigma = 0;

  NEEDS_FFTW();
  for (int64_t side = 2; side <= 32; side *= 4) {
    cf_predictions *p = labels(name, &lo, &hi, 1);
    cf_fisher *f = NULL;

    assert_ok(cf_fisher_create(&planck, p, side, 1, &f));
    assert_ok(cf_fisher_bound(f, &value, &sigma));
    const double information = 2 * waves_of(side, 128) / (value * value) + 12 / 0.36;

    assert_near(sigma / sqrt(1 / information), 1, 1e-5);
    cf_fisher_destroy(&f);
    cf_predictions_destroy(&p);
  }
}

/* No bound is above the deviation of the range, more labels make none smaller, and more waves none
 * larger. */
static void knowledge_only_helps(void **state)
{
  static const char *const name[] = {"omega_m", "sigma_8", "n_s", "h"};
  static const double lo[] = {0.25, 0.78, 0.9, 0.6}, hi[] = {0.35, 0.95, 1, 0.8};
  static const double value[] = {0.3, 0.85, 0.95, 0.7};
  double before[4] = {0}, sigma[4], fine[4];

  NEEDS_FFTW();
  for (int n = 1; n <= 4; n++) {
    cf_predictions *p = labels(name, lo, hi, n);
    cf_fisher *f = NULL;

    assert_ok(cf_fisher_create(&planck, p, 16, 1, &f));
    assert_ok(cf_fisher_bound(f, value, sigma));
    cf_fisher_destroy(&f);
    assert_ok(cf_fisher_create(&planck, p, 32, 1, &f));
    assert_ok(cf_fisher_bound(f, value, fine));
    cf_fisher_destroy(&f);
    cf_predictions_destroy(&p);
    for (int k = 0; k < n; k++) {
      assert_true(sigma[k] > 0 && sigma[k] <= (hi[k] - lo[k]) / sqrt(12) * (1 + 1e-9));
      assert_true(sigma[k] >= before[k] * (1 - 1e-6));
      assert_true(fine[k] < sigma[k]);
      before[k] = sigma[k];
    }
  }
}

/* Waves up to the reach count, and no others. */
static void the_reach_limits_k(void **state)
{
  static const char *const name[] = {"sigma_8"};
  const double lo = 0.5, hi = 1.1, value = 0.9, reach[] = {0.5, 1, 1.7321};
  const int64_t bins[] = {4, 8, 14};
  double before = 1;

  NEEDS_FFTW();
  for (int i = 0; i < 3; i++) {
    cf_predictions *p = labels(name, &lo, &hi, 1);
    cf_fisher *f = NULL;
    double sigma = 0, k_max = 0;

    assert_ok(cf_fisher_create(&planck, p, 16, reach[i], &f));
    assert_int_equal(cf_fisher_bins(f, &k_max), bins[i]);
    assert_near(k_max, fmin((double)bins[i] + 0.5, 8 * sqrt(3)) * 2 * 3.14159265358979 / 128, 1e-9);
    assert_ok(cf_fisher_bound(f, &value, &sigma));
    assert_true(sigma < before);
    before = sigma;
    cf_fisher_destroy(&f);
    cf_predictions_destroy(&p);
  }
}

static void labels_it_does_not_know_are_named(void **state)
{
  static const char *const name[] = {"sigma_8", "w_0"};
  static const double lo[] = {0.5, -1.2}, hi[] = {1.1, -0.8};
  cf_predictions *p = labels(name, lo, hi, 2);
  cf_fisher *f = NULL;

  assert_int_equal(cf_fisher_create(&planck, p, 8, 1, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "no parameter 'w_0'"));
  assert_null(f);
  cf_predictions_destroy(&p);
}

static weir_status make(void *context)
{
  const double value = 0.9;
  double sigma = 0;
  cf_fisher *f = NULL;

  WEIR_TRY(cf_fisher_create(&planck, context, 8, 1, &f));
  const weir_status status = cf_fisher_bound(f, &value, &sigma);

  cf_fisher_destroy(&f);
  return status;
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  static const char *const name[] = {"sigma_8"};
  const double lo = 0.5, hi = 1.1;
  cf_predictions *p = NULL;

  NEEDS_FFTW();
  p = labels(name, &lo, &hi, 1);
  assert_true(weir_check_faults(make, p) >= 8);
  cf_predictions_destroy(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_amplitude_alone_by_hand),
      cmocka_unit_test(knowledge_only_helps),
      cmocka_unit_test(the_reach_limits_k),
      cmocka_unit_test(labels_it_does_not_know_are_named),
      cmocka_unit_test(memory_that_is_missing_is_no_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
