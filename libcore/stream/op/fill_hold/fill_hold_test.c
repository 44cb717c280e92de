/* fill_hold_test.c - short gaps repeat the sample before; causal: so do the first slots of long
 * ones. */
#include "support/stream/gap_check.h"

extern const weir_series_op weir_series_op_fill_hold;

struct options {
  double tolerance;
  bool causal;
};

static void gaps_repeat_the_sample_before(void **state)
{
  static const double tolerances[] = {0, 1, 2, 7, 43};
  static series_case c;

  for (int which = 0; which < GAP_STREAMS * 2; which++) {
    for (int i = 0; i < 5; i++) {
      const struct options o = {tolerances[i], which % 2 == 1};
      const int64_t tolerance = (int64_t)o.tolerance;

      gap_draw(&c, which / 2);
      gap_run(&c, &weir_series_op_fill_hold, &o, 0);
      assert_int_equal(c.n, c.count);
      for (int64_t t = 0; t < c.count; t++) {
        const int64_t before = gap_before(&c, t);
        const bool near = before >= 0 && t - before < tolerance;
        const bool filled = !c.present[t] && (o.causal ? near : gap_short(&c, t, tolerance));

        assert_int_equal(c.y_present[t], c.present[t] || filled);
        assert_true(c.y[t] == (c.present[t] ? c.x[t] : filled ? c.x[before] : 0.0f));
      }
    }
  }
}

static void only_the_causal_form_is_not_late(void **state)
{
  static series_case c;
  const struct options causal = {20, true}, exact = {20, false};

  gap_draw(&c, 1);
  gap_run(&c, &weir_series_op_fill_hold, &causal, 0);
  assert_near(c.report.latency_s - c.report.window_s, 0, 1e-9);
  gap_run(&c, &weir_series_op_fill_hold, &exact, 0);
  assert_near(c.report.latency_s - c.report.window_s, 19, 1e-9);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_repeat_the_sample_before),
      cmocka_unit_test(only_the_causal_form_is_not_late),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
