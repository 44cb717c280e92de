/* write_eccodes_test.c - archives of GRIB files go to GRIB and NetCDF and back: NetCDF
 * bit for bit, GRIB within its packing error; means and spreads; fields that it cannot store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data/archive/archive.h"
#include "support/weather_ensemble/archive_check.h"
#include "support/io/io_test.h"
#include "io/weir_grib.h"
#include "io/weir_netcdf.h"

static char dir[256], path[512];

/* Writes all fields of `a` and opens what was written. */
static wx_archive *written(wx_archive *a, const char *name, const wx_archive_out *how)
{
  const wx_archive_info *f = wx_archive_get(a);
  const char *const paths[] = {path};
  const int64_t kinds = f->n_leads * f->n_quantities, cells = wx_grid_cells(&f->grid);
  float *x = malloc((size_t)(f->n_members * cells) * sizeof *x);
  wx_archive_writer *w = NULL;
  wx_archive *back = NULL;

  (void)snprintf(path, sizeof path, "%s/%s", dir, name);
  assert_ok(wx_archive_create_as(path, f, how, &w));
  for (int64_t i = 0; i < f->n_init_times * kinds; i++) {
    const int64_t l = i % kinds / f->n_quantities, q = i % f->n_quantities;

    if (wx_archive_has(a, i / kinds, l, q, f->n_members - 1)) {
      assert_ok(wx_archive_read(a, i / kinds, l, q, 0, f->n_members, x));
      assert_ok(wx_archive_write(w, i / kinds, l, q, 0, f->n_members, x));
    }
  }
  assert_ok(wx_archive_put_text(w, "source", "a test"));
  assert_ok(wx_archive_commit(&w));
  assert_ok(wx_archive_open(paths, 1, &back));
  free(x);
  return back;
}

/* Values differ by no more than `share` of the range of their field; what is missing is the same.
 */
static void assert_same(wx_archive *a, wx_archive *b, double share)
{
  const wx_archive_info *f = wx_archive_get(a), *g = wx_archive_get(b);
  const int64_t kinds = f->n_leads * f->n_quantities, cells = wx_grid_cells(&f->grid);
  float *x = malloc(2 * (size_t)cells * sizeof *x), *y = x + cells;

  assert_true(f->n_init_times == g->n_init_times && f->n_leads == g->n_leads &&
              f->n_members == g->n_members && f->n_quantities == g->n_quantities);
  assert_memory_equal(f->start, g->start, (size_t)f->n_init_times * sizeof *f->start);
  assert_memory_equal(f->member, g->member, (size_t)f->n_members * sizeof *f->member);
  assert_null(wx_grid_differs(&f->grid, &g->grid));
  for (int64_t i = 0; i < f->n_init_times * kinds * f->n_members; i++) {
    const int64_t m = i % f->n_members, s = i / f->n_members / kinds;
    const int64_t l = i / f->n_members % kinds / f->n_quantities;
    const int64_t q = i / f->n_members % f->n_quantities;
    const int64_t of_q = wx_archive_find_quantity(g, f->quantity[q].name);
    float lo = INFINITY, hi = -INFINITY;

    assert_true(of_q >= 0 && fabs(f->lead[l] - g->lead[l]) < 1e-9);
    assert_string_equal(f->quantity[q].units, g->quantity[of_q].units);
    assert_string_equal(f->quantity[q].method, g->quantity[of_q].method);
    if (!wx_archive_has(a, s, l, q, m)) {
      continue;
    }
    assert_near(wx_archive_period(f, q, l), wx_archive_period(g, of_q, l), 1e-9);
    assert_ok(wx_archive_read(a, s, l, q, m, 1, x));
    assert_ok(wx_archive_read(b, s, l, of_q, m, 1, y));
    for (int64_t e = 0; e < cells; e++) {
      lo = fminf(lo, x[e]);
      hi = fmaxf(hi, x[e]);
    }
    for (int64_t e = 0; e < cells; e++) {
      assert_true(share > 0 || memcmp(&x[e], &y[e], sizeof *x) == 0);
      assert_true(isnan(x[e]) == isnan(y[e]));
      assert_true(isnan(x[e]) || fabs((double)x[e] - (double)y[e]) <=
                                     share * (double)(hi - lo) + 1e-6 * fabs((double)hi));
    }
  }
  free(x);
}

