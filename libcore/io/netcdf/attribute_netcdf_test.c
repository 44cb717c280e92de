/* attribute_netcdf_test.c - attributes of strings, which weir_netcdf.h reads and does not write. */
#include "io/io_test.h"
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

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_string_is_a_text)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
