/* folder_test.c - files of a directory: kept for a resumed run, refused where they are
 * damaged or another's, cleaned up; and directories that cannot be written. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/weir_log.h"
#include "support/load/load_check.h"

enum { FILES = 12 };

static char dir[256];

static const weir_sampler order12 = {
    .samples = FILES, .batch = 3, .step = 3, .shuffle = true, .seed = 2};

static weir_load_cfg cfg_of(int64_t files, bool keep)
{
  weir_load_cfg cfg = check_cfg(3, 2);

  cfg.directory.path = dir;
  cfg.directory.bytes = files * CHECK_BYTES;
  cfg.directory.keep = keep;
  return cfg;
}

/* Two epochs; returns the calls of read. */
static weir_load_count run(const weir_load_cfg *cfg, check_source *s)
{
  const weir_access_stream v = weir_access_stream_of(&order12, 0, 1);
  weir_load *l = NULL;
  weir_load_view view;

  assert_ok(weir_load_open(cfg, &s->source, &v, 2 * v.each, &l));
  assert_ok(weir_load_start(l, 0));
  for (int64_t k = 0; k < 2 * v.each; k++) {
    assert_ok(weir_load_next(l, &view));
    assert_int_equal(view.sample, weir_access_stream_sample(&v, k));
    assert_sample(s, view.sample, view.field[0], view.field[1]);
    weir_load_release(l);
  }
  const weir_load_count c = weir_load_counted(l);

  weir_load_close(&l);
  return c;
}

/* Paths of the files that are there. */
static int list(char path[FILES + 4][600])
{
  DIR *const d = opendir(dir);
  int n = 0;

  assert_non_null(d);
  for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
    if (e->d_name[0] != '.') {
      assert_true(n < FILES + 4);
      snprintf(path[n++], 600, "%s/%s", dir, e->d_name);
    }
  }
  (void)closedir(d);
  return n;
}

static void files_stay_for_a_run_that_goes_on(void **state)
{
  weir_load_cfg cfg = cfg_of(FILES, true);
  char path[FILES + 4][600];
  check_source s;

  check_source_init(&s, 0, 4, true);
  assert_int_equal(run(&cfg, &s).reads, FILES);
  assert_int_equal(list(path), FILES);
  const weir_load_count again = run(&cfg, &s);

  assert_int_equal(again.reads, 0);
  assert_int_equal(again.from[WEIR_LOAD_DIRECTORY], 2 * FILES);
  cfg = cfg_of(5, true); /* files of samples without a tier are removed */
  assert_int_equal(run(&cfg, &s).reads, 2 * (FILES - 5));
  assert_int_equal(list(path), 5);
  cfg = cfg_of(FILES, false); /* and all that an earlier run left, where nothing is kept */
  assert_int_equal(run(&cfg, &s).reads, FILES);
  assert_int_equal(list(path), 0);
}

/* Another source, shard or group has files of its own. */
static void files_of_others_are_not_believed(void **state)
{
  const weir_load_cfg cfg = cfg_of(FILES, true), gone = cfg_of(FILES, false);
  char path[FILES + 4][600];
  check_source s;

  check_source_init(&s, 0, 4, true);
  assert_int_equal(run(&cfg, &s).reads, FILES);
  s.source.key = "other";
  assert_int_equal(run(&gone, &s).reads, FILES);
  check_source_init(&s, 1, 4, true);
  assert_int_equal(run(&gone, &s).reads, FILES);
  assert_int_equal(list(path), FILES);
  check_source_init(&s, 0, 4, true);
  assert_int_equal(run(&gone, &s).reads, FILES);
  assert_int_equal(list(path), 0);
}

