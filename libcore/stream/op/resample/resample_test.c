/* resample_test.c - every method against a plain loop in double precision, and scipy. */
#include "stream/op/resample/weir_stream_resample.h"
#include "support/stream/gap_check.h"
#include "support/stream/scipy_check.h"
#include <math.h>
#include <stdio.h>
#include "stream/design/weir_design_fir.h"

extern const weir_series_op weir_series_op_resample;

typedef struct change {
  weir_stream_method method;
  int64_t up, down, tolerance;
} change;

enum { SLOTS = 160 }; /* of the input, so that those of the result fit a case */

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  const change *c = context;

  return weir_stream_resample(g, s, c->method, c->up, c->down, c->tolerance);
}

/* The input with its short gaps bridged, in double precision. */
typedef struct bridged {
  double x[SERIES_COUNT];
  bool present[SERIES_COUNT];
} bridged;

static void bridge(const series_case *c, const change *how, bridged *b)
{
  for (int64_t t = 0; t < c->count; t++) {
    const bool gap = gap_short(c, t, how->tolerance);
    const int64_t s = gap ? gap_before(c, t) : t, e = gap ? gap_after(c, t) : t;
    const double fraction =
        gap && how->method != WEIR_STREAM_HOLD ? (double)(t - s) / (double)(e - s) : 0;

    b->present[t] = c->present[t] || gap;
    b->x[t] = (double)c->x[s] + ((double)c->x[e] - (double)c->x[s]) * fraction;
  }
}

static double polyphase_at(const bridged *b, const double *h, const change *how, int64_t count,
                           int64_t t)
{
  const int64_t n = weir_design_polyphase_taps(how->up, how->down);
  double sum = 0;

  for (int64_t i = 0; i < count; i++) {
    const int64_t tap = (n - 1) / 2 + how->down * t - how->up * i;

    sum += tap >= 0 && tap < n && b->present[i] ? h[tap] * b->x[i] : 0;
  }
  return sum;
}

static void check_change(series_case *c, const change *how)
{
  static double h[20 * 32 + 1];
  static bridged b;

  bridge(c, how, &b);
  if (how->method == WEIR_STREAM_POLYPHASE) {
    assert_ok(weir_design_polyphase(how->up, how->down, h));
  }
  series_run_whole(c, build, how);
  assert_int_equal(c->n, (c->count * how->up + how->down - 1) / how->down);
  assert_int_equal(c->rate_num, how->up);
  assert_int_equal(c->rate_den, how->down);
  for (int64_t t = 0; t < c->n; t++) {
    const int64_t s = t * how->down / how->up;
    const double fraction = (double)(t * how->down % how->up) / (double)how->up;
    const bool between = s + 1 < c->count && b.present[s + 1];
    double y = b.x[s];

    if (how->method == WEIR_STREAM_LINEAR && between) {
      y += (b.x[s + 1] - b.x[s]) * fraction;
    } else if (how->method == WEIR_STREAM_POLYPHASE) {
      y = polyphase_at(&b, h, how, c->count, t);
    }
    assert_int_equal(c->y_present[t], b.present[s]);
    assert_near((double)c->y[t], b.present[s] ? y : 0, 1e-5);
  }
}

static void lines_and_held_samples(void **state)
{
  static const int64_t ratios[][2] = {{2, 1}, {4, 1}, {3, 1}, {1, 4}, {25, 18}, {3, 2}, {2, 5}};
  static series_case c;

  for (int which = 0; which < GAP_STREAMS * 2; which++) {
    for (int i = 0; i < 7; i++) {
      const change how = {which % 2 == 0 ? WEIR_STREAM_LINEAR : WEIR_STREAM_HOLD, ratios[i][0],
                          ratios[i][1], (which + i) % 4 * 4};

      gap_draw(&c, which / 2);
      c.count = c.count < SLOTS ? c.count : SLOTS;
      check_change(&c, &how);
    }
  }
}

static void polyphase_is_its_sum(void **state)
{
  static const int64_t ratios[][2] = {{4, 1}, {2, 3}};
  static series_case c;

  for (int i = 0; i < 2; i++) {
    for (int which = 1; which < GAP_STREAMS; which += 9) {
      const change how = {WEIR_STREAM_POLYPHASE, ratios[i][0], ratios[i][1], 4 * i};

      gap_draw(&c, which);
      c.count = SLOTS;
      check_change(&c, &how);
    }
  }
}

