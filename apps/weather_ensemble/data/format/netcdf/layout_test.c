/* layout_test.c - NetCDF files as others lay them out: names, orders, packing, times; files
 * that are damaged. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "data/archive/archive.h"
#include "support/io/io_test.h"
#include "io/weir_netcdf.h"

/* The file that is being made. */
static char dir[256], path[512];
static weir_netcdf *nc;
static int dims[128];
static int64_t lengths[128];
#include "support/weather_ensemble/archive_file_check.h"

static const double south[3] = {-30, 0, 30}, greenwich[4] = {-180, -90, 0, 90};
static const double two[2] = {0, 1}, levels[2] = {500, 85000}, steps[2] = {24, 48};

/* GRIB made NetCDF: time is the initialisation time, with valid_time, rows from the south,
 * columns from -180 on, 16 bits with scale and offset. */
static void grib_tools_are_understood(void **state)
{
  static const double times[2] = {0, 24}, valid[4] = {24, 48, 48, 72};
  const double scale = 0.5, offset = 100;
  const int16_t fill = 0;
  static double stored[192];
  wx_archive *a = NULL;
  float x[24];

  (void)state;
  begin();
  dim('n', "number", 2);
  dim('t', "time", 2);
  dim('s', "step", 2);
  dim('l', "isobaricInhPa", 2);
  dim('y', "latitude", 3);
  dim('x', "longitude", 4);
  line("number", "n", NULL, "realization", two);
  line("time", "t", "hours since 2018-01-02 00:00:00", "forecast_reference_time", times);
  line("step", "s", "hours", NULL, steps);
  line("valid_time", "ts", "hours since 2018-01-02", NULL, valid);
  line("isobaricInhPa", "l", "hPa", "air_pressure", (const double[]){500, 850});
  line("latitude", "y", "degrees_north", NULL, south);
  line("longitude", "x", "degrees_east", NULL, greenwich);
  const int id = var("t", WEIR_I16, "ntslyx");

  say(id, "units", "K");
  assert_ok(weir_netcdf_put_numbers(nc, id, "scale_factor", WEIR_F64, &scale, 1));
  assert_ok(weir_netcdf_put_numbers(nc, id, "add_offset", WEIR_F64, &offset, 1));
  assert_ok(weir_netcdf_put_numbers(nc, id, "missing_value", WEIR_I16, &fill, 1));
  for (int i = 0; i < 192; i++) {
    stored[i] = i;
  }
  put(id, WEIR_I16, "ntslyx", stored);
  a = opened();
  const wx_archive_info *f = wx_archive_get(a);

  assert_true(f->n_init_times == 2 && f->n_leads == 2 && f->n_members == 2 && f->n_quantities == 2);
  assert_string_equal(f->quantity[1].name, "t850");
  assert_true(f->start[1] - f->start[0] == 86400 && f->lead[1] == 48);
  assert_true(f->grid.lat[0] == 30 && f->grid.lon[0] == 0 && f->grid.lon[3] == 270);
  assert_ok(wx_archive_read(a, 1, 0, 1, 0, 2, x));
  /* Members are 96 apart, time 48, step 24, level 12; row 0 is the third, column 0 the third. */
  assert_near((double)x[0], 100 + 0.5 * (48 + 12 + 8 + 2), 0);
  assert_near((double)x[12], 100 + 0.5 * (96 + 48 + 12 + 8 + 2), 0);
  assert_near((double)x[11], 100 + 0.5 * (48 + 12 + 1), 0);
  assert_ok(wx_archive_read(a, 0, 0, 0, 0, 1, x));
  assert_true(isnan(x[10]) && !isnan(x[9])); /* stored 0: row 0 of the file is the last */
  wx_archive_close(&a);
}

