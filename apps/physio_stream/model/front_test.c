/* front_test.c - the plain front end: its delay, its restart after gaps, and what it refuses. */
#include "base/weir_check.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "support/physio_stream/front_check.h"

static ps_front usual(double rate)
{
  ps_front_opts o;
  ps_front f;

  weir_opts_default(ps_front_options, sizeof o, &o);
  assert_ok(ps_front_design(&o, rate, &f));
  return f;
}

static ps_front_state *fresh(void)
{
  ps_front_state *s = NULL;

  assert_ok(weir_alloc(1, sizeof *s, (void **)&s));
  return s;
}

static void an_r_wave_appears_after_the_stated_delay(void **state)
{
  const double rates[] = {125, 250, 360, 500, 1000};

  (void)state;
  for (int k = 0; k < 5; k++) {
    const ps_front front = usual(rates[k]);
    ps_front_state *s = fresh();
    static float x[4000], filtered[4000], feature[4000];
    int64_t top = 0, bump = 0;

    for (int i = 0; i < 4000; i++) {
      const double u = (i - 2000) / (0.01 * rates[k]);

      x[i] = (float)exp(-u * u / 2);
    }
    ps_front_run(&front, s, 4000, x, NULL, filtered, feature);
    for (int64_t i = 0; i < 4000; i++) {
      top = filtered[i] > filtered[top] ? i : top;
      bump = feature[i] > feature[bump] ? i : bump;
    }
    assert_true(fabs((double)(top - 2000) - front.filtered_delay) <= 0.6);
    /* The bump's middle lies within the two lobes of the response, some 40 ms. */
    const double middle = (double)(bump - 2000) - front.feature_delay;

    assert_true(middle >= front.filtered_delay && middle <= 0.05 * rates[k]);
    weir_free(&s);
  }
}

static void a_level_gives_nothing(void **state)
{
  const ps_front front = usual(360);
  ps_front_state *s = fresh();
  float x[500], filtered[500], feature[500];

  (void)state;
  for (int i = 0; i < 500; i++) {
    x[i] = -3.7f;
  }
  ps_front_run(&front, s, 500, x, NULL, filtered, feature);
  for (int i = 0; i < 500; i++) {
    assert_true(fabsf(filtered[i]) < 1e-6f && feature[i] < 1e-12f);
  }
  weir_free(&s);
}

/* After a gap the outputs are those of a stream that starts there; NaN is a gap. */
static void a_gap_starts_afresh(void **state)
{
  const ps_front front = usual(250);
  ps_front_state *a = fresh(), *b = fresh();
  float x[600], filtered[600], feature[600], filtered2[300], feature2[300];
  uint8_t present[600];

  (void)state;
  for (int i = 0; i < 600; i++) {
    x[i] = (float)weir_random_normal(3, 1, 0, (uint64_t)i);
    present[i] = i != 298;
  }
  x[299] = NAN;
  ps_front_run(&front, a, 600, x, present, filtered, feature);
  ps_front_run(&front, b, 300, x + 300, NULL, filtered2, feature2);
  assert_memory_equal(filtered + 300, filtered2, sizeof filtered2);
  assert_memory_equal(feature + 300, feature2, sizeof feature2);
  assert_true(filtered[298] == 0.0f && feature[299] == 0.0f);
  weir_free(&a);
  weir_free(&b);
}

/* Value i of a signal that is zero before it starts. */
static double earlier(const double *v, int64_t i)
{
  return i >= 0 ? v[i] : 0.0;
}

/* In double precision, by the definition in front.h. */
static void the_feature_is_what_is_defined(void **state)
{
  enum { N = 2000 };
  const ps_front front = usual(360);
  const int64_t span = front.smooth;
  ps_front_state *s = fresh();
  static float x[N], filtered[N], feature[N];
  static double once[N], twice[N], energy[N];

  (void)state;
  for (int i = 0; i < N; i++) {
    x[i] = (float)weir_random_normal(8, 1, 0, (uint64_t)i);
  }
  ps_front_run(&front, s, N, x, NULL, filtered, feature);
  for (int64_t i = 0; i < N; i++) {
    double sum = 0.0;

    for (int64_t k = i; k >= 0 && k > i - span; k--) {
      once[i] += (double)filtered[k];
    }
    for (int64_t k = i; k >= 0 && k > i - span; k--) {
      twice[i] += once[k];
    }
    const double bend =
        twice[i] - 2 * earlier(twice, i - front.step) + earlier(twice, i - 2 * front.step);

    energy[i] = pow(bend / (double)(2 * span * span), 2);
    for (int64_t k = i; k >= 0 && k > i - front.window; k--) {
      sum += energy[k];
    }
    assert_true(fabs(sum - (double)feature[i]) <= 1e-4 * sum + 1e-10);
  }
  weir_free(&s);
}

static void impossible_rates_and_windows_are_refused(void **state)
{
  ps_front_opts o;
  ps_front f;

  (void)state;
  weir_opts_default(ps_front_options, sizeof o, &o);
  assert_int_equal(weir_opts_incomplete(ps_front_options), 0);
  assert_int_equal(ps_front_design(&o, 30.0, &f), WEIR_ERR_CONFIG);
  assert_int_equal(ps_front_design(&o, NAN, &f), WEIR_ERR_CONFIG);
  assert_int_equal(ps_front_design(&o, 1e6, &f), WEIR_ERR_CONFIG);
  o.window = 0.01;
  assert_int_equal(ps_front_design(&o, 125.0, &f), WEIR_ERR_CONFIG);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_r_wave_appears_after_the_stated_delay),
      cmocka_unit_test(a_level_gives_nothing),
      cmocka_unit_test(a_gap_starts_afresh),
      cmocka_unit_test(the_feature_is_what_is_defined),
      cmocka_unit_test(impossible_rates_and_windows_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
