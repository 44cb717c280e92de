/* alter_period_test.c - every m-th slot from slot 0 on, and refusals. */
#include "support/stream/gap_check.h"

extern const weir_series_op weir_series_op_alter_period;

static void every_mth_slot_is_kept(void **state)
{
  static const double periods[] = {1, 2, 7, 1000};
  static series_case c;

  for (int which = 0; which < GAP_STREAMS; which++) {
    for (int i = 0; i < 4; i++) {
      const int64_t m = (int64_t)periods[i];

      gap_draw(&c, which);
      gap_run(&c, &weir_series_op_alter_period, &periods[i], 0);
      assert_int_equal(c.n, (c.count + m - 1) / m);
      assert_int_equal(c.rate_den, m);
      for (int64_t t = 0; t < c.n; t++) {
        assert_int_equal(c.y_present[t], c.present[t * m]);
        assert_true(c.y[t] == c.x[t * m]);
      }
    }
  }
}

static void periods_that_are_no_multiple_are_refused(void **state)
{
  static const double fractional = 2.5;

  assert_step_refused(&weir_series_op_alter_period, &fractional, 1,
                      "period: 2.5 s is not an integer number");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mth_slot_is_kept),
      cmocka_unit_test(periods_that_are_no_multiple_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
