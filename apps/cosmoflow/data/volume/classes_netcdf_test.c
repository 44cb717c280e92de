/* classes_netcdf_test.c - classes of voxels from files as others write them, through the converter
 * without losing a bit, together with their voxels in every view; errors name the cause. */
#include "data/samples.h"
#include "support/cosmoflow/volume_test.h"

enum { D = 3, H = 4, W = 5, CELLS = D * H * W, SAMPLES = 2, CLASSES = 3 };

static char dir[256], path[512];

static uint8_t class_of(int64_t sample, int64_t voxel)
{
  return (uint8_t)(weir_random_bits(3, 1, (uint32_t)sample, (uint64_t)voxel) % CLASSES);
}

static float voxel_of(int64_t sample, int64_t voxel)
{
  return (float)weir_random_normal(3, 2, (uint32_t)sample, (uint64_t)voxel);
}

/* A file [n, z, y, x] without names of dimensions that say anything; `bad` replaces a class. */
typedef struct layout {
  const char *file, *volume, *classes; /* classes NULL: none */
  weir_dtype dtype;                    /* of the classes */
  int64_t width;                       /* of the classes; W */
  int64_t at;                          /* of sample 1; -1: nothing is bad */
  double bad;
  bool packed;
} layout;

static void make(const layout *l)
{
  const int64_t start[4] = {0}, count[4] = {SAMPLES, D, H, W};
  const int64_t class_count[4] = {SAMPLES, D, H, l->width};
  int dims[5], volume = 0, classes = 0;
  static float voxels[SAMPLES * CELLS];
  static double raw[SAMPLES * CELLS * 2];
  const double scale = 2;
  weir_netcdf *nc = NULL;

  for (int64_t i = 0; i < SAMPLES * CELLS; i++) {
    voxels[i] = voxel_of(i / CELLS, i % CELLS);
    weir_dtype_store_real(l->dtype, raw, i,
                          i == CELLS + l->at && l->at >= 0 ? l->bad
                                                           : class_of(i / CELLS, i % CELLS));
  }
  snprintf(path, sizeof path, "%s/%s", dir, l->file);
  assert_ok(weir_netcdf_create(path, &nc));
  for (int d = 0; d < 4; d++) {
    const char *const names[] = {"a", "b", "c", "d"};

    assert_ok(weir_netcdf_dim(nc, names[d], count[d], &dims[d]));
  }
  assert_ok(weir_netcdf_var(nc, l->volume, WEIR_F32, 4, dims, &volume));
  if (l->classes) {
    assert_ok(weir_netcdf_dim(nc, "e", l->width, &dims[3]));
    assert_ok(weir_netcdf_var(nc, l->classes, l->dtype, 4, dims, &classes));
    if (l->packed) {
      assert_ok(weir_netcdf_put_numbers(nc, classes, "scale_factor", WEIR_F64, &scale, 1));
    }
    assert_ok(weir_netcdf_write(nc, classes, start, class_count, raw));
  }
  assert_ok(weir_netcdf_write(nc, volume, start, count, voxels));
  assert_ok(weir_netcdf_commit(&nc));
}

static cf_volume_opts usual(void)
{
  cf_volume_opts o;

  weir_opts_default(cf_volume_options, sizeof o, &o);
  return o;
}

static cf_source *open_set(const cf_volume_opts *opts, const char *from)
{
  const cf_source_opts source = {.input = {&from, 1}};
  cf_source *s = NULL;

  assert_ok(cf_source_open(&(cf_source_spec){.source = &source, .files = opts}, &s));
  return s;
}

static void assert_classes(cf_source *s)
{
  uint8_t classes[CELLS];
  float voxels[CELLS];

  assert_int_equal(cf_source_count(s), SAMPLES);
  assert_int_equal(cf_source_info(s)->lengths[2], W);
  assert_int_equal(cf_source_info(s)->n_classes, CLASSES);
  for (int64_t k = 0; k < SAMPLES; k++) {
    for (int64_t d = 0; d < D; d++) { /* a plane, and the planes before it */
      assert_ok(cf_source_classes(s, k, d, d + 1, classes));
      assert_int_equal(classes[H * W - 1], class_of(k, (d + 1) * H * W - 1));
    }
    assert_ok(cf_source_classes(s, k, 0, D, classes));
    assert_ok(cf_source_read(s, k, 0, D, WEIR_F32, voxels));
    for (int64_t i = 0; i < CELLS; i++) {
      assert_int_equal(classes[i], class_of(k, i));
      assert_true(voxels[i] == voxel_of(k, i));
    }
  }
}

