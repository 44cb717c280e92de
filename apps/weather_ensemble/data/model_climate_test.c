/* model_climate_test.c - statistics against loops that do what the definitions say; NaN left out;
 * the file comes back; nothing but the given initialisation times is read. */
#include "data/model_climate.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_file.h"
#include "support/weather_ensemble/archive_check.h"
#include "support/io/io_test.h"
#include "io/weir_netcdf.h"

enum { INIT_TIMES = 7, LEADS = 2, QUANTITIES = 2, MEMBERS = 3, ROWS = 9, COLUMNS = 12 };
enum { CELLS = ROWS * COLUMNS, FIELDS = INIT_TIMES * LEADS * QUANTITIES * MEMBERS };

static float values[FIELDS * CELLS];
static double lat[ROWS], lon[COLUMNS];
static int64_t start[INIT_TIMES];
static const double lead[LEADS] = {24, 48};
static const int64_t member[MEMBERS] = {0, 1, 2};
static wx_quantity quantity[QUANTITIES];

static wx_archive *cube(void)
{
  wx_archive *a = NULL;
  const wx_archive_info f = {.n_init_times = INIT_TIMES,
                             .n_leads = LEADS,
                             .n_members = MEMBERS,
                             .n_quantities = QUANTITIES,
                             .start = start,
                             .lead = lead,
                             .member = member,
                             .quantity = quantity,
                             .grid = check_globe(80, ROWS, COLUMNS, lat, lon)};

  for (int i = 0; i < INIT_TIMES; i++) { /* four of 1970, three of 1971 */
    start[i] = (int64_t)(i * 86400 + (i >= 4 ? 400 * 86400 : 0));
  }
  for (int k = 0; k < QUANTITIES; k++) {
    quantity[k] = check_quantity("z", "", 0, WX_LEVEL_PRESSURE, 500 + 350 * k);
  }
  for (int64_t i = 0; i < FIELDS * CELLS; i++) {
    values[i] =
        i % 41 == 3 || i % CELLS == 17 ? NAN : 55000 + (float)random_in(1, (uint64_t)i, -900, 900);
  }
  assert_ok(wx_archive_of_memory(&f, values, &a));
  return a;
}

static double at(int64_t s, int64_t l, int64_t q, int64_t m, int64_t cell)
{
  return (double)values[((((s * LEADS + l) * QUANTITIES + q) * MEMBERS + m) * CELLS) + cell];
}

/* Moments of the initialisation times of the list over a window; false: no value. */
static bool moments(const int64_t *s, int n, int64_t l, int64_t members, const int64_t *box,
                    double *mean, double *sd)
{
  double sum = 0, square = 0, seen = 0;

  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < n; i++) {
      for (int64_t e = 0; e < members * CELLS; e++) {
        const int64_t j = e % CELLS / COLUMNS, k = e % COLUMNS;
        const double x = at(s[i], l, 1, e / CELLS, e % CELLS);
        const bool in = j >= box[0] && j < box[1] && k >= box[2] && k < box[3] && !isnan(x);

        sum += in && pass == 0 ? x : 0;
        seen += in && pass == 0 ? 1 : 0;
        square += in && pass == 1 ? (x - *mean) * (x - *mean) : 0;
      }
    }
    *mean = sum / seen;
  }
  *sd = sqrt(square / seen);
  return seen > 0;
}

/* Nearest window of 3 x 3 that fits. */
static void box_of(int64_t cell, int64_t *box)
{
  const int64_t j = cell / COLUMNS, i = cell % COLUMNS;

  box[0] = j < 1 ? 0 : j > ROWS - 2 ? ROWS - 3 : j - 1;
  box[1] = box[0] + 3;
  box[2] = i < 1 ? 0 : i > COLUMNS - 2 ? COLUMNS - 3 : i - 1;
  box[3] = box[2] + 3;
}

