/* standard_yaml_test.c - statistics against their definition, of the given samples alone; fields
 * come back. */
#include <stdlib.h>
#include "data/model_climate.h"
#include "support/weather_ensemble/samples_check.h"
#include "support/graph/store_check.h"
#include "data/samples/standard.h"

static scene s;
static weir_config *config;
static wx_data_opts data;
static wx_samples *samples;

static int set_up(void **state)
{
  scene_open(&s);
  data =
      scene_options("{target: [z500], inputs: [z500, t850], lead: [24], lead_time: true}", &config);
  assert_ok(wx_samples_open(&data, s.of_forecast, s.of_truth, true, &samples));
  return 0;
}

static int tear_down(void **state)
{
  wx_samples_close(&samples);
  weir_config_destroy(&config);
  scene_close(&s);
  return 0;
}

static void fit(const wx_standard_opts *o, const int64_t *sample, int64_t n, weir_store **store,
                wx_standard *out)
{
  assert_ok(weir_store_create(store));
  assert_ok(wx_standard_open(o, wx_samples_get(samples), true, WX_BASE_RAW, *store, out));
  assert_ok(wx_standard_fit(out, samples, sample, n, NULL));
}

/* Mean and standard deviation of a channel of x over samples and cells [first, first + count). */
static void by_definition(const int64_t *sample, int64_t n, int64_t c, int64_t first, int64_t count,
                          double *mean, double *sd)
{
  *mean = *sd = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t k = 0; k < n; k++) {
      wx_sample v;

      assert_ok(wx_samples_read(samples, sample[k], &v));
      for (int64_t i = first; i < first + count; i++) {
        const double x = (double)v.x[c * S_P + i];

        *(pass == 0 ? mean : sd) += pass == 0 ? x : (x - *mean) * (x - *mean);
      }
    }
    *mean /= pass == 0 ? (double)(n * count) : 1;
  }
  *sd = sqrt(*sd / (double)(n * count));
}

static void statistics_are_those_of_the_samples_given(void **state)
{
  const int64_t sample[] = {3, 9, 7, 8};

  for (int where = 0; where < 2; where++) {
    wx_standard_opts o;
    weir_store *store = NULL;
    wx_standard t;

    weir_opts_default(wx_standard_options, sizeof o, &o);
    o.inputs = where;
    o.min_sd = 0;
    fit(&o, sample, 4, &store, &t);
    for (int64_t c = 0; c < 4; c++) {
      for (int64_t p = 0; p < t.n_positions; p++) {
        double mean, sd;

        by_definition(sample, 4, c, where == WX_WHERE_LOCAL ? p : 0,
                      where == WX_WHERE_LOCAL ? 1 : S_P, &mean, &sd);
        assert_near(t.x_mean[c * t.n_positions + p], mean, 1e-9);
        assert_near(t.x_sd[c * t.n_positions + p], sd < 1e-5 ? t.x_sd[c * t.n_positions + p] : sd,
                    1e-9);
      }
    }
    assert_ptr_equal(t.x_sd, check_stored(store, "standard.x_sd")->data);
    weir_store_destroy(&store);
  }
}

/* What a network that makes nothing says: the raw mean less the bias, globally or of the grid
 * point; and the unit is the root mean square of what is left. */
static void nothing_is_the_corrected_bias(void **state)
{
  const int64_t sample[] = {0, 1, 2, 3, 4, 5};

  for (int bias = 0; bias < 3; bias++) {
    wx_standard_opts o;
    weir_store *store = NULL;
    wx_standard t;
    wx_sample v;
    float zero[S_P] = {0}, field[S_P], y[S_P], sd[S_P], back[S_P];
    double square = 0;

    weir_opts_default(wx_standard_options, sizeof o, &o);
    o.bias = bias;
    fit(&o, sample, 6, &store, &t);
    for (int64_t k = 0; k < 6; k++) {
      assert_ok(wx_samples_read(samples, k, &v));
      wx_standard_field(&t, v.m, zero, field);
      wx_standard_y(&t, v.y, v.m, v.s, y, sd);
      wx_standard_field(&t, v.m, y, back);
      for (int64_t i = 0; i < S_P; i++) {
        assert_near((double)field[i], (double)v.m[i] - (bias == WX_BIAS_NONE ? 0 : 0.5), 1e-4);
        assert_near((double)back[i], (double)v.y[i], 1e-4);
        assert_near((double)sd[i] * t.unit[0], (double)v.s[i], 1e-4);
        square += pow((double)v.y[i] - (double)field[i], 2) / (6 * S_P);
      }
    }
    assert_true(fabs(sqrt(square) - t.unit[0]) < 1e-3 * t.unit[0] || bias != WX_BIAS_NONE);
    weir_store_destroy(&store);
  }
}

