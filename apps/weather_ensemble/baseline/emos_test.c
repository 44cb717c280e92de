/* emos_test.c - the minimum mean CRPS: known parameters, differences, one more method, odd cases.
 */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "baseline/emos.h"
#include "device/weir_parallel.h"
#include "eval/score/positive.h"

enum { N = 4000 };
static const wx_emos known = {.alpha = 12, .beta = 0.9, .gamma = 0.8, .delta = 1.3};

typedef struct sample {
  float mean[N], variance[N], truth[N];
} sample;

static wx_emos_opts defaults(void)
{
  wx_emos_opts o;

  weir_opts_default(wx_emos_options, sizeof o, &o);
  return o;
}

/* Cases that obey the model of `known`. */
static void draw(sample *s, uint64_t seed)
{
  for (uint64_t i = 0; i < N; i++) {
    const double m = 280 + 8 * weir_random_normal(seed, 1, 0, i);
    const double v = 0.2 + 3 * weir_random_uniform(seed, 1, 1, i);
    const double sigma = sqrt(known.gamma * known.gamma + known.delta * known.delta * v);

    s->mean[i] = (float)m;
    s->variance[i] = (float)v;
    s->truth[i] = (float)(known.alpha + known.beta * m + sigma * weir_random_normal(seed, 1, 2, i));
  }
}

static wx_cases cases_of(const sample *s, int64_t rows)
{
  return (wx_cases){.rows = rows,
                    .columns = N / rows,
                    .mean = s->mean,
                    .variance = s->variance,
                    .truth = s->truth};
}

static void crps_has_its_unit_values(void **state)
{
  static const double want[][2] = {{0, 0.233694977255}, {0.5, 0.331403531255}, {1, 0.602441357628},
                                   {2, 1.452791821686}, {5, 4.435810523376},   {10, 9.435810416452},
                                   {-2, 1.452791821686}};
  const wx_emos unit = {.alpha = 0, .beta = 1, .gamma = 1, .delta = 0}, sharp = {.beta = 1};

  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    const float zero = 0, y = (float)want[i][0];
    const wx_cases c = {.rows = 1, .columns = 1, .mean = &zero, .variance = &zero, .truth = &y};

    assert_near(wx_emos_crps(&unit, &c, NULL), want[i][1], 1e-11);
    assert_near(wx_emos_crps(&sharp, &c, NULL), fabs(want[i][0]), 1e-15);
  }
}

/* One parameter of each line of the model has another meaning. */
static void scale_form_keeps_slope_and_floor(void **state)
{
  static sample s;
  wx_emos_opts o = defaults();
  wx_emos_fit full, fit;

  draw(&s, 5);
  const wx_cases c = cases_of(&s, 1);

  assert_true(wx_emos_minimise(&o, &c, NULL, &full));
  o.form = WX_EMOS_SCALE;
  assert_true(wx_emos_minimise(&o, &c, NULL, &fit));
  assert_true(fit.at.beta == 1 && fit.crps > full.crps);
  assert_near(fit.at.gamma, 1e-3 * 7.4, 1e-3);
  assert_near(fit.at.alpha, known.alpha - 28, 0.2);
  for (int k = -1; k <= 1; k++) {
    wx_emos near = fit.at;

    near.delta *= 1 + 0.01 * k;
    near.alpha += 0.01 * k;
    assert_true(wx_emos_crps(&near, &c, NULL) >= fit.crps - 1e-9);
  }
}

static void gradient_is_that_of_differences(void **state)
{
  static sample s;
  const double h = 1e-5;
  double g[4], ignored[4];

  draw(&s, 3);
  const wx_cases c = cases_of(&s, 1);
  const double at[4] = {30, 0.8, 0.9, 1.1}; /* alpha, beta, gamma^2, delta^2 */
  const wx_emos e = {.alpha = at[0], .beta = at[1], .gamma = sqrt(at[2]), .delta = sqrt(at[3])};

  (void)wx_emos_crps(&e, &c, g);
  for (int k = 0; k < 4; k++) {
    double f[2];

    for (int side = 0; side < 2; side++) {
      double x[4];

      memcpy(x, at, sizeof x);
      x[k] += side == 0 ? -h : h;
      const wx_emos near = {.alpha = x[0], .beta = x[1], .gamma = sqrt(x[2]), .delta = sqrt(x[3])};

      f[side] = wx_emos_crps(&near, &c, ignored);
    }
    assert_near(g[k], (f[1] - f[0]) / (2 * h), 1e-6);
  }
}