static void fields_go_both_ways(void **state)
{
  static const char *const files[] = {"era5-levels-members", "z500_ens", "ens_storm"};

  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char shared[512];
    const char *const paths[] = {shared};
    wx_archive *a = NULL, *b = NULL;

    weir_check_shared(shared, sizeof shared, "weather/grib/%s.grib", files[i]);
    assert_ok(wx_archive_open(paths, 1, &a));
    /* 2^-16 of the range is the distance of neighbours, which the library may round up to the next
     * power of two; half of it is lost. */
    b = written(a, "a.grib", &(wx_archive_out){.like = a});
    assert_same(a, b, 0x1p-16);
    wx_archive_close(&b);
    if (weir_netcdf_available()) {
      b = written(a, "a.nc", NULL);
      assert_same(a, b, 0);
      wx_archive_close(&b);
    }
    wx_archive_close(&a);
  }
}

enum { ROWS = 5, COLUMNS = 8, CELLS = ROWS * COLUMNS };

static const int64_t start[1] = {86400}, member[1] = {0};
static const double lead[1] = {48};
static double lat[ROWS], lon[COLUMNS];

static wx_archive_info predictions(wx_quantity *q)
{
  const wx_quantity z = check_quantity("z", "m2 s-2", 129, WX_LEVEL_PRESSURE, 500);

  wx_quantity_derive(&z, WX_PRODUCT_MEAN, &q[0]);
  wx_quantity_derive(&z, WX_PRODUCT_SPREAD, &q[1]);
  return (wx_archive_info){.n_init_times = 1,
                           .n_leads = 1,
                           .n_members = 1,
                           .n_quantities = 2,
                           .start = start,
                           .lead = lead,
                           .member = member,
                           .quantity = q,
                           .grid = check_globe(60, ROWS, COLUMNS, lat, lon)};
}

/* Without a message to be like: of paramId and level. */
static void means_and_spreads_are_products(void **state)
{
  wx_quantity q[2];
  const wx_archive_info f = predictions(q);
  float values[2 * CELLS];
  wx_archive *a = NULL, *b = NULL;

  (void)state;
  for (int i = 0; i < 2 * CELLS; i++) {
    values[i] = i == 7 ? NAN : i < CELLS ? 54000 + 10 * (float)i : 100 + (float)i;
  }
  assert_ok(wx_archive_of_memory(&f, values, &a));
  b = written(a, "a.grib2", NULL);
  assert_same(a, b, 0x1p-24);
  const wx_archive_info *g = wx_archive_get(b);
  const int64_t spread = wx_archive_find_quantity(g, "z_spread500");

  assert_true(spread >= 0 && g->quantity[spread].product == WX_PRODUCT_SPREAD);
  assert_int_equal(g->quantity[1 - spread].product, WX_PRODUCT_MEAN);
  assert_string_equal(g->quantity[1 - spread].name, "z500");
  assert_int_equal(g->quantity[spread].param, 129);
  wx_archive_close(&b);
  b = written(a, "b.grb", &(wx_archive_out){.bits = 8});
  assert_same(a, b, 0x1p-8);
  wx_archive_close(&b);
  wx_archive_close(&a);
}

