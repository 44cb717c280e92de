/* write_eccodes_test.c - members, means and spreads back as written, from nothing and from the
 * messages of the shared data; several fields in a message; what is refused leaves no file. */
#include <math.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "io/grib/grib_priv.h"
#include "support/io/io_test.h"

static char dir[256];
static char path[512];

enum {
  ROWS = 7,
  COLUMNS = 12,
  POINTS = ROWS * COLUMNS,
  START = 1582977600 /* 2020-02-29 12 UTC */
};

static double lat[ROWS], lon[COLUMNS];
static const weir_grib_grid globe = {
    .n_lat = ROWS, .n_lon = COLUMNS, .lat = lat, .lon = lon, .wraps = true};

static void make_values(float *values, int64_t n, int seed, double mean, double range)
{
  for (int64_t i = 0; i < n; i++) {
    values[i] = (float)(mean + range * weir_random_uniform(7, (uint32_t)seed, 0, (uint64_t)i));
  }
}

static weir_grib *open_back(void)
{
  const char *const paths[] = {path};
  weir_grib *g = NULL;

  assert_ok(weir_grib_open(paths, 1, NULL, &g));
  return g;
}

/* Every value within the packing error of what was written, and what single precision adds. */
static void assert_packed(weir_grib *g, int64_t i, const float *values, int64_t n)
{
  float *back = malloc((size_t)n * sizeof(float));
  const double error = weir_grib_field_get(g, i)->packing_error;

  assert_ok(weir_grib_read(g, 1, &i, &back));
  for (int64_t k = 0; k < n; k++) {
    assert_true(isnan(values[k]) == isnan(back[k]));
    assert_true(isnan(values[k]) || fabs((double)values[k] - (double)back[k]) <=
                                        error * 1.001 + fabs((double)values[k]) * 1.2e-7);
  }
  free(back);
}

static void products_built_from_nothing_come_back(void **state)
{
  static float values[3][POINTS];
  weir_grib_writer *w = NULL;
  weir_grib_out o = {.grid = &globe,
                     .start = START,
                     .step_seconds = {48 * 3600, 48 * 3600},
                     .n_members = 10,
                     .param = 129,
                     .level_type = "isobaricInhPa",
                     .level = 500};

  (void)state;
  assert_ok(weir_grib_create(path, &w));
  for (int k = 0; k < 3; k++) {
    o.product = (weir_grib_product)k;
    o.number = 7;
    o.bits = k == WEIR_GRIB_SPREAD ? 24 : 16;
    make_values(values[k], POINTS, k, k == WEIR_GRIB_SPREAD ? 0 : 54000, 3000);
    values[k][5 * k] = NAN;
    assert_ok(weir_grib_write(w, &o, values[k]));
  }
  assert_ok(weir_grib_commit(&w));
  assert_null(w);
  weir_grib *g = open_back();

  assert_int_equal(weir_grib_fields(g), 3);
  for (int k = 0; k < 3; k++) {
    const weir_grib_field *const f = weir_grib_field_get(g, k);
    const weir_grib_kind *const kind = weir_grib_kind_get(g, f->kind);
    const weir_grib_grid *const grid = weir_grib_grid_get(g, f->grid);

    assert_int_equal(f->edition, 2);
    assert_int_equal(f->start, START);
    assert_int_equal(f->step_seconds[0], 48 * 3600);
    assert_int_equal(f->step_seconds[1], 48 * 3600);
    assert_int_equal(f->number, k == WEIR_GRIB_MEMBER ? 7 : -1);
    assert_int_equal(f->n_members, 10);
    assert_int_equal(kind->derived, k == WEIR_GRIB_MEMBER ? -1 : k == WEIR_GRIB_MEAN ? 0 : 4);
    assert_int_equal(kind->param, 129);
    assert_string_equal(kind->level_type, "isobaricInhPa");
    assert_near(kind->level, 500, 0);
    assert_int_equal(kind->bits, k == WEIR_GRIB_SPREAD ? 24 : 16);
    assert_true(f->packing_error < (k == WEIR_GRIB_SPREAD ? 2e-4 : 0.04));
    assert_true(grid->wraps);
    for (int i = 0; i < COLUMNS; i++) {
      assert_near(grid->lon[i], lon[i], 1e-9);
    }
    for (int j = 0; j < ROWS; j++) {
      assert_near(grid->lat[j], lat[j], 1e-9);
    }
    assert_packed(g, k, values[k], POINTS);
  }
  weir_grib_close(&g);
}