static void known_parameters_are_found(void **state)
{
  static sample s;
  const wx_emos_opts o = defaults();
  wx_emos_fit fit;

  draw(&s, 7);
  const wx_cases c = cases_of(&s, 1);

  assert_true(wx_emos_minimise(&o, &c, NULL, &fit));
  assert_int_equal(fit.cases, N);
  assert_true(fit.steps < 20);
  assert_near(fit.at.beta, known.beta, 0.01);
  assert_near(fit.at.alpha + 280 * fit.at.beta, known.alpha + 280 * known.beta, 5e-4);
  assert_near(fit.at.gamma, known.gamma, 0.25);
  assert_near(fit.at.delta, known.delta, 0.08);
  assert_near(fit.crps, wx_emos_crps(&fit.at, &c, NULL), 1e-9);
  assert_true(fit.crps <= wx_emos_crps(&known, &c, NULL));
}

/* Cases of a distribution whose bound, at 2, cuts a part of every kind of size, and so does the
 * upper one where width is above 0. */
static void draw_family(sample *s, wx_emos *at, int family, double width, uint64_t seed)
{
  *at = (wx_emos){.alpha = -1,
                  .beta = 1.1,
                  .gamma = 0.8,
                  .delta = 0.9,
                  .family = (wx_family)family,
                  .lower = 2,
                  .shift = family == WX_CENSORED_SHIFTED_GAMMA ? 1.5 : 0,
                  .width = width};
  if (wx_positive(at->family)) {
    at->alpha = 1; /* means above the beginning of the distribution */
  }
  for (uint64_t i = 0; i < N; i++) {
    const double m = 2 + fabs(3 * weir_random_normal(seed, 8, 0, i));
    const double v = 0.2 + 3 * weir_random_uniform(seed, 8, 1, i);
    const wx_distribution d = {at->family,
                               at->alpha + at->beta * m,
                               sqrt(at->gamma * at->gamma + at->delta * at->delta * v),
                               at->lower,
                               at->shift,
                               at->width};

    s->mean[i] = (float)m;
    s->variance[i] = (float)v;
    s->truth[i] = (float)wx_distribution_quantile(&d, weir_random_uniform(seed, 8, 2, i));
  }
}

static void parameters_of_every_family_are_found(void **state)
{
  static sample s;
  wx_emos_opts o = defaults();
  wx_emos_fit fit, normal;
  double g[4];

  for (int k = 0; k < WX_FAMILIES + 2; k++) {
    static const int between[] = {WX_CENSORED_NORMAL, WX_CENSORED_LOGISTIC};
    const int family = k < WX_FAMILIES ? k : between[k - WX_FAMILIES];
    wx_emos at;

    draw_family(&s, &at, family, k < WX_FAMILIES ? 0 : 4.5, 30 + (uint64_t)k);
    const wx_cases c = cases_of(&s, 1);

    o.family = family;
    o.lower = at.lower;
    o.shift = at.shift;
    o.upper = at.width > 0 ? at.lower + at.width : WX_NO_UPPER;
    assert_null(wx_emos_wrong(&o));
    assert_ok(wx_emos_check_truth(&o, &c));
    assert_true(wx_emos_minimise(&o, &c, NULL, &fit));
    assert_int_equal(fit.at.family, family);
    assert_true(fit.at.width == at.width);
    assert_true(fit.steps < 30);
    assert_near(fit.at.alpha + 5 * fit.at.beta, at.alpha + 5 * at.beta, 0.15);
    assert_near(fit.at.beta, at.beta, 0.08);
    assert_near(hypot(fit.at.gamma, 1.3 * fit.at.delta), hypot(at.gamma, 1.3 * at.delta), 0.12);
    assert_true(fit.crps <= wx_emos_crps(&at, &c, NULL));
    assert_near(fit.crps, wx_emos_crps(&fit.at, &c, g), 1e-9);
    for (int i = 0; i < 4; i++) {
      assert_near(g[i], 0, 2e-5);
    }
    o.family = WX_NORMAL;
    assert_true(wx_emos_minimise(&o, &c, NULL, &normal));
    assert_true(family == WX_NORMAL || fit.crps < normal.crps);
  }
}