static void check_las(int sd_of, int64_t members)
{
  static const int64_t years[2][3] = {{0, 1, 3}, {4, 5, 0}}, list[] = {0, 1, 3, 4, 5};
  static const int n[2] = {3, 2};
  const wx_model_climate_opts opts = {.members = members, .window = 3, .smoothing = 0, .sd = sd_of};
  wx_archive *a = cube();
  wx_model_climate c;

  assert_ok(wx_model_climate_fit(&opts, a, NULL, list, 5, &c));
  const int64_t at_field = wx_model_climate_find(&c, "z850", 48);

  assert_int_equal(at_field, 3);
  for (int64_t cell = 0; cell < CELLS; cell++) {
    int64_t box[4],
        one[4] = {cell / COLUMNS, cell / COLUMNS + 1, cell % COLUMNS, cell % COLUMNS + 1};
    double mean[2], sd[2], m = 0, s = 0;

    box_of(cell, box);
    for (int y = 0; y < 2; y++) {
      (void)moments(years[y], n[y], 1, members, box, &mean[y], &sd[y]);
    }
    m = (mean[0] + mean[1]) / 2;
    s = (sd[0] + sd[1]) / 2;
    if (sd_of == WX_LAS_POOLED) {
      (void)moments(list, 5, 1, members, box, &m, &s);
    }
    assert_near((double)c.las_mean[at_field * CELLS + cell], m, 1e-6);
    assert_near((double)c.las_sd[at_field * CELLS + cell], s, 1e-5);
    const bool seen = moments(list, 5, 1, members, one, &m, &s);

    assert_int_equal(isnan(c.cell_mean[at_field * CELLS + cell]), !seen);
    assert_true(!seen || fabs((double)c.cell_mean[at_field * CELLS + cell] - m) < 0.005);
    assert_true(!seen || fabs((double)c.cell_sd[at_field * CELLS + cell] - s) < 1e-3);
  }
  wx_model_climate_fini(&c);
  wx_archive_close(&a);
}

static void windows_are_what_loops_say(void **state)
{
  (void)state;
  check_las(WX_LAS_YEARLY, 1);
  check_las(WX_LAS_POOLED, 3);
}

/* What is missing for a year is what the other years are. */
static void a_year_without_values_does_not_count(void **state)
{
  static const int64_t both[] = {0, 1, 4}, first[] = {0, 1};
  const wx_model_climate_opts opts = {.members = 1, .window = 3, .smoothing = 1};
  wx_archive *a = cube();
  wx_model_climate c[2];

  (void)state;
  for (int64_t i = 0; i < FIELDS * CELLS; i++) {
    values[i] = i / (FIELDS * CELLS / INIT_TIMES) == 4 ? NAN : values[i];
  }
  assert_ok(wx_model_climate_fit(&opts, a, NULL, both, 3, &c[0]));
  assert_ok(wx_model_climate_fit(&opts, a, NULL, first, 2, &c[1]));
  assert_memory_equal(c[0].las_mean, c[1].las_mean, 4 * CELLS * sizeof(float));
  assert_memory_equal(c[0].las_sd, c[1].las_sd, 4 * CELLS * sizeof(float));
  wx_model_climate_fini(&c[0]);
  wx_model_climate_fini(&c[1]);
  wx_archive_close(&a);
}

static void the_grid_counts_by_area(void **state)
{
  const wx_model_climate_opts opts = {.members = 0, .window = 3};
  wx_archive *a = cube();
  const wx_archive_info *f = wx_archive_get(a);
  double n = 0, sum = 0, square = 0;
  wx_model_climate c;
  int64_t list[INIT_TIMES];

  (void)state;
  for (int i = 0; i < INIT_TIMES; i++) {
    list[i] = i;
  }
  assert_ok(wx_model_climate_fit(&opts, a, NULL, list, INIT_TIMES, &c));
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < INIT_TIMES * MEMBERS * CELLS; i++) {
      const double x = at(i / (MEMBERS * CELLS), 1, 1, i / CELLS % MEMBERS, i % CELLS);
      const double w = isnan(x) ? 0 : f->grid.weight[i % CELLS];

      n += pass == 0 ? w : 0;
      sum += pass == 0 && w > 0 ? w * x : 0;
      square += pass == 1 && w > 0 ? w * (x - sum / n) * (x - sum / n) : 0;
    }
  }
  assert_near(c.mean[3], sum / n, 1e-12);
  assert_near(c.sd[3], sqrt(square / n), 1e-9);
  wx_model_climate_fini(&c);
  wx_archive_close(&a);
}

