/* netcdf_test.c - every dtype and attribute back as written; nothing left of an abandoned file;
 * several files at once. */
#include "device/weir_parallel.h"
#include "support/comm/right_check.h"
#include "support/io/io_test.h"
#include "io/weir_netcdf.h"

static char dir[256];
static char path[512];

static void without_the_library_all_is_refused(void **state)
{
  weir_netcdf *nc = NULL;

  (void)state;
  assert_int_equal(weir_netcdf_create(path, &nc), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "no NetCDF"));
  assert_int_equal(weir_netcdf_open(path, &nc), WEIR_ERR_UNSUPPORTED);
  assert_null(nc);
  weir_netcdf_close(&nc);
}

/* Dtypes before this one have a type in files. */
enum { FILED = WEIR_BF16 };

/* Random boxes of every such dtype into [5, unlimited], whole and back in boxes. */
static void arrays_come_back(void **state)
{
  enum { ROWS = 5, COLUMNS = 301 };
  static uint8_t written[WEIR_DTYPE_COUNT][ROWS * COLUMNS * 8];
  static uint8_t read[ROWS * COLUMNS * 8];
  weir_netcdf *nc = NULL;
  int dims[2];
  int vars[WEIR_DTYPE_COUNT];

  (void)state;
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "channel", ROWS, &dims[0]));
  assert_ok(weir_netcdf_dim(nc, "time", WEIR_NETCDF_UNLIMITED, &dims[1]));
  for (int d = 0; d < FILED; d++) {
    const weir_dtype dtype = (weir_dtype)d;

    assert_ok(weir_netcdf_var(nc, weir_dtype_name(dtype), dtype, 2, dims, &vars[d]));
    if (d % 2) {
      assert_ok(weir_netcdf_chunk(nc, vars[d], (int64_t[]){2, 64}, d % 3 ? 4 : 0));
    }
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
      weir_dtype_store_int(dtype, written[d], i, random_in(3, (uint64_t)(d * 5000 + i), 0, 99));
    }
    for (int64_t at = 0; at < ROWS; at++) {
      assert_ok(weir_netcdf_write(nc, vars[d], (int64_t[]){at, 0}, (int64_t[]){1, COLUMNS},
                                  written[d] + (size_t)(at * COLUMNS) * weir_dtype_size(dtype)));
    }
  }
  assert_int_equal(weir_netcdf_var(nc, "half", WEIR_BF16, 2, dims, &vars[FILED]),
                   WEIR_ERR_UNSUPPORTED);
  assert_int_equal(weir_netcdf_var(nc, "wave", WEIR_C128, 2, dims, &vars[FILED]),
                   WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(),
                         "'wave': NetCDF does not store c128: write real and imaginary parts"));
  assert_ok(weir_netcdf_commit(&nc));
  assert_null(nc);
  assert_ok(weir_netcdf_open(path, &nc));
  for (int d = 0; d < FILED; d++) {
    const weir_dtype dtype = (weir_dtype)d;
    weir_netcdf_shape shape;
    int var = -1;

    assert_ok(weir_netcdf_find(nc, weir_dtype_name(dtype), &var, &shape));
    assert_int_equal(shape.dtype, dtype == WEIR_BOOL ? WEIR_U8 : dtype);
    assert_int_equal(shape.n_dims, 2);
    assert_int_equal(shape.lengths[0], ROWS);
    assert_int_equal(shape.lengths[1], COLUMNS);
    assert_ok(weir_netcdf_read(nc, var, (int64_t[]){0, 0}, (int64_t[]){ROWS, COLUMNS}, read));
    assert_memory_equal(read, written[d], ROWS * COLUMNS * weir_dtype_size(dtype));
  }
  weir_netcdf_close(&nc);
}

