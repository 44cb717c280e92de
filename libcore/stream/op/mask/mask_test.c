/* mask_test.c - ones where a gap is short, zeros where a sample is. */
#include "support/stream/gap_check.h"
#include <math.h>

extern const weir_series_op weir_series_op_mask;

static void ones_stand_in_short_gaps(void **state)
{
  static const double tolerances[] = {0, 1, 2, 8, 60};
  static series_case c;

  for (int which = 0; which < GAP_STREAMS; which++) {
    for (int i = 0; i < 5; i++) {
      gap_draw(&c, which);
      c.x[0] = c.present[0] ? NAN : 0; /* values do not matter */
      gap_run(&c, &weir_series_op_mask, &tolerances[i], 0);
      assert_int_equal(c.n, c.count);
      for (int64_t t = 0; t < c.count; t++) {
        const bool filled = gap_short(&c, t, (int64_t)tolerances[i]);

        assert_int_equal(c.y_present[t], c.present[t] || filled);
        assert_true(c.y[t] == (filled ? 1.0f : 0.0f));
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(ones_stand_in_short_gaps)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
