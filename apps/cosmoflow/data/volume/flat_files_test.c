/* flat_files_test.c - .cfbin byte by byte, and the files of NoPFS: what they hold, what is refused.
 */
#include "support/cosmoflow/volume_test.h"

enum { SIDE = 2, CHANNELS = 3, CELLS = SIDE * SIDE * SIDE, VOXELS = CELLS * CHANNELS };
static char dir[256], path[512];

static void put(uint8_t *at, uint64_t value, int n)
{
  for (int i = 0; i < n; i++) {
    at[i] = (uint8_t)(value >> 8 * i);
  }
}

static void put_float(uint8_t *at, float value)
{
  uint32_t bits;

  memcpy(&bits, &value, sizeof bits);
  put(at, bits, 4);
}

/* A file by the page of the format: 2 labels, 2 x 2 x 2 voxels of 3 channels, voxel i is i. Returns
 * its bytes. */
static int64_t make(uint8_t out[512])
{
  static const char text[] = "labels omega_m sigma_8 \nredshifts 0 0.5 1 \n";

  memset(out, 0, 512);
  memcpy(out,
         "\x89"
         "CFBIN\r\n",
         8);
  put(out + 8, 1, 4);
  put(out + 12, 1, 4);
  for (int d = 0; d < 4; d++) {
    put(out + 16 + 4 * d, d < 3 ? SIDE : CHANNELS, 4);
  }
  put(out + 32, 2, 4);
  put(out + 36, sizeof text - 1, 4);
  put(out + 40, 7, 8);
  put_float(out + 64, 0.25f);
  put_float(out + 68, -0.5f);
  memcpy(out + 72, text, sizeof text - 1);
  for (int i = 0; i < VOXELS; i++) {
    put(out + 128 + 2 * i, (uint64_t)i, 2);
  }
  return 128 + 2 * VOXELS;
}

static weir_status open_it(const uint8_t *bytes, int64_t n, const char *name, const char *axes,
                           cf_volumes **out)
{
  cf_volume_opts opts = cf_test_opts();
  const char *const paths[] = {path};

  opts.axes = axes;
  snprintf(path, sizeof path, "%s/%s", dir, name);
  weir_check_write(path, (const char *)bytes, (size_t)n);
  return cf_volumes_open(paths, 1, &opts, out);
}

static void a_file_is_read_by_its_definition(void **state)
{
  uint8_t bytes[512];
  int16_t voxels[VOXELS];
  int64_t universe = 0;
  float labels[2];
  cf_volumes *v = NULL;

  assert_ok(open_it(bytes, make(bytes), "a.cfbin", "", &v));
  assert_ok(cf_volumes_labels(v, 0, labels));
  assert_true(labels[0] == 0.25f && labels[1] == -0.5f);
  assert_string_equal(cf_volumes_info(v)->label[1], "sigma_8");
  assert_true(cf_volumes_info(v)->redshift[2] == 1);
  assert_ok(cf_volumes_universe(v, 0, &universe));
  assert_int_equal(universe, 7);
  assert_ok(cf_volumes_read(v, 0, 1, 2, WEIR_I16, voxels)); /* the second plane alone */
  for (int i = 0; i < VOXELS / 2; i++) {
    assert_int_equal(voxels[i], VOXELS / 2 + i);
  }
  cf_volumes_close(&v);
}

/* What is written is the same file. */
static void a_file_is_written_by_its_definition(void **state)
{
  const cf_volume_info info = {.lengths = {SIDE, SIDE, SIDE, CHANNELS},
                               .dtype = WEIR_I16,
                               .n_labels = 2,
                               .label = {"omega_m", "sigma_8"},
                               .n_redshifts = 3,
                               .redshift = {0, 0.5, 1}};
  const float labels[] = {0.25f, -0.5f};
  const cf_facts facts = {.has_physical = false};
  uint8_t bytes[512];
  char *has = NULL;
  int16_t voxels[VOXELS];
  int64_t size = 0;
  cf_volume_writer *w = NULL;

  for (int i = 0; i < VOXELS; i++) {
    voxels[i] = (int16_t)i;
  }
  snprintf(path, sizeof path, "%s/written", dir);
  assert_ok(cf_volume_create("cfbin", path, &info, 1, 0, &w));
  assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){labels, 7, NULL, &facts}));
  assert_ok(cf_volume_commit(&w));
  snprintf(path, sizeof path, "%s/written.cfbin", dir);
  assert_ok(weir_file_read(path, 512, &has, &size));
  assert_int_equal(size, make(bytes));
  assert_memory_equal(has, bytes, (size_t)size);
  weir_free(&has);
}

