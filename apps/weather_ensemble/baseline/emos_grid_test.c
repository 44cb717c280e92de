/* emos_grid_test.c - coefficients of cells: their own, those of a window, those of all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "baseline/emos.h"
#include "device/weir_parallel.h"

enum { LAT = 5, LON = 8, CELLS = LAT * LON, DATES = 60, ALL = DATES * CELLS };

typedef struct field {
  float mean[ALL], variance[ALL], truth[ALL];
  double weight[CELLS];
} field;

/* Every cell has a bias of its own. */
static void draw(field *f)
{
  for (int64_t i = 0; i < ALL; i++) {
    const uint64_t k = (uint64_t)i;

    f->mean[i] = (float)(5 * weir_random_normal(1, 1, 0, k));
    f->variance[i] = (float)(0.5 + weir_random_uniform(1, 1, 1, k));
    f->truth[i] = (float)((double)f->mean[i] + (double)(i % CELLS) / 8 +
                          sqrt((double)f->variance[i]) * weir_random_normal(1, 1, 2, k));
  }
  for (int64_t c = 0; c < CELLS; c++) {
    f->weight[c] = 1 + 0.1 * (double)(c / LON);
  }
}

static wx_cases cases_of(const field *f)
{
  return (wx_cases){.rows = DATES,
                    .columns = CELLS,
                    .mean = f->mean,
                    .variance = f->variance,
                    .truth = f->truth,
                    .weight = f->weight};
}

static wx_emos_opts opts_of(int pool, int64_t reach)
{
  wx_emos_opts o;

  weir_opts_default(wx_emos_options, sizeof o, &o);
  o.pool = pool;
  o.radius = reach;
  return o;
}

/* The fit of the cells whose window is asked for, from a copy that holds no others. */
static void fit_apart(const field *f, const wx_emos_opts *o, const bool *in, wx_emos_fit *fit)
{
  static field g;

  g = *f;
  for (int64_t i = 0; i < ALL; i++) {
    if (!in[i % CELLS]) {
      g.truth[i] = NAN;
    }
  }
  const wx_cases c = cases_of(&g);

  assert_ok(wx_emos_fit_cases(o, &c, fit));
}

static void check_window(bool wraps, int64_t reach, int64_t lat, int64_t lon)
{
  static field f;
  const wx_emos_opts o = opts_of(reach == 0 ? WX_EMOS_POINT : WX_EMOS_WINDOW, reach);
  const wx_emos_grid grid = {.n_lat = LAT, .n_lon = LON, .wraps = wraps};
  bool in[CELLS];
  wx_emos at[CELLS];
  wx_emos_fit want;
  int64_t few = -1;

  draw(&f);
  const wx_cases c = cases_of(&f);

  assert_ok(wx_emos_fit_grid(&o, &c, &grid, at, &few));
  assert_int_equal(few, 0);
  for (int64_t cell = 0; cell < CELLS; cell++) {
    const int64_t dj = llabs(cell / LON - lat), di = llabs(cell % LON - lon);

    in[cell] = dj <= reach && (di <= reach || (wraps && LON - di <= reach));
  }
  fit_apart(&f, &o, in, &want);
  const wx_emos *const got = &at[lat * LON + lon];

  assert_near(got->alpha, want.at.alpha, 1e-5);
  assert_near(got->beta, want.at.beta, 1e-5);
  assert_near(got->gamma, want.at.gamma, 1e-3);
  assert_near(got->delta, want.at.delta, 1e-3);
}

static void cells_and_windows_have_their_own_cases(void **state)
{
  check_window(false, 0, 2, 3);
  check_window(false, 1, 2, 3);
  check_window(false, 1, 0, 0);
  check_window(true, 1, 0, 0);
  check_window(true, 2, 4, 7);
  check_window(true, 4, 2, 5); /* as wide as the grid: no column twice */
  check_window(false, 100, 2, 5);
}

static void bits_do_not_depend_on_threads(void **state)
{
  static field f;
  const wx_emos_grid grid = {.n_lat = LAT, .n_lon = LON, .wraps = true};
  const int threads = weir_threads_get();
  wx_emos at[2][CELLS];
  int64_t few = 0;

  draw(&f);
  const wx_cases c = cases_of(&f);

  for (int pool = WX_EMOS_POINT; pool <= WX_EMOS_WINDOW; pool++) {
    const wx_emos_opts o = opts_of(pool, 1);

    for (int k = 0; k < 2; k++) {
      weir_threads_set(1 + k);
      assert_ok(wx_emos_fit_grid(&o, &c, &grid, at[k], &few));
    }
    assert_memory_equal(at[0], at[1], sizeof at[0]);
  }
  weir_threads_set(threads);
}

static void cells_without_cases_have_those_of_all(void **state)
{
  static field f;
  const wx_emos_opts o = opts_of(WX_EMOS_POINT, 0);
  const wx_emos_grid grid = {.n_lat = LAT, .n_lon = LON}, other = {.n_lat = LAT, .n_lon = LON + 1};
  wx_emos at[CELLS];
  wx_emos_fit all;
  int64_t few = 0;

  draw(&f);
  for (int64_t t = 0; t < DATES; t++) {
    f.truth[t * CELLS + 9] = NAN;
    if (t >= o.min_cases - 1) {
      f.mean[t * CELLS + 10] = NAN;
    }
  }
  const wx_cases c = cases_of(&f);

  assert_ok(wx_emos_fit_grid(&o, &c, &grid, at, &few));
  assert_ok(wx_emos_fit_cases(&o, &c, &all));
  assert_int_equal(few, 2);
  assert_memory_equal(&at[9], &all.at, sizeof all.at);
  assert_memory_equal(&at[10], &all.at, sizeof all.at);
  assert_true(at[11].alpha != all.at.alpha);
  assert_int_equal(wx_emos_fit_grid(&o, &c, &other, at, &few), WEIR_ERR_SHAPE);
}

static void gaussians_follow_the_coefficients(void **state)
{
  const wx_emos at[] = {{.alpha = 1, .beta = 2, .gamma = 3, .delta = 4}, {.beta = 1, .gamma = 0.5}};
  const float mean[] = {5, NAN}, variance[] = {4, 4};
  float mu[2], sigma[2];

  wx_emos_apply(at, 1, mean, variance, 2, mu, sigma);
  assert_near((double)mu[0], 11, 1e-6);
  assert_near((double)sigma[0], sqrt(9 + 16 * 4), 1e-6);
  assert_true(isnan(mu[1]));
  wx_emos_apply(at, 2, variance, variance, 2, mu, sigma);
  assert_near((double)mu[1], 4, 1e-6);
  assert_near((double)sigma[1], 0.5, 1e-6);
}

static weir_status make(void *context)
{
  static field f;
  const wx_emos_opts o = opts_of(WX_EMOS_POINT, 0);
  const wx_emos_grid grid = {.n_lat = LAT, .n_lon = LON};
  wx_emos at[CELLS];
  int64_t few = 0;

  draw(&f);
  f.truth[0] = NAN;
  const wx_cases c = cases_of(&f);

  return wx_emos_fit_grid(&o, &c, &grid, at, &few);
}

static void lack_of_memory_is_told(void **state)
{
  assert_true(weir_check_faults(make, NULL) >= 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_and_windows_have_their_own_cases),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(cells_without_cases_have_those_of_all),
      cmocka_unit_test(gaussians_follow_the_coefficients),
      cmocka_unit_test(lack_of_memory_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
