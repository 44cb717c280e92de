/* samples_test.c - a file of samples is read as it was written, with levels too; what is wrong with
 * one is said by file, variable and place. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "data/output.h"
#include "io/io_test.h"
#include "io/weir_netcdf.h"

/* What differs from a good file of 3 samples, 2 and 1 channels, 2 levels, 4 x 5 points. */
typedef struct fault {
  const char *channels, *units, *time_units; /* of x */
  const char *calendar;                      /* of time, NULL: none */
  const char *without;                       /* variable that is not there */
  int64_t y_lat, y_samples;                  /* extents of y, 0: those of x */
  double bad;                                /* element of x, sample 1, channel 1, level 0, 2, 3 */
  double missing;                            /* attribute missing_value of x, 0: none */
  bool set_bad, packed, integers;
} fault;

enum { SAMPLES = 3, LEVELS = 2, LAT = 4, LON = 5, CELLS = LEVELS * LAT * LON };

static void write_variable(weir_netcdf *nc, const char *name, const int *dims, int64_t channels,
                           const fault *f)
{
  const int64_t start[5] = {0}, count[5] = {SAMPLES, channels, LEVELS, LAT, LON};
  const bool x = name[0] == 'x';
  const double scale = 2;
  float value[SAMPLES * 2 * CELLS];
  int var = 0;

  for (int64_t i = 0; i < SAMPLES * channels * CELLS; i++) {
    value[i] = (float)i + (x ? 0 : 0.5f);
  }
  if (x && f->set_bad) {
    value[(1 * 2 + 1) * CELLS + 2 * LON + 3] = (float)f->bad;
  }
  assert_ok(weir_netcdf_var(nc, name, x && f->integers ? WEIR_I32 : WEIR_F32, 5, dims, &var));
  assert_ok(weir_netcdf_put_text(nc, var, "channels",
                                 !x            ? "t"
                                 : f->channels ? f->channels
                                               : "t, z"));
  assert_ok(weir_netcdf_put_text(nc, var, "units", !x ? "K" : f->units ? f->units : "K, m2 s-2"));
  if (x && f->packed) {
    assert_ok(weir_netcdf_put_numbers(nc, var, "scale_factor", WEIR_F64, &scale, 1));
  }
  if (x && f->missing != 0) {
    assert_ok(weir_netcdf_put_numbers(nc, var, "missing_value", WEIR_F64, &f->missing, 1));
  }
  if (f->y_lat == 0 && f->y_samples == 0 && !f->integers) {
    assert_ok(weir_netcdf_write(nc, var, start, count, value));
  }
}

static void write_samples(const char *path, const fault *f)
{
  const double time[SAMPLES] = {0, 24, 48};
  const int64_t zero = 0, n = SAMPLES;
  int dims[5], channels_y = 0, other[5], var = 0;
  weir_netcdf *nc = NULL;

  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "sample", SAMPLES, &dims[0]));
  assert_ok(weir_netcdf_dim(nc, "x_channel", 2, &dims[1]));
  assert_ok(weir_netcdf_dim(nc, "y_channel", 1, &channels_y));
  assert_ok(weir_netcdf_dim(nc, "level", LEVELS, &dims[2]));
  assert_ok(weir_netcdf_dim(nc, "lat", LAT, &dims[3]));
  assert_ok(weir_netcdf_dim(nc, "lon", LON, &dims[4]));
  memcpy(other, dims, sizeof other);
  other[1] = channels_y;
  if (f->y_lat > 0) {
    assert_ok(weir_netcdf_dim(nc, "other_lat", f->y_lat, &other[3]));
  }
  if (f->y_samples > 0) {
    assert_ok(weir_netcdf_dim(nc, "other_sample", f->y_samples, &other[0]));
  }
  const char *without = f->without != NULL ? f->without : "";

  if (strcmp(without, "x") != 0) {
    write_variable(nc, "x", dims, 2, f);
  }
  if (strcmp(without, "y") != 0) {
    write_variable(nc, "y", other, 1, f);
  }
  if (strcmp(without, "time") != 0) {
    assert_ok(weir_netcdf_var(nc, "time", WEIR_F64, 1, dims, &var));
    assert_ok(weir_netcdf_put_text(nc, var, "units",
                                   f->time_units ? f->time_units : "hours since 2000-01-01"));
    if (f->calendar != NULL) {
      assert_ok(weir_netcdf_put_text(nc, var, "calendar", f->calendar));
    }
    assert_ok(weir_netcdf_write(nc, var, &zero, &n, time));
  }
  assert_ok(weir_netcdf_commit(&nc));
}

