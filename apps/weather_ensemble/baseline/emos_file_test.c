/* emos_file_test.c - coefficients in IMPROVER's files: its own are read, ours come back, and what
 * is no such file is refused with a reason. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "baseline/emos_file.h"
#include "io/weir_netcdf.h"

enum { PATH = 4096, LAT = 2, LON = 3, CELLS = LAT * LON };

static void need_netcdf(void)
{
  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
}

static void files_of_improver_are_read(void **state)
{
  char path[PATH];
  wx_emos *at = NULL;
  int64_t n = 0;

  need_netcdf();
  weir_check_shared(path, sizeof path, "weather/netcdf/emos_grid/kgo_coefficients.nc");
  assert_ok(wx_emos_read(path, 200 * 200, &at, &n));
  assert_int_equal(n, 1);
  assert_near(at->alpha, 42.9266, 1e-4);
  assert_near(at->beta, 0.851482, 1e-6);
  assert_near(at->gamma, -0.1335138, 1e-6);
  assert_near(at->delta, 1.190159, 1e-6);
  weir_free(&at);
  weir_check_shared(path, sizeof path,
                    "weather/netcdf/emos_sites/kgo_point_by_point_coefficients.nc");
  assert_ok(wx_emos_read(path, 121, &at, &n));
  assert_int_equal(n, 121);
  assert_near(at[0].alpha, 373.2, 0.1);
  weir_free(&at);
  assert_int_equal(wx_emos_read(path, 120, &at, &n), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "emos_coefficient_alpha has 121 numbers: 1 or 120"));
  assert_null(at);
}

static void check_round(const char *folder, const wx_emos_about *about, int64_t n, wx_family family)
{
  const double lower = wx_family_is_bounded(family) ? (double)-0.1f : 0;
  const double shift = family == WX_CENSORED_SHIFTED_GAMMA ? 1e-6 / 3 : 0;
  const double width = wx_family_has_upper(family) && n > 1 ? 1 - lower : 0;
  wx_emos at[CELLS], *back = NULL;
  char path[PATH];
  int64_t count = 0;

  for (int i = 0; i < CELLS; i++) {
    at[i] = (wx_emos){1.5 + i, 0.25 * i, 2, i, family, lower, shift, width};
  }
  assert_ok(wx_emos_path(folder, about, path, sizeof path));
  assert_ok(wx_emos_write(path, about, at, n));
  assert_ok(wx_emos_read(path, CELLS, &back, &count));
  assert_int_equal(count, n);
  for (int64_t i = 0; i < n; i++) { /* all are f32 exactly */
    assert_true(back[i].alpha == at[i].alpha && back[i].beta == at[i].beta &&
                back[i].gamma == at[i].gamma && back[i].delta == at[i].delta);
    assert_int_equal(back[i].family, family);
    assert_true(back[i].lower == lower && back[i].shift == shift && back[i].width == width);
  }
  weir_free(&back);
}

static void check_text(weir_netcdf *nc, int var, const char *name, const char *want)
{
  char *text = NULL;

  assert_ok(weir_netcdf_get_text(nc, var, name, &text));
  assert_string_equal(text, want);
  weir_free(&text);
}

/* The names and attributes that IMPROVER looks for. */
static void check_names(const char *path)
{
  weir_netcdf *nc = NULL;
  weir_netcdf_shape shape;
  int64_t reference = 0;
  int32_t period = 0;
  int var = 0;

  assert_ok(weir_netcdf_open(path, &nc));
  check_text(nc, WEIR_NETCDF_FILE, "title", "Ensemble Model Output Statistics coefficients");
  assert_ok(weir_netcdf_find(nc, "emos_coefficient_beta", &var, &shape));
  assert_int_equal(shape.n_dims, 2);
  assert_int_equal(shape.dtype, WEIR_F32);
  check_text(nc, var, "diagnostic_standard_name", "geopotential");
  check_text(nc, var, "distribution", "norm");
  check_text(nc, var, "units", "1");
  check_text(nc, var, "coordinates",
             "forecast_period forecast_reference_time predictor_index predictor_name");
  assert_ok(weir_netcdf_find(nc, "emos_coefficient_gamma", &var, &shape));
  check_text(nc, var, "units", "m2 s-2");
  assert_ok(weir_netcdf_find(nc, "forecast_period", &var, &shape));
  assert_ok(weir_netcdf_read(nc, var, NULL, NULL, &period));
  assert_int_equal(period, 48 * 3600);
  assert_ok(weir_netcdf_find(nc, "forecast_reference_time", &var, &shape));
  assert_ok(weir_netcdf_read_whole(nc, var, &shape, NULL, NULL, &reference));
  assert_int_equal(reference, 777);
  weir_netcdf_close(&nc);
}