/* A scalar start and times of validity; columns before rows; members after both. */
static void leads_are_the_rest_of_two_times(void **state)
{
  static const double times[2] = {6, 18};
  wx_archive *a = NULL;
  float x[24];

  (void)state;
  begin();
  dim('e', "ensemble", 2);
  dim('t', "time", 2);
  dim('y', "lat", 3);
  dim('x', "lon", 4);
  line("forecast_reference_time", "", "hours since 2018-01-02 00:00:00", NULL, &two[1]);
  line("time", "t", "hours since 2018-01-02 00:00:00", "time", times);
  line("ensemble", "e", NULL, NULL, two);
  line("lat", "y", NULL, NULL, south);
  line("lon", "x", NULL, NULL, (const double[]){0, 10, 20, 30});
  fields("t2m", WEIR_F32, "txye");
  a = opened();
  const wx_archive_info *f = wx_archive_get(a);

  assert_true(f->n_init_times == 1 && f->n_leads == 2 && f->lead[0] == 5 && f->lead[1] == 17);
  assert_string_equal(f->quantity[0].name, "2t");
  assert_ok(wx_archive_read(a, 0, 1, 0, 0, 2, x));
  assert_near((double)x[0], 24 + 0 * 6 + 2 * 2, 0);
  assert_near((double)x[1], 24 + 1 * 6 + 2 * 2, 0);
  assert_near((double)x[12 + 4], 24 + 0 * 6 + 1 * 2 + 1, 0);
  wx_archive_close(&a);
}

/* Initialisation times and leads as coordinates of one dimension of times; an analysis of a plane.
 */
