/* sos_test.c - the recurrence by hand, steady after gaps; what is refused. */
#include "stream/op/sos/weir_stream_sos.h"
#include "support/stream/series_check.h"

static const weir_sos sections[2] = {{0.2, 0.3, 0.1, -0.7, 0.3}, {0.5, -0.5, 0, -0.4, 0.2}};

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_sos(g, s, sections, 2, 0);
}

static void every_run_of_samples_begins_in_steady_state(void **state)
{
  static series_case c;
  double steady[4], z[4] = {0};

  weir_design_steady_state(sections, 2, steady);
  series_draw(&c, 4, 0.4);
  series_run_whole(&c, build, NULL);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    double v = (double)c.x[t];

    if (!c.present[t]) {
      assert_true(c.y[t] == 0.0f);
      continue;
    }
    for (int k = 0; k < 4 && series_run_start(&c, t) == t; k++) {
      z[k] = steady[k] * (double)c.x[t];
    }
    for (int k = 0; k < 2; k++) {
      const weir_sos *s = &sections[k];
      const double y = s->b0 * v + z[2 * k];

      z[2 * k] = s->b1 * v - s->a1 * y + z[2 * k + 1];
      z[2 * k + 1] = s->b2 * v - s->a2 * y;
      v = y;
    }
    assert_near((double)c.y[t], v, 1e-6);
  }
}

static void no_sections_and_too_many_are_refused(void **state)
{
  const int counts[] = {0, 21};

  for (int i = 0; i < 2; i++) {
    weir_graph *g = NULL;

    assert_ok(weir_graph_create(&g));
    (void)weir_stream_sos(g, weir_series_input(g, "x", "p", 1, 1), sections, counts[i], 0);
    assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
    weir_graph_destroy(&g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_run_of_samples_begins_in_steady_state),
      cmocka_unit_test(no_sections_and_too_many_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