/* Steps of 90 minutes, an accumulation, a level in Pa, ground levels, a constant field. */
static void other_times_and_levels_come_back(void **state)
{
  static float values[POINTS];
  static const struct {
    int64_t param, step[2];
    const char *level_type;
    double level;
    const char *packing;
  } rows[] = {{167, {5400, 5400}, "heightAboveGround", 2, NULL},
              {130, {3601, 3601}, "isobaricInhPa", 0.5, NULL},
              {228228, {86400, 172800}, "surface", 0, NULL},
              {151, {0, 0}, "meanSea", 0, "grid_ccsds"}};
  weir_grib_writer *w = NULL;

  (void)state;
  assert_ok(weir_grib_create(path, &w));
  for (int k = 0; k < 4; k++) {
    const weir_grib_out o = {.grid = &globe,
                             .start = START + k,
                             .step_seconds = {rows[k].step[0], rows[k].step[1]},
                             .n_members = 5,
                             .param = rows[k].param,
                             .level_type = rows[k].level_type,
                             .level = rows[k].level,
                             .packing = rows[k].packing,
                             .bits = 16};

    make_values(values, POINTS, 1, 280, k == 0 ? 0 : 10);
    assert_ok(weir_grib_write(w, &o, values));
  }
  assert_ok(weir_grib_commit(&w));
  weir_grib *g = open_back();

  for (int k = 0; k < 4; k++) {
    const weir_grib_field *const f = weir_grib_field_get(g, k);
    const weir_grib_kind *const kind = weir_grib_kind_get(g, f->kind);

    assert_int_equal(f->start, START + k);
    assert_int_equal(f->step_seconds[0], rows[k].step[0]);
    assert_int_equal(f->step_seconds[1], rows[k].step[1]);
    assert_int_equal(f->number, 0);
    assert_int_equal(kind->param, rows[k].param);
    assert_near(kind->level, rows[k].level, 1e-12);
    make_values(values, POINTS, 1, 280, k == 0 ? 0 : 10);
    assert_packed(g, k, values, POINTS);
  }
  assert_string_equal(weir_grib_kind_get(g, weir_grib_field_get(g, 3)->kind)->packing,
                      "grid_ccsds");
  weir_grib_close(&g);
}

/* The three products of the field, like it; read back and compared with it. */
static void check_like(const weir_grib *like, int64_t i)
{
  const weir_grib_field *const f = weir_grib_field_get(like, i);
  const weir_grib_kind *const kind = weir_grib_kind_get(like, f->kind);
  const weir_grib_grid *const grid = weir_grib_grid_get(like, f->grid);
  const int64_t n = grid->n_lat * grid->n_lon;
  float *const values = malloc((size_t)n * sizeof(float));
  weir_grib_writer *w = NULL;

  assert_ok(weir_grib_create(path, &w));
  make_values(values, n, 3, 100, 1000);
  for (int k = 0; k < 3; k++) {
    const weir_grib_out o = {.product = (weir_grib_product)k,
                             .like = like,
                             .like_field = i,
                             .start = f->start + 3600,
                             .step_seconds = {f->step_seconds[0], f->step_seconds[1]},
                             .number = 3,
                             .n_members = 20,
                             .bits = 16};

    assert_ok(weir_grib_write(w, &o, values));
  }
  assert_ok(weir_grib_commit(&w));
  weir_grib *g = open_back();

  for (int k = 0; k < 3; k++) {
    const weir_grib_field *const b = weir_grib_field_get(g, k);
    const weir_grib_kind *const back = weir_grib_kind_get(g, b->kind);
    const weir_grib_grid *const same = weir_grib_grid_get(g, b->grid);

    assert_int_equal(b->edition, 2);
    assert_int_equal(b->start, f->start + 3600);
    assert_int_equal(b->step_seconds[0], f->step_seconds[0]);
    assert_int_equal(b->step_seconds[1], f->step_seconds[1]);
    assert_int_equal(b->n_members, 20);
    assert_int_equal(b->number, k == WEIR_GRIB_MEMBER ? 3 : -1);
    assert_int_equal(back->derived, k == WEIR_GRIB_MEMBER ? -1 : k == WEIR_GRIB_MEAN ? 0 : 4);
    assert_int_equal(back->param, kind->param);
    assert_string_equal(back->short_name, kind->short_name);
    assert_string_equal(back->units, kind->units);
    assert_string_equal(back->stream, kind->stream);
    assert_string_equal(back->step_type, kind->step_type);
    if (f->edition == 2 ||
        strcmp(kind->level_type, "surface") != 0) { /* 2t: height 2 in edition 2 */
      assert_near(back->level, kind->level, 0);
    }
    assert_int_equal(same->n_lat, grid->n_lat);
    assert_int_equal(same->n_lon, grid->n_lon);
    for (int64_t j = 0; j < grid->n_lat; j++) {
      assert_near(same->lat[j], grid->lat[j], 1e-6);
    }
    assert_packed(g, k, values, n);
  }
  weir_grib_close(&g);
  free(values);
}

