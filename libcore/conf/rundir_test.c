/* rundir_test.c - the folder of a run: what is refused, what goes and what stays. */
#include "support/conf/rundir_check.h"
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "conf/weir_cli.h"
#include "conf/weir_rundir.h"

static void folder_with_entries_is_refused(void **state)
{
  char dir[512], fresh[600], file[600];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(fresh, sizeof fresh, "%s/a/b", dir);
  (void)snprintf(file, sizeof file, "%s/plain", dir);
  assert_ok(weir_dir_create(fresh));
  assert_ok(begin(fresh, false, "run", &d)); /* empty still */
  weir_events_close();
  assert_int_equal(begin(fresh, false, "run", &d), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "--overwrite"));
  touch(dir, "plain");
  assert_int_equal(begin(file, true, "run", &d), WEIR_ERR_CONFIG);
  (void)snprintf(file, sizeof file, "%s/plain/below", dir);
  assert_int_equal(begin(file, true, "run", &d), WEIR_ERR_CONFIG);
  weir_check_rmdir(dir);
}

static void folder_of_a_failed_run_is_taken_again(void **state)
{
  static const char start[] = "{\"event\": \"start\", \"time_s\": 0}\n";
  static const char failed[] = "{\"event\": \"start\", \"time_s\": 0}\n"
                               "{\"event\": \"failed\", \"time_s\": 1, \"status\": 3}\n";
  char dir[512];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  touch(dir, "resolved.yaml");
  write_log(dir, start); /* perhaps still running */
  assert_int_equal(begin(dir, false, "run", &d), WEIR_ERR_CONFIG);
  write_log(dir, failed);
  touch(dir, "run-rank1.jsonl");
  assert_ok(begin(dir, false, "run", &d));
  weir_events_close();
  assert_false(d.waits || exists(dir, "run-rank1.jsonl"));
  write_log(dir, failed);
  touch(dir, "beats.csv"); /* a result, or a file of the user */
  assert_int_equal(begin(dir, false, "run", &d), WEIR_ERR_CONFIG);
  assert_true(exists(dir, "run.jsonl"));
  weir_check_rmdir(dir);
}

static void overwrite_removes_what_the_earlier_run_noted(void **state)
{
  char dir[512], out[600];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(out, sizeof out, "%s/run", dir);
  run_once(out);
  touch(out, "mine.c");
  assert_ok(begin(out, true, "score", &d)); /* of another kind: perhaps input of this one */
  assert_true(weir_run_dir_rollback(&d));
  weir_events_close();
  assert_ok(begin(out, true, "run", &d));
  assert_true(d.waits && exists(out, "100.c")); /* nothing goes before the run is accepted */
  assert_true(weir_run_dir_rollback(&d));
  weir_events_close();
  assert_true(exists(out, "100.c") && exists(out, "run.jsonl") && exists(out, "resolved.yaml"));
  assert_ok(begin(out, true, "run", &d));
  assert_ok(weir_run_dir_commit(&d));
  assert_false(weir_run_dir_rollback(&d));
  weir_run_dir_keep();
  weir_events_close();
  assert_false(exists(out, "100.c") || exists(out, "figures"));
  assert_true(exists(out, "mine.c") && exists(out, "run.jsonl"));
  weir_check_rmdir(dir);
}

/* Without the lock, which is hidden. */
static int entries_of(const char *dir)
{
  DIR *const d = opendir(dir);
  const struct dirent *entry;
  int n = 0;

  assert_non_null(d);
  while ((entry = readdir(d)) != NULL) {
    n += entry->d_name[0] != '.';
  }
  (void)closedir(d);
  return n;
}

static char *content_of(const char *dir, const char *name)
{
  char path[1024], *text = NULL;
  int64_t size = 0;

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  return text;
}

/* For want of space: what the run wrote goes, what it would have replaced has its name again. */
static void a_run_without_space_leaves_the_earlier_results(void **state)
{
  char dir[512], out[600], folder[700];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(out, sizeof out, "%s/run", dir);
  run_once(out);
  weir_run_dir_keep();
  const int before = entries_of(out);
  char *const log = content_of(out, "run.jsonl"), *const config = content_of(out, "resolved.yaml");

  touch(out, "theirs"); /* noted by nobody */
  assert_ok(begin_set("file=other", out, true, "run", &d));
  assert_ok(weir_run_dir_commit(&d));
  assert_false(exists(out, "100.c"));
  (void)snprintf(folder, sizeof folder, "%s/new/deep", out);
  assert_ok(weir_dir_create(folder));
  write_result(out, "new/deep/a.svg");
  write_result(out, "100.c");
  (void)weir_writer_undo(out);
  weir_writer_remember(false);
  char *const log_now = content_of(out, "run.jsonl"), *const config_now =
                                                          content_of(out, "resolved.yaml");

  assert_string_equal(log_now, log);
  assert_string_equal(config_now, config);
  assert_true(exists(out, "100.c") && exists(out, "figures/a.svg") && exists(out, "theirs"));
  assert_int_equal(entries_of(out), before + 1);
  for (size_t k = 0; k < 4; k++) {
    char *text = ((char *[]){log, config, log_now, config_now})[k];

    weir_free(&text);
  }
  weir_check_rmdir(dir);
}

/* Where there was nothing before, log and configuration say what was tried. */
static void a_first_run_without_space_leaves_its_log(void **state)
{
  char dir[512], out[600];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(out, sizeof out, "%s/run", dir);
  assert_ok(begin(out, false, "run", &d));
  write_result(out, "100.c");
  (void)weir_writer_undo(out);
  weir_writer_remember(false);
  assert_false(exists(out, "100.c"));
  assert_true(exists(out, "run.jsonl") && exists(out, "resolved.yaml"));
  weir_events_close();
  weir_check_rmdir(dir);
}

