/* cf_netcdf_test.c - types of files that keep the CF conventions: what is stored for what is handed
 * over, what is refused, and that files with the types of before are read. */
#include <netcdf.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "io/weir_record.h"

enum { N = 3 };
static const int64_t zero[1] = {0}, all[1] = {N};
#define EXACT ((INT64_C(1) << 53) - 1)

static const char *path_in(const char *dir, const char *name)
{
  static char path[512];

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  return path;
}

static nc_type stored(const char *path, const char *name)
{
  int id = 0, var = 0;
  nc_type type = NC_NAT;

  assert_int_equal(nc_open(path, NC_NOWRITE, &id), NC_NOERR);
  assert_int_equal(nc_inq_varid(id, name, &var), NC_NOERR);
  assert_int_equal(nc_inq_vartype(id, var, &type), NC_NOERR);
  assert_int_equal(nc_close(id), NC_NOERR);
  return type;
}

static void types_are_those_of_cf_and_numbers_exact(void **state)
{
  const int64_t time[N] = {-EXACT, 0, EXACT}, few[N] = {-5, 0, INT32_MAX};
  const int64_t counts[2] = {250, 1}, large[1] = {EXACT};
  const uint8_t flags[N] = {0, 3, 127};
  int64_t back[N];
  uint8_t bytes[N];
  double number = 0;
  weir_netcdf_shape shape;
  weir_netcdf *nc = NULL;
  int dim = 0, var[3], found = 0;
  char dir[256], *text = NULL;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  const char *const path = path_in(dir, "a.nc");

  assert_ok(weir_netcdf_create_cf(path, "what it is", &nc));
  assert_ok(weir_netcdf_dim(nc, "x", N, &dim));
  assert_ok(weir_netcdf_var(nc, "time", WEIR_I64, 1, &dim, &var[0]));
  assert_ok(weir_netcdf_var(nc, "flags", WEIR_U8, 1, &dim, &var[1]));
  assert_ok(weir_netcdf_whole_var(nc, "number", INT32_MAX, 1, &dim, &var[2]));
  assert_ok(weir_netcdf_put_numbers(nc, var[1], "flag_masks", WEIR_U8, flags, 2));
  assert_ok(weir_netcdf_put_numbers(nc, var[0], "ratio", WEIR_I64, counts, 2));
  assert_ok(weir_netcdf_put_numbers(nc, var[0], "large", WEIR_I64, large, 1));
  assert_ok(weir_netcdf_write(nc, var[0], zero, all, time));
  assert_ok(weir_netcdf_write(nc, var[1], zero, all, flags));
  assert_ok(weir_netcdf_write(nc, var[2], zero, all, few));
  assert_ok(weir_netcdf_commit(&nc));
  assert_int_equal(stored(path, "time"), NC_DOUBLE);
  assert_int_equal(stored(path, "flags"), NC_BYTE);
  assert_int_equal(stored(path, "number"), NC_INT);
  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "Conventions", &text));
  assert_string_equal(text, "CF-1.8");
  weir_free(&text);
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "title", &text));
  assert_string_equal(text, "what it is");
  weir_free(&text);
  for (int k = 0; k < 3; k += 2) {
    assert_ok(weir_netcdf_find(nc, k == 0 ? "time" : "number", &found, &shape));
    assert_true(weir_netcdf_holds(shape.dtype, WEIR_I64));
    assert_ok(weir_netcdf_read_whole(nc, found, &shape, zero, all, back));
    assert_memory_equal(back, k == 0 ? time : few, sizeof back);
  }
  assert_ok(weir_netcdf_find(nc, "time", &found, &shape));
  assert_ok(weir_netcdf_get_numbers(nc, found, "large", &number, 1));
  assert_true(number == (double)EXACT);
  assert_ok(weir_netcdf_find(nc, "flags", &found, &shape));
  assert_true(weir_netcdf_holds(shape.dtype, WEIR_U8));
  assert_ok(weir_netcdf_read(nc, found, zero, all, bytes));
  assert_memory_equal(bytes, flags, sizeof bytes);
  weir_netcdf_close(&nc);
  weir_check_rmdir(dir);
}

