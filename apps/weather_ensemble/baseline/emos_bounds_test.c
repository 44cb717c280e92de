/* emos_bounds_test.c - coefficients of cases whose truth is at bounds: all of it, but for one, half
 * at each, and mostly, where the minimum is far from the first guess. */
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "baseline/emos.h"
#include "device/weir_parallel.h"

enum { N = 96, MANY = 512 };
static const wx_family bounded[] = {WX_TRUNCATED_NORMAL, WX_TRUNCATED_LOGISTIC,
                                    WX_CENSORED_NORMAL,  WX_CENSORED_LOGISTIC,
                                    WX_LOG_NORMAL,       WX_CENSORED_SHIFTED_GAMMA};
enum { FAMILIES = sizeof bounded / sizeof bounded[0] };

typedef struct sample {
  float mean[MANY], variance[MANY], truth[MANY];
} sample;

static double share(int k, double irrational)
{
  return fmod(k * irrational, 1);
}

/* Members' means around 2 that reach `spread` far, truth around them, both between 0 and 4. */
static void draw(sample *s, int n, double spread, double noise)
{
  for (int i = 0; i < n; i++) {
    const double x = 2 + spread * (share(i + 1, 0.618033988749895) - 0.5);
    const double y = x + noise * (share(i + 1, 0.732050807568877) - 0.5);

    s->mean[i] = (float)fmin(4, fmax(0, x));
    s->variance[i] = (float)(noise * noise * (0.05 + share(i + 1, 0.414213562373095)));
    s->truth[i] = (float)fmin(4, fmax(0, y));
  }
}

static wx_cases cases_of(const sample *s, int n)
{
  return (wx_cases){
      .rows = 1, .columns = n, .mean = s->mean, .variance = s->variance, .truth = s->truth};
}

static wx_emos_opts options_of(wx_family family, double upper)
{
  wx_emos_opts o;

  weir_opts_default(wx_emos_options, sizeof o, &o);
  o.family = (int)family;
  o.upper = upper;
  o.shift = family == WX_CENSORED_SHIFTED_GAMMA ? 0.5 : 0;
  return o;
}

/* Coefficients are of the size of the data, and give the CRPS that the fit states. */
static void check_fit(const wx_emos_fit *fit, const wx_cases *c)
{
  const wx_emos *const at = &fit->at;

  assert_true(fabs(at->alpha) < 1e6 && fabs(at->beta) < 1e6);
  assert_true(at->gamma >= 0 && at->gamma < 1e4 && at->delta >= 0 && at->delta < 1e4);
  assert_true(isfinite(fit->crps) && fit->crps >= 0);
  assert_near(wx_emos_crps(at, c, NULL), fit->crps, 1e-9);
}

static void all_truth_at_a_bound_gives_that_value(void **state)
{
  static sample s;
  wx_emos_fit fit;

  for (int f = 0; f < FAMILIES; f++) {
    for (int form = WX_EMOS_FULL; form <= WX_EMOS_SCALE; form++) {
      for (int at_upper = 0; at_upper <= wx_family_has_upper(bounded[f]); at_upper++) {
        const double bound = at_upper ? 4 : 0;
        wx_emos_opts o = options_of(bounded[f], at_upper ? 4 : WX_NO_UPPER);
        const wx_cases c = cases_of(&s, N);

        o.form = form;
        draw(&s, N, 20, 3);
        for (int i = 0; i < N; i++) {
          s.truth[i] = (float)bound;
        }
        assert_true(wx_emos_minimise(&o, &c, NULL, &fit));
        assert_true(fit.constant);
        check_fit(&fit, &c);
        if (form == WX_EMOS_FULL) {
          assert_true(fit.at.alpha == bound && fit.at.beta == 0 && fit.at.delta == 0);
          assert_true(fit.crps <= 1e-12 && fit.steps == 0);
        } else if (wx_family_is_censored(bounded[f]) && bounded[f] != WX_CENSORED_SHIFTED_GAMMA) {
          assert_true(fit.crps <= 1e-9); /* the location is beyond the bound in all cases */
        }
      }
    }
  }
}

static void one_truth_off_the_bound_keeps_coefficients_finite(void **state)
{
  static sample s;
  wx_emos_fit fit;

  for (int f = 0; f < FAMILIES; f++) {
    for (int wet = 0; wet < N; wet += 19) {
      const wx_emos_opts o = options_of(bounded[f], WX_NO_UPPER);
      const wx_cases c = cases_of(&s, N);

      draw(&s, N, 20, 3);
      for (int i = 0; i < N; i++) {
        s.truth[i] = i == wet ? 3 : 0;
      }
      assert_true(wx_emos_minimise(&o, &c, NULL, &fit));
      assert_false(fit.constant);
      check_fit(&fit, &c);
      assert_true(fit.crps < 0.1); /* less than a climatology at the bound has some times */
    }
  }
}

