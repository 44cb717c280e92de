/* checkpoint_newest_test.c - which of the checkpoints of a folder a run resumes from. */
#include "train/weir_checkpoint.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/weir_netcdf.h"
#include "support/train/checkpoint_check.h"
#include "support/graph/store_check.h"

/* ---- Folders ---- */

static void save_step(weir_store *s, int64_t step)
{
  char file[512];
  const weir_checkpoint c = of(s);

  *(int64_t *)check_stored(s, "train.step")->data = step;
  assert_ok(weir_checkpoint_path(dir, step, WEIR_CHECKPOINT_AUTO, file, sizeof file));
  assert_ok(weir_checkpoint_save(&c, WEIR_CHECKPOINT_AUTO, file));
}

static bool has_step(int64_t step, const char *suffix)
{
  char file[512];

  assert_ok(weir_checkpoint_path(dir, step, WEIR_CHECKPOINT_AUTO, file, sizeof file - 16));
  strcat(file, suffix);
  return weir_file_exists(file);
}

static void spoil(int64_t step)
{
  assert_ok(weir_checkpoint_path(dir, step, WEIR_CHECKPOINT_AUTO, path, sizeof path));
  assert_int_equal(truncate(path, 1000), 0);
}

static void no_log(void *context, weir_log_level level, const char *module, const char *text)
{
  (void)level;
  (void)module;
  *(int *)context += strstr(text, "this checkpoint is skipped") != NULL;
}

static void the_newest_whole_one_is_taken(void **state)
{
  weir_store *s = NULL;
  int64_t step = 0;
  int warned = 0;

  weir_log_set_sink(no_log, &warned);
  assert_ok(make_store(&s));
  fill(s, 3);
  const weir_checkpoint c = of(s);

  assert_ok(weir_checkpoint_resume(&c, dir, &step));
  assert_int_equal(step, -1);
  assert_ok(weir_checkpoint_newest_path(dir, path, sizeof path));
  assert_string_equal(path, "");
  for (int64_t i = 80; i <= 120; i += 10) {
    save_step(s, i);
  }
  assert_ok(weir_checkpoint_newest(dir, &step));
  assert_int_equal(step, 120);
  assert_ok(weir_checkpoint_newest_path(dir, path, sizeof path));
  assert_non_null(strstr(path, "checkpoint-000000120."));
  assert_true(weir_file_exists(path));
  assert_ok(weir_checkpoint_weights("run", WEIR_CHECKPOINT_RAW, path, sizeof path));
  assert_string_equal(path, "run/weights.weir");
  spoil(120);
  spoil(110);
  fill(s, 4);
  assert_ok(weir_checkpoint_resume(&c, dir, &step));
  assert_int_equal(step, 100);
  assert_int_equal(*(int64_t *)check_stored(s, "train.step")->data, 100);
  assert_int_equal(warned, 2);
  assert_false(has_step(120, ""));
  assert_true(has_step(120, ".damaged") && has_step(110, ".damaged"));

  assert_ok(weir_checkpoint_prune(dir, 2));
  assert_true(has_step(100, "") && has_step(90, "") && !has_step(80, ""));
  spoil(100);
  spoil(90);
  for (int time = 0; time < 2; time++) { /* the files stay, so that the next run is refused too */
    assert_int_equal(weir_checkpoint_resume(&c, dir, &step), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "none of its 2 checkpoints is intact"));
    assert_true(has_step(100, "") && has_step(90, ""));
  }
  weir_store_destroy(&s);
  weir_log_set_sink(NULL, NULL);
}

/* Refuses the newest one, of step 500, which keeps its name. */
static void refuse_newest(weir_store *s, weir_status status, const char *message)
{
  const weir_checkpoint c = of(s);
  struct stat info;
  int64_t step = 0;

  assert_int_equal(weir_checkpoint_resume(&c, dir, &step), status);
  assert_non_null(strstr(weir_last_message(), message));
  assert_int_equal(lstat(path, &info), 0);
  assert_int_equal(remove(path), 0);
}

/* A file that cannot be read, or that a later version wrote, may be whole. */
static void only_what_is_damaged_is_set_aside(void **state)
{
  weir_store *s = NULL;

  assert_ok(make_store(&s));
  fill(s, 5);
  save_step(s, 400);
  assert_ok(weir_checkpoint_path(dir, 500, WEIR_CHECKPOINT_AUTO, path, sizeof path));
  assert_int_equal(symlink("nowhere", path), 0);
  refuse_newest(s, WEIR_ERR_DATA, "cannot be read");
  assert_int_equal(mkdir(path, 0700), 0);
  refuse_newest(s, WEIR_ERR_DATA, "cannot be read");
  weir_check_write(path, "WEIRSTO2 and more", 17);
  refuse_newest(s, WEIR_ERR_UNSUPPORTED, "dump version 2 is not supported");
  if (weir_netcdf_available()) {
    weir_netcdf *nc = NULL;

    assert_ok(weir_netcdf_create(path, &nc));
    assert_ok(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "weir_checkpoint", "2"));
    assert_ok(weir_netcdf_commit(&nc));
    refuse_newest(s, WEIR_ERR_UNSUPPORTED, "checkpoint of kind '2'");
  }
  weir_store_destroy(&s);
}

static void what_dead_processes_left_is_removed(void **state)
{
  char dead[512], living[512], other[512];
  const pid_t child = fork();

  if (child == 0) {
    _exit(0);
  }
  assert_int_equal(waitpid(child, NULL, 0), child);
  snprintf(dead, sizeof dead, "%s/checkpoint-000000007.nc.tmp-%ld", dir, (long)child);
  snprintf(living, sizeof living, "%s/checkpoint-000000007.nc.tmp-%ld", dir, (long)getpid());
  snprintf(other, sizeof other, "%s/notes.nc.tmp-%ld", dir, (long)child);
  weir_check_write(dead, "x", 1);
  weir_check_write(living, "x", 1);
  weir_check_write(other, "x", 1);
  assert_ok(weir_checkpoint_prune(dir, 3));
  assert_false(weir_file_exists(dead));
  assert_true(weir_file_exists(living) && weir_file_exists(other));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_newest_whole_one_is_taken),
      cmocka_unit_test(only_what_is_damaged_is_set_aside),
      cmocka_unit_test(what_dead_processes_left_is_removed),
  };

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/one", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
