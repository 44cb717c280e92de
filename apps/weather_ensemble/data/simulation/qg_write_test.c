/* qg_write_test.c - both archives hold what the simulation says, areas too; a stop leaves nothing.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/simulation/qg_write.h"
#include "io/weir_netcdf.h"
#include "ops/fft/weir_fft_plan.h"

enum { LAT = 16, LON = 32, CELLS = LAT * LON, LEADS = 2, QUANTITIES = 3 };

static char dir[256], forecasts[512], truth[512], invariants[512], stations[512];
static const wx_qg_files files = {forecasts, truth, invariants, stations};
static double leads[LEADS] = {0, 24};
static const char *quantities[QUANTITIES] = {"z500", "w500", "z250"};

static wx_qg_opts small(void)
{
  wx_qg_opts o;

  if (!weir_fft_plan_available() || !weir_netcdf_available()) {
    printf("skipped: this build has no FFTW or NetCDF\n");
    skip();
  }
  weir_opts_default(wx_qg_options, sizeof o, &o);
  o.lat = LAT;
  o.lon = LON;
  o.step = 0.24;
  o.spin_up = 5;
  o.library.states = 3;
  o.library.every = 1;
  o.init_times = 5;
  o.every = 24;
  o.members = 3;
  o.leads = (weir_real_list){leads, LEADS};
  o.quantities = (weir_string_list){quantities, QUANTITIES};
  return o;
}

static wx_archive *open_one(const char *path)
{
  wx_archive *a = NULL;

  assert_ok(wx_archive_open(&path, 1, &a));
  return a;
}

static void archives_hold_the_simulation(void **state)
{
  const wx_qg_opts o = small();
  float expected[CELLS], got[CELLS];
  wx_qg_ensemble *e = NULL;

  assert_ok(wx_qg_write(&o, NULL, 5, NULL, &files));
  assert_ok(wx_qg_ensemble_create(&o, NULL, 5, &e));
  wx_archive *f = open_one(forecasts), *t = open_one(truth);
  const wx_archive_info *const facts = wx_archive_get(f);

  assert_int_equal(facts->n_init_times, o.init_times);
  assert_int_equal(wx_archive_get(t)->n_init_times, o.init_times + 1);
  for (int64_t q = 0; q < QUANTITIES; q++) {
    const int64_t in_file = wx_archive_find_quantity(facts, quantities[q]);

    for (int64_t i = 0; i < o.init_times * LEADS * o.members; i++) {
      const int64_t s = i / (LEADS * o.members), l = i / o.members % LEADS, m = i % o.members;

      assert_ok(wx_qg_ensemble_compute(e, s, 1, NULL, NULL));
      assert_ok(wx_qg_ensemble_field(e, s, l, q, m, expected));
      assert_ok(wx_archive_read(f, s, l, in_file, m, 1, got));
      assert_memory_equal(got, expected, sizeof got);
      const int64_t time = wx_archive_find_truth(wx_archive_get(t), facts, s, l);

      assert_int_equal(time, s + l);
      assert_ok(wx_qg_ensemble_true_field(e, time, q, expected));
      assert_ok(wx_archive_read(
          t, time, 0, wx_archive_find_quantity(wx_archive_get(t), quantities[q]), 0, 1, got));
      assert_memory_equal(got, expected, sizeof got);
    }
  }
  for (int64_t c = 0; c < CELLS; c++) { /* not those of latitudes */
    assert_true(facts->grid.weight[c] == 1 && wx_archive_get(t)->grid.weight[c] == 1);
  }
  assert_true(facts->grid.wraps && facts->grid.kind == WX_GRID_LATLON);
  wx_archive_close(&f);
  wx_archive_close(&t);
  wx_qg_ensemble_destroy(&e);
}

/* Observations at stations are those of the truth there; the surface is that of the model that
 * forecasts; 2t is t500 reduced to sea level, then as the surface has it. */
