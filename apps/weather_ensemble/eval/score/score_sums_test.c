/* score_sums_test.c - sums over initialisation times, points and regions against loops that do
 * without them; missing members; distributions; and the bits of any number of threads. */
#include "eval/score/score_sums.h"
#include "eval/ensemble.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "support/weather_ensemble/scores_check.h"

enum { ROWS = 4, COLUMNS = 6, CELLS = ROWS * COLUMNS, M = 5, INIT_TIMES = 4 };

static const double lat[ROWS] = {60, 30, 0, -30}, lon[COLUMNS] = {0, 60, 120, 180, 240, 300};
static double weight[CELLS];
static float truth[INIT_TIMES][CELLS], member[INIT_TIMES][M * CELLS], mean[INIT_TIMES][CELLS],
    sd[INIT_TIMES][CELLS], efi[CELLS], usual[CELLS], threshold[CELLS];
static unsigned char use[INIT_TIMES][CELLS];
static const wx_grid grid = {.kind = WX_GRID_LATLON,
                             .n_lat = ROWS,
                             .n_lon = COLUMNS,
                             .lat = lat,
                             .lon = lon,
                             .wraps = true,
                             .weight = weight};
static const wx_region north = {
    .name = "north", .south = 10, .north = 90, .west = -180, .east = 180};
static const wx_event event = {.name = "high", .above = true, .quantile = 0.9};
static wx_regions regions;

static void draw(void)
{
  wx_grid_weights(&grid, weight);
  for (uint64_t i = 0; i < CELLS; i++) {
    efi[i] = (float)(2 * weir_random_uniform(1, 9, 0, i) - 1);
    usual[i] = 250;
    threshold[i] = 251;
    for (uint32_t s = 0; s < INIT_TIMES; s++) {
      truth[s][i] = (float)(250 + 2 * weir_random_normal(1, 1, s, i));
      use[s][i] = weir_random_bits(1, 2, s, i) % 5 != 0;
      mean[s][i] = (float)(250 + weir_random_normal(1, 4, s, i));
      sd[s][i] = (float)(0.5 + weir_random_uniform(1, 5, s, i));
      for (uint64_t m = 0; m < M; m++) {
        member[s][m * CELLS + i] = (float)(250 + 2 * weir_random_normal(1, 3, s, m * CELLS + i));
      }
    }
  }
}

static wx_score_sums_opts options(void)
{
  wx_score_sums_opts o;

  weir_opts_default(wx_score_sums_options, sizeof o, &o);
  o.patch = 2;
  return o;
}

static const wx_climatology climate = {
    .event = &event, .n_events = 1, .mean = usual, .threshold = threshold, .n = 1};

/* All initialisation times of members, or of distributions. */
static void take_all(wx_score_sums *t)
{
  for (int s = 0; s < INIT_TIMES; s++) {
    const wx_start_case c = {
        .truth = truth[s], .use = use[s], .efi = efi, .climate = &climate, .seed = 3, .start = s};
    const wx_given g = t->members > 0 ? (wx_given){.members = M, .member = member[s]}
                                      : (wx_given){.mean = mean[s], .sd = sd[s]};

    wx_score_sums_take(t, &c, &g, s);
  }
}

/* The plain sums of a region. */
typedef struct plain {
  double weight, crps, fair, square, variance, mean_error, brier, extreme, extreme_crps, gauss;
} plain;

static void add_plain(plain *p, int s, int i, double w)
{
  double x[M], mean_x = 0, skill = 0, pairs = 0, variance = 0, above = 0;
  const double y = (double)truth[s][i];

  for (int m = 0; m < M; m++) {
    x[m] = (double)member[s][m * CELLS + i];
    mean_x += x[m] / M;
    skill += fabs(x[m] - y) / M;
    above += x[m] > 251 ? 1.0 / M : 0;
  }
  for (int m = 0; m < M; m++) {
    variance += (x[m] - mean_x) * (x[m] - mean_x) / (M - 1);
    for (int k = 0; k < M; k++) {
      pairs += fabs(x[m] - x[k]);
    }
  }
  const double crps = skill - pairs / (2 * M * M);

  p->weight += w;
  p->crps += w * crps;
  p->fair += w * (skill - pairs / (2 * M * (M - 1)));
  p->square += w * (mean_x - y) * (mean_x - y);
  p->variance += w * variance;
  p->mean_error += w * (mean_x - y);
  p->brier += w * pow(above - (y > 251), 2);
  p->extreme += w * fabs((double)efi[i]);
  p->extreme_crps += w * fabs((double)efi[i]) * crps;
}

