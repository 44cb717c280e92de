/* archive_names_test.c - names, units and levels of files as WeatherBench 2, ERA5, NCEP and CMIP
 * write them; the caller's own names; patterns of file names. */
#include <math.h>
#include "data/archive/file_names.h"
#include "data/archive/archive.h"
#include "support/io/io_test.h"
#include "io/weir_netcdf.h"

/* The file that is being made. */
static char dir[256], path[512];
static weir_netcdf *nc;
static int dims[128];
static int64_t lengths[128];
#include "support/weather_ensemble/archive_file_check.h"

static const double times[2] = {0, 24}, south[2] = {-30, 30}, around[3] = {0, 120, 240};

/* Times, rows and columns, and two levels at 'l' with these units. */
static void grid(const char *level_units)
{
  begin();
  dim('t', "time", 2);
  dim('l', "level", 2);
  dim('y', "latitude", 2);
  dim('x', "longitude", 3);
  line("time", "t", "hours since 2020-01-01", NULL, times);
  line("level", "l", level_units, NULL, (const double[]){500, 850});
  line("latitude", "y", "degrees_north", NULL, south);
  line("longitude", "x", "degrees_east", NULL, around);
}

/* Element i of the variable is first + i. */
static int variable(const char *name, const char *over, const char *units,
                    const char *standard_name, double first)
{
  const int id = var(name, WEIR_F64, over);
  double values[24];

  say(id, "units", units);
  say(id, "standard_name", standard_name);
  for (int i = 0; i < count_of(over); i++) {
    values[i] = first + i;
  }
  put(id, WEIR_F64, over, values);
  return id;
}

static wx_archive *opened_as(const wx_archive_names *names)
{
  const char *const paths[] = {path};
  const wx_archive_in how = {.index = "", .names = names};
  wx_archive *a = NULL;

  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(wx_archive_open_as(paths, 1, &how, &a));
  return a;
}

static void refused_as(const wx_archive_names *names, const char *why)
{
  const char *const paths[] = {path};
  const wx_archive_in how = {.index = "", .names = names};
  wx_archive *a = NULL;

  assert_ok(weir_netcdf_commit(&nc));
  assert_int_equal(wx_archive_open_as(paths, 1, &how, &a), WEIR_ERR_DATA);
  if (strstr(weir_last_message(), why) == NULL || strstr(weir_last_message(), path) == NULL) {
    fprintf(stderr, "'%s' is not in: %s\n", why, weir_last_message());
    assert_true(false);
  }
}

static wx_archive_names renames(wx_rename *rows, int64_t n)
{
  return (wx_archive_names){.rename = {.items = rows, .count = n}};
}

/* The value of the first cell (30 N, 0 E: element 3 of a plane) of the first start. */
static double first_value(wx_archive *a, const char *name, const char *units)
{
  const wx_archive_info *const f = wx_archive_get(a);
  const int64_t q = wx_archive_find_quantity(f, name);
  float x[6];

  assert_true(q >= 0);
  assert_string_equal(f->quantity[q].units, units);
  assert_ok(wx_archive_read(a, 0, 0, q, 0, 1, x));
  return (double)x[0];
}

static void weatherbench_names_are_those_of_ecmwf(void **state)
{
  static const char *const names[][4] = {
      {"2m_temperature", "K", "2t", "tyx"},
      {"10m_u_component_of_wind", "m s**-1", "10u", "tyx"},
      {"mean_sea_level_pressure", "Pa", "msl", "tyx"},
      {"sea_surface_temperature", "K", "sst", "tyx"},
      {"geopotential", "m**2 s**-2", "z850", "tlyx"},
      {"u_component_of_wind", "m s**-1", "u500", "tlyx"},
      {"specific_humidity", "kg kg**-1", "q500", "tlyx"},
      {"total_precipitation", "m", "tp", "tyx"},
  };
  const wx_archive_names hpa = {.level_units = 1}, pa = {.level_units = 2};

  (void)state;
  for (int k = 0; k < 3; k++) {
    grid(NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      variable(names[i][0], names[i][3], names[i][1], NULL, 1);
    }
    if (k == 0) {
      refused_as(NULL, "data.names.level_units");
      continue;
    }
    wx_archive *a = opened_as(k == 1 ? &hpa : &pa);

    for (size_t i = 0; i < sizeof names / sizeof names[0] && k == 1; i++) {
      assert_true(wx_archive_find_quantity(wx_archive_get(a), names[i][2]) >= 0);
    }
    assert_true(k == 1 || wx_archive_find_quantity(wx_archive_get(a), "z8.5") >= 0);
    wx_archive_close(&a);
  }
}

