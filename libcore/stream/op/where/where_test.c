/* where_test.c - what does not meet the condition becomes absent. */
#include "stream/op/where/weir_stream_where.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/series_check.h"

static weir_series build(weir_graph *g, weir_series s, const void *context)
{
  return weir_stream_where(g, s, weir_gt_scalar(g, s.value, 0.25));
}

static void samples_that_do_not_qualify_become_absent(void **state)
{
  static series_case c;

  series_draw(&c, 2, 0.3);
  series_run_whole(&c, build, NULL);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const bool kept = c.present[t] && c.x[t] > 0.25f;

    assert_int_equal(c.y_present[t], kept);
    assert_true(c.y[t] == (kept ? c.x[t] : 0.0f));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(samples_that_do_not_qualify_become_absent)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
