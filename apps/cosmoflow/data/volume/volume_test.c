/* volume_test.c - samples to every format and back, bit by bit; refusals. */
#include "support/cosmoflow/volume_test.h"

static char dir[256], stem[300], path[512];

/* Skips formats that this build cannot write. */
static bool can(const cf_volume_format *f)
{
  return f->create != NULL && (strcmp(f->name, "netcdf") != 0 || weir_netcdf_available());
}

static cf_volume_info sample_info(int64_t side, int64_t channels, weir_dtype dtype, int64_t labels)
{
  return (cf_volume_info){
      .lengths = {side, side, side, channels}, .dtype = dtype, .n_labels = labels};
}

/* All samples of a set, whole and in slabs, as stored and as floats. */
static void assert_samples(cf_volumes *v, const cf_volume_info *info, int64_t n, bool universe)
{
  const size_t size = weir_dtype_size(info->dtype), bytes = (size_t)cf_volume_elements(info) * size;
  const int64_t side = info->lengths[0], plane = cf_volume_plane(info);
  float labels[CF_MAX_LABELS], has[CF_MAX_LABELS], *const floats = malloc(bytes * 2);
  char *const expected = malloc(bytes), *const voxels = malloc(bytes);

  assert_int_equal(cf_volumes_count(v), n);
  assert_memory_equal(cf_volumes_info(v)->lengths, info->lengths, sizeof info->lengths);
  assert_int_equal(cf_volumes_info(v)->dtype, info->dtype);
  assert_int_equal(cf_volumes_info(v)->n_labels, info->n_labels);
  for (int64_t i = 0; i < 2 * n; i++) {
    const int64_t k = i < n ? n - 1 - i : (i * 7) % n, middle = (k + 1) % (side + 1);
    int64_t from = 0;

    cf_test_voxels(info, (uint64_t)k, expected);
    cf_test_labels(info, (uint64_t)k, labels);
    assert_ok(cf_volumes_read(v, k, 0, middle, info->dtype, voxels));
    assert_ok(
        cf_volumes_read(v, k, middle, side, info->dtype, voxels + (size_t)(middle * plane) * size));
    assert_memory_equal(voxels, expected, bytes);
    assert_ok(cf_volumes_read(v, k, 0, side, WEIR_F32, floats));
    for (int64_t e = 0; e < cf_volume_elements(info); e++) {
      assert_true(floats[e] == (float)weir_dtype_load_real(info->dtype, expected, e));
    }
    assert_ok(cf_volumes_labels(v, k, has));
    assert_memory_equal(has, labels, (size_t)info->n_labels * sizeof *has);
    assert_ok(cf_volumes_universe(v, k, &from));
    assert_int_equal(from, universe ? k : -1);
  }
  free(floats);
  free(expected);
  free(voxels);
}

static void samples_come_back(void **state)
{
  static const struct {
    int64_t side, channels, labels, n;
    weir_dtype dtype;
  } cases[] = {{1, 1, 4, 1, WEIR_I16}, {5, 4, 4, 3, WEIR_I16}, {8, 1, 2, 2, WEIR_F32},
               {3, 7, 1, 4, WEIR_F32}, {6, 2, 0, 1, WEIR_I16}, {2, 3, 16, 5, WEIR_I16}};

  for (const cf_volume_format *const *f = cf_volume_format_table; *f; f++) {
    for (size_t i = 0; can(*f) && i < sizeof cases / sizeof cases[0]; i++) {
      const bool one = (*f)->single;
      const cf_volume_info info =
          sample_info(cases[i].side, cases[i].channels, cases[i].dtype, cases[i].labels);
      const cf_volume_opts opts = cf_test_opts();
      const char *const paths[] = {path};
      const int level = weir_tfrecord_gzip_available() ? (int)i % 2 : 0;
      cf_volumes *v = NULL;

      cf_test_write((*f)->name, stem, &info, 0, one ? 1 : cases[i].n, level);
      snprintf(path, sizeof path, "%s%s", stem, (*f)->suffix);
      assert_ok(cf_volumes_open(paths, 1, &opts, &v));
      assert_samples(v, &info, one ? 1 : cases[i].n, (*f)->universe != NULL);
      cf_volumes_close(&v);
      (void)remove(path);
    }
  }
}

