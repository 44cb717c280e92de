/* weir_check_runner.h - a small test runner with the names of cmocka, for builds without cmocka.
 * Only what Weir's tests use; failures leave a test through longjmp, as in cmocka. */
#ifndef WEIR_CHECK_RUNNER_H
#define WEIR_CHECK_RUNNER_H
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
  const char *name;
  CMUnitTestFunction test_func;
  CMFixtureFunction setup_func, teardown_func;
  void *initial_state;
};

#define cmocka_unit_test(f) \
  {                         \
#f, f, NULL, NULL, NULL \
  }
#define cmocka_unit_test_setup(f, setup) \
  {                                      \
#f, f, setup, NULL, NULL             \
  }
#define cmocka_unit_test_teardown(f, teardown) \
  {                                            \
#f, f, NULL, teardown, NULL                \
  }
#define cmocka_unit_test_setup_teardown(f, setup, teardown) \
  {                                                         \
#f, f, setup, teardown, NULL                            \
  }
#define cmocka_unit_test_prestate(f, state) \
  {                                         \
#f, f, NULL, NULL, state                \
  }
#define cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, state) \
  {                                                                         \
#f, f, setup, teardown, state                                           \
  }

/* Runs the tests in order, each with its fixtures; returns how many failed. */
int weir_run_tests(const char *group, const struct CMUnitTest *tests, size_t n,
                   CMFixtureFunction group_setup, CMFixtureFunction group_teardown);
#define cmocka_run_group_tests(tests, setup, teardown) \
  weir_run_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
  weir_run_tests(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

/* These end the running test. */
void weir_check_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void weir_check_skip(const char *file, int line) __attribute__((noreturn));

void weir_check_true(int holds, const char *text, const char *file, int line);
void weir_check_int(long long a, long long b, int equal, const char *file, int line);
void weir_check_real(double a, double b, double epsilon, const char *file, int line);
void weir_check_string(const char *a, const char *b, int equal, const char *file, int line);
void weir_check_memory(const void *a, const void *b, size_t size, int equal, const char *file,
                       int line);
void weir_check_range(unsigned long long value, unsigned long long lo, unsigned long long hi,
                      int inside, const char *file, int line);
void weir_print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void weir_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define print_message weir_print_message
#define print_error weir_print_error
#define assert_true(c) weir_check_true(!!(c), #c, __FILE__, __LINE__)
#define assert_false(c) weir_check_true(!(c), "!(" #c ")", __FILE__, __LINE__)
#define assert_null(p) weir_check_true((p) == NULL, #p " is NULL", __FILE__, __LINE__)
#define assert_non_null(p) weir_check_true((p) != NULL, #p " is not NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b) \
  weir_check_true((const void *)(a) == (const void *)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b) \
  weir_check_true((const void *)(a) != (const void *)(b), #a " != " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b) weir_check_int((long long)(a), (long long)(b), 1, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) \
  weir_check_int((long long)(a), (long long)(b), 0, __FILE__, __LINE__)
#define assert_float_equal(a, b, epsilon) \
  weir_check_real((double)(a), (double)(b), (double)(epsilon), __FILE__, __LINE__)
#define assert_string_equal(a, b) weir_check_string((a), (b), 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) weir_check_string((a), (b), 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) weir_check_memory((a), (b), (size), 1, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) \
  weir_check_memory((a), (b), (size), 0, __FILE__, __LINE__)
#define assert_in_range(value, lo, hi)                                    \
  weir_check_range((unsigned long long)(value), (unsigned long long)(lo), \
                   (unsigned long long)(hi), 1, __FILE__, __LINE__)
#define assert_not_in_range(value, lo, hi)                                \
  weir_check_range((unsigned long long)(value), (unsigned long long)(lo), \
                   (unsigned long long)(hi), 0, __FILE__, __LINE__)
#define fail() weir_check_fail(__FILE__, __LINE__, "this line must not be reached")
#define fail_msg(...) weir_check_fail(__FILE__, __LINE__, __VA_ARGS__)
#define skip() weir_check_skip(__FILE__, __LINE__)
#endif