static void what_no_type_of_cf_holds_is_refused(void **state)
{
  const int64_t beyond[N] = {0, 0, EXACT + 1}, below[N] = {-EXACT - 1, 0, 0};
  const uint8_t wide[N] = {0, 128, 0};
  weir_netcdf *nc = NULL;
  int dim = 0, time = 0, flags = 0;
  char dir[256];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_netcdf_create_cf(path_in(dir, "a.nc"), "t", &nc));
  assert_ok(weir_netcdf_dim(nc, "x", N, &dim));
  assert_ok(weir_netcdf_var(nc, "time", WEIR_I64, 1, &dim, &time));
  assert_ok(weir_netcdf_var(nc, "flags", WEIR_U8, 1, &dim, &flags));
  assert_int_equal(weir_netcdf_write(nc, time, zero, all, beyond), WEIR_ERR_UNSUPPORTED);
  assert_int_equal(weir_netcdf_write(nc, time, zero, all, below), WEIR_ERR_UNSUPPORTED);
  assert_int_equal(weir_netcdf_write(nc, flags, zero, all, wide), WEIR_ERR_UNSUPPORTED);
  assert_int_equal(weir_netcdf_put_numbers(nc, flags, "a", WEIR_U8, wide, N), WEIR_ERR_UNSUPPORTED);
  weir_netcdf_close(&nc);
  weir_check_rmdir(dir);
}

/* Dates of recordings that hide theirs lie centuries ahead. */
static void times_far_from_1970_are_counted_from_the_start(void **state)
{
  const int64_t far = INT64_C(23173469058529123), year = INT64_C(1700000000123456);
  static const char *const known[] = {WEIR_NETCDF_SINCE_1970,
                                      "microseconds since 2704-05-04 10:44:18.529123",
                                      "microseconds since 1969-12-31 23:59:59.999999"};
  const int64_t origin[] = {0, far, -1};
  weir_netcdf *nc = NULL;
  char dir[256], *units = NULL;

  (void)state;
  assert_true(weir_netcdf_time_origin(0) == 0 && weir_netcdf_time_origin(year) == 0);
  assert_true(weir_netcdf_time_origin(far) == far && weir_netcdf_time_origin(-far) == -far);
  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_netcdf_create_cf(path_in(dir, "a.nc"), "t", &nc));
  for (int k = 0; k < 3; k++) {
    int var = 0;

    assert_ok(weir_netcdf_var(nc, k == 0 ? "a" : k == 1 ? "b" : "c", WEIR_F64, 0, NULL, &var));
    assert_ok(weir_netcdf_put_time(nc, var, origin[k]));
  }
  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(weir_netcdf_open(path_in(dir, "a.nc"), &nc));
  for (int k = 0; k < 3; k++) {
    assert_ok(weir_netcdf_get_text(nc, k, "units", &units));
    assert_string_equal(units, known[k]);
    weir_free(&units);
  }
  weir_netcdf_close(&nc);
  weir_check_rmdir(dir);
}

static void reals_are_whole_numbers_only_where_they_are(void **state)
{
  const double value[N] = {1, 2.5, 0x1p53};
  weir_netcdf_shape shape;
  weir_netcdf *nc = NULL;
  int dim = 0, var = 0;
  const int64_t one[1] = {1};
  char dir[256];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_netcdf_create(path_in(dir, "a.nc"), &nc));
  assert_ok(weir_netcdf_dim(nc, "x", N, &dim));
  assert_ok(weir_netcdf_var(nc, "v", WEIR_F64, 1, &dim, &var));
  assert_ok(weir_netcdf_write(nc, var, zero, all, value));
  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(weir_netcdf_open(path_in(dir, "a.nc"), &nc));
  assert_ok(weir_netcdf_find(nc, "v", &var, &shape));
  for (int64_t i = 0; i < N; i++) {
    int64_t back = -1;

    assert_int_equal(weir_netcdf_read_whole(nc, var, &shape, &i, one, &back),
                     i == 0 ? WEIR_OK : WEIR_ERR_DATA);
    assert_int_equal(back, i == 0 ? 1 : -1);
  }
  weir_netcdf_close(&nc);
  weir_check_rmdir(dir);
}