/* As prepare and convert leave it. */
static void a_folder_that_lacks_a_listed_file_is_refused(void **state)
{
  static const char whole[] =
      "# made of\n"
      "0000000000000000000000000000000000000000000000000000000000000000  f0.tfrecord\n";
  static const char lacking[] =
      "0000000000000000000000000000000000000000000000000000000000000000  f0.tfrecord\n"
      "0000000000000000000000000000000000000000000000000000000000000000  f2.tfrecord\n";
  const cf_volume_info info = sample_info(3, 2, WEIR_I16, 4);
  const cf_volume_opts opts = cf_test_opts();
  char folder[400], one[440];
  const char *const paths[] = {folder};
  cf_volumes *v = NULL;

  snprintf(folder, sizeof folder, "%s/listed", dir);
  assert_ok(weir_dir_create(folder));
  snprintf(one, sizeof one, "%s/f0", folder);
  cf_test_write("tfrecord", one, &info, 0, 2, 0);
  snprintf(one, sizeof one, "%s/files.sha256", folder);
  weir_check_write(one, whole, sizeof whole - 1);
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  cf_volumes_close(&v);
  weir_check_write(one, lacking, sizeof lacking - 1);
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "f2.tfrecord: is not there, and files.sha256 lists"));
}

/* More files than stay open, in descending order and then in jumps. */
static void files_are_closed_and_opened_again(void **state)
{
  const cf_volume_info info = sample_info(2, 1, WEIR_I16, 4);
  const cf_volume_opts opts = cf_test_opts();
  char folder[300], one[400];
  const char *const paths[] = {folder};
  cf_volumes *v = NULL;

  snprintf(folder, sizeof folder, "%s/many", dir);
  assert_ok(weir_dir_create(folder));
  for (int64_t k = 0; k < 40; k++) {
    snprintf(one, sizeof one, "%s/f%02lld", folder, (long long)k);
    cf_test_write("tfrecord", one, &info, k, 1, 0);
  }
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  assert_int_equal(cf_volumes_files(v), 40);
  assert_samples(v, &info, 40, true);
  cf_volumes_close(&v);
}

static void folders_and_lists_are_sets(void **state)
{
  const cf_volume_info info = sample_info(3, 2, WEIR_I16, 4);
  cf_volume_opts opts = cf_test_opts();
  char one[400], list[400];
  const char *const paths[] = {list, one};
  cf_volumes *v = NULL;

  snprintf(list, sizeof list, "%s/set", dir);
  assert_ok(weir_dir_create(list));
  for (int64_t k = 0; k < 6; k += 2) {
    snprintf(one, sizeof one, "%s/set/f%lld", dir, (long long)k);
    cf_test_write("tfrecord", one, &info, k, 2, 0);
  }
  snprintf(one, sizeof one, "%s/set/readme.txt", dir);
  weir_check_write(one, "no sample", 9);
  for (opts.per_file = 0; opts.per_file <= 2; opts.per_file += 2) {
    assert_ok(cf_volumes_open(paths, 1, &opts, &v));
    assert_int_equal(cf_volumes_files(v), 3);
    assert_samples(v, &info, 6, true);
    cf_volumes_close(&v);
  }
  for (opts.per_file = 1; opts.per_file <= 3; opts.per_file += 2) { /* neither less nor more */
    char message[64];

    snprintf(message, sizeof message, "has 2 records, and files.per_file says %lld",
             (long long)opts.per_file);
    assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), message));
  }
  opts.per_file = 0;
  snprintf(list, sizeof list, "%s/files.lst", dir);
  weir_check_write(list, "set/f0.tfrecord\nset/f2.tfrecord\r\n", 33);
  snprintf(one, sizeof one, "%s/set/f4.tfrecord", dir);
  assert_ok(cf_volumes_open(paths, 2, &opts, &v));
  assert_samples(v, &info, 6, true);
  cf_volumes_close(&v);
}

