/* grib_eccodes_test.c - GRIB files through the archive: the numbers of the shared data's
 * README, members of several files, columns that begin elsewhere, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "data/archive/archive.h"
#include "support/io/io_test.h"
#include "io/weir_grib.h"

static char dir[256], path[2][512];

static wx_archive *open_shared(const char *name)
{
  char shared[512];
  const char *const paths[] = {shared};
  wx_archive *a = NULL;

  weir_check_shared(shared, sizeof shared, "weather/grib/%s.grib", name);
  assert_ok(wx_archive_open(paths, 1, &a));
  return a;
}

/* What the README's table has of a selection. */
typedef struct row {
  const char *file, *quantity;
  int64_t members;
  double lead, mean, spread, min, max;
} row;

static void check_row(const row *r)
{
  wx_archive *a = open_shared(r->file);
  const wx_archive_info *const f = wx_archive_get(a);
  const int64_t q = wx_archive_find_quantity(f, r->quantity), l = wx_archive_find_lead(f, r->lead);
  const int64_t cells = wx_grid_cells(&f->grid), n = f->n_members;
  double sums[3] = {0}, min = INFINITY, max = -INFINITY; /* weight, mean, variance */

  assert_int_equal(n, r->members);
  assert_true(q >= 0 && l >= 0);
  float *const x = malloc((size_t)(n * cells) * sizeof *x);

  assert_ok(wx_archive_read(a, 0, l, q, 0, n, x));
  for (int64_t i = 0; i < cells; i++) {
    const double w = cos(f->grid.lat[i / f->grid.n_lon] * acos(-1) / 180);
    double mean = 0, variance = 0;

    for (int64_t m = 0; m < n; m++) {
      mean += (double)x[m * cells + i] / (double)n;
      min = fmin(min, (double)x[m * cells + i]);
      max = fmax(max, (double)x[m * cells + i]);
    }
    for (int64_t m = 0; m < n; m++) {
      const double d = (double)x[m * cells + i] - mean;

      variance += d * d / (double)(n - 1);
    }
    sums[0] += w;
    sums[1] += w * mean;
    sums[2] += w * variance;
  }
  assert_near(sums[1] / sums[0], r->mean, 1e-7 + 6e-4 / fabs(r->mean));
  assert_near(sqrt(sums[2] / sums[0]), r->spread, 6e-5);
  assert_near(min, r->min, 1e-7 + 6e-3 / fmax(1, fabs(r->min)));
  assert_near(max, r->max, 1e-7 + 6e-3 / fmax(1, fabs(r->max)));
  free(x);
  wx_archive_close(&a);
}

static void numbers_are_those_of_the_table(void **state)
{
  static const row rows[] = {
      {"era5-levels-members", "z500", 10, 0, 55381.247, 14.3862, 46697.12, 58148.14},
      {"era5-levels-members", "t850", 10, 0, 280.114, 0.4374, 237.41, 304.98},
      {"z500_ens", "z500", 51, 96, 56557.097, 396.0179, 51547.27, 58614.59},
      {"ens_storm", "z850", 51, 78, 12664.054, 308.3033, 9604.38, 15378.78},
      {"ens_storm", "10fg3", 51, 78, 15.594, 3.5673, 0.79, 48.63},
      {"wgust_ens", "10fg6", 50, 66, 8.931, 1.6936, 0.73, 35.00},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    check_row(&rows[i]);
  }
}

static void an_analysis_has_init_times_and_no_leads(void **state)
{
  wx_archive *a = open_shared("era5-levels-members");
  const wx_archive_info *const f = wx_archive_get(a);

  (void)state;
  assert_int_equal(f->n_init_times, 4);
  assert_int_equal(f->n_leads, 1);
  assert_int_equal(f->n_quantities, 4);
  assert_int_equal(f->start[0], 1483228800); /* 2017-01-01 */
  assert_int_equal(f->start[3], 1483228800 + 36 * 3600);
  assert_near(f->lead[0], 0, 0);
  assert_string_equal(f->quantity[0].units, "m2 s-2");
  assert_string_equal(f->quantity[0].standard_name, "geopotential");
  assert_true(f->grid.wraps);
  for (int64_t i = 0; i < 4 * 4 * 10; i++) {
    assert_true(wx_archive_has(a, i / 40, 0, i / 10 % 4, i % 10));
  }
  wx_archive_close(&a);
}

static void leads_are_those_of_each_quantity(void **state)
{
  wx_archive *a = open_shared("ens_storm");
  const wx_archive_info *const f = wx_archive_get(a);
  const int64_t z = wx_archive_find_quantity(f, "z850"), g = wx_archive_find_quantity(f, "10fg3");

  (void)state;
  assert_int_equal(f->n_leads, 3); /* 72, 78, 84 h; z at 78 h only */
  assert_true(!wx_archive_has(a, 0, 0, z, 5) && wx_archive_has(a, 0, 1, z, 5));
  assert_true(wx_archive_has(a, 0, 0, g, 50) && wx_archive_has(a, 0, 2, g, 0));
  wx_archive_close(&a);
}

