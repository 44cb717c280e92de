/* moving_sum_test.c - windows of every length against a plain sum over the present run. */
#include "stream/op/moving_sum/weir_stream_moving_sum.h"
#include "support/stream/series_check.h"

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_moving_sum(g, s, *(const int64_t *)context);
}

static void a_window_begins_anew_after_a_gap(void **state)
{
  static series_case c;

  for (int64_t n = 1; n <= 70; n += n < 9 ? 1 : 7) {
    series_draw(&c, 6, 0.3);
    series_run_whole(&c, build, &n);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      const int64_t run = series_run_start(&c, t), first = t - n + 1 > run ? t - n + 1 : run;
      double sum = 0;

      for (int64_t k = first; k <= t; k++) {
        sum += (double)c.x[k];
      }
      assert_near((double)c.y[t], c.present[t] ? sum : 0.0, 1e-5);
    }
  }
}

static void lengths_are_checked(void **state)
{
  const int64_t lengths[] = {0, -3, (1 << 20) + 1};

  for (int i = 0; i < 3; i++) {
    weir_graph *g = NULL;

    assert_ok(weir_graph_create(&g));
    (void)weir_stream_moving_sum(g, weir_series_input(g, "x", "p", 1, 1), lengths[i]);
    assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
    weir_graph_destroy(&g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_window_begins_anew_after_a_gap),
      cmocka_unit_test(lengths_are_checked),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