static void products_like_real_messages_keep_what_they_are(void **state)
{
  static const struct {
    const char *file;
    int64_t field;
  } rows[] = {{"era5-levels-members", 20},
              {"ek_hdate", 0},
              {"ens_storm", 0},
              {"ens_storm", 60},
              {"wgust_ens", 0},
              {"z500_ens", 50},
              {"alternate-scanning", 0},
              {"scanning_mode_64", 0},
              {"step_60m", 5},
              {"fc_storm", 1},
              {"fields_with_missing_values", 1}};

  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char shared[512];
    const char *const paths[] = {shared};
    weir_grib *g = NULL;

    weir_check_shared(shared, sizeof shared, "weather/grib/%s.grib", rows[i].file);
    assert_ok(weir_grib_open(paths, 1, NULL, &g));
    check_like(g, rows[i].field);
    weir_grib_close(&g);
  }
}

/* Sections 4 to 7 of a second message put after those of the first. */
static void fields_of_one_message_are_told_apart(void **state)
{
  static float values[2][POINTS];
  char why[WEIR_GRIB_WHY];
  weir_grib_out o = {.grid = &globe,
                     .start = START,
                     .n_members = 3,
                     .param = 130,
                     .level_type = "isobaricInhPa",
                     .bits = 20};
  weir_grib_writer *w = NULL;
  weir_grib_frame f[2];
  char *bytes = NULL;
  int64_t size = 0;

  (void)state;
  assert_ok(weir_grib_create(path, &w));
  for (int k = 0; k < 2; k++) {
    o.level = 850 - 350 * k;
    make_values(values[k], POINTS, k, 250, 30);
    values[k][k] = NAN;
    assert_ok(weir_grib_write(w, &o, values[k]));
  }
  assert_ok(weir_grib_commit(&w));
  assert_ok(weir_file_read(path, 1 << 20, &bytes, &size));
  const uint8_t *const first = (const uint8_t *)bytes;

  assert_true(weir_grib_frame_open(first, size, &f[0], why));
  assert_true(weir_grib_frame_open(first + f[0].length, size - f[0].length, &f[1], why));
  assert_int_equal(weir_grib_frame_next(&f[0], why), 1);
  assert_int_equal(weir_grib_frame_next(&f[1], why), 1);
  const int64_t more = f[1].length - 4 - f[1].section[4].at, total = f[0].length + more;
  uint8_t *const both = malloc((size_t)total);

  memcpy(both, first, (size_t)f[0].length - 4);
  memcpy(both + f[0].length - 4, f[1].bytes + f[1].section[4].at, (size_t)more + 4);
  for (int i = 0; i < 8; i++) {
    both[8 + i] = (uint8_t)((uint64_t)total >> (56 - 8 * i));
  }
  weir_check_write(path, both, (size_t)total);
  free(both);
  weir_free(&bytes);
  weir_grib *g = open_back();

  assert_int_equal(weir_grib_fields(g), 2);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(weir_grib_field_get(g, k)->message, 1);
    assert_int_equal(weir_grib_field_get(g, k)->submessage, k);
    assert_near(weir_grib_kind_get(g, weir_grib_field_get(g, k)->kind)->level, 850 - 350 * k, 0);
    assert_packed(g, k, values[k], POINTS);
  }
  weir_grib_close(&g);
}