static void truth_beyond_a_bound_is_refused(void **state)
{
  static sample s;
  wx_emos_opts o = defaults();
  wx_emos_fit fit;

  draw(&s, 12);
  s.truth[3] = -0.5F;
  const wx_cases c = cases_of(&s, 1);

  assert_ok(wx_emos_fit_cases(&o, &c, &fit));
  o.family = WX_TRUNCATED_NORMAL;
  o.lower = -0.7; /* which is less than the nearest number of f32, and greater */
  s.truth[3] = -0.7F;
  assert_ok(wx_emos_fit_cases(&o, &c, &fit));
  o.lower = 0.1;
  s.truth[3] = 0.1F;
  assert_ok(wx_emos_fit_cases(&o, &c, &fit));
  o.lower = 0;
  s.truth[3] = -0.5F;
  assert_int_equal(wx_emos_fit_cases(&o, &c, &fit), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "1 values of the truth are below the bound"));
  o.family = WX_CENSORED_LOGISTIC;
  o.lower = -1;
  assert_ok(wx_emos_fit_cases(&o, &c, &fit));
  o.upper = 0.7; /* which is more than the nearest number of f32 */
  for (int64_t i = 0; i < N; i++) {
    s.truth[i] = fminf(s.truth[i], 0.7F);
  }
  assert_ok(wx_emos_fit_cases(&o, &c, &fit));
  s.truth[5] = 0.75F;
  assert_int_equal(wx_emos_fit_cases(&o, &c, &fit), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "1 values of the truth are above the bound"));
}

static void bounds_that_no_family_has_are_wrong(void **state)
{
  wx_emos_opts o = defaults();

  assert_null(wx_emos_wrong(&o));
  o.upper = 1;
  for (int f = 0; f < WX_FAMILIES; f++) {
    o.family = f;
    o.shift = f == WX_CENSORED_SHIFTED_GAMMA ? 1 : 0;
    assert_true((wx_emos_wrong(&o) == NULL) == wx_family_has_upper((wx_family)f));
  }
  o = defaults();
  o.family = WX_CENSORED_NORMAL;
  o.upper = o.lower;
  assert_non_null(wx_emos_wrong(&o));
  o.upper = WX_NO_UPPER;
  o.shift = 1;
  assert_non_null(wx_emos_wrong(&o));
}

/* No derivative is left, and no near coefficients are better. */
static void it_is_a_minimum(void **state)
{
  static sample s;
  const wx_emos_opts o = defaults();
  wx_emos_fit fit;
  double g[4];

  for (uint64_t seed = 0; seed < 8; seed++) {
    draw(&s, 100 + seed);
    const wx_cases c = {.rows = 1,
                        .columns = 60 + 200 * (int64_t)seed,
                        .mean = s.mean,
                        .variance = s.variance,
                        .truth = s.truth};

    assert_true(wx_emos_minimise(&o, &c, NULL, &fit));
    const double at = wx_emos_crps(&fit.at, &c, g);

    assert_near(g[0], 0, 1e-4);
    assert_near(g[1] / 280, 0, 1e-4);
    for (uint64_t k = 0; k < 40; k++) {
      wx_emos near = fit.at;

      near.beta += 1e-3 * weir_random_normal(seed, 5, 0, k);
      near.alpha -= 280 * (near.beta - fit.at.beta) - 0.02 * weir_random_normal(seed, 5, 1, k);
      near.gamma *= exp(0.03 * weir_random_normal(seed, 5, 2, k));
      near.delta *= exp(0.03 * weir_random_normal(seed, 5, 3, k));
      assert_true(wx_emos_crps(&near, &c, NULL) >= at - 1e-8);
    }
  }
}

/* y -> p + q y and so on only changes units. */
static void units_do_not_matter(void **state)
{
  static sample s, t;
  const wx_emos_opts o = defaults();
  wx_emos_fit a, b;

  draw(&s, 11);
  for (int64_t i = 0; i < N; i++) {
    t.mean[i] = 64 * s.mean[i];
    t.truth[i] = 64 * s.truth[i];
    t.variance[i] = 64 * 64 * s.variance[i];
  }
  const wx_cases c = cases_of(&s, 1), d = cases_of(&t, 1);

  assert_true(wx_emos_minimise(&o, &c, NULL, &a) && wx_emos_minimise(&o, &d, NULL, &b));
  assert_near(b.crps / 64, a.crps, 1e-12);
  assert_near(b.at.alpha / 64, a.at.alpha, 1e-6);
  assert_near(b.at.gamma / 64, a.at.gamma, 1e-6);
  assert_near(b.at.beta, a.at.beta, 1e-9);
  assert_near(b.at.delta, a.at.delta, 1e-6);
}

