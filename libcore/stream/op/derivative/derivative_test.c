/* derivative_test.c - taps over the present run, in their order. */
#include "stream/op/derivative/weir_stream_derivative.h"
#include "support/stream/series_check.h"

extern const weir_series_op weir_series_op_derivative;
static series_case c;

static const double taps[5] = {0.3, 0.125, 0, -0.7, -0.25};

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_derivative(g, s, taps, *(const int *)context);
}

static void taps_see_nothing_before_a_gap(void **state)
{
  for (int n = 1; n <= 5; n++) {
    series_draw(&c, 5, 0.4);
    series_run_whole(&c, build, &n);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      const int64_t first = series_run_start(&c, t);
      float sum = (float)taps[0] * c.x[t];

      for (int k = 1; k < n; k++) {
        sum += (float)taps[k] * (t - k >= first ? c.x[t - k] : 0.0f);
      }
      assert_true(c.y[t] == (c.present[t] ? sum : 0.0f));
    }
  }
}

static void numbers_of_taps_are_checked(void **state)
{
  const int counts[] = {0, 65};

  for (int i = 0; i < 2; i++) {
    weir_graph *g = NULL;

    assert_ok(weir_graph_create(&g));
    (void)weir_stream_derivative(g, weir_series_input(g, "x", "p", 1, 1), taps, counts[i]);
    assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
    weir_graph_destroy(&g);
  }
}

static void run_step(int64_t points)
{
  const weir_stream_derivative_opts o = {.points = points};

  series_run_step(&(series_step){&c, &weir_series_op_derivative, &o, "mV", "mV/s", 0});
}

/* The textbook formula of the slope, over windows without a gap. */
static void a_step_gives_the_slope_of_a_line(void **state)
{
  const int64_t points[] = {2, 3, 5, 8};

  (void)state;
  for (int i = 0; i < 4; i++) {
    const double n = (double)points[i];

    series_draw(&c, 8, 0.2);
    run_step(points[i]);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      const bool full = c.present[t] && t - points[i] + 1 >= series_run_start(&c, t);
      double x = 0, xy = 0, y = 0, xx = 0;

      for (int64_t k = 0; full && k < points[i]; k++) {
        const double value = (double)c.x[t - points[i] + 1 + k];

        x += (double)k;
        xx += (double)(k * k);
        y += value;
        xy += (double)k * value;
      }
      const double slope = (n * xy - x * y) / (n * xx - x * x);
      assert_int_equal(c.y_present[t], full);
      assert_near((double)c.y[t], full ? slope : 0, 1e-6);
    }
  }
  const series_step wide = {.op = &weir_series_op_derivative,
                            .opts = &(weir_stream_derivative_opts){.points = 2},
                            .unit = "a unit of 23 characters"};

  assert_string_equal(series_refusal(&wide, 1),
                      "the unit a unit of 23 characters per second is too long");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(taps_see_nothing_before_a_gap),
      cmocka_unit_test(numbers_of_taps_are_checked),
      cmocka_unit_test(a_step_gives_the_slope_of_a_line),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
