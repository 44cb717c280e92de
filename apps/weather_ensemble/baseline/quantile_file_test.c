/* quantile_file_test.c - mappings come back bit for bit from their files; other files are refused
 * with a reason. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "baseline/quantile_file.h"
#include "io/weir_netcdf.h"

enum { PATH = 4096, CELLS = 3, LEVELS = 4 };

static void need_netcdf(void)
{
  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
}

static wx_quantity geopotential(void)
{
  wx_quantity q = {.variable = "z", .units = "m2 s-2", .kind = WX_LEVEL_PRESSURE, .level = 500};

  wx_quantity_complete(&q);
  return q;
}

/* Point 1 has no quantiles. */
static void fill(float *forecast, float *truth, wx_quantile *map)
{
  for (int i = 0; i < CELLS * LEVELS; i++) {
    forecast[i] = i / LEVELS == 1 ? NAN : (float)i / 7;
    truth[i] = i / LEVELS == 1 ? NAN : (float)(i / 2) / 3;
  }
  *map = (wx_quantile){.levels = LEVELS,
                       .cells = CELLS,
                       .tails = WX_TAILS_LINEAR,
                       .forecast = forecast,
                       .truth = truth};
}

static void a_mapping_comes_back(void **state)
{
  const wx_quantity q = geopotential();
  float forecast[CELLS * LEVELS], truth[CELLS * LEVELS];
  char folder[PATH], path[PATH];
  wx_quantile map, back;

  need_netcdf();
  weir_check_mkdir(folder, sizeof folder);
  fill(forecast, truth, &map);
  assert_ok(wx_quantile_path(folder, &q, 48, path, sizeof path));
  assert_non_null(strstr(path, "/quantile_z500_48h.nc"));
  assert_ok(wx_quantile_write(path, &q, 48, &map));
  assert_ok(wx_quantile_read(path, &q, CELLS, &back));
  assert_true(back.levels == LEVELS && back.cells == CELLS && back.tails == WX_TAILS_LINEAR);
  for (int64_t c = 0; c < CELLS; c++) {
    for (float x = -1; x < 3; x += 0.125F) {
      assert_true(wx_quantile_of(&back, c, x) == wx_quantile_of(&map, c, x));
    }
  }
  wx_quantile_fini(&back);
  weir_check_rmdir(folder);
}

static void other_files_are_refused(void **state)
{
  const wx_quantity q = geopotential();
  float forecast[CELLS * LEVELS], truth[CELLS * LEVELS];
  char folder[PATH], path[PATH];
  wx_quantity other = q;
  wx_quantile map, back;

  need_netcdf();
  weir_check_mkdir(folder, sizeof folder);
  fill(forecast, truth, &map);
  assert_ok(wx_quantile_path(folder, &q, 48, path, sizeof path));
  assert_int_equal(wx_quantile_read(path, &q, CELLS, &back), WEIR_ERR_DATA);
  assert_ok(wx_quantile_write(path, &q, 48, &map));
  assert_int_equal(wx_quantile_read(path, &q, CELLS + 1, &back), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "forecast_quantile: f32 [4 points, levels]"));
  assert_null(back.forecast);
  (void)snprintf(other.units, sizeof other.units, "m");
  assert_int_equal(wx_quantile_read(path, &other, CELLS, &back), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "quantiles in 'm2 s-2', and z500 has 'm'"));
  truth[2 * LEVELS + 1] = -1;
  assert_ok(wx_quantile_write(path, &q, 48, &map));
  assert_int_equal(wx_quantile_read(path, &q, CELLS, &back), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "truth_quantile: point 2: quantiles are neither"));
  assert_true(back.forecast == NULL && back.truth == NULL);
  weir_check_rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mapping_comes_back),
      cmocka_unit_test(other_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
