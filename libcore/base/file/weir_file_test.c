/* weir_file_test.c - reads are bounded; writes appear atomically. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"

struct fixture {
  char dir[256], path[512];
};

static int make_fixture(void **state)
{
  static struct fixture fixture;

  weir_check_mkdir(fixture.dir, sizeof fixture.dir);
  assert_ok(weir_path_join(fixture.dir, "out.txt", fixture.path, sizeof fixture.path));
  *state = &fixture;
  return 0;
}

static int drop_fixture(void **state)
{
  weir_check_rmdir(((struct fixture *)*state)->dir);
  return 0;
}

static void assert_holds(const char *path, const char *expected)
{
  char *text;
  int64_t size;

  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_int_equal(size, strlen(expected));
  assert_string_equal(text, expected);
  weir_free(&text);
}

static void write_whole(const char *path, const char *text)
{
  weir_writer *w;

  assert_ok(weir_writer_open(path, &w));
  assert_ok(weir_writer_write(w, text, strlen(text)));
  assert_ok(weir_writer_commit(&w));
  assert_null(w);
}

static void old_content_stays_until_commit(void **state)
{
  const struct fixture *at = *state;
  weir_writer *w;

  write_whole(at->path, "old");
  assert_ok(weir_writer_open(at->path, &w));
  assert_ok(weir_writer_printf(w, "new %d", 42));
  assert_holds(at->path, "old");
  assert_true(weir_file_exists(weir_writer_path(w)));
  assert_ok(weir_writer_commit(&w));
  assert_holds(at->path, "new 42");
  assert_int_equal(unlink(at->path), 0);
  assert_false(weir_dir_has_entries(at->dir));
}

static void destroy_leaves_nothing(void **state)
{
  const struct fixture *at = *state;
  weir_writer *w;

  assert_ok(weir_writer_open(at->path, &w));
  assert_ok(weir_writer_write(w, "half", 4));
  weir_writer_destroy(&w);
  assert_null(w);
  weir_writer_destroy(&w);
  assert_false(weir_dir_has_entries(at->dir));
}

static void failed_commit_leaves_nothing_and_keeps_the_old(void **state)
{
  const struct fixture *at = *state;
  weir_writer *w;

  assert_ok(weir_writer_open(at->path, &w));
  assert_int_equal(unlink(weir_writer_path(w)), 0); /* somebody takes the file away */
  assert_int_equal(weir_writer_commit(&w), WEIR_ERR_DATA);
  assert_null(w);
  assert_non_null(strstr(weir_last_message(), at->path));
  assert_false(weir_dir_has_entries(at->dir));
}

static void open_three(const struct fixture *at, char path[3][512], weir_writer *w[4])
{
  static const char *const name[] = {"a", "b", "c"};

  w[3] = NULL;
  for (int k = 0; k < 3; k++) {
    assert_ok(weir_path_join(at->dir, name[k], path[k], sizeof path[k]));
    assert_ok(weir_writer_open(path[k], &w[k]));
    assert_ok(weir_writer_write(w[k], name[k], 1));
  }
}

/* The k-th is refused at the end of its writing, or only when it is renamed. */
static void files_appear_together_or_not_at_all(void **state)
{
  const struct fixture *at = *state;
  char path[3][512];
  weir_writer *w[4];

  for (int k = 0; k < 3; k++) {
    open_three(at, path, w);
    assert_int_equal(unlink(weir_writer_path(w[k])), 0); /* nothing to sync */
    assert_int_equal(weir_writer_commit_all(w, 4), WEIR_ERR_DATA);
    assert_true(w[0] == NULL && w[1] == NULL && w[2] == NULL);
    assert_non_null(strstr(weir_last_message(), path[k]));
    assert_false(weir_dir_has_entries(at->dir));
    open_three(at, path, w);
    assert_int_equal(mkdir(path[k], 0777), 0); /* in the way of the name */
    assert_int_equal(weir_writer_commit_all(w, 4), WEIR_ERR_DATA);
    assert_int_equal(rmdir(path[k]), 0);
    assert_false(weir_dir_has_entries(at->dir));
  }
  open_three(at, path, w);
  assert_false(weir_file_exists(path[0]));
  assert_ok(weir_writer_commit_all(w, 4));
  assert_holds(path[0], "a");
  assert_holds(path[2], "c");
  assert_ok(weir_writer_commit_all(w, 0));
}

