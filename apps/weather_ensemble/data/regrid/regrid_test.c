/* regrid_test.c - weights between grids: linear fields come back, means of the globe are kept,
 * poles and the date line are no edges, what is missing stays missing; values of Iris and ecCodes.
 */
#include "data/regrid/regrid.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/regrid/rows.h"

enum { MOST = 4096 };
#define DEGREE (3.14159265358979323846 / 180)

static const wx_regrid_opts bilinear = {.method = WX_REGRID_BILINEAR, .weights = ""};
static const wx_regrid_opts nearest = {.method = WX_REGRID_NEAREST, .weights = ""};
static const wx_regrid_opts conservative = {.method = WX_REGRID_CONSERVATIVE, .weights = ""};

static double lat[MOST], lon[MOST], lat_to[MOST], lon_to[MOST];
static float x[MOST], y[MOST];

static double uniform(uint32_t stream, uint64_t i)
{
  return weir_random_uniform(7, stream, 0, i);
}

/* A globe of rows of lengths 20, 24, 28 ..., as octahedral grids have them, in a random order. */
static wx_grid octahedral(int64_t half)
{
  int64_t n = 0;

  for (int64_t j = 0; j < 2 * half; j++) {
    const int64_t row = 20 + 4 * (j < half ? j : 2 * half - 1 - j);

    for (int64_t i = 0; i < row; i++, n++) {
      lat[n] = 90 - 180 * ((double)j + 0.5) / (double)(2 * half);
      lon[n] = 360 * (double)i / (double)row;
    }
  }
  assert_true(n <= MOST);
  for (int64_t i = n - 1; i > 0; i--) {
    const int64_t k = (int64_t)(uniform(1, (uint64_t)i) * (double)(i + 1));
    const double kept[2] = {lat[i], lon[i]};

    lat[i] = lat[k];
    lon[i] = lon[k];
    lat[k] = kept[0];
    lon[k] = kept[1];
  }
  return (wx_grid){.kind = WX_GRID_POINTS, .n_lat = 1, .n_lon = n, .lat = lat, .lon = lon};
}

/* Rows and columns from north and west. */
static wx_grid regular(double *at_lat, double *at_lon, const double area[4], int64_t rows,
                       int64_t columns, bool wraps)
{
  for (int64_t j = 0; j < rows; j++) {
    at_lat[j] = area[0] - (area[0] - area[2]) * (double)j / (double)(rows > 1 ? rows - 1 : 1);
  }
  for (int64_t i = 0; i < columns; i++) {
    at_lon[i] = area[1] + (area[3] - area[1]) * (double)i /
                              (double)(wraps         ? columns
                                       : columns > 1 ? columns - 1
                                                     : 1);
  }
  return (wx_grid){.kind = WX_GRID_LATLON,
                   .n_lat = rows,
                   .n_lon = columns,
                   .lat = at_lat,
                   .lon = at_lon,
                   .wraps = wraps};
}

static wx_grid target(double north, double west, double south, double east, int64_t rows,
                      int64_t columns, bool wraps)
{
  return regular(lat_to, lon_to, (double[]){north, west, south, east}, rows, columns, wraps);
}

static void regrid(const wx_regrid_opts *opts, const wx_grid *from, const wx_grid *to)
{
  wx_weights w;

  assert_ok(wx_regrid_make(opts, from, to, &w));
  assert_int_equal(w.row, w.n_to);
  wx_weights_apply(&w, opts->missing, x, y);
  wx_weights_fini(&w);
}

static double plane(double at_lat, double at_lon)
{
  return 3 + 0.5 * at_lat - 0.25 * at_lon + 0.01 * at_lat * at_lon;
}

/* Of a region across the date line, whose rows and columns are uneven. */
static void bilinear_fields_come_back(void **state)
{
  wx_grid from = regular(lat, lon, (double[]){60, 150, 20, 220}, 9, 15, false);
  const wx_grid to = target(59, -200, 21, -145, 12, 23, false);

  (void)state;
  for (int64_t j = 1; j < 8; j++) {
    lat[j] += 2 * uniform(2, (uint64_t)j);
  }
  for (int64_t i = 1; i < 14; i++) {
    lon[i] += 2 * uniform(3, (uint64_t)i);
  }
  for (int64_t e = 0; e < wx_grid_cells(&from); e++) {
    x[e] = (float)plane(lat[e / 15], lon[e % 15]);
  }
  regrid(&bilinear, &from, &to);
  for (int64_t t = 0; t < wx_grid_cells(&to); t++) {
    assert_near((double)y[t], plane(lat_to[t / 23], lon_to[t % 23] + 360), 1e-4);
  }
}

