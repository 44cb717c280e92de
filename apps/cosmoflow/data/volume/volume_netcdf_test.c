/* volume_netcdf_test.c - layouts of NetCDF and HDF5 files that others write, and files that are
 * wrong. */
#include "support/cosmoflow/volume_test.h"

static char dir[256], path[512];
static const char *const paths[] = {path};

/* A file with one variable of voxels, and labels. */
typedef struct layout {
  const char *volume, *labels, *sample; /* sample: name of the first dimension */
  weir_dtype dtype;
  int n_dims;
  int64_t lengths[5];
  int64_t n_labels;
} layout;

static weir_netcdf *define(const layout *l, int *volume, int *labels)
{
  weir_netcdf *nc = NULL;
  int dims[5], dim = 0;
  char name[16];

  snprintf(path, sizeof path, "%s/a.h5", dir);
  assert_ok(weir_netcdf_create(path, &nc));
  for (int d = 0; d < l->n_dims; d++) {
    snprintf(name, sizeof name, "d%d", d);
    assert_ok(weir_netcdf_dim(nc, d == 0 ? l->sample : name, l->lengths[d], &dims[d]));
  }
  assert_ok(weir_netcdf_var(nc, l->volume, l->dtype, l->n_dims, dims, volume));
  assert_ok(weir_netcdf_dim(nc, "label", l->n_labels, &dim));
  assert_ok(weir_netcdf_var(nc, l->labels, WEIR_F64, 1, &dim, labels));
  return nc;
}

static void fill(weir_netcdf *nc, const layout *l, int volume, int labels, double label)
{
  int64_t n = 1, start[5] = {0};
  double y[CF_MAX_LABELS + 1];
  char *const data = malloc(1 << 16);

  for (int d = 0; d < l->n_dims; d++) {
    n *= l->lengths[d];
  }
  for (int64_t i = 0; i < n; i++) {
    weir_dtype_store_int(l->dtype, data, i, i);
  }
  for (int64_t i = 0; i < l->n_labels; i++) {
    y[i] = label;
  }
  assert_ok(weir_netcdf_write(nc, volume, start, l->lengths, data));
  assert_ok(weir_netcdf_write(nc, labels, start, &l->n_labels, y));
  assert_ok(weir_netcdf_commit(&nc));
  free(data);
}

static void make(const layout *l, double label)
{
  int volume = 0, labels = 0;
  weir_netcdf *const nc = define(l, &volume, &labels);

  fill(nc, l, volume, labels, label);
}

static cf_volumes *open_set(void)
{
  const cf_volume_opts opts = cf_test_opts();
  cf_volumes *v = NULL;

  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  return v;
}

static void universes_of_exalearn_are_read(void **state)
{
  const layout l = {"full", "unitPar", "d", WEIR_I16, 4, {3, 3, 3, 4}, 4};
  int16_t voxels[72];
  float y[CF_MAX_LABELS];

  make(&l, 0.25);
  cf_volumes *v = open_set();

  assert_int_equal(cf_volumes_count(v), 1);
  assert_int_equal(cf_volumes_info(v)->lengths[3], 4);
  assert_ok(cf_volumes_read(v, 0, 1, 3, WEIR_I16, voxels));
  for (int i = 0; i < 72; i++) {
    assert_int_equal(voxels[i], 36 + i);
  }
  assert_ok(cf_volumes_labels(v, 0, y));
  assert_true(y[3] == 0.25f);
  cf_volumes_close(&v);
}

static void channels_may_come_first(void **state)
{
  static const char *const names[] = {"channel", "redshift"};

  for (int named = 0; named < 2; named++) {
    const layout l = {"full", "unitPar", names[named], WEIR_F32, 4, {4, 3, 3, 3}, 4};
    float voxels[72];

    make(&l, 0);
    cf_volumes *v = open_set();

    assert_int_equal(cf_volumes_info(v)->lengths[0], 3);
    assert_int_equal(cf_volumes_info(v)->lengths[3], 4);
    assert_ok(cf_volumes_read(v, 0, 1, 3, WEIR_F32, voxels));
    for (int i = 0; i < 72; i++) {
      assert_true(voxels[i] == (float)(i % 4 * 27 + 9 + i / 4));
    }
    cf_volumes_close(&v);
  }
}

