/* match_shape_test.c - matches and distances against the whole table of the warping, and refusals.
 */
#include "stream/op/match_shape/weir_stream_match_shape.h"
#include "support/stream/gap_check.h"
#include <math.h>

extern const weir_series_op weir_series_op_match_shape;

enum { LONGEST = 40 };

struct options {
  weir_real_list shape;
  double band, threshold;
};

static void normalise(double *z, int64_t m)
{
  double sum = 0, square = 0;

  for (int64_t i = 0; i < m; i++) {
    sum += z[i];
    square += z[i] * z[i];
  }
  const double mean = sum / (double)m, std = sqrt(fmax(square / (double)m - mean * mean, 0));

  for (int64_t i = 0; i < m; i++) {
    z[i] = std > 1e-9 ? (z[i] - mean) / std : 0;
  }
}

/* sqrt(D) / m without any lower bound. */
static double whole_distance(const double *a, const double *b, int64_t m, double band)
{
  static double d[LONGEST + 1][LONGEST + 1];
  const int64_t reach = (int64_t)ceil(band * (double)m);

  for (int64_t i = 0; i <= m; i++) {
    for (int64_t j = 0; j <= m; j++) {
      d[i][j] = i == 0 && j == 0 ? 0 : INFINITY;
      if (i > 0 && j > 0 && llabs(i - j) <= reach) {
        d[i][j] = (a[i - 1] - b[j - 1]) * (a[i - 1] - b[j - 1]) +
                  fmin(d[i - 1][j], fmin(d[i][j - 1], d[i - 1][j - 1]));
      }
    }
  }
  return sqrt(d[m][m]) / (double)m;
}

/* A noisy signal with gaps, and the template in it every 90 slots, warped, scaled and shifted. */
static void draw(series_case *c, uint64_t seed, const double *shape, int64_t m)
{
  series_draw(c, seed, 0.1 * (double)(seed % 3));
  c->count = SERIES_COUNT;
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const int64_t at = t % 90;

    if (at < m) {
      const double x = (double)at * (double)at / (double)(m - 1) * 0.2 + 0.8 * (double)at;

      c->x[t] = (float)(40 + 3 * shape[(int64_t)x < m ? (int64_t)x : m - 1]) + 0.1f * c->x[t];
      c->present[t] = 1;
    }
  }
}

static void matches_are_those_of_the_whole_table(void **state)
{
  static series_case c;
  int64_t found = 0, all = 0;

  for (uint64_t seed = 0; seed < 9; seed++) {
    const int64_t m = 8 + (int64_t)(seed * 13 % (LONGEST - 8));
    double shape[LONGEST], z[LONGEST], window[LONGEST];
    for (int64_t i = 0; i < m; i++) {
      shape[i] = z[i] = sin(0.7 * (double)i) + (double)(i % 5 == 2);
    }
    const struct options o = {
        {shape, m}, 0.1 * (double)(seed % 5), 0.06 + 0.03 * (double)(seed % 3)};

    draw(&c, seed, shape, m);
    gap_run(&c, &weir_series_op_match_shape, &o, 0);
    assert_int_equal(c.n, c.count);
    normalise(z, m);
    for (int64_t t = 0; t < c.count; t++) {
      double d = INFINITY;

      if (c.present[t] && t - series_run_start(&c, t) >= m - 1) {
        for (int64_t i = 0; i < m; i++) {
          window[i] = (double)c.x[t - m + 1 + i];
        }
        normalise(window, m);
        d = whole_distance(window, z, m, o.band);
      }
      if (fabs(d - o.threshold) > 1e-7) { /* nearer than rounding, either is right */
        assert_int_equal(c.y_present[t], d <= o.threshold);
        assert_near((double)c.y[t], d <= o.threshold ? d : 0, 1e-5);
      }
      found += c.y_present[t];
    }
    all += c.count;
  }
  assert_true(found > 50 && found < all / 2);
}

static void windows_without_spread_match_nothing(void **state)
{
  static series_case c;
  double shape[] = {0, 1, 2, 1, 0};
  const struct options o = {{shape, 5}, 0.2, 0.3};

  series_draw(&c, 1, 0);
  c.count = 60;
  for (int64_t t = 0; t < 60; t++) {
    c.x[t] = 7;
  }
  gap_run(&c, &weir_series_op_match_shape, &o, 0);
  for (int64_t t = 0; t < 60; t++) {
    assert_int_equal(c.y_present[t], 0);
  }
}

static void templates_that_are_none_are_refused(void **state)
{
  double flat[] = {3, 3, 3, 3, 3};
  const struct options few = {{flat, 3}, 0.1, 0.1}, none = {{flat, 5}, 0.1, 0.1};

  assert_step_refused(&weir_series_op_match_shape, &few, 1, "shape: 3 samples: 4 to 4096");
  assert_step_refused(&weir_series_op_match_shape, &none, 1, "samples of the template are equal");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_are_those_of_the_whole_table),
      cmocka_unit_test(windows_without_spread_match_nothing),
      cmocka_unit_test(templates_that_are_none_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
