/* rundir_resume_test.c - a run is resumed in its folder, by one process at a time. */
#include "support/conf/rundir_check.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_dir_lock.h"
#include "base/weir_file.h"
#include "conf/weir_cli.h"
#include "conf/weir_rundir.h"

static weir_status go_on(const char *out, const char *owner, weir_run_dir *dir)
{
  struct options options;
  weir_config *config = NULL;
  const weir_cli cli = {.app = &app, .command = "run", .out = out};

  assert_ok(weir_cli_config(&cli, &options, &config));
  weir_status status = weir_run_dir_resume(&cli, config, owner, dir);

  if (status == WEIR_OK) {
    status = weir_run_dir_commit(dir);
    weir_event("again", WEIR_INT("n", 2));
    weir_events_close();
  }
  weir_config_destroy(&config);
  return status;
}

static void a_run_goes_on_in_its_folder(void **state)
{
  char dir[512], out[600], log[700], *text = NULL;
  int64_t size = 0;
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(out, sizeof out, "%s/run", dir);
  (void)snprintf(log, sizeof log, "%s/run.jsonl", out);
  assert_int_equal(go_on(out, "run", &d), WEIR_ERR_CONFIG); /* there is none */
  run_once(out);
  assert_int_equal(go_on(out, "score", &d), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "no log of an earlier 'score'"));
  assert_ok(go_on(out, "run", &d));
  assert_false(weir_run_dir_rollback(&d));
  assert_true(exists(out, "100.c") && exists(out, "figures/a.svg") && exists(out, "resolved.yaml"));
  assert_ok(weir_file_read(log, 1 << 20, &text, &size));
  assert_true(strstr(text, "100.c") != NULL && strstr(text, "{\"event\": \"again\"") != NULL);
  weir_free(&text);
  weir_check_rmdir(dir);
}

static void a_log_that_names_other_places_removes_nothing_there(void **state)
{
  char dir[512], out[600], other[600], link[700], log[4096];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(out, sizeof out, "%s/run", dir);
  (void)snprintf(other, sizeof other, "%s/other", dir);
  (void)snprintf(link, sizeof link, "%s/away", out);
  assert_ok(weir_dir_create(out));
  assert_ok(weir_dir_create(other));
  touch(other, "kept");
  assert_int_equal(symlink(other, link), 0);
  (void)snprintf(log, sizeof log,
                 "{\"event\": \"outputs\", \"of\": \"run\"}\n"
                 "{\"event\": \"file\", \"name\": \"../other/kept\"}\n"
                 "{\"event\": \"file\", \"name\": \"%s/kept\"}\n"
                 "{\"event\": \"file\", \"name\": \"away/kept\"}\n"
                 "{\"event\": \"file\", \"name\": \"away\"}\n"
                 "{\"event\": \"file\", \"name\": \"..\"}\n"
                 "{\"event\": \"file\", \"name\": \"gone/at/all\"}\n",
                 other);
  write_log(out, log);
  assert_ok(begin(out, true, "run", &d));
  assert_ok(weir_run_dir_commit(&d));
  weir_events_close();
  assert_true(exists(other, "kept"));
  assert_true(exists(out, "away"));
  /* A run that noted nothing, of an earlier version: only logs and configuration are known. */
  write_log(out, "{\"event\": \"start\"}\n");
  touch(out, "100.qrs");
  assert_ok(begin(out, true, "run", &d));
  assert_ok(weir_run_dir_commit(&d));
  weir_events_close();
  assert_true(exists(out, "100.qrs"));
  weir_check_rmdir(dir);
}

/* A process that holds the folder until it is killed; *text: its identity. */
static pid_t hold(const char *dir, const char *who)
{
  int ready[2];
  char byte;

  assert_int_equal(pipe(ready), 0);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    if (weir_dir_lock_take(dir, who, true) == WEIR_OK) {
      (void)!write(ready[1], "x", 1);
    }
    for (;;) {
      pause();
    }
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

static void end(pid_t pid)
{
  assert_int_equal(kill(pid, SIGKILL), 0);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Whoever is second is refused, with the name of the first; a killed one is no obstacle. */
static void a_folder_has_one_run_at_a_time(void **state)
{
  char dir[512], expected[64];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  const pid_t first = hold(dir, "demo run");

  (void)snprintf(expected, sizeof expected, "demo run, pid %ld on ", (long)first);
  for (int overwrite = 0; overwrite < 2; overwrite++) {
    assert_int_equal(begin(dir, overwrite != 0, "run", &d), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "another run writes into this folder ("));
    assert_non_null(strstr(weir_last_message(), expected));
    assert_false(weir_dir_has_entries(dir));
  }
  end(first);
  assert_true(exists(dir, WEIR_DIR_LOCK_NAME)); /* left over, and of no effect */
  assert_ok(begin(dir, false, "run", &d));
  assert_true(weir_dir_is_locked(dir));
  assert_ok(begin(dir, true, "run", &d)); /* the same process */
  weir_events_close();
  weir_dir_lock_release();
  assert_false(exists(dir, WEIR_DIR_LOCK_NAME));
  weir_check_rmdir(dir);
}

/* Lines that are no events, at the beginning, within and at the end of the log. */
static void a_damaged_log_goes_on(void **state)
{
  static const char *const logs[] = {
      "{\"event\": \"outputs\", \"time_s\": 0, \"of\": \"run\"}\nnoise\n{\"event\": \"ha",
      "\1\2\n{\"event\": \"outputs\", \"time_s\": 0, \"of\": \"run\"}\n",
      "{\"event\": \"outp\n{\"event\": \"start\", \"time_s\": 0, \"command\": \"run\"}\n{\"event\"",
      "{\"event\": \"start\", \"time_s\": 0, \"verb\": \"run\"}\n", /* of an earlier version */
  };
  static const char *const others[] = {
      "{\"event\": \"outputs\", \"time_s\": 0, \"of\": \"eval\"}\n"
      "{\"event\": \"start\", \"time_s\": 0, \"command\": \"run\"}\n",
      "noise\n",
  };
  char dir[512], path[600], *text = NULL;
  int64_t size = 0;
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/run.jsonl", dir);
  touch(dir, "weights.nc");
  for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
    write_log(dir, logs[i]);
    touch(dir, "weights.nc.tmp-1"); /* of a process that is gone */
    assert_ok(start(dir, &d));
    assert_false(exists(dir, "weights.nc.tmp-1"));
    assert_ok(weir_file_read(path, 4096, &text, &size));
    const char *const next = strstr(text, "{\"event\": \"next\"");
    assert_true(next != NULL && next[-1] == '\n');
    weir_free(&text);
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    write_log(dir, others[i]);
    assert_int_equal(start(dir, &d), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "no log of an earlier 'run'"));
  }
  assert_true(exists(dir, "weights.nc"));
  weir_check_rmdir(dir);
}

/* Killed before it had more than the beginning of a log: there is nothing to resume. */
static void a_beginning_is_begun_anew(void **state)
{
  char dir[512];
  weir_run_dir d;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  touch(dir, WEIR_DIR_LOCK_NAME);
  touch(dir, "run.jsonl.tmp-1");
  assert_ok(start(dir, &d));
  assert_true(exists(dir, "run.jsonl"));
  assert_false(exists(dir, "run.jsonl.tmp-1"));
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_folder_has_one_run_at_a_time),
      cmocka_unit_test(a_damaged_log_goes_on),
      cmocka_unit_test(a_beginning_is_begun_anew),
      cmocka_unit_test(a_run_goes_on_in_its_folder),
      cmocka_unit_test(a_log_that_names_other_places_removes_nothing_there),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
