/* shift_test.c - values and presence move together, both ways. */
#include "stream/op/shift/weir_stream_shift.h"
#include "stream/series_check.h"

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_shift(g, s, *(const int64_t *)context);
}

static void values_and_presence_move_together(void **state)
{
  static series_case c;

  for (int64_t by = -9; by <= 9; by += 3) {
    series_draw(&c, 3, 0.3);
    series_run_whole(&c, build, &by);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      const int64_t from = t - by;
      const bool inside = from >= 0 && from < SERIES_COUNT;

      assert_int_equal(c.y_present[t], inside && c.present[from]);
      assert_true(c.y[t] == (inside ? c.x[from] : 0.0f));
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_and_presence_move_together)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
