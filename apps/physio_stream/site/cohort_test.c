/* cohort_test.c - what is kept of headers, and expressions over it; reports that were changed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "site/model.h"

static char folder[256];

static int make_folder(void **state)
{
  (void)state;
  const char *base = getenv("TMPDIR");

  (void)snprintf(folder, sizeof folder, "%.200s/cohort-test-XXXXXX", base != NULL ? base : "/tmp");
  return mkdtemp(folder) == NULL;
}

static int drop_folder(void **state)
{
  (void)state;
  return rmdir(folder);
}

static const char *path_of(const char *name)
{
  static char path[512];

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void age_sex_and_diagnoses_are_kept_alone(void **state)
{
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
  static const char *const comments[] = {
      "69 M 1085 1629 x1\nAldomet, Inderal\n",
      "<age>: 93  <sex>: F  <diagnoses>: AF, MI  <name>: Jane Doe\n",
      "Age: 7 months\nGender: male\n",
      "age: 44\nSex: Female\nDx: 426783006,164889003\n",
      "patient 12 lives at Main Street\n",
      "Age: NaN\nSex: Unknown\nDx: SR\n",
      "average: 50\nsextant: M\n",
  };
  static const char *words[] = {"AF", "164889003"};
  const weir_string_list diagnoses = {words, 2};
  char *text = NULL;
  int64_t size = 0;

  (void)state;
  assert_ok(ps_attributes_write(folder, names, comments, 7, &diagnoses));
  assert_ok(weir_file_read(path_of("ATTRIBUTES.csv"), 1 << 20, &text, &size));
  assert_string_equal(text, "record,age,male,dx_AF,dx_164889003\n"
                            "a,69,1,,\n"
                            "b,90,0,1,0\n"
                            "c,,1,,\n"
                            "d,44,0,0,1\n"
                            "e,,,,\n"
                            "f,,,0,0\n"
                            "g,,,,\n");
  weir_free(&text);
  assert_int_equal(unlink(path_of("ATTRIBUTES.csv")), 0);
  words[0] = "Jane Doe";
  assert_int_equal(ps_attributes_write(folder, names, comments, 7, &diagnoses), WEIR_ERR_CONFIG);
}

static void expect_selected(const ps_attributes *a, const char *text, const char *expected)
{
  uint8_t truth[6];
  char found[7] = "";

  assert_ok(ps_attributes_select(a, "cohort.where", text, truth));
  for (int i = 0; i < 6; i++) {
    found[i] = (char)('0' + truth[i]);
  }
  assert_string_equal(found, expected);
}

static void expressions_select_what_is_known_and_true(void **state)
{
  char names[3][PS_SITE_NAME] = {"age", "male", "present"};
  float values[] = {20, 40, 60, 90, NAN, 18, 0, 1, NAN, 1, 1, 0, 1, 0.5F, 1, 0.9F, 1, 1};
  const ps_attributes a = {.names = names, .values = values, .n = 3, .records = 6};
  uint8_t truth[6];

  (void)state;
  expect_selected(&a, "", "111111");
  expect_selected(&a, "age >= 18 and age < 65", "111001");
  expect_selected(&a, "male == 1", "010110");
  expect_selected(&a, "not (male == 1)", "100001"); /* unknown is neither */
  expect_selected(&a, "present > 0.8 and age > 30", "001100");
  expect_selected(&a, "present(age)", "111101");
  assert_int_equal(ps_attributes_select(&a, "cohort.where", "height > 3", truth), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "attributes: age, male, present"));
  assert_int_equal(ps_attributes_select(&a, "cohort.where", "age + 1", truth), WEIR_ERR_CONFIG);
  assert_int_equal(ps_attributes_select(&a, "cohort.where", "age > ", truth), WEIR_ERR_CONFIG);
}

/* A report with a told cell and a withheld one. */
static void fill(ps_model_report *r, ps_cell cells[2])
{
  static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

  cells[0] = (ps_cell){.group = "all", .name = "all", .records = 12};
  cells[0].tp = cells[0].fn = cells[0].fp = 50;
  cells[0].tp_tp = 1e17;
  cells[1] = (ps_cell){.group = "sex", .name = "male == 1", .records = 3, .withheld = true};
  cells[1].tp = 77;
  *r = (ps_model_report){.benchmark_name = "b",
                         .model_name = "m",
                         .program = "0.1.0",
                         .window = 0.15,
                         .max_share = 0.5,
                         .min_records = 10,
                         .cells = cells,
                         .n = 2};
  memcpy(r->benchmark, digest, 65);
  memcpy(r->model, digest, 65);
  memcpy(r->dataset, digest, 65);
  for (int k = 0; k < PS_ROLES; k++) {
    memcpy(r->approvals[k], digest, 65);
  }
}

static void a_changed_report_is_refused(void **state)
{
  ps_model_report r, back;
  ps_cell cells[2];
  char path[512], *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  (void)state;
  fill(&r, cells);
  assert_ok(ps_model_report_print(&r, out));
  fclose(out);
  assert_null(strstr(text, "77")); /* nothing of a withheld cell */
  (void)snprintf(path, sizeof path, "%s", path_of("report.jsonl"));
  weir_check_write(path, text, size);
  assert_true(ps_model_report_is(path));
  assert_ok(ps_model_report_read(path, &back));
  assert_int_equal(back.n, 2);
  assert_int_equal(back.cells[0].tp, 50);
  assert_near(back.cells[0].tp_tp, 1e17, 0);
  assert_true(back.cells[1].withheld);
  ps_model_report_fini(&back);
  for (size_t i = 0; i < size; i += 37) { /* any byte */
    text[i] ^= 1;
    weir_check_write(path, text, size);
    assert_int_equal(ps_model_report_read(path, &back), WEIR_ERR_DATA);
    text[i] ^= 1;
  }
  weir_check_write(path, text, size / 2);
  assert_int_equal(ps_model_report_read(path, &back), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "checksum"));
  free(text);
  assert_int_equal(unlink(path), 0);
}

/* SHA-256 of "FILE DIGEST" lines, as `find -type f | sort | xargs sha256sum | sha256sum`. */
static void a_model_is_all_its_files(void **state)
{
  char digest[65], inner[512];

  (void)state;
  (void)snprintf(inner, sizeof inner, "%s/sub", folder);
  assert_int_equal(mkdir(inner, 0755), 0);
  weir_check_write(path_of("b"), "1", 1);
  weir_check_write(path_of("sub/a"), "2", 1);
  assert_ok(ps_folder_digest(folder, digest));
  assert_string_equal(digest, "bd073c22e58e8530f9f4322a8b5624e957cd3fbb5dfa1701988d4b32fc1b61f1");
  assert_int_equal(symlink("/etc/passwd", path_of("link")), 0);
  assert_int_equal(ps_folder_digest(folder, digest), WEIR_ERR_DATA);
  assert_int_equal(unlink(path_of("link")), 0);
  assert_int_equal(unlink(path_of("sub/a")), 0);
  assert_int_equal(unlink(path_of("b")), 0);
  assert_int_equal(rmdir(inner), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(age_sex_and_diagnoses_are_kept_alone),
      cmocka_unit_test(expressions_select_what_is_known_and_true),
      cmocka_unit_test(a_changed_report_is_refused),
      cmocka_unit_test(a_model_is_all_its_files),
  };

  return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
