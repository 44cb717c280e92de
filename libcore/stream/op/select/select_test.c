/* select_test.c - the function where a sample is, 0 where none is. */
#include "stream/op/select/weir_stream_select.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/series_check.h"

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_select(g, s, weir_add_scalar(g, s.value, 3));
}

static void a_function_is_applied_to_present_samples(void **state)
{
  static series_case c;

  series_draw(&c, 1, 0.4);
  series_run_whole(&c, build, NULL);
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    assert_true(c.y[t] == (c.present[t] ? c.x[t] + 3.0f : 0.0f));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_function_is_applied_to_present_samples)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