/* Of files that say nothing of it, and with more than one record each. */
static void what_options_state_holds_for_every_record(void **state)
{
  const cf_volume_info info = sample_info(3, 2, WEIR_I16, 2);
  const char *names[] = {"omega_m", "sigma_8"};
  double range[] = {0.1, 0.5, 0.5, 1.1}, redshift[] = {0, 0.5};
  cf_volume_opts opts = cf_test_opts();
  char one[400], file[440];
  const char *const paths[] = {file};
  float labels[CF_MAX_LABELS];
  cf_volumes *v = NULL;

  opts.names = (weir_string_list){names, 2};
  opts.range = (weir_real_list){range, 4};
  opts.redshifts = (weir_real_list){redshift, 2};
  snprintf(one, sizeof one, "%s/stated_once", dir);
  snprintf(file, sizeof file, "%s.tfrecord", one);
  cf_test_write("tfrecord", one, &info, 0, 3, 0);
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  for (int64_t k = 0; k < 3; k++) {
    assert_ok(cf_volumes_labels(v, k, labels));
  }
  assert_string_equal(cf_volumes_info(v)->label[1], "sigma_8");
  assert_true(cf_volumes_info(v)->hi[1] == 1.1 && cf_volumes_info(v)->redshift[1] == 0.5);
  cf_volumes_close(&v);
}

/* Files that are not counted are refused by the number that is stated when they are read. */
static void another_number_of_records_is_refused(void **state)
{
  const cf_volume_info info = {.lengths = {3, 3, 3, 2}, .dtype = WEIR_I16, .n_labels = 4};
  cf_volume_opts opts = cf_test_opts();
  char folder[400], one[440];
  const char *const paths[] = {folder};
  int16_t voxels[54];
  float labels[4];

  for (opts.per_file = 1; opts.per_file <= 2; opts.per_file++) {
    cf_volumes *v = NULL;
    const int64_t n = opts.per_file;

    snprintf(folder, sizeof folder, "%s/stated%lld", dir, (long long)n);
    assert_ok(weir_dir_create(folder));
    for (int64_t k = 0; k < 3; k++) {
      snprintf(one, sizeof one, "%s/f%lld", folder, (long long)k);
      cf_test_write("tfrecord", one, &info, 4 * k, k == 1 ? n + 2 : n, 0);
    }
    assert_ok(cf_volumes_open(paths, 1, &opts, &v));
    assert_int_equal(cf_volumes_count(v), 3 * n);
    assert_ok(cf_volumes_read(v, 2 * n, 0, 3, WEIR_I16, voxels));
    assert_int_equal(cf_volumes_read(v, 2 * n - 1, 0, 3, WEIR_I16, voxels), WEIR_ERR_DATA);
    snprintf(one, sizeof one, "f1.tfrecord: has %lld records, and files.per_file says %lld",
             (long long)n + 2, (long long)n);
    assert_non_null(strstr(weir_last_message(), one));
    assert_int_equal(cf_volumes_labels(v, 2 * n - 1, labels), WEIR_ERR_DATA);
    cf_volumes_close(&v);
  }
}

/* Opens `path`, reads all of it; the message has to say all texts. */
static void assert_refused(const char *const *message, int n)
{
  const cf_volume_opts opts = cf_test_opts();
  const char *const paths[] = {path};
  cf_volumes *v = NULL;
  float labels[CF_MAX_LABELS], voxels[4096];
  weir_status status = cf_volumes_open(paths, 1, &opts, &v);

  for (int64_t k = 0; status == WEIR_OK && k < cf_volumes_count(v); k++) {
    assert_true(cf_volume_elements(cf_volumes_info(v)) <= 4096);
    status = cf_volumes_labels(v, k, labels);
    status = status == WEIR_OK
                 ? cf_volumes_read(v, k, 0, cf_volumes_info(v)->lengths[0], WEIR_F32, voxels)
                 : status;
  }
  cf_volumes_close(&v);
  assert_int_equal(status, WEIR_ERR_DATA);
  for (int i = 0; i < n; i++) {
    if (!strstr(weir_last_message(), message[i])) {
      printf("'%s' does not say: %s\n", weir_last_message(), message[i]);
    }
    assert_non_null(strstr(weir_last_message(), message[i]));
  }
}
#define REFUSED(...)                                       \
  assert_refused((const char *const[]){path, __VA_ARGS__}, \
                 (int)(sizeof((const char *[]){path, __VA_ARGS__}) / sizeof(char *)))