static void levels_and_channels_come_back(void **state)
{
  char dir[256], path[300];
  float x[2 * CELLS];
  wx_samples *s = NULL;
  int64_t pair = -1;

  NEEDS_NETCDF();
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/s.nc", dir);
  write_samples(path, &(fault){.calendar = "proleptic_gregorian", .missing = -999.9});
  assert_ok(wx_samples_open(path, true, NULL, 0, &s));
  const wx_facts *f = wx_samples_get(s);

  assert_true(f->n == SAMPLES && f->rank == 3 && f->cells == CELLS && f->axis[0].value == NULL);
  assert_true(f->n_channels[WX_X] == 2 && f->n_channels[WX_Y] == 1);
  assert_string_equal(f->channel[WX_X][1].units, "m2 s-2");
  assert_true(f->time[2] == 10959);
  assert_ok(wx_samples_pair(f, 0, &pair));
  assert_int_equal(pair, 0);
  assert_ok(wx_samples_read(s, WX_X, 2, x));
  assert_true(x[0] == 2 * 2 * CELLS && x[2 * CELLS - 1] == 3 * 2 * CELLS - 1);
  assert_ok(wx_samples_read(s, WX_Y, 1, x));
  assert_true(x[0] == CELLS + 0.5f);
  assert_int_equal(wx_samples_read(s, WX_Y, SAMPLES, x), WEIR_ERR_SHAPE);
  wx_samples_close(&s);
  weir_check_rmdir(dir);
}

/* Opens and reads every sample; the message names the file and says `message`. */
static void refused_file(const char *path, const char *message)
{
  float x[2 * CELLS];
  wx_samples *s = NULL;
  weir_status status = wx_samples_open(path, true, NULL, 0, &s);

  for (int64_t i = 0; i < SAMPLES && status == WEIR_OK; i++) {
    status = wx_samples_read(s, WX_X, i, x);
  }
  wx_samples_close(&s);
  if (status != WEIR_ERR_DATA || strstr(weir_last_message(), message) == NULL ||
      strstr(weir_last_message(), path) == NULL) {
    fail_msg("status %d: '%s' is not in '%s'", (int)status, message, weir_last_message());
  }
}

static void what_is_wrong_is_said(void **state)
{
  static const struct {
    fault f;
    const char *message;
  } cases[] = {
      {{.without = "x"}, "there is no variable x: it has to be [sample, channel"},
      {{.without = "y"}, "there is no variable y"},
      {{.without = "time"}, "there is no variable time"},
      {{.time_units = "months since 2000-01-01"}, "its units are not seconds, minutes"},
      {{.calendar = "noleap"},
       "'calendar' is 'noleap'; it has to be standard, gregorian or proleptic_gregorian"},
      {{.channels = "t"}, "attribute 'channels' of variable x does not have a text"},
      {{.channels = "t, "}, "attribute 'channels' of variable x"},
      {{.channels = "t, t"}, "two channels of the name t"},
      {{.units = "K, m, m"}, "attribute 'units' of variable x"},
      {{.y_lat = 3}, "variable y is [3, 1, 2, 3, 5]: all but its channels have to be those of x"},
      {{.y_samples = 2}, "variable y is [2, 1, 2, 4, 5]"},
      {{.packed = true}, "is packed (scale_factor)"},
      {{.integers = true}, "variable x is [3, 2, 2, 4, 5]; it has to be"},
      {{.set_bad = true, .bad = NAN},
       "variable x, sample 1, channel z, level 0, lat 2, lon 3 (counted from 0): nan is no value"},
      {{.set_bad = true, .bad = 9.9692099683868690e+36}, "is no value; fill it in or leave"},
      {{.set_bad = true, .bad = 9.9692099683868690e+36, .missing = -1}, "e+36 is no value"},
      {{.set_bad = true, .bad = -999.9, .missing = -999.9}, "(counted from 0): -999.9 is no value"},
      {{.set_bad = true, .bad = 1e20, .missing = 1e20}, "(counted from 0): 1e+20 is no value"},
  };
  char dir[256], path[300];

  NEEDS_NETCDF();
  weir_check_mkdir(dir, sizeof dir);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    snprintf(path, sizeof path, "%s/%d.nc", dir, (int)i);
    write_samples(path, &cases[i].f);
    refused_file(path, cases[i].message);
  }
  weir_check_rmdir(dir);
}

