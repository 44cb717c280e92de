/* fill_mean_test.c - both forms against the mean of their window, and what they wait for. */
#include "support/stream/gap_check.h"
#include "stream/op/fill_mean/fill_mean_priv.h"

extern const weir_series_op weir_series_op_fill_mean;

/* Mean of the samples of [lo, hi), 0 without any. */
static double mean_of(const series_case *c, int64_t lo, int64_t hi)
{
  double sum = 0, n = 0;

  for (int64_t t = lo < 0 ? 0 : lo; t < hi && t < c->count; t++) {
    sum += c->present[t] ? (double)c->x[t] : 0;
    n += c->present[t];
  }
  return n > 0 ? sum / n : 0;
}

static void check_fill(series_case *c, const fill_mean_opts *o)
{
  const int64_t w = (int64_t)o->window, tolerance = (int64_t)o->tolerance;

  gap_run(c, &weir_series_op_fill_mean, o, 0);
  assert_int_equal(c->n, c->count);
  for (int64_t t = 0; t < c->count; t++) {
    const int64_t s = gap_before(c, t);
    const bool near = !c->present[t] && s >= 0 && t - s < tolerance;
    const bool filled = o->causal ? near : gap_short(c, t, tolerance);
    const double mean = !filled     ? 0
                        : o->causal ? mean_of(c, s - w + 1, s + 1)
                                    : mean_of(c, s / w * w, (s / w + 1) * w);

    assert_int_equal(c->y_present[t], c->present[t] || filled);
    if (filled) {
      assert_near((double)c->y[t], mean, 1e-6);
    } else {
      assert_true(c->y[t] == c->x[t]);
    }
  }
}

static void gaps_hold_the_mean_of_their_window(void **state)
{
  static const double lengths[][2] = {{1, 5},  {7, 0},    {7, 1},   {7, 30},
                                      {50, 9}, {64, 200}, {900, 60}};
  static series_case c;

  for (int which = 0; which < GAP_STREAMS * 2; which++) {
    for (int i = 0; i < 7; i++) {
      const fill_mean_opts o = {lengths[i][0], lengths[i][1], which % 2 == 1};

      gap_draw(&c, which / 2);
      check_fill(&c, &o);
    }
  }
}

/* A result waits for the end of its window or of the gap, whichever is later; causal: for nothing.
 */
static void only_the_causal_form_is_not_late(void **state)
{
  static const fill_mean_opts causal = {50, 20, true}, window = {50, 20, false},
                              gap = {10, 200, false};
  static series_case c;

  gap_draw(&c, 1);
  gap_run(&c, &weir_series_op_fill_mean, &causal, 0);
  assert_near(c.report.latency_s - c.report.window_s, 0, 1e-9);
  gap_run(&c, &weir_series_op_fill_mean, &window, 0);
  assert_near(c.report.latency_s - c.report.window_s, 49, 1);
  gap_run(&c, &weir_series_op_fill_mean, &gap, 0);
  assert_near(c.report.latency_s - c.report.window_s, 199, 1e-9);
}

static void windows_that_do_not_fit_are_refused(void **state)
{
  static const fill_mean_opts fractional = {0.25, 1, false}, none = {0, 1, false},
                              long_one = {65536, 1, false};

  assert_step_refused(&weir_series_op_fill_mean, &fractional, 2,
                      "window: 0.25 s is not an integer number");
  assert_step_refused(&weir_series_op_fill_mean, &none, 2, "window: 0 s is shorter than 1 periods");
  assert_step_refused(&weir_series_op_fill_mean, &long_one, 64,
                      "window: 65536 s are 4194304 samples");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_hold_the_mean_of_their_window),
      cmocka_unit_test(only_the_causal_form_is_not_late),
      cmocka_unit_test(windows_that_do_not_fit_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
