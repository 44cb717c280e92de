/* name_test.c - the nearest name, the list of names, and nothing. */
#include <string.h>
#include "base/weir_check.h"
#include "conf/weir_name.h"

static void suggested(const char *name, int64_t n, const char *expected)
{
  static const char *const names[] = {"fill_mean", "fill_const", "resample"};
  char text[128];

  weir_name_suggest(name, names, n, text, sizeof text);
  assert_string_equal(text, expected);
}

static void a_near_name_is_suggested_and_else_all_are_listed(void **state)
{
  suggested("fill_men", 3, " (nearest: fill_mean)");
  suggested("resmaple", 3, " (nearest: resample)");
  suggested("resample", 3, " (nearest: resample)");
  suggested("qqqqqqqqqqqqqqqqqqqq", 3, " (there are: fill_mean, fill_const, resample)");
  suggested("x", 0, "");
  suggested("zzzzzzzzzzzzzzz", 1, " (there are: fill_mean)");
}

static void a_small_buffer_is_never_overrun(void **state)
{
  static const char *const names[] = {"fill_mean", "fill_const"};
  char text[16];

  for (size_t size = 1; size <= sizeof text; size++) {
    memset(text, 'x', sizeof text);
    weir_name_suggest("qqqqqqqqqqqqqqqqqqqq", names, 2, text, size);
    assert_true(strlen(text) < size);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_near_name_is_suggested_and_else_all_are_listed),
      cmocka_unit_test(a_small_buffer_is_never_overrun),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
