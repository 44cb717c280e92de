/* moving_test.c - the options of the step: seconds become slots, units follow. */
#include <math.h>
#include "stream/series_check.h"

extern const weir_series_op weir_series_op_moving;

/* As the operator's table lays them out. */
typedef struct options {
  int kind;
  double window;
} options;

typedef struct step {
  options o;
  series_case *c;
} step;

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  const step *w = context;
  weir_series_use use = series_use(w->c, g, &s);
  weir_series_result r = {.n = 0};

  weir_series_set_unit(&s, "mV");
  use.opts = &w->o;
  assert_ok(weir_series_op_moving.build(&use, &r));
  assert_int_equal(r.n, 1);
  assert_string_equal(r.out[0].unit, w->o.kind == 4 ? "1" : w->o.kind == 6 ? "mV^2" : "mV");
  return r.out[0];
}

static void windows_end_with_the_sample(void **state)
{
  static series_case c;

  for (int kind = 0; kind <= 6; kind += 2) { /* mean, min, count, var */
    const step w = {{kind, 9}, &c};

    series_draw(&c, 31, 0.3);
    series_run_whole(&c, build, &w);
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
  static series_case c;
  weir_series_result r = {.n = 0};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_series s = weir_series_input(g, "x", "p", 1, 1);
  weir_series_use use = series_use(&c, g, &s);

  use.opts = &o;
  assert_int_equal(weir_series_op_moving.build(&use, &r), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "window: 2.5 s"));
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_end_with_the_sample),
      cmocka_unit_test(a_window_that_is_no_whole_number_of_slots_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
