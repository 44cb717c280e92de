/* derivative_test.c - taps over the present run, in their order. */
#include "stream/op/derivative/weir_stream_derivative.h"
#include "stream/series_check.h"

static const double taps[5] = {0.3, 0.125, 0, -0.7, -0.25};

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_derivative(g, s, taps, *(const int *)context);
}

static void taps_see_nothing_before_a_gap(void **state)
{
  static series_case c;

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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(taps_see_nothing_before_a_gap),
      cmocka_unit_test(numbers_of_taps_are_checked),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