/* Cut anywhere, a file is refused when it is opened or when a sample is read. */
static void a_cut_file_is_refused(void **state)
{
  char dir[256], path[300];
  int64_t size = 0;
  char *bytes = NULL;

  NEEDS_NETCDF();
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/s.nc", dir);
  write_samples(path, &(fault){.bad = 0});
  assert_ok(weir_file_read(path, 1 << 20, &bytes, &size));
  for (int part = 0; part < 10; part++) {
    weir_check_write(path, bytes, (size_t)(size * part / 10));
    refused_file(path, "");
  }
  weir_free(&bytes);
  assert_int_equal(unlink(path), 0);
  refused_file(path, "");
  weir_check_rmdir(dir);
}

static void the_simulation_comes_back_from_its_file(void **state)
{
  wx_simulate_opts o;
  wx_samples *a = NULL, *b = NULL;
  wx_output out;
  char dir[256], path[300];
  const int64_t chosen[] = {4, 1};

  NEEDS_NETCDF();
  weir_opts_default(wx_simulate_options, sizeof o, &o);
  o.samples = 6;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/s.nc", dir);
  assert_ok(wx_samples_open("", true, &o, 3, &a));
  const wx_facts *f = wx_samples_get(a);
  float *x = calloc((size_t)(WX_SIM_X * f->cells), sizeof *x);
  float *y = calloc((size_t)(WX_SIM_X * f->cells), sizeof *y);
  const wx_output_field field[] = {{"x", "x", "x_channel", WX_SIM_X, f->channel[WX_X]},
                                   {"y", "y", "y_channel", 1, f->channel[WX_Y]}};

  assert_ok(wx_output_open(path, f, field, 2, chosen, 2, &out));
  for (int64_t i = 0; i < 2; i++) {
    assert_ok(wx_samples_read(a, WX_X, chosen[i], x));
    assert_ok(wx_output_write(&out, 0, i, x));
    assert_ok(wx_samples_read(a, WX_Y, chosen[i], y));
    assert_ok(wx_output_write(&out, 1, i, y));
  }
  assert_ok(wx_output_commit(&out));
  assert_ok(wx_samples_open(path, true, NULL, 0, &b));
  const wx_facts *g = wx_samples_get(b);

  assert_true(g->n == 2 && g->rank == 2 && g->axis[1].length == o.lon);
  assert_near(g->time[1], f->time[1], 1e-12);
  assert_near(g->axis[0].value[3], f->axis[0].value[3], 1e-12);
  assert_string_equal(g->channel[WX_X][WX_SIM_HEIGHT].name, "height");
  assert_ok(wx_samples_read(b, WX_X, 1, y));
  assert_int_equal(memcmp(x, y, (size_t)(WX_SIM_X * f->cells) * sizeof *x), 0);
  free(x);
  free(y);
  wx_samples_close(&a);
  wx_samples_close(&b);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_and_channels_come_back),
      cmocka_unit_test(what_is_wrong_is_said),
      cmocka_unit_test(a_cut_file_is_refused),
      cmocka_unit_test(the_simulation_comes_back_from_its_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
