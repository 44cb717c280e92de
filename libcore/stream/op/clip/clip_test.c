/* clip_test.c - what an event's slots hold, and how long it lasts, the last one included. */
#include "support/stream/gap_check.h"

extern const weir_series_op weir_series_op_clip;

static const double lengths[] = {1, 2, 9, 77, 1000};

static void events_are_held_until_the_next(void **state)
{
  static series_case c;

  for (int which = 0; which < GAP_STREAMS; which++) {
    for (int i = 0; i < 5; i++) {
      gap_draw(&c, which);
      gap_run(&c, &weir_series_op_clip, &lengths[i], 0);
      assert_int_equal(c.n, c.count);
      for (int64_t t = 0; t < c.count; t++) {
        const int64_t event = c.present[t] ? t : gap_before(&c, t);
        const bool lasts = event >= 0 && t - event < (int64_t)lengths[i];

        assert_int_equal(c.y_present[t], lasts);
        assert_true(c.y[t] == (lasts ? c.x[event] : 0.0f));
      }
    }
  }
}

static void durations_end_at_the_next_event(void **state)
{
  static series_case c;

  for (int which = 0; which < GAP_STREAMS; which++) {
    for (int i = 0; i < 5; i++) {
      gap_draw(&c, which);
      gap_run(&c, &weir_series_op_clip, &lengths[i], 1);
      assert_int_equal(c.n, c.count);
      assert_memory_equal(c.y_present, c.present, (size_t)c.count);
      for (int64_t t = 0; t < c.count; t++) {
        const int64_t next = gap_after(&c, t);
        const double lasts =
            next >= 0 && (double)(next - t) < lengths[i] ? (double)(next - t) : lengths[i];

        assert_true((double)c.y[t] == (c.present[t] ? lasts : 0));
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_are_held_until_the_next),
      cmocka_unit_test(durations_end_at_the_next_event),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
