/* convert_test.c - sets from format to format without losing a bit, cut into cubes; what voxels are
 * like. */
#include "base/weir_signal.h"
#include "data/split.h"
#include "data/volume/voxel_stats.h"
#include "support/cosmoflow/volume_test.h"

static char dir[256], in[300], out[300];

static cf_source *open_set(const char *folder)
{
  const cf_volume_opts opts = cf_test_opts();
  const cf_source_opts source = {.input = {&folder, 1}};
  cf_source *s = NULL;

  assert_ok(cf_source_open(&(cf_source_spec){.source = &source, .files = &opts}, &s));
  return s;
}

/* Conversion of the folder `in` into the folder `out`, which is opened. */
static cf_source *convert(const char *format, int64_t per_file, int64_t side, int64_t level,
                          int dtype, cf_converted *done)
{
  const cf_convert_opts what = {
      .format = format, .per_file = per_file, .side = side, .level = level, .dtype = dtype};
  cf_source *from = open_set(in);

  weir_check_rmdir(out);
  assert_ok(weir_dir_create(out));
  assert_ok(cf_convert(from, &what, out, NULL, done));
  cf_source_close(&from);
  cf_source *const made = open_set(out);

  assert_int_equal(cf_source_count(made), done->samples);
  return made;
}

static void put(const cf_volume_info *info, int64_t n)
{
  char stem[400];

  weir_check_rmdir(in);
  assert_ok(weir_dir_create(in));
  snprintf(stem, sizeof stem, "%s/a", in);
  cf_test_write("tfrecord", stem, info, 0, n, 0);
}

static void nothing_is_lost_between_formats(void **state)
{
  const cf_volume_info info = {.lengths = {3, 3, 3, 4}, .dtype = WEIR_I16, .n_labels = 4};
  const int level = weir_tfrecord_gzip_available();
  int16_t expected[108], voxels[108];
  float y[4], has[4];

  put(&info, 5);
  for (const cf_volume_format *const *f = cf_volume_format_table; *f; f++) {
    int64_t universe = -1;
    const bool netcdf = strcmp((*f)->name, "netcdf") == 0;
    cf_converted done;

    if ((*f)->create == NULL || (netcdf && !weir_netcdf_available())) {
      continue;
    }
    cf_source *v = convert((*f)->name, (*f)->single ? 1 : 2, 0, level, 0, &done);

    assert_int_equal(done.files, (*f)->single ? 5 : 3);
    assert_int_equal(done.samples, 5);
    assert_true(done.bytes == 5 * 216);
    for (int64_t k = 0; k < 5; k++) {
      cf_test_voxels(&info, (uint64_t)k, expected);
      cf_test_labels(&info, (uint64_t)k, y);
      assert_ok(cf_source_read(v, k, 0, 3, WEIR_I16, voxels));
      assert_memory_equal(voxels, expected, sizeof voxels);
      assert_ok(cf_source_labels(v, k, has));
      assert_memory_equal(has, y, sizeof has);
      assert_ok(cf_source_universe(v, k, &universe));
      assert_int_equal(universe, k);
    }
    cf_source_close(&v);
  }
}

static void universes_are_cut_in_order(void **state)
{
  const cf_volume_info info = {.lengths = {6, 6, 6, 2}, .dtype = WEIR_F32, .n_labels = 1};
  float whole[432], cube[16], y[1], has[1];
  cf_converted done;

  put(&info, 2);
  cf_source *v = convert("tfrecord", 27, 2, 0, 0, &done);

  assert_int_equal(done.samples, 54);
  assert_int_equal(done.files, 2);
  for (int64_t k = 0; k < 54; k++) {
    const int64_t from = k / 27, d = k % 27 / 9 * 2, h = k % 9 / 3 * 2, w = k % 3 * 2;
    int64_t universe = 0;

    cf_test_voxels(&info, (uint64_t)from, whole);
    cf_test_labels(&info, (uint64_t)from, y);
    assert_ok(cf_source_read(v, k, 0, 2, WEIR_F32, cube));
    for (int64_t i = 0; i < 16; i++) {
      assert_true(cube[i] ==
                  whole[(((d + i / 8) * 6 + h + i / 4 % 2) * 6 + w + i / 2 % 2) * 2 + i % 2]);
    }
    assert_ok(cf_source_labels(v, k, has));
    assert_true(has[0] == y[0]);
    assert_ok(cf_source_universe(v, k, &universe));
    assert_int_equal(universe, from);
  }
  cf_source_close(&v);
}

