/* where_test.c - what does not meet the condition becomes absent. */
#include "stream/op/where/weir_stream_where.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/stream/series_check.h"

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

static void run_step(const weir_stream_where_opts *o)
{
  series_run_step(&(series_step){&c, &weir_series_op_where, o, "mV", "mV", 0});
}

static void refuse(const char *keep, const char *message)
{
  const weir_stream_where_opts o = {.keep = keep};

  assert_string_equal(
      series_refusal(&(series_step){&c, &weir_series_op_where, &o, "mV", NULL, 0}, 1), message);
}

static void a_step_keeps_what_its_condition_says(void **state)
{
  const weir_stream_where_opts o = {.keep = "not (x < -0.5 mV or x > 0.25)"};
  weir_stream_where_opts all;

  (void)state;
  weir_opts_default(weir_series_op_where.opts, sizeof all, &all);
  series_draw(&c, 4, 0.3);
  run_step(&o);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const bool kept = c.present[t] && c.x[t] >= -0.5f && c.x[t] <= 0.25f;

    assert_int_equal(c.y_present[t], kept);
    assert_true(c.y[t] == (kept ? c.x[t] : 0.0f));
  }
  run_step(&all);
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
}

static void wrong_conditions_are_refused(void **state)
{
  (void)state;
  refuse("x + 1", "keep: the expression is a number: write a boolean such as x > 0");
  refuse("x >", "expression x >, column 4: expected a number, a name or (, found the end");
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