/* Samples along a dimension of another name would be read as the channels of one sample. */
static void a_first_dimension_without_a_known_name_is_refused(void **state)
{
  const layout l = {"full", "unitPar", "foo", WEIR_I16, 4, {4, 3, 3, 3}, 4};
  cf_volume_opts opts = cf_test_opts();
  cf_volumes *v = NULL;

  make(&l, 0);
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_DATA);
  assert_non_null(
      strstr(weir_last_message(), "first dimension of the voxels, foo (4 x 3 x 3 x 3)"));
  opts.axes = "czyx";
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  assert_int_equal(cf_volumes_info(v)->lengths[3], 4);
  cf_volumes_close(&v);
}

static void names_do_not_matter_where_one_variable_is_cubes(void **state)
{
  const layout cubes = {"density", "y", "d", WEIR_I32, 3, {3, 3, 3}, 2};
  const layout many = {"x", "y", "sample", WEIR_I16, 4, {1, 2, 2, 2}, 2};

  make(&cubes, 0);
  cf_volumes *v = open_set();

  assert_int_equal(cf_volumes_info(v)->lengths[3], 1);
  assert_int_equal(cf_volumes_info(v)->dtype, WEIR_I32);
  cf_volumes_close(&v);
  make(&many, 0);
  v = open_set();
  assert_int_equal(cf_volumes_count(v), 1);
  assert_int_equal(cf_volumes_info(v)->lengths[0], 2);
  assert_int_equal(cf_volumes_info(v)->lengths[3], 1);
  cf_volumes_close(&v);
}

static void packed_numbers_are_unpacked(void **state)
{
  const layout l = {"full", "y", "d", WEIR_I16, 3, {2, 2, 2}, 1};
  const double scale = 0.5, offset = 3;
  const int16_t missing = 6;
  int volume = 0, labels = 0;
  float voxels[8];

  for (int with = 0; with < 2; with++) {
    weir_netcdf *const nc = define(&l, &volume, &labels);

    assert_ok(weir_netcdf_put_numbers(nc, volume, "scale_factor", WEIR_F64, &scale, 1));
    assert_ok(weir_netcdf_put_numbers(nc, volume, "add_offset", WEIR_F64, &offset, 1));
    if (with) {
      assert_ok(weir_netcdf_put_numbers(nc, volume, "_FillValue", WEIR_I16, &missing, 1));
    }
    fill(nc, &l, volume, labels, 0);
    cf_volumes *v = open_set();

    assert_int_equal(cf_volumes_info(v)->dtype, WEIR_F32);
    assert_ok(cf_volumes_read(v, 0, 0, 1, WEIR_F32, voxels));
    for (int i = 0; i < 4; i++) {
      assert_true(voxels[i] == 3.0f + 0.5f * (float)i);
    }
    const weir_status status = cf_volumes_read(v, 0, 1, 2, WEIR_F32, voxels);

    assert_int_equal(status, with ? WEIR_ERR_DATA : WEIR_OK);
    if (with) {
      assert_non_null(strstr(weir_last_message(), "a.h5: sample 1: voxel 6 is nan"));
    }
    cf_volumes_close(&v);
  }
}

/* Counts above 32767 would be read as negative ones. */
static void voxels_without_a_sign_by_attribute_are_refused(void **state)
{
  const layout l = {"full", "y", "d", WEIR_I16, 3, {2, 2, 2}, 1};
  const cf_volume_opts opts = cf_test_opts();
  int volume = 0, labels = 0;
  weir_netcdf *const nc = define(&l, &volume, &labels);
  cf_volumes *v = NULL;

  assert_ok(weir_netcdf_put_text(nc, volume, "_Unsigned", "true"));
  fill(nc, &l, volume, labels, 0);
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_DATA);
  assert_non_null(
      strstr(weir_last_message(), "a.h5: variable full: unsigned integers (attribute _Unsigned"));
  assert_null(v);
}

static void assert_refused(const layout *l, double label, const char *message)
{
  const cf_volume_opts opts = cf_test_opts();
  cf_volumes *v = NULL;
  float y[CF_MAX_LABELS];

  make(l, label);
  weir_status status = cf_volumes_open(paths, 1, &opts, &v);

  status = status == WEIR_OK ? cf_volumes_labels(v, 0, y) : status;
  assert_int_equal(status, WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), message));
  assert_non_null(strstr(weir_last_message(), "a.h5"));
  cf_volumes_close(&v);
}