/* Two records: a good one, and one of n bytes under `x` and m floats under `y`. */
static void two_records(const char *x, int64_t n, int64_t m, float last)
{
  weir_tfrecord_writer *w = NULL;
  const int16_t voxels[32] = {1, 2, 3};
  float y[8] = {0.5f, -1, 1, 0};
  const weir_tf_out good[] = {{"x", WEIR_TF_BYTES, voxels, 64}, {"y", WEIR_TF_FLOATS, y, 4}};

  snprintf(path, sizeof path, "%s.tfrecord", stem);
  assert_ok(weir_tfrecord_create(path, 0, &w));
  assert_ok(weir_tfrecord_write(w, good, 2));
  y[3] = last;
  const weir_tf_out bad[] = {{x, WEIR_TF_BYTES, voxels, n}, {"y", WEIR_TF_FLOATS, y, m}};

  assert_ok(weir_tfrecord_write(w, bad, 2));
  assert_ok(weir_tfrecord_commit(&w));
}

static void bad_records_are_named(void **state)
{
  two_records("x", 63, 4, 0);
  REFUSED("record 2 (byte ", "key 'x': 63 bytes are no cube of 7 or fewer channels of i16");
  two_records("x", 16, 4, 0);
  REFUSED("record 2 (byte ", "is 2^3 voxels of 1 channels of i16 with 4 labels, the first record");
  two_records("z", 64, 4, 0);
  REFUSED("record 2 (byte ", "key 'x': is not there; files.volume names another");
  two_records("x", 64, 3, 0);
  REFUSED("record 2 (byte ", "with 3 labels");
  two_records("x", 64, 4, NAN);
  REFUSED("sample 2: label 4 is nan, which is no finite number");
  two_records("x", 64, 4, INFINITY);
  REFUSED("sample 2: label 4 is inf, which is no finite number");
}

/* Where there is none it is unknown; a number of another kind is not taken for none. */
static void universes_of_records_are_whole_numbers(void **state)
{
  const int16_t voxels[32] = {1, 2, 3};
  const float y[4] = {0.5f, -1, 1, 0}, number = 5;
  const int64_t two[2] = {5, 6};
  const weir_tf_out universe[] = {{"universe", WEIR_TF_INTS, two, 1},
                                  {"other", WEIR_TF_INTS, two, 1},
                                  {"universe", WEIR_TF_INTS, two, 2},
                                  {"universe", WEIR_TF_FLOATS, &number, 1}};
  const cf_volume_opts opts = cf_test_opts();
  const char *const paths[] = {path};

  snprintf(path, sizeof path, "%s.tfrecord", stem);
  for (int i = 0; i < 4; i++) {
    const weir_tf_out record[] = {
        {"x", WEIR_TF_BYTES, voxels, 64}, {"y", WEIR_TF_FLOATS, y, 4}, universe[i]};
    weir_tfrecord_writer *w = NULL;
    cf_volumes *v = NULL;
    int64_t is = 0;

    assert_ok(weir_tfrecord_create(path, 0, &w));
    assert_ok(weir_tfrecord_write(w, record, 3));
    assert_ok(weir_tfrecord_commit(&w));
    assert_ok(cf_volumes_open(paths, 1, &opts, &v));
    if (i < 2) {
      assert_ok(cf_volumes_universe(v, 0, &is));
      assert_int_equal(is, i == 0 ? 5 : -1);
    } else {
      assert_int_equal(cf_volumes_universe(v, 0, &is), WEIR_ERR_DATA);
      assert_non_null(strstr(weir_last_message(), "key 'universe': is no whole number"));
    }
    cf_volumes_close(&v);
  }
}

