/* emos_known_test.c - EMOS coefficients of IMPROVER (Met Office, CC BY 4.0) on its own test data,
 * read as archives: screen temperature of MOGREPS-UK against analyses of the UKV, and at sites
 * point by point. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "baseline/emos_file.h"
#include "baseline/training.h"
#include "io/weir_netcdf.h"

enum { PATH = 4096, DAYS = 3, SITES = 121 };

typedef struct set {
  char path[2][DAYS][PATH];
  wx_archive *archive[2];
  wx_eval_data eval_data;
  wx_training data;
} set;

static const int64_t all_days[DAYS] = {0, 1, 2};

static void name_files(set *s, const char *forecast, const char *truth, int first_day)
{
  for (int day = 0; day < DAYS; day++) {
    weir_check_shared(s->path[0][day], PATH, forecast, first_day + day);
    weir_check_shared(s->path[1][day], PATH, truth, first_day + day);
  }
}

static void open_set(set *s, int64_t members)
{
  for (int k = 0; k < 2; k++) {
    const char *const path[] = {s->path[k][0], s->path[k][1], s->path[k][2]};

    assert_ok(wx_archive_open(path, DAYS, &s->archive[k]));
  }
  assert_ok(wx_eval_data_open(s->archive[0], s->archive[1], &s->eval_data));
  assert_int_equal(s->eval_data.facts->n_members, members);
  s->eval_data.fit = all_days;
  s->eval_data.n_fit = DAYS;
  const wx_training_of of = {.n = members};

  assert_ok(wx_training_read(&s->eval_data, &of, false, &s->data));
  assert_int_equal(s->data.n, DAYS);
}

static void close_set(set *s)
{
  wx_training_fini(&s->data);
  wx_eval_data_fini(&s->eval_data);
  for (int k = 0; k < 2; k++) {
    wx_archive_close(&s->archive[k]);
  }
}

static void need_netcdf(void)
{
  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
}

static void coefficients_of_a_grid_are_those_of_improver(void **state)
{
  static set s;
  char path[PATH];
  wx_emos *known = NULL;
  int64_t n = 0;
  wx_emos_opts o;
  wx_emos_fit fit;

  need_netcdf();
  weir_opts_default(wx_emos_options, sizeof o, &o);
  name_files(&s,
             "weather/netcdf/emos_grid/"
             "history_201706%02dT0300Z-PT0012H-temperature_at_screen_level.nc",
             "weather/netcdf/emos_grid/"
             "truth_201706%02dT1500Z-PT0000H-temperature_at_screen_level.nc",
             2);
  weir_check_shared(path, sizeof path, "weather/netcdf/emos_grid/kgo_coefficients.nc");
  open_set(&s, 12);
  const wx_cases c = wx_training_cases(&s.data, NULL, NULL, 0, NULL);

  assert_ok(wx_emos_fit_cases(&o, &c, &fit));
  assert_int_equal(fit.cases, DAYS * 200 * 200);
  assert_near(fit.crps, 0.23229211, 1e-6);
  assert_true(fabs(fit.at.beta - 0.851482) < 1e-3);
  assert_true(fabs(fit.at.alpha / 42.9266 - 1) < 0.01);
  assert_true(fabs(fit.at.gamma - 0.1335138) < 1e-3);
  assert_true(fabs(fit.at.delta - 1.190159) < 1e-3);
  assert_ok(wx_emos_read(path, s.data.cells, &known, &n));
  const double of_known = wx_emos_crps(known, &c, NULL);

  assert_near(of_known, 0.23229211, 1e-7);
  assert_true(fit.crps <= of_known + 1e-9); /* f32 rounds alpha */
  weir_free(&known);
  close_set(&s);
}

/* Mean CRPS of the days of one site. */
static double crps_of(const set *s, int64_t site, const wx_emos *at)
{
  float day[3][DAYS];

  for (int d = 0; d < DAYS; d++) {
    day[0][d] = s->data.mean[d * SITES + site];
    day[1][d] = s->data.variance[d * SITES + site];
    day[2][d] = s->data.truth[d * SITES + site];
  }
  const wx_cases one = {
      .rows = 1, .columns = DAYS, .mean = day[0], .variance = day[1], .truth = day[2]};

  return wx_emos_crps(at, &one, NULL);
}

/* IMPROVER stops its search early and has no floor. Three days determine little: a function of four
 * unknowns and three cases has more than one minimum, but no site may be much worse. */
static void no_site_is_worse_than_improver(void **state)
{
  static set s;
  char path[PATH];
  wx_emos *known = NULL, at[SITES];
  int64_t n = 0, few = 0;
  wx_emos_opts o;
  double sum[2] = {0};

  need_netcdf();
  weir_opts_default(wx_emos_options, sizeof o, &o);
  o.floor = 1e-6;
  o.pool = WX_EMOS_POINT;
  o.min_cases = DAYS;
  name_files(&s,
             "weather/netcdf/emos_sites/"
             "history_202012%02dT1500Z-PT0012H00M-temperature_at_screen_level.nc",
             "weather/netcdf/emos_sites/"
             "truth_202012%02dT1500Z-PT0000H00M-temperature_at_screen_level.nc",
             9);
  weir_check_shared(path, sizeof path,
                    "weather/netcdf/emos_sites/kgo_point_by_point_coefficients.nc");
  open_set(&s, 3);
  const wx_grid *const g = &s.eval_data.facts->grid;
  const wx_emos_grid grid = {.n_lat = g->n_lat, .n_lon = g->n_lon};
  const wx_cases c = wx_training_cases(&s.data, NULL, NULL, 0, NULL);

  assert_int_equal(c.columns, SITES);
  assert_ok(wx_emos_read(path, SITES, &known, &n));
  assert_int_equal(n, SITES);
  assert_ok(wx_emos_fit_grid(&o, &c, &grid, at, &few));
  assert_int_equal(few, 0);
  for (int64_t i = 0; i < SITES; i++) {
    const double ours = crps_of(&s, i, &at[i]), theirs = crps_of(&s, i, &known[i]);

    assert_true(ours <= theirs * 1.001);
    sum[0] += ours;
    sum[1] += theirs;
  }
  assert_true(sum[0] < sum[1]);
  weir_free(&known);
  close_set(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coefficients_of_a_grid_are_those_of_improver),
      cmocka_unit_test(no_site_is_worse_than_improver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
