/* listing_test.c - which files are listed, and when they count as whole. */
#include "watch/listing.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/weir_check.h"

static char dir[256];

static int make(void **state)
{
  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  return 0;
}

static int clean(void **state)
{
  (void)state;
  weir_check_rmdir(dir);
  return 0;
}

static void append(const char *name, const char *text)
{
  char path[512];

  (void)snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "ab");

  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

static void a_file_settles_after_its_last_change(void **state)
{
  wx_listing l = {.n = 0};
  wx_listed *f = NULL;

  (void)state;
  append("a.nc", "x");
  assert_ok(wx_listing_update(&l, dir, "*", 100));
  assert_true(l.n == 1 && wx_listing_waiting(&l) == 1 && l.file[0].bytes == 1);
  assert_null(wx_listing_next(&l, 109, 10));
  append("a.nc", "y"); /* at 109, seen at 110 */
  assert_ok(wx_listing_update(&l, dir, "*", 110));
  assert_null(wx_listing_next(&l, 119, 10));
  assert_ok(wx_listing_update(&l, dir, "*", 120));
  f = wx_listing_next(&l, 120, 10);
  assert_non_null(f);
  f->handled = true;
  assert_ok(wx_listing_update(&l, dir, "*", 130));
  assert_true(l.file[0].handled && wx_listing_waiting(&l) == 0);
  assert_null(wx_listing_next(&l, 999, 10));
  append("a.nc", "z"); /* rewritten: another input */
  append("0.nc", "z"); /* before it */
  assert_ok(wx_listing_update(&l, dir, "*", 140));
  assert_true(l.n == 2 && wx_listing_waiting(&l) == 2 && l.file[1].since == 140);
  wx_listing_fini(&l);
}

static void folders_and_hidden_files_are_no_input(void **state)
{
  wx_listing l = {.n = 0};
  char path[512];

  (void)state;
  append("a.grib", "");
  append("b.nc", "");
  append(".c.grib", "");
  append("d\n.grib", "");
  (void)snprintf(path, sizeof path, "%s/e.grib", dir);
  assert_int_equal(mkdir(path, 0700), 0);
  assert_ok(wx_listing_update(&l, dir, "*.grib", 0));
  assert_true(l.n == 1 && strcmp(l.file[0].name, "a.grib") == 0);
  assert_ok(wx_listing_update(&l, dir, "*", 0));
  assert_int_equal(l.n, 2);
  assert_int_equal(wx_listing_update(&l, path + 1, "*", 0), WEIR_ERR_DATA);
  assert_int_equal(l.n, 2);
  wx_listing_fini(&l);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_file_settles_after_its_last_change, make, clean),
      cmocka_unit_test_setup_teardown(folders_and_hidden_files_are_no_input, make, clean),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