static void records_of_the_older_sets_are_read(void **state)
{
  weir_tfrecord_writer *w = NULL;
  double data[64], label[3] = {0.3, 0.8, 0.95};
  const weir_tf_out old[] = {{"label_raw", WEIR_TF_BYTES, label, 24},
                             {"data_raw", WEIR_TF_BYTES, data, 512}};
  cf_volume_opts opts = cf_test_opts();
  const char *const paths[] = {path};
  int16_t counts[64];
  float y[CF_MAX_LABELS];
  cf_volumes *v = NULL;

  for (int i = 0; i < 64; i++) {
    data[i] = (double)(weir_random_bits(3, 1, 0, (uint64_t)i) % 50);
  }
  snprintf(path, sizeof path, "%s.tfrecord", stem);
  assert_ok(weir_tfrecord_create(path, 0, &w));
  assert_ok(weir_tfrecord_write(w, old, 2));
  data[63] = 0.5;
  assert_ok(weir_tfrecord_write(w, old, 2));
  assert_ok(weir_tfrecord_commit(&w));
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  assert_int_equal(cf_volumes_info(v)->dtype, WEIR_F64);
  assert_int_equal(cf_volumes_info(v)->lengths[0], 4);
  assert_int_equal(cf_volumes_info(v)->lengths[3], 1);
  assert_ok(cf_volumes_read(v, 0, 0, 4, WEIR_I16, counts));
  for (int i = 0; i < 63; i++) {
    assert_true(counts[i] == data[i]);
  }
  assert_ok(cf_volumes_labels(v, 0, y));
  assert_true(y[0] == 0.3f && y[1] == 0.8f && y[2] == 0.95f);
  assert_int_equal(cf_volumes_read(v, 1, 0, 4, WEIR_I16, counts), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "sample 2: voxel 63 is 0.5, which is no count"));
  cf_volumes_close(&v);
}

static void pairs_and_formats_that_do_not_fit_are_refused(void **state)
{
  const int16_t voxels[16] = {0};
  const float y[4] = {0, 1, NAN, 0}, fine[4] = {0};
  const weir_npy_shape cube = {WEIR_I16, 4, {2, 2, 2, 1}}, flat = {WEIR_I16, 2, {2, 2}},
                       four = {WEIR_F32, 1, {4}}, two = {WEIR_F32, 2, {2, 2}};
  char label[400], universe[400];

  snprintf(path, sizeof path, "%s_data.npy", stem);
  snprintf(label, sizeof label, "%s_label.npy", stem);
  assert_ok(weir_npy_write(label, &four, y));
  assert_ok(weir_npy_write(path, &cube, voxels));
  REFUSED("label 3 is nan");
  assert_ok(weir_npy_write(label, &two, y));
  REFUSED("is no array of at most 16 labels, floats, for each of the 1 samples");
  assert_ok(weir_npy_write(path, &flat, voxels));
  REFUSED("an array of 2 dimensions of i16 is no sample");
  assert_ok(weir_npy_write(label, &four, fine));
  assert_ok(weir_npy_write(path, &cube, voxels));
  snprintf(universe, sizeof universe, "%s_universe.npy", stem);
  assert_ok(weir_npy_write(universe, &(weir_npy_shape){WEIR_I16, 1, {2}}, voxels));
  REFUSED("a_universe.npy: is no array of an integer for each of the 1 samples");
  (void)remove(universe);
  cf_volume_opts named = cf_test_opts();
  cf_volumes *v = NULL;

  named.segmentation = "mask";
  assert_int_equal(cf_volumes_open((const char *const[]){path}, 1, &named, &v), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "files.segmentation is for NetCDF and HDF5"));
  const weir_npy_shape none = {WEIR_I16, 4, {0, 2, 2, 1}},
                       huge = {WEIR_I16, 4, {0, INT64_C(1) << 32, INT64_C(1) << 32, 1}};

  assert_ok(weir_npy_write(label, &four, fine));
  assert_ok(weir_npy_write(path, &none, voxels));
  REFUSED("a length of 0 of dimension 0 is no sample");
  assert_ok(weir_npy_write(path, &huge, voxels));
  REFUSED("is no sample");
  snprintf(path, sizeof path, "%s.dat", stem);
  REFUSED("no such file");
  weir_check_write(path, "abc", 3);
  REFUSED("is of no format that is read; formats and their names: ", "npy (_data.npy)",
          "tfrecord (");
}

