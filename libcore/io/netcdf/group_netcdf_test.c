/* group_netcdf_test.c - groups of files that are written, as the library reads them. */
#include "base/weir_alloc.h"
#include "support/io/io_test.h"
#include "io/netcdf/netcdf_priv.h"
#include "io/netcdf/reader_priv.h"

/* A dimension and a number in the file, a group with another number, and a group inside it. */
static weir_status write_file(const char *path)
{
  weir_netcdf *nc = NULL, *left = NULL, *inner = NULL;
  weir_status status = WEIR_OK;
  const int64_t start = 0, count = 2;
  int dim = 0, var = 0;

  WEIR_TRY(weir_netcdf_create(path, &nc));
  WEIR_TRY_GOTO(weir_netcdf_dim(nc, "ne", count, &dim), done);
  WEIR_TRY_GOTO(weir_netcdf_group(nc, "Left", &left), done);
  WEIR_TRY_GOTO(weir_netcdf_group(left, "inner", &inner), done);
  WEIR_TRY_GOTO(weir_netcdf_group(nc, "Right", &inner), done);
  WEIR_TRY_GOTO(weir_netcdf_var(left, "Right.T", WEIR_F64, 1, &dim, &var), done);
  WEIR_TRY_GOTO(weir_netcdf_put_text(left, var, "unit", "1"), done);
  WEIR_TRY_GOTO(weir_netcdf_write(left, var, &start, &count, (const double[]){0.25, 4}), done);
  status = weir_netcdf_commit(&nc);
done:
  weir_netcdf_close(&nc);
  return status;
}

static void groups_hold_what_was_written(void **state)
{
  char dir[256], path[300], unit[2] = "";
  int id = 0, left = 0, other = 0, var = 0;
  double x[2] = {0, 0};

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  assert_ok(write_file(path));
  assert_int_equal(nc_open(path, NC_NOWRITE, &id), NC_NOERR);
  assert_int_equal(nc_inq_grp_ncid(id, "Left", &left), NC_NOERR);
  assert_int_equal(nc_inq_grp_ncid(left, "inner", &other), NC_NOERR);
  assert_int_equal(nc_inq_grp_ncid(id, "Right", &other), NC_NOERR);
  assert_int_equal(nc_inq_varid(left, "Right.T", &var), NC_NOERR);
  assert_int_equal(nc_get_var_double(left, var, x), NC_NOERR);
  assert_true(x[0] == 0.25 && x[1] == 4);
  assert_int_equal(nc_get_att_text(left, var, "unit", unit), NC_NOERR);
  assert_int_equal(unit[0], '1');
  assert_int_equal(nc_close(id), NC_NOERR);
  weir_check_rmdir(dir);
}

/* Groups of a file that is read, one in another, also by a reader that has been started anew. */
static void groups_are_read_as_files(void **state)
{
  char dir[256], path[300], name[16], *unit = NULL;
  weir_netcdf *nc = NULL, *left = NULL, *inner = NULL;
  weir_netcdf_shape shape;
  const int64_t start = 0, count = 2;
  int n = 0, var = 0;
  double x[2] = {0, 0};

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  assert_ok(write_file(path));
  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_count_groups(nc, &n));
  assert_int_equal(n, 2);
  assert_ok(weir_netcdf_group_name(nc, 0, name, sizeof name));
  assert_string_equal(name, "Left");
  assert_ok(weir_netcdf_group_name(nc, 1, name, sizeof name));
  assert_string_equal(name, "Right");
  assert_int_equal(weir_netcdf_group_name(nc, 2, name, sizeof name), WEIR_ERR_DATA);
  assert_int_equal(weir_netcdf_group_name(nc, 0, name, 4), WEIR_ERR_DATA);
  assert_ok(weir_netcdf_open_group(nc, "Left", &left));
  weir_netcdf_close(&nc); /* a group does not need it */
  for (int round = 0; round < 2; round++) {
    assert_ok(weir_netcdf_find(left, "Right.T", &var, &shape));
    assert_true(shape.n_dims == 1 && shape.lengths[0] == 2 && shape.dtype == WEIR_F64);
    assert_ok(weir_netcdf_read(left, var, &start, &count, x));
    assert_true(x[0] == 0.25 && x[1] == 4);
    assert_ok(weir_netcdf_get_text(left, var, "unit", &unit));
    assert_string_equal(unit, "1");
    weir_free(&unit);
    weir_reader_reset(0);
  }
  assert_ok(weir_netcdf_count_groups(left, &n));
  assert_int_equal(n, 1);
  assert_ok(weir_netcdf_open_group(left, "inner", &inner));
  assert_ok(weir_netcdf_count(inner, &n));
  assert_int_equal(n, 0);
  weir_netcdf_close(&inner);
  assert_int_equal(weir_netcdf_open_group(left, "outer", &inner), WEIR_ERR_DATA);
  assert_null(inner);
  assert_non_null(strstr(weir_last_message(), "has no group Left/outer"));
  weir_netcdf_close(&left);
  weir_check_rmdir(dir);
}

static void a_name_twice_is_refused(void **state)
{
  weir_netcdf *nc = NULL, *group = NULL;
  char dir[256], path[300];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_group(nc, "Left", &group));
  assert_int_equal(weir_netcdf_group(nc, "Left", &group), WEIR_ERR_EXTERNAL);
  assert_null(group);
  assert_non_null(strstr(weir_last_message(), "Left"));
  weir_netcdf_close(&nc);
  weir_check_rmdir(dir);
}

static void missing_memory_is_reported(void **state)
{
  char dir[256], path[300];
  weir_status status = WEIR_ERR_MEMORY;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.nc", dir);
  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_alloc_fail_after(k);
    status = write_file(path);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
  }
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_hold_what_was_written),
      cmocka_unit_test(groups_are_read_as_files),
      cmocka_unit_test(a_name_twice_is_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