static void quantiles_are_those_of_sorted_values(void **state)
{
  static const int64_t list[] = {1, 2, 6};
  const wx_model_climate_opts opts = {.members = 1, .window = 3, .quantiles = 4};
  wx_archive *a = cube();
  wx_model_climate c;

  (void)state;
  assert_ok(wx_model_climate_fit(&opts, a, NULL, list, 3, &c));
  for (int64_t cell = 0; cell < CELLS; cell += 7) {
    int64_t below = 0, seen = 0;
    const double median = (double)c.quantile[(3 * 5 + 2) * CELLS + cell];

    for (int64_t i = 0; i < 3 * MEMBERS; i++) {
      const double x = at(list[i / MEMBERS], 1, 1, i % MEMBERS, cell);

      below += x < median ? 1 : 0;
      seen += isnan(x) ? 0 : 1;
      assert_true(isnan(x) || (x >= (double)c.quantile[(3 * 5) * CELLS + cell] &&
                               x <= (double)c.quantile[(3 * 5 + 4) * CELLS + cell]));
    }
    assert_true(seen == 0 ? isnan(median) : below == seen / 2);
  }
  wx_model_climate_fini(&c);
  wx_archive_close(&a);
}

/* The truth of a start is the first member of its first lead, which the archive of truth has at the
 * time when the other lead is valid. */
static void truth_is_that_of_the_valid_time(void **state)
{
  static const int64_t list[] = {0, 1, 2};
  const wx_model_climate_opts opts = {.members = 1, .window = 3, .quantiles = 4, .first = 1};
  static float y[INIT_TIMES * QUANTITIES * CELLS];
  wx_archive *a = cube(), *truth = NULL;
  wx_archive_info f = *wx_archive_get(a);
  const double now = 0;
  wx_model_climate c;

  (void)state;
  for (int64_t i = 0; i < INIT_TIMES * QUANTITIES * CELLS; i++) {
    y[i] = i % CELLS == 5 ? NAN : (float)random_in(2, (uint64_t)i, 50000, 60000);
  }
  f.n_leads = f.n_members = 1;
  f.lead = &now;
  assert_ok(wx_archive_of_memory(&f, y, &truth));
  assert_ok(wx_model_climate_fit(&opts, a, truth, list, 3, &c));
  assert_int_equal(c.n_members, MEMBERS - 1);
  assert_int_equal(c.member[0], 1);
  for (int64_t at = 0; at < LEADS * QUANTITIES; at++) {
    for (int64_t cell = 0; cell < CELLS; cell++) {
      const int64_t ahead = at / QUANTITIES + 1, point = at * CELLS + cell;
      double x[3], mean = 0, square = 0;
      int n = 0;

      for (int64_t i = 0; i < 3; i++) { /* a start a day, none on days 4 to 403 */
        if (list[i] + ahead < 4 && cell != 5) {
          x[n] = (double)y[((list[i] + ahead) * QUANTITIES + at % QUANTITIES) * CELLS + cell];
          mean += x[n++];
        }
      }
      for (int i = 0; i < n; i++) {
        square += (x[i] - mean / n) * (x[i] - mean / n);
      }
      assert_int_equal(isnan(c.truth_mean[point]), n == 0);
      assert_true(n == 0 || fabs((double)c.truth_mean[point] - mean / n) < 0.01);
      assert_true(n == 0 || fabs((double)c.truth_sd[point] - sqrt(square / n)) < 0.01);
      const float *const q = c.truth_quantile + at * 5 * CELLS + cell;

      assert_true(n == 0 || ((double)q[0] <= (double)c.truth_mean[point] && q[4 * CELLS] >= q[0]));
      assert_int_equal(isnan(q[2 * CELLS]), n == 0);
    }
  }
  wx_model_climate_fini(&c);
  wx_archive_close(&truth);
  wx_archive_close(&a);
}