extern const cf_volume_format cf_volume_format_tfrecord;

/* Samples without universes; 2 in a row have the same labels. */
static void put_unknown(const cf_volume_info *info, int64_t n)
{
  float voxels[64], labels[CF_MAX_LABELS];
  cf_volume_writer *w = NULL;
  char stem[400];

  weir_check_rmdir(in);
  assert_ok(weir_dir_create(in));
  snprintf(stem, sizeof stem, "%s/a", in);
  assert_ok(cf_volume_create("tfrecord", stem, info, n, 0, &w));
  for (int64_t k = 0; k < n; k++) {
    cf_test_voxels(info, (uint64_t)k, voxels);
    cf_test_labels(info, (uint64_t)k / 2, labels);
    assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){labels, -1, NULL, NULL}));
  }
  assert_ok(cf_volume_commit(&w));
}

static weir_status convert_unknown(const cf_volume_format *format, int64_t side,
                                   int64_t samples_per_universe)
{
  const cf_convert_opts what = {.format = format->name,
                                .per_file = format->single ? 1 : 1000,
                                .side = side,
                                .samples_per_universe = samples_per_universe};
  cf_source *from = open_set(in);
  cf_converted done;

  weir_check_rmdir(out);
  assert_ok(weir_dir_create(out));
  const weir_status status = cf_convert(from, &what, out, NULL, &done);

  cf_source_close(&from);
  return status;
}

/* A sample that does not state its universe is none of its own. */
static void universes_are_stated_and_not_invented(void **state)
{
  const cf_volume_info info = {.lengths = {4, 4, 4, 1}, .dtype = WEIR_F32, .n_labels = 2};

  put_unknown(&info, 6);
  assert_int_equal(convert_unknown(&cf_volume_format_tfrecord, 2, 0), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "set data.split.samples_per_universe"));
  assert_int_equal(convert_unknown(&cf_volume_format_tfrecord, 2, 4), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "6 samples are not a multiple"));
  for (int cut = 0; cut < 2; cut++) {
    for (int64_t each = cut; each < 3; each++) {
      assert_ok(convert_unknown(&cf_volume_format_tfrecord, cut ? 2 : 0, each));
      cf_source *v = open_set(out);
      const int64_t cubes = cut ? 8 : 1;

      assert_int_equal(cf_source_count(v), 6 * cubes);
      for (int64_t k = 0; k < 6 * cubes; k++) {
        int64_t universe = -2;

        assert_ok(cf_source_universe(v, k, &universe));
        assert_int_equal(universe, each > 0 ? k / cubes / each : -1);
      }
      cf_source_close(&v);
    }
  }
}

static void assert_refused(const char *format, int64_t per_file, int64_t side, int dtype,
                           weir_status expected, const char *message)
{
  const cf_convert_opts what = {
      .format = format, .per_file = per_file, .side = side, .dtype = dtype};
  cf_source *v = open_set(in);
  cf_converted done;

  weir_check_rmdir(out);
  assert_ok(weir_dir_create(out));
  assert_int_equal(cf_convert(v, &what, out, NULL, &done), expected);
  assert_non_null(strstr(weir_last_message(), message));
  assert_int_equal(weir_dir_has_entries(out), done.files > 0);
  cf_source_close(&v);
}

/* Two files whose samples are of unknown universes: neither one universe, nor numbered within each.
 */
static void unknown_universes_of_two_files_stay_unknown(void **state)
{
  const cf_volume_info info = {.lengths = {4, 4, 4, 1}, .dtype = WEIR_F32, .n_labels = 2};
  cf_split_opts o = {.valid = 1};
  int64_t universe[12];
  cf_split split;

  put_unknown(&info, 6);
  for (const cf_volume_format *const *f = cf_volume_format_table; *f; f++) {
    if ((*f)->create == NULL || (strcmp((*f)->name, "netcdf") == 0 && !weir_netcdf_available())) {
      continue;
    }
    assert_ok(convert_unknown(*f, 0, 0));
    const char *const twice[] = {out, out};
    const cf_volume_opts opts = cf_test_opts();
    const cf_source_opts source = {.input = {(const char **)twice, 2}};
    cf_source *v = NULL;

    assert_ok(cf_source_open(&(cf_source_spec){.source = &source, .files = &opts}, &v));
    assert_int_equal(cf_source_count(v), 12);
    for (int64_t k = 0; k < 12; k++) {
      assert_ok(cf_source_universe(v, k, &universe[k]));
      assert_int_equal(universe[k], -1);
    }
    cf_source_close(&v);
    o.samples_per_universe = 0;
    assert_int_equal(cf_split_create(&o, universe, 12, &split), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "the files do not say which universes"));
    o.samples_per_universe = 6;
    assert_ok(cf_split_create(&o, universe, 12, &split));
    for (int64_t k = 0; k < 12; k++) {
      assert_int_equal(split.universe[k], k / 6);
    }
    cf_split_fini(&split);
  }
}

