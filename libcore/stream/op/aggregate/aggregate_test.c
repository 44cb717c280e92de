/* aggregate_test.c - every kind against a loop over the window: tumbling, hopping, sliding. */
#include "stream/op/aggregate/weir_stream_aggregate.h"
#include <math.h>
#include "support/stream/series_check.h"

enum { KINDS = WEIR_AGGREGATE_MEDIAN + 1 };

typedef struct shape {
  weir_aggregate_spec a;
  series_case *c;
} shape;

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  const shape *w = context;
  const weir_series_use use = series_use(w->c, g, &s);

  return weir_stream_aggregate(&use, s, &w->a);
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* What slot j should be; *present: whether its newest hop holds a sample. */
static double expected(const series_case *c, const weir_aggregate_spec *a, int64_t j, bool *present)
{
  const int64_t end = (j + 1) * a->hop;
  double x[SERIES_COUNT], sum = 0, squares = 0, rest = 0;
  int64_t n = 0;

  *present = false;
  for (int64_t t = end - a->window; t < end; t++) {
    if (t >= 0 && t < SERIES_COUNT && c->present[t]) {
      *present = *present || t >= end - a->hop;
      x[n++] = (double)c->x[t];
    }
  }
  if (!*present) {
    return 0;
  }
  for (int64_t i = 0; i < n; i++) {
    sum += x[i];
    squares += x[i] * x[i];
  }
  for (int64_t i = 0; i < n; i++) {
    rest += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
  }
  const double first = x[0], last = x[n - 1], var = rest / (double)n;

  qsort(x, (size_t)n, sizeof x[0], ascending);
  const double all[KINDS] = {sum / (double)n,
                             sum,
                             x[0],
                             x[n - 1],
                             (double)n,
                             sqrt(var),
                             var,
                             first,
                             last,
                             sqrt(squares / (double)n),
                             (x[(n - 1) / 2] + x[n / 2]) / 2};
  return all[a->kind];
}

static void compare(series_case *c, const shape *w)
{
  series_run_whole(c, build, w);
  assert_int_equal(c->n, (SERIES_COUNT + w->a.hop - 1) / w->a.hop);
  assert_int_equal(c->n_present, c->n);
  assert_int_equal(c->rate_den, w->a.hop);
  for (int64_t j = 0; j < c->n; j++) {
    const int64_t from = j - w->a.end;
    bool present = false;
    const double y = from >= 0 ? expected(c, &w->a, from, &present) : 0;

    assert_int_equal(c->y_present[j], present || w->a.rows);
    assert_near((double)c->y[j], y, 2e-7 * fmax(1, fabs(y)));
  }
}

static const int64_t shapes[][2] = {{1, 1},   {5, 5},  {12, 4},   {9, 3},   {7, 1},
                                    {64, 32}, {64, 1}, {700, 35}, {699, 1}, {1400, 7}};

static void every_kind_is_its_loop(void **state)
{
  static series_case c;

  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    for (int kind = 0; kind < KINDS; kind++) {
      const shape w = {.a = {.kind = (weir_aggregate)kind,
                             .window = shapes[i][0],
                             .hop = shapes[i][1],
                             .end = (i + (size_t)kind) % 3 == 0,
                             .rows = (i + (size_t)kind) % 4 == 0},
                       .c = &c};

      series_draw(&c, 7 + i, 0.4);
      compare(&c, &w);
    }
  }
}

static void nothing_and_everything_present(void **state)
{
  static series_case c;

  for (int kind = 0; kind < KINDS; kind++) {
    for (int all = 0; all < 2; all++) {
      const shape w = {.a = {.kind = (weir_aggregate)kind, .window = 12, .hop = 1 + 2 * (kind % 2)},
                       .c = &c};

      series_draw(&c, 3, all ? 0 : 1);
      compare(&c, &w);
    }
  }
}

/* What makes an accumulator that adds and subtracts go wrong: a far value that has left the window.
 */
static void what_has_left_the_window_has_no_effect(void **state)
{
  static series_case c;

  for (int kind = 0; kind < KINDS; kind++) {
    const shape w = {.a = {.kind = (weir_aggregate)kind, .window = 30, .hop = 1 + kind % 3},
                     .c = &c};

    series_draw(&c, 5, 0.2);
    for (int64_t t = 0; t < 60; t++) {
      c.x[t] = c.present[t] ? c.x[t] * 1e12f : 0;
    }
    c.x[200] = c.present[200] ? NAN : 0;
    series_run_whole(&c, build, &w);
    for (int64_t j = 0; j < c.n; j++) {
      const int64_t end = (j + 1) * w.a.hop;
      bool present;
      const double y = expected(&c, &w.a, j, &present);

      if (end - w.a.window > 200 || (end - w.a.window > 90 && end <= 200)) {
        assert_near((double)c.y[j], y, 2e-7 * fmax(1, fabs(y)));
      }
    }
  }
}