/* Rows are linear in latitude; on the parallels of rows every row is interpolated by itself. */
static void reduced_rows_are_interpolated_each(void **state)
{
  const wx_grid from = octahedral(8), to = target(84, -180, -84, 180, 31, 47, true);

  (void)state;
  for (int64_t e = 0; e < from.n_lon; e++) {
    x[e] = (float)(2 + 0.3 * lat[e]);
  }
  regrid(&bilinear, &from, &to);
  for (int64_t t = 0; t < wx_grid_cells(&to); t++) {
    assert_near((double)y[t], 2 + 0.3 * lat_to[t / 47], 1e-5);
  }
  /* between 0 and 360 degrees, from the last of 20 cells to the first */
  const double north = 90 - 180 * 0.5 / 16;
  const wx_grid seam = target(north, 351, north, 351, 1, 1, false);

  for (int64_t e = 0; e < from.n_lon; e++) {
    x[e] = (float)(lat[e] == north ? (lon[e] == 342 ? 10 : lon[e] == 0 ? 20 : 1000) : 5000);
  }
  regrid(&bilinear, &from, &seam);
  assert_near((double)y[0], 15, 1e-6);
}

/* The pole has the mean of the row next to it, at every longitude. */
static void the_pole_is_the_mean_of_its_row(void **state)
{
  const wx_grid from = regular(lat, lon, (double[]){75, 0, -75, 360}, 6, 12, true);
  const wx_grid to = target(90, 0, -90, 360, 13, 24, true);
  double mean[2] = {0, 0};

  (void)state;
  for (int64_t e = 0; e < 72; e++) {
    x[e] = (float)uniform(4, (uint64_t)e);
    mean[0] += e < 12 ? (double)x[e] / 12 : 0;
    mean[1] += e >= 60 ? (double)x[e] / 12 : 0;
  }
  regrid(&bilinear, &from, &to);
  for (int64_t i = 0; i < 24; i++) {
    assert_near((double)y[i], mean[0], 1e-6);
    assert_near((double)y[12 * 24 + i], mean[1], 1e-6);
  }
  /* half of the way at 82.5 N */
  const wx_grid between = target(82.5, 30, 82.5, 30, 1, 1, false);

  regrid(&bilinear, &from, &between);
  assert_near((double)y[0], 0.5 * mean[0] + 0.5 * (double)x[1], 1e-6);
}

/* Sums of weights, and of area times value over source and target in double. */
static void check_conservation(const wx_grid *from, const wx_grid *to)
{
  static const double edge = 1e-12;
  double sums[2] = {0, 0}, areas[2] = {0, 0};
  wx_rows rows;
  wx_weights w;
  double *const field = malloc((size_t)wx_grid_cells(from) * sizeof *field);

  assert_ok(wx_regrid_make(&conservative, from, to, &w));
  assert_ok(wx_rows_make(from, &rows));
  for (int64_t j = 0; j < rows.n; j++) { /* bands of equal boxes, by formulas of their own */
    const int64_t n = rows.begin[j + 1] - rows.begin[j];
    const double north = j > 0 ? (rows.lat[j - 1] + rows.lat[j]) / 2 : 90;
    const double south = j + 1 < rows.n ? (rows.lat[j + 1] + rows.lat[j]) / 2 : -90;
    const double area = (sin(north * DEGREE) - sin(south * DEGREE)) / (double)n;

    for (int64_t e = rows.begin[j]; e < rows.begin[j + 1]; e++) {
      field[rows.cell[e]] = weir_random_normal(7, 5, 0, (uint64_t)rows.cell[e]);
      sums[0] += area * field[rows.cell[e]];
      areas[0] += area;
    }
  }
  for (int64_t t = 0; t < w.n_to; t++) {
    const int64_t j = t / to->n_lon;
    const double north = j > 0 ? (to->lat[j - 1] + to->lat[j]) / 2 : 90;
    const double south = j + 1 < to->n_lat ? (to->lat[j + 1] + to->lat[j]) / 2 : -90;
    const double area = (sin(north * DEGREE) - sin(south * DEGREE)) / (double)to->n_lon;
    double sum = 0, value = 0;

    for (int64_t e = w.begin[t]; e < w.begin[t + 1]; e++) {
      assert_true(w.weight[e] > 0 && w.weight[e] <= 1 + edge);
      sum += w.weight[e];
      value += w.weight[e] * field[w.from[e]];
    }
    assert_near(sum, 1, edge);
    sums[1] += area * value;
    areas[1] += area;
  }
  assert_near(areas[0], 2, edge);
  assert_near(areas[1], 2, edge);
  assert_near(sums[1] / areas[1], sums[0] / areas[0], edge);
  wx_rows_fini(&rows);
  wx_weights_fini(&w);
  free(field);
}