/* A mean and a spread made of a message of a member keep its centre, level and times. */
static void statistics_are_like_the_members(void **state)
{
  char shared[512];
  const char *const paths[] = {shared}, *const out[] = {path};
  wx_archive *a = NULL;
  wx_archive_writer *w = NULL;
  weir_grib *g = NULL;
  wx_quantity q[2];

  (void)state;
  weir_check_shared(shared, sizeof shared, "weather/grib/z500_ens.grib");
  assert_ok(wx_archive_open(paths, 1, &a));
  wx_archive_info f = *wx_archive_get(a);
  float *x = malloc((size_t)wx_grid_cells(&f.grid) * sizeof *x);

  assert_ok(wx_archive_read(a, 0, 0, 0, 0, 1, x));
  wx_quantity_derive(&f.quantity[0], WX_PRODUCT_MEAN, &q[0]);
  wx_quantity_derive(&f.quantity[0], WX_PRODUCT_SPREAD, &q[1]);
  f.quantity = q;
  f.n_quantities = 2;
  f.n_members = 1;
  f.period = NULL; /* that of the archive has one quantity */
  (void)snprintf(path, sizeof path, "%s/d.grib", dir);
  assert_ok(wx_archive_create_as(path, &f, &(wx_archive_out){.like = a}, &w));
  assert_ok(wx_archive_write(w, 0, 0, 0, 0, 1, x));
  assert_ok(wx_archive_write(w, 0, 0, 1, 0, 1, x));
  assert_ok(wx_archive_commit(&w));
  assert_ok(weir_grib_open(out, 1, NULL, &g));
  assert_int_equal(weir_grib_fields(g), 2);
  for (int64_t i = 0; i < 2; i++) {
    const weir_grib_field *field = weir_grib_field_get(g, i);
    const weir_grib_kind *kind = weir_grib_kind_get(g, field->kind);

    assert_true(field->edition == 2 && field->n_members == 51 && kind->bits == 24);
    assert_int_equal(kind->derived, i == 0 ? 0 : 4);
    assert_int_equal(kind->param, 129);
    assert_string_equal(kind->type, i == 0 ? "em" : "es");
    assert_true(field->start == f.start[0] && field->step_seconds[1] == 96 * 3600);
  }
  weir_grib_close(&g);
  wx_archive_close(&a);
  free(x);
}

/* Without a message to be like, in both formats: precipitation from the start, extremes of
 * six hours, and an instant; means and spreads of them. */
static void periods_are_kept(void **state)
{
  enum { KINDS = 4, HOURS = 2 };
  static const double hours[HOURS] = {24, 48}, period[KINDS * HOURS] = {24, 48, 6, 6, 6, 6, 0, 0};
  static const char *const methods[KINDS] = {"sum", "maximum", "minimum", ""};
  static float values[HOURS * KINDS * CELLS];
  wx_quantity q[KINDS];
  wx_archive_info f = predictions(q);
  wx_archive *a = NULL, *b = NULL;

  (void)state;
  for (int k = 0; k < KINDS; k++) {
    q[k] = k == 0   ? check_quantity("tp", "kg m-2", 228228, WX_LEVEL_SURFACE, 0)
           : k == 1 ? check_quantity("mx2t6", "K", 121, WX_LEVEL_SURFACE, 0)
           : k == 2 ? check_quantity("mn2t6", "K", 122, WX_LEVEL_SURFACE, 0)
                    : check_quantity("2t", "K", 167, WX_LEVEL_SURFACE, 0);
    (void)snprintf(q[k].method, sizeof q[k].method, "%s", methods[k]);
    q[k].product = k == 1 ? WX_PRODUCT_MEAN : WX_PRODUCT_MEMBER;
  }
  f.n_quantities = KINDS;
  f.n_leads = HOURS;
  f.lead = hours;
  f.period = period;
  for (int i = 0; i < HOURS * KINDS * CELLS; i++) {
    values[i] = 200 + (float)i;
  }
  assert_ok(wx_archive_of_memory(&f, values, &a));
  if (weir_netcdf_available()) {
    b = written(a, "p.nc", NULL);
    assert_same(a, b, 0);
    wx_archive_close(&b);
  }
  wx_archive_close(&a);
  q[1].product = WX_PRODUCT_MEMBER; /* a GRIB file is read for members, or for statistics */
  assert_ok(wx_archive_of_memory(&f, values, &a));
  b = written(a, "p.grib", NULL);
  assert_same(a, b, 0x1p-16);
  wx_archive_close(&b);
  wx_archive_close(&a);
}