static void what_is_written_comes_back(void **state)
{
  const double lat[] = {50, 40}, lon[] = {0, 10, 20}, site[CELLS] = {1, 2, 3, 4, 5, 6};
  wx_quantity q = {.variable = "z", .units = "m2 s-2", .kind = WX_LEVEL_PRESSURE, .level = 500};
  wx_grid grid = {.kind = WX_GRID_LATLON,
                  .n_lat = LAT,
                  .n_lon = LON,
                  .lat = lat,
                  .lon = lon,
                  .units = {"degrees_north", "degrees_east"}};
  const wx_emos_about about = {.quantity = &q, .grid = &grid, .lead = 48, .first = 5, .last = 777};
  char folder[PATH], path[PATH];

  need_netcdf();
  wx_quantity_complete(&q);
  weir_check_mkdir(folder, sizeof folder);
  for (int f = 0; f < WX_FAMILIES; f++) {
    check_round(folder, &about, 1, (wx_family)f);
  }
  check_round(folder, &about, CELLS, WX_NORMAL);
  assert_ok(wx_emos_path(folder, &about, path, sizeof path));
  assert_non_null(strstr(path, "/emos_z500_48h.nc"));
  check_names(path);
  grid.kind = WX_GRID_PLANE;
  check_round(folder, &about, CELLS, WX_NORMAL);
  grid = (wx_grid){.kind = WX_GRID_SITES, .n_lat = 1, .n_lon = CELLS, .lat = site, .lon = site};
  check_round(folder, &about, CELLS, WX_NORMAL);
  grid.lat = grid.lon = NULL;
  check_round(folder, &about, CELLS, WX_NORMAL);
  weir_check_rmdir(folder);
}

/* A file with these coefficients, of a distribution. */
static void write_strange(const char *path, int which, const char *distribution, float value)
{
  static const char *const name[] = {"emos_coefficient_alpha", "emos_coefficient_beta",
                                     "emos_coefficient_gamma", "emos_coefficient_delta"};
  const char *const first = strcmp(distribution, "logistic") == 0 ? "norm" : distribution;
  weir_netcdf *nc = NULL;
  int var = 0;

  assert_ok(weir_netcdf_create(path, &nc));
  for (int k = 0; k < which; k++) {
    assert_ok(weir_netcdf_var(nc, name[k], WEIR_F32, 0, NULL, &var));
    assert_ok(weir_netcdf_put_text(nc, var, "distribution", k == 0 ? first : distribution));
    assert_ok(weir_netcdf_write(nc, var, NULL, NULL, &value));
  }
  assert_ok(weir_netcdf_commit(&nc));
}

/* Points without coefficients are NaN in all four; else what a point lacks is reported. */
static void points_without_coefficients_have_none(void **state)
{
  const double lat[] = {50, 40}, lon[] = {0, 10, 20};
  wx_quantity q = {.variable = "z", .units = "m2 s-2", .kind = WX_LEVEL_PRESSURE, .level = 500};
  const wx_grid grid = {.kind = WX_GRID_LATLON,
                        .n_lat = LAT,
                        .n_lon = LON,
                        .lat = lat,
                        .lon = lon,
                        .units = {"degrees_north", "degrees_east"}};
  const wx_emos_about about = {.quantity = &q, .grid = &grid, .lead = 48};
  char folder[PATH], path[PATH];
  wx_emos at[CELLS], *back = NULL;
  int64_t n = 0;

  need_netcdf();
  wx_quantity_complete(&q);
  weir_check_mkdir(folder, sizeof folder);
  assert_ok(wx_emos_path(folder, &about, path, sizeof path));
  for (int i = 0; i < CELLS; i++) {
    at[i] = i == 2 ? (wx_emos){.alpha = NAN, .beta = NAN, .gamma = NAN, .delta = NAN}
                   : (wx_emos){.alpha = 1, .beta = 2, .gamma = 3, .delta = 4};
  }
  assert_ok(wx_emos_write(path, &about, at, CELLS));
  assert_ok(wx_emos_read(path, CELLS, &back, &n));
  assert_true(isnan(back[2].alpha) && isnan(back[2].delta) && back[3].beta == 2);
  weir_free(&back);
  at[4].beta = NAN;
  assert_ok(wx_emos_write(path, &about, at, CELLS));
  assert_int_equal(wx_emos_read(path, CELLS, &back, &n), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "point 4 has 3 of 4 coefficients"));
  for (int i = 0; i < CELLS; i++) {
    at[i] = at[2];
  }
  assert_ok(wx_emos_write(path, &about, at, CELLS));
  assert_int_equal(wx_emos_read(path, CELLS, &back, &n), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no point has coefficients"));
  assert_null(back);
  weir_check_rmdir(folder);
}

static void what_is_no_such_file_is_refused(void **state)
{
  static const struct {
    int which;
    const char *distribution, *reason;
    float value;
  } bad[] = {{3, "norm", "emos_coefficient_delta", 1},
             {4, "truncnorm", "is of the distribution 'truncnorm'", 1},
             {4, "truncated_normal", "is of the distribution 'truncated_normal'", 1},
             {4, "logistic", "emos_coefficient_beta is of another distribution than alpha", 1},
             {4, "norm", "number 0 is not finite", NAN}};
  char folder[PATH], path[PATH + 8];
  wx_emos *at = NULL;
  int64_t n = 0;

  need_netcdf();
  weir_check_mkdir(folder, sizeof folder);
  (void)snprintf(path, sizeof path, "%s/a.nc", folder);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    write_strange(path, bad[i].which, bad[i].distribution, bad[i].value);
    assert_int_equal(wx_emos_read(path, 1, &at, &n), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), bad[i].reason));
    assert_non_null(strstr(weir_last_message(), path));
    assert_null(at);
  }
  assert_int_equal(wx_emos_read("/nowhere.nc", 1, &at, &n), WEIR_ERR_DATA);
  weir_check_rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_of_improver_are_read),
      cmocka_unit_test(what_is_written_comes_back),
      cmocka_unit_test(points_without_coefficients_have_none),
      cmocka_unit_test(what_is_no_such_file_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
