/* weir_log_test.c - messages reach the sink, events are JSON lines, progress stays quiet. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_random.h"

struct heard {
  int n;
  weir_log_level level;
  char module[16], text[8192];
};

static void hear(void *context, weir_log_level level, const char *module, const char *text)
{
  struct heard *h = context;

  h->n++;
  h->level = level;
  snprintf(h->module, sizeof h->module, "%s", module);
  snprintf(h->text, sizeof h->text, "%s", text);
}

static void levels_filter_messages(void **state)
{
  struct heard h = {0};
  char big[6000];

  weir_log_set_sink(hear, &h);
  weir_debug("base", "dropped");
  assert_int_equal(h.n, 0);
  weir_info("io", "%d records", 3);
  assert_int_equal(h.n, 1);
  assert_int_equal(h.level, WEIR_LOG_INFO);
  assert_string_equal(h.module, "io");
  assert_string_equal(h.text, "3 records");
  weir_log_set_level(WEIR_LOG_ERROR);
  weir_warn("io", "dropped");
  weir_info("io", "dropped");
  assert_int_equal(h.n, 1);
  weir_error("io", "kept");
  assert_int_equal(h.n, 2);
  weir_log_set_level(WEIR_LOG_DEBUG);
  memset(big, 'x', sizeof big - 1);
  big[sizeof big - 1] = 0;
  weir_debug("io", "%s", big);
  assert_int_equal(h.n, 3);
  assert_string_equal(h.text + strlen(h.text) - 3, "...");
  weir_log_set_level(WEIR_LOG_INFO);
  weir_log_set_sink(NULL, NULL);
}

static void level_names_are_found_or_refused(void **state)
{
  weir_log_level level = WEIR_LOG_INFO;

  assert_ok(weir_log_level_find("debug", &level));
  assert_int_equal(level, WEIR_LOG_DEBUG);
  assert_int_equal(weir_log_level_find("loud", &level), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "debug"));
}

/* A reader of the JSON that events are made of: flat objects. Each function returns a pointer
 * past the text read, NULL when that is not JSON (RFC 8259). */
static const char *json_string(const char *s)
{
  if (*s++ != '"') {
    return NULL;
  }
  while (*s != '"') {
    if ((unsigned char)*s < 0x20) {
      return NULL;
    }
    if (*s == '\\') {
      s++;
      if (*s == 'u') {
        if (strspn(s + 1, "0123456789abcdefABCDEF") < 4) {
          return NULL;
        }
        s += 4;
      } else if (*s == 0 || strchr("\"\\/bfnrt", *s) == NULL) {
        return NULL;
      }
    }
    s++;
  }
  return s + 1;
}

static const char *json_number(const char *s)
{
  s += *s == '-';
  const size_t digits = strspn(s, "0123456789");
  if (digits == 0 || (digits > 1 && *s == '0')) {
    return NULL;
  }
  s += digits;
  if (*s == '.') {
    const size_t fraction = strspn(s + 1, "0123456789");
    if (fraction == 0) {
      return NULL;
    }
    s += 1 + fraction;
  }
  if (*s == 'e' || *s == 'E') {
    s++;
    s += *s == '+' || *s == '-';
    const size_t exponent = strspn(s, "0123456789");
    return exponent == 0 ? NULL : s + exponent;
  }
  return s;
}

static const char *json_value(const char *s)
{
  static const char *const words[] = {"true", "false", "null"};

  for (int i = 0; i < 3; i++) {
    if (strncmp(s, words[i], strlen(words[i])) == 0) {
      return s + strlen(words[i]);
    }
  }
  return *s == '"' ? json_string(s) : json_number(s);
}

static int is_json_object(const char *s)
{
  if (*s++ != '{') {
    return 0;
  }
  for (;;) {
    s = json_string(s);
    if (s == NULL || strncmp(s, ": ", 2) != 0) {
      return 0;
    }
    s = json_value(s + 2);
    if (s == NULL) {
      return 0;
    }
    if (strcmp(s, "}") == 0) {
      return 1;
    }
    if (strncmp(s, ", ", 2) != 0) {
      return 0;
    }
    s += 2;
  }
}