/* Rows of a Gaussian grid are not equidistant, and not in the message: both sides compute them. */
static void gaussian_rows_come_back(void **state)
{
  /* N = 4: roots of the Legendre polynomial of degree 8 are the sines of the latitudes. */
  static const double roots[4] = {0.960289856497536, 0.796666477413627, 0.525532409916329,
                                  0.183434642495650};
  double rows[8];
  static float values[8 * COLUMNS];
  weir_grib_grid gaussian = {
      .n_lat = 8, .n_lon = COLUMNS, .gaussian = 4, .lat = rows, .lon = lon, .wraps = true};
  const weir_grib_out o = {.grid = &gaussian,
                           .start = START,
                           .n_members = 3,
                           .param = 130,
                           .level_type = "isobaricInhPa",
                           .level = 500,
                           .bits = 16};
  weir_grib_writer *w = NULL;

  (void)state;
  for (int j = 0; j < 4; j++) {
    rows[j] = asin(roots[j]) * 180 / acos(-1);
    rows[7 - j] = -rows[j];
  }
  make_values(values, 8 * COLUMNS, 1, 250, 30);
  assert_ok(weir_grib_create(path, &w));
  assert_ok(weir_grib_write(w, &o, values));
  assert_ok(weir_grib_commit(&w));
  weir_grib *g = open_back();

  assert_int_equal(weir_grib_field_get(g, 0)->grid, 0);
  const weir_grib_grid *const grid = weir_grib_grid_get(g, 0);

  assert_int_equal(grid->gaussian, 4);
  assert_int_equal(grid->n_lat, 8);
  for (int j = 0; j < 8; j++) {
    assert_near(grid->lat[j], rows[j], 1e-10);
  }
  assert_true(grid->wraps);
  assert_packed(g, 0, values, 8 * COLUMNS);
  weir_grib_close(&g);
  gaussian.gaussian = 4000; /* says the message, but the rows are not those */
  assert_ok(weir_grib_create(path, &w));
  assert_ok(weir_grib_write(w, &o, values));
  assert_ok(weir_grib_commit(&w));
  g = open_back();
  assert_int_equal(weir_grib_field_get(g, 0)->grid, -1);
  assert_non_null(strstr(weir_grib_kind_get(g, 0)->refused, "N=4000: 8 rows from 73.7992"));
  weir_grib_close(&g);
}

static void refused(const weir_grib_out *o, const float *values, weir_status status,
                    const char *said)
{
  weir_grib_writer *w = NULL;

  assert_ok(weir_grib_create(path, &w));
  assert_int_equal(weir_grib_write(w, o, values), status);
  if (!strstr(weir_last_message(), said)) {
    fprintf(stderr, "%s\n", weir_last_message());
  }
  assert_non_null(strstr(weir_last_message(), said));
  weir_grib_abandon(&w);
  assert_null(w);
  assert_false(weir_file_exists(path));
}

static void what_no_message_can_hold_is_refused(void **state)
{
  static float values[POINTS];
  const weir_grib_out good = {.grid = &globe,
                              .start = START,
                              .n_members = 3,
                              .param = 130,
                              .level_type = "isobaricInhPa",
                              .level = 500,
                              .bits = 16};
  weir_grib_out o = good;

  (void)state;
  remove(path);
  o.number = 255;
  refused(&o, values, WEIR_ERR_SHAPE, "message 1: number of a member: 0 to 254");
  o = good;
  o.bits = 0;
  refused(&o, values, WEIR_ERR_SHAPE, "bits of a value");
  double rows[ROWS];
  weir_grib_grid uneven = globe;

  memcpy(rows, lat, sizeof rows);
  rows[2] += 0.1;
  uneven.lat = rows;
  o = good;
  o.grid = &uneven;
  refused(&o, values, WEIR_ERR_SHAPE, "its rows or columns are not equidistant");
  o = good;
  o.param = 0;
  refused(&o, values, WEIR_ERR_SHAPE, "neither a template message");
  o = good;
  o.param = 99999999;
  refused(&o, values, WEIR_ERR_EXTERNAL, "paramId");
  o = good;
  o.level_type = "cellar";
  refused(&o, values, WEIR_ERR_EXTERNAL, "typeOfLevel");
  values[3] = INFINITY;
  refused(&good, values, WEIR_ERR_NUMERIC, "message 1: a value is infinite");
}