/* A coordinate goes through as it is; what is missing becomes 0, the mean. */
static void plain_and_missing_values_are_met(void **state)
{
  const int64_t sample[] = {0, 1};
  wx_standard_opts o;
  weir_store *store = NULL;
  wx_standard t;
  wx_sample v;
  float copy[5 * S_P], x[5 * S_P];

  weir_opts_default(wx_standard_options, sizeof o, &o);
  fit(&o, sample, 2, &store, &t);
  assert_ok(wx_samples_read(samples, 0, &v));
  memcpy(copy, v.x, sizeof copy);
  copy[2] = NAN;
  wx_standard_x(&t, copy, x);
  assert_true(x[2 * 5] == 0);
  assert_near((double)x[2 * 5 + 4], 0.1, 1e-6); /* 24 h / 240 h */
  weir_store_destroy(&store);
  o.window = 4;
  assert_ok(weir_store_create(&store));
  assert_int_equal(wx_standard_open(&o, wx_samples_get(samples), true, WX_BASE_RAW, store, &t),
                   WEIR_ERR_CONFIG);
  weir_store_destroy(&store);
}

/* LAS: with a window as large as the map every position has the map's moments; years are averaged.
 */
static void windows_take_places_together(void **state)
{
  const int64_t sample[] = {0, 1, 2, 3};
  wx_standard_opts o;
  weir_store *store[2] = {NULL, NULL};
  wx_standard global, local;

  weir_opts_default(wx_standard_options, sizeof o, &o);
  fit(&o, sample, 4, &store[0], &global);
  wx_standard_opts las = o;

  las.inputs = WX_WHERE_LOCAL;
  las.window = 9;
  las.smoothing_sigma = 2;
  las.by_year = true;
  fit(&las, sample, 4, &store[1], &local);
  for (int64_t c = 0; c < 4; c++) {
    assert_near(local.x_mean[c * S_P + 5], global.x_mean[c], 1e-9);
    assert_near(local.x_sd[c * S_P + 5], global.x_sd[c], 1e-9);
  }
  weir_store_destroy(&store[0]);
  weir_store_destroy(&store[1]);
}

/* The climate of prepare and what a network sees are the same standardisation: of the first member,
 * over the same initialisation times. */
static void a_climate_has_the_same_windows(void **state)
{
  const int64_t sample[] = {0, 1, 2, 3, 4};
  const wx_model_climate_opts how = {
      .members = 1, .window = 3, .smoothing = 0.7, .sd = WX_LAS_POOLED};
  weir_config *own = NULL;
  const wx_data_opts of = scene_options(
      "{target: [z500], inputs: [z500], lead: [24], mean: false, spread: false, trajectory: true}",
      &own);
  wx_samples *members = NULL;
  weir_store *store = NULL;
  wx_standard_opts o;
  wx_standard t;
  wx_model_climate c;

  weir_opts_default(wx_standard_options, sizeof o, &o);
  o.inputs = WX_WHERE_LOCAL;
  o.window = how.window;
  o.smoothing_sigma = how.smoothing;
  o.min_sd = 0;
  assert_ok(wx_samples_open(&of, s.of_forecast, s.of_truth, true, &members));
  assert_ok(weir_store_create(&store));
  assert_ok(wx_standard_open(&o, wx_samples_get(members), wx_archive_get(s.of_forecast)->grid.wraps,
                             WX_BASE_RAW, store, &t));
  assert_ok(wx_standard_fit(&t, members, sample, 5, NULL));
  assert_ok(wx_model_climate_fit(&how, s.of_forecast, NULL, sample, 5, &c));
  const int64_t at = wx_model_climate_find(&c, "z500", 24);

  for (int64_t i = 0; i < S_P; i++) {
    assert_near((double)c.las_mean[at * S_P + i], t.x_mean[i], 1e-5);
    assert_near((double)c.las_sd[at * S_P + i], t.x_sd[i], 1e-5);
  }
  wx_model_climate_fini(&c);
  weir_store_destroy(&store);
  wx_samples_close(&members);
  weir_config_destroy(&own);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(statistics_are_those_of_the_samples_given),
      cmocka_unit_test(nothing_is_the_corrected_bias),
      cmocka_unit_test(plain_and_missing_values_are_met),
      cmocka_unit_test(windows_take_places_together),
      cmocka_unit_test(a_climate_has_the_same_windows),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