/* Dark matter and gas: none is the one that is meant, whichever stands first. */
static void of_two_variables_of_cubes_none_is_taken(void **state)
{
  const layout l = {"gas", "unitPar", "d", WEIR_I16, 3, {2, 2, 2}, 2};
  const cf_volume_opts opts = cf_test_opts();
  const int64_t start[3] = {0}, lengths[3] = {2, 2, 2};
  int volume = 0, labels = 0, other = 0, dims[3];
  weir_netcdf *const nc = define(&l, &volume, &labels);
  cf_volumes *v = NULL;

  for (int d = 0; d < 3; d++) {
    const char name[] = {(char)('u' + d), 0};

    assert_ok(weir_netcdf_dim(nc, name, 2, &dims[d]));
  }
  assert_ok(weir_netcdf_var(nc, "dm", WEIR_I16, 3, dims, &other));
  assert_ok(weir_netcdf_write(nc, other, start, lengths, (int16_t[8]){0}));
  fill(nc, &l, volume, labels, 0);
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_DATA);
  assert_non_null(
      strstr(weir_last_message(), "has several variables of cubes; files.volume names"));
}

static void what_is_wrong_is_named(void **state)
{
  const layout nan = {"full", "unitPar", "d", WEIR_I16, 3, {2, 2, 2}, 2};
  const layout flat = {"field", "y", "d", WEIR_I16, 2, {2, 2}, 2};
  const layout many = {"full", "unitPar", "sample", WEIR_I16, 5, {2, 2, 2, 2, 1}, 2};
  const layout wide = {"full", "unitPar", "d", WEIR_I16, 3, {2, 2, 2}, 17};

  assert_refused(&nan, NAN, "sample 1: label 1 is nan");
  assert_refused(&flat, 0, "has no variable of cubes; files.volume names");
  assert_refused(&many, 0, "(variable unitPar) are not at most 16 floats for each of 2 samples");
  assert_refused(&wide, 0, "are not at most 16 floats for each of 1 samples");
}

/* A file as xarray writes it: density over z, y, x with a coordinate of each; HDF5 without
 * dimension scales: the same lengths alone. scaled: the dimensions have the coordinates' names. */
static void make_coordinates(const char *volume, bool scaled, bool labels)
{
  static const char *const name[] = {"z", "y", "x"}, *const other[] = {"a", "b", "c"};
  const int64_t zero[3] = {0}, lengths[3] = {4, 4, 4}, two = 2;
  int16_t voxels[64] = {1};
  weir_netcdf *nc = NULL;
  int dims[3], dim = 0, var = 0;

  snprintf(path, sizeof path, "%s/a.h5", dir);
  assert_ok(weir_netcdf_create(path, &nc));
  for (int d = 0; d < 3; d++) {
    assert_ok(weir_netcdf_dim(nc, scaled ? name[d] : other[d], 4, &dims[d]));
  }
  for (int d = 0; d < 3; d++) {
    if (strcmp(volume, name[d]) != 0) {
      assert_ok(weir_netcdf_var(nc, name[d], WEIR_F64, 1, &dims[d], &var));
      assert_ok(weir_netcdf_write(nc, var, zero, lengths, (double[4]){0, 0.25, 0.5, 0.75}));
    }
  }
  assert_ok(weir_netcdf_var(nc, volume, WEIR_I16, 3, dims, &var));
  assert_ok(weir_netcdf_write(nc, var, zero, lengths, voxels));
  if (labels) {
    assert_ok(weir_netcdf_dim(nc, "parameter", 2, &dim));
    assert_ok(weir_netcdf_var(nc, "theta", WEIR_F64, 1, &dim, &var));
    assert_ok(weir_netcdf_write(nc, var, zero, &two, (double[2]){-0.5, 0.5}));
  }
  assert_ok(weir_netcdf_commit(&nc));
}

static void coordinates_are_neither_voxels_nor_labels(void **state)
{
  cf_volume_opts opts = cf_test_opts();
  cf_volumes *v = NULL;
  float y[CF_MAX_LABELS];

  for (int scaled = 0; scaled < 2; scaled++) {
    make_coordinates("density", scaled, false);
    for (int stated = 0; stated < 2; stated++) {
      opts.volume = stated ? "density" : "";
      assert_ok(cf_volumes_open(paths, 1, &opts, &v));
      assert_int_equal(cf_volumes_info(v)->lengths[0], 4);
      assert_int_equal(cf_volumes_info(v)->lengths[3], 1);
      assert_int_equal(cf_volumes_info(v)->n_labels, 0);
      cf_volumes_close(&v);
    }
  }
  make_coordinates("density", true, true);
  opts = cf_test_opts();
  opts.labels = "y";
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "its variable y (files.labels) is the coordinate"));
  opts.labels = "theta";
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  assert_int_equal(cf_volumes_info(v)->n_labels, 2);
  assert_ok(cf_volumes_labels(v, 0, y));
  assert_true(y[0] == -0.5f && y[1] == 0.5f);
  cf_volumes_close(&v);
  /* The pair x, y of MLPerf's preparation; y stated. */
  make_coordinates("x", false, false);
  opts = cf_test_opts();
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  assert_int_equal(cf_volumes_info(v)->n_labels, 4);
  cf_volumes_close(&v);
  make_coordinates("density", false, false);
  opts.labels = "y";
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  assert_int_equal(cf_volumes_info(v)->n_labels, 4);
  cf_volumes_close(&v);
}