static void classes_are_read_as_any_number(void **state)
{
  const weir_dtype dtypes[] = {WEIR_U8, WEIR_I8, WEIR_I16, WEIR_I64, WEIR_F32, WEIR_F64};

  for (int i = 0; i < 6; i++) {
    const layout l = {"a.h5", "volume", "segmentation", dtypes[i], W, -1, 0, false};
    const cf_volume_opts o = usual();

    make(&l);
    cf_source *s = open_set(&o, path);

    assert_classes(s);
    cf_source_close(&s);
  }
}

static void names_may_be_given(void **state)
{
  const layout l = {"a.h5", "ct", "mask", WEIR_U8, W, -1, 0, false};
  cf_volume_opts o = usual();

  make(&l);
  o.volume = "ct";
  o.segmentation = "mask";
  o.axes = "nzyx";
  cf_source *s = open_set(&o, path);

  assert_classes(s);
  cf_source_close(&s);
}

static void the_converter_keeps_every_bit(void **state)
{
  const layout l = {"a.h5", "volume", "segmentation", WEIR_I16, W, -1, 0, false};
  const cf_convert_opts what = {.format = "netcdf", .per_file = 1, .level = 1};
  const cf_convert_opts none = {.format = "npy", .per_file = 1};
  const cf_volume_opts o = usual();
  cf_converted done;
  char out[300];

  make(&l);
  snprintf(out, sizeof out, "%s/out", dir);
  assert_ok(weir_dir_create(out));
  cf_source *s = open_set(&o, path);

  assert_ok(cf_convert(s, &what, out, NULL, &done));
  assert_int_equal(done.files, SAMPLES);
  assert_int_equal(cf_convert(s, &none, dir, NULL, &done), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "convert.format=netcdf"));
  cf_source_close(&s);
  s = open_set(&o, out);
  assert_classes(s);
  cf_source_close(&s);
  weir_check_rmdir(out);
}

/* Cubes of 2 of a sample of 2 x 2 x 4, with their classes. */
static void cubes_are_cut_with_their_classes(void **state)
{
  const cf_volume_info info = {
      .lengths = {2, 2, 4, 1}, .dtype = WEIR_I16, .n_classes = CLASSES, .layout = ""};
  const cf_convert_opts what = {.format = "netcdf", .per_file = 2, .side = 2};
  const cf_volume_opts o = usual();
  int16_t voxels[16], cube[8];
  uint8_t classes[16], planes[8];
  cf_volume_writer *w = NULL;
  cf_converted done;
  char stem[300], out[300];

  for (int i = 0; i < 16; i++) {
    voxels[i] = (int16_t)i;
    classes[i] = class_of(0, i);
  }
  snprintf(stem, sizeof stem, "%s/long", dir);
  snprintf(path, sizeof path, "%s/long.nc", dir);
  snprintf(out, sizeof out, "%s/out", dir);
  assert_ok(cf_volume_create("netcdf", stem, &info, 1, 0, &w));
  assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){NULL, 7, classes, NULL}));
  assert_ok(cf_volume_commit(&w));
  assert_ok(weir_dir_create(out));
  cf_source *s = open_set(&o, path);

  assert_ok(cf_convert(s, &what, out, NULL, &done));
  cf_source_close(&s);
  s = open_set(&o, out);
  assert_int_equal(cf_source_count(s), 2);
  for (int64_t k = 0; k < 2; k++) {
    assert_ok(cf_source_read(s, k, 0, 2, WEIR_I16, cube));
    assert_ok(cf_source_classes(s, k, 0, 2, planes));
    for (int64_t i = 0; i < 8; i++) {
      const int64_t at = i / 2 * 4 + k * 2 + i % 2;

      assert_int_equal(cube[i], at);
      assert_int_equal(planes[i], classes[at]);
    }
  }
  cf_source_close(&s);
  weir_check_rmdir(out);
}

