/* alter_duration_test.c - events last as long as asked for, and refusals. */
#include "support/stream/gap_check.h"

extern const weir_series_op weir_series_op_alter_duration;

static void events_last_for_the_duration(void **state)
{
  static const double durations[] = {1, 2, 9, 77};
  static series_case c;

  for (int which = 0; which < GAP_STREAMS; which++) {
    for (int i = 0; i < 4; i++) {
      gap_draw(&c, which);
      gap_run(&c, &weir_series_op_alter_duration, &durations[i], 0);
      assert_int_equal(c.n, c.count);
      for (int64_t t = 0; t < c.count; t++) {
        const int64_t event = c.present[t] ? t : gap_before(&c, t);
        const bool lasts = event >= 0 && t - event < (int64_t)durations[i];

        assert_int_equal(c.y_present[t], lasts);
        assert_true(c.y[t] == (lasts ? c.x[event] : 0.0f));
      }
    }
  }
}

static void durations_that_do_not_fit_are_refused(void **state)
{
  static const double fractional = 0.3, none = 0;

  assert_step_refused(&weir_series_op_alter_duration, &fractional, 2,
                      "duration: 0.3 s is not an integer number");
  assert_step_refused(&weir_series_op_alter_duration, &none, 2,
                      "duration: 0 s is shorter than 1 periods");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_last_for_the_duration),
      cmocka_unit_test(durations_that_do_not_fit_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