/* A size limit stands in for a disk without space: the write fails at the flush. */
static void full_disk_leaves_nothing(void **state)
{
  const struct fixture *at = *state;
  struct rlimit before, tight;
  weir_writer *w;
  char block[4096];

  memset(block, 'x', sizeof block);
  assert_ok(weir_writer_open(at->path, &w));
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  tight = before;
  tight.rlim_cur = 1000;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
  weir_status status = WEIR_OK;
  for (int i = 0; i < 10 && status == WEIR_OK; i++) {
    status = weir_writer_write(w, block, sizeof block);
  }
  const weir_status commit = weir_writer_commit(&w);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(status, WEIR_ERR_SPACE);
  assert_int_equal(commit, WEIR_ERR_SPACE);
  assert_non_null(strstr(weir_last_message(), at->path));
  assert_non_null(strstr(weir_last_message(), "file too large"));
  assert_false(weir_dir_has_entries(at->dir));
}

/* Each reason is named with file, folder and remedy; what is no lack of space keeps its status. */
static void reasons_of_failed_writes_are_told_apart(void **state)
{
  static const struct {
    int reason;
    weir_status status;
    const char *cause, *remedy;
  } row[] = {{ENOSPC, WEIR_ERR_SPACE, "no space left on device", "free space in /a/b"},
             {EDQUOT, WEIR_ERR_SPACE, "disk quota exceeded", "the file system of /a/b"},
             {EFBIG, WEIR_ERR_SPACE, "file too large", "ulimit -f"},
             {EACCES, WEIR_ERR_DATA, "Permission denied", ""}};

  (void)state;
  for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
    assert_int_equal(weir_write_failed("/a/b/c.nc", row[k].reason, WEIR_ERR_DATA), row[k].status);
    assert_int_equal(weir_no_space(row[k].reason), row[k].status == WEIR_ERR_SPACE);
    assert_non_null(strstr(weir_last_message(), "/a/b/c.nc: "));
    assert_non_null(strstr(weir_last_message(), row[k].cause));
    assert_non_null(strstr(weir_last_message(), row[k].remedy));
  }
  assert_int_equal(weir_write_failed("c.nc", ENOSPC, WEIR_ERR_DATA), WEIR_ERR_SPACE);
  assert_non_null(strstr(weir_last_message(), "free space in . or"));
  assert_int_equal(weir_write_failed("/c.nc", ENOSPC, WEIR_ERR_DATA), WEIR_ERR_SPACE);
  assert_non_null(strstr(weir_last_message(), "free space in / or"));
  assert_int_equal(weir_output_failed("beats", ENOSPC), WEIR_ERR_SPACE);
  assert_int_equal(weir_output_failed("beats", EBADF), WEIR_ERR_DATA);
  assert_int_equal(weir_temporary_failed("beats", ENOSPC), WEIR_ERR_SPACE);
}

static void places_that_cannot_be_written_are_refused(void **state)
{
  const struct fixture *at = *state;
  char missing[600];
  weir_writer *w, *second;

  snprintf(missing, sizeof missing, "%s/no/such.txt", at->dir);
  assert_int_equal(weir_writer_open(missing, &w), WEIR_ERR_DATA);
  assert_null(w);
  assert_non_null(strstr(weir_last_message(), missing));
  assert_int_equal(weir_writer_open(at->dir, &w), WEIR_ERR_DATA);
  assert_ok(weir_writer_open(at->path, &w));
  assert_int_equal(weir_writer_open(at->path, &second), WEIR_ERR_DATA);
  assert_null(second);
  weir_writer_destroy(&w);
  assert_false(weir_dir_has_entries(at->dir));
}

static void remove_all_removes_every_unfinished_file(void **state)
{
  const struct fixture *at = *state;
  weir_writer *w[3];
  char path[600];

  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%d", at->dir, i);
    assert_ok(weir_writer_open(path, &w[i]));
  }
  weir_writer_remove_all();
  assert_false(weir_dir_has_entries(at->dir));
  for (int i = 0; i < 3; i++) {
    weir_writer_destroy(&w[i]);
  }
}

static void library_may_reopen_the_file_by_name(void **state)
{
  const struct fixture *at = *state;
  weir_writer *w;

  assert_ok(weir_writer_open(at->path, &w));
  assert_int_equal(unlink(weir_writer_path(w)), 0);
  FILE *other = fopen(weir_writer_path(w), "w");
  assert_non_null(other);
  fputs("theirs", other);
  fclose(other);
  assert_ok(weir_writer_commit(&w));
  assert_holds(at->path, "theirs");
}

static void reading_refuses_what_it_must(void **state)
{
  const struct fixture *at = *state;
  char *text;
  int64_t size;

  write_whole(at->path, "12345");
  assert_int_equal(weir_file_read(at->path, 4, &text, &size), WEIR_ERR_DATA);
  assert_null(text);
  assert_non_null(strstr(weir_last_message(), "exceeds the 4 bytes"));
  assert_ok(weir_file_read(at->path, 5, &text, &size));
  assert_int_equal(size, 5);
  weir_free(&text);
  assert_int_equal(weir_file_read(at->dir, 100, &text, &size), WEIR_ERR_DATA);
  assert_int_equal(weir_file_size(at->dir, &size), WEIR_ERR_DATA);
  assert_ok(weir_file_size(at->path, &size));
  assert_int_equal(size, 5);
  assert_int_equal(unlink(at->path), 0);
  assert_int_equal(weir_file_read(at->path, 100, &text, &size), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "No such file"));
  assert_int_equal(weir_file_size(at->path, &size), WEIR_ERR_DATA);
}

