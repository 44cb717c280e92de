/* where_test.c - what does not meet the condition becomes absent. */
#include "stream/op/where/weir_stream_where.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/series_check.h"

extern const weir_series_op weir_series_op_where;
static series_case c;

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_where(g, s, weir_gt_scalar(g, s.value, 0.25));
}

static void samples_that_do_not_qualify_become_absent(void **state)
{
  series_draw(&c, 2, 0.3);
  series_run_whole(&c, build, NULL);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const bool kept = c.present[t] && c.x[t] > 0.25f;

    assert_int_equal(c.y_present[t], kept);
    assert_true(c.y[t] == (kept ? c.x[t] : 0.0f));
  }
}

static weir_series step(weir_graph *g, weir_series s, const void *context)
{
  const weir_stream_where_opts *o = context;
  weir_series_result result = {.n = 0};
  weir_series_use use = series_use(&c, g, &s);

  use.opts = o;
  weir_series_set_unit(&s, "mV");
  assert_ok(weir_series_op_where.build(&use, &result));
  assert_int_equal(result.n, 1);
  assert_null(result.name[0]);
  assert_string_equal(result.out[0].unit, "mV");
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
  assert_int_equal(weir_series_op_where.build(&use, &result), WEIR_ERR_CONFIG);
  assert_string_equal(weir_last_message(), message);
  weir_graph_destroy(&g);
}

static void a_step_keeps_what_its_condition_says(void **state)
{
  const weir_stream_where_opts o = {.keep = "not (x < -0.5 mV or x > 0.25)"};
  weir_stream_where_opts all;

  (void)state;
  weir_opts_default(weir_series_op_where.opts, sizeof all, &all);
  series_draw(&c, 4, 0.3);
  series_run_whole(&c, step, &o);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const bool kept = c.present[t] && c.x[t] >= -0.5f && c.x[t] <= 0.25f;

    assert_int_equal(c.y_present[t], kept);
    assert_true(c.y[t] == (kept ? c.x[t] : 0.0f));
  }
  series_run_whole(&c, step, &all);
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
}

static void wrong_conditions_are_refused(void **state)
{
  (void)state;
  refuse("mV", &(weir_stream_where_opts){.keep = "x + 1"},
         "keep: the expression is a number; a truth such as x > 0 says what is kept");
  refuse("mV", &(weir_stream_where_opts){.keep = "x >"},
         "expression x >, column 4: expected a number, a name or (, found the end");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_that_do_not_qualify_become_absent),
      cmocka_unit_test(a_step_keeps_what_its_condition_says),
      cmocka_unit_test(wrong_conditions_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
