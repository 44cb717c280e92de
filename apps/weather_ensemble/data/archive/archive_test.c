/* archive_test.c - what is written comes back, exactly; files of others are read as they mean; what
 * cannot be understood is said by file, variable and reason. */
#include "data/archive/archive.h"
#include "data/archive/archive_cube.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "support/weather_ensemble/archive_check.h"
#include "data/date.h"
#include "support/io/io_test.h"
#include "io/weir_netcdf.h"

static char dir[256], path[512], other[512];

enum { INIT_TIMES = 3, LEADS = 2, QUANTITIES = 5, MEMBERS = 3, ROWS = 5, COLUMNS = 8 };
enum { CELLS = ROWS * COLUMNS, FIELDS = INIT_TIMES * LEADS * QUANTITIES * MEMBERS };

static const int64_t start[INIT_TIMES] = {86400, 5 * 86400, 365 * 86400 + 43200};
static const double lead[LEADS] = {24, 48.5};
static const int64_t member[MEMBERS] = {0, 1, 7};
static double lat[ROWS], lon[COLUMNS];
static wx_quantity quantity[QUANTITIES];
static float values[FIELDS * CELLS], scratch[MEMBERS * CELLS];

static wx_archive_info cube(void)
{
  static const struct {
    const char *variable, *units;
    int64_t param;
    wx_level kind;
    double level;
  } q[QUANTITIES] = {{"z", "m**2 s**-2", 129, WX_LEVEL_PRESSURE, 500},
                     {"t", "K", 130, WX_LEVEL_PRESSURE, 850},
                     {"t", "K", 130, WX_LEVEL_PRESSURE, 500},
                     {"2t", "K", 167, WX_LEVEL_SURFACE, 0},
                     {"eddies", "", 0, WX_LEVEL_SURFACE, 0}};

  for (int k = 0; k < QUANTITIES; k++) {
    quantity[k] = check_quantity(q[k].variable, q[k].units, q[k].param, q[k].kind, q[k].level);
  }
  for (int64_t i = 0; i < FIELDS * CELLS; i++) {
    values[i] = i % 97 == 5 ? NAN : (float)random_in(4, (uint64_t)i, -1000000, 1000000) / 7;
  }
  return (wx_archive_info){.n_init_times = INIT_TIMES,
                           .n_leads = LEADS,
                           .n_members = MEMBERS,
                           .n_quantities = QUANTITIES,
                           .start = start,
                           .lead = lead,
                           .member = member,
                           .quantity = quantity,
                           .grid = check_globe(90, ROWS, COLUMNS, lat, lon)};
}

static const float *field_of(int64_t s, int64_t l, int64_t q, int64_t m)
{
  return values + (((s * LEADS + l) * QUANTITIES + q) * MEMBERS + m) * CELLS;
}

/* Every value of an archive is that of the cube. */
static void assert_same(wx_archive *a)
{
  const wx_archive_info *f = wx_archive_get(a);

  assert_int_equal(f->n_init_times, INIT_TIMES);
  assert_int_equal(f->n_leads, LEADS);
  assert_int_equal(f->n_members, MEMBERS);
  assert_int_equal(f->n_quantities, QUANTITIES);
  assert_memory_equal(f->start, start, sizeof start);
  assert_memory_equal(f->lead, lead, sizeof lead);
  assert_memory_equal(f->member, member, sizeof member);
  assert_memory_equal(f->grid.lat, lat, sizeof lat);
  assert_memory_equal(f->grid.lon, lon, sizeof lon);
  assert_true(f->grid.kind == WX_GRID_LATLON && f->grid.wraps);
  for (int64_t q = 0; q < QUANTITIES; q++) {
    const int64_t found = wx_archive_find_quantity(f, quantity[q].name);

    assert_true(found >= 0);
    assert_string_equal(f->quantity[found].variable, quantity[q].variable);
    assert_string_equal(f->quantity[found].units, quantity[q].units);
    assert_string_equal(f->quantity[found].standard_name, quantity[q].standard_name);
    assert_int_equal(f->quantity[found].param, quantity[q].param);
    assert_int_equal(f->quantity[found].kind, quantity[q].kind);
    for (int64_t i = 0; i < INIT_TIMES * LEADS; i++) {
      assert_true(wx_archive_has(a, i / LEADS, i % LEADS, found, 1));
      assert_ok(wx_archive_read(a, i / LEADS, i % LEADS, found, 0, MEMBERS, scratch));
      assert_memory_equal(scratch, field_of(i / LEADS, i % LEADS, q, 0), sizeof scratch);
      assert_ok(wx_archive_read(a, i / LEADS, i % LEADS, found, 2, 1, scratch));
      assert_memory_equal(scratch, field_of(i / LEADS, i % LEADS, q, 2), CELLS * sizeof *scratch);
    }
  }
}

