/* aggregate_test.c - every kind against a loop over the window, tumbling and hopping. */
#include "stream/op/aggregate/weir_stream_aggregate.h"
#include <math.h>
#include "stream/series_check.h"

typedef struct shape {
  weir_aggregate kind;
  int64_t window, hop;
} shape;

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  const shape *w = context;

  return weir_stream_aggregate(g, s, w->kind, w->window, w->hop);
}

/* What slot j should be; *present: whether its newest hop holds a sample. */
static double expected(const series_case *c, const shape *w, int64_t j, bool *present)
{
  const int64_t end = (j + 1) * w->hop;
  double sum = 0, n = 0, low = INFINITY, high = -INFINITY;

  *present = false;
  for (int64_t t = end - w->window; t < end; t++) {
    if (t < 0 || t >= SERIES_COUNT || !c->present[t]) {
      continue;
    }
    const double x = (double)c->x[t];

    *present = *present || t >= end - w->hop;
    sum += x;
    n += 1;
    low = fmin(low, x);
    high = fmax(high, x);
  }
  const double all[] = {sum, sum / n, low, high, n};
  return all[w->kind];
}

static void every_kind_is_its_loop(void **state)
{
  static const int64_t shapes[][2] = {{1, 1}, {5, 5}, {12, 4}, {9, 3}, {7, 1}, {64, 32}};
  static series_case c;

  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    for (int kind = 0; kind < 5; kind++) {
      const shape w = {(weir_aggregate)kind, shapes[i][0], shapes[i][1]};

      series_draw(&c, 7 + i, 0.4);
      series_run_whole(&c, build, &w);
      assert_int_equal(c.n, (SERIES_COUNT + w.hop - 1) / w.hop);
      assert_int_equal(c.rate_den, w.hop);
      for (int64_t j = 0; j < c.n; j++) {
        bool present;
        const double y = expected(&c, &w, j, &present);

        assert_int_equal(c.y_present[j], present);
        assert_near((double)c.y[j], present ? y : 0.0, 1e-5);
      }
    }
  }
}

static void windows_that_are_no_multiple_are_refused(void **state)
{
  static const int64_t wrong[][2] = {{5, 2}, {0, 1}, {1, 0}, {2, 4}, {-2, -1}};

  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    weir_graph *g = NULL;

    assert_ok(weir_graph_create(&g));
    (void)weir_stream_aggregate(g, weir_series_input(g, "x", "p", 1, 1), WEIR_AGGREGATE_SUM,
                                wrong[i][0], wrong[i][1]);
    assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
    weir_graph_destroy(&g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_is_its_loop),
      cmocka_unit_test(windows_that_are_no_multiple_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