/* Root mean square of the points' mean errors. */
static double local_bias(int region, int by)
{
  double sum = 0, all = 0;

  for (int i = 0; i < CELLS; i++) {
    const double w = by == WX_BY_AREA ? weight[i] : 1;
    double error = 0, n = 0;

    for (int s = 0; s < INIT_TIMES; s++) {
      for (int m = 0; m < M && use[s][i]; m++) {
        error += ((double)member[s][m * CELLS + i] - (double)truth[s][i]) / M;
      }
      n += use[s][i] ? 1 : 0;
    }
    if (n > 0 && (region == 0 || lat[i / COLUMNS] > 10)) {
      sum += w * error * error / (n * n);
      all += w;
    }
  }
  return sqrt(sum / all);
}

static void sums_equal_plain_loops(void **state)
{
  const wx_score_sums_opts o = options();
  wx_score_sums t;

  assert_ok(wx_score_sums_create(&o, &grid, &regions, M, 1, INIT_TIMES, &t));
  take_all(&t);
  for (int region = 0; region < 2; region++) {
    for (int by = 0; by < WX_WEIGHTINGS; by++) {
      plain p = {.weight = 0};

      for (int s = 0; s < INIT_TIMES; s++) {
        for (int i = 0; i < CELLS; i++) {
          if (use[s][i] && (region == 0 || lat[i / COLUMNS] > 10)) {
            add_plain(&p, s, i, by == WX_BY_AREA ? weight[i] : 1);
          }
        }
      }
      const double *const e = wx_score_sums_total(&t, region, by) + wx_score_sums_event(0, 0);

      assert_near(wx_score_get(&t, region, by, WX_CRPS), p.crps / p.weight, 1e-12);
      assert_near(wx_score_get(&t, region, by, WX_CRPS_FAIR), p.fair / p.weight, 1e-12);
      assert_near(wx_score_get(&t, region, by, WX_RMSE), sqrt(p.square / p.weight), 1e-12);
      assert_near(wx_score_get(&t, region, by, WX_SPREAD), sqrt(p.variance / p.weight), 1e-12);
      assert_near(wx_score_get(&t, region, by, WX_SSR), sqrt(6 / 5.0 * p.variance / p.square),
                  1e-12);
      assert_near(wx_score_get(&t, region, by, WX_MSE_UNBIASED),
                  (p.square - p.variance / M) / p.weight, 1e-12);
      assert_near(wx_score_get(&t, region, by, WX_BIAS), p.mean_error / p.weight, 1e-12);
      assert_near(wx_score_sums_local_bias(&t, region, by), local_bias(region, by), 1e-12);
      assert_near(wx_score_get(&t, region, by, WX_EECRPS), p.extreme_crps / p.weight, 1e-12);
      assert_near(wx_score_get(&t, region, by, WX_EECRPS_NORMALISED), p.extreme_crps / p.extreme,
                  1e-12);
      assert_near(e[WX_EVENT_BRIER] / e[WX_EVENT_WEIGHT], p.brier / p.weight, 1e-12);
    }
  }
  wx_score_sums_fini(&t);
}

/* Sums of the other scores of a point, from their formulas. */
typedef struct others {
  double weight, absolute, gauss, almost, log, covered, width, interval;
  double product, forecast, came; /* of anomalies of a start */
} others;