static void names_are_those_of_ecmwf(void **state)
{
  static const char *const names[QUANTITIES] = {"z500", "t850", "t500", "2t", "eddies"};
  wx_quantity q = {.standard_name = "air_temperature", .kind = WX_LEVEL_HEIGHT, .level = 1.5};

  (void)state;
  (void)cube();
  for (int k = 0; k < QUANTITIES; k++) {
    assert_string_equal(quantity[k].name, names[k]);
  }
  assert_string_equal(quantity[0].units, "m2 s-2");
  assert_string_equal(quantity[0].standard_name, "geopotential");
  assert_near(quantity[3].level, 2, 0);
  (void)snprintf(q.variable, WX_SHORT, "air_temperature");
  wx_quantity_complete(&q);
  assert_string_equal(q.name, "2t");
  assert_near(q.level, 1.5, 0);
  assert_true(wx_quantity_same_units("m s-1", "m/s") && !wx_quantity_same_units("K", "m"));
}

static void memory_is_read_as_it_is(void **state)
{
  const wx_archive_info f = cube();
  wx_archive_info wrong = f;
  wx_archive *a = NULL;

  (void)state;
  assert_ok(wx_archive_of_memory(&f, values, &a));
  assert_same(a);
  assert_int_equal(wx_archive_read(a, 0, 0, 0, 1, MEMBERS, scratch), WEIR_ERR_SHAPE);
  assert_int_equal(wx_archive_find_lead(wx_archive_get(a), 48.5), 1);
  assert_int_equal(wx_archive_find_lead(wx_archive_get(a), 36), -1);
  assert_int_equal(wx_archive_find_start(wx_archive_get(a), start[2]), 2);
  assert_int_equal(wx_archive_find_start(wx_archive_get(a), start[2] + 1), -1);
  wx_archive_close(&a);
  wrong.n_leads = 0;
  assert_int_equal(wx_archive_of_memory(&wrong, values, &a), WEIR_ERR_SHAPE);
  assert_null(a);
}

static void write_cube(const char *to, const wx_archive_info *f, int64_t from, int64_t n)
{
  wx_archive_info slice = *f;
  wx_archive_writer *w = NULL;

  slice.start = f->start + from;
  slice.n_init_times = n;
  assert_ok(wx_archive_create(to, &slice, &w));
  assert_ok(wx_archive_put_text(w, "source", "a test"));
  for (int64_t i = 0; i < n * f->n_leads * QUANTITIES; i++) {
    const int64_t s = i / (f->n_leads * QUANTITIES), l = i / QUANTITIES % f->n_leads;
    const int64_t q = i % QUANTITIES;

    for (int64_t m = 0; m < f->n_members; m += 2) {
      const int64_t both = f->n_members - m < 2 ? f->n_members - m : 2;

      assert_ok(wx_archive_write(w, s, l, q, m, both, field_of(from + s, l, q, m)));
    }
  }
  assert_int_equal(wx_archive_write(w, n, 0, 0, 0, 1, values), WEIR_ERR_SHAPE);
  assert_ok(wx_archive_commit(&w));
  assert_null(w);
}

