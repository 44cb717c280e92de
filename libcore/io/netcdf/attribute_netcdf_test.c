/* attribute_netcdf_test.c - what weir_netcdf.h reads and does not write: attributes of strings,
 * files of the classic formats. */
#include <unistd.h>
#include "support/io/io_test.h"
#include "io/netcdf/netcdf_priv.h"

static void one_string_is_a_text(void **state)
{
  static const char *const words[] = {"L\xC3\xA4rm, z", "z"};
  static const char *const null[] = {NULL};
  char dir[256], path[300];
  weir_netcdf *nc = NULL;
  char *text = NULL;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  assert_ok(weir_netcdf_create(path, &nc));
  assert_int_equal(nc_put_att_string(nc->id, NC_GLOBAL, "one", 1, (const char **)(uintptr_t)words),
                   NC_NOERR);
  assert_int_equal(nc_put_att_string(nc->id, NC_GLOBAL, "two", 2, (const char **)(uintptr_t)words),
                   NC_NOERR);
  assert_int_equal(nc_put_att_string(nc->id, NC_GLOBAL, "null", 1, (const char **)(uintptr_t)null),
                   NC_NOERR);
  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "one", &text));
  assert_string_equal(text, words[0]);
  weir_free(&text);
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "null", &text));
  assert_string_equal(text, "");
  weir_free(&text);
  assert_int_equal(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "two", &text), WEIR_ERR_DATA);
  assert_null(text);
  weir_netcdf_close(&nc);
  weir_check_rmdir(dir);
}

/* Classic files of random dimensions, with and without records: whole ones are read, none that
 * lacks a value is, which the library would give as zeros. */
static void cut_classic_files_are_refused(void **state)
{
  static const int formats[] = {NC_CLOBBER, NC_64BIT_OFFSET, NC_64BIT_DATA};
  char dir[256], path[300];
  weir_netcdf *nc = NULL;
  int64_t size = 0;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  for (uint64_t k = 0; k < 30; k++) {
    const int64_t rows = random_in(11, k, 1, 9), columns = random_in(12, k, 1, 9);
    const int64_t records = random_in(13, k, 0, 4);
    int id = 0, dims[3], var[2];
    double x[4 * 9 * 9];

    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
      x[i] = 1;
    }
    assert_int_equal(nc_create(path, formats[k % 3], &id), NC_NOERR);
    assert_int_equal(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]), NC_NOERR);
    assert_int_equal(nc_def_dim(id, "y", (size_t)rows, &dims[1]), NC_NOERR);
    assert_int_equal(nc_def_dim(id, "x", (size_t)columns, &dims[2]), NC_NOERR);
    assert_int_equal(nc_def_var(id, "fixed", NC_DOUBLE, 2, dims + 1, &var[0]), NC_NOERR);
    assert_int_equal(nc_def_var(id, "moving", k % 2 ? NC_SHORT : NC_DOUBLE, 3, dims, &var[1]),
                     NC_NOERR);
    assert_int_equal(nc_put_att_text(id, var[1], "units", 5, "m s-1"), NC_NOERR);
    assert_int_equal(nc_enddef(id), NC_NOERR);
    assert_int_equal(nc_put_var_double(id, var[0], x), NC_NOERR);
    assert_int_equal(nc_put_vara_double(id, var[1], (size_t[]){0, 0, 0},
                                        (size_t[]){(size_t)records, (size_t)rows, (size_t)columns},
                                        x),
                     NC_NOERR);
    assert_int_equal(nc_close(id), NC_NOERR);
    assert_ok(weir_netcdf_open(path, &nc));
    weir_netcdf_close(&nc);
    assert_ok(weir_file_size(path, &size));
    /* at most 3 bytes of padding a record, then a value */
    assert_int_equal(truncate(path, size - 3 * (records + 1) - 8), 0);
    assert_int_equal(weir_netcdf_open(path, &nc), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "truncated"));
    assert_null(nc);
  }
  weir_check_rmdir(dir);
}

/* Every octet of a header set to 255, one after another, which the library takes for counts: the
 * result is a status, soon, and little is allocated. */
static void damaged_classic_headers_are_survived(void **state)
{
  char dir[256], path[300], *whole = NULL;
  weir_netcdf *nc = NULL;
  int id = 0, dim = 0, var = 0;
  int64_t size = 0;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  assert_int_equal(nc_create(path, NC_CLOBBER, &id), NC_NOERR);
  assert_int_equal(nc_def_dim(id, "x", 3, &dim), NC_NOERR);
  assert_int_equal(nc_def_var(id, "v", NC_DOUBLE, 1, &dim, &var), NC_NOERR);
  assert_int_equal(nc_put_att_text(id, var, "units", 1, "m"), NC_NOERR);
  assert_int_equal(nc_enddef(id), NC_NOERR);
  assert_int_equal(nc_put_var_double(id, var, (double[]){1, 2, 3}), NC_NOERR);
  assert_int_equal(nc_close(id), NC_NOERR);
  assert_ok(weir_file_read(path, 1 << 20, &whole, &size));
  for (int64_t i = 4; i < size - 24; i++) {
    const char kept = whole[i];

    whole[i] = (char)0xff;
    weir_check_write(path, whole, (size_t)size);
    if (weir_netcdf_open(path, &nc) == WEIR_OK) {
      weir_netcdf_close(&nc);
    } else {
      assert_non_null(strstr(weir_last_message(), "truncated"));
    }
    whole[i] = kept;
  }
  weir_free(&whole);
  weir_check_rmdir(dir);
}

/* A signal of four numbers at 4 Hz, and what the record reader makes of it. */
static weir_status open_signal(const char *path, weir_dtype dtype, const char *is_unsigned)
{
  const double rate = 4;
  const int64_t zero = 0, n = 4;
  const uint8_t zeros[16] = {0};
  weir_netcdf *nc = NULL;
  weir_record *r = NULL;
  int dim = 0, var = 0;

  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "time", n, &dim));
  assert_ok(weir_netcdf_var(nc, "ECG", dtype, 1, &dim, &var));
  assert_ok(weir_netcdf_put_numbers(nc, var, "sampling_rate", WEIR_F64, &rate, 1));
  assert_ok(weir_netcdf_put_text(nc, var, "_Unsigned", is_unsigned));
  assert_ok(weir_netcdf_write(nc, var, &zero, &n, zeros));
  assert_ok(weir_netcdf_commit(&nc));
  const weir_status status = weir_record_open(path, NULL, &r);

  weir_record_close(&r);
  return status;
}

static void signals_without_a_sign_by_attribute_are_refused(void **state)
{
  char dir[256], path[300];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  assert_ok(open_signal(path, WEIR_I16, "false"));
  assert_ok(open_signal(path, WEIR_U8, "true"));
  assert_ok(open_signal(path, WEIR_F32, "true"));
  assert_int_equal(open_signal(path, WEIR_I8, "true"), WEIR_ERR_DATA);
  assert_int_equal(open_signal(path, WEIR_I16, "True"), WEIR_ERR_DATA);
  assert_non_null(
      strstr(weir_last_message(), "x.nc: variable ECG: unsigned integers (attribute _Unsigned"));
  assert_null(strstr(strstr(weir_last_message(), "x.nc") + 1, "x.nc"));
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_string_is_a_text), cmocka_unit_test(cut_classic_files_are_refused),
      cmocka_unit_test(damaged_classic_headers_are_survived),
      cmocka_unit_test(signals_without_a_sign_by_attribute_are_refused)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
