/* rundir_spare_test.c - what no run replaces: inputs, and files that no log of the folder notes. */
#include <string.h>
#include <unistd.h>

#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "conf/weir_cli.h"
#include "conf/weir_rundir.h"

struct options {
  const char *file;
};
static const weir_opt rows[] = {
    WEIR_OPT_PATH(struct options, file, "", "an input"),
    WEIR_OPT_END,
};
static const weir_app app = {.name = "demo", .opts = rows, .opts_size = sizeof(struct options)};

static weir_status write_result(const char *dir, const char *name)
{
  char path[1024];
  weir_writer *w = NULL;

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  assert_ok(weir_writer_printf(w, "result"));
  return weir_writer_commit(&w);
}

/* A run of `owner` with the input `file` that writes one result into `out`, and ends. */
static weir_status run_into(const char *out, const char *owner, const char *file,
                            const char *result)
{
  char set[1100];
  const char *const sets[] = {set};
  struct options options;
  weir_config *config = NULL;
  weir_run_dir d;
  const weir_cli cli = {
      .app = &app, .command = "run", .out = out, .overwrite = true, .sets = sets, .n_sets = 1};

  (void)snprintf(set, sizeof set, "file='%s'", file);
  assert_ok(weir_cli_config(&cli, &options, &config));
  assert_ok(weir_run_dir_begin(&cli, config, owner, &d));
  assert_ok(weir_run_dir_commit(&d));
  const weir_status status = write_result(out, result);

  weir_run_dir_keep();
  weir_events_close();
  weir_config_destroy(&config);
  return status;
}

static void put(const char *dir, const char *name, const char *text)
{
  char path[1024];

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  weir_check_write(path, text, strlen(text));
}

static bool exists(const char *dir, const char *name)
{
  char path[1024];

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  return weir_file_exists(path);
}

static int64_t size_of(const char *dir, const char *name)
{
  char path[1024];
  int64_t size = 0;

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  assert_ok(weir_file_size(path, &size));
  return size;
}

/* Other names of earlier results are noted, for a run that is killed, but not those of names. */
static void names_do_not_grow_with_runs(void **state)
{
  char dir[512];
  int64_t size = 0;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  for (int run = 0; run < 12; run++) {
    assert_ok(run_into(dir, "run", "", "a.csv"));
    assert_true(run < 2 || size_of(dir, "run.jsonl") < size + 64); /* times have other digits */
    size = run == 1 ? size_of(dir, "run.jsonl") : size;
  }
  weir_check_rmdir(dir);
}

/* At the top, in a folder, and as a link; with a log in the folder and without. */
static void a_file_that_no_log_notes_is_not_replaced(void **state)
{
  static const char *const names[] = {"mine.csv", "figures/mine.svg", "link.csv"};
  char dir[512], path[600];

  (void)state;
  for (int with_log = 0; with_log < 2; with_log++) {
    weir_check_mkdir(dir, sizeof dir);
    if (with_log == 1) {
      assert_ok(run_into(dir, "run", "", "a.csv"));
    }
    (void)snprintf(path, sizeof path, "%s/figures", dir);
    assert_ok(weir_dir_create(path));
    put(dir, names[0], "mine");
    put(dir, names[1], "mine");
    (void)snprintf(path, sizeof path, "%s/%s", dir, names[2]);
    assert_int_equal(symlink("elsewhere", path), 0);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
      assert_int_equal(run_into(dir, "run", "", names[k]), WEIR_ERR_CONFIG);
      assert_non_null(strstr(weir_last_message(), names[k]));
      assert_non_null(strstr(weir_last_message(), "not recorded as a file of an earlier run"));
      assert_true(weir_writer_refused());
    }
    assert_ok(run_into(dir, "run", "", "new.csv"));
    assert_false(weir_writer_refused());
    weir_check_rmdir(dir);
  }
}

/* Runs of other kinds between replace the log, but not what is known of the files. */
static void results_of_earlier_runs_are_still_known(void **state)
{
  char dir[512];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  for (int k = 0; k < 3; k++) {
    assert_ok(run_into(dir, NULL, "", "a.csv"));
    assert_ok(run_into(dir, NULL, "", "b.csv"));
    assert_ok(run_into(dir, "run", "", "c.csv"));
    assert_ok(run_into(dir, "prepare", "", "d.csv"));
    assert_true(exists(dir, "a.csv") && exists(dir, "b.csv") && exists(dir, "c.csv"));
  }
  assert_ok(run_into(dir, "run", "", "e.csv")); /* which removes its own */
  assert_false(exists(dir, "c.csv"));
  assert_true(exists(dir, "a.csv") && exists(dir, "d.csv"));
  weir_check_rmdir(dir);
}

/* By its name, as a record's name without suffix, and by a link from elsewhere. */
static void an_input_is_not_replaced(void **state)
{
  char dir[512], out[600], input[700], link[600];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(out, sizeof out, "%s/out", dir);
  (void)snprintf(link, sizeof link, "%s/link", dir);
  assert_ok(run_into(out, NULL, "", "r.hea"));
  (void)snprintf(input, sizeof input, "%s/./r.hea", out);
  assert_int_equal(symlink(input, link), 0);
  assert_int_equal(run_into(out, NULL, input, "r.hea"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "an input of this run"));
  input[strlen(input) - 4] = 0;
  assert_int_equal(run_into(out, NULL, input, "r.hea"), WEIR_ERR_CONFIG);
  assert_int_equal(run_into(out, NULL, link, "r.hea"), WEIR_ERR_CONFIG);
  assert_ok(run_into(out, NULL, link, "other.hea"));
  assert_ok(run_into(out, NULL, "", "r.hea"));
  weir_check_rmdir(dir);
}

/* Of a version that noted no files. */
static void a_log_without_notes_leaves_names_free(void **state)
{
  char dir[512];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  put(dir, "run.jsonl", "{\"event\": \"start\", \"time_s\": 0}\n");
  put(dir, "a.csv", "of that run");
  assert_ok(run_into(dir, "run", "", "a.csv"));
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_that_no_log_notes_is_not_replaced),
      cmocka_unit_test(results_of_earlier_runs_are_still_known),
      cmocka_unit_test(an_input_is_not_replaced),
      cmocka_unit_test(a_log_without_notes_leaves_names_free),
      cmocka_unit_test(names_do_not_grow_with_runs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
