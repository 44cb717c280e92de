/* archive_file_check.h - NetCDF files of any layout that tests make and open as archives. Before it
 * is included a test defines the file that is being made: dir and path (names), nc, and numbers and
 * lengths of its dimensions by letter, dims[128] and lengths[128]. */
#ifndef WX_ARCHIVE_FILE_CHECK_H
#define WX_ARCHIVE_FILE_CHECK_H
#include <stdio.h>
#include <string.h>
#include "data/archive/archive.h"
#include "support/io/io_test.h"
#include "io/weir_netcdf.h"

static inline void begin(void)
{
  assert_ok(weir_netcdf_create(path, &nc));
}

static inline void dim(char letter, const char *name, int64_t n)
{
  lengths[(int)letter] = n;
  assert_ok(weir_netcdf_dim(nc, name, n, &dims[(int)letter]));
}

static inline int64_t count_of(const char *over)
{
  int64_t n = 1;

  for (const char *at = over; *at != 0; at++) {
    n *= lengths[(int)*at];
  }
  return n;
}

/* Returns a variable over the dimensions of these letters. */
static inline int var(const char *name, weir_dtype dtype, const char *over)
{
  int of[8], id = 0, n = 0;

  for (; over[n] != 0; n++) {
    of[n] = dims[(int)over[n]];
  }
  assert_ok(weir_netcdf_var(nc, name, dtype, n, of, &id));
  return id;
}

/* Sets an attribute to a text, NULL: none. */
static inline void say(int id, const char *name, const char *text)
{
  if (text != NULL) {
    assert_ok(weir_netcdf_put_text(nc, id, name, text));
  }
}

static inline void put(int id, weir_dtype dtype, const char *over, const double *values)
{
  uint8_t raw[8 * 4096];
  int64_t start[8] = {0}, count[8];

  for (int64_t i = 0; i < count_of(over); i++) {
    weir_dtype_store_real(dtype, raw, i, values[i]);
  }
  for (int n = 0; over[n] != 0; n++) {
    count[n] = lengths[(int)over[n]];
  }
  assert_ok(weir_netcdf_write(nc, id, start, count, raw));
}

/* Writes a variable of coordinates. */
static inline void line(const char *name, const char *over, const char *units,
                        const char *standard_name, const double *values)
{
  const int id = var(name, WEIR_F64, over);

  say(id, "units", units);
  say(id, "standard_name", standard_name);
  put(id, WEIR_F64, over, values);
}

/* Fills a variable: element i of the variable holds `of(i)`. */
static inline void fields(const char *name, weir_dtype dtype, const char *over)
{
  double values[4096];
  const int id = var(name, dtype, over);

  say(id, "units", "K");
  for (int64_t i = 0; i < count_of(over); i++) {
    values[i] = (double)i;
  }
  put(id, dtype, over, values);
}

static inline wx_archive *opened(void)
{
  const char *const paths[] = {path};
  wx_archive *a = NULL;

  assert_ok(weir_netcdf_commit(&nc));
  assert_ok(wx_archive_open(paths, 1, &a));
  return a;
}

static inline void assert_refused(const char *why)
{
  const char *const paths[] = {path};
  wx_archive *a = NULL;

  assert_ok(weir_netcdf_commit(&nc));
  assert_int_equal(wx_archive_open(paths, 1, &a), WEIR_ERR_DATA);
  if (strstr(weir_last_message(), why) == NULL || strstr(weir_last_message(), path) == NULL) {
    fprintf(stderr, "'%s' is not in: %s\n", why, weir_last_message());
    assert_true(false);
  }
  assert_null(a);
}
#endif