static void an_index_is_kept_and_used(void **state)
{
  static float values[POINTS];
  char index[600];
  const weir_grib_out o = {.grid = &globe,
                           .start = START,
                           .n_members = 3,
                           .param = 130,
                           .level_type = "isobaricInhPa",
                           .level = 500,
                           .bits = 16};
  const char *const paths[] = {path};
  weir_grib *g = NULL;

  (void)state;
  snprintf(index, sizeof index, "%s/set.index", dir);
  for (int k = 1; k <= 2; k++) { /* the second file has another size: the index is made anew */
    weir_grib_writer *w = NULL;

    assert_ok(weir_grib_create(path, &w));
    for (int i = 0; i < k; i++) {
      make_values(values, POINTS, i, 250, 30);
      assert_ok(weir_grib_write(w, &o, values));
    }
    assert_ok(weir_grib_commit(&w));
    for (int i = 0; i < 2; i++) {
      assert_ok(weir_grib_open(paths, 1, &(weir_grib_opts){.index = index}, &g));
      assert_int_equal(weir_grib_fields(g), k);
      assert_packed(g, k - 1, values, POINTS);
      weir_grib_close(&g);
    }
  }
  assert_ok(weir_grib_open(paths, 1, NULL, &g));
  weir_check_write(path, "GRIB", 4); /* while it is open */
  float *out = values;

  assert_int_equal(weir_grib_read(g, 1, (int64_t[]){0}, &out), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "the file changed while it was open"));
  weir_grib_close(&g);
}

/* A file that is truncated after its index: its mapping ends in a signal, reading in a refusal. */
static void a_message_that_is_gone_is_nothing_to_be_like(void **state)
{
  static float values[POINTS];
  char other[600];
  weir_grib_out o = {.grid = &globe,
                     .start = START,
                     .n_members = 3,
                     .param = 130,
                     .level_type = "isobaricInhPa",
                     .level = 500,
                     .bits = 16};
  weir_grib_writer *w = NULL;

  (void)state;
  snprintf(other, sizeof other, "%s/other.grib", dir);
  make_values(values, POINTS, 1, 250, 30);
  assert_ok(weir_grib_create(path, &w));
  assert_ok(weir_grib_write(w, &o, values));
  assert_ok(weir_grib_commit(&w));
  weir_grib *like = open_back();

  o.like = like;
  assert_ok(weir_grib_create(other, &w));
  assert_ok(weir_grib_write(w, &o, values));
  assert_int_equal(truncate(path, 0), 0);
  assert_int_equal(weir_grib_write(w, &o, values), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "the file changed while it was open"));
  assert_int_equal(unlink(path), 0);
  assert_int_equal(weir_grib_write(w, &o, values), WEIR_ERR_DATA);
  weir_grib_abandon(&w);
  assert_false(weir_file_exists(other));
  weir_grib_close(&like);
}

static int setup(void **state)
{
  (void)state;
  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/out.grib", dir);
  for (int j = 0; j < ROWS; j++) {
    lat[j] = 90 - 30 * j;
  }
  for (int i = 0; i < COLUMNS; i++) {
    lon[i] = 30 * i;
  }
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  weir_check_rmdir(dir);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_built_from_nothing_come_back),
      cmocka_unit_test(other_times_and_levels_come_back),
      cmocka_unit_test(products_like_real_messages_keep_what_they_are),
      cmocka_unit_test(fields_of_one_message_are_told_apart),
      cmocka_unit_test(gaussian_rows_come_back),
      cmocka_unit_test(what_no_message_can_hold_is_refused),
      cmocka_unit_test(an_index_is_kept_and_used),
      cmocka_unit_test(a_message_that_is_gone_is_nothing_to_be_like),
  };

  return cmocka_run_group_tests(tests, setup, teardown);
}
