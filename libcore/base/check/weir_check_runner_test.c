/* weir_check_runner_test.c - the built-in runner, also where cmocka runs the other tests. */
#include "base/weir_check_runner.h"

#include <stdio.h>
#include <string.h>

static int set_ups, tear_downs, after_failure;

static void passes(void **state)
{
  const char bytes[] = {1, 2, 3};
  const char same[] = {1, 2, 3};

  assert_true(1 + 1 == 2);
  assert_false(0);
  assert_null(NULL);
  assert_non_null(state);
  assert_int_equal(-1, -1L);
  assert_int_not_equal(1, 2);
  assert_float_equal(0.1f + 0.2f, 0.3f, 1e-6f);
  assert_string_equal("abc", "abc");
  assert_string_not_equal("abc", "abd");
  assert_memory_equal(bytes, same, sizeof bytes);
  assert_memory_not_equal(bytes, "xyz", 3);
  assert_ptr_equal(bytes, bytes);
  assert_ptr_not_equal(bytes, same);
  assert_in_range(5, 5, 6);
  assert_not_in_range(7, 5, 6);
}

/* One test for each way to fail: that many failures are expected, and no line after one runs. */
#define FAILING(name, ...)       \
  static void name(void **state) \
  {                              \
    __VA_ARGS__;                 \
    after_failure++;             \
  }
FAILING(fails_true, assert_true(0))
FAILING(fails_false, assert_false(1))
FAILING(fails_null, assert_null(state))
FAILING(fails_non_null, assert_non_null(NULL))
FAILING(fails_int, assert_int_equal(1, 2))
FAILING(fails_int_not, assert_int_not_equal(3, 3))
FAILING(fails_wide_int, assert_int_equal(0, 1LL << 40))
FAILING(fails_float, assert_float_equal(1.0f, 1.1f, 0.01f))
FAILING(fails_nan, assert_float_equal(1.0f, __builtin_nanf(""), 1e9f))
FAILING(fails_string, assert_string_equal("abc", "abd"))
FAILING(fails_memory, assert_memory_equal("abc", "abd", 3))
FAILING(fails_range, assert_in_range(7, 5, 6))
FAILING(fails_by_word, fail_msg("on purpose: %d", 1))

static void skips(void **state)
{
  skip();
}

static int set_up(void **state)
{
  static int value = 41;

  set_ups++;
  *state = &value;
  return 0;
}

static int tear_down(void **state)
{
  tear_downs++;
  return *(int *)*state == 41 ? 0 : 1;
}

static int broken_fixture(void **state)
{
  return 1;
}

static void uses_state(void **state)
{
  assert_int_equal(*(int *)*state, 41);
}

static int expect(const char *what, int got, int expected)
{
  if (got != expected) {
    fprintf(stderr, "%s: got %d, expected %d\n", what, got, expected);
  }
  return got != expected;
}

int main(void)
{
  const struct CMUnitTest good[] = {
      cmocka_unit_test(passes),
      cmocka_unit_test(skips),
      cmocka_unit_test_setup_teardown(uses_state, set_up, tear_down),
  };
  const struct CMUnitTest bad[] = {
      cmocka_unit_test(fails_true),     cmocka_unit_test(fails_false),
      cmocka_unit_test(fails_null),     cmocka_unit_test(fails_non_null),
      cmocka_unit_test(fails_int),      cmocka_unit_test(fails_int_not),
      cmocka_unit_test(fails_wide_int), cmocka_unit_test(fails_float),
      cmocka_unit_test(fails_nan),      cmocka_unit_test(fails_string),
      cmocka_unit_test(fails_memory),   cmocka_unit_test(fails_range),
      cmocka_unit_test(fails_by_word),
  };
  const struct CMUnitTest fixtures[] = {
      cmocka_unit_test_setup_teardown(uses_state, broken_fixture, tear_down),
      cmocka_unit_test_setup_teardown(fails_int, set_up, tear_down),
      cmocka_unit_test_teardown(passes, broken_fixture),
      cmocka_unit_test(passes),
  };
  int wrong = 0;

  /* The groups fail on purpose: to whoever counts tests they are one test. */
  fprintf(stderr, "[ RUN      ] every_outcome_is_told\n");
  wrong += expect("good tests", cmocka_run_group_tests(good, NULL, NULL), 0);
  wrong += expect("bad tests", cmocka_run_group_tests(bad, NULL, NULL), 13);
  wrong += expect("fixtures", cmocka_run_group_tests(fixtures, set_up, tear_down), 3);
  wrong += expect("set-ups", set_ups, 3);
  wrong += expect("tear-downs", tear_downs, 3);
  wrong += expect("group without set-up", cmocka_run_group_tests(good, broken_fixture, NULL), 3);
  wrong += expect("lines after a failure", after_failure, 0);
  fprintf(stderr, "[ %s ] every_outcome_is_told\n", wrong == 0 ? "      OK" : " FAILED ");
  return wrong;
}