static void times_may_share_a_dimension(void **state)
{
  static const double values[24] = {0};
  wx_archive *a = NULL;
  int id = 0;

  (void)state;
  begin();
  dim('t', "time", 2);
  dim('y', "y", 3);
  dim('x', "x", 4);
  line("time", "t", "days since 2018-01-02 00:00:00", "time", (const double[]){4, 5});
  line("reference", "t", "day since 2018-1-2", "forecast_reference_time", (const double[]){3, 3});
  line("forecast_period", "t", "seconds", NULL, (const double[]){86400, 172800});
  line("y", "y", "km", NULL, (const double[]){0, 100, 200});
  line("x", "x", "km", NULL, (const double[]){0, 100, 200, 300});
  line("cell_area", "yx", "km2", NULL, (const double[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  id = var("psi", WEIR_F64, "tyx");
  say(id, "cell_measures", "area: cell_area");
  put(id, WEIR_F64, "tyx", values);
  assert_ok(weir_netcdf_char_var(nc, "remark", 2, (const int[]){dims['y'], dims['x']}, &id));
  a = opened();
  assert_true(wx_archive_get(a)->n_init_times == 1 && wx_archive_get(a)->n_leads == 2);
  assert_int_equal(wx_archive_get(a)->n_quantities, 1); /* letters are no field */
  assert_true(wx_archive_get(a)->grid.kind == WX_GRID_PLANE);
  assert_string_equal(wx_archive_get(a)->quantity[0].name, "psi");
  wx_archive_close(&a);
}

static void base(const char *calendar, const char *units, const char *fifth)
{
  begin();
  dim('t', "time", 2);
  dim('y', "latitude", 3);
  dim('x', "longitude", 4);
  dim('q', fifth, 2);
  const int id = var("time", WEIR_I64, "t");

  say(id, "units", units);
  say(id, "calendar", calendar);
  put(id, WEIR_I64, "t", steps);
  line("latitude", "y", "degrees_north", NULL, south);
  line("longitude", "x", "degrees_east", NULL, greenwich);
}

static void what_is_not_understood_is_refused(void **state)
{
  static const char hours[] = "hours since 2018-01-02 00:00:00";

  (void)state;
  base(NULL, hours, "depth");
  fields("t", WEIR_F32, "tqyx");
  assert_refused("what its dimension depth counts is not known");
  base("360_day", hours, "q");
  fields("t", WEIR_F32, "tyx");
  assert_refused("'360_day'");
  base(NULL, "fortnights since 2018-01-02", "q");
  fields("t", WEIR_F32, "tyx");
  assert_refused("fortnights");
  base(NULL, hours, "level");
  fields("t", WEIR_F32, "tqyx");
  assert_refused("its levels have no values");
  base(NULL, hours, "plev");
  dim('h', "height", 1);
  line("height", "h", "m", NULL, (const double[]){2});
  line("plev", "q", "hPa", NULL, levels);
  fields("t", WEIR_F32, "thqyx");
  assert_refused("keep one dimension of levels");
  base(NULL, hours, "level");
  line("level", "q", "feet", NULL, levels);
  fields("t", WEIR_F32, "tqyx");
  assert_refused("'feet'");
  base(NULL, hours, "q");
  fields("t", WEIR_F32, "ty");
  assert_refused("a dimension of latitudes");
  base(NULL, hours, "q");
  assert_refused("no variable has fields");
  base(NULL, hours, "member");
  line("member", "q", NULL, NULL, (const double[]){1, 1});
  fields("t", WEIR_F32, "tqyx");
  assert_refused("is there twice");
  base(NULL, hours, "member");
  line("member", "q", NULL, NULL, (const double[]){1, 1.5});
  fields("t", WEIR_F32, "tqyx");
  assert_refused("member 1.5");
  begin();
  dim('y', "latitude", 3);
  dim('x', "longitude", 4);
  line("latitude", "y", "degrees_north", NULL, (const double[]){1, 3, 2});
  line("longitude", "x", "degrees_east", NULL, greenwich);
  fields("t", WEIR_F32, "yx");
  assert_refused("its latitudes are not in order");
  begin();
  dim('y', "latitude", 3);
  dim('x', "longitude", 4);
  line("latitude", "y", "degrees_north", NULL, south);
  line("longitude", "x", "degrees_east", NULL, greenwich);
  fields("t", WEIR_F32, "yx");
  assert_refused("no time is known of it");
}

/* A file with one more attribute of its variable. */
static int with_fields(void)
{
  static const double values[24] = {0};

  base(NULL, "hours since 2018-01-02 00:00:00", "q");
  const int id = var("t2m", WEIR_F32, "tyx");

  say(id, "units", "K");
  put(id, WEIR_F32, "tyx", values);
  return id;
}

/* What says how numbers become values is heeded or refused, never passed over. */
static void attributes_are_not_passed_over(void **state)
{
  static const char *const single[] = {"scale_factor", "add_offset", "valid_min", "valid_max"};
  static const double three[] = {300, 200, 100};
  wx_archive *a = NULL;
  float x[12];

  (void)state;
  for (size_t k = 0; k < sizeof single / sizeof single[0]; k++) {
    say(with_fields(), single[k], "0.1");
    assert_refused(single[k]);
    assert_ok(weir_netcdf_put_numbers(nc, with_fields(), single[k], WEIR_F64, three, 2));
    assert_refused("has 2 numbers, not 1");
  }
  say(with_fields(), "missing_value", "none");
  assert_refused("'missing_value' has 0 numbers");
  assert_ok(weir_netcdf_put_numbers(nc, with_fields(), "valid_range", WEIR_F64, three, 1));
  assert_refused("'valid_range' has 1 numbers, not 2");
  assert_ok(weir_netcdf_put_numbers(nc, with_fields(), "valid_range", WEIR_F64, three, 2));
  assert_refused("leave no value: 300 to 200");
  const int id = with_fields(); /* 0 throughout: either code is of a missing value */

  assert_ok(weir_netcdf_put_numbers(nc, id, "missing_value", WEIR_F32, (float[]){9, 0}, 2));
  a = opened();
  assert_ok(wx_archive_read(a, 0, 0, 0, 0, 1, x));
  assert_true(isnan(x[0]) && isnan(x[11]));
  wx_archive_close(&a);
}

/* Areas are not made up where a name promises degrees. */
static void rows_of_the_globe_need_degrees(void **state)
{
  (void)state;
  for (int k = 0; k < 2; k++) {
    begin();
    dim('t', "time", 2);
    dim('y', "lat", 3);
    dim('x', "lon", 4);
    line("time", "t", "hours since 2018-01-02 00:00:00", NULL, steps);
    line("lon", "x", "degrees_east", NULL, greenwich);
    if (k == 1) {
      line("lat", "y", "m", NULL, south);
    }
    fields("t", WEIR_F32, "tyx");
    assert_refused(k == 0 ? "its dimension lat has no values" : "variable lat: its units are 'm'");
  }
}

/* "t2m" in K is "2t"; in another unit it would be called the same in a file. */
static void units_keep_variables_apart(void **state)
{
  (void)state;
  (void)with_fields();
  const int id = var("T2M_C", WEIR_F32, "tyx");

  say(id, "units", "degF");
  say(id, "GRIB_shortName", "t2m");
  assert_refused("t2m is in 'degF', 2t of");
}

/* A small file that says it is large: nothing is allocated for what it cannot hold. */
static void claims_are_not_believed(void **state)
{
  (void)state;
  for (int k = 0; k < 3; k++) {
    base(NULL, "hours since 2018-01-02 00:00:00", "q");
    dim('Y', "y", 1 << 20);
    dim('X', "x", 1 << 20);
    dim('m', "member", k == 1 ? 1 << 30 : k == 2 ? 1 << 23 : 1);
    if (k == 2) { /* chunks take no memory before they are written */
      assert_ok(weir_netcdf_chunk(nc, var("member", WEIR_I64, "m"), (const int64_t[]){1024}, 1));
    }
    const int psi = var("psi", WEIR_F32, k == 0 ? "tmYX" : "tmyx");

    assert_ok(weir_netcdf_chunk(nc, psi, (const int64_t[]){1, 1, 2, 2}, 1));
    const int64_t before = weir_alloc_peak();

    assert_refused("than its bytes can store");
    assert_true(weir_alloc_peak() < before + (1 << 22));
  }
}

/* Opens and reads all that a damaged file still says it has; whatever comes of it is a status. */
static void survive(const char *bytes, size_t n)
{
  const char *const paths[] = {path};
  wx_archive *a = NULL;
  static float x[4096];
  const int64_t before = weir_alloc_bytes();

  weir_check_write(path, bytes, n);
  if (wx_archive_open(paths, 1, &a) == WEIR_OK) {
    const wx_archive_info *f = wx_archive_get(a);
    const int64_t cells = wx_grid_cells(&f->grid),
                  all = f->n_init_times * f->n_leads * f->n_quantities;

    for (int64_t i = 0; i < all && i < 8 && cells <= 4096; i++) {
      (void)!wx_archive_read(a, i / (f->n_leads * f->n_quantities),
                             i / f->n_quantities % f->n_leads, i % f->n_quantities, 0, 1, x);
    }
  }
  wx_archive_close(&a);
  assert_int_equal(weir_alloc_bytes(), before);
}

static void damaged_files_are_survived(void **state)
{
  char *bytes = NULL;
  int64_t n = 0;

  (void)state;
  base("standard", "hours since 2018-01-02 00:00:00", "member");
  line("member", "q", NULL, NULL, two);
  fields("t", WEIR_F32, "tqyx");
  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(weir_file_read(path, 1 << 20, &bytes, &n));
  for (int64_t length = 0; length < n; length += n / 40 + 1) {
    survive(bytes, (size_t)length);
  }
  for (int i = 0; i < 300; i++) {
    const int64_t at = random_in(11, (uint64_t)i, 0, n - 1);
    const char bit = (char)(1 << random_in(12, (uint64_t)i, 0, 7));

    bytes[at] = (char)(bytes[at] ^ bit);
    survive(bytes, (size_t)n);
    bytes[at] = (char)(bytes[at] ^ bit);
  }
  weir_free(&bytes);
}

static weir_status open_once(void *context)
{
  const char *const paths[] = {context};
  wx_archive *a = NULL;
  float x[12];

  WEIR_TRY(wx_archive_open(paths, 1, &a));
  const weir_status status = wx_archive_read(a, 0, 0, 0, 0, 1, x);

  wx_archive_close(&a);
  return status;
}

static void memory_that_runs_out_leaves_nothing(void **state)
{
  (void)state;
  base("standard", "hours since 2018-01-02 00:00:00", "member");
  line("member", "q", NULL, NULL, two);
  fields("t", WEIR_F32, "tqyx");
  assert_ok(weir_netcdf_commit(&nc));
  assert_true(weir_check_faults(open_once, path) > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grib_tools_are_understood),
      cmocka_unit_test(leads_are_the_rest_of_two_times),
      cmocka_unit_test(times_may_share_a_dimension),
      cmocka_unit_test(what_is_not_understood_is_refused),
      cmocka_unit_test(attributes_are_not_passed_over),
      cmocka_unit_test(rows_of_the_globe_need_degrees),
      cmocka_unit_test(units_keep_variables_apart),
      cmocka_unit_test(claims_are_not_believed),
      cmocka_unit_test(damaged_files_are_survived),
      cmocka_unit_test(memory_that_runs_out_leaves_nothing),
  };

  if (!weir_netcdf_available()) {
    fprintf(stderr, "skipped: this build has no NetCDF\n");
    return 0;
  }
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/a.nc", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
