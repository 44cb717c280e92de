/* weight_file_test.c - weights of ESMF and SCRIP files are those that were written, in whatever
 * order the cells stand; files that do not belong to the grids are refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "data/regrid/regrid.h"
#include "io/weir_netcdf.h"
#include "support/io/io_test.h"

enum { ROWS = 5, COLUMNS = 8, FROM = ROWS * COLUMNS, TO = 6, LINKS = 4 * TO };
#define RADIAN (180 / 3.14159265358979323846)

static char dir[256], path[512];
static double lat[ROWS] = {60, 30, 0, -30, -60},
              lon[COLUMNS] = {0, 45, 90, 135, 180, 225, 270, 315};
static double lat_to[2] = {40, -40}, lon_to[3] = {10, 130, 250};

static wx_grid source(void)
{
  return (wx_grid){.kind = WX_GRID_LATLON,
                   .n_lat = ROWS,
                   .n_lon = COLUMNS,
                   .lat = lat,
                   .lon = lon,
                   .wraps = true};
}

static wx_grid target(void)
{
  return (wx_grid){
      .kind = WX_GRID_LATLON, .n_lat = 2, .n_lon = 3, .lat = lat_to, .lon = lon_to, .wraps = true};
}

/* What goes wrong with a file. */
typedef enum harm {
  NONE,
  ADDRESS_0,
  ADDRESS_BEYOND,
  NAN_WEIGHT,
  SHORT_LIST,
  NO_PLACES,
  OTHER_PLACES,
  SAME_PLACES,
  FEWER_CELLS,
  SECOND_ORDER,
  NO_UNITS,
  AREAS,
} harm;

static void put(weir_netcdf *nc, const char *name, weir_dtype dtype, int n_dims, const int *dims,
                const int64_t *count, const void *data, const char *units)
{
  static const int64_t start[2] = {0, 0};
  int var = 0;

  assert_ok(weir_netcdf_var(nc, name, dtype, n_dims, dims, &var));
  if (units != NULL) {
    assert_ok(weir_netcdf_put_text(nc, var, "units", units));
  }
  assert_ok(weir_netcdf_write(nc, var, start, count, data));
}

/* Places of the cells of a grid, from south to north: not the order that fields have here. */
static void put_places(weir_netcdf *nc, const char *const names[2], const wx_grid *g, int dim,
                       int64_t n, bool radians, harm what)
{
  double y[FROM], x[FROM];

  for (int64_t e = 0; e < n; e++) {
    const int64_t j = g->n_lat - 1 - e / g->n_lon;

    y[e] = g->lat[j] / (radians ? RADIAN : 1);
    x[e] = (g->lon[e % g->n_lon] - (e % 2 == 0 ? 0 : 360)) / (radians ? RADIAN : 1);
  }
  y[0] += what == OTHER_PLACES ? 0.1 : 0;
  x[1] = what == SAME_PLACES ? x[0] : x[1];
  const char *const units = what == NO_UNITS ? NULL : radians ? "radians" : "degrees";

  put(nc, names[0], WEIR_F64, 1, &dim, &n, y, units);
  put(nc, names[1], WEIR_F64, 1, &dim, &n, x, units);
}

/* The bilinear weights of ours as a file. */
static void write_file(bool scrip, harm what, const wx_weights *w)
{
  const wx_grid grids[2] = {source(), target()};
  static const char *const places[2][2][2] = {{{"yc_a", "xc_a"}, {"yc_b", "xc_b"}},
                                              {{"src_grid_center_lat", "src_grid_center_lon"},
                                               {"dst_grid_center_lat", "dst_grid_center_lon"}}};
  int32_t address[2][LINKS] = {{0}};
  double weight[2 * LINKS] = {0};
  int64_t n = 0;
  int dims[4];
  weir_netcdf *nc = NULL;

  for (int64_t t = TO; t-- > 0;) {
    for (int64_t e = w->begin[t]; e < w->begin[t + 1]; e++, n++) {
      address[0][n] =
          (int32_t)(1 + (ROWS - 1 - w->from[e] / COLUMNS) * COLUMNS + w->from[e] % COLUMNS);
      address[1][n] = (int32_t)(1 + (1 - t / 3) * 3 + t % 3);
      weight[n] = w->weight[e];
    }
  }
  address[0][3] = what == ADDRESS_0 ? 0 : what == ADDRESS_BEYOND ? FROM + 1 : address[0][3];
  weight[2] = what == NAN_WEIGHT ? NAN : weight[2];
  const int64_t cells[2] = {what == FEWER_CELLS ? FROM - 1 : FROM, TO};
  const int64_t shorter = what == SHORT_LIST ? n - 1 : n;

  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "n_s", n, &dims[0]));
  assert_ok(weir_netcdf_dim(nc, "n_w", what == SECOND_ORDER ? 2 : 1, &dims[1]));
  assert_ok(weir_netcdf_dim(nc, "n_a", cells[0], &dims[2]));
  assert_ok(weir_netcdf_dim(nc, "n_b", cells[1], &dims[3]));
  const int list = dims[0];
  int row = list;

  if (shorter < n) {
    assert_ok(weir_netcdf_dim(nc, "n_t", shorter, &row));
  }
  put(nc, scrip ? "src_address" : "col", WEIR_I32, 1, &list, &n, address[0], NULL);
  put(nc, scrip ? "dst_address" : "row", WEIR_I32, 1, &row, &shorter, address[1], NULL);
  put(nc, scrip ? "remap_matrix" : "S", WEIR_F64, scrip ? 2 : 1, dims,
      (int64_t[]){n, what == SECOND_ORDER ? 2 : 1}, weight, NULL);
  for (int k = 0; k < 2 && what != NO_PLACES; k++) {
    put_places(nc, places[scrip][k], &grids[k], dims[2 + k], cells[k], scrip, what);
  }
  if (what == AREAS) {
    assert_ok(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "map_method", "Conservative remapping"));
  }
  assert_ok(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "normalization", "none"));
  assert_ok(weir_netcdf_commit(&nc));
}