/* A voxel's value says which one it is: its class has to come along. */
static void views_take_classes_along(void **state)
{
  const layout l = {"a.h5", "volume", "segmentation", WEIR_U8, W, -1, 0, false};
  const cf_volume_opts o = usual();
  const cf_data_opts data = {
      .scale = CF_SCALE_RAW, .augment = {CF_SYMMETRY_MIRROR, true}, .cache_bytes = 1e6};
  cf_samples *samples = NULL;
  uint8_t classes[CELLS];
  float voxels[CELLS];

  make(&l);
  cf_source *s = open_set(&o, path);

  assert_ok(cf_samples_create(&data, s, CF_TRUTH_CLASSES, &samples));
  for (int64_t epoch = 0; epoch < 20; epoch++) {
    const cf_view view = cf_view_of(&data, cf_source_info(s), 1, epoch, 1);
    const cf_wanted want = {.sample = 1, .view = &view, .lo = {1, 0, 2}, .hi = {D, H, W - 1}};
    const int64_t n = (D - 1) * H * (W - 3);

    assert_ok(cf_samples_read(samples, &want, voxels, classes));
    for (int64_t i = 0; i < n; i++) {
      int64_t at = 0;

      while (at < CELLS && voxel_of(1, at) != voxels[i]) {
        at++;
      }
      assert_true(at < CELLS);
      assert_int_equal(classes[i], class_of(1, at));
    }
  }
  cf_samples_destroy(&samples);
  cf_source_close(&s);
}

static void assert_refused(const layout *l, const char *segmentation, const char *message)
{
  const char *const paths[] = {path};
  cf_volume_opts o = usual();
  uint8_t classes[CELLS];
  cf_volumes *v = NULL;

  make(l);
  o.segmentation = segmentation;
  weir_status status = cf_volumes_open(paths, 1, &o, &v);

  status = status == WEIR_OK ? cf_volumes_classes(v, 1, 1, D, classes) : status;
  assert_int_equal(status, WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), message));
  assert_non_null(strstr(weir_last_message(), "b.h5"));
  cf_volumes_close(&v);
}

static void what_is_wrong_is_named(void **state)
{
  layout l = {"b.h5", "volume", "segmentation", WEIR_F32, W, 30, 1.5, false};

  assert_refused(&l, "", "sample 2: the class of voxel 30 is 1.5, which is no integer");
  l.bad = NAN;
  assert_refused(&l, "", "sample 2: the class of voxel 30 is nan, which is no integer");
  l.bad = 3;
  assert_refused(&l, "", "is 3, and there are 3, numbered from 0 (files.classes)");
  l.bad = -1;
  assert_refused(&l, "", "is -1, and there are 3");
  l.at = -1;
  assert_refused(&l, "mask", "has no variable mask (files.segmentation)");
  l.packed = true;
  assert_refused(&l, "", "its variable segmentation is packed (scale_factor, add_offset)");
  l.packed = false;
  l.width = W - 1;
  assert_refused(&l, "", "the classes of the voxels are 2 x 3 x 4 x 4, and the voxels 2 x 3 x 4 x");
}

/* ---- Bytes and unsigned integers of 16 bits, which no file of ours has ---- */

enum { UBYTE = 7, USHORT = 8 };

static void put_number(FILE *f, uint64_t value, int bytes)
{
  for (int k = bytes - 1; k >= 0; k--) {
    (void)fputc(k < 8 ? (int)(value >> 8 * k & 255) : 0, f);
  }
}

/* Length, letters, zeros up to a multiple of 4. */
static void put_name(FILE *f, const char *name)
{
  const size_t n = strlen(name);

  put_number(f, n, 8);
  (void)fwrite(name, 1, n, f);
  put_number(f, 0, (int)(3 - (n + 3) % 4));
}

static void put_var(FILE *f, const char *name, uint64_t type, uint64_t bytes, uint64_t begin)
{
  put_name(f, name);
  put_number(f, 3, 8);
  for (uint64_t d = 0; d < 3; d++) {
    put_number(f, d, 8);
  }
  put_number(f, 0, 12); /* no attributes */
  put_number(f, type, 4);
  put_number(f, bytes, 8);
  put_number(f, begin, 8);
}

/* DIR/b.h5: a file as CDF-5 has it ("File Format Specifications", NetCDF Users Guide), cells of
 * zeros and their classes; `bad` is that of the last. */
