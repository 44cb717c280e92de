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

static weir_series step(weir_graph *g, weir_series s, const void *context)
{
  const weir_stream_select_opts *o = context;
  weir_series_result result = {.n = 0};
  weir_series_use use = series_use(&c, g, &s);

  use.opts = o;
  weir_series_set_unit(&s, "mV");
  assert_ok(weir_series_op_select.build(&use, &result));
  assert_int_equal(result.n, 1);
  assert_null(result.name[0]);
  assert_string_equal(result.out[0].unit, o->unit[0] != 0 ? o->unit : "mV");
  return result.out[0];
}

static void refuse(const char *unit, const void *opts, const char *message)
{
  weir_graph *g = NULL;
  weir_series_result result;

  assert_ok(weir_graph_create(&g));
  weir_series s = weir_series_input(g, "x", "p", 1, 1);
  weir_series_set_unit(&s, unit);
  weir_series_use use = series_use(&c, g, &s);
  use.opts = opts;
  assert_int_equal(weir_series_op_select.build(&use, &result), WEIR_ERR_CONFIG);
  assert_string_equal(weir_last_message(), message);
  weir_graph_destroy(&g);
}

static void a_step_evaluates_its_expression(void **state)
{
  const weir_stream_select_opts log = {.value = "2 * x - if(x > 0.5, 1, nan)", .unit = "odd"};
  weir_stream_select_opts plain;

  (void)state;
  weir_opts_default(weir_series_op_select.opts, sizeof plain, &plain);
  series_draw(&c, 2, 0.4);
  series_run_whole(&c, step, &log);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const bool kept = c.present[t] && c.x[t] > 0.5f;

    assert_int_equal(c.y_present[t], kept);
    assert_true(c.y[t] == (kept ? 2 * c.x[t] - 1.0f : 0.0f));
  }
  series_run_whole(&c, step, &plain); /* as it came */
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
  assert_memory_equal(c.y, c.x, sizeof c.y);
}

static void a_truth_is_one_or_zero(void **state)
{
  const weir_stream_select_opts o = {.value = "x > 0 mV", .unit = "1"};

  (void)state;
  series_draw(&c, 3, 0.4);
  series_run_whole(&c, step, &o);
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    assert_true(c.y[t] == (c.present[t] && c.x[t] > 0 ? 1.0f : 0.0f));
  }
}

static void wrong_options_are_refused(void **state)
{
  (void)state;
  refuse("mV", &(weir_stream_select_opts){.value = "x + y", .unit = ""},
         "expression x + y, column 5: y is no input; there are: x");
  refuse("mV", &(weir_stream_select_opts){.value = "x", .unit = "a unit that is far too long"},
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