static void what_cannot_be_is_refused_and_leaves_nothing(void **state)
{
  const cf_volume_info info = {.lengths = {4, 4, 4, 1}, .dtype = WEIR_F32, .n_labels = 1};

  put(&info, 2);
  assert_refused("tfrecord", 1, 3, 0, WEIR_ERR_CONFIG, "convert.side: 3 does not divide");
  assert_refused("zip", 1, 0, 0, WEIR_ERR_CONFIG,
                 "no format 'zip' of samples to write; there are cfbin, netcdf, npy");
  assert_refused("npy", 2, 0, 0, WEIR_ERR_CONFIG, "give convert.per_file=1, not 2");
  assert_refused("tfrecord", 2, 0, 1, WEIR_ERR_DATA, "sample 1: voxel 0 is ");
  weir_stop_request(15);
  assert_refused("tfrecord", 2, 0, 0, WEIR_ERR_STOPPED, "repeat the command");
  weir_stop_request(0);
}

static void a_census_counts(void **state)
{
  const int16_t voxels[] = {0, 0, 1, 3, 4, 7, -2, 300};
  char text[32];
  cf_voxel_stats c = {0};

  for (int i = 0; i < 8; i += 3) {
    cf_voxel_stats_add(&c, WEIR_I16, voxels + i, i + 3 < 8 ? 3 : 8 - i);
  }
  assert_int_equal(c.n, 8);
  assert_int_equal(c.negative, 1);
  assert_true(c.sum == 313 && c.min == -2 && c.max == 300 && c.whole == 8);
  assert_true(c.bin[0] == 2 && c.bin[1] == 1 && c.bin[2] == 2 && c.bin[3] == 2 && c.bin[9] == 1);
  cf_voxel_stats_bin(3, text, sizeof text);
  assert_string_equal(text, "4-7");
  assert_non_null(strstr(cf_voxel_stats_remark(&c, WEIR_I16), "counts below 0"));
  assert_null(strstr(cf_voxel_stats_remark(&c, WEIR_F32), "files.dtype"));
}

static const char *remark(weir_dtype dtype, const void *voxels, int64_t n)
{
  cf_voxel_stats c = {0};

  cf_voxel_stats_add(&c, dtype, voxels, n);
  return cf_voxel_stats_remark(&c, dtype);
}

static void strange_voxels_are_remarked(void **state)
{
  int16_t counts[1000];
  float floats[1000];

  for (int i = 0; i < 1000; i++) {
    counts[i] = (int16_t)(weir_random_bits(4, 1, 0, (uint64_t)i) % 40);
    floats[i] = (float)counts[i];
  }
  assert_string_equal(remark(WEIR_I16, counts, 1000), "");
  assert_non_null(strstr(remark(WEIR_F32, floats, 1000), "whole numbers stored as floats"));
  for (int i = 0; i < 1000; i++) {
    counts[i] = (int16_t)(counts[i] << 8);
    floats[i] = log1pf(floats[i]);
  }
  assert_non_null(strstr(remark(WEIR_I16, counts, 1000), "the bytes look exchanged"));
  assert_non_null(strstr(remark(WEIR_F32, floats, 1000), "a density or a logarithm"));
  memset(counts, 0, sizeof counts);
  assert_non_null(strstr(remark(WEIR_I16, counts, 1000), "all voxels are the same"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_lost_between_formats),
      cmocka_unit_test(universes_are_cut_in_order),
      cmocka_unit_test(universes_are_stated_and_not_invented),
      cmocka_unit_test(unknown_universes_of_two_files_stay_unknown),
      cmocka_unit_test(what_cannot_be_is_refused_and_leaves_nothing),
      cmocka_unit_test(a_census_counts),
      cmocka_unit_test(strange_voxels_are_remarked),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(in, sizeof in, "%s/in", dir);
  snprintf(out, sizeof out, "%s/out", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
