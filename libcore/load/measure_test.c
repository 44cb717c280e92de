/* measure_test.c - speeds that are measured are tables of speeds; files do not stay. */
#include <math.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_signal.h"
#include "load/load_priv.h"
#include "load/weir_load_measure.h"

enum { SAMPLE = 1 << 16, BYTES = 1 << 20, MANY = 1 << 26 };
static char dir[256];
static int64_t threads[] = {1, 2, 3}, wrong[] = {2, 1};

/* What is measured is taken by a loader. */
static void assert_table(weir_load_speeds *s)
{
  weir_load_cfg cfg = {.staging = {.bytes = SAMPLE}, .directory = {.path = ""}};

  assert_int_equal(s->n, 3);
  for (int i = 0; i < 3; i++) {
    assert_true(s->item[2 * i] == i + 1 && s->item[2 * i + 1] > 0);
  }
  cfg.memory.speed = (weir_real_list){s->item, 2 * s->n};
  assert_ok(weir_load_suits(&cfg, false, SAMPLE));
}

static void speeds_are_tables(void **state)
{
  const weir_int_list list = {threads, 3};
  weir_load_speeds s;

  assert_ok(weir_load_measure_memory(SAMPLE, BYTES, &list, &s));
  assert_table(&s);
  assert_ok(weir_load_measure_directory(dir, SAMPLE, BYTES, &list, &s));
  assert_table(&s);
  assert_true(s.cached >= 0 && s.cached <= 1);
  assert_false(weir_dir_has_entries(dir));
}

static void what_is_in_memory_is_known(void **state)
{
  char path[300];

  snprintf(path, sizeof path, "%s/none", dir);
  assert_true(isnan(weir_load_drop_cached(path)));
  snprintf(path, sizeof path, "%s/a", dir);
  weir_check_write(path, "some bytes", 10);
  const double cached = weir_load_drop_cached(path); /* a file system in memory keeps all */

  assert_true(cached == 0 || cached == 1);
  (void)remove(path);
}

/* To a user who neither owns a file nor may write it the kernel says that all of it is in memory.
 */
static void of_files_of_others_it_is_not_known(void **state)
{
  const uid_t user = geteuid();

  if (user != 0 || seteuid(65534) == 0) {
    const double cached = weir_load_drop_cached("/etc/passwd");

    assert_true(user == 0 ? seteuid(user) == 0 : true);
    assert_true(isnan(cached));
  }
}

static void a_signal_leaves_no_files(void **state)
{
  const weir_int_list list = {threads, 3};
  const struct itimerval soon = {.it_value = {.tv_usec = 5000}}; /* some files are written then */
  weir_load_speeds s;

  assert_true(signal(SIGALRM, weir_stop_request) != SIG_ERR);
  assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
  assert_int_equal(weir_load_measure_directory(dir, SAMPLE, MANY, &list, &s), WEIR_ERR_STOPPED);
  assert_int_equal(weir_load_measure_memory(SAMPLE, BYTES, &list, &s), WEIR_ERR_STOPPED);
  weir_stop_request(0);
  assert_false(weir_dir_has_entries(dir));
}

static void what_is_free_is_below_what_there_is(void **state)
{
  const int64_t all = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
  char path[300];

  assert_true(weir_load_free_memory() > 0 && weir_load_free_memory() <= all);
  assert_true(weir_load_free_space(dir) > 0);
  snprintf(path, sizeof path, "%s/none", dir);
  assert_true(weir_load_free_space(path) == 0);
}

static void what_cannot_be_measured_is_refused(void **state)
{
  const weir_int_list none = {threads, 0}, falling = {wrong, 2}, some = {threads, 2};
  weir_load_speeds s;
  char path[300];

  assert_int_equal(weir_load_measure_memory(SAMPLE, BYTES, &none, &s), WEIR_ERR_CONFIG);
  assert_int_equal(weir_load_measure_memory(SAMPLE, BYTES, &falling, &s), WEIR_ERR_CONFIG);
  snprintf(path, sizeof path, "%s/file", dir);
  weir_check_write(path, "", 0);
  assert_int_equal(weir_load_measure_directory(path, SAMPLE, BYTES, &some, &s), WEIR_ERR_DATA);
  (void)remove(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(speeds_are_tables),
      cmocka_unit_test(what_is_in_memory_is_known),
      cmocka_unit_test(of_files_of_others_it_is_not_known),
      cmocka_unit_test(a_signal_leaves_no_files),
      cmocka_unit_test(what_is_free_is_below_what_there_is),
      cmocka_unit_test(what_cannot_be_measured_is_refused),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