static void what_has_no_place_in_grib_is_refused(void **state)
{
  wx_quantity q[2];
  wx_archive_info f = predictions(q);
  float values[CELLS] = {0};
  wx_archive_writer *w = NULL;

  (void)state;
  (void)snprintf(path, sizeof path, "%s/c.grib", dir);
  q[0].param = 0;
  assert_ok(wx_archive_create(path, &f, &w));
  assert_int_equal(wx_archive_write(w, 0, 0, 0, 0, 1, values), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "z500 has no paramId"));
  wx_archive_abandon(&w);
  q[0].param = 228228;
  (void)snprintf(q[0].method, sizeof q[0].method, "sum");
  f.period = (const double[]){NAN, 0};
  assert_ok(wx_archive_create(path, &f, &w));
  assert_int_equal(wx_archive_write(w, 0, 0, 0, 0, 1, values), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "do not say what time it covers"));
  wx_archive_abandon(&w);
  assert_false(weir_file_exists(path));
  f.grid.kind = WX_GRID_PLANE;
  assert_int_equal(wx_archive_create(path, &f, &w), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "write NetCDF"));
  assert_null(w);
}

/* Heights that are read as geopotentials are written as these, not as the messages that they come
 * from say. */
static void heights_are_written_as_what_they_became(void **state)
{
  static const double gravity = 9.80665;
  const wx_quantity gh = check_quantity("gh", "gpm", 156, WX_LEVEL_PRESSURE, 500);
  wx_rename to_z = {.from = "gh", .to = "z", .units = ""};
  const wx_archive_names names = {.rename = {.items = &to_z, .count = 1}};
  const wx_archive_in how = {.index = "", .names = &names};
  const char *const paths[] = {path};
  wx_quantity q[2];
  wx_archive_info f = predictions(q);
  wx_archive *a = NULL, *b = NULL;
  float values[CELLS], x[CELLS];
  wx_archive_writer *w = NULL;

  (void)state;
  q[0] = gh;
  f.n_quantities = 1;
  (void)snprintf(path, sizeof path, "%s/gh.grib", dir);
  for (int e = 0; e < CELLS; e++) {
    values[e] = 5500 + (float)(e % 7);
  }
  assert_ok(wx_archive_create(path, &f, &w));
  assert_ok(wx_archive_write(w, 0, 0, 0, 0, 1, values));
  assert_ok(wx_archive_commit(&w));
  assert_ok(wx_archive_open_as(paths, 1, &how, &a));
  assert_string_equal(wx_archive_get(a)->quantity[0].name, "z500");
  assert_string_equal(wx_archive_get(a)->quantity[0].units, "m2 s-2");
  assert_ok(wx_archive_read(a, 0, 0, 0, 0, 1, x));
  for (int e = 0; e < CELLS; e++) {
    assert_near((double)x[e], gravity * (double)values[e], 0.01);
  }
  b = written(a, "z.grib", &(wx_archive_out){.like = a});
  assert_int_equal(wx_archive_get(b)->quantity[0].param, 129);
  assert_same(a, b, 0x1p-16);
  wx_archive_close(&b);
  wx_archive_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_go_both_ways),
      cmocka_unit_test(means_and_spreads_are_products),
      cmocka_unit_test(statistics_are_like_the_members),
      cmocka_unit_test(periods_are_kept),
      cmocka_unit_test(what_has_no_place_in_grib_is_refused),
      cmocka_unit_test(heights_are_written_as_what_they_became),
  };

  if (!weir_grib_available()) {
    fprintf(stderr, "skipped: this build has no ecCodes\n");
    return 0;
  }
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
