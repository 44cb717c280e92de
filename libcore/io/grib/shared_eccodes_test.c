/* shared_eccodes_test.c - the files of the shared data: each read right, against the numbers of its
 * README, or refused with message, key and reason. */
#include <math.h>
#include "io/grib/grib_priv.h"
#include "support/io/io_test.h"

static weir_grib *open_shared(const char *name, const weir_grib_opts *opts)
{
  char path[512];
  const char *const paths[] = {path};
  weir_grib *g = NULL;

  weir_check_shared(path, sizeof path, "weather/grib/%s.grib", name);
  assert_ok(weir_grib_open(paths, 1, opts, &g));
  return g;
}

/* What the README's table has of a selection. */
typedef struct row {
  const char *file, *name;
  double level;
  int64_t start, step, members;
  double mean, sd, min, max;
} row;

/* Fields of the row, by member; members are in any order. */
static int64_t select_fields(const weir_grib *g, const row *r, int64_t *fields)
{
  int64_t n = 0;

  for (int64_t i = 0; i < weir_grib_fields(g); i++) {
    const weir_grib_field *const f = weir_grib_field_get(g, i);
    const weir_grib_kind *const k = weir_grib_kind_get(g, f->kind);

    if (strcmp(k->short_name, r->name) == 0 && k->level == r->level &&
        f->step_seconds[1] == r->step * 3600 && (r->start == 0 || f->start == r->start)) {
      assert_true(n < 64);
      fields[n++] = i;
    }
  }
  return n;
}

static void check_row(const row *r)
{
  weir_grib *g = open_shared(r->file, NULL);
  int64_t fields[64];
  float *out[64];
  const int64_t n = select_fields(g, r, fields);
  double sums[3] = {0}, min = INFINITY, max = -INFINITY; /* weight, mean, variance */

  assert_int_equal(n, r->members);
  const weir_grib_grid *const grid = weir_grib_grid_get(g, weir_grib_field_get(g, fields[0])->grid);
  const int64_t points = grid->n_lat * grid->n_lon;
  float *const values = malloc((size_t)(n * points) * sizeof(float));

  for (int64_t m = 0; m < n; m++) {
    out[m] = values + m * points;
  }
  assert_ok(weir_grib_read(g, n, fields, out));
  for (int64_t i = 0; i < points; i++) {
    const double w = cos(grid->lat[i / grid->n_lon] * acos(-1) / 180);
    double mean = 0, variance = 0;

    for (int64_t m = 0; m < n; m++) {
      mean += (double)out[m][i] / (double)n;
      min = fmin(min, (double)out[m][i]);
      max = fmax(max, (double)out[m][i]);
    }
    for (int64_t m = 0; m < n; m++) {
      variance += pow((double)out[m][i] - mean, 2) / (double)(n - 1);
    }
    sums[0] += w;
    sums[1] += w * mean;
    sums[2] += w * variance;
  }
  assert_near(sums[1] / sums[0], r->mean, 1e-7 + 6e-4 / fabs(r->mean));
  assert_near(sqrt(sums[2] / sums[0]), r->sd, 6e-5);
  assert_near(min, r->min, 1e-7 + 6e-3 / fmax(1, fabs(r->min)));
  assert_near(max, r->max, 1e-7 + 6e-3 / fmax(1, fabs(r->max)));
  free(values);
  weir_grib_close(&g);
}

static void numbers_are_those_of_the_table(void **state)
{
  enum { FIRST = 1483228800 }; /* 2017-01-01 00 UTC */
  static const row rows[] = {
      {"era5-levels-members", "z", 500, FIRST, 0, 10, 55381.247, 14.3862, 46697.12, 58148.14},
      {"era5-levels-members", "t", 850, FIRST, 0, 10, 280.114, 0.4374, 237.41, 304.98},
      {"z500_ens", "z", 500, 0, 96, 51, 56557.097, 396.0179, 51547.27, 58614.59},
      {"ens_storm", "z", 850, 0, 78, 51, 12664.054, 308.3033, 9604.38, 15378.78},
      {"ens_storm", "10fg3", 0, 0, 78, 51, 15.594, 3.5673, 0.79, 48.63},
      {"wgust_ens", "10fg6", 0, 0, 66, 50, 8.931, 1.6936, 0.73, 35.00},
  };

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    check_row(&rows[i]);
  }
}