/* Names as texts of any length, as in HDF5 of others. */
static void names_may_be_texts(void **state)
{
  const layout l = {"full", "unitPar", "d", WEIR_I16, 3, {2, 2, 2}, 2};
  const char *const names[] = {"sigma_8", "a name that is much longer than the maximum"};
  int volume = 0, labels = 0, dim = 0, var = 0;
  weir_netcdf *const nc = define(&l, &volume, &labels);

  assert_ok(weir_netcdf_dim(nc, "names", 2, &dim));
  assert_ok(weir_netcdf_text_var(nc, "namePar", 1, &dim, &var));
  assert_ok(weir_netcdf_write_texts(nc, var, (int64_t[]){0}, (int64_t[]){2}, names));
  fill(nc, &l, volume, labels, 0);
  cf_volumes *v = open_set();

  assert_string_equal(cf_volumes_info(v)->label[0], "sigma_8");
  assert_int_equal(strlen(cf_volumes_info(v)->label[1]), CF_MAX_NAME - 1);
  cf_volumes_close(&v);
}

/* Four samples whose universes are 5, 9999, 7 and -1, of which the first `written` are;
 * `attribute` declares `missing`; NULL: none does. */
static void make_universes(weir_dtype dtype, const char *attribute, double missing, int64_t written)
{
  static const char *const name[] = {"sample", "z", "y", "x"};
  const int64_t start[4] = {0}, lengths[4] = {4, 2, 2, 2};
  const int64_t universe[] = {5, dtype == WEIR_U8 ? 99 : 9999, 7, -1};
  const int16_t voxels[32] = {1};
  int dims[4], volume = 0, var = 0;
  weir_netcdf *nc = NULL;
  double raw[4], number[1];

  snprintf(path, sizeof path, "%s/a.h5", dir);
  assert_ok(weir_netcdf_create(path, &nc));
  for (int d = 0; d < 4; d++) {
    assert_ok(weir_netcdf_dim(nc, name[d], lengths[d], &dims[d]));
  }
  assert_ok(weir_netcdf_var(nc, "full", WEIR_I16, 4, dims, &volume));
  assert_ok(weir_netcdf_var(nc, "universe", dtype, 1, dims, &var));
  if (attribute != NULL) {
    if (weir_dtype_is_real(dtype)) {
      weir_dtype_store_real(dtype, number, 0, missing);
    } else {
      weir_dtype_store_int(dtype, number, 0, (int64_t)missing);
    }
    assert_ok(weir_netcdf_put_numbers(nc, var, attribute, dtype, number, 1));
  }
  for (int64_t i = 0; i < 4; i++) {
    if (weir_dtype_is_real(dtype)) {
      weir_dtype_store_real(dtype, raw, i, isnan(missing) && i == 1 ? NAN : (double)universe[i]);
    } else {
      weir_dtype_store_int(dtype, raw, i, universe[i]);
    }
  }
  assert_ok(weir_netcdf_write(nc, volume, start, lengths, voxels));
  assert_ok(weir_netcdf_write(nc, var, start, &written, raw));
  assert_ok(weir_netcdf_commit(&nc));
}

static void assert_universes(int64_t second, int64_t third, int64_t fourth)
{
  const int64_t wanted[] = {5, second, third, fourth};
  cf_volumes *v = open_set();
  int64_t is = 0;

  assert_int_equal(cf_volumes_count(v), 4);
  for (int64_t i = 0; i < 4; i++) {
    assert_ok(cf_volumes_universe(v, i, &is));
    assert_int_equal(is, wanted[i]);
  }
  cf_volumes_close(&v);
}

