/* weir_check_runner.c - the built-in runner. */
#include "base/weir_check_runner.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum outcome { PASSED, FAILED, SKIPPED };

/* Of each thread: those that are ranks run tests at the same time. */
static _Thread_local jmp_buf leave_test;
static _Thread_local int running; /* leave_test is set */

static void leave(enum outcome outcome) __attribute__((noreturn));
static void leave(enum outcome outcome)
{
  longjmp(leave_test, (int)outcome);
}

void weir_check_fail(const char *file, int line, const char *format, ...)
{
  va_list args;

  fprintf(stderr, "%s:%d: ", file, line);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  if (!running) {
    __builtin_trap(); /* asserted outside of a test */
  }
  leave(FAILED);
}

void weir_check_skip(const char *file, int line)
{
  fprintf(stderr, "%s:%d: skipped\n", file, line);
  leave(SKIPPED);
}

void weir_check_true(int holds, const char *text, const char *file, int line)
{
  if (!holds) {
    weir_check_fail(file, line, "does not hold: %s", text);
  }
}

void weir_check_int(long long a, long long b, int equal, const char *file, int line)
{
  if ((a == b) != equal) {
    weir_check_fail(file, line, "%lld (%#llx) %s %lld (%#llx)", a, (unsigned long long)a,
                    equal ? "!=" : "==", b, (unsigned long long)b);
  }
}

void weir_check_real(double a, double b, double epsilon, const char *file, int line)
{
  const double gap = a > b ? a - b : b - a;

  if (!(a == b || gap <= epsilon)) {
    weir_check_fail(file, line, "%.9g is not within %.3g of %.9g", a, epsilon, b);
  }
}

void weir_check_string(const char *a, const char *b, int equal, const char *file, int line)
{
  if (a == NULL || b == NULL) {
    weir_check_fail(file, line, "a string is NULL");
  }
  if ((strcmp(a, b) == 0) != equal) {
    weir_check_fail(file, line, "\"%s\" %s \"%s\"", a, equal ? "!=" : "==", b);
  }
}

void weir_check_memory(const void *a, const void *b, size_t size, int equal, const char *file,
                       int line)
{
  const unsigned char *x = a, *y = b;
  size_t at = 0;

  while (at < size && x[at] == y[at]) {
    at++;
  }
  if ((at == size) == equal) {
    return;
  }
  if (equal) {
    weir_check_fail(file, line, "byte %zu differs: 0x%02x != 0x%02x", at, x[at], y[at]);
  }
  weir_check_fail(file, line, "%zu bytes are the same", size);
}

void weir_check_range(unsigned long long value, unsigned long long lo, unsigned long long hi,
                      int inside, const char *file, int line)
{
  if ((value >= lo && value <= hi) != inside) {
    weir_check_fail(file, line, "%llu is %s [%llu, %llu]", value, inside ? "outside" : "inside", lo,
                    hi);
  }
}

void weir_print_message(const char *format, ...)
{
  va_list args;

  va_start(args, format);
  vfprintf(stdout, format, args);
  va_end(args);
  fflush(stdout);
}

void weir_print_error(const char *format, ...)
{
  va_list args;

  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
}

/* A step of a test under the protection of leave_test. */
static enum outcome guarded(CMUnitTestFunction test, CMFixtureFunction fixture, void **state)
{
  volatile enum outcome outcome = PASSED;

  const int left = setjmp(leave_test);
  if (left != 0) {
    running = 0;
    return (enum outcome)left;
  }
  running = 1;
  if (test != NULL) {
    test(state);
  }
  if (fixture != NULL && fixture(state) != 0) {
    outcome = FAILED;
  }
  running = 0;
  return outcome;
}

static enum outcome run_one(const struct CMUnitTest *t, void *state)
{
  void *own = t->initial_state != NULL ? t->initial_state : state;
  enum outcome outcome = guarded(NULL, t->setup_func, &own);

  if (outcome != PASSED) {
    return outcome;
  }
  outcome = guarded(t->test_func, NULL, &own);
  if (guarded(NULL, t->teardown_func, &own) == FAILED) {
    outcome = FAILED;
  }
  return outcome;
}

int weir_run_tests(const char *group, const struct CMUnitTest *tests, size_t n,
                   CMFixtureFunction group_setup, CMFixtureFunction group_teardown)
{
  static const char *const words[] = {"      OK", " FAILED ", " SKIPPED"}; /* as cmocka prints */
  int counts[3] = {0, 0, 0};
  void *state = NULL;

  if (guarded(NULL, group_setup, &state) != PASSED) {
    fprintf(stderr, "%s: the set-up of the group failed\n", group);
    return (int)n;
  }
  for (size_t i = 0; i < n; i++) {
    fprintf(stderr, "[ RUN      ] %s\n", tests[i].name);
    const enum outcome outcome = run_one(&tests[i], state);
    counts[outcome]++;
    fflush(stdout);
    fprintf(stderr, "[ %s ] %s\n", words[outcome], tests[i].name);
  }
  if (guarded(NULL, group_teardown, &state) != PASSED) {
    fprintf(stderr, "%s: the tear-down of the group failed\n", group);
    counts[FAILED]++;
  }
  fprintf(stderr, "%s: %d passed, %d failed, %d skipped\n", group, counts[PASSED], counts[FAILED],
          counts[SKIPPED]);
  return counts[FAILED];
}
