/* run_log_test.c - what weir_event writes is read back; what is no event is skipped, with its line.
 */
#include "report/report_priv.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_random.h"

static weir_status parse_bytes(const char *text, size_t size, weir_run_log *log)
{
  char *copy = NULL;

  WEIR_TRY(weir_alloc((int64_t)size + 1, 1, (void **)&copy));
  memcpy(copy, text, size);
  return report_parse_log(copy, (int64_t)size, "t.jsonl", log);
}

static weir_status parse(const char *text, weir_run_log *log)
{
  return parse_bytes(text, strlen(text), log);
}

static void written_events_come_back(void **state)
{
  char dir[256], path[512], text[64];
  weir_run_log log = {0};

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_path_join(dir, "run.jsonl", path, sizeof path));
  assert_ok(weir_events_open(path));
  weir_event("start", WEIR_TEXT("what", "a \"b\"\n\\ \xC3\xA9 \x01"), WEIR_INT("n", INT64_MIN));
  weir_event("end", WEIR_REAL("x", 0.1), WEIR_BOOLEAN("ok", 1), WEIR_REAL("nan", 0.0 / 0.0),
             WEIR_INT("n", 7));
  weir_events_close();
  assert_ok(weir_run_log_read(path, &log));
  assert_int_equal(log.count, 2);
  assert_string_equal(weir_run_event_field(&log.events[0], "what")->text,
                      "a \"b\"\n\\ \xC3\xA9 \x01");
  assert_true(weir_run_event_field(&log.events[0], "n")->integer == INT64_MIN);
  const weir_run_event *end = weir_run_log_last(&log, "end");
  assert_true(weir_run_event_real(end, "x", -1) == 0.1);
  assert_true(weir_run_event_real(end, "n", -1) == 7);
  assert_true(weir_run_event_real(end, "absent", -1) == -1);
  assert_int_equal(weir_run_event_field(end, "nan")->kind, 'n');
  assert_string_equal(weir_run_event_text(end, "ok", text, sizeof text), "true");
  assert_string_equal(weir_run_event_text(end, "x", text, sizeof text), "0.1");
  assert_string_equal(weir_run_event_text(end, "nan", text, sizeof text), "");
  assert_null(weir_run_log_last(&log, "missing"));
  weir_run_log_fini(&log);
  weir_check_rmdir(dir);
}

static void escapes_are_decoded(void **state)
{
  weir_run_log log = {0};

  assert_ok(parse("{\"event\":\"e\",\"t\":\"\\u00e9\\uD83D\\uDE00\\/\\t\"}\n", &log));
  assert_string_equal(weir_run_event_field(&log.events[0], "t")->text,
                      "\xC3\xA9\xF0\x9F\x98\x80/\t");
  weir_run_log_fini(&log);
}

static void an_unfinished_last_line_is_left_out(void **state)
{
  weir_run_log log = {0};

  assert_ok(parse("{\"event\":\"a\"}\n{\"event\":\"b", &log));
  assert_int_equal(log.count, 1);
  weir_run_log_fini(&log);
  assert_ok(parse("", &log));
  assert_int_equal(log.count, 0);
  weir_run_log_fini(&log);
}

static void wrong_lines_are_skipped_with_their_number(void **state)
{
  static const char *const wrong[] = {
      "",
      "[]",
      "{",
      "{}",
      "{\"event\":1}",
      "{\"event\":\"a\",}",
      "{\"event\":\"a\"} x",
      "{\"event\":\"a\",\"event\":\"b\"}",
      "{\"event\":\"a\",\"b\":{}}",
      "{\"event\":\"a\",\"b\":[1]}",
      "{\"event\":\"a\",\"b\":01}",
      "{\"event\":\"a\",\"b\":+1}",
      "{\"event\":\"a\",\"b\":nan}",
      "{\"event\":\"a\",\"b\":}",
      "{\"event\":\"a\",\"b\":\"\\x\"}",
      "{\"event\":\"a\",\"b\":\"\\u0000\"}",
      "{\"event\":\"a\",\"b\":\"\\uD800\"}",
      "{\"event\":\"a\",\"b\":\"\\uDC00\"}",
      "{\"event\":\"a\",\"b\":\"\\u12\"}",
      "{\"event\":\"a\",\"b\":\"\\",
      "{\"event\":\"a\",\"b\":\"\t\"}",
      "{\"event\" \"a\"}",
      "{event:\"a\"}",
  };

  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char text[256];
    weir_run_log log = {0};

    (void)snprintf(text, sizeof text, "\n%s\n", wrong[i]);
    assert_int_equal(parse(text, &log), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "t.jsonl:1: "));
    assert_null(log.memory);
    (void)snprintf(text, sizeof text,
                   "{\"event\":\"good\",\"n\":1}\n%s\n{\"event\":\"after\",\"n\":3}\n%s\n",
                   wrong[i], wrong[i]);
    assert_ok(parse(text, &log));
    assert_int_equal(log.count, 2);
    assert_int_equal(log.skipped, 2);
    assert_non_null(strstr(log.why, "t.jsonl:2: "));
    assert_true(weir_run_event_real(weir_run_log_last(&log, "good"), "n", 0) == 1);
    assert_true(weir_run_event_real(weir_run_log_last(&log, "after"), "n", 0) == 3);
    weir_run_log_fini(&log);
  }
}

/* Damaged text is read or refused, never more. */
static void random_damage_is_survived(void **state)
{
  static const char good[] =
      "{\"event\":\"run_end\",\"time_s\":1.5,\"t\":\"\\u00e9\\n\",\"b\":true}\n";
  int refused = 0;

  for (uint64_t seed = 0; seed < 20000; seed++) {
    char text[sizeof good];
    weir_run_log log = {0};

    memcpy(text, good, sizeof good);
    for (uint64_t k = 0; k < 1 + seed % 3; k++) {
      text[weir_random_bits(seed, 1, 0, k) % (sizeof good - 1)] =
          (char)weir_random_bits(seed, 2, 0, k);
    }
    const weir_status status = parse_bytes(text, sizeof good - 1, &log);
    refused += status != WEIR_OK;
    weir_run_log_fini(&log);
  }
  assert_true(refused > 5000);
}

static weir_status make(void *context)
{
  weir_run_log log = {0};

  WEIR_TRY(parse("{\"event\":\"a\"}\n{\"event\":\"b\",\"c\":1}\n", &log));
  weir_run_log_fini(&log);
  return WEIR_OK;
}

static void every_fault_of_memory_is_reported(void **state)
{
  assert_true(weir_check_faults(make, NULL) >= 4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(written_events_come_back),
      cmocka_unit_test(escapes_are_decoded),
      cmocka_unit_test(an_unfinished_last_line_is_left_out),
      cmocka_unit_test(wrong_lines_are_skipped_with_their_number),
      cmocka_unit_test(random_damage_is_survived),
      cmocka_unit_test(every_fault_of_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