/* Between samples on a line the result is the line, gap or not. */
static void lines_stay_lines(void **state)
{
  static series_case c;
  const change how = {WEIR_STREAM_LINEAR, 4, 1, 6};

  gap_draw(&c, 0);
  c.count = SLOTS;
  for (int64_t t = 0; t < SLOTS; t++) {
    c.present[t] = t % 11 < 6 || t == SLOTS - 1;
    c.x[t] = c.present[t] ? 0.5f * (float)t - 7 : 0;
  }
  series_run_whole(&c, build, &how);
  for (int64_t t = 0; t <= 4 * (SLOTS - 1); t++) {
    assert_true(c.y_present[t]);
    assert_near((double)c.y[t], 0.125 * (double)t - 7, 1e-5);
  }
}

static void values_that_are_not_finite_stay_where_they_are(void **state)
{
  static series_case c;
  const change how = {WEIR_STREAM_LINEAR, 2, 1, 0}, hold = {WEIR_STREAM_HOLD, 4, 1, 0};

  for (int i = 0; i < 2; i++) {
    const int64_t up = i == 0 ? how.up : hold.up;

    series_draw(&c, 3, 0);
    c.count = SLOTS;
    c.x[50] = INFINITY;
    series_run_whole(&c, build, i == 0 ? &how : &hold);
    for (int64_t t = 0; t < c.n; t++) {
      const bool touched = t > (50 - (i == 0)) * up && t < 51 * up;

      assert_true(t % up == 0 ? c.y[t] == c.x[t / up] : touched || isfinite(c.y[t]));
    }
  }
}

struct options {
  double rate, tolerance;
  int method;
};

static void rates_become_simple_ratios(void **state)
{
  static const double rates[] = {500, 62.4725, 999.56, 1.0 / 3, 0.125, 44100};
  static const int64_t expected[][2] = {{500, 1}, {24989, 400}, {24989, 25},
                                        {1, 3},   {1, 8},       {44100, 1}};

  for (int i = 0; i < 6; i++) {
    const struct options o = {rates[i], 0, WEIR_STREAM_HOLD};
    static series_case c;

    gap_draw(&c, 0);
    c.count = 2;
    gap_run(&c, &weir_series_op_resample, &o, 0);
    assert_int_equal(c.rate_num, expected[i][0]);
    assert_int_equal(c.rate_den, expected[i][1]);
  }
  const struct options odd = {3.14159265358979, 0, 0}, endless = {999999.5, 0, 0};

  assert_step_refused(&weir_series_op_resample, &odd, 1,
                      "not a fraction with a denominator up to a million");
  assert_step_refused(&weir_series_op_resample, &endless, 1000003, "choose a rate with a simpler");
}

static const int64_t ratios[][2] = {{4, 1}, {2, 3}};

static void write_ratios(FILE *cases)
{
  for (int i = 0; i < 2; i++) {
    assert_true(fprintf(cases, "%d %lld %lld\n", SLOTS, (long long)ratios[i][0],
                        (long long)ratios[i][1]) > 0);
  }
}

static void compare_ratios(FILE *answer)
{
  static series_case c;

  for (int i = 0; i < 2; i++) {
    const change how = {WEIR_STREAM_POLYPHASE, ratios[i][0], ratios[i][1], 0};

    series_draw(&c, 5, 0);
    c.count = SLOTS;
    for (int64_t t = 0; t < SLOTS; t++) {
      c.x[t] = (float)(t * 37 % 101) / 101;
    }
    series_run_whole(&c, build, &how);
    for (int64_t t = 0; t < c.n; t++) {
      double y = NAN;

      assert_int_equal(fscanf(answer, "%lf", &y), 1);
      assert_near((double)c.y[t], y, 2e-6);
    }
  }
}

static void scipy_agrees(void **state)
{
  scipy_compare("for line in cases:\n"
                "  n, up, down = [int(w) for w in line.split()]\n"
                "  x = [t * 37 % 101 / 101 for t in range(n)]\n"
                "  print(*s.resample_poly(x, up, down))\n",
                write_ratios, compare_ratios);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_and_held_samples),
      cmocka_unit_test(polyphase_is_its_sum),
      cmocka_unit_test(lines_stay_lines),
      cmocka_unit_test(values_that_are_not_finite_stay_where_they_are),
      cmocka_unit_test(rates_become_simple_ratios),
      cmocka_unit_test(scipy_agrees),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