static void add_others(others *p, int s, int i, double w)
{
  double x[M], middle = 0, variance = 0, skill = 0, pairs = 0, min = INFINITY, max = -INFINITY;
  const double y = (double)truth[s][i], pi = acos(-1);

  for (int m = 0; m < M; m++) {
    x[m] = (double)member[s][m * CELLS + i];
    middle += x[m] / M;
    skill += fabs(x[m] - y) / M;
    min = fmin(min, x[m]);
    max = fmax(max, x[m]);
  }
  for (int m = 0; m < M * M; m++) {
    variance += m < M ? (x[m] - middle) * (x[m] - middle) / (M - 1) : 0;
    pairs += fabs(x[m / M] - x[m % M]);
  }
  const double spread = sqrt(variance), z = (y - middle) / spread;

  p->weight += w;
  p->absolute += w * fabs(middle - y);
  p->gauss += w * spread * (z * erf(z / sqrt(2)) + sqrt(2 / pi) * exp(-z * z / 2) - 1 / sqrt(pi));
  p->almost += w * (skill - pairs / 2 * (0.95 / (M * (M - 1)) + 0.05 / (M * M)));
  p->log += w * (log(spread) + z * z / 2 + log(2 * pi) / 2);
  /* 80 % is more than five members reach: from the minimum to the maximum, 4 in 6. */
  p->covered += y >= min && y <= max ? w : 0;
  p->width += w * (max - min);
  p->interval += w * (max - min + 6 * fmax(0, fmax(min - y, y - max)));
  p->product += w * (middle - (double)usual[i]) * (y - (double)usual[i]);
  p->forecast += w * pow(middle - (double)usual[i], 2);
  p->came += w * pow(y - (double)usual[i], 2);
}

static void other_scores_equal_their_formulas(void **state)
{
  const wx_score_sums_opts o = options();
  wx_score_sums t;

  assert_ok(wx_score_sums_create(&o, &grid, &regions, M, 1, INIT_TIMES, &t));
  take_all(&t);
  for (int by = 0; by < WX_WEIGHTINGS; by++) {
    others p = {.weight = 0};
    double correlation = 0;

    for (int s = 0; s < INIT_TIMES; s++) {
      p.product = p.forecast = p.came = 0;
      for (int i = 0; i < CELLS; i++) {
        if (use[s][i]) {
          add_others(&p, s, i, by == WX_BY_AREA ? weight[i] : 1);
        }
      }
      correlation += p.product / sqrt(p.forecast * p.came) / INIT_TIMES;
    }
    assert_near(wx_score_get(&t, 0, by, WX_MAE), p.absolute / p.weight, 1e-12);
    assert_near(wx_score_get(&t, 0, by, WX_CRPS_GAUSS), p.gauss / p.weight, 1e-12);
    assert_near(wx_score_get(&t, 0, by, WX_CRPS_ALMOST_FAIR), p.almost / p.weight, 1e-12);
    assert_near(wx_score_get(&t, 0, by, WX_LOG), p.log / p.weight, 1e-12);
    assert_near(wx_score_get(&t, 0, by, WX_COVERAGE), p.covered / p.weight, 1e-12);
    assert_near(wx_score_get(&t, 0, by, WX_COVERAGE_NOMINAL), 4.0 / 6, 1e-12);
    assert_near(wx_score_get(&t, 0, by, WX_WIDTH), p.width / p.weight, 1e-12);
    assert_near(wx_score_get(&t, 0, by, WX_INTERVAL_SCORE), p.interval / p.weight, 1e-11);
    assert_near(wx_score_get(&t, 0, by, WX_ACC), correlation, 1e-12);
  }
  wx_score_sums_fini(&t);
}

