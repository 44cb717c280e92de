/* select_test.c - the function where a sample is, 0 where none is. */
#include "stream/op/select/weir_stream_select.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/series_check.h"

extern const weir_series_op weir_series_op_select;
static series_case c;

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_select(g, s, weir_add_scalar(g, s.value, 3));
}

static void a_function_is_applied_to_present_samples(void **state)
{
  series_draw(&c, 1, 0.4);
  series_run_whole(&c, build, NULL);
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    assert_true(c.y[t] == (c.present[t] ? c.x[t] + 3.0f : 0.0f));
  }
}

static void run_step(const weir_stream_select_opts *o)
{
  const char *unit = o->unit[0] != 0 ? o->unit : "mV";

  series_run_step(&(series_step){&c, &weir_series_op_select, o, "mV", unit, 0});
}

static void refuse(const weir_stream_select_opts *o, const char *message)
{
  assert_string_equal(
      series_refusal(&(series_step){&c, &weir_series_op_select, o, "mV", NULL, 0}, 1), message);
}

static void a_step_evaluates_its_expression(void **state)
{
  const weir_stream_select_opts log = {.value = "2 * x - if(x > 0.5, 1, nan)", .unit = "odd"};
  weir_stream_select_opts plain;

  (void)state;
  weir_opts_default(weir_series_op_select.opts, sizeof plain, &plain);
  series_draw(&c, 2, 0.4);
  run_step(&log);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const bool kept = c.present[t] && c.x[t] > 0.5f;

    assert_int_equal(c.y_present[t], kept);
    assert_true(c.y[t] == (kept ? 2 * c.x[t] - 1.0f : 0.0f));
  }
  run_step(&plain); /* as it came */
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
  assert_memory_equal(c.y, c.x, sizeof c.y);
}

static void a_truth_is_one_or_zero(void **state)
{
  const weir_stream_select_opts o = {.value = "x > 0 mV", .unit = "1"};

  (void)state;
  series_draw(&c, 3, 0.4);
  run_step(&o);
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    assert_true(c.y[t] == (c.present[t] && c.x[t] > 0 ? 1.0f : 0.0f));
  }
}

static void wrong_options_are_refused(void **state)
{
  (void)state;
  refuse(&(weir_stream_select_opts){.value = "x + y", .unit = ""},
         "expression x + y, column 5: y is no input; there are: x");
  refuse(&(weir_stream_select_opts){.value = "x", .unit = "a unit that is far too long"},
         "unit: a unit that is far too long is longer than 23 characters");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_function_is_applied_to_present_samples),
      cmocka_unit_test(a_step_evaluates_its_expression),
      cmocka_unit_test(a_truth_is_one_or_zero),
      cmocka_unit_test(wrong_options_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