static void means_of_the_globe_are_kept(void **state)
{
  (void)state;
  for (int k = 0; k < 4; k++) {
    const wx_grid from = octahedral(5 + 3 * k);
    wx_grid to = target(90, 0, -90, 360, 19, 36, true);

    check_conservation(&from, &to);
    to = target(80, -7.3, -80, 352.7, 7, 5, true);
    check_conservation(&from, &to);
    to = target(89.5, 180, -89.5, 540, 30, 61, true);
    check_conservation(&from, &to);
  }
}

/* A grid to itself is itself, to the bit, by both methods. */
static void the_same_grid_changes_nothing(void **state)
{
  const wx_grid from = regular(lat, lon, (double[]){90, -3, -90, 357}, 13, 24, true);
  const wx_grid to = target(90, -3, -90, 357, 13, 24, true);

  (void)state;
  for (int k = 0; k < 2; k++) {
    for (int64_t e = 0; e < 13 * 24; e++) {
      x[e] = (float)weir_random_normal(7, 6, 0, (uint64_t)e);
    }
    regrid(k == 0 ? &bilinear : &conservative, &from, &to);
    for (int64_t e = 0; e < 13 * 24; e++) {
      assert_near((double)y[e], (double)x[e], k == 0 ? 0 : 1e-6);
    }
  }
}

/* Of Iris 3.14.1: the schemes Linear and AreaWeighted (mdtol 0), by their own code. */
static void values_are_those_of_iris(void **state)
{
  static const double rows[] = {75, 40, 10, -35, -80}, area_rows[] = {72, 36, 0, -36, -72};
  static const double line_rows[] = {60, 25, -20, -60};
  static const double area[25] = {12.381294809812, 12.912565177908, 12.943835546005, 6.414920157062,
                                  10.835120579131, 9.022893980013,  10.857322812584, 9.252318852066,
                                  12.743914574706, 4.002608396298,  7.421552106463,  17.8125,
                                  14.765947893537, 16.700671618557, 5.925878270421,  8.75,
                                  17.8125,         13.4375,         13.9375,         2.3125,
                                  2.651153047861,  10.432382679765, 4.776112311668,  9.786184007368,
                                  9.128858358273};
  static const double line[20] = {12.142857142857,
                                  14.857142857143,
                                  11.371428571429,
                                  7.171428571429,
                                  7.4,
                                  8.6,
                                  16.5,
                                  11.3,
                                  15.9,
                                  3.9,
                                  8.066666666667,
                                  21.0,
                                  13.933333333333,
                                  16.666666666667,
                                  2.8,
                                  4.488888888889,
                                  16.0,
                                  7.511111111111,
                                  11.377777777778,
                                  6.311111111111};
  const wx_grid from = regular(lat, lon, (double[]){75, 0, -80, 360}, 5, 8, true);
  wx_grid to = target(72, 18, -72, 378, 5, 5, true);

  (void)state;
  memcpy(lat, rows, sizeof rows);
  for (int64_t e = 0; e < 40; e++) {
    const int64_t j = 4 - e / 8, i = e % 8; /* rows of Iris ascend */

    x[e] = (float)((7 * j * j + 3 * i * i + j * i) % 23);
  }
  memcpy(lat_to, area_rows, sizeof area_rows);
  regrid(&conservative, &from, &to);
  for (int64_t t = 0; t < 25; t++) {
    assert_near((double)y[t], area[t], 2e-6);
  }
  to.n_lat = 4;
  memcpy(lat_to, line_rows, sizeof line_rows);
  regrid(&bilinear, &from, &to);
  for (int64_t t = 0; t < 20; t++) {
    assert_near((double)y[t], line[t], 2e-6);
  }
}