static void one_case_alone_is_met(void **state)
{
  static sample s;
  wx_emos_fit fit;

  draw(&s, 1, 20, 3);
  for (int f = 0; f < FAMILIES; f++) {
    for (int y = 0; y <= 2; y += 2) {
      const wx_emos_opts o = options_of(bounded[f], WX_NO_UPPER);
      const wx_cases c = cases_of(&s, 1);

      s.truth[0] = (float)y;
      assert_true(wx_emos_minimise(&o, &c, NULL, &fit));
      check_fit(&fit, &c);
      assert_true(fit.crps < 1e-9);
    }
  }
}

/* The CRPS of probabilities of 0 and 1 alone would be that of an infinite scale. */
static void half_at_each_bound_has_a_largest_scale(void **state)
{
  static sample s;
  wx_emos_fit fit;

  for (int logistic = 0; logistic <= 1; logistic++) {
    for (int sure = 0; sure <= 1; sure++) {
      const wx_emos_opts o = options_of(logistic ? WX_CENSORED_LOGISTIC : WX_CENSORED_NORMAL, 4);
      const wx_cases c = cases_of(&s, N);

      draw(&s, N, 8, sure ? 0 : 6);
      for (int i = 0; i < N; i++) {
        s.truth[i] = s.truth[i] > 2 ? 4 : 0;
      }
      assert_true(wx_emos_minimise(&o, &c, NULL, &fit));
      check_fit(&fit, &c);
      assert_true(fit.at.gamma <= 1e3 * 2.01);
      assert_true(fit.crps < (sure ? 1e-3 : 0.6)); /* climatology: 1 */
    }
  }
}

/* The least of minimisations by SciPy 1.17.1 (BFGS, then Nelder and Mead) from 20 points each. From
 * the least-squares guess alone Newton's method ends in other minima of the normal distribution. */
static void minima_between_bounds_are_those_of_scipy(void **state)
{
  static const struct {
    int n;
    double spread, noise, crps[2]; /* normal, logistic; NaN: not computed */
  } known[] = {
      {96, 20, 3, {0.103338835644615, 0.104163089571568}},
      {512, 200, 10, {0.0547869271750913, NAN}},
  };
  static sample s;
  wx_emos_fit fit;

  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    for (int logistic = 0; logistic <= 1; logistic++) {
      wx_emos_opts o = options_of(logistic ? WX_CENSORED_LOGISTIC : WX_CENSORED_NORMAL, 4);
      const wx_cases c = cases_of(&s, known[k].n);

      o.tolerance = 1e-13;
      draw(&s, known[k].n, known[k].spread, known[k].noise);
      assert_true(wx_emos_minimise(&o, &c, NULL, &fit));
      check_fit(&fit, &c);
      if (!isnan(known[k].crps[logistic])) {
        assert_near(fit.crps, known[k].crps[logistic], 1e-9);
      }
    }
  }
}

/* Twelve cases around a mean of their own, cut at 0 and 4, by a seed. */
static void draw_few(sample *s, uint64_t seed)
{
  const double middle = 4 * weir_random_uniform(seed, 1, 0, 0);

  for (uint64_t i = 0; i < 12; i++) {
    const double x = middle + 3 * weir_random_normal(seed, 2, 0, i);
    const double y = x + 1.5 * weir_random_normal(seed, 3, 0, i);

    s->mean[i] = (float)fmin(4, fmax(0, x));
    s->truth[i] = (float)fmin(4, fmax(0, y));
    s->variance[i] = (float)(2 * weir_random_uniform(seed, 4, 0, i));
  }
}

static void starts_find_lower_minima_of_few_cases(void **state)
{
  static const wx_family family[] = {WX_CENSORED_NORMAL, WX_CENSORED_LOGISTIC};
  static sample s;
  const int threads = weir_threads_get();
  wx_emos_fit one, some, again;
  int lower = 0;

  for (uint64_t seed = 1; seed <= 40; seed++) {
    wx_emos_opts o = options_of(family[seed % 2], 4);
    const wx_cases c = cases_of(&s, 12);

    draw_few(&s, seed);
    weir_threads_set(1);
    assert_ok(wx_emos_fit_cases(&o, &c, &some));
    weir_threads_set(2);
    assert_ok(wx_emos_fit_cases(&o, &c, &again));
    o.starts = 0;
    assert_ok(wx_emos_fit_cases(&o, &c, &one));
    check_fit(&some, &c);
    assert_memory_equal(&some.at, &again.at, sizeof some.at);
    assert_true(some.crps <= one.crps);
    lower += some.crps < one.crps * (1 - 1e-6);
  }
  weir_threads_set(threads);
  assert_true(lower >= 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_truth_at_a_bound_gives_that_value),
      cmocka_unit_test(one_truth_off_the_bound_keeps_coefficients_finite),
      cmocka_unit_test(one_case_alone_is_met),
      cmocka_unit_test(half_at_each_bound_has_a_largest_scale),
      cmocka_unit_test(minima_between_bounds_are_those_of_scipy),
      cmocka_unit_test(starts_find_lower_minima_of_few_cases),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