static void a_climate_comes_back(void **state)
{
  static const int64_t list[] = {0, 2, 5};
  const wx_model_climate_opts opts = {.members = 1, .window = 3, .smoothing = 1.5, .quantiles = 3};
  char dir[256], path[300];
  wx_archive *a = cube();
  wx_model_climate c, back;

  (void)state;
  NEEDS_NETCDF();
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/climate.nc", dir);
  assert_ok(wx_model_climate_fit(&opts, a, NULL, list, 3, &c));
  assert_ok(wx_model_climate_write(&c, path));
  assert_ok(wx_model_climate_read(path, NULL, 0, &back));
  assert_int_equal(back.n_init_times, 3);
  assert_int_equal(back.start[2], start[5]);
  assert_memory_equal(back.name, c.name, QUANTITIES * WX_SHORT);
  assert_memory_equal(back.mean, c.mean, 4 * sizeof(double));
  assert_memory_equal(back.las_sd, c.las_sd, 4 * CELLS * sizeof(float));
  assert_memory_equal(back.quantile, c.quantile, 16 * CELLS * sizeof(float));
  assert_int_equal(back.member[0], c.member[0]);
  assert_null(back.truth_mean);
  wx_model_climate_fini(&back);
  assert_ok(wx_model_climate_read(path, "z850", 48, &back)); /* one of four */
  assert_int_equal(back.n_leads * back.n_quantities, 1);
  assert_string_equal(back.name, "z850");
  assert_near(back.lead[0], 48, 0);
  assert_near(back.mean[0], c.mean[3], 0);
  assert_memory_equal(back.las_sd, c.las_sd + 3 * CELLS, CELLS * sizeof(float));
  assert_memory_equal(back.quantile, c.quantile + 12 * CELLS, 4 * CELLS * sizeof(float));
  wx_model_climate_fini(&back);
  assert_int_equal(wx_model_climate_read(path, "z850", 72, &back), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no climate of z850 at 72 h"));
  write_text(path, "no climate");
  assert_int_equal(wx_model_climate_read(path, NULL, 0, &back), WEIR_ERR_DATA);
  wx_model_climate_fini(&c);
  wx_archive_close(&a);
  weir_check_rmdir(dir);
}

static weir_status fit_once(void *context)
{
  static const int64_t list[] = {0, 4};
  const wx_model_climate_opts opts = {.members = 1, .window = 3, .quantiles = 2};
  wx_model_climate c;

  WEIR_TRY(wx_model_climate_fit(&opts, context, NULL, list, 2, &c));
  wx_model_climate_fini(&c);
  return WEIR_OK;
}

static void memory_that_runs_out_leaves_nothing(void **state)
{
  wx_archive *a = cube();

  (void)state;
  assert_true(weir_check_faults(fit_once, a) > 10);
  wx_archive_close(&a);
}

static void what_cannot_be_is_refused(void **state)
{
  const wx_model_climate_opts even = {.window = 4}, odd = {.window = 3};
  wx_archive *a = cube();
  wx_model_climate c;

  (void)state;
  assert_int_equal(wx_model_climate_fit(&even, a, NULL, member, 1, &c), WEIR_ERR_CONFIG);
  assert_int_equal(wx_model_climate_fit(&odd, a, NULL, member, 0, &c), WEIR_ERR_CONFIG);
  wx_archive_close(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_are_what_loops_say),
      cmocka_unit_test(a_year_without_values_does_not_count),
      cmocka_unit_test(the_grid_counts_by_area),
      cmocka_unit_test(quantiles_are_those_of_sorted_values),
      cmocka_unit_test(truth_is_that_of_the_valid_time),
      cmocka_unit_test(a_climate_comes_back),
      cmocka_unit_test(memory_that_runs_out_leaves_nothing),
      cmocka_unit_test(what_cannot_be_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