static void missing_cases_do_not_count(void **state)
{
  static sample s, t;
  const wx_emos_opts o = defaults();
  static double weight[N];
  wx_emos_fit a, b, c;
  int64_t n = 0;

  draw(&s, 13);
  for (int64_t i = 0; i < N; i++) {
    weight[i] = i % 3 == 0 ? 0 : 2.5;
    if (i % 3 != 0) {
      t.mean[n] = s.mean[i];
      t.variance[n] = s.variance[i];
      t.truth[n++] = s.truth[i];
    }
  }
  wx_cases all = cases_of(&s, 1), some = cases_of(&t, 1);

  some.columns = n;
  assert_true(wx_emos_minimise(&o, &some, NULL, &a));
  all.weight = weight;
  assert_true(wx_emos_minimise(&o, &all, NULL, &b));
  all.weight = NULL;
  for (int64_t i = 0; i < N; i += 3) {
    *(i % 2 == 0 ? &s.truth[i] : &s.mean[i]) = i % 4 == 0 ? NAN : INFINITY;
  }
  s.variance[3] = -1;
  assert_true(wx_emos_minimise(&o, &all, NULL, &c));
  assert_int_equal(b.cases, n);
  assert_int_equal(c.cases, n);
  assert_near(b.crps, a.crps, 1e-10);
  assert_near(c.crps, a.crps, 1e-10);
  assert_near(c.at.gamma, a.at.gamma, 1e-4);
}

static void fit_few(const float *x, const float *v, const float *y, int64_t n, wx_emos_fit *fit)
{
  const wx_emos_opts o = defaults();
  const wx_cases c = {.rows = 1, .columns = n, .mean = x, .variance = v, .truth = y};

  assert_true(wx_emos_minimise(&o, &c, NULL, fit));
  assert_true(isfinite(fit->at.alpha) && isfinite(fit->at.beta));
  assert_true(isfinite(fit->at.delta) && fit->at.gamma > 0);
  assert_true(isfinite(fit->crps) && fit->crps >= 0);
}

static void what_cases_do_not_tell_is_set(void **state)
{
  const float x[] = {1, 2, 3, 4, 5}, same[] = {7, 7, 7, 7, 7}, none[] = {0, 0, 0, 0, 0};
  const float v[] = {1, 1, 1, 1, 1}, y[] = {2.5f, 4, 6.5f, 8, 10}, far[] = {9, 8, 7, 6, 8};
  const float nan[] = {NAN, NAN};
  const wx_emos_opts o = defaults();
  const wx_cases nothing = {.rows = 1, .columns = 2, .mean = nan, .variance = v, .truth = y};
  wx_emos_fit fit;

  fit_few(x, none, y, 5, &fit); /* S = 0 */
  assert_true(fit.at.delta == 0);
  assert_near(fit.at.beta, 2, 0.2);
  fit_few(x, v, y, 5, &fit); /* v never changes: all in gamma */
  assert_true(fit.at.delta == 0);
  fit_few(same, v, far, 5, &fit); /* m never changes: the slope of the raw mean */
  assert_true(fit.at.beta == 1);
  assert_near(fit.at.alpha, 0.7, 0.5);
  fit_few(x, v, same, 5, &fit); /* truth never changes */
  assert_near(fit.at.beta, 0, 1e-9);
  assert_near(fit.at.alpha, 7, 1e-9);
  fit_few(x, v, y, 1, &fit); /* one date */
  assert_true(fit.at.beta == 1);
  assert_near(fit.at.alpha, 1.5, 1e-6);
  fit_few(x, x, x, 5, &fit); /* truth is the mean */
  assert_near(fit.at.beta, 1, 1e-9);
  assert_true(fit.crps < 1e-3);
  assert_false(wx_emos_minimise(&o, &nothing, NULL, &fit));
  assert_int_equal(wx_emos_fit_cases(&o, &nothing, &fit), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "0 of 2 cases"));
}

static void bits_do_not_depend_on_threads(void **state)
{
  static sample s;
  const wx_emos_opts o = defaults();
  const int threads = weir_threads_get();
  wx_emos_fit one, alone, two;

  draw(&s, 17);
  const wx_cases c = cases_of(&s, 8);

  weir_threads_set(1);
  assert_ok(wx_emos_fit_cases(&o, &c, &one));
  weir_threads_set(2);
  assert_ok(wx_emos_fit_cases(&o, &c, &two));
  weir_threads_set(threads);
  assert_true(wx_emos_minimise(&o, &c, NULL, &alone));
  assert_memory_equal(&one.at, &two.at, sizeof one.at);
  assert_memory_equal(&one.at, &alone.at, sizeof one.at);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crps_has_its_unit_values),
      cmocka_unit_test(scale_form_keeps_slope_and_floor),
      cmocka_unit_test(gradient_is_that_of_differences),
      cmocka_unit_test(known_parameters_are_found),
      cmocka_unit_test(parameters_of_every_family_are_found),
      cmocka_unit_test(truth_beyond_a_bound_is_refused),
      cmocka_unit_test(bounds_that_no_family_has_are_wrong),
      cmocka_unit_test(it_is_a_minimum),
      cmocka_unit_test(units_do_not_matter),
      cmocka_unit_test(missing_cases_do_not_count),
      cmocka_unit_test(what_cases_do_not_tell_is_set),
      cmocka_unit_test(bits_do_not_depend_on_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