static void a_file_comes_back(void **state)
{
  const wx_archive_info f = cube();
  const char *const paths[] = {path};
  wx_archive *a = NULL;

  (void)state;
  write_cube(path, &f, 0, INIT_TIMES);
  assert_ok(wx_archive_open(paths, 1, &a));
  assert_same(a);
  wx_archive_close(&a);
}

/* Means and spreads of a plane with areas, a projection and an owner. */
static void what_stands_beside_the_values_comes_back(void **state)
{
  const char *const paths[] = {path};
  wx_attrs mapping = {.name = "lambert",
                      .n = 2,
                      .note = {{.name = "grid_mapping_name", .text = "lambert_conformal_conic"},
                               {.name = "standard_parallel", .n = 2, .number = {30, 60}}}};
  wx_attrs notes = {.n = 1, .note = {{.name = "licence", .text = "CC BY 4.0"}}};
  wx_archive_info f = cube();
  double area[CELLS], sum = 0;
  wx_quantity derived[2];
  wx_archive *a = NULL;
  wx_archive_writer *w = NULL;

  (void)state;
  for (int i = 0; i < CELLS; i++) {
    area[i] = (1 + i % 7) / 4.0;
    sum += area[i] / CELLS;
  }
  wx_quantity_derive(&quantity[3], WX_PRODUCT_MEAN, &derived[0]);
  wx_quantity_derive(&quantity[3], WX_PRODUCT_SPREAD, &derived[1]);
  f.quantity = derived;
  f.n_quantities = 2;
  f.n_members = 1;
  f.grid.kind = WX_GRID_PLANE;
  (void)snprintf(f.grid.units[0], WX_SHORT, "km");
  (void)snprintf(f.grid.units[1], WX_SHORT, "km");
  f.grid.weight = area;
  f.grid.mapping = &mapping;
  f.notes = &notes;
  assert_ok(wx_archive_create(path, &f, &w));
  assert_ok(wx_archive_write(w, 0, 0, 1, 0, 1, values));
  assert_ok(wx_archive_commit(&w));
  assert_ok(wx_archive_open(paths, 1, &a));
  const wx_archive_info *g = wx_archive_get(a);

  assert_true(g->n_quantities == 2 && g->grid.kind == WX_GRID_PLANE);
  for (int k = 0; k < 2; k++) {
    assert_string_equal(g->quantity[k].name, k == 0 ? "2t" : "2t_spread");
    assert_string_equal(g->quantity[k].variable, k == 0 ? "2t" : "2t_spread");
    assert_int_equal(g->quantity[k].product, k == 0 ? WX_PRODUCT_MEAN : WX_PRODUCT_SPREAD);
    assert_int_equal(g->quantity[k].param, 167);
    assert_string_equal(g->quantity[k].standard_name, "air_temperature");
  }
  for (int i = 0; i < CELLS; i++) {
    assert_near(g->grid.weight[i], area[i] / sum, 1e-6);
  }
  assert_string_equal(g->grid.mapping->name, "lambert");
  assert_true(g->grid.mapping->n == 2 && g->grid.mapping->note[1].number[1] == 60);
  assert_string_equal(g->notes->note[0].text, "CC BY 4.0");
  assert_ok(wx_archive_read(a, 0, 0, 1, 0, 1, scratch));
  assert_memory_equal(scratch, values, CELLS * sizeof *scratch);
  assert_ok(wx_archive_read(a, 1, 0, 1, 0, 1, scratch));
  assert_true(isnan(scratch[0])); /* never written */
  wx_archive_close(&a);
}

static weir_status write_once(void *context)
{
  const wx_archive_info *f = context;
  wx_archive_writer *w = NULL;
  wx_archive *a = NULL;

  WEIR_TRY(wx_archive_of_memory(f, values, &a));
  weir_status status = wx_archive_create(path, wx_archive_get(a), &w);

  if (status == WEIR_OK) {
    status = wx_archive_write(w, 0, 0, 0, 0, 1, values);
  }
  wx_archive_abandon(&w);
  wx_archive_close(&a);
  return status;
}

