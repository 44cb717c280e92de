/* checksums_test.c - lists of digests, records that are and are not those of them, and names of
 * PhysioNet databases. */
#include "data/checksums.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/weir_record_writer.h"

static char dir[256];

static const char *in_dir(const char *name)
{
  static char paths[4][512];
  static int next;

  next = (next + 1) % 4;
  (void)snprintf(paths[next], sizeof paths[next], "%s/%s", dir, name);
  return paths[next];
}

#define A "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define B "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"

static void lists_are_read_line_by_line(void **state)
{
  static const char text[] = A " x/100.dat\n" B "  100.hea\r\n\n" A " *./b c.dat";
  static const char *const bad[] = {"abc 100.hea\n", A "\n", A "x100.hea\n", A "  \n",
                                    A " 100.hea\n" B " 100.hea\n"};
  char hex[65];
  bool found = false;

  assert_ok(ps_checksums_find(text, sizeof text - 1, "L", "100.hea", hex, &found));
  assert_true(found);
  assert_string_equal(hex, B);
  assert_ok(ps_checksums_find(text, sizeof text - 1, "L", "b c.dat", hex, &found));
  assert_true(found);
  assert_string_equal(hex, A);
  assert_ok(ps_checksums_find(text, sizeof text - 1, "L", "100.dat", hex, &found));
  assert_false(found);
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    assert_int_equal(
        ps_checksums_find(bad[k], (int64_t)strlen(bad[k]), "L", "100.hea", hex, &found),
        WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), k == 4 ? "L:2: a second digest" : "L:1: expected"));
  }
}

static void write_record(void)
{
  const weir_record_channel channel = {.name = "ECG", .units = "mV", .gain = 200, .format = 16};
  const weir_record_spec spec = {.fs_num = 100, .fs_den = 1, .n_channels = 1, .channels = &channel};
  const int32_t raw[5] = {1, -2, 3, 500, 0};
  const int32_t *const rows[] = {raw};
  weir_record_writer *w = NULL;

  assert_ok(weir_record_writer_open(in_dir("db/1.0/part/r"), &spec, &w));
  assert_ok(weir_record_writer_append_raw(w, 5, rows));
  assert_ok(weir_record_writer_commit(&w));
}

/* A list in the folder above, of the header and, unless NULL, the signal file with this name. */
static void write_list(const char *signal)
{
  char hex[2][65], text[512];
  int64_t bytes = 0;

  assert_true(weir_file_sha256(in_dir("db/1.0/part/r.hea"), hex[0], &bytes));
  assert_true(weir_file_sha256(in_dir("db/1.0/part/r.dat"), hex[1], &bytes));
  (void)snprintf(text, sizeof text, "%s part/r.hea\n%s %s\n", hex[0], hex[1], signal);
  weir_check_write(in_dir("db/1.0/SHA256SUMS.txt"), text, strlen(text));
}

static weir_status verify(int mode)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = ps_checksums_verify(mode, in_dir("db/1.0/part/r"));

  weir_log_set_level(WEIR_LOG_INFO);
  return status;
}

static void a_record_is_what_its_list_says(void **state)
{
  write_record();
  assert_ok(verify(PS_CHECKSUMS_LISTED));
  assert_int_equal(verify(PS_CHECKSUMS_REQUIRED), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "there is no SHA256SUMS.txt"));
  write_list("part/other.dat");
  assert_ok(verify(PS_CHECKSUMS_LISTED));
  assert_int_equal(verify(PS_CHECKSUMS_REQUIRED), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "part/r.dat: not listed in"));
  write_list("part/r.dat");
  assert_ok(verify(PS_CHECKSUMS_LISTED));
  assert_ok(verify(PS_CHECKSUMS_REQUIRED));
  assert_ok(ps_checksums_verify_file(PS_CHECKSUMS_REQUIRED, in_dir("db/1.0/part/r.dat")));
  /* One bit of a sample. */
  weir_check_write(in_dir("db/1.0/part/r.dat"), "\1\0\376\377\3\0\365\1\0\0", 10);
  assert_int_equal(verify(PS_CHECKSUMS_LISTED), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "part/r.dat: its SHA-256 is"));
  assert_non_null(strstr(weir_last_message(), "the file is damaged or of another version"));
  assert_ok(verify(PS_CHECKSUMS_IGNORED));
  /* Listed as it is, but its header has another sum. */
  write_list("part/r.dat");
  assert_ok(verify(PS_CHECKSUMS_LISTED));
  assert_int_equal(verify(PS_CHECKSUMS_REQUIRED), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "signal ECG: the sum of its samples is 503, and the "
                                              "header states 502"));
}

static void names_of_databases_are_paths_below_the_root(void **state)
{
  static const struct {
    const char *name, *reason;
    weir_status status;
  } cases[] = {
      {"physionet:db/1.0", "expected physionet:DATABASE/VERSION/RECORD", WEIR_ERR_CONFIG},
      {"physionet:db/1.0/", "expected physionet:DATABASE/VERSION/RECORD", WEIR_ERR_CONFIG},
      {"physionet:db//x", "expected physionet:DATABASE/VERSION/RECORD", WEIR_ERR_CONFIG},
      {"physionet:db/1.0/../x", "expected physionet:DATABASE/VERSION/RECORD", WEIR_ERR_CONFIG},
      {"physionet:db/2.0/x", "has no version 2.0 (it has: 1.0): fetch it with", WEIR_ERR_DATA},
      {"physionet:none/2.0/x", "has no database none (it has: db): fetch", WEIR_ERR_DATA},
  };
  char path[512];

  assert_ok(ps_physionet_path(dir, "physionet:db/1.0/part/r", path, sizeof path));
  assert_string_equal(path, in_dir("db/1.0/part/r"));
  assert_ok(ps_physionet_path("", "some/100", path, sizeof path));
  assert_string_equal(path, "some/100");
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    assert_int_equal(ps_physionet_path(dir, cases[k].name, path, sizeof path), cases[k].status);
    assert_non_null(strstr(weir_last_message(), cases[k].reason));
  }
  assert_int_equal(ps_physionet_path("", "physionet:db/1.0/x", path, sizeof path), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "set input.physionet"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_read_line_by_line),
      cmocka_unit_test(a_record_is_what_its_list_says),
      cmocka_unit_test(names_of_databases_are_paths_below_the_root),
  };

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_dir_create(in_dir("db/1.0/part")));
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