/* Writes events with `write`, checks that the file holds n lines of JSON, gives the text. */
static void events_of(void (*write)(void), int n, char *text, size_t size)
{
  char dir[256], path[512], *data, *rest;
  int64_t bytes;
  int lines = 0;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_path_join(dir, "run.jsonl", path, sizeof path));
  assert_ok(weir_events_open(path));
  write();
  weir_events_close();
  assert_ok(weir_file_read(path, 1 << 20, &data, &bytes));
  snprintf(text, size, "%s", data);
  for (char *line = strtok_r(data, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    if (!is_json_object(line)) {
      fail_msg("not JSON: %s", line);
    }
    lines++;
  }
  assert_int_equal(lines, n);
  weir_free(&data);
  weir_check_rmdir(dir);
}

static void write_kinds(void)
{
  weir_event("kinds", WEIR_TEXT("t", "quote \" slash \\ line\nfeed\ttab \x01 end"),
             WEIR_INT("i", INT64_MIN), WEIR_REAL("r", 0.1), WEIR_REAL("nan", NAN),
             WEIR_REAL("inf", -INFINITY), WEIR_BOOLEAN("b", true), WEIR_TEXT("none", NULL));
  weir_event_fields("empty", NULL, 0);
}

static void kinds_are_written_as_json(void **state)
{
  char text[2048];

  events_of(write_kinds, 2, text, sizeof text);
  assert_non_null(strstr(text, "{\"event\": \"kinds\", \"time_s\": 0."));
  assert_non_null(strstr(text, "\"t\": \"quote \\\" slash \\\\ line\\nfeed\\ttab \\u0001 end\""));
  assert_non_null(strstr(text, "\"i\": -9223372036854775808, \"r\": 0.1, \"nan\": null, "
                               "\"inf\": null, \"b\": true, \"none\": null}"));
}

/* A killed run may leave half a line after whole ones. */
static void a_log_is_gone_on_with_behind_its_last_whole_line(void **state)
{
  static const char *const left[] = {"", "{\"event\": \"a\"}\n", "{\"event\": \"a\"}\n{\"eve",
                                     "{\"ev"};
  static const int kept[] = {0, 1, 1, 0};
  char dir[256], path[512], *text;
  int64_t size;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_path_join(dir, "run.jsonl", path, sizeof path));
  assert_int_equal(weir_events_append(path), WEIR_ERR_DATA);
  for (int i = 0; i < 4; i++) {
    weir_check_write(path, left[i], strlen(left[i]));
    assert_ok(weir_events_append(path));
    weir_event("b", WEIR_INT("n", 1));
    weir_events_close();
    assert_ok(weir_file_read(path, 1 << 20, &text, &size));
    assert_int_equal(strncmp(text, "{\"event\": \"a\"}\n", 15) == 0, kept[i]);
    assert_non_null(strstr(text, "{\"event\": \"b\""));
    assert_int_equal(strstr(text, "{\"event\": \"b\"") - text, kept[i] ? 15 : 0);
    weir_free(&text);
  }
  weir_check_rmdir(dir);
}

static void write_unicode(void)
{
  weir_event("utf8", WEIR_TEXT("good", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x92\x93"),
             WEIR_TEXT("bad", "a\xFF"
                              "b\xC3"),
             WEIR_TEXT("overlong", "\xC0\xAF"), WEIR_TEXT("surrogate", "\xED\xA0\x80"),
             WEIR_TEXT("high", "\xF4\x90\x80\x80"));
}

static void utf8_passes_and_other_bytes_are_replaced(void **state)
{
#define GONE "\xEF\xBF\xBD"
  char text[2048];

  events_of(write_unicode, 1, text, sizeof text);
  assert_non_null(strstr(text, "\"good\": \"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x92\x93\""));
  assert_non_null(strstr(text, "\"bad\": \"a" GONE "b" GONE "\""));
  assert_non_null(strstr(text, "\"overlong\": \"" GONE GONE "\""));
  assert_non_null(strstr(text, "\"surrogate\": \"" GONE GONE GONE "\""));
  assert_non_null(strstr(text, "\"high\": \"" GONE GONE GONE GONE "\""));
#undef GONE
}

static void write_random_bytes(void)
{
  for (uint32_t n = 0; n < 200; n++) {
    char key[20] = "", value[60] = "";
    for (uint64_t i = 0; i < sizeof value - 1; i++) {
      value[i] = (char)weir_random_bits(21, 0, n, i);
    }
    memcpy(key, value + 10, sizeof key - 1);
    union {
      uint64_t bits;
      double real;
    } number = {.bits = weir_random_bits(21, 1, n, 0)};
    weir_event(key, WEIR_TEXT(key, value), WEIR_REAL("x", number.real));
  }
}

static void any_bytes_and_reals_give_json(void **state)
{
  char text[64];

  events_of(write_random_bytes, 200, text, sizeof text);
}

static void add_up(void *context, const char *name, const weir_field *fields, int n)
{
  for (int i = 0; i < n && strcmp(name, "seen") == 0; i++) {
    *(int64_t *)context += fields[i].integer;
  }
}

/* A watcher has every event until it goes, with and without a file. */
static void events_are_watched(void **state)
{
  char dir[256], path[512];
  int64_t sum = 0;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_path_join(dir, "run.jsonl", path, sizeof path));
  weir_events_subscribe(add_up, &sum);
  weir_event("seen", WEIR_INT("a", 1), WEIR_INT("b", 2));
  weir_event("other", WEIR_INT("a", 100));
  assert_ok(weir_events_open(path));
  weir_event("seen", WEIR_INT("a", 4));
  weir_events_close();
  weir_events_subscribe(NULL, NULL);
  weir_event("seen", WEIR_INT("a", 8));
  assert_int_equal(sum, 7);
  weir_check_rmdir(dir);
}