static void a_flat_stretch_has_no_spread(void **state)
{
  static series_case c;
  static const float level[] = {0.1f, 1e-20f, -98.6f, 3e7f};

  for (size_t i = 0; i < 8; i++) {
    const shape w = {.a = {.kind = WEIR_AGGREGATE_STD, .window = 100, .hop = i < 4 ? 100 : 1},
                     .c = &c};

    series_draw(&c, 9 + i, 0.3);
    for (int64_t t = 100; t < SERIES_COUNT; t++) {
      c.x[t] = c.present[t] ? level[i % 4] : 0;
    }
    series_run_whole(&c, build, &w);
    for (int64_t j = 0; j < c.n; j++) {
      if ((j + 1) * w.a.hop - w.a.window >= 100) {
        assert_true(c.y[j] == 0.0f);
      }
    }
  }
}

/* A mean a million times the standard deviation: sums of squares about 0 would lose it in f32. */
static void spread_survives_a_far_level(void **state)
{
  static series_case c;
  shape w = {.a = {.kind = WEIR_AGGREGATE_STD, .window = 35}, .c = &c};

  for (int sliding = 0; sliding < 2; sliding++) {
    w.a.hop = sliding ? 1 : 35;
    series_draw(&c, 21, 0.1);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      c.x[t] = c.present[t] ? 4096.0f + c.x[t] : 0;
    }
    series_run_whole(&c, build, &w);
    for (int64_t j = 0; j < c.n; j++) {
      bool present;
      const double y = expected(&c, &w.a, j, &present);

      assert_near((double)c.y[j], y, 1e-6 * fmax(1e-3, y));
    }
  }
}

static void windows_that_cannot_be_are_refused(void **state)
{
  static const int64_t wrong[][2] = {{5, 2}, {0, 1}, {1, 0}, {2, 4}, {-2, -1}};
  const int64_t far = INT64_MAX / 2;
  static series_case c;

  for (size_t i = 0; i <= sizeof wrong / sizeof wrong[0]; i++) {
    const bool slow = i == sizeof wrong / sizeof wrong[0];
    weir_graph *g = NULL;

    assert_ok(weir_graph_create(&g));
    const weir_series s = weir_series_input(g, "x", "p", 1, slow ? far : 1);
    const weir_series_use use = series_use(&c, g, &s);

    (void)weir_stream_aggregate(
        &use, s,
        &(weir_aggregate_spec){.window = slow ? 3 : wrong[i][0], .hop = slow ? 3 : wrong[i][1]});
    assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
    weir_graph_destroy(&g);
  }
}

/* What weir_series_hop takes is what the graph takes. */
static void the_longest_hop_is_that_of_the_graph(void **state)
{
  static series_case c;

  for (int64_t hop = WEIR_LONGEST_STEP; hop <= WEIR_LONGEST_STEP + 1; hop++) {
    const bool fits = hop == WEIR_LONGEST_STEP;
    weir_graph *g = NULL;
    int64_t slots = 0;

    assert_ok(weir_graph_create(&g));
    const weir_series s = weir_series_input(g, "x", "p", 1, 1);
    const weir_series_use use = series_use(&c, g, &s);

    assert_int_equal(weir_series_hop(&s, "hop", (double)hop, &slots),
                     fits ? WEIR_OK : WEIR_ERR_CONFIG);
    assert_int_equal(slots, hop);
    (void)weir_stream_aggregate(&use, s, &(weir_aggregate_spec){.window = hop, .hop = hop});
    assert_int_equal(weir_graph_status(g), fits ? WEIR_OK : WEIR_ERR_SHAPE);
    weir_graph_destroy(&g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_is_its_loop),
      cmocka_unit_test(nothing_and_everything_present),
      cmocka_unit_test(what_has_left_the_window_has_no_effect),
      cmocka_unit_test(a_flat_stretch_has_no_spread),
      cmocka_unit_test(spread_survives_a_far_level),
      cmocka_unit_test(windows_that_cannot_be_are_refused),
      cmocka_unit_test(the_longest_hop_is_that_of_the_graph),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