static void attributes_and_texts_come_back(void **state)
{
  static const char *const words[] = {"(N", "", "L\xC3\xA4rm"};
  const float fill = -1.5f;
  const int64_t masks[] = {1, 2, INT64_C(1) << 40};
  weir_netcdf *nc = NULL;
  weir_netcdf_shape shape;
  int dim = -1;
  int var = -1;
  int texts = -1;
  double numbers[3];
  char *text = NULL;

  (void)state;
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "event", 3, &dim));
  assert_ok(weir_netcdf_var(nc, "rr", WEIR_F32, 1, &dim, &var));
  assert_ok(weir_netcdf_text_var(nc, "note", 1, &dim, &texts));
  assert_ok(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "featureType", "timeSeries"));
  assert_ok(weir_netcdf_put_text(nc, var, "units", "s"));
  assert_ok(weir_netcdf_put_numbers(nc, var, "_FillValue", WEIR_F32, &fill, 1));
  assert_ok(weir_netcdf_put_numbers(nc, var, "flag_masks", WEIR_I64, masks, 3));
  assert_ok(weir_netcdf_write(nc, var, (int64_t[]){1}, (int64_t[]){1}, &(float){0.8f}));
  assert_ok(weir_netcdf_write_texts(nc, texts, (int64_t[]){0}, (int64_t[]){3}, words));
  assert_int_equal(weir_netcdf_write(nc, var, (int64_t[]){2}, (int64_t[]){2}, numbers),
                   WEIR_ERR_EXTERNAL);
  assert_int_equal(weir_netcdf_write(nc, var, (int64_t[]){-1}, (int64_t[]){2}, numbers),
                   WEIR_ERR_SHAPE);
  assert_ok(weir_netcdf_commit(&nc));

  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "featureType", &text));
  assert_string_equal(text, "timeSeries");
  weir_free(&text);
  assert_ok(weir_netcdf_find(nc, "rr", &var, &shape));
  assert_ok(weir_netcdf_get_numbers(nc, var, "flag_masks", numbers, 3));
  assert_near(numbers[2], 0x1p40, 0);
  assert_int_equal(weir_netcdf_get_numbers(nc, var, "flag_masks", numbers, 2), WEIR_ERR_DATA);
  float values[3];

  assert_ok(weir_netcdf_read(nc, var, (int64_t[]){0}, (int64_t[]){3}, values));
  assert_true(values[0] == -1.5f && values[1] == 0.8f && values[2] == -1.5f);
  assert_ok(weir_netcdf_find(nc, "note", &var, &shape));
  assert_true(shape.text);
  for (int64_t i = 0; i < 3; i++) {
    assert_ok(weir_netcdf_read_text(nc, var, &i, &text));
    assert_string_equal(text, words[i]);
    weir_free(&text);
  }
  assert_int_equal(weir_netcdf_find(nc, "nothing", &var, &shape), WEIR_ERR_DATA);
  assert_int_equal(weir_netcdf_get_text(nc, var, "nothing", &text), WEIR_ERR_DATA);
  weir_netcdf_close(&nc);
}

/* A file that is not known is walked by numbers. */
static void what_is_in_a_file_is_listed(void **state)
{
  const double range[] = {-1, 2};
  weir_netcdf *nc = NULL;
  weir_netcdf_shape shape;
  int dims[2], seen[WEIR_NETCDF_MAX_DIMS], var = -1, n = 0;
  int64_t count = 0;
  char name[16];
  bool supported = false, text = false;

  (void)state;
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "lat", 3, &dims[0]));
  assert_ok(weir_netcdf_dim(nc, "a_name_that_is_long", 4, &dims[1]));
  assert_ok(weir_netcdf_var(nc, "t", WEIR_I16, 2, dims, &var));
  assert_ok(weir_netcdf_put_text(nc, var, "units", "K"));
  assert_ok(weir_netcdf_put_numbers(nc, var, "valid_range", WEIR_F64, range, 2));
  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_look(nc, 0, &shape, seen, &supported));
  assert_true(supported && !shape.text && !shape.chars && shape.dtype == WEIR_I16 &&
              shape.n_dims == 2);
  assert_true(shape.lengths[0] == 3 && shape.lengths[1] == 4);
  assert_ok(weir_netcdf_dim_name(nc, seen[0], name, sizeof name));
  assert_string_equal(name, "lat");
  assert_int_equal(weir_netcdf_dim_name(nc, seen[1], name, sizeof name), WEIR_ERR_DATA);
  assert_ok(weir_netcdf_count_attributes(nc, 0, &n));
  assert_int_equal(n, 2);
  assert_ok(weir_netcdf_attribute(nc, 0, 0, name, sizeof name, &count, &text));
  assert_true(text && count == 1 && strcmp(name, "units") == 0);
  assert_ok(weir_netcdf_attribute(nc, 0, 1, name, sizeof name, &count, &text));
  assert_true(!text && count == 2 && strcmp(name, "valid_range") == 0);
  assert_int_equal(weir_netcdf_count_numbers(nc, 0, "valid_range"), 2);
  assert_true(weir_netcdf_is_real(nc, 0, "valid_range"));
  assert_int_equal(weir_netcdf_count_numbers(nc, 0, "units"), 0);
  assert_false(weir_netcdf_is_real(nc, 0, "units"));
  assert_ok(weir_netcdf_count_attributes(nc, WEIR_NETCDF_FILE, &n));
  assert_int_equal(n, 0);
  assert_int_equal(weir_netcdf_look(nc, 1, &shape, seen, &supported), WEIR_ERR_EXTERNAL);
  weir_netcdf_close(&nc);
}