/* Every header is checked against the bytes that follow, before any of them is trusted. */
static void damaged_headers_are_refused(void **state)
{
  static const struct {
    int at;
    uint32_t value;
    const char *says;
  } cases[] = {
      {8, 2, "version 1"},
      {12, 0, "type 0"},
      {12, 3, "type 3"},
      {16, 0, "0 x 2 x 2 voxels"},
      {16, 3, "truncated, or damaged"},
      {20, UINT32_MAX, "4294967295"},
      {28, UINT32_MAX, "truncated, or damaged"},
      {32, 17, "17 labels (at most 16)"},
      {32, UINT32_MAX, "labels (at most 16)"},
      {36, 4096, "4096 bytes of text"},
      {36, 200, "truncated, or damaged"},
      {48, 1, "damaged"},
      {60, 1, "damaged"},
      {64, 0x7fc00000, "label 1"},
      {64, 0x40000000, "labels are from -1 to 1"},
      {76, 0x20202020, "its line labels"},
  };
  uint8_t bytes[512];
  float labels[2];

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const int64_t n = make(bytes);
    cf_volumes *v = NULL;

    put(bytes + cases[i].at, cases[i].value, 4);
    if (cases[i].at == 76) { /* a name more than there are labels */
      memcpy(bytes + 72, "labels a b c d e f", 18);
    }
    weir_status status = open_it(bytes, n, "bad.cfbin", "", &v);

    status = status == WEIR_OK ? cf_volumes_labels(v, 0, labels) : status;
    assert_int_equal(status, WEIR_ERR_DATA);
    if (!strstr(weir_last_message(), cases[i].says)) {
      print_message("%s\n", weir_last_message());
    }
    assert_non_null(strstr(weir_last_message(), cases[i].says));
    assert_non_null(strstr(weir_last_message(), "bad.cfbin"));
    cf_volumes_close(&v);
  }
  for (int64_t n = 0; n < make(bytes); n += 7) { /* truncated anywhere */
    cf_volumes *v = NULL;

    assert_int_equal(open_it(bytes, n, "bad.cfbin", "", &v), WEIR_ERR_DATA);
  }
  for (int d = 0; d < 4; d++) { /* and a byte before the voxels, with a length that is none */
    cf_volumes *v = NULL;

    make(bytes);
    put(bytes + 16 + 4 * d, 0, 4);
    assert_int_equal(open_it(bytes, 127, "bad.cfbin", "", &v), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "the file has 0 bytes for them"));
  }
}

/* 4 labels, then voxels: value 10 c + cell. */
static int64_t make_bin(uint8_t out[512], int channels, bool first)
{
  for (int k = 0; k < 4; k++) {
    put_float(out + 4 * k, 0.25f * (float)k);
  }
  for (int c = 0; c < channels; c++) {
    for (int i = 0; i < CELLS; i++) {
      put(out + 16 + 2 * (first ? c * CELLS + i : i * channels + c), (uint64_t)(10 * c + i), 2);
    }
  }
  return 16 + 2 * CELLS * channels;
}

static void either_order_of_axes_is_read(void **state)
{
  uint8_t bytes[512];
  int16_t voxels[VOXELS];
  float labels[4];

  for (int first = 0; first < 2; first++) {
    cf_volumes *v = NULL;
    const int64_t n = make_bin(bytes, CHANNELS, first == 1);

    assert_ok(open_it(bytes, n, "a.bin", first == 1 ? "czyx" : "zyxc", &v));
    assert_int_equal(cf_volumes_info(v)->lengths[3], CHANNELS);
    assert_ok(cf_volumes_labels(v, 0, labels));
    assert_true(labels[0] == 0 && labels[3] == 0.75f);
    for (int64_t d = 0; d < SIDE; d++) {
      assert_ok(cf_volumes_read(v, 0, d, d + 1, WEIR_I16, voxels));
      for (int i = 0; i < VOXELS / SIDE; i++) {
        assert_int_equal(voxels[i], 10 * (i % CHANNELS) + d * CELLS / SIDE + i / CHANNELS);
      }
    }
    cf_volumes_close(&v);
  }
}

static void axes_of_nopfs_have_to_be_stated(void **state)
{
  uint8_t bytes[512];
  cf_volumes *v = NULL;
  int64_t n = make_bin(bytes, CHANNELS, true);

  assert_int_equal(open_it(bytes, n, "a.bin", "", &v), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "files.axes states czyx or zyxc"));
  assert_int_equal(open_it(bytes, n, "a.bin", "zyx", &v), WEIR_ERR_CONFIG);
  assert_int_equal(open_it(bytes, n + 2, "a.bin", "czyx", &v), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no cube of up to 7 channels of i16"));
  assert_non_null(strstr(weir_last_message(), "if this is no sample"));
  assert_int_equal(open_it(bytes, 16, "a.bin", "czyx", &v), WEIR_ERR_DATA);
  assert_int_equal(open_it(bytes, 3, "a.bin", "czyx", &v), WEIR_ERR_DATA);
  n = make_bin(bytes, 1, true);
  assert_ok(open_it(bytes, n, "a.bin", "", &v)); /* one channel: either order is the same */
  cf_volumes_close(&v);
  assert_int_equal(cf_volume_format_check("nopfs"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "no format 'nopfs' of samples to write"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_is_read_by_its_definition),
      cmocka_unit_test(a_file_is_written_by_its_definition),
      cmocka_unit_test(damaged_headers_are_refused),
      cmocka_unit_test(either_order_of_axes_is_read),
      cmocka_unit_test(axes_of_nopfs_have_to_be_stated),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
