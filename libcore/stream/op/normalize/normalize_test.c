/* normalize_test.c - z-scores against a loop in double over each window. */
#include "stream/op/normalize/weir_stream_normalize.h"
#include <math.h>
#include "support/stream/series_check.h"

typedef struct shape {
  int64_t window;
  bool causal;
  series_case *c;
} shape;

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  const shape *w = context;
  const weir_series_use use = series_use(w->c, g, &s);
  const weir_series z = weir_stream_normalize(&use, s, w->window, w->causal);

  assert_string_equal(z.unit, "1");
  return z;
}

static double expected(const series_case *c, const shape *w, int64_t t)
{
  const int64_t first = w->causal ? t - w->window + 1 : t / w->window * w->window;
  double n = 0, sum = 0, rest = 0;

  for (int64_t k = first; k < first + w->window; k++) {
    if (k >= 0 && k < SERIES_COUNT && c->present[k]) {
      n += 1;
      sum += (double)c->x[k];
    }
  }
  for (int64_t k = first; k < first + w->window; k++) {
    if (k >= 0 && k < SERIES_COUNT && c->present[k]) {
      rest += ((double)c->x[k] - sum / n) * ((double)c->x[k] - sum / n);
    }
  }
  return rest == 0 ? 0 : ((double)c->x[t] - sum / n) / sqrt(rest / n);
}

static void compare(series_case *c, const shape *w, double tolerance)
{
  series_run_whole(c, build, w);
  assert_int_equal(c->n, SERIES_COUNT);
  assert_memory_equal(c->y_present, c->present, SERIES_COUNT);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const double z = c->present[t] ? expected(c, w, t) : 0;

    assert_near((double)c->y[t], z, tolerance * fmax(1, fabs(z)));
  }
}

static void scores_are_those_of_the_window(void **state)
{
  static const int64_t windows[] = {1, 2, 7, 64, 333, 700, 2000};
  static series_case c;

  for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
    for (int causal = 0; causal < 2; causal++) {
      const shape w = {windows[i], causal, &c};

      series_draw(&c, 3 + i, 0.25 * (double)(i % 5));
      compare(&c, &w, 1e-6);
    }
  }
}

/* Blood pressure as a sensor with an offset gives it: the mean is 4096 spreads away. */
static void a_far_level_costs_no_digits(void **state)
{
  static series_case c;

  for (int causal = 0; causal < 2; causal++) {
    const shape w = {100, causal, &c};

    series_draw(&c, 5, 0.2);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      c.x[t] = c.present[t] ? 4096.0f + c.x[t] : 0;
    }
    compare(&c, &w, 1e-6);
  }
}

static void a_flat_window_gives_zero(void **state)
{
  static series_case c;

  for (int causal = 0; causal < 2; causal++) {
    const shape w = {50, causal, &c};

    series_draw(&c, 5, 0.2);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      c.x[t] = c.present[t] ? 97.3f : 0;
    }
    series_run_whole(&c, build, &w);
    assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      assert_true(c.y[t] == 0.0f);
    }
  }
}

/* Long windows, chunks that do not fit them, and inputs repeated over hundreds of slots: the same
 * bits in both engines. */
static void chunks_and_engines_change_nothing(void **state)
{
  static const int64_t windows[] = {130, 333, 350};
  static series_case whole, other;

  for (size_t i = 0; i < 3; i++) {
    const shape w = {windows[i], false, &whole}, v = {windows[i], false, &other};

    series_draw(&whole, 40 + i, 0.3);
    other = whole;
    series_run_whole(&whole, build, &w);
    for (int k = 0; k < 4; k++) {
      series_run(&other, build, &v, k == 0 ? WEIR_TIER_NATIVE : WEIR_TIER_VECTOR,
                 (weir_stream_cfg){.window = 7 + 81 * k, .skip = true, .cut_seed = k % 2});
      assert_int_equal(other.n, whole.n);
      assert_memory_equal(other.y, whole.y, sizeof whole.y);
      assert_memory_equal(other.y_present, whole.y_present, sizeof whole.y_present);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scores_are_those_of_the_window),
      cmocka_unit_test(a_far_level_costs_no_digits),
      cmocka_unit_test(a_flat_window_gives_zero),
      cmocka_unit_test(chunks_and_engines_change_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