/* One bit, an end that is missing, a byte too many, nothing, another sample's file. */
static void damaged_files_are_read_again(void **state)
{
  const weir_load_cfg cfg = cfg_of(FILES, true);
  char path[FILES + 4][600];
  check_source s;

  check_source_init(&s, 0, 4, true);
  (void)run(&cfg, &s);
  struct stat info;

  assert_int_equal(list(path), FILES);
  assert_int_equal(stat(path[0], &info), 0);
  for (int64_t byte = 0; byte < info.st_size; byte += 3) {
    FILE *f = fopen(path[byte % FILES], "r+b");

    assert_non_null(f);
    assert_int_equal(fseek(f, byte, SEEK_SET), 0);
    const int was = fgetc(f);

    assert_int_equal(fseek(f, byte, SEEK_SET), 0);
    assert_true(fputc(was ^ 1 << byte % 8, f) != EOF);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(run(&cfg, &s).reads, 1);
  }
  assert_int_equal(truncate(path[1], info.st_size - 1), 0);
  assert_int_equal(truncate(path[2], info.st_size + 1), 0);
  assert_int_equal(truncate(path[3], 0), 0);
  assert_int_equal(remove(path[4]), 0);
  assert_int_equal(rename(path[5], path[6]), 0);
  weir_check_write(path[5], "strange", 7);
  assert_int_equal(run(&cfg, &s).reads, 6);
  assert_int_equal(run(&cfg, &s).reads, 0);
  assert_int_equal(list(path), FILES);
}

/* Files that are damaged while the run has them: read again, counted. */
static void damage_under_way_is_counted(void **state)
{
  weir_load_cfg cfg = cfg_of(FILES, false);
  const weir_access_stream v = weir_access_stream_of(&order12, 0, 1);
  char path[FILES + 4][600];
  check_source s;
  weir_load *l = NULL;
  weir_load_view view;

  check_source_init(&s, 0, 4, true);
  cfg.staging.threads = 0; /* so that it is known what was read */
  assert_ok(weir_load_open(&cfg, &s.source, &v, 2 * v.each, &l));
  assert_ok(weir_load_start(l, 0));
  for (int64_t k = 0; k < 2 * v.each; k++) {
    if (k == v.each) {
      assert_int_equal(list(path), FILES);
      assert_int_equal(truncate(path[3], 70), 0);
      assert_int_equal(truncate(path[7], 0), 0);
    }
    assert_ok(weir_load_next(l, &view));
    assert_sample(&s, view.sample, view.field[0], view.field[1]);
    weir_load_release(l);
  }
  assert_int_equal(weir_load_counted(l).damaged, 2);
  assert_int_equal(weir_load_counted(l).reads, FILES + 2);
  weir_load_close(&l);
  assert_int_equal(list(path), 0);
}

/* A directory that goes away: samples are read again, and the run continues. */
static void what_cannot_be_kept_is_read_again(void **state)
{
  weir_load_cfg cfg = cfg_of(FILES, false);
  const weir_access_stream v = weir_access_stream_of(&order12, 0, 1);
  char gone[300];
  check_source s;
  weir_load *l = NULL;
  weir_load_view view;

  check_source_init(&s, 0, 4, true);
  snprintf(gone, sizeof gone, "%s/gone", dir);
  cfg.directory.path = gone;
  assert_ok(weir_load_open(&cfg, &s.source, &v, 2 * v.each, &l));
  assert_int_equal(rmdir(gone), 0);
  assert_ok(weir_load_start(l, 0));
  for (int64_t k = 0; k < 2 * v.each; k++) {
    assert_ok(weir_load_next(l, &view));
    assert_sample(&s, view.sample, view.field[0], view.field[1]);
    weir_load_release(l);
  }
  assert_int_equal(weir_load_counted(l).lost, FILES);
  assert_int_equal(weir_load_counted(l).reads, 2 * FILES);
  weir_load_close(&l);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_stay_for_a_run_that_goes_on),
      cmocka_unit_test(files_of_others_are_not_believed),
      cmocka_unit_test(damaged_files_are_read_again),
      cmocka_unit_test(damage_under_way_is_counted),
      cmocka_unit_test(what_cannot_be_kept_is_read_again),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
