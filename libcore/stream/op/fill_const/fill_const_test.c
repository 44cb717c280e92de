/* fill_const_test.c - short gaps hold the constant, all else is as it was. */
#include "support/stream/gap_check.h"

extern const weir_series_op weir_series_op_fill_const;

struct options {
  double tolerance, value;
};

static void short_gaps_hold_the_constant(void **state)
{
  static const double tolerances[] = {0, 1, 2, 5, 8.9, 43, 86400};
  static series_case c;

  for (int which = 0; which < GAP_STREAMS; which++) {
    for (int i = 0; i < 7; i++) {
      const struct options o = {tolerances[i], -2.5};

      gap_draw(&c, which);
      gap_run(&c, &weir_series_op_fill_const, &o, 0);
      assert_int_equal(c.n, c.count);
      for (int64_t t = 0; t < c.count; t++) {
        const bool filled = gap_short(&c, t, (int64_t)o.tolerance);

        assert_int_equal(c.y_present[t], c.present[t] || filled);
        assert_true(c.y[t] == (c.present[t] ? c.x[t] : filled ? -2.5f : 0.0f));
      }
    }
  }
}

/* LifeStream's artefact waits for an event after the last one and never gives the last window. */
static void the_last_sample_of_a_stream_comes_out(void **state)
{
  static series_case c;
  const struct options o = {10, 1};

  series_draw(&c, 1, 0);
  c.count = 8;
  gap_run(&c, &weir_series_op_fill_const, &o, 0);
  assert_int_equal(c.n, 8);
  assert_true(c.y_present[7] && c.y[7] == c.x[7]);
}

static void endless_tolerances_are_refused(void **state)
{
  const struct options o = {86400, 0};

  assert_step_refused(&weir_series_op_fill_const, &o, 1000000,
                      "tolerance: 86400 s are 86400000000 slots");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_gaps_hold_the_constant),
      cmocka_unit_test(the_last_sample_of_a_stream_comes_out),
      cmocka_unit_test(endless_tolerances_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