static void surface_and_stations_are_written(void **state)
{
  enum { STATIONS = 7 };
  static const char *both[] = {"t500", "2t"};
  wx_qg_opts o = small();
  float t500[CELLS], t2m[CELLS], height[CELLS], at[STATIONS];
  wx_qg_ensemble *e = NULL;

  o.quantities = (weir_string_list){both, 2};
  o.surface.stations.count = STATIONS;
  o.surface.stations.noise = o.surface.stations.siting = o.surface.stations.roughness = 0;
  assert_ok(wx_qg_write(&o, NULL, 5, NULL, &files));
  wx_archive *f = open_one(forecasts), *s = open_one(stations), *v = open_one(invariants);
  const wx_archive_info *const facts = wx_archive_get(f), *const sites = wx_archive_get(s);

  assert_int_equal(sites->grid.kind, WX_GRID_SITES);
  assert_int_equal(sites->n_init_times, o.init_times + 1);
  assert_ok(wx_archive_read(f, 1, 1, wx_archive_find_quantity(facts, "t500"), 2, 1, t500));
  assert_ok(wx_archive_read(f, 1, 1, wx_archive_find_quantity(facts, "2t"), 2, 1, t2m));
  assert_ok(
      wx_archive_read(v, 0, 0, wx_archive_find_quantity(wx_archive_get(v), "orog"), 0, 1, height));
  assert_ok(wx_qg_ensemble_create(&o, NULL, 5, &e));
  const wx_surface *const surface = wx_qg_ensemble_surface(e);

  for (int c = 0; c < CELLS; c++) {
    t500[c] += (float)(6.5e-3 * wx_qg_layer_height());
    assert_near((double)height[c], surface->height[c], 1e-3);
  }
  wx_surface_add(surface, facts->start[1] + 24 * 3600, t500);
  for (int c = 0; c < CELLS; c++) {
    assert_near((double)t2m[c], (double)t500[c], 1e-3);
  }
  assert_ok(wx_qg_ensemble_compute(e, 0, o.init_times, NULL, NULL));
  assert_ok(wx_qg_ensemble_observe(e, 2, at));
  assert_ok(wx_archive_read(s, 2, 0, 0, 0, 1, t2m));
  assert_memory_equal(t2m, at, sizeof at);
  for (int i = 0; i < STATIONS; i++) {
    assert_true(sites->grid.height[i] > 0 && at[i] > 200 && at[i] < 330);
  }
  wx_archive_close(&f);
  wx_archive_close(&s);
  wx_archive_close(&v);
  wx_qg_ensemble_destroy(&e);
  o.quantities = (weir_string_list){both, 1};
  assert_int_equal(wx_qg_ensemble_check(&o), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "stations observe 2t"));
}

/* Any areas come back, with the mean 1. */
static void areas_come_back(void **state)
{
  static const int64_t start = 0, member = 0;
  static const double lead = 0, lat[2] = {10, -10}, lon[3] = {0, 1, 2};
  const double areas[6] = {0, 2, 4, 6, 8, 10};
  wx_quantity q = {.variable = "z", .units = "m2 s-2", .kind = WX_LEVEL_PRESSURE, .level = 500};
  wx_archive_writer *w = NULL;

  (void)small();
  wx_quantity_complete(&q);
  const wx_archive_info facts = {.name = forecasts,
                                 .n_init_times = 1,
                                 .n_leads = 1,
                                 .n_members = 1,
                                 .n_quantities = 1,
                                 .start = &start,
                                 .lead = &lead,
                                 .member = &member,
                                 .quantity = &q,
                                 .grid = {.kind = WX_GRID_LATLON,
                                          .n_lat = 2,
                                          .n_lon = 3,
                                          .lat = lat,
                                          .lon = lon,
                                          .units = {"degrees_north", "degrees_east"},
                                          .weight = areas}};

  assert_ok(wx_archive_create(forecasts, &facts, &w));
  assert_ok(wx_archive_commit(&w));
  wx_archive *a = open_one(forecasts);

  for (int i = 0; i < 6; i++) {
    assert_near(wx_archive_get(a)->grid.weight[i], areas[i] / 5, 1e-7);
  }
  wx_archive_close(&a);
}

static void a_stop_leaves_no_files(void **state)
{
  const wx_qg_opts o = small();

  (void)remove(forecasts);
  (void)remove(truth);
  weir_stop_request(2);
  assert_int_equal(wx_qg_write(&o, NULL, 5, NULL, &files), WEIR_ERR_STOPPED);
  weir_stop_request(0);
  assert_true(access(forecasts, F_OK) != 0 && access(truth, F_OK) != 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(archives_hold_the_simulation),
      cmocka_unit_test(surface_and_stations_are_written),
      cmocka_unit_test(areas_come_back),
      cmocka_unit_test(a_stop_leaves_no_files),
  };

  weir_log_set_level(WEIR_LOG_WARN);
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(forecasts, sizeof forecasts, "%s/forecast.nc", dir);
  (void)snprintf(truth, sizeof truth, "%s/truth.nc", dir);
  (void)snprintf(invariants, sizeof invariants, "%s/invariants.nc", dir);
  (void)snprintf(stations, sizeof stations, "%s/stations.nc", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