/* A checkpoint, say: the rest of the run may fail. */
static void what_is_kept_stays(void **state)
{
  char dir[512], out[600];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(out, sizeof out, "%s/run", dir);
  run_once(out);
  weir_run_dir_keep();
  assert_ok(begin(out, true, "run", &d));
  assert_ok(weir_run_dir_commit(&d));
  write_result(out, "checkpoint");
  weir_run_dir_keep();
  write_result(out, "more");
  (void)weir_writer_undo(out);
  weir_writer_remember(false);
  assert_true(exists(out, "checkpoint") && exists(out, "more"));
  assert_false(exists(out, "100.c") || exists(out, "figures"));
  assert_int_equal(entries_of(out), 4);
  weir_events_close();
  weir_check_rmdir(dir);
}

/* By the same name, another spelling or a link, in a text, a list, or what was chosen. */
static void overwrite_refuses_inputs_that_would_go(void **state)
{
  char dir[512], out[600], link[700], set[1400];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(out, sizeof out, "%s/run", dir);
  (void)snprintf(link, sizeof link, "%s/alias", dir);
  run_once(out);
  touch(out, "mine.c");
  (void)snprintf(set, sizeof set, "%s/100.c", out);
  assert_int_equal(symlink(set, link), 0);
  static const char *const form[][2] = {{"file=", "/run/100.c"},
                                        {"files=[x, ", "/alias]"},
                                        {"use={reader: {file: ", "/./run/../run/figures/a.svg}}"},
                                        {"steps=[{file: a}, {file: ", "/run/100.c}]"}};

  for (size_t k = 0; k < sizeof form / sizeof form[0]; k++) {
    (void)snprintf(set, sizeof set, "%s%s%s", form[k][0], dir, form[k][1]);
    assert_int_equal(begin_set(set, out, true, "run", &d), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "an input of this run"));
    assert_non_null(strstr(weir_last_message(), k == 2 ? "figures/a.svg" : "100.c"));
    assert_true(exists(out, "100.c") && exists(out, "figures/a.svg") && exists(out, "run.jsonl"));
    assert_ok(begin_set(set, out, true, "score", &d)); /* removes none of them */
    assert_true(weir_run_dir_rollback(&d));
    weir_events_close();
  }
  (void)snprintf(set, sizeof set, "files=[%s/./]", out); /* of another command: its log would go */
  assert_int_equal(begin_set(set, out, true, "score", &d), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "would remove as run.jsonl of the earlier run"));
  assert_true(exists(out, "run.jsonl"));
  (void)snprintf(set, sizeof set, "files=[%s/mine.c, %s/absent]", out, out); /* stays */
  assert_ok(begin_set(set, out, true, "run", &d));
  assert_ok(weir_run_dir_commit(&d));
  weir_events_close();
  assert_true(exists(out, "mine.c") && !exists(out, "100.c"));
  weir_check_rmdir(dir);
}

static weir_status begin_and_accept(const weir_cli *cli, const weir_config *config)
{
  weir_run_dir dir;

  WEIR_TRY(weir_run_dir_begin(cli, config, "run", &dir));
  WEIR_TRY(weir_run_dir_commit(&dir));
  return WEIR_OK;
}

static void a_run_writes_events_and_configuration(void **state)
{
  char dir[512], out[600];
  struct options options;
  weir_config *config = NULL;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(out, sizeof out, "%s/out", dir);
  weir_cli cli = {.app = &app, .command = "run"};
  assert_ok(weir_cli_config(&cli, &options, &config));
  assert_int_equal(begin_and_accept(&cli, config), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "--out DIR"));
  cli.out = out;
  assert_ok(begin_and_accept(&cli, config));
  weir_events_close();
  assert_true(exists(out, "run.jsonl"));
  assert_true(exists(out, "resolved.yaml"));
  assert_int_equal(begin_and_accept(&cli, config), WEIR_ERR_CONFIG);
  cli.overwrite = true;
  assert_ok(begin_and_accept(&cli, config));
  weir_events_close();
  weir_config_destroy(&config);
  weir_check_rmdir(dir);
}

/* Root may write everywhere: it asks as nobody. */
static void a_folder_that_may_not_be_written_is_told(void **state)
{
  const bool root = geteuid() == 0;
  char dir[512];
  weir_run_dir d;

  weir_check_mkdir(dir, sizeof dir);
  assert_int_equal(chmod(dir, 0555), 0);
  assert_true(!root || seteuid(65534) == 0);
  const weir_status status = begin(dir, false, "run", &d);

  assert_true(!root || seteuid(0) == 0);
  assert_int_equal(status, WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "Permission denied"));
  assert_int_equal(chmod(dir, 0755), 0);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folder_with_entries_is_refused),
      cmocka_unit_test(a_folder_that_may_not_be_written_is_told),
      cmocka_unit_test(folder_of_a_failed_run_is_taken_again),
      cmocka_unit_test(overwrite_removes_what_the_earlier_run_noted),
      cmocka_unit_test(overwrite_refuses_inputs_that_would_go),
      cmocka_unit_test(a_run_without_space_leaves_the_earlier_results),
      cmocka_unit_test(a_first_run_without_space_leaves_its_log),
      cmocka_unit_test(what_is_kept_stays),
      cmocka_unit_test(a_run_writes_events_and_configuration),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
