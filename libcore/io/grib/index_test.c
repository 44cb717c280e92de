/* index_test.c - the index as a file and back, and refused when bytes of it change; the order of
 * points; dates. */
#include <math.h>
#include "support/io/grib_test.h"

static char dir[256];
static char path[512];

/* Two files with three fields of two kinds on two grids. */
static void fill(weir_grib *g)
{
  static weir_grib_file files[2] = {{.size = 1000, .mtime = 5}, {.size = 300, .mtime = 6}};
  static char names[2][8] = {"a.grib", "b.grib"};
  const double points[] = {3, 2, 1, 10, 20};
  const weir_grib_grid grids[2] = {{.n_lat = 3, .n_lon = 2, .lat = points, .lon = points + 3},
                                   {.n_lat = 1,
                                    .n_lon = 2,
                                    .lat = points,
                                    .lon = points + 3,
                                    .wraps = true,
                                    .reduced = true,
                                    .rotated = true,
                                    .south_pole = {-40, 10}}};
  int64_t number = 0;

  *g = (weir_grib){.files = files, .n_files = 2};
  for (int i = 0; i < 2; i++) {
    weir_grib_kind kind = {.param = 129 + i, .short_name = "z", .level = 500 + i};

    files[i].path = names[i];
    if (i == 1) {
      strcpy(kind.refused, "gridType=sh: no");
    }
    assert_ok(weir_grib_add_kind(g, &kind, &number));
    assert_int_equal(number, i);
    assert_ok(weir_grib_add_kind(g, &kind, &number));
    assert_int_equal(number, i);
    assert_ok(weir_grib_add_grid(g, &grids[i], &number));
    assert_ok(weir_grib_add_grid(g, &grids[i], &number));
    assert_int_equal(number, i);
  }
  for (int i = 0; i < 3; i++) {
    const weir_grib_field field = {.file = i / 2,
                                   .message = i + 1,
                                   .offset = 100 * (i % 2),
                                   .length = 100,
                                   .kind = i == 1,
                                   .grid = i == 1 ? -1 : i / 2,
                                   .number = i};

    assert_ok(weir_grib_add_field(g, &field));
  }
}

static void release(weir_grib *g)
{
  weir_grib_forget(g);
  weir_free(&g->kinds);
  weir_free(&g->grids);
  weir_free(&g->fields);
}

static void an_index_comes_back(void **state)
{
  weir_grib g, back;
  char *bytes = NULL;
  int64_t size = 0;

  (void)state;
  fill(&g);
  back = (weir_grib){.files = g.files, .n_files = 2};
  assert_ok(weir_grib_index_write(&g, path));
  assert_ok(weir_file_read(path, 1 << 20, &bytes, &size));
  assert_ok(weir_grib_index_parse(&back, (const uint8_t *)bytes, size));
  assert_int_equal(back.n_fields, 3);
  assert_memory_equal(back.fields, g.fields, 3 * sizeof *g.fields);
  assert_memory_equal(back.kinds, g.kinds, 2 * sizeof *g.kinds);
  assert_int_equal(back.n_grids, 2);
  assert_true(back.grids[1].wraps && back.grids[1].reduced && back.grids[1].rotated);
  assert_near(back.grids[1].south_pole[0], -40, 0);
  assert_memory_equal(back.grids[1].lat, g.grids[1].lat, 4 * sizeof(double));
  assert_memory_equal(back.grids[0].lat, g.grids[0].lat, 5 * sizeof(double));
  release(&back);
  back = (weir_grib){.files = g.files, .n_files = 2};
  for (int64_t n_bytes = 0; n_bytes < size; n_bytes += 7) {
    assert_int_equal(weir_grib_index_parse(&back, (const uint8_t *)bytes, n_bytes), WEIR_ERR_DATA);
    release(&back);
    back = (weir_grib){.files = g.files, .n_files = 2};
    bytes[n_bytes] ^= 4;
    assert_int_equal(weir_grib_index_parse(&back, (const uint8_t *)bytes, size), WEIR_ERR_DATA);
    bytes[n_bytes] ^= 4;
    release(&back);
    back = (weir_grib){.files = g.files, .n_files = 2};
  }
  weir_free(&bytes);
  release(&g);
}

