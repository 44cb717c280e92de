/* weir_status_test.c - records, traces and their limits. */
#include <string.h>

#include "base/weir_check.h"

static weir_status inner(int value)
{
  return weir_fail(WEIR_ERR_SHAPE, "filter has %d channels", value);
}

static weir_status middle(int value)
{
  WEIR_TRY(inner(value));
  return WEIR_OK;
}

static weir_status outer(int value, int *freed)
{
  weir_status status;

  WEIR_TRY_GOTO(middle(value), done);
done:
  *freed = 1;
  return status;
}

static void trace_of_last_failure(char *text, size_t size)
{
  FILE *out = tmpfile();

  assert_non_null(out);
  weir_print_trace(out);
  rewind(out);
  text[fread(text, 1, size - 1, out)] = 0;
  fclose(out);
}

static void failure_carries_message_code_and_callers(void **state)
{
  char text[4096];
  int freed = 0;

  assert_int_equal(outer(7, &freed), WEIR_ERR_SHAPE);
  assert_int_equal(freed, 1);
  assert_string_equal(weir_last_message(), "filter has 7 channels");
  trace_of_last_failure(text, sizeof text);
  const char *in = strstr(text, "in inner (");
  const char *first = strstr(text, "called by middle (");
  const char *second = strstr(text, "called by outer (");
  assert_true(in != NULL && first > in && second > first);
  assert_non_null(strstr(text, weir_status_text(WEIR_ERR_SHAPE)));
}

static void new_failure_replaces_the_old_and_clear_forgets(void **state)
{
  char text[64];

  assert_int_equal(weir_fail(WEIR_ERR_DATA, "first"), WEIR_ERR_DATA);
  assert_int_equal(weir_fail(WEIR_ERR_CONFIG, "second after %s", weir_last_message()),
                   WEIR_ERR_CONFIG);
  assert_string_equal(weir_last_message(), "second after first");
  weir_clear_failure();
  assert_string_equal(weir_last_message(), "");
  trace_of_last_failure(text, sizeof text);
  assert_string_equal(text, "");
}

static weir_status refuse_short(void)
{
  WEIR_TRY(weir_fail_option(weir_fail(WEIR_ERR_DATA, "the file is truncated"), "allow_short"));
  return WEIR_OK;
}

static void option_belongs_to_the_last_failure(void **state)
{
  weir_clear_failure();
  assert_string_equal(weir_last_option(), "");
  assert_int_equal(refuse_short(), WEIR_ERR_DATA);
  assert_string_equal(weir_last_option(), "allow_short");
  assert_string_equal(weir_last_message(), "the file is truncated");
  assert_int_equal(weir_fail(WEIR_ERR_DATA, "another"), WEIR_ERR_DATA);
  assert_string_equal(weir_last_option(), "");
  assert_int_equal(refuse_short(), WEIR_ERR_DATA);
  weir_clear_failure();
  assert_string_equal(weir_last_option(), "");
}

static void status_without_a_record_gets_its_text(void **state)
{
  weir_clear_failure();
  assert_int_equal(weir_trace_at(WEIR_ERR_EXTERNAL, "x.c", 1, "f"), WEIR_ERR_EXTERNAL);
  assert_string_equal(weir_last_message(), weir_status_text(WEIR_ERR_EXTERNAL));
}

static weir_status recurse(int depth)
{
  if (depth == 0) {
    return inner(0);
  }
  WEIR_TRY(recurse(depth - 1));
  return WEIR_OK;
}

static void long_messages_and_deep_traces_are_cut_not_overrun(void **state)
{
  char text[16384], big[8192];

  memset(big, 'x', sizeof big - 1);
  big[sizeof big - 1] = 0;
  assert_int_equal(weir_fail(WEIR_ERR_DATA, "%s", big), WEIR_ERR_DATA);
  const size_t length = strlen(weir_last_message());
  assert_true(length > 1000 && length < sizeof big - 1);
  assert_string_equal(weir_last_message() + length - 3, "...");
  assert_int_equal(recurse(100), WEIR_ERR_SHAPE);
  trace_of_last_failure(text, sizeof text);
  assert_non_null(strstr(text, "more callers"));
}

static void every_code_has_a_text(void **state)
{
#define X(name, code, text) assert_string_equal(weir_status_text(name), text);
  WEIR_STATUS_LIST(X)
#undef X
  assert_string_equal(weir_status_text((weir_status)99), "unknown status");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(failure_carries_message_code_and_callers),
      cmocka_unit_test(new_failure_replaces_the_old_and_clear_forgets),
      cmocka_unit_test(option_belongs_to_the_last_failure),
      cmocka_unit_test(status_without_a_record_gets_its_text),
      cmocka_unit_test(long_messages_and_deep_traces_are_cut_not_overrun),
      cmocka_unit_test(every_code_has_a_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