static void make_unsigned(int type, int bad)
{
  enum { VOXELS = 512 }; /* where they begin */
  static const char *const names[] = {"z", "y", "x"};
  const uint64_t lengths[] = {D, H, W};
  FILE *f = NULL;

  snprintf(path, sizeof path, "%s/b.h5", dir);
  f = fopen(path, "wb");
  assert_non_null(f);
  (void)fwrite("CDF\005", 1, 4, f);
  put_number(f, 0, 8);
  put_number(f, 0x0a, 4);
  put_number(f, 3, 8);
  for (int d = 0; d < 3; d++) {
    put_name(f, names[d]);
    put_number(f, lengths[d], 8);
  }
  put_number(f, 0, 12);
  put_number(f, 0x0b, 4);
  put_number(f, 2, 8);
  put_var(f, "volume", 5, 4 * CELLS, VOXELS);
  put_var(f, "segmentation", (uint64_t)type, type == UBYTE ? CELLS : 2 * CELLS, VOXELS + 4 * CELLS);
  assert_true(ftell(f) <= VOXELS);
  while (ftell(f) < VOXELS + 4 * CELLS) {
    (void)fputc(0, f);
  }
  for (int i = 0; i < CELLS; i++) {
    put_number(f, (uint64_t)(i + 1 < CELLS ? i % CLASSES : bad), type == UBYTE ? 1 : 2);
  }
  assert_int_equal(fclose(f), 0);
}

/* The reading of the classes of a file of one sample, or already of its opening. */
static weir_status read_unsigned(int type, int bad, int64_t classes, uint8_t *out)
{
  const char *const paths[] = {path};
  cf_volume_opts o = usual();
  cf_volumes *v = NULL;

  make_unsigned(type, bad);
  o.classes = classes;
  WEIR_TRY(cf_volumes_open(paths, 1, &o, &v));
  const weir_status status = cf_volumes_classes(v, 0, 0, D, out);

  cf_volumes_close(&v);
  return status;
}

static void unsigned_classes_are_bytes_or_refused(void **state)
{
  uint8_t out[CELLS];

  assert_ok(read_unsigned(UBYTE, 200, 201, out)); /* no sign in the eighth bit */
  assert_int_equal(out[0], 0);
  assert_int_equal(out[CELLS - 2], (CELLS - 2) % CLASSES);
  assert_int_equal(out[CELLS - 1], 200);
  assert_int_equal(read_unsigned(UBYTE, 200, 200, out), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "the class of voxel 59 is 200, and there are 200"));
  assert_int_equal(read_unsigned(UBYTE, 255, 255, out), WEIR_ERR_DATA);
  assert_int_equal(read_unsigned(USHORT, 1, CLASSES, out), WEIR_ERR_DATA);
  assert_non_null(
      strstr(weir_last_message(), "b.h5: its variable segmentation has a type that is"));
}

/* Classes in one file and none in another. */
static void all_files_have_classes_or_none(void **state)
{
  const layout a = {"a.h5", "volume", "segmentation", WEIR_U8, W, -1, 0, false};
  const layout b = {"b.h5", "volume", NULL, WEIR_U8, W, -1, 0, false};
  cf_volume_opts o = usual();
  const cf_data_opts data = {.scale = CF_SCALE_RAW};
  char with[300], without[300];
  cf_samples *samples = NULL;
  cf_volumes *v = NULL;

  o.axes = "nzyx";
  make(&a);
  make(&b);
  snprintf(with, sizeof with, "%s/a.h5", dir);
  snprintf(without, sizeof without, "%s/b.h5", dir);
  assert_int_equal(cf_volumes_open((const char *[]){with, without}, 2, &o, &v), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "b.h5: has no variable of classes of voxels"));
  cf_source *s = open_set(&o, without);

  assert_int_equal(cf_samples_create(&data, s, CF_TRUTH_CLASSES, &samples), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "b.h5: sample 1: the samples have no classes"));
  cf_source_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_are_read_as_any_number),
      cmocka_unit_test(names_may_be_given),
      cmocka_unit_test(the_converter_keeps_every_bit),
      cmocka_unit_test(cubes_are_cut_with_their_classes),
      cmocka_unit_test(views_take_classes_along),
      cmocka_unit_test(what_is_wrong_is_named),
      cmocka_unit_test(unsigned_classes_are_bytes_or_refused),
      cmocka_unit_test(all_files_have_classes_or_none),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
