/* weir_span_test.c - nesting, sums by name, threads and limits. */
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "base/weir_log.h"
#include "device/weir_parallel.h"

static const weir_span_row *find(const weir_span_row *rows, int n, const char *name)
{
  for (int i = 0; i < n; i++) {
    if (strcmp(rows[i].name, name) == 0) {
      return &rows[i];
    }
  }
  fail_msg("no span %s", name);
  return NULL;
}

static void spin(double seconds)
{
  const double end = weir_clock() + seconds;

  while (weir_clock() < end) {
  }
}

static void nested_spans_sum_by_name(void **state)
{
  weir_span_row rows[8];
  char name[8] = "inner"; /* names are copied: the caller may reuse the memory */

  weir_span_reset();
  for (int i = 0; i < 3; i++) {
    weir_span_begin("exec", "outer");
    for (int k = 0; k < 2; k++) {
      strcpy(name, "inner");
      weir_span_begin("ops", name);
      strcpy(name, "gone");
      spin(1e-3);
      weir_span_end(10, 100);
    }
    spin(1e-3);
    weir_span_end(1, 2);
  }
  assert_int_equal(weir_span_table(rows, 8), 2);
  const weir_span_row *outer = find(rows, 2, "outer"), *inner = find(rows, 2, "inner");
  assert_ptr_equal(outer, &rows[0]); /* slowest first: the outer time includes the inner */
  assert_int_equal(outer->calls, 3);
  assert_int_equal(outer->flops, 3);
  assert_int_equal(outer->bytes, 6);
  assert_string_equal(outer->module, "exec");
  assert_int_equal(inner->calls, 6);
  assert_int_equal(inner->flops, 60);
  assert_int_equal(inner->bytes, 600);
  assert_true(inner->seconds >= 6e-3 && outer->seconds >= inner->seconds + 3e-3);
  assert_int_equal(weir_span_table(rows, 0), 2);
}

static void same_name_in_another_room_is_another_row(void **state)
{
  weir_span_row rows[4];

  weir_span_reset();
  weir_span_begin("a", "x");
  weir_span_begin("b", "x");
  weir_span_end(0, 0);
  weir_span_end(0, 0);
  assert_int_equal(weir_span_table(rows, 4), 2);
}

static void one_item(void *context, int64_t item, int thread)
{
  weir_span_begin("test", "outer");
  weir_span_begin("test", item % 2 == 0 ? "even" : "odd");
  weir_span_end(item, 0);
  weir_span_end(0, 1);
}

static void spans_of_all_threads_are_summed(void **state)
{
  weir_span_row rows[4];

  weir_span_reset();
  weir_parallel(1000, 0, one_item, NULL);
  assert_int_equal(weir_span_table(rows, 4), 3);
  assert_int_equal(find(rows, 3, "outer")->calls, 1000);
  assert_int_equal(find(rows, 3, "outer")->bytes, 1000);
  assert_int_equal(find(rows, 3, "even")->flops + find(rows, 3, "odd")->flops, 499500);
}

static void too_many_names_share_one_row(void **state)
{
  static weir_span_row rows[2000];
  char name[200];
  int64_t calls = 0;

  weir_span_reset();
  memset(name, 'n', sizeof name);
  for (int i = 0; i < 1500; i++) {
    snprintf(name, sizeof name, "%d", i);
    weir_span_begin("test", name);
    weir_span_end(0, 0);
  }
  const int n = weir_span_table(rows, 2000);
  for (int i = 0; i < n; i++) {
    calls += rows[i].calls;
  }
  assert_true(n < 1500);
  assert_int_equal(calls, 1500);
  assert_true(find(rows, n, "other spans")->calls > 1);
  weir_span_reset();
}

static void deep_nesting_stays_balanced(void **state)
{
  weir_span_row rows[2];

  weir_span_reset();
  for (int i = 0; i < 200; i++) {
    weir_span_begin("test", "deep");
  }
  for (int i = 0; i < 200; i++) {
    weir_span_end(0, 1);
  }
  weir_span_begin("test", "deep");
  weir_span_end(0, 1);
  assert_int_equal(weir_span_table(rows, 2), 1);
  assert_true(rows[0].calls > 60 && rows[0].calls <= 201);
}

static void long_names_stay_one_row(void **state)
{
  weir_span_row rows[2];
  char name[200];

  weir_span_reset();
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = 0;
  for (int i = 0; i < 3; i++) {
    weir_span_begin("a module with a name that is far too long", name);
    weir_span_end(0, 0);
  }
  assert_int_equal(weir_span_table(rows, 2), 1);
  assert_int_equal(rows[0].calls, 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nested_spans_sum_by_name),
      cmocka_unit_test(same_name_in_another_room_is_another_row),
      cmocka_unit_test(spans_of_all_threads_are_summed),
      cmocka_unit_test(too_many_names_share_one_row),
      cmocka_unit_test(deep_nesting_stays_balanced),
      cmocka_unit_test(long_names_stay_one_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