static void an_abandoned_file_leaves_nothing(void **state)
{
  weir_netcdf *nc = NULL;
  int dim = -1;

  (void)state;
  assert_int_equal(remove(path), 0);
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "time", 10, &dim));
  assert_int_equal(weir_netcdf_dim(nc, "time", 10, &dim), WEIR_ERR_EXTERNAL);
  assert_non_null(strstr(weir_last_message(), "time"));
  weir_netcdf_close(&nc);
  assert_false(weir_dir_has_entries(dir));
  assert_int_equal(weir_netcdf_create("/nowhere/at/all.nc", &nc), WEIR_ERR_DATA);
  assert_int_equal(weir_netcdf_open(path, &nc), WEIR_ERR_DATA);
  write_text(path, "not a NetCDF file");
  assert_int_equal(weir_netcdf_open(path, &nc), WEIR_ERR_DATA);
  assert_null(nc);
}

enum { FILES = 8, BLOCKS = 40, BLOCK = 500 };

static weir_status write_own(const char *own, int64_t item)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;
  int64_t values[BLOCK];
  int dim = 0, var = 0;

  WEIR_TRY(weir_netcdf_create(own, &nc));
  WEIR_TRY_GOTO(weir_netcdf_dim(nc, "time", BLOCKS * BLOCK, &dim), done);
  WEIR_TRY_GOTO(weir_netcdf_var(nc, "x", WEIR_I64, 1, &dim, &var), done);
  WEIR_TRY_GOTO(weir_netcdf_chunk(nc, var, (int64_t[]){BLOCK}, 1), done);
  for (int64_t b = 0; b < BLOCKS; b++) {
    for (int64_t i = 0; i < BLOCK; i++) {
      values[i] = item + b * i;
    }
    WEIR_TRY_GOTO(weir_netcdf_write(nc, var, (int64_t[]){b * BLOCK}, (int64_t[]){BLOCK}, values),
                  done);
  }
  status = weir_netcdf_commit(&nc);
done:
  weir_netcdf_close(&nc);
  return status;
}

/* How many values are as written. */
static weir_status read_own(const char *own, int64_t item, int64_t *good)
{
  weir_netcdf *nc = NULL;
  weir_netcdf_shape shape;
  weir_status status = WEIR_OK;
  int64_t values[BLOCK];
  int var = 0;

  WEIR_TRY(weir_netcdf_open(own, &nc));
  WEIR_TRY_GOTO(weir_netcdf_find(nc, "x", &var, &shape), done);
  for (int64_t b = 0; b < BLOCKS; b++) {
    WEIR_TRY_GOTO(weir_netcdf_read(nc, var, (int64_t[]){b * BLOCK}, (int64_t[]){BLOCK}, values),
                  done);
    for (int64_t i = 0; i < BLOCK; i++) {
      *good += values[i] == item + b * i;
    }
  }
done:
  weir_netcdf_close(&nc);
  return status;
}

static void use_own_file(void *context, int64_t item, int thread)
{
  int64_t *good = context;
  char own[512];

  (void)thread;
  snprintf(own, sizeof own, "%s/%d.nc", dir, (int)item);
  if (write_own(own, item) != WEIR_OK || read_own(own, item, &good[item]) != WEIR_OK) {
    good[item] = -1;
  }
}

static void files_are_used_by_several_threads(void **state)
{
  int64_t good[FILES] = {0};

  (void)state;
  weir_parallel(FILES, 4, use_own_file, good);
  for (int i = 0; i < FILES; i++) {
    assert_int_equal(good[i], BLOCKS * BLOCK);
  }
}

static weir_status write_nothing(void *context)
{
  weir_netcdf *nc = NULL;

  (void)context;
  WEIR_TRY(weir_netcdf_create(path, &nc));
  weir_netcdf_close(&nc);
  return WEIR_OK;
}

/* The library may be built for parallel files. */
static void calls_wait_for_the_right_to_call_mpi(void **state)
{
  bool waits = false;

  (void)state;
  assert_ok(right_check_call(write_nothing, NULL, &waits));
  assert_true(waits);
}

int main(void)
{
  const struct CMUnitTest with[] = {
      cmocka_unit_test(arrays_come_back),
      cmocka_unit_test(attributes_and_texts_come_back),
      cmocka_unit_test(what_is_in_a_file_is_listed),
      cmocka_unit_test(an_abandoned_file_leaves_nothing),
      cmocka_unit_test(files_are_used_by_several_threads),
      cmocka_unit_test(calls_wait_for_the_right_to_call_mpi),
  };
  const struct CMUnitTest without[] = {
      cmocka_unit_test(without_the_library_all_is_refused),
  };

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  const int failed = weir_netcdf_available() ? cmocka_run_group_tests(with, NULL, NULL)
                                             : cmocka_run_group_tests(without, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
