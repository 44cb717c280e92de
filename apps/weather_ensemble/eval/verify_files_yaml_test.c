/* verify_files_yaml_test.c - scores of the shared data's files, as other programs compute them. */
#include "support/weather_ensemble/verify_check.h"
#include "eval/verify.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "device/weir_parallel.h"
#include "support/weather_ensemble/scores_check.h"
#include "io/weir_netcdf.h"

static void open_files(fixture *t, char (*forecast)[PATH], char (*truth)[PATH], int n)
{
  const char *f[FILES], *y[FILES];

  for (int k = 0; k < n; k++) {
    f[k] = forecast[k];
    y[k] = truth[k];
  }
  memset(t, 0, sizeof *t);
  assert_ok(wx_archive_open(f, n, &t->forecast));
  assert_ok(wx_archive_open(y, n, &t->truth));
  assert_ok(wx_eval_data_open(t->forecast, t->truth, &t->data));
}

/* The numbers of the data's README, which other programs computed. */
static void temperature_on_a_grid(void **state)
{
  const char *const folder = "weather/netcdf/emos_grid";
  char forecast[FILES][PATH], truth[FILES][PATH];
  static fixture t;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  for (int k = 0; k < FILES; k++) {
    weir_check_shared(forecast[k], PATH,
                      "%s/history_2017060%dT0300Z-PT0012H-temperature_at_screen_level.nc", folder,
                      2 + k);
    weir_check_shared(truth[k], PATH,
                      "%s/truth_2017060%dT1500Z-PT0000H-temperature_at_screen_level.nc", folder,
                      2 + k);
  }
  open_files(&t, forecast, truth, FILES);
  assert_ok(open_verify(&t, "{models: [{use: {raw: {first: 0}}}], score: {patch: 0}}"));
  assert_ok(wx_verify_lead(&t.verify, t.verify.quantity[0], t.verify.lead[0]));
  const wx_score_sums *const r = &t.verify.score_sums[0];

  assert_int_equal(t.verify.n_init_times, 3);
  assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_CRPS), 0.379502, 5e-7);
  assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_CRPS_FAIR), 0.365991, 5e-7);
  assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_CRPS_GAUSS), 0.374489, 5e-7);
  assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_BIAS), -0.2452, 5e-5);
  assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_RMSE), 0.6172, 5e-5);
  assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_SPREAD), 0.4141, 5e-5);
  close_fixture(&t);
}

static void decades_are_aligned(void **state)
{
  static const struct {
    int lead;
    int64_t n;
    double bias, rmse, spread, crps, fair;
  } known[] = {{0, 54, 0.0823, 0.1001, 0.0391, 0.06996, 0.06774},
               {4, 50, 0.1025, 0.1389, 0.0694, 0.08871, 0.08483}};
  char forecast[1][PATH], truth[1][PATH];
  static fixture t;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  weir_check_shared(forecast[0], PATH,
                    "weather/netcdf/decadal/MPIESM_miklip_baseline1-hind-SST-global.nc");
  weir_check_shared(truth[0], PATH,
                    "weather/netcdf/decadal/MPIESM_miklip_baseline1-assim-SST-global.nc");
  open_files(&t, forecast, truth, 1);
  assert_ok(open_verify(&t, "init_times: all"));
  assert_int_equal(t.verify.n_leads, 10);
  for (int k = 0; k < 2; k++) {
    const wx_score_sums *const r = &t.verify.score_sums[0];

    assert_ok(wx_verify_lead(&t.verify, t.verify.quantity[0], t.verify.lead[known[k].lead]));
    assert_int_equal(t.verify.n_init_times, known[k].n);
    assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_BIAS), known[k].bias, 5e-5);
    assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_RMSE), known[k].rmse, 5e-5);
    assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_SPREAD), known[k].spread, 5e-5);
    assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_CRPS), known[k].crps, 5e-6);
    assert_near(wx_score_get(r, 0, WX_BY_AREA, WX_CRPS_FAIR), known[k].fair, 1e-5);
  }
  close_fixture(&t);
}

/* The control of the EDA as truth: no score of it, but the moments of the members are known. */
static void moments_of_grib(void **state)
{
  char path[PATH];
  const char *paths[] = {path};
  static fixture t;

  weir_check_shared(path, sizeof path, "weather/grib/era5-levels-members.grib");
  memset(&t, 0, sizeof t);
  if (wx_archive_open(paths, 1, &t.forecast) == WEIR_ERR_UNSUPPORTED) {
    printf("skipped: this build has no ecCodes\n");
    skip();
  }
  wx_archive_info one = *wx_archive_get(t.forecast); /* the spread does not depend on the truth */
  const int64_t fields = one.n_init_times * one.n_leads * one.n_quantities;
  float *analysis = NULL;

  one.n_members = 1;
  assert_ok(weir_alloc(fields * wx_grid_cells(&one.grid), sizeof *analysis, (void **)&analysis));
  assert_ok(wx_archive_of_memory(&one, analysis, &t.truth));
  assert_ok(wx_eval_data_open(t.forecast, t.truth, &t.data));
  assert_ok(open_verify(&t, "{quantities: [z500]}"));
  assert_ok(wx_verify_lead(&t.verify, t.verify.quantity[0], 0));
  const double *const variance =
      wx_score_sums_series(&t.verify.score_sums[0], 0, WX_BY_AREA, WX_SUM_VARIANCE);
  const double *const weight =
      wx_score_sums_series(&t.verify.score_sums[0], 0, WX_BY_AREA, WX_SUM_WEIGHT);

  /* The known number is weighted by cosines of latitude, not by areas. */
  assert_near(sqrt(variance[0] / weight[0]) / 14.3862, 1, 2e-4);
  close_fixture(&t);
  weir_free(&analysis);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(temperature_on_a_grid),
      cmocka_unit_test(decades_are_aligned),
      cmocka_unit_test(moments_of_grib),
  };

  weir_threads_set(1); /* the fields are small, and threads that wait take the time of others */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