static void units_are_converted_by_what_files_state(void **state)
{
  (void)state;
  grid("millibars");
  variable("t2m", "tyx", "degC", NULL, 0);
  variable("msl", "tyx", "hPa", NULL, 1000);
  variable("psl2", "tyx", "kPa", "surface_air_pressure", 100);
  variable("u", "tlyx", "knots", NULL, 36);
  variable("total_cloud_cover", "tyx", "%", NULL, 47);
  variable("q", "tlyx", "g kg**-1", NULL, 2);
  wx_archive *a = opened_as(NULL);

  assert_near(first_value(a, "2t", "K"), 276.15, 1e-5);
  assert_near(first_value(a, "msl", "Pa"), 100300, 0);
  assert_near(first_value(a, "sp", "Pa"), 103000, 0);
  assert_near(first_value(a, "u500", "m s-1"), 39 * 1852.0 / 3600, 1e-6);
  assert_near(first_value(a, "tcc", "1"), 0.5, 1e-7);
  assert_near(first_value(a, "q500", "kg kg-1"), 0.005, 1e-9);
  wx_archive_close(&a);
  grid("hPa"); /* one quantity, two units in one file */
  variable("t2m", "tyx", "K", NULL, 0);
  variable("2m_temperature", "tyx", "degC", NULL, 0);
  refused_as(NULL, "2t stands in it under two names");
  grid("hPa"); /* r in 1 may be a correlation */
  variable("r", "tlyx", "1", NULL, 0);
  a = opened_as(NULL);
  assert_near(first_value(a, "r500", "1"), 3, 0);
  wx_archive_close(&a);
}