static void an_ensemble_knows_its_members(void **state)
{
  weir_grib *g = open_shared("z500_ens", NULL);
  const weir_grib_field *const last = weir_grib_field_get(g, 50);
  const weir_grib_grid *const grid = weir_grib_grid_get(g, 0);

  (void)state;
  assert_int_equal(weir_grib_fields(g), 51);
  assert_int_equal(weir_grib_grids(g), 1);
  assert_int_equal(last->number, 0); /* the control comes last */
  assert_int_equal(last->n_members, 51);
  assert_int_equal(last->start, 1348099200); /* 2012-09-20 */
  assert_int_equal(last->message, 51);
  assert_string_equal(weir_grib_kind_get(g, last->kind)->type, "cf");
  assert_string_equal(weir_grib_kind_get(g, last->kind)->stream, "enfo");
  assert_int_equal(weir_grib_kind_get(g, last->kind)->param, 129);
  assert_int_equal(weir_grib_kind_get(g, last->kind)->bits, 10);
  assert_near(last->packing_error, 4, 0);
  assert_near(grid->lat[0], 65, 0);
  assert_near(grid->lat[45], 20, 0);
  assert_near(grid->lon[0], -50, 0);
  assert_near(grid->lon[70], 20, 0);
  assert_false(grid->wraps);
  weir_grib_close(&g);
}

static void ranges_of_steps_have_both_ends(void **state)
{
  weir_grib *g = open_shared("wgust_ens", NULL);
  const weir_grib_field *const f = weir_grib_field_get(g, 0);

  (void)state;
  assert_int_equal(f->step_seconds[0], 54 * 3600);
  assert_int_equal(f->step_seconds[1], 60 * 3600);
  assert_string_equal(weir_grib_kind_get(g, f->kind)->step_type, "max");
  weir_grib_close(&g);
}

/* Mean differences of neighbouring rows, over that of neighbouring columns: about 1 in a smooth
 * field whose rows were put right. */
static double roughness(weir_grib *g, const weir_grib_grid *grid)
{
  float *values = malloc((size_t)(grid->n_lat * grid->n_lon) * sizeof(float));
  double rows = 0, columns = 0;

  assert_ok(weir_grib_read(g, 1, (int64_t[]){0}, &values));
  for (int64_t j = 0; j + 1 < grid->n_lat; j++) {
    for (int64_t i = 0; i + 1 < grid->n_lon; i++) {
      const double here = (double)values[j * grid->n_lon + i];

      rows += fabs((double)values[(j + 1) * grid->n_lon + i] - here);
      columns += fabs((double)values[j * grid->n_lon + i + 1] - here);
    }
  }
  free(values);
  return rows / columns;
}

static void rows_that_turn_are_turned(void **state)
{
  weir_grib *g = open_shared("alternate-scanning", NULL);
  const weir_grib_field *const f = weir_grib_field_get(g, 0);
  const weir_grib_grid *const grid = weir_grib_grid_get(g, f->grid);

  (void)state;
  assert_int_equal(f->edition, 2);
  assert_int_equal(f->scanning, 0x10);
  assert_int_equal(f->number, -1);
  assert_int_equal(f->step_seconds[1], 3 * 3600);
  assert_int_equal(grid->n_lat, 171);
  assert_int_equal(grid->n_lon, 291);
  assert_near(grid->lon[0], -10, 1e-12);
  assert_near(grid->lon[290], 19, 1e-12);
  assert_true(roughness(g, grid) < 3); /* as they come: 14 */
  weir_grib_close(&g);
}

static void rows_from_the_south_are_reversed(void **state)
{
  weir_grib *g = open_shared("scanning_mode_64", NULL);
  const weir_grib_grid *const grid = weir_grib_grid_get(g, 0);
  float *values = malloc(37 * 72 * sizeof(float));

  (void)state;
  assert_near(grid->lat[0], 90, 0);
  assert_near(grid->lat[36], -90, 0);
  assert_true(grid->wraps);
  assert_ok(weir_grib_read(g, 1, (int64_t[]){0}, &values));
  /* October: the antarctic plateau is far colder than the north pole. */
  assert_true(values[0] > 260 && values[36 * 72] < 240);
  free(values);
  weir_grib_close(&g);
}