static void memory_that_runs_out_leaves_nothing(void **state)
{
  wx_archive_info f = cube();

  (void)state;
  (void)remove(path);
  assert_true(weir_check_faults(write_once, &f) > 10);
  assert_false(weir_file_exists(path));
}

static void several_files_are_one(void **state)
{
  const wx_archive_info f = cube();
  const char *const paths[] = {other, path}, *const twice[] = {path, other, path};
  wx_archive *a = NULL;

  (void)state;
  write_cube(path, &f, 0, 1);
  write_cube(other, &f, 1, INIT_TIMES - 1);
  assert_ok(wx_archive_open(paths, 2, &a));
  assert_same(a);
  wx_archive_close(&a);
  assert_int_equal(wx_archive_open(twice, 3, &a), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "is there twice, also in"));
  assert_null(a);
}

/* More files than are kept open: they are opened again, and a file that changed is reported. */
static void files_rest(void **state)
{
  char names[INIT_TIMES][300];
  const char *const paths[INIT_TIMES] = {names[0], names[1], names[2]};
  wx_archive_info f = cube();
  wx_archive *a = NULL;

  (void)state;
  for (int i = 0; i < INIT_TIMES; i++) {
    (void)snprintf(names[i], sizeof names[i], "%s/%d.nc", dir, i);
    write_cube(names[i], &f, i, 1);
  }
  assert_ok(wx_archive_open(paths, INIT_TIMES, &a));
  wx_archive_set_max_open(a, 1);
  assert_same(a);
  assert_same(a);
  f.n_leads = 1;
  f.n_members = 1;
  write_cube(names[0], &f, 0, 1); /* rests by now */
  assert_ok(wx_archive_read(a, 1, 0, 0, 0, 1, scratch));
  assert_int_equal(wx_archive_read(a, 0, 0, 0, 0, 1, scratch), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "changed while it was read"));
  wx_archive_close(&a);
}

static void another_grid_and_other_units_are_refused(void **state)
{
  wx_archive_info f = cube();
  const char *const paths[] = {path, other};
  double moved[COLUMNS];
  wx_archive *a = NULL;

  (void)state;
  write_cube(path, &f, 0, 1);
  for (int i = 0; i < COLUMNS; i++) {
    moved[i] = lon[i] + 10;
  }
  f.grid.lon = moved;
  write_cube(other, &f, 1, 1);
  assert_int_equal(wx_archive_open(paths, 2, &a), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "their columns are elsewhere"));
  assert_non_null(strstr(weir_last_message(), path));
  assert_non_null(strstr(weir_last_message(), other));
  f.grid.lon = lon;
  (void)snprintf(quantity[3].units, WX_SHORT, "degF");
  write_cube(other, &f, 1, 1);
  assert_int_equal(wx_archive_open(paths, 2, &a), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "2t is in 'degF', that of"));
}

static void decadal_forecasts_find_their_truth(void **state)
{
  char forecast[512], truth[512];
  const char *const paths[2] = {forecast, truth};
  wx_archive *a[2] = {NULL, NULL};
  int64_t pairs[10] = {0};
  double bias = 0;

  (void)state;
  weir_check_shared(forecast, sizeof forecast,
                    "weather/netcdf/decadal/MPIESM_miklip_baseline1-hind-SST-global.nc");
  weir_check_shared(truth, sizeof truth,
                    "weather/netcdf/decadal/MPIESM_miklip_baseline1-assim-SST-global.nc");
  for (int k = 0; k < 2; k++) {
    assert_ok(wx_archive_open(&paths[k], 1, &a[k]));
  }
  const wx_archive_info *f = wx_archive_get(a[0]), *t = wx_archive_get(a[1]);

  assert_true(f->n_init_times == 55 && f->n_leads == 10 && f->n_members == 10 && f->member[0] == 1);
  assert_true(t->n_init_times == 55 && t->n_leads == 1 && t->n_members == 1);
  assert_string_equal(f->quantity[0].name, "SST");
  for (int64_t s = 0; s < 55; s++) {
    for (int64_t l = 0; l < 10; l++) {
      const int64_t at = wx_archive_find_truth(t, f, s, l);
      float x[10], y = 0;

      assert_int_equal(at, s + l + 1 < 55 ? s + l + 1 : -1);
      pairs[l] += at >= 0;
      if (l == 0 && at >= 0) {
        assert_ok(wx_archive_read(a[0], s, l, 0, 0, 10, x));
        assert_ok(wx_archive_read(a[1], at, 0, 0, 0, 1, &y));
        for (int m = 0; m < 10; m++) {
          bias += ((double)x[m] - (double)y) / 540;
        }
      }
    }
  }
  assert_true(pairs[0] == 54 && pairs[4] == 50);
  assert_near(bias, 0.0823, 5e-5);
  wx_archive_close(&a[0]);
  wx_archive_close(&a[1]);
}