/* A record as it was written before: 64-bit integers and unsigned bytes. */
static void put_old_record(const char *path)
{
  static const char *const numbers[] = {"event_time",    "event_duration", "event_code",
                                        "event_subtype", "event_channel",  "event_number"};
  const int16_t sample[N] = {10, 20, 30};
  const uint8_t flags[N] = {0, 2, 0};
  const double rate = 250;
  const int64_t start[2] = {0, 0}, letters[2] = {1, 2};
  weir_netcdf *nc = NULL;
  int dims[2], dim = 0, signal = 0, flag = 0, var = 0;

  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "time", N, &dim));
  assert_ok(weir_netcdf_dim(nc, "event", 1, &dims[0]));
  assert_ok(weir_netcdf_dim(nc, "event_text_length", 2, &dims[1]));
  assert_ok(weir_netcdf_var(nc, "ecg", WEIR_I16, 1, &dim, &signal));
  assert_ok(weir_netcdf_put_numbers(nc, signal, WEIR_NETCDF_RATE, WEIR_F64, &rate, 1));
  assert_ok(weir_netcdf_put_text(nc, signal, "ancillary_variables", "ecg_flags"));
  assert_ok(weir_netcdf_var(nc, "ecg_flags", WEIR_U8, 1, &dim, &flag));
  assert_ok(weir_netcdf_put_text(nc, flag, "flag_meanings", "invalid_sample outside_of_files"));
  assert_ok(weir_netcdf_write(nc, signal, zero, all, sample));
  assert_ok(weir_netcdf_write(nc, flag, zero, all, flags));
  for (int64_t k = 0; k < 6; k++) {
    const int64_t value = k == 0 ? 8000 : k == 1 ? -1 : k, one = 1;

    assert_ok(weir_netcdf_var(nc, numbers[k], WEIR_I64, 1, dims, &var));
    assert_ok(weir_netcdf_write(nc, var, zero, &one, &value));
  }
  assert_ok(weir_netcdf_char_var(nc, "event_text", 2, dims, &var));
  assert_ok(weir_netcdf_write(nc, var, start, letters, "ab"));
  assert_ok(weir_netcdf_commit(&nc));
}

static void records_with_the_types_of_before_are_read(void **state)
{
  weir_record_events events = {0};
  weir_record *r = NULL;
  float value[N];
  uint8_t present[N];
  char dir[256];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  put_old_record(path_in(dir, "old.nc"));
  assert_ok(weir_record_open(path_in(dir, "old.nc"), NULL, &r));
  assert_ok(weir_record_read(r, 0, 0, N, value, present));
  assert_true(value[0] == 10 && value[2] == 30);
  assert_true(present[0] && !present[1] && present[2]);
  assert_ok(weir_record_events_read(r, &events));
  assert_int_equal(events.count, 1);
  assert_true(events.items[0].time == 8000000 && events.items[0].code == 2);
  assert_string_equal(events.items[0].text, "ab");
  weir_record_events_fini(&events);
  weir_record_close(&r);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_are_those_of_cf_and_numbers_exact),
      cmocka_unit_test(what_no_type_of_cf_holds_is_refused),
      cmocka_unit_test(times_far_from_1970_are_counted_from_the_start),
      cmocka_unit_test(reals_are_whole_numbers_only_where_they_are),
      cmocka_unit_test(records_with_the_types_of_before_are_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
