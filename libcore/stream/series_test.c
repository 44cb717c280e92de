/* series_test.c - what holds for every stream operator of the build: nothing depends on chunks or
 * on skipped gaps, absent slots are 0, and the engine that others are measured by agrees. */
#include "support/stream/series_check.h"
#include <math.h>
#include <stdio.h>

static series_case whole, other;

static void check_operator(const weir_series_op *op)
{
  int64_t skipped = 0;

  for (uint64_t seed = 0; seed < 40; seed++) {
    const series_drawn w = {op, seed, &whole}, v = {op, seed, &other};
    const double missing = 0.3 * (double)(seed % 4);

    series_draw(&whole, seed, missing);
    other = whole;
    series_run_whole(&whole, series_build_drawn, &w);
    series_run(&other, series_build_drawn, &v, WEIR_TIER_VECTOR,
               (weir_stream_cfg){.window = 1 + (double)(seed % 9) * 8,
                                 .skip = seed % 2 == 0,
                                 .cut_seed = (int64_t)(seed % 3)});
    skipped += other.report.skipped;
    assert_int_equal(other.n, whole.n);
    assert_int_equal(other.n_present, whole.n);
    assert_memory_equal(other.y_present, whole.y_present, (size_t)whole.n);
    for (int64_t t = 0; t < whole.n; t++) {
      assert_true(other.y[t] == whole.y[t]);
      assert_true(whole.y_present[t] || whole.y[t] == 0.0f);
    }
  }
  assert_true(skipped > 0);
}

static void chunks_and_skipped_gaps_change_nothing(void **state)
{
  int n = 0;

  for (; weir_series_op_table[n] != NULL; n++) {
    printf("%s\n", weir_series_op_table[n]->name);
    check_operator(weir_series_op_table[n]);
  }
  assert_true(n >= 21);
}

/* Largest difference over the largest value, of all slots; presence is the same. */
static double departure(void)
{
  double worst = 0, scale = 0;

  assert_int_equal(other.n, whole.n);
  assert_int_equal(other.n_present, whole.n_present);
  assert_memory_equal(other.y_present, whole.y_present, (size_t)whole.n);
  for (int64_t t = 0; t < whole.n; t++) {
    const double a = (double)whole.y[t], b = (double)other.y[t];

    assert_true(isfinite(a) == isfinite(b));
    if (isfinite(a)) {
      worst = fmax(worst, fabs(a - b));
      scale = fmax(scale, fabs(a));
    }
  }
  return worst == 0 ? 0 : worst / scale;
}

static void the_reference_engine_agrees(void **state)
{
  for (int n = 0; weir_series_op_table[n] != NULL; n++) {
    const weir_series_op *op = weir_series_op_table[n];
    double worst = 0;

    for (uint64_t seed = 0; seed < 6; seed++) {
      const series_drawn w = {op, seed, &whole}, v = {op, seed, &other};

      series_draw(&whole, seed, 0.2 * (double)(seed % 3));
      other = whole;
      series_run_whole(&whole, series_build_drawn, &w);
      series_run(&other, series_build_drawn, &v, WEIR_TIER_REFERENCE,
                 (weir_stream_cfg){.window = 5 + (double)seed, .skip = seed % 2 == 0});
      worst = fmax(worst, departure());
    }
    printf("%s: departs by %.2g\n", op->name, worst);
    assert_true(worst <= 1e-6);
  }
}

static void a_rate_that_is_not_positive_is_refused(void **state)
{
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_series s = weir_series_input(g, "x", "p", 0, 1);
  assert_true(s.value.node < 0);
  assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
  weir_graph_destroy(&g);
}

static void rates_are_scaled_in_lowest_terms_or_refused(void **state)
{
  weir_series s = {.rate_num = 999560, .rate_den = 16000};
  weir_graph *g = NULL;

  assert_ok(weir_series_scale_rate(&s, 48, 6));
  assert_int_equal(s.rate_num, 24989);
  assert_int_equal(s.rate_den, 50);
  assert_ok(weir_series_scale_rate(&s, 50, 24989));
  assert_int_equal(s.rate_num, 1);
  assert_int_equal(s.rate_den, 1);
  s.rate_num = INT64_MAX / 2;
  assert_int_equal(weir_series_scale_rate(&s, 3, 1), WEIR_ERR_SHAPE);
  assert_int_equal(weir_series_scale_rate(&s, 1, 0), WEIR_ERR_SHAPE);
  assert_int_equal(s.rate_num, INT64_MAX / 2);
  assert_ok(weir_graph_create(&g));
  (void)weir_series_hold(g, weir_series_input(g, "x", "p", INT64_MAX, 1), 2);
  assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chunks_and_skipped_gaps_change_nothing),
      cmocka_unit_test(the_reference_engine_agrees),
      cmocka_unit_test(a_rate_that_is_not_positive_is_refused),
      cmocka_unit_test(rates_are_scaled_in_lowest_terms_or_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
