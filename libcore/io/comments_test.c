/* comments_test.c - comments of WFDB headers: read, passed on where asked for, through every
 * format.
 */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "io/weir_record_convert.h"

static char dir[256];
static const weir_convert_scale any = {1, 1, 1};

static const char *in_dir(const char *name)
{
  static char paths[4][512];
  static int next;

  next = (next + 1) % 4;
  snprintf(paths[next], sizeof paths[next], "%s/%s", dir, name);
  return paths[next];
}

/* A header as wrsamp of the wfdb package writes it, and another with comments at unusual positions.
 */
static const char plain[] = "p 1 250 2\np.dat 16 200.0(0)/mV 16 0 0 3 0 II\n"
                            "# 69 M 1085 1629 x1\n# Aldomet, Inderal\n#True alarm\n";
static const char odd[] = "#first\r\n  # sampling rate (Hz): 7, \"labels\"  \n\no 1 250 2\n#\n"
                          "o.dat 16 200.0(0)/mV 16 0 0 3 0 II\n#a\001b\tc";
#define PLAIN_COMMENTS " 69 M 1085 1629 x1\n Aldomet, Inderal\nTrue alarm\n"
#define ODD_COMMENTS "first\n sampling rate (Hz): 7, \"labels\"\n\na b\tc\n"

static void make(const char *name, const char *header, size_t size)
{
  char file[64];

  snprintf(file, sizeof file, "%s.hea", name);
  weir_check_write(in_dir(file), header, size);
  snprintf(file, sizeof file, "%s.dat", name);
  weir_check_write(in_dir(file), "\1\0\2\0", 4);
}

static void make_both(void)
{
  make("p", plain, sizeof plain - 1);
  make("o", odd, sizeof odd - 1);
}

static void expect_comments(const char *path, const char *comments)
{
  weir_record *r = NULL;

  assert_ok(weir_record_open(path, NULL, &r));
  assert_string_equal(weir_record_comments(r), comments);
  weir_record_close(&r);
}

static void comments_are_read(void **state)
{
  static const char none[] = "n 1 250 2\nn.dat 16 200\n";
  static const char master[] = "s/2 1 250 4\np 2\no 2\n# of all\n";

  (void)state;
  make_both();
  make("n", none, sizeof none - 1);
  weir_check_write(in_dir("s.hea"), master, sizeof master - 1);
  expect_comments(in_dir("p"), PLAIN_COMMENTS);
  expect_comments(in_dir("o"), ODD_COMMENTS);
  expect_comments(in_dir("n"), "");
  expect_comments(in_dir("s"), " of all\n");
}

static void expect_text(const char *path, const char *text)
{
  char *found = NULL;
  int64_t size = 0;

  assert_ok(weir_file_read(path, 1 << 20, &found, &size));
  assert_string_equal(found, text);
  weir_free(&found);
}

/* To WFDB and text, directly or by NetCDF. */
static void through(const char *path, const char *comments)
{
  weir_convert_facts facts;
  weir_record *r = NULL;

  assert_ok(weir_record_open(path, NULL, &r));
  const char *const own = weir_record_comments(r);

  assert_ok(weir_record_to_wfdb(r, NULL, own, in_dir("w"), &any, &facts));
  expect_comments(in_dir("w"), comments);
  assert_ok(weir_record_to_csv(r, NULL, own, in_dir("c"), &facts));
  assert_int_equal(facts.n_files, 2);
  expect_text(in_dir("c_comments.txt"), comments);
  expect_comments(in_dir("c.csv"), "");
  assert_ok(weir_record_to_wfdb(r, NULL, NULL, in_dir("x"), &any, &facts));
  expect_comments(in_dir("x"), "");
  assert_ok(weir_record_to_csv(r, NULL, "", in_dir("y"), &facts));
  assert_int_equal(facts.n_files, 1);
  weir_record_close(&r);
}

static void comments_come_through_every_format(void **state)
{
  weir_convert_facts facts;
  weir_record *r = NULL;

  (void)state;
  make_both();
  through(in_dir("p"), PLAIN_COMMENTS);
  through(in_dir("o"), ODD_COMMENTS);
  if (!weir_netcdf_available()) {
    return;
  }
  assert_ok(weir_record_open(in_dir("o"), NULL, &r));
  assert_ok(weir_record_to_netcdf(r, NULL, weir_record_comments(r), in_dir("o.nc"), &facts));
  assert_ok(weir_record_to_netcdf(r, NULL, NULL, in_dir("x.nc"), &facts));
  weir_record_close(&r);
  expect_comments(in_dir("x.nc"), "");
  through(in_dir("o.nc"), ODD_COMMENTS);
}

static weir_status open_one(void *context)
{
  weir_record *r = NULL;

  WEIR_TRY(weir_record_open(context, NULL, &r));
  weir_record_close(&r);
  return WEIR_OK;
}

static void failing_allocations_are_reported(void **state)
{
  char path[512];

  (void)state;
  make_both();
  snprintf(path, sizeof path, "%s", in_dir("o"));
  assert_true(weir_check_faults(open_one, path) > 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comments_are_read),
      cmocka_unit_test(comments_come_through_every_format),
      cmocka_unit_test(failing_allocations_are_reported),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