static void missing_values_are_nan(void **state)
{
  weir_grib *g = open_shared("fields_with_missing_values", NULL);
  float *values[2] = {malloc(16380 * sizeof(float)), malloc(16380 * sizeof(float))};
  int missing[2] = {0, 0};

  (void)state;
  assert_ok(weir_grib_read(g, 2, (int64_t[]){1, 0}, values)); /* in any order */
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 16380; i++) {
      missing[k] += isnan(values[k][i]);
      assert_true(isnan(values[k][i]) || (values[k][i] > 180 && values[k][i] < 340));
    }
    free(values[k]);
  }
  assert_int_equal(missing[1], 10808);
  assert_int_equal(missing[0], 10891);
  weir_grib_close(&g);
}

static void minutes_are_steps_too(void **state)
{
  weir_grib *g = open_shared("step_60m", NULL);

  (void)state;
  assert_int_equal(weir_grib_fields(g), 73);
  for (int64_t i = 0; i < 73; i++) {
    const weir_grib_field *const f = weir_grib_field_get(g, i);

    assert_int_equal(f->step_seconds[1], i * 3600);
    assert_int_equal(f->start, 1705276800); /* 2024-01-15 */
    assert_int_equal(f->number, -1);
  }
  weir_grib_close(&g);
}

static void a_reforecast_starts_at_its_hdate(void **state)
{
  weir_grib *g = open_shared("ek_hdate", NULL);
  const weir_grib_field *const f = weir_grib_field_get(g, 0);

  (void)state;
  assert_int_equal(f->start, 1623715200); /* 2021-06-15, run in 2023 */
  assert_int_equal(f->number, 2);
  assert_int_equal(f->step_seconds[1], 6 * 3600);
  assert_string_equal(weir_grib_kind_get(g, f->kind)->stream, "enfh");
  weir_grib_close(&g);
}

/* N48: rows of 20 to 192 points (the list of WMO). */
static void a_reduced_grid_has_the_points_of_the_library(void **state)
{
  weir_grib *g = open_shared("reduced_gg", NULL);
  const weir_grib_grid *const grid = weir_grib_grid_get(g, 0);
  const int64_t n = grid->n_lon;
  int64_t rows = 1, longest = 0, length = 1;

  (void)state;
  assert_true(grid->reduced && !grid->rotated && grid->n_lat == 1 && grid->gaussian == 48);
  assert_int_equal(n, 13280);
  for (int64_t i = 1; i < n; i++) {
    const bool next = grid->lat[i] < grid->lat[i - 1];

    assert_true(next ? grid->lon[i] < 1e-9 : grid->lon[i] > grid->lon[i - 1]);
    rows += next;
    length = next ? 1 : length + 1;
    longest = length > longest ? length : longest;
  }
  assert_int_equal(rows, 96);
  assert_int_equal(longest, 192);
  assert_near(grid->lat[0], 88.572169, 1e-6); /* the first Gaussian latitude of N48 */
  assert_near(grid->lon[1], 360.0 / 20, 1e-9);
  float *const x = malloc((size_t)n * sizeof *x), *out = x;

  assert_ok(weir_grib_read(g, 1, (int64_t[]){0}, &out));
  for (int64_t i = 0; i < n; i++) {
    assert_true(isfinite(x[i]));
  }
  free(x);
  weir_grib_close(&g);
}

static void refused_with(const char *file, const char *said)
{
  weir_grib *g = open_shared(file, NULL);
  float value;
  float *out = &value;

  assert_int_equal(weir_grib_field_get(g, 0)->grid, -1);
  assert_int_equal(weir_grib_read(g, 1, (int64_t[]){0}, &out), WEIR_ERR_DATA);
  if (!strstr(weir_last_message(), said)) {
    fprintf(stderr, "%s\n", weir_last_message());
  }
  assert_non_null(strstr(weir_last_message(), said));
  weir_grib_close(&g);
}

static void what_is_no_grid_of_points_is_refused(void **state)
{
  (void)state;
  refused_with("spherical_harmonics", ".grib: message 1 (byte 0): gridType=sh: spectral");
}

/* The last column is missing, or turns away: section 3, octets 60 to 63. */
static void far_longitudes_are_refused(void **state)
{
  enum { LAST_LON = 54 + 59 };
  static const char *const last[] = {"\xff\xff\xff\xff", "\x7f\xff\xff\xff"};
  char dir[256], path[512], shared[512];
  const char *const paths[] = {path};

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/far.grib", dir);
  weir_check_shared(shared, sizeof shared, "weather/grib/alternate-scanning.grib");
  for (int k = 0; k < 2; k++) {
    char *bytes = NULL;
    int64_t size = 0;
    weir_grib *g = NULL;

    assert_ok(weir_file_read(shared, 1 << 24, &bytes, &size));
    memcpy(bytes + LAST_LON, last[k], 4);
    weir_check_write(path, bytes, (size_t)size);
    assert_ok(weir_grib_open(paths, 1, NULL, &g));
    assert_non_null(strstr(weir_grib_kind_get(g, 0)->refused, "longitudeOfLastGridPoint"));
    weir_grib_close(&g);
    weir_free(&bytes);
  }
  weir_check_rmdir(dir);
}