static void histograms_and_parts_hold_every_case(void **state)
{
  const wx_score_sums_opts o = options();
  wx_score_sums t;

  assert_ok(wx_score_sums_create(&o, &grid, &regions, M, 1, INIT_TIMES, &t));
  take_all(&t);
  const double *const b = wx_score_sums_total(&t, 0, WX_BY_POINT);
  const wx_hersbach h = wx_score_sums_hersbach(&t, 0, WX_BY_POINT);
  double ranks = 0, pit = 0, bins = 0;

  for (int k = 0; k <= M; k++) {
    ranks += b[t.at.rank + k];
  }
  for (int k = 0; k < t.pit_bins; k++) {
    pit += b[t.at.pit + k];
  }
  for (int k = 0; k < t.bins; k++) {
    bins += (double)wx_score_sums_bins(&t, 0, WX_BY_POINT, 0)[k].count;
  }
  double share = 0, square = 0;

  for (int k = 0; k < WX_SPREAD_BINS; k++) {
    const wx_spread_bin bin = wx_spread_bin_get(&t, b, k);

    share += bin.share;
    square += bin.share > 0 ? bin.share * bin.rmse * bin.rmse : 0;
    assert_true(bin.share == 0 || (bin.spread >= exp2((k - 64) / 4.0) * (1 - 1e-12) &&
                                   bin.spread <= exp2((k - 63) / 4.0) * (1 + 1e-12)));
  }
  assert_near(share, 1, 1e-12);
  assert_near(sqrt(square), wx_score_get(&t, 0, WX_BY_POINT, WX_RMSE), 1e-12);
  assert_true(fabs(wx_spread_correlation(b)) < 0.5);
  assert_int_equal(t.bins, M + 1);
  assert_true(ranks == b[WX_SUM_CELLS] && pit == ranks && bins == ranks && h.weight == ranks);
  assert_near(wx_hersbach_get(&h).crps, wx_score_get(&t, 0, WX_BY_POINT, WX_CRPS), 1e-12);
  assert_true(b[WX_SUM_PATCH] >= 0 && b[WX_SUM_ONE] == INIT_TIMES);
  assert_true(t.map[WX_MAP_COUNT * CELLS] <= INIT_TIMES);
  wx_score_sums_clear(&t);
  assert_true(isnan(wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS)));
  wx_score_sums_fini(&t);
}

static void distributions_have_one_crps(void **state)
{
  const wx_score_sums_opts o = options();
  wx_score_sums t;

  assert_ok(wx_score_sums_create(&o, &grid, &regions, 0, 1, INIT_TIMES, &t));
  take_all(&t);
  const double crps = wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS);

  assert_true(crps > 0 && crps == wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS_GAUSS));
  assert_true(crps == wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS_FAIR));
  assert_true(isnan(wx_score_get(&t, 0, WX_BY_AREA, WX_ENERGY)));
  assert_int_equal(t.bins, o.bins);
  wx_score_sums_fini(&t);
}

/* The nominal number of members would give a score here (properscoring 7, WeatherBench 2 303). */
static void missing_members_are_not_counted(void **state)
{
  const wx_score_sums_opts o = options();
  float x[M * CELLS], y[CELLS];
  unsigned char all[CELLS];
  wx_score_sums t;

  for (int i = 0; i < CELLS; i++) {
    y[i] = 3;
    all[i] = 1;
    for (int m = 0; m < M; m++) {
      x[m * CELLS + i] = m < 2 ? 3 : NAN;
    }
  }
  const wx_given g = {.members = M, .member = x};
  const wx_start_case c = {.truth = y, .use = all};

  assert_false(wx_given_is_whole(&g, CELLS, 0, false));
  assert_true(wx_given_is_whole(&g, CELLS, 0, true));
  assert_ok(wx_score_sums_create(&o, &grid, &regions, M, 0, 1, &t));
  wx_score_sums_take(&t, &c, &g, 0);
  assert_true(wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS) == 0);
  assert_true(wx_score_sums_total(&t, 0, WX_BY_AREA)[t.at.rank] == 0);
  wx_score_sums_fini(&t);
}

/* A distribution without spread has a CRPS and no logarithmic score; the others' mean does not
 * replace it. */
