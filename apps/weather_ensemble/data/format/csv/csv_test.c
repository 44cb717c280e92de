/* csv_test.c - a table of observations as an archive: its stations, times and values; every
 * truncation of it, and every allocation that fails, is an error and no more. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "data/archive/archive.h"

/* Lines in no order, a blank one, and three of six observations missing. */
static const char table[] = "station,time,lat,lon,alt (m),t2m (degC),tp [mm]\n"
                            "B,2020-01-02 00:00,50,10,300,1.5,\n"
                            "\"A, the first\",2020-01-02,45.5,-3,,NaN,2\n"
                            "\n"
                            "B,2020-01-01T00:00:00Z,50,10,300,-1,0.5";

static char dir[256], path[300];

static int set_up(void **state)
{
  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/table.csv", dir);
  return 0;
}

static int tear_down(void **state)
{
  (void)state;
  weir_check_rmdir(dir);
  return 0;
}

static weir_status open_table(void *context)
{
  const char *const paths[] = {path};
  wx_archive *a = NULL;
  const weir_status status = wx_archive_open_truth(paths, 1, NULL, &a);

  (void)context;
  wx_archive_close(&a);
  return status;
}

static void tables_are_archives_of_stations(void **state)
{
  const char *const paths[] = {path};
  const double missing = NAN;
  /* [time, quantity, station]: K of degC, m of mm */
  const double wanted[2][2][2] = {{{272.15, missing}, {0.0005, missing}},
                                  {{274.65, missing}, {missing, 0.002}}};
  wx_archive *a = NULL;

  (void)state;
  weir_check_write(path, table, sizeof table - 1);
  assert_ok(wx_archive_open_truth(paths, 1, NULL, &a));
  const wx_archive_info *const f = wx_archive_get(a);

  assert_int_equal(f->grid.kind, WX_GRID_SITES);
  assert_int_equal(f->grid.n_lon, 2);
  assert_true(f->grid.lat[0] == 50 && f->grid.lat[1] == 45.5 && f->grid.lon[1] == -3);
  assert_true(f->grid.height[0] == 300 && isnan(f->grid.height[1]));
  assert_int_equal(f->n_init_times, 2);
  assert_int_equal(f->n_quantities, 2);
  assert_string_equal(f->quantity[0].name, "2t");
  assert_string_equal(f->quantity[1].units, "m");
  assert_string_equal(f->quantity[1].method, "sum");
  assert_true(isnan(wx_archive_period(f, 1, 0))); /* of a time that a table does not state */
  for (int64_t time = 0; time < 2; time++) {
    for (int64_t q = 0; q < 2; q++) {
      float x[2];

      assert_ok(wx_archive_read(a, time, 0, q, 0, 1, x));
      for (int k = 0; k < 2; k++) {
        const double want = wanted[time][q][k];

        assert_true(isnan(want) ? isnan(x[k]) : fabs((double)x[k] - want) < 1e-6 * fabs(want));
      }
    }
  }
  wx_archive_close(&a);
}

static void truncated_tables_are_read_or_refused(void **state)
{
  (void)state;
  for (size_t n = 0; n < sizeof table; n++) {
    weir_check_write(path, table, n);
    const weir_status status = open_table(NULL);

    assert_true(status == WEIR_OK || status == WEIR_ERR_DATA);
  }
}

static void memory_that_is_not_there_is_an_error(void **state)
{
  (void)state;
  weir_check_write(path, table, sizeof table - 1);
  assert_true(weir_check_faults(open_table, NULL) > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_archives_of_stations),
      cmocka_unit_test(truncated_tables_are_read_or_refused),
      cmocka_unit_test(memory_that_is_not_there_is_an_error),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
