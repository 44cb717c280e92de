/* full_netcdf_test.c - files that find no space, wherever in the file that is. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "support/io/io_test.h"
#include "io/weir_netcdf.h"

/* Read by the leak sanitizer: HDF5 does not free what belonged to a file whose close failed. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
  return "leak:libhdf5\n";
}

enum { ROWS = 6, WIDTH = 3000 };

/* Attributes, texts, a compressed variable that grows and a plain one: about 100 kB. */
static weir_status write_one(const char *path)
{
  static const char *const words[] = {"one", "two", "three"};
  static float row[WIDTH];
  const int64_t chunk[] = {1, WIDTH}, zero = 0, three = 3;
  int dims[3], vars[3];
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  for (int i = 0; i < WIDTH; i++) {
    row[i] = (float)((i * 7919) % 10007) * 1e-3f;
  }
  WEIR_TRY(weir_netcdf_create(path, &nc));
  WEIR_TRY_GOTO(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "title", "a file for a full disk"),
                done);
  WEIR_TRY_GOTO(weir_netcdf_dim(nc, "time", WEIR_NETCDF_UNLIMITED, &dims[0]), done);
  WEIR_TRY_GOTO(weir_netcdf_dim(nc, "x", WIDTH, &dims[1]), done);
  WEIR_TRY_GOTO(weir_netcdf_dim(nc, "word", 3, &dims[2]), done);
  WEIR_TRY_GOTO(weir_netcdf_var(nc, "field", WEIR_F32, 2, dims, &vars[0]), done);
  WEIR_TRY_GOTO(weir_netcdf_chunk(nc, vars[0], chunk, 1), done);
  WEIR_TRY_GOTO(weir_netcdf_var(nc, "plain", WEIR_F32, 1, &dims[1], &vars[1]), done);
  WEIR_TRY_GOTO(weir_netcdf_text_var(nc, "word", 1, &dims[2], &vars[2]), done);
  WEIR_TRY_GOTO(weir_netcdf_write_texts(nc, vars[2], &zero, &three, words), done);
  for (int64_t t = 0; t < ROWS; t++) {
    const int64_t start[] = {t, 0}, count[] = {1, WIDTH};

    WEIR_TRY_GOTO(weir_netcdf_write(nc, vars[0], start, count, row), done);
  }
  const int64_t width = WIDTH;

  WEIR_TRY_GOTO(weir_netcdf_write(nc, vars[1], &zero, &width, row), done);
  WEIR_TRY_GOTO(weir_netcdf_commit(&nc), done);
done:
  weir_netcdf_close(&nc);
  return status;
}

static void limit_files(int64_t bytes)
{
  struct rlimit limit;

  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes < 0 ? limit.rlim_max : (rlim_t)bytes;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Files up to the size that a whole one has, in steps of an odd number of bytes; then there is
 * space again and the same process writes the same file. */
static int fill(const char *dir, int64_t whole)
{
  char path[300];

  (void)snprintf(path, sizeof path, "%s/x.nc", dir);
  for (int64_t limit = 0; limit < whole; limit += whole / 97 + 1) {
    limit_files(limit);
    const weir_status status = write_one(path);

    limit_files(-1);
    if (status != WEIR_ERR_SPACE || strstr(weir_last_message(), path) == NULL ||
        strstr(weir_last_message(), "file too large") == NULL || weir_dir_has_entries(dir)) {
      fprintf(stderr, "limit %lld: status %d: %s\n", (long long)limit, (int)status,
              weir_last_message());
      return 1;
    }
  }
  return write_one(path) == WEIR_OK && weir_file_exists(path) ? 0 : 2;
}

/* The library's exit handlers run in the child. */
static void no_space_is_named_at_every_size_and_the_program_ends_well(void **state)
{
  char dir[256], path[300];
  int64_t whole = 0;
  int code = -1;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/x.nc", dir);
  const pid_t child = fork();

  assert_true(child >= 0);
  if (child == 0) {
    (void)signal(SIGXFSZ, SIG_IGN);
    if (write_one(path) != WEIR_OK || weir_file_size(path, &whole) != WEIR_OK ||
        unlink(path) != 0) {
      exit(3);
    }
    exit(fill(dir, whole));
  }
  assert_true(waitpid(child, &code, 0) == child);
  assert_true(WIFEXITED(code));
  assert_int_equal(WEXITSTATUS(code), 0);
  weir_check_rmdir(dir);
}

/* Memory that values are passed in counts as a file: the cause is the limit, not the file read. */
static int read_under_a_limit(const char *path)
{
  static float row[WIDTH];
  const int64_t zero = 0, width = WIDTH;
  weir_netcdf *nc = NULL;
  weir_netcdf_shape shape;
  int var = 0;

  if (write_one(path) != WEIR_OK) {
    return 3;
  }
  limit_files(WIDTH);
  if (weir_netcdf_open(path, &nc) != WEIR_OK ||
      weir_netcdf_find(nc, "plain", &var, &shape) != WEIR_OK) {
    return 4;
  }
  const weir_status status = weir_netcdf_read(nc, var, &zero, &width, row);
  const bool named = strstr(weir_last_message(), "raise the file size limit") != NULL;

  weir_netcdf_close(&nc);
  return status == WEIR_ERR_SPACE && named ? 0 : 5;
}

static void a_limit_is_named_where_values_are_read(void **state)
{
  char dir[256], path[300];
  int code = -1;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/x.nc", dir);
  const pid_t child = fork();

  assert_true(child >= 0);
  if (child == 0) {
    (void)signal(SIGXFSZ, SIG_IGN);
    exit(read_under_a_limit(path));
  }
  assert_true(waitpid(child, &code, 0) == child);
  assert_true(WIFEXITED(code));
  assert_int_equal(WEXITSTATUS(code), 0);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_space_is_named_at_every_size_and_the_program_ends_well),
      cmocka_unit_test(a_limit_is_named_where_values_are_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
