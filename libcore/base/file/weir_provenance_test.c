/* weir_provenance_test.c - what is recorded, and that a failure leaves nothing. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_provenance.h"

struct request {
  char dir[256], path[512], input[512];
};

static weir_status write_once(void *context)
{
  const struct request *r = context;
  const char *const argv[] = {"program", "run", "--set", "name=\"quoted\"\n"};
  const char *const inputs[] = {r->input, "/no/such/input"};
  const weir_provenance_line line = {"train", "2000-01-01 to \"2001\""};
  const weir_provenance p = {.program = "program run",
                             .argc = 4,
                             .argv = argv,
                             .seed = UINT64_MAX,
                             .threads = 2,
                             .inputs = inputs,
                             .n_inputs = 2,
                             .lines = &line,
                             .n_lines = 1};

  WEIR_TRY(weir_provenance_write(r->path, &p));
  return WEIR_OK;
}

static int make_request(void **state)
{
  static struct request r;
  weir_writer *w;

  weir_check_mkdir(r.dir, sizeof r.dir);
  assert_ok(weir_path_join(r.dir, "provenance.json", r.path, sizeof r.path));
  assert_ok(weir_path_join(r.dir, "input", r.input, sizeof r.input));
  assert_ok(weir_writer_open(r.input, &w));
  assert_ok(weir_writer_printf(w, "abc"));
  assert_ok(weir_writer_commit(&w));
  *state = &r;
  return 0;
}

static int drop_request(void **state)
{
  weir_check_rmdir(((struct request *)*state)->dir);
  return 0;
}

static void records_command_build_and_digests(void **state)
{
  const struct request *r = *state;
  char *text;
  int64_t size;

  assert_ok(write_once(*state));
  assert_ok(weir_file_read(r->path, 1 << 20, &text, &size));
  assert_non_null(strstr(text, "\"program\": \"program run\""));
  assert_non_null(strstr(text, "\"name=\\\"quoted\\\"\\n\"]"));
  assert_non_null(strstr(text, "\"seed\": 18446744073709551615"));
  assert_non_null(strstr(text,
                         "\"bytes\": 3, \"sha256\": "
                         "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  assert_non_null(strstr(text, "{\"path\": \"/no/such/input\", \"missing\": true}"));
  assert_non_null(strstr(text, "optional parts:\\n"));
  assert_string_equal(text + size - 3, "\n}\n");
  weir_free(&text);
}

/* The first file fits the limit, the second does not, and one that is not there says so. */
static void files_beyond_the_limit_have_their_size(void **state)
{
  const struct request *r = *state;
  const char *const inputs[] = {r->input, r->input, "/no/such/input"};
  char *text;
  int64_t size;

  assert_ok(weir_provenance_write(
      r->path,
      &(weir_provenance){.program = "p", .inputs = inputs, .n_inputs = 3, .digest_bytes = 5}));
  assert_ok(weir_file_read(r->path, 1 << 20, &text, &size));
  assert_non_null(strstr(text, "\"bytes\": 3, \"sha256\": \"ba78"));
  assert_non_null(strstr(text, "input\", \"bytes\": 3},\n"));
  assert_non_null(strstr(text, "{\"path\": \"/no/such/input\", \"missing\": true}"));
  weir_free(&text);
}

static void faults_leave_nothing(void **state)
{
  const struct request *r = *state;

  weir_alloc_fail_after(1);
  const weir_status status = write_once(*state);
  weir_alloc_fail_after(0);
  assert_int_equal(status, WEIR_ERR_MEMORY);
  assert_false(weir_file_exists(r->path));
  assert_true(weir_check_faults(write_once, *state) >= 2);
}

static void build_text_names_version_and_parts(void **state)
{
  char *text;
  int64_t size;

  assert_non_null(strstr(weir_build_text(), weir_version()));
  assert_non_null(strstr(weir_build_text(), "commit: "));
  assert_non_null(strstr(weir_build_text(), "  cblas: "));
  assert_ok(weir_file_read(WEIR_BUILD_DIR "/build.txt", 1 << 20, &text, &size));
  assert_string_equal(text, weir_build_text());
  weir_free(&text);
}

static void clock_moves_forward_and_utc_is_iso(void **state)
{
  char text[32], tiny[4] = "xyz";
  double last = weir_clock();

  for (int i = 0; i < 1000; i++) {
    const double now = weir_clock();
    assert_true(now >= last);
    last = now;
  }
  weir_clock_utc(text, sizeof text);
  assert_int_equal(strlen(text), 20);
  assert_true(text[4] == '-' && text[10] == 'T' && text[13] == ':' && text[19] == 'Z');
  weir_clock_utc(tiny, sizeof tiny);
  assert_string_equal(tiny, "");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(records_command_build_and_digests, make_request,
                                      drop_request),
      cmocka_unit_test_setup_teardown(files_beyond_the_limit_have_their_size, make_request,
                                      drop_request),
      cmocka_unit_test_setup_teardown(faults_leave_nothing, make_request, drop_request),
      cmocka_unit_test(build_text_names_version_and_parts),
      cmocka_unit_test(clock_moves_forward_and_utc_is_iso),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