/* Files without a size, or with a false one, are bounded all the same. */
static void endless_and_sizeless_files_are_bounded(void **state)
{
  char *text;
  int64_t size;

  assert_int_equal(weir_file_read("/dev/zero", 100000, &text, &size), WEIR_ERR_DATA);
  assert_null(text);
  assert_ok(weir_file_read("/dev/null", 0, &text, &size));
  assert_int_equal(size, 0);
  assert_string_equal(text, "");
  weir_free(&text);
  assert_ok(weir_file_read("/proc/version", 1 << 16, &text, &size));
  const int64_t length = size; /* the file says 0 */
  assert_true(length > 10);
  weir_free(&text);
  assert_ok(weir_file_read("/proc/version", length, &text, &size));
  assert_int_equal(size, length);
  weir_free(&text);
  assert_int_equal(weir_file_read("/proc/version", length - 1, &text, &size), WEIR_ERR_DATA);
}

static void directories_are_made_with_their_parents(void **state)
{
  const struct fixture *at = *state;
  char deep[600];

  snprintf(deep, sizeof deep, "%s/a/b//c", at->dir);
  assert_ok(weir_dir_create(deep));
  assert_ok(weir_dir_create(deep));
  assert_true(weir_file_exists(deep));
  assert_true(weir_dir_has_entries(at->dir));
  assert_false(weir_dir_has_entries(deep));
  assert_false(weir_dir_has_entries("/no/such/dir"));
  write_whole(at->path, "file");
  snprintf(deep, sizeof deep, "%s/below", at->path);
  assert_int_equal(weir_dir_create(deep), WEIR_ERR_DATA);
  assert_int_equal(weir_dir_create(at->path), WEIR_ERR_DATA);
  assert_int_equal(weir_dir_create(""), WEIR_ERR_DATA);
}

static void paths_join_or_are_refused(void **state)
{
  char text[8];

  assert_ok(weir_path_join("a", "b", text, sizeof text));
  assert_string_equal(text, "a/b");
  assert_ok(weir_path_join("a/", "b", text, sizeof text));
  assert_string_equal(text, "a/b");
  assert_ok(weir_path_join("", "b", text, sizeof text));
  assert_string_equal(text, "b");
  assert_ok(weir_path_join("abc", "def", text, sizeof text));
  assert_int_equal(weir_path_join("abcd", "def", text, sizeof text), WEIR_ERR_CONFIG);
}

static weir_status write_and_read(void *context)
{
  const struct fixture *at = context;
  weir_status status;
  weir_writer *w = NULL;
  char *text = NULL;
  int64_t size;

  WEIR_TRY_GOTO(weir_dir_create(at->dir), done);
  WEIR_TRY_GOTO(weir_writer_open(at->path, &w), done);
  WEIR_TRY_GOTO(weir_writer_commit(&w), done);
  WEIR_TRY_GOTO(weir_file_read(at->path, 10, &text, &size), done);
done:
  weir_free(&text);
  weir_writer_destroy(&w);
  return status;
}

static void faults_leave_no_file_and_no_memory(void **state)
{
  const struct fixture *at = *state;
  int64_t faults;

  faults = weir_check_faults(write_and_read, *state);
  assert_true(faults >= 5);
  assert_int_equal(unlink(at->path), 0);
  assert_false(weir_dir_has_entries(at->dir));
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, make_fixture, drop_fixture)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_FIXTURE(old_content_stays_until_commit),
      WITH_FIXTURE(destroy_leaves_nothing),
      WITH_FIXTURE(failed_commit_leaves_nothing_and_keeps_the_old),
      WITH_FIXTURE(files_appear_together_or_not_at_all),
      WITH_FIXTURE(full_disk_leaves_nothing),
      cmocka_unit_test(reasons_of_failed_writes_are_told_apart),
      WITH_FIXTURE(places_that_cannot_be_written_are_refused),
      WITH_FIXTURE(remove_all_removes_every_unfinished_file),
      WITH_FIXTURE(library_may_reopen_the_file_by_name),
      WITH_FIXTURE(reading_refuses_what_it_must),
      cmocka_unit_test(endless_and_sizeless_files_are_bounded),
      WITH_FIXTURE(directories_are_made_with_their_parents),
      cmocka_unit_test(paths_join_or_are_refused),
      WITH_FIXTURE(faults_leave_no_file_and_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