static void without_spread_there_is_no_log_score(void **state)
{
  const wx_score_sums_opts o = options();
  const wx_bootstrap_opts b = {.resamples = 20, .confidence = 0.9};
  float narrow[CELLS];
  wx_resamples r;
  weir_estimate e;
  wx_score_sums t;

  memcpy(narrow, sd[0], sizeof narrow);
  for (int k = 0; k < 2; k++) {
    assert_ok(wx_score_sums_create(&o, &grid, &regions, 0, 0, INIT_TIMES, &t));
    for (int s = 0; s < INIT_TIMES; s++) {
      const wx_given g = {.mean = mean[s], .sd = s == 0 ? narrow : sd[s]};
      const wx_start_case c = {.truth = truth[s], .use = use[s]};

      wx_score_sums_take(&t, &c, &g, s);
    }
    assert_ok(wx_resamples_create(&b, 1, 1, INIT_TIMES, &r));
    assert_ok(wx_score_estimate(&t, 0, WX_BY_AREA, WX_LOG, &b, &r, &e));
    assert_int_equal(isnan(e.value), k);
    assert_int_equal(isnan(e.lo) && isnan(e.hi), k);
    assert_true(wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS) > 0);
    wx_resamples_fini(&r);
    wx_score_sums_fini(&t);
    for (int i = 0; i < CELLS; i++) {
      narrow[i] = use[0][i] ? 0 : narrow[i];
    }
  }
}

static void one_member_has_no_spread(void **state)
{
  const wx_score_sums_opts o = options();
  wx_score_sums t;

  assert_ok(wx_score_sums_create(&o, &grid, &regions, 1, 0, 1, &t));
  const wx_given g = {.members = 1, .member = member[0]};
  const wx_start_case c = {.truth = truth[0], .use = use[0]};

  wx_score_sums_take(&t, &c, &g, 0);
  assert_near(wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS), wx_score_get(&t, 0, WX_BY_AREA, WX_MAE),
              1e-14);
  assert_true(isnan(wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS_FAIR)));
  assert_true(isnan(wx_score_get(&t, 0, WX_BY_AREA, WX_SPREAD)));
  assert_true(isnan(wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS_GAUSS)));
  wx_score_sums_fini(&t);
}

static void nothing_used_is_nan(void **state)
{
  const wx_score_sums_opts o = options();
  const unsigned char none[CELLS] = {0};
  wx_score_sums t;

  assert_ok(wx_score_sums_create(&o, &grid, &regions, M, 0, 1, &t));
  wx_score_sums_take(&t, &(wx_start_case){.truth = truth[0], .use = none},
                     &(wx_given){.members = M, .member = member[0]}, 0);
  for (int s = 0; s < WX_SCORES; s++) {
    assert_true(isnan(wx_score_get(&t, 0, WX_BY_AREA, s)));
  }
  wx_score_sums_fini(&t);
}

/* More points than a chunk has. */
static void threads_change_no_bit(void **state)
{
  enum { WIDE = 3000, TALL = 3, ALL = WIDE * TALL };
  static float x[2 * ALL], y[ALL];
  static unsigned char all[ALL];
  static double area[ALL];
  const wx_grid big = {.kind = WX_GRID_PLANE, .n_lat = TALL, .n_lon = WIDE, .weight = area};
  const wx_score_sums_opts o = options();
  const int threads = weir_threads_get();
  double crps[2];
  wx_regions one;

  for (uint64_t i = 0; i < ALL; i++) {
    y[i] = (float)weir_random_normal(2, 1, 0, i);
    x[i] = (float)weir_random_normal(2, 2, 0, i);
    x[ALL + i] = (float)weir_random_normal(2, 3, 0, i);
    all[i] = 1;
    area[i] = weir_random_uniform(2, 4, 0, i);
  }
  assert_ok(wx_regions_create(NULL, 0, &big, &one));
  for (int k = 0; k < 2; k++) {
    wx_score_sums t;

    weir_threads_set(k == 0 ? 1 : 3);
    assert_ok(wx_score_sums_create(&o, &big, &one, 2, 0, 1, &t));
    wx_score_sums_take(&t, &(wx_start_case){.truth = y, .use = all},
                       &(wx_given){.members = 2, .member = x}, 0);
    crps[k] = wx_score_get(&t, 0, WX_BY_AREA, WX_CRPS) + wx_score_get(&t, 0, 0, WX_ENERGY);
    wx_score_sums_fini(&t);
  }
  weir_threads_set(threads);
  wx_regions_fini(&one);
  assert_true(crps[0] == crps[1] && crps[0] > 0);
}