static void damage_is_refused_or_skipped(void **state)
{
  char path[512];
  const char *const paths[] = {path};
  weir_grib *g = NULL;

  (void)state;
  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_shared(path, sizeof path, "weather/grib/era5-levels-corrupted.grib");
  assert_int_equal(weir_grib_open(paths, 1, NULL, &g), WEIR_ERR_DATA);
  assert_null(g);
  assert_non_null(strstr(weir_last_message(), "message 1 (byte 0) is damaged: totalLength=1588: no "
                                              "'7777' at its end"));
  g = open_shared("era5-levels-corrupted", &(weir_grib_opts){.skip_damaged = true});
  assert_int_equal(weir_grib_damaged(g), 1);
  assert_int_equal(weir_grib_fields(g), 1);
  assert_int_equal(weir_grib_field_get(g, 0)->message, 2);
  assert_int_equal(weir_grib_field_get(g, 0)->offset, 22068);
  assert_true(roughness(g, weir_grib_grid_get(g, 0)) < 3);
  weir_grib_close(&g);
}

/* A message among others, most of whose keys come from its octets, against the same alone, all of
 * whose keys come from the library. */
static void check_alone(const weir_grib *g, int64_t i, const char *bytes, const char *path)
{
  const weir_grib_field *const f = weir_grib_field_get(g, i);
  const char *const paths[] = {path};
  weir_grib *alone = NULL;

  weir_check_write(path, bytes + f->offset, (size_t)f->length);
  assert_ok(weir_grib_open(paths, 1, NULL, &alone));
  const weir_grib_field *const same = weir_grib_field_get(alone, 0);

  assert_int_equal(f->start, same->start);
  assert_int_equal(f->step_seconds[0], same->step_seconds[0]);
  assert_int_equal(f->step_seconds[1], same->step_seconds[1]);
  assert_int_equal(f->number, same->number);
  assert_int_equal(f->n_members, same->n_members);
  assert_int_equal(f->edition, same->edition);
  assert_int_equal(f->scanning, same->scanning);
  assert_true(f->packing_error == same->packing_error);
  assert_memory_equal(weir_grib_kind_get(g, f->kind), weir_grib_kind_get(alone, same->kind),
                      sizeof(weir_grib_kind));
  weir_grib_close(&alone);
}

static void octets_say_what_the_library_says(void **state)
{
  static const char *const files[] = {
      "era5-levels-members", "ens_storm", "step_60m",
      "wgust_ens",           "fc_storm",  "fields_with_missing_values"};
  char dir[256], path[512], shared[512];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/alone.grib", dir);
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
    weir_grib *g = open_shared(files[k], NULL);
    char *bytes = NULL;
    int64_t size = 0;

    weir_check_shared(shared, sizeof shared, "weather/grib/%s.grib", files[k]);
    assert_ok(weir_file_read(shared, 1 << 24, &bytes, &size));
    for (int64_t i = 1; i < weir_grib_fields(g); i += 11) {
      check_alone(g, i, bytes, path);
    }
    weir_free(&bytes);
    weir_grib_close(&g);
  }
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_those_of_the_table),
      cmocka_unit_test(an_ensemble_knows_its_members),
      cmocka_unit_test(ranges_of_steps_have_both_ends),
      cmocka_unit_test(rows_that_turn_are_turned),
      cmocka_unit_test(rows_from_the_south_are_reversed),
      cmocka_unit_test(missing_values_are_nan),
      cmocka_unit_test(minutes_are_steps_too),
      cmocka_unit_test(a_reforecast_starts_at_its_hdate),
      cmocka_unit_test(a_reduced_grid_has_the_points_of_the_library),
      cmocka_unit_test(what_is_no_grid_of_points_is_refused),
      cmocka_unit_test(far_longitudes_are_refused),
      cmocka_unit_test(damage_is_refused_or_skipped),
      cmocka_unit_test(octets_say_what_the_library_says),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