static void an_index_of_changed_files_is_refused(void **state)
{
  weir_grib g;
  char *bytes = NULL;
  int64_t size = 0;

  (void)state;
  fill(&g);
  assert_ok(weir_grib_index_write(&g, path));
  assert_ok(weir_file_read(path, 1 << 20, &bytes, &size));
  weir_grib_forget(&g);
  g.files[1].mtime++;
  assert_int_equal(weir_grib_index_parse(&g, (const uint8_t *)bytes, size), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "they have changed since"));
  g.files[1].mtime--;
  weir_free(&bytes);
  release(&g);
}

/* Every combination of flags: points land where their row and column say. */
static void points_come_into_order(void **state)
{
  enum { ROWS = 5, COLUMNS = 4 };
  const double missing = -99;

  (void)state;
  for (int flags = 0; flags < 256; flags += 16) {
    const bool by_column = flags & 0x20;
    double in[ROWS * COLUMNS];
    float out[ROWS * COLUMNS];

    for (int k = 0; k < ROWS * COLUMNS; k++) { /* the rules of code table 3.4, point by point */
      const int line = k / (by_column ? ROWS : COLUMNS);
      int along = k % (by_column ? ROWS : COLUMNS);

      if ((flags & 0x10) && line % 2 == 1) {
        along = (by_column ? ROWS : COLUMNS) - 1 - along;
      }
      int i = by_column ? line : along, j = by_column ? along : line;

      i = flags & 0x80 ? COLUMNS - 1 - i : i;
      j = flags & 0x40 ? ROWS - 1 - j : j;
      in[k] = i == 1 && j == 2 ? missing : j * 100 + i;
    }
    assert_true(weir_grib_order(in, ROWS, COLUMNS, flags, &missing, out));
    for (int k = 0; k < ROWS * COLUMNS; k++) {
      if (k == 2 * COLUMNS + 1) {
        assert_true(isnan(out[k]));
      } else {
        assert_near((double)out[k], k / COLUMNS * 100 + k % COLUMNS, 0);
      }
    }
    assert_true(weir_grib_order(in, ROWS, COLUMNS, flags, NULL, out));
    assert_near((double)out[2 * COLUMNS + 1], missing, 0);
    in[7] = 1e60;
    assert_false(weir_grib_order(in, ROWS, COLUMNS, flags, NULL, out));
    assert_false(weir_grib_order(in, ROWS, COLUMNS, flags, &missing, out));
  }
}

static void dates_go_both_ways(void **state)
{
  int64_t seconds = 0, date = 0, hhmm = 0, second = 0;

  (void)state;
  assert_true(weir_grib_time(20170101, 0, 0, &seconds));
  assert_int_equal(seconds, 1483228800);
  assert_false(weir_grib_time(20170229, 0, 0, &seconds));
  assert_false(weir_grib_time(20170101, 2400, 0, &seconds));
  assert_false(weir_grib_time(20170101, 1260, 0, &seconds));
  for (int64_t t = -4000000000; t < 8000000000; t += 12345677) {
    weir_grib_date(t, &date, &hhmm, &second);
    assert_true(weir_grib_time(date, hhmm, second, &seconds));
    assert_int_equal(seconds, t);
  }
}

static int setup(void **state)
{
  (void)state;
  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a.index", dir);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  weir_check_rmdir(dir);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_index_comes_back),
      cmocka_unit_test(an_index_of_changed_files_is_refused),
      cmocka_unit_test(points_come_into_order),
      cmocka_unit_test(dates_go_both_ways),
  };

  return cmocka_run_group_tests(tests, setup, teardown);
}