/* Mean over members, cells and initialisation times of the difference to truth, as the data's
 * README has it. */
static void one_start_a_file(const char *folder, const char *const *dates, int64_t members,
                             wx_grid_kind kind, double bias)
{
  char names[6][512];
  const char *forecast[3] = {names[0], names[1], names[2]},
             *truth[3] = {names[3], names[4], names[5]};
  static float x[12 * 40000], y[40000];
  wx_archive *a = NULL, *t = NULL;
  double sum = 0;

  for (int i = 0; i < 3; i++) {
    const bool sites = kind == WX_GRID_SITES;

    weir_check_shared(names[i], sizeof names[i],
                      "weather/netcdf/%s/history_%sZ-PT0012H%s-temperature_at_screen_level.nc",
                      folder, dates[i], sites ? "00M" : "");
    weir_check_shared(names[3 + i], sizeof names[i],
                      "weather/netcdf/%s/truth_%sZ-PT0000H%s-temperature_at_screen_level.nc",
                      folder, dates[3 + i], sites ? "00M" : "");
  }
  assert_ok(wx_archive_open(forecast, 3, &a));
  assert_ok(wx_archive_open(truth, 3, &t));
  const wx_archive_info *f = wx_archive_get(a);
  const int64_t cells = wx_grid_cells(&f->grid);

  assert_true(f->n_init_times == 3 && f->n_leads == 1 && f->n_members == members);
  assert_true(f->grid.kind == kind && f->lead[0] == 12 &&
              f->member[0] == (kind == WX_GRID_SITES ? 29 : 0));
  assert_string_equal(f->quantity[0].name, "2t");
  assert_near(f->quantity[0].level, 1.5, 0);
  assert_null(wx_grid_differs(&f->grid, &wx_archive_get(t)->grid));
  for (int64_t s = 0; s < 3; s++) {
    const int64_t at = wx_archive_find_truth(wx_archive_get(t), f, s, 0);
    double mean = 0;

    assert_ok(wx_archive_read(a, s, 0, 0, 0, members, x));
    if (at < 0) {
      continue;
    }
    assert_ok(wx_archive_read(t, at, 0, 0, 0, 1, y));
    for (int64_t i = 0; i < members * cells; i++) {
      mean += ((double)x[i] - (double)y[i % cells]) / (double)(members * cells);
    }
    sum += mean / 3;
  }
  assert_true((f->grid.mapping != NULL) == (kind == WX_GRID_PLANE));
  assert_true(f->notes != NULL && f->notes->n == 3);
  assert_true(isnan(bias) || fabs(sum - bias) < 5e-5);
  wx_archive_close(&a);
  wx_archive_close(&t);
}

static void improver_files_are_one_start_each(void **state)
{
  static const char *const grid[] = {"20170602T0300", "20170603T0300", "20170604T0300",
                                     "20170602T1500", "20170603T1500", "20170604T1500"};
  static const char *const sites[] = {"20201209T1500", "20201210T1500", "20201211T1500",
                                      "20201209T1500", "20201210T1500", "20201211T1500"};

  (void)state;
  one_start_a_file("emos_grid", grid, 12, WX_GRID_PLANE, -0.2452);
  one_start_a_file("emos_sites", sites, 3, WX_GRID_SITES, NAN);
}