static weir_status read_file(bool scrip, harm what, wx_weights *ours, wx_weights *read)
{
  const wx_grid from = source(), to = target();
  const wx_regrid_opts made = {.method = WX_REGRID_BILINEAR, .weights = ""};
  const wx_regrid_opts file = {.method = WX_REGRID_FILE, .weights = path};

  assert_ok(wx_regrid_make(&made, &from, &to, ours));
  write_file(scrip, what, ours);
  return wx_regrid_make(&file, &from, &to, read);
}

static void weights_of_files_are_as_written(void **state)
{
  float x[FROM], y[2][TO];

  (void)state;
  NEEDS_NETCDF();
  for (int e = 0; e < FROM; e++) {
    x[e] = (float)weir_random_normal(3, 1, 0, (uint64_t)e);
  }
  for (int scrip = 0; scrip < 2; scrip++) {
    wx_weights ours, read;

    assert_ok(read_file(scrip != 0, NONE, &ours, &read));
    assert_int_equal(ours.n, LINKS);
    assert_int_equal(read.n, LINKS);
    wx_weights_apply(&ours, 0, x, y[0]);
    wx_weights_apply(&read, 0, x, y[1]);
    for (int t = 0; t < TO; t++) {
      assert_near((double)y[1][t], (double)y[0][t], 1e-6); /* sums in another order */
    }
    wx_weights_fini(&ours);
    wx_weights_fini(&read);
  }
}

static void files_of_other_grids_are_refused(void **state)
{
  static const struct {
    harm what;
    bool scrip;
    const char *said;
  } rows[] = {
      {ADDRESS_0, false, "variable col, element 3 (from 0): 0: the grid has cells 1 to 40"},
      {ADDRESS_BEYOND, true, "src_address, element 3 (from 0): 41"},
      {NAN_WEIGHT, false, "is no weight"},
      {SHORT_LIST, false, "variable row is not as long as S"},
      {NO_PLACES, false, "does not say where the cells of its source grid are"},
      {OTHER_PLACES, false, "cell 1 (from 1) of its source grid is at -59.9 N, 0 E"},
      {SAME_PLACES, false, "has one that an earlier cell is"},
      {FEWER_CELLS, true, "src_grid_center_lat has to have one number for each of 40"},
      {SECOND_ORDER, true, "weights of the first order"},
      {NO_UNITS, false, "has no units"},
      {AREAS, true, "normalization none"},
  };

  (void)state;
  NEEDS_NETCDF();
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    wx_weights ours, read;

    assert_int_equal(read_file(rows[k].scrip, rows[k].what, &ours, &read), WEIR_ERR_DATA);
    if (strstr(weir_last_message(), rows[k].said) == NULL) {
      fprintf(stderr, "%s\n", weir_last_message());
    }
    assert_non_null(strstr(weir_last_message(), rows[k].said));
    wx_weights_fini(&ours);
    wx_weights_fini(&read);
  }
}

static void files_that_are_none_of_weights_are_refused(void **state)
{
  const wx_grid from = source(), to = target();
  const wx_regrid_opts file = {.method = WX_REGRID_FILE, .weights = path};
  const int64_t n = 3;
  weir_netcdf *nc = NULL;
  wx_weights w;
  int dim = 0;

  (void)state;
  NEEDS_NETCDF();
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "n_s", n, &dim));
  put(nc, "S", WEIR_F64, 1, &dim, &n, lon, NULL);
  assert_ok(weir_netcdf_commit(&nc));
  assert_int_equal(wx_regrid_make(&file, &from, &to, &w), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "it is no file of weights"));
  wx_weights_fini(&w);
  weir_check_write(path, "abc", 3);
  assert_int_equal(wx_regrid_make(&file, &from, &to, &w), WEIR_ERR_DATA);
  wx_weights_fini(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_of_files_are_as_written),
      cmocka_unit_test(files_of_other_grids_are_refused),
      cmocka_unit_test(files_that_are_none_of_weights_are_refused),
  };

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/weights.nc", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
