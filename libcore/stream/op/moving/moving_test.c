/* moving_test.c - the options of the step: seconds become slots, units follow. */
#include <math.h>
#include "support/stream/series_check.h"

extern const weir_series_op weir_series_op_moving;

/* As the operator's table lays them out. */
typedef struct options {
  int kind;
  double window;
} options;

static void windows_end_with_the_sample(void **state)
{
  static series_case c;

  for (int kind = 0; kind <= 6; kind += 2) { /* mean, min, count, var */
    const options o = {kind, 9};
    const char *unit = kind == 4 ? "1" : kind == 6 ? "mV2" : "mV";
    const series_step step = {&c, &weir_series_op_moving, &o, "mV", unit, 0};

    series_draw(&c, 31, 0.3);
    series_run_step(&step);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      double n = 0, sum = 0, squares = 0, low = INFINITY;

      for (int64_t k = t - 8 > 0 ? t - 8 : 0; k <= t; k++) {
        const double x = (double)c.x[k];

        n += c.present[k];
        sum += x;
        squares += x * x;
        low = c.present[k] ? fmin(low, x) : low;
      }
      const double y[] = {sum / n, 0, low, 0, n, 0, squares / n - sum / n * (sum / n)};

      assert_int_equal(c.y_present[t], c.present[t]);
      assert_near((double)c.y[t], c.present[t] ? y[kind] : 0, 1e-6);
    }
  }
}

static void a_window_that_is_no_whole_number_of_slots_is_refused(void **state)
{
  const options o = {0, 2.5};
  const series_step step = {.op = &weir_series_op_moving, .opts = &o};

  assert_non_null(strstr(series_refusal(&step, 1), "window: 2.5 s"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_end_with_the_sample),
      cmocka_unit_test(a_window_that_is_no_whole_number_of_slots_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