static void missing_universes_are_unknown(void **state)
{
  const weir_dtype dtypes[] = {WEIR_I16, WEIR_I32, WEIR_I64, WEIR_F64};

  for (int i = 0; i < 4; i++) {
    make_universes(dtypes[i], NULL, 0, 4);
    assert_universes(9999, 7, -1);
    make_universes(dtypes[i], "_FillValue", 9999, 4);
    assert_universes(-1, 7, -1);
    make_universes(dtypes[i], "missing_value", 9999, 4);
    assert_universes(-1, 7, -1);
    make_universes(dtypes[i], "_FillValue", -1, 4);
    assert_universes(9999, 7, -1);
  }
  make_universes(WEIR_F64, "_FillValue", NAN, 4); /* as xarray writes them */
  assert_universes(-1, 7, -1);
}

/* Whatever the library fills in for its type; of bytes that is data. */
static void universes_that_were_never_written_are_unknown(void **state)
{
  const weir_dtype dtypes[] = {WEIR_I16, WEIR_I32, WEIR_I64, WEIR_F64};

  for (int i = 0; i < 4; i++) {
    make_universes(dtypes[i], NULL, 0, 2);
    assert_universes(9999, -1, -1);
    make_universes(dtypes[i], "missing_value", 9999, 2);
    assert_universes(-1, -1, -1);
    make_universes(dtypes[i], "_FillValue", 77, 2);
    assert_universes(9999, -1, -1);
  }
  make_universes(WEIR_U8, NULL, 0, 2);
  assert_universes(99, 255, 255);
  make_universes(WEIR_U8, "_FillValue", 200, 2);
  assert_universes(99, -1, -1);
}

/* Other programs mask the number of an unknown universe. */
static void unknown_universes_are_written_as_missing(void **state)
{
  const cf_volume_info info = {.lengths = {2, 2, 2, 1}, .dtype = WEIR_I16};
  const int16_t voxels[8] = {1};
  weir_netcdf_shape shape;
  cf_volume_writer *w = NULL;
  weir_netcdf *nc = NULL;
  double missing = 0, number = 0;
  int var = 0;
  char stem[300];

  snprintf(stem, sizeof stem, "%s/c", dir);
  snprintf(path, sizeof path, "%s/c.nc", dir);
  assert_ok(cf_volume_create("netcdf", stem, &info, 1, 0, &w));
  assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){NULL, -1, NULL, NULL}));
  assert_ok(cf_volume_commit(&w));
  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_find(nc, "universe", &var, &shape));
  assert_int_equal(shape.dtype, WEIR_F64);
  assert_ok(weir_netcdf_get_numbers(nc, var, "_FillValue", &missing, 1));
  assert_ok(weir_netcdf_read(nc, var, (int64_t[]){0}, (int64_t[]){1}, &number));
  assert_true(missing == number);
  weir_netcdf_close(&nc);
}

/* Other properties of a file are preserved. */
static void names_and_redshifts_are_kept(void **state)
{
  cf_volume_info info = {.lengths = {2, 2, 2, 2},
                         .dtype = WEIR_I16,
                         .n_labels = 2,
                         .label = {"omega_m", "sigma_8"},
                         .n_redshifts = 2,
                         .redshift = {0, 1.5}};
  char stem[300];

  snprintf(stem, sizeof stem, "%s/b", dir);
  snprintf(path, sizeof path, "%s/b.nc", dir);
  cf_test_write("netcdf", stem, &info, 0, 3, 1);
  cf_volumes *v = open_set();

  assert_string_equal(cf_volumes_info(v)->label[1], "sigma_8");
  assert_int_equal(cf_volumes_info(v)->n_redshifts, 2);
  assert_true(cf_volumes_info(v)->redshift[1] == 1.5);
  cf_volumes_close(&v);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(universes_of_exalearn_are_read),
      cmocka_unit_test(channels_may_come_first),
      cmocka_unit_test(a_first_dimension_without_a_known_name_is_refused),
      cmocka_unit_test(names_do_not_matter_where_one_variable_is_cubes),
      cmocka_unit_test(packed_numbers_are_unpacked),
      cmocka_unit_test(of_two_variables_of_cubes_none_is_taken),
      cmocka_unit_test(voxels_without_a_sign_by_attribute_are_refused),
      cmocka_unit_test(what_is_wrong_is_named),
      cmocka_unit_test(coordinates_are_neither_voxels_nor_labels),
      cmocka_unit_test(names_may_be_texts),
      cmocka_unit_test(missing_universes_are_unknown),
      cmocka_unit_test(universes_that_were_never_written_are_unknown),
      cmocka_unit_test(unknown_universes_are_written_as_missing),
      cmocka_unit_test(names_and_redshifts_are_kept),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