/* Locations that ecCodes 2.50 gives for points of rotated grids; it is up to 1.2e-5 degrees off
 * where the pole lies on the equator (178.845692 E exactly, not ..696). */
static void rotated_locations_are_those_of_eccodes(void **state)
{
  static const struct {
    double pole[2], rotated[2], at[2], tolerance;
  } of[] = {
      {{0, 0}, {60, 0}, {30, 180}, 2e-6},
      {{0, 0}, {60, 2}, {29.979850, 178.845696}, 2e-5},
      {{-40, 10}, {10, 0}, {60, 10}, 2e-6},
      {{-40, 10}, {-10, -10}, {39.148056, -2.739049}, 2e-6},
      {{-40, 10}, {6.5, 6.5}, {55.995456, 21.602192}, 2e-6},
  };

  (void)state;
  for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
    const wx_rows r = {.rotated = true, .south_pole = {of[k].pole[0], of[k].pole[1]}};
    double at[2] = {of[k].at[0], of[k].at[1]};

    wx_rows_rotate(&r, &at[0], &at[1]);
    assert_near(at[0], of[k].rotated[0], of[k].tolerance);
    assert_near(remainder(at[1] - of[k].rotated[1], 360), 0, of[k].tolerance);
  }
}

/* Cosine of the angle between two locations. */
static double closeness(const double a[2], const double b[2])
{
  return sin(a[0] * DEGREE) * sin(b[0] * DEGREE) +
         cos(a[0] * DEGREE) * cos(b[0] * DEGREE) * cos((a[1] - b[1]) * DEGREE);
}

static void a_rotation_keeps_distances_and_moves_the_pole(void **state)
{
  (void)state;
  for (uint64_t k = 0; k < 100; k++) {
    wx_rows r = {.rotated = true,
                 .south_pole = {180 * uniform(8, k) - 90, 720 * uniform(9, k) - 360}};
    double at[2][2] = {{180 * uniform(10, k) - 90, 360 * uniform(11, k)},
                       {180 * uniform(12, k) - 90, 360 * uniform(13, k)}};
    double pole[2] = {r.south_pole[0], r.south_pole[1]};
    const double before = closeness(at[0], at[1]);

    wx_rows_rotate(&r, &pole[0], &pole[1]);
    assert_near(pole[0], -90, 1e-5); /* asin near -1 */
    wx_rows_rotate(&r, &at[0][0], &at[0][1]);
    wx_rows_rotate(&r, &at[1][0], &at[1][1]);
    assert_near(closeness(at[0], at[1]), before, 1e-12);
  }
}

static void what_is_missing_stays_missing(void **state)
{
  const wx_grid from = regular(lat, lon, (double[]){50, 0, 40, 10}, 3, 3, false);
  const wx_grid to = target(47.5, 2.5, 42.5, 7.5, 2, 2, false);
  wx_regrid_opts some = bilinear;

  (void)state;
  for (int i = 0; i < 9; i++) {
    x[i] = (float)i;
  }
  x[0] = NAN;
  regrid(&bilinear, &from, &to);
  assert_true(isnan(y[0]) && !isnan(y[1]) && !isnan(y[2]) && !isnan(y[3]));
  some.missing = 0.25; /* of four equal weights */
  regrid(&some, &from, &to);
  assert_near((double)y[0], (1 + 3 + 4) / 3.0, 1e-6);
  some.missing = 0.2;
  regrid(&some, &from, &to);
  assert_true(isnan(y[0]));
  /* outside, and on the edge, beside a missing cell of weight 0 */
  const wx_grid edge = target(50, 5, 50, 15, 1, 3, false);

  regrid(&some, &from, &edge);
  assert_near((double)y[0], 1, 0);
  assert_near((double)y[1], 2, 0);
  assert_true(isnan(y[2]));
  some.missing = 1;
  regrid(&some, &from, &edge);
  assert_true(isnan(y[2]));
}