/* At stations a vector has the quantities of one: no station is next to another. */
static void quantities_of_a_station_are_a_vector(void **state)
{
  static const double scale[2] = {2, 0.5};
  static const float y[2][3] = {{1, 2, 3}, {4, 5, 6}};
  static const float x[2][2][3] = {{{3, 2, 9}, {1, 4, 9}}, {{4, 7, 9}, {6, 5, NAN}}};
  static const unsigned char all[3] = {1, 1, 1};
  const wx_grid sites = {.kind = WX_GRID_SITES, .n_lat = 1, .n_lon = 3};
  const wx_joint_case c = {
      .n = 2, .truth = y[0], .member = x[0][0], .members = 2, .scale = scale, .use = all};
  const wx_score_sums_opts o = options();
  wx_regions whole;
  wx_score_sums t;
  double energy = 0, variogram = 0;

  (void)state;
  assert_ok(wx_regions_create(NULL, 0, &sites, &whole));
  assert_ok(wx_score_sums_create(&o, &sites, &whole, 2, 0, 1, &t));
  assert_ok(wx_score_sums_take_joint(&t, &c, 0));
  for (int i = 0; i < 2; i++) { /* the third lacks a member */
    const double a[2][2] = {{(double)x[0][0][i] / 2, (double)x[1][0][i] * 2},
                            {(double)x[0][1][i] / 2, (double)x[1][1][i] * 2}};
    const double b[2] = {(double)y[0][i] / 2, (double)y[1][i] * 2};

    energy += wx_energy_score(a[0], 2, 2, b, 2).empirical / 2;
    variogram += wx_variogram_score(a[0], 2, 2, b, 2, 0.5) / 2;
  }
  assert_near(wx_score_get(&t, 0, WX_BY_POINT, WX_ENERGY), energy, 1e-14);
  assert_near(wx_score_get(&t, 0, WX_BY_AREA, WX_VARIOGRAM), variogram, 1e-14);
  assert_near(wx_score_sums_total(&t, 0, WX_BY_POINT)[WX_SUM_PATCH], 2, 0);
  wx_score_sums_fini(&t);
  wx_regions_fini(&whole);
}

static weir_status make(void *context)
{
  wx_score_sums t;

  (void)context;
  WEIR_TRY(wx_score_sums_create(&(wx_score_sums_opts){.bins = 3, .patch = 2}, &grid, &regions, M, 1,
                                2, &t));
  wx_score_sums_fini(&t);
  return WEIR_OK;
}

static void faults_leave_nothing(void **state)
{
  assert_true(weir_check_faults(make, NULL) > 5);
}

static void regions_are_boxes(void **state)
{
  const wx_region pacific = {
      .name = "pacific", .south = -30, .north = 0, .west = 120, .east = -120};
  const wx_region nowhere = {.name = "nowhere", .south = 80, .north = 90, .west = 0, .east = 1};
  wx_regions r;

  assert_ok(wx_regions_create(&pacific, 1, &grid, &r));
  assert_int_equal(r.points[1], 2 * 3); /* 120, 180, 240 */
  wx_regions_fini(&r);
  assert_int_equal(wx_regions_create(&nowhere, 1, &grid, &r), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "nowhere"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_equal_plain_loops),
      cmocka_unit_test(other_scores_equal_their_formulas),
      cmocka_unit_test(histograms_and_parts_hold_every_case),
      cmocka_unit_test(distributions_have_one_crps),
      cmocka_unit_test(missing_members_are_not_counted),
      cmocka_unit_test(without_spread_there_is_no_log_score),
      cmocka_unit_test(one_member_has_no_spread),
      cmocka_unit_test(nothing_used_is_nan),
      cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(quantities_of_a_station_are_a_vector),
      cmocka_unit_test(faults_leave_nothing),
      cmocka_unit_test(regions_are_boxes),
  };

  weir_threads_set(1);
  draw();
  if (wx_regions_create(&north, 1, &grid, &regions) != WEIR_OK) {
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  wx_regions_fini(&regions);
  return failed;
}