static void events_without_a_file_are_dropped_and_bad_places_refused(void **state)
{
  write_kinds();
  assert_int_equal(weir_events_open("/no/such/dir/run.jsonl"), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "/no/such/dir/run.jsonl"));
  write_kinds();
  weir_events_close();
}

static void limit_files(rlim_t bytes)
{
  struct rlimit limit;

  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A limit on its size stands in for a full disk: the line that does not fit leaves no part, what
 * comes after is written again, and the failure is not forgotten. */
static void an_event_file_without_space_holds_whole_lines(void **state)
{
  char dir[256], path[512], *data, *rest = NULL;
  int64_t bytes;
  int lines = 0;

  (void)state;
  (void)signal(SIGXFSZ, SIG_IGN);
  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_path_join(dir, "run.jsonl", path, sizeof path));
  assert_ok(weir_events_open(path));
  weir_event("first", WEIR_INT("n", 1));
  assert_ok(weir_events_status());
  limit_files(100);
  for (int i = 0; i < 20; i++) {
    weir_event("lost", WEIR_TEXT("text", "of more than a hundred bytes, with the first line"));
  }
  limit_files(RLIM_INFINITY);
  weir_event("last", WEIR_INT("n", 2));
  assert_int_equal(weir_events_status(), WEIR_ERR_SPACE);
  assert_non_null(strstr(weir_last_message(), path));
  weir_events_close();
  assert_ok(weir_file_read(path, 1 << 20, &data, &bytes));
  for (char *line = strtok_r(data, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    assert_true(is_json_object(line));
    lines++;
  }
  assert_int_equal(lines, 2);
  weir_free(&data);
  assert_ok(weir_events_open(path));
  assert_ok(weir_events_status());
  weir_events_close();
  weir_check_rmdir(dir);
}

/* What weir_progress and messages print while stderr is a file. */
static void progress_is_quiet_without_a_terminal(void **state)
{
  char dir[256], path[512], *data;
  int64_t bytes;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_path_join(dir, "stderr", path, sizeof path));
  fflush(stderr);
  const int keep = dup(STDERR_FILENO);
  const int file = open(path, O_WRONLY | O_CREAT, 0600);
  assert_true(keep >= 0 && file >= 0);
  dup2(file, STDERR_FILENO);
  for (int64_t i = 0; i <= 1000; i++) {
    weir_progress("chunks", i, 1000, "chunks");
  }
  weir_warn("stream", "gap of %d s", 4);
  dup2(keep, STDERR_FILENO);
  close(keep);
  close(file);
  assert_ok(weir_file_read(path, 4096, &data, &bytes));
  assert_int_equal(strncmp(data, "chunks: 1000 of 1000 chunks (100 %)", 35), 0);
  assert_string_equal(strchr(data, '\n') + 1, "stream: warning: gap of 4 s\n");
  weir_free(&data);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_filter_messages),
      cmocka_unit_test(level_names_are_found_or_refused),
      cmocka_unit_test(kinds_are_written_as_json),
      cmocka_unit_test(a_log_is_gone_on_with_behind_its_last_whole_line),
      cmocka_unit_test(utf8_passes_and_other_bytes_are_replaced),
      cmocka_unit_test(any_bytes_and_reals_give_json),
      cmocka_unit_test(events_are_watched),
      cmocka_unit_test(events_without_a_file_are_dropped_and_bad_places_refused),
      cmocka_unit_test(an_event_file_without_space_holds_whole_lines),
      cmocka_unit_test(progress_is_quiet_without_a_terminal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
