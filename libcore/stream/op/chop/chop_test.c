/* chop_test.c - every slot divided, repeated values of an earlier step included; refusals. */
#include "support/stream/gap_check.h"

extern const weir_series_op weir_series_op_chop, weir_series_op_alter_duration;

static void slots_are_cut_into_parts(void **state)
{
  static const double periods[] = {1, 0.5, 0.25, 1.0 / 3};
  static series_case c;

  for (int which = 0; which < GAP_STREAMS; which++) {
    for (int i = 0; i < 4; i++) {
      const int64_t factor = (int64_t)(1 / periods[i] + 0.5);

      gap_draw(&c, which);
      c.count = c.count < 170 ? c.count : 170;
      gap_run(&c, &weir_series_op_chop, &periods[i], 0);
      assert_int_equal(c.n, c.count * factor);
      assert_int_equal(c.rate_num, factor);
      for (int64_t t = 0; t < c.n; t++) {
        assert_int_equal(c.y_present[t], c.present[t / factor]);
        assert_true(c.y[t] == c.x[t / factor]);
      }
    }
  }
}

static weir_series hold_and_chop(weir_graph *g, weir_series s, const void *context)
{
  static const double duration = 3, period = 0.5;
  series_case *c = (series_case *)(uintptr_t)context;
  const series_step hold = {.c = c, .op = &weir_series_op_alter_duration, .opts = &duration};
  const series_step chop = {.c = c, .op = &weir_series_op_chop, .opts = &period};

  return gap_build_(g, gap_build_(g, s, &hold), &chop);
}

/* An event of 3 s at 1 Hz becomes 6 slots of 0.5 s. */
static void events_that_last_are_cut_whole(void **state)
{
  static series_case c;

  gap_draw(&c, 4);
  c.count = 100;
  c.present[40] = 1;
  c.x[40] = 2.5f;
  series_run_whole(&c, hold_and_chop, &c);
  for (int64_t t = 0; t < 200; t++) {
    assert_int_equal(c.y_present[t], t >= 80 && t < 86);
    assert_true(c.y[t] == (t >= 80 && t < 86 ? 2.5f : 0.0f));
  }
}

static void periods_that_do_not_divide_are_refused(void **state)
{
  static const double fractional = 0.3, longer = 2;

  assert_step_refused(&weir_series_op_chop, &fractional, 1,
                      "period: the stream's period, 1 s, is not an integer multiple");
  assert_step_refused(&weir_series_op_chop, &longer, 1,
                      "period: the stream's period, 1 s, is not an integer multiple");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slots_are_cut_into_parts),
      cmocka_unit_test(events_that_last_are_cut_whole),
      cmocka_unit_test(periods_that_do_not_divide_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
