/* las_test.c - windows against loops over the cells that they hold, on odd maps and widths. */
#include "data/las.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { MOST = 9, CELLS = MOST * MOST, DATES = 3, YEARS = 2 };
#define PIVOT 280.0

/* Values of dates of years; some are missing, and year 1 has none in the first two rows. */
static double value(int year, int date, int64_t cell, int64_t n_lon)
{
  const uint64_t i = (uint64_t)((year * DATES + date) * CELLS + cell);

  return weir_random_uniform(1, 1, 0, i) < 0.2 || (year == 1 && cell < 2 * n_lon)
             ? NAN
             : PIVOT + weir_random_normal(1, 2, 0, i);
}

static int64_t first_of(int64_t at, int64_t window, int64_t n)
{
  const int64_t wide = window < n ? window : n, lo = at - wide / 2;

  return lo < 0 ? 0 : lo > n - wide ? n - wide : lo;
}

/* Mean and standard deviation of a year's values in a window; false: there are none. */
static bool by_loop(const wx_map_shape *s, int64_t window, int64_t cell, int year, double *mean,
                    double *sd)
{
  const int64_t j = first_of(cell / s->n_lon, window, s->n_lat);
  const int64_t i = first_of(cell % s->n_lon, window, s->n_lon);
  double n = 0, sum[2] = {0, 0};

  for (int pass = 0; pass < 2; pass++) {
    for (int64_t c = 0; c < DATES * s->n_lat * s->n_lon; c++) {
      const int64_t at = c / DATES, row = at / s->n_lon, column = at % s->n_lon;
      const double x = value(year, (int)(c % DATES), at, s->n_lon);

      if (row >= j && row < j + window && column >= i && column < i + window && !isnan(x)) {
        n += pass == 0;
        sum[pass] += pass == 0 ? x : (x - *mean) * (x - *mean);
      }
    }
    *mean = sum[0] / n;
  }
  *sd = sqrt(sum[1] / n);
  return n > 0;
}

static void check(const wx_map_shape *s, int64_t window)
{
  double mean[CELLS] = {0}, sd[CELLS] = {0}, years[CELLS] = {0};
  const wx_las_total total = {mean, sd, years};

  for (int y = 0; y < YEARS; y++) {
    double n[CELLS] = {0}, sum[CELLS] = {0}, square[CELLS] = {0};

    for (int64_t c = 0; c < DATES * s->n_lat * s->n_lon; c++) {
      const double d = value(y, (int)(c % DATES), c / DATES, s->n_lon) - PIVOT;

      n[c / DATES] += !isnan(d);
      sum[c / DATES] += isnan(d) ? 0 : d;
      square[c / DATES] += isnan(d) ? 0 : d * d;
    }
    assert_ok(wx_las_add(s, window, &(wx_las_sums){n, sum, square, PIVOT}, &total));
  }
  assert_ok(wx_las_finish(s, 0, &total));
  for (int64_t c = 0; c < s->n_lat * s->n_lon; c++) {
    double m[YEARS] = {0}, d[YEARS] = {0}, there = 0, all[2] = {0, 0};

    for (int y = 0; y < YEARS; y++) {
      if (by_loop(s, window, c, y, &m[y], &d[y])) {
        all[0] += m[y];
        all[1] += d[y];
        there++;
      }
    }
    assert_true(isnan(mean[c]) == (there == 0));
    assert_true(there == 0 || fabs(mean[c] - all[0] / there) < 1e-11);
    assert_true(there == 0 || fabs(sd[c] - all[1] / there) < 1e-7);
  }
}

static void windows_are_what_loops_say(void **state)
{
  static const int64_t shape[][2] = {{7, 9}, {1, 1}, {1, 8}, {6, 2}, {4, 4}};

  for (size_t k = 0; k < sizeof shape / sizeof shape[0]; k++) {
    for (int64_t window = 1; window <= 11; window += 2) {
      check(&(wx_map_shape){shape[k][0], shape[k][1], k % 2 == 0}, window);
    }
  }
}

/* A year whose values are missing does not pull the others' mean to 0; smoothing fills what no year
 * knows from its neighbours. */
static void missing_years_and_places_do_not_count(void **state)
{
  const wx_map_shape s = {1, 4, false};
  const double n[4] = {2, 2, 0, 2}, sum[4] = {4, 4, 0, 4}, square[4] = {10, 10, 0, 10};
  const double none[4] = {0, 0, 0, 0};
  double mean[4] = {0}, sd[4] = {0}, years[4] = {0};
  const wx_las_total total = {mean, sd, years};

  assert_ok(wx_las_add(&s, 1, &(wx_las_sums){n, sum, square, 100}, &total));
  assert_ok(wx_las_add(&s, 1, &(wx_las_sums){none, none, none, 0}, &total));
  assert_ok(wx_las_finish(&s, 1, &total));
  for (int i = 0; i < 4; i++) {
    assert_near(mean[i], 102, 1e-12);
    assert_near(sd[i], 1, 1e-12);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_are_what_loops_say),
      cmocka_unit_test(missing_years_and_places_do_not_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