static void one_cell_is_a_grid(void **state)
{
  const wx_grid from = regular(lat, lon, (double[]){10, 20, 10, 20}, 1, 1, false);
  const wx_grid to = target(10, 20, 10, 20, 1, 1, false);
  wx_weights w;

  (void)state;
  x[0] = 5;
  regrid(&bilinear, &from, &to);
  assert_near((double)y[0], 5, 0);
  assert_int_equal(wx_regrid_make(&conservative, &from, &to, &w), WEIR_ERR_UNSUPPORTED);
  wx_weights_fini(&w);
}

static void refused(const wx_regrid_opts *opts, const wx_grid *from, const wx_grid *to,
                    weir_status status, const char *said)
{
  wx_weights w;

  assert_int_equal(wx_regrid_make(opts, from, to, &w), status);
  assert_non_null(strstr(weir_last_message(), said));
  wx_weights_fini(&w);
}

static void grids_without_weights_are_refused(void **state)
{
  wx_grid from = regular(lat, lon, (double[]){50, 0, 40, 10}, 3, 3, false);
  const wx_grid to = target(47.5, 2.5, 42.5, 7.5, 2, 2, false);

  (void)state;
  from.kind = WX_GRID_PLANE;
  refused(&bilinear, &from, &to, WEIR_ERR_UNSUPPORTED, "planes of a projection");
  from.kind = WX_GRID_LATLON;
  from.rotated = true;
  refused(&conservative, &from, &to, WEIR_ERR_UNSUPPORTED, "is rotated");
  from.rotated = false;
  lon[1] = lon[0];
  refused(&bilinear, &from, &to, WEIR_ERR_DATA, "two cells are at");
  lat[1] = NAN;
  refused(&bilinear, &from, &to, WEIR_ERR_DATA, "cell 3 (from 0)");
}

static void targets_are_made_of_spacing_and_area(void **state)
{
  double area[] = {60, -10, 40, 20};
  wx_target_opts opts = {.spacing = 1.5, .file = ""};
  double *memory = NULL;
  wx_grid g;

  (void)state;
  assert_true(wx_target_is_set(&opts));
  assert_ok(wx_target_make(&opts, &g, &memory));
  assert_true(g.n_lat == 121 && g.n_lon == 240 && g.wraps);
  assert_near(g.lat[120], -90, 0);
  assert_near(g.lon[239], 358.5, 1e-12);
  weir_free(&memory);
  opts.area = (weir_real_list){.items = area, .count = 4};
  assert_int_equal(wx_target_make(&opts, &g, &memory), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "do not divide"));
  opts.spacing = 0.5;
  assert_ok(wx_target_make(&opts, &g, &memory));
  assert_true(g.n_lat == 41 && g.n_lon == 61 && !g.wraps);
  assert_near(g.lon[0], -10, 1e-12);
  weir_free(&memory);
  opts.area.count = 3;
  assert_int_equal(wx_target_make(&opts, &g, &memory), WEIR_ERR_CONFIG);
}

/* Stations anywhere in an area. */
static wx_grid stations(int64_t n, const double area[4], uint32_t stream)
{
  for (int64_t i = 0; i < n; i++) {
    lat_to[i] = area[2] + (area[0] - area[2]) * uniform(stream, (uint64_t)i);
    lon_to[i] = area[1] + (area[3] - area[1]) * uniform(stream + 1, (uint64_t)i);
  }
  return (wx_grid){.kind = WX_GRID_SITES, .n_lat = 1, .n_lon = n, .lat = lat_to, .lon = lon_to};
}

/* Cosine of the great circle from station t to cell e. */
static double cosine(const wx_grid *from, int64_t e, int64_t t)
{
  double a = 0, b = 0;

  wx_grid_place(from, e, &a, &b);
  return sin(DEGREE * a) * sin(DEGREE * lat_to[t]) +
         cos(DEGREE * a) * cos(DEGREE * lat_to[t]) * cos(DEGREE * (b - lon_to[t]));
}

/* Of all cells by their great circles: on a globe of reduced rows, across its poles, and in a
 * region, where stations outside have none. */