/* Channels in front of a cube are no depth: the order has to be stated, and is read then. */
static void channels_first_of_numpy_are_stated(void **state)
{
  enum { C = 2, N = 3, CELLS = N * N * N };
  const weir_npy_shape one = {WEIR_I16, 4, {C, N, N, N}}, two = {WEIR_I16, 5, {2, C, N, N, N}};
  int16_t voxels[2 * C * CELLS], out[C * CELLS];
  const char *const paths[] = {path};
  cf_volume_opts opts = cf_test_opts();
  cf_volumes *v = NULL;

  for (int i = 0; i < 2 * C * CELLS; i++) {
    voxels[i] = (int16_t)i;
  }
  snprintf(path, sizeof path, "%s/first_data.npy", dir);
  assert_ok(weir_npy_write(path, &two, voxels));
  REFUSED("first_data.npy",
          "an array of 2 x 3 x 3 x 3 for each sample looks as if its channels "
          "came first",
          "files.axes states nczyx or nzyxc");
  opts.axes = "nczyx";
  assert_ok(cf_volumes_open(paths, 1, &opts, &v));
  assert_int_equal(cf_volumes_count(v), 2);
  assert_int_equal(cf_volumes_info(v)->lengths[3], C);
  assert_ok(cf_volumes_read(v, 1, 1, 3, WEIR_I16, out));
  for (int i = 0; i < 2 * N * N * C; i++) {
    assert_int_equal(out[i], C * CELLS + i % C * CELLS + N * N + i / C);
  }
  cf_volumes_close(&v);
  assert_ok(weir_npy_write(path, &one, voxels));
  REFUSED("files.axes states czyx, zyxc or, of samples, nzyx");
  static const char *const letters[] = {"czyx", "nzyx", "zyxc"};
  static const int64_t count[] = {1, 2, 1}, depth[] = {N, N, C}, channels[] = {C, 1, N};

  for (int k = 0; k < 3; k++) {
    opts.axes = letters[k];
    assert_ok(cf_volumes_open(paths, 1, &opts, &v));
    assert_int_equal(cf_volumes_count(v), count[k]);
    assert_int_equal(cf_volumes_info(v)->lengths[0], depth[k]);
    assert_int_equal(cf_volumes_info(v)->lengths[3], channels[k]);
    assert_ok(cf_volumes_read(v, 0, 0, 1, WEIR_I16, out));
    assert_int_equal(out[1], k == 0 ? CELLS : 1);
    cf_volumes_close(&v);
  }
  opts.axes = "zyxn";
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "samples of NumPy arrays are the first dimension"));
  opts.axes = "nczyx";
  assert_int_equal(cf_volumes_open(paths, 1, &opts, &v), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "is not a letter for each of the 4 dimensions"));
  (void)remove(path);
}

static weir_status there_and_back(void *context)
{
  const cf_volume_opts opts = cf_test_opts();
  const char *const paths[] = {context};
  int16_t voxels[32];
  cf_volumes *v = NULL;

  WEIR_TRY(cf_volumes_open(paths, 1, &opts, &v));
  const weir_status status = cf_volumes_read(v, 0, 0, 2, WEIR_I16, voxels);

  cf_volumes_close(&v);
  return status;
}

static void memory_may_run_out_anywhere(void **state)
{
  const cf_volume_info info = sample_info(2, 4, WEIR_F32, 4);

  for (const cf_volume_format *const *f = cf_volume_format_table; *f; f++) {
    if (can(*f) && strcmp((*f)->name, "netcdf") != 0) { /* the library has memory of its own */
      cf_volume_info whole = info;

      whole.dtype = WEIR_I16;
      cf_test_write((*f)->name, stem, &whole, 0, 1, 0);
      snprintf(path, sizeof path, "%s%s", stem, (*f)->suffix);
      assert_true(weir_check_faults(there_and_back, path) > 3);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(another_number_of_records_is_refused),
      cmocka_unit_test(samples_come_back),
      cmocka_unit_test(files_are_closed_and_opened_again),
      cmocka_unit_test(folders_and_lists_are_sets),
      cmocka_unit_test(a_folder_that_lacks_a_listed_file_is_refused),
      cmocka_unit_test(what_options_state_holds_for_every_record),
      cmocka_unit_test(bad_records_are_named),
      cmocka_unit_test(universes_of_records_are_whole_numbers),
      cmocka_unit_test(records_of_the_older_sets_are_read),
      cmocka_unit_test(pairs_and_formats_that_do_not_fit_are_refused),
      cmocka_unit_test(channels_first_of_numpy_are_stated),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(stem, sizeof stem, "%s/a", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