enum { ROWS = 3, COLUMNS = 8, CELLS = ROWS * COLUMNS };

/* Value of a member where the column is at `lon`. */
static float value_at(int64_t member, int64_t j, double lon)
{
  return (float)(1000 * (double)member + 100 * (double)j + fmod(lon + 360, 360) / 45);
}

/* Members [from, to) on a globe whose columns begin at `west`; and a mean, which is no member. */
static void write_members(const char *name, int64_t from, int64_t to, double west)
{
  double lat[ROWS] = {45, 0, -45}, lon[COLUMNS];
  const weir_grib_grid grid = {.n_lat = ROWS, .n_lon = COLUMNS, .lat = lat, .lon = lon};
  weir_grib_out o = {.grid = &grid,
                     .start = 86400,
                     .step_seconds = {43200, 43200},
                     .n_members = 4,
                     .param = 167,
                     .level_type = "heightAboveGround",
                     .level = 2,
                     .bits = 24};
  weir_grib_writer *w = NULL;
  float x[CELLS];

  for (int i = 0; i < COLUMNS; i++) {
    lon[i] = west + 45 * i;
  }
  assert_ok(weir_grib_create(name, &w));
  for (int64_t m = from; m < to; m++) {
    for (int k = 0; k < CELLS; k++) {
      x[k] = value_at(m, k / COLUMNS, lon[k % COLUMNS]);
    }
    o.number = m;
    assert_ok(weir_grib_write(w, &o, x));
  }
  o.product = WEIR_GRIB_MEAN;
  assert_ok(weir_grib_write(w, &o, x));
  assert_ok(weir_grib_commit(&w));
}

static void members_of_several_files_are_one_ensemble(void **state)
{
  const char *const paths[] = {path[0], path[1]}, *const twice[] = {path[0], path[0]};
  float x[4 * CELLS];
  wx_archive *a = NULL;

  (void)state;
  write_members(path[0], 1, 4, -180);
  write_members(path[1], 0, 1, 0); /* the control, in columns from 0 */
  assert_ok(wx_archive_open(paths, 2, &a));
  const wx_archive_info *const f = wx_archive_get(a);

  assert_int_equal(f->n_members, 4);
  assert_int_equal(f->n_quantities, 1);
  assert_string_equal(f->quantity[0].name, "2t");
  assert_near(f->lead[0], 12, 0);
  assert_near(f->grid.lon[0], 0, 1e-9);
  assert_ok(wx_archive_read(a, 0, 0, 0, 0, 4, x));
  for (int64_t k = 0; k < 4 * CELLS; k++) {
    const double wanted =
        (double)value_at(k / CELLS, k / COLUMNS % ROWS, 45 * (double)(k % COLUMNS));

    assert_near((double)x[k], wanted, 1e-6);
  }
  wx_archive_close(&a);
  assert_int_equal(wx_archive_open(twice, 2, &a), WEIR_ERR_DATA);
}

static void refused(const char *first, const char *second, const char *said)
{
  char one[512], two[512];
  const char *const paths[] = {one, two};
  wx_archive *a = NULL;

  weir_check_shared(one, sizeof one, "weather/grib/%s.grib", first);
  weir_check_shared(two, sizeof two, "weather/grib/%s.grib", second);
  assert_int_equal(wx_archive_open(paths, strcmp(first, second) == 0 ? 1 : 2, &a), WEIR_ERR_DATA);
  if (!strstr(weir_last_message(), said)) {
    fprintf(stderr, "%s\n", weir_last_message());
  }
  assert_non_null(strstr(weir_last_message(), said));
}

static void what_cannot_be_read_is_refused(void **state)
{
  (void)state;
  refused("reduced_gg", "reduced_gg", "reduced_gg.grib: message 1 (byte 0): gridType=reduced_gg");
  refused("spherical_harmonics", "spherical_harmonics", "message 1 (byte 0): gridType=sh");
  refused("era5-levels-corrupted", "era5-levels-corrupted",
          "message 1 (byte 0) is damaged: totalLength=1588");
  refused("era5-levels-members", "z500_ens", "is on another grid");
  refused("ens_storm", "fc_storm",
          "fc_storm.grib"); /* the forecast and the control: member 0 twice */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_those_of_the_table),
      cmocka_unit_test(an_analysis_has_init_times_and_no_leads),
      cmocka_unit_test(leads_are_those_of_each_quantity),
      cmocka_unit_test(members_of_several_files_are_one_ensemble),
      cmocka_unit_test(what_cannot_be_read_is_refused),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path[0], sizeof path[0], "%s/a.grib", dir);
  (void)snprintf(path[1], sizeof path[1], "%s/b.grib", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