static void the_nearest_cell_is_that_of_the_shortest_great_circle(void **state)
{
  static const double globe[] = {90, -180, -90, 360}, wide[] = {70, 130, 10, 240};

  (void)state;
  for (int round = 0; round < 2; round++) {
    const wx_grid from =
        round == 0 ? octahedral(8) : regular(lat, lon, (double[]){60, 150, 20, 220}, 9, 15, false);
    const wx_grid to = stations(1000, round == 0 ? globe : wide, 40);
    int64_t found = 0, inside = 0;

    for (int64_t e = 0; e < wx_grid_cells(&from); e++) {
      x[e] = (float)e;
    }
    regrid(&nearest, &from, &to);
    for (int64_t t = 0; t < to.n_lon; t++) {
      const bool in = round == 0 ||
                      (lat_to[t] >= 20 && lat_to[t] <= 60 && lon_to[t] >= 150 && lon_to[t] <= 220);
      double best = -1;

      for (int64_t e = 0; e < wx_grid_cells(&from); e++) {
        best = fmax(best, cosine(&from, e, t));
      }
      inside += in;
      found += !isnan(y[t]);
      assert_true(!in || !isnan(y[t]));
      assert_true(isnan(y[t]) || cosine(&from, (int64_t)y[t], t) > best - 1e-12);
    }
    assert_true(found >= inside && (round == 0 || found < 600));
  }
}

/* The same points as a grid and as stations, and what stations cannot have. */
static void stations_have_the_weights_of_points(void **state)
{
  const wx_grid from = octahedral(8);
  const wx_grid to = target(60, -170, -60, 170, 9, 9, false);
  static float of_grid[81];
  wx_weights w;

  (void)state;
  for (int64_t e = 0; e < from.n_lon; e++) {
    x[e] = (float)(uniform(5, (uint64_t)e) * 10);
  }
  for (int method = 0; method < 2; method++) {
    const wx_regrid_opts *const o = method == 0 ? &bilinear : &nearest;
    double place[2][81];

    regrid(o, &from, &to);
    memcpy(of_grid, y, sizeof of_grid);
    for (int64_t t = 0; t < 81; t++) {
      wx_grid_place(&to, t, &place[0][t], &place[1][t]);
    }
    const wx_grid sites = {
        .kind = WX_GRID_SITES, .n_lat = 1, .n_lon = 81, .lat = place[0], .lon = place[1]};

    regrid(o, &from, &sites);
    assert_memory_equal(y, of_grid, sizeof of_grid);
    assert_int_equal(wx_regrid_make(&conservative, &from, &sites, &w), WEIR_ERR_CONFIG);
    wx_weights_fini(&w);
  }
  const wx_grid nowhere = {.kind = WX_GRID_SITES, .n_lat = 1, .n_lon = 3};

  assert_int_equal(wx_regrid_make(&bilinear, &from, &nowhere, &w), WEIR_ERR_CONFIG);
  wx_weights_fini(&w);
}

typedef struct made {
  const wx_regrid_opts *opts;
  wx_grid from, to;
} made;

static weir_status make(void *context)
{
  const made *const m = context;
  wx_weights w;
  const weir_status status = wx_regrid_make(m->opts, &m->from, &m->to, &w);

  wx_weights_fini(&w);
  return status;
}

static void memory_that_is_not_there_is_an_error(void **state)
{
  made m = {.opts = &bilinear,
            .from = regular(lat, lon, (double[]){50, 0, 40, 10}, 3, 3, false),
            .to = target(47.5, 2.5, 42.5, 7.5, 2, 2, false)};

  (void)state;
  assert_true(weir_check_faults(make, &m) > 5);
  m.opts = &conservative;
  assert_true(weir_check_faults(make, &m) > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bilinear_fields_come_back),
      cmocka_unit_test(reduced_rows_are_interpolated_each),
      cmocka_unit_test(the_pole_is_the_mean_of_its_row),
      cmocka_unit_test(means_of_the_globe_are_kept),
      cmocka_unit_test(the_same_grid_changes_nothing),
      cmocka_unit_test(values_are_those_of_iris),
      cmocka_unit_test(rotated_locations_are_those_of_eccodes),
      cmocka_unit_test(a_rotation_keeps_distances_and_moves_the_pole),
      cmocka_unit_test(what_is_missing_stays_missing),
      cmocka_unit_test(one_cell_is_a_grid),
      cmocka_unit_test(grids_without_weights_are_refused),
      cmocka_unit_test(targets_are_made_of_spacing_and_area),
      cmocka_unit_test(the_nearest_cell_is_that_of_the_shortest_great_circle),
      cmocka_unit_test(stations_have_the_weights_of_points),
      cmocka_unit_test(memory_that_is_not_there_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