/* By units and standard name; a name alone says nothing. */
static void geopotential_and_its_height_are_told_apart(void **state)
{
  static const struct {
    const char *name, *units, *standard_name, *is;
  } rows[] = {
      {"z", "m**2 s**-2", NULL, "z500"},
      {"z", "m", NULL, "gh500"},
      {"gh", "gpm", NULL, "gh500"},
      {"zg", "m", "geopotential_height", "gh500"},
      {"z", "m", "geopotential_height", "gh500"},
      {"HGT", "gpm", NULL, "gh500"},
      {"phi", "J kg-1", "geopotential", "z500"},
      {"geopotential", "m", NULL, "gh500"},
      {"hgt", "m", NULL, "gh500"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    grid("hPa");
    variable(rows[i].name, "tlyx", rows[i].units, rows[i].standard_name, 0);
    wx_archive *a = opened_as(NULL);

    assert_string_equal(wx_archive_get(a)->quantity[0].name, rows[i].is);
    wx_archive_close(&a);
  }
}

static void heights_become_geopotentials_on_request(void **state)
{
  static const double gravity = 9.80665;
  wx_rename to_z = {.from = "gh", .to = "z", .units = ""};
  wx_rename to_gh = {.from = "z", .to = "gh", .units = ""};
  wx_rename stated = {.from = "Z3", .to = "z", .units = "dam"};
  wx_archive_names names = renames(&to_z, 1);

  (void)state;
  grid("hPa");
  variable("HGT", "tlyx", "gpm", NULL, 5500); /* found by the name that it would have */
  wx_archive *a = opened_as(&names);
  assert_near(first_value(a, "z500", "m2 s-2"), 5503 * gravity, 0.004);
  wx_archive_close(&a);
  names = renames(&to_gh, 1);
  grid("hPa");
  variable("z", "tlyx", "m**2 s**-2", NULL, 54000);
  a = opened_as(&names);
  assert_near(first_value(a, "gh500", "m"), 54003 / gravity, 4e-4);
  wx_archive_close(&a);
  names = renames(&stated, 1);
  grid("hPa"); /* no units in the file: those of the row */
  variable("Z3", "tlyx", NULL, NULL, 550);
  a = opened_as(&names);
  assert_near(first_value(a, "z500", "m2 s-2"), 5530 * gravity, 0.004);
  wx_archive_close(&a);
  stated.units = "";
  grid("hPa");
  variable("Z3", "tlyx", NULL, NULL, 550);
  refused_as(&names, "state them in the row");
  grid("hPa");
  variable("Z3", "tlyx", "K", NULL, 550);
  refused_as(&names, "Z3: data.names.rename makes it z, and its units 'K'");
}

static void spreads_are_stretched_and_never_moved(void **state)
{
  (void)state;
  grid("hPa");
  say(variable("t2m", "tyx", "degC", NULL, 0), "cell_methods", "realization: standard_deviation");
  wx_archive *a = opened_as(NULL);

  assert_near(first_value(a, "2t_spread", "degC"), 3, 0); /* is no unit of a difference */
  wx_archive_close(&a);
  grid("hPa");
  say(variable("msl", "tyx", "hPa", NULL, 0), "cell_methods", "realization: standard_deviation");
  a = opened_as(NULL);
  assert_near(first_value(a, "msl_spread", "Pa"), 300, 0);
  wx_archive_close(&a);
}

static void levels_and_names_may_be_stated(void **state)
{
  wx_rename rows[] = {{.from = "z", .to = "", .units = "", .level = 500},
                      {.from = "my_gust", .to = "gust", .units = "m s-1"}};
  const wx_archive_names names = renames(rows, 2);
  char hint[256];

  (void)state;
  for (int k = 0; k < 2; k++) {
    grid("hPa");
    variable("z", "tyx", "m**2 s**-2", "geopotential", 0);
    variable("my_gust", "tyx", NULL, NULL, 7);
    variable("t", "tlyx", "K", NULL, 0);
    wx_archive *a = opened_as(k == 0 ? NULL : &names);
    const wx_archive_info *const f = wx_archive_get(a);

    wx_archive_hint(f, "z500", hint, sizeof hint);
    if (k == 0) {
      assert_true(wx_archive_find_quantity(f, "z") >= 0);
      assert_non_null(strstr(hint, "[{from: z, level: 500}]"));
    } else {
      assert_near(first_value(a, "z500", "m2 s-2"), 3, 0);
      assert_near(first_value(a, "gust", "m s-1"), 10, 0);
    }
    wx_archive_hint(f, "gh500", hint, sizeof hint);
    assert_int_equal(hint[0] != 0, k);
    wx_archive_close(&a);
  }
}

static void patterns_are_the_files_that_match(void **state)
{
  char file[3][300], pattern[300], nothing[300];
  const char *names[2] = {pattern, nothing};
  wx_archive *a = NULL;
  wx_file_names f;

  (void)state;
  for (int k = 0; k < 3; k++) { /* the last is a name with a star */
    (void)snprintf(file[k], sizeof file[k], "%s/%s.nc", dir, k == 0 ? "p2" : k == 1 ? "p1" : "p*");
    memcpy(path, file[k], sizeof file[k]);
    begin();
    dim('t', "time", 1);
    dim('y', "latitude", 2);
    dim('x', "longitude", 3);
    line("time", "t", "days since 2020-01-01", NULL, &(const double){k});
    line("latitude", "y", "degrees_north", NULL, south);
    line("longitude", "x", "degrees_east", NULL, around);
    variable("t2m", "tyx", "K", NULL, 0);
    assert_ok(weir_netcdf_commit(&nc));
  }
  (void)snprintf(pattern, sizeof pattern, "%s/p?.nc", dir);
  (void)snprintf(nothing, sizeof nothing, "%s/q*.nc", dir);
  assert_ok(wx_file_names_find(names, 1, &f));
  assert_int_equal(f.n, 3);
  for (int k = 0; k < 3; k++) {
    assert_string_equal(f.path[k], file[2 - k]);
  }
  wx_file_names_fini(&f);
  names[0] = file[2];
  assert_ok(wx_file_names_find(names, 1, &f));
  assert_int_equal(f.n, 1);
  wx_file_names_fini(&f);
  names[0] = pattern;
  assert_int_equal(wx_file_names_find(names, 2, &f), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), nothing));
  assert_ok(wx_archive_open(names, 1, &a));
  assert_int_equal(wx_archive_get(a)->n_init_times, 3);
  assert_int_equal(wx_archive_get(a)->n_files, 3);
  wx_archive_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weatherbench_names_are_those_of_ecmwf),
      cmocka_unit_test(units_are_converted_by_what_files_state),
      cmocka_unit_test(geopotential_and_its_height_are_told_apart),
      cmocka_unit_test(heights_become_geopotentials_on_request),
      cmocka_unit_test(spreads_are_stretched_and_never_moved),
      cmocka_unit_test(levels_and_names_may_be_stated),
      cmocka_unit_test(patterns_are_the_files_that_match),
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
