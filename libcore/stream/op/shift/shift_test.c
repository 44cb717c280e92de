/* shift_test.c - values and presence move together, both ways. */
#include "stream/op/shift/weir_stream_shift.h"
#include "support/stream/series_check.h"

extern const weir_series_op weir_series_op_shift;
static series_case c;

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_shift(g, s, *(const int64_t *)context);
}

static void values_and_presence_move_together(void **state)
{
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

static void a_step_counts_in_seconds(void **state)
{
  const double by[] = {0, 5, -7, 3600};

  (void)state;
  for (int i = 0; i < 4; i++) {
    const weir_stream_shift_opts o = {.by = by[i]};

    series_draw(&c, 3, 0.3);
    series_run_step(&(series_step){&c, &weir_series_op_shift, &o, "mV", "mV", 0});
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      const int64_t from = t - (int64_t)by[i];
      const bool inside = from >= 0 && from < SERIES_COUNT;

      assert_int_equal(c.y_present[t], inside && c.present[from]);
    }
  }
  const series_step half = {.op = &weir_series_op_shift,
                            .opts = &(weir_stream_shift_opts){.by = 0.5}};

  assert_string_equal(series_refusal(&half, 1),
                      "by: 0.5 s is not an integer number of periods of 1 s");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_and_presence_move_together),
      cmocka_unit_test(a_step_counts_in_seconds),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