static void what_is_no_archive_is_refused(void **state)
{
  const char *const missing[] = {"/nowhere/x.nc"}, *const paths[] = {path};
  wx_archive *a = NULL;

  (void)state;
  assert_int_equal(wx_archive_open(missing, 1, &a), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "/nowhere/x.nc"));
  write_text(path, "start,lead,value\n");
  assert_int_equal(wx_archive_open(paths, 1, &a), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "begins like no file of"));
  assert_int_equal(wx_archive_open(paths, 0, &a), WEIR_ERR_CONFIG);
}

static void weights_are_areas(void **state)
{
  wx_grid g = cube().grid;
  double w[CELLS], sum = 0;

  (void)state;
  wx_grid_weights(&g, w);
  for (int i = 0; i < CELLS; i++) {
    sum += w[i] / CELLS;
  }
  assert_near(sum, 1, 1e-14);
  /* Edges at 90, 67.5, 22.5: caps of 1 - sin 67.5 of the half sphere. */
  assert_near(w[0] / w[2 * COLUMNS],
              (1 - sin(67.5 * 3.14159265358979323846 / 180)) /
                  (2 * sin(22.5 * 3.14159265358979323846 / 180)),
              1e-14);
}

static void grids_come_into_order(void **state)
{
  double south[3] = {-10, 0, 10}, west[4] = {-180, -90, 0, 90}, east[4] = {350, 355, 0, 5};
  wx_grid g = {.kind = WX_GRID_LATLON, .n_lat = 3, .n_lon = 4};
  wx_grid_order order;
  float stored[12], out[12];

  (void)state;
  for (int i = 0; i < 12; i++) {
    stored[i] = (float)i;
  }
  assert_null(wx_grid_arrange(&g, south, west, &order));
  assert_true(g.wraps && order.flip_rows && south[0] == 10);
  assert_true(west[0] == 0 && west[1] == 90 && west[3] == 270);
  wx_grid_reorder(&g, &order, stored, out);
  assert_true(out[0] == 10 && out[1] == 11 && out[2] == 8 && out[3] == 9 && out[8] == 2);
  assert_null(wx_grid_arrange(&g, south, east, &order));
  assert_true(!g.wraps && !order.flip_rows && order.shift == 0 && east[0] == -10 && east[3] == 5);
  double back[4] = {30, 20, 10, 0}, same[4] = {0, 120, 240, 360}, mixed[4] = {0, 20, 10, 30};

  assert_null(wx_grid_arrange(&g, south, back, &order));
  assert_true(order.flip_columns && back[0] == 0 && back[3] == 30);
  assert_non_null(wx_grid_arrange(&g, south, same, &order));
  assert_non_null(wx_grid_arrange(&g, south, mixed, &order));
}

int main(void)
{
  const struct CMUnitTest without[] = {
      cmocka_unit_test(names_are_those_of_ecmwf),
      cmocka_unit_test(grids_come_into_order),
      cmocka_unit_test(weights_are_areas),
      cmocka_unit_test(memory_is_read_as_it_is),
      cmocka_unit_test(what_is_no_archive_is_refused),
  };
  const struct CMUnitTest with[] = {
      cmocka_unit_test(a_file_comes_back),
      cmocka_unit_test(what_stands_beside_the_values_comes_back),
      cmocka_unit_test(memory_that_runs_out_leaves_nothing),
      cmocka_unit_test(several_files_are_one),
      cmocka_unit_test(files_rest),
      cmocka_unit_test(another_grid_and_other_units_are_refused),
      cmocka_unit_test(decadal_forecasts_find_their_truth),
      cmocka_unit_test(improver_files_are_one_start_each),
  };

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/a.nc", dir);
  (void)snprintf(other, sizeof other, "%s/b.nc", dir);
  int failed = cmocka_run_group_tests(without, NULL, NULL);

  if (weir_netcdf_available()) {
    failed += cmocka_run_group_tests(with, NULL, NULL);
  }
  weir_check_rmdir(dir);
  return failed;
}
