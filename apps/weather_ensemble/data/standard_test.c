/* standard_test.c - statistics against their definition, of the given samples alone; fields come
 * back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "data/standard.h"

enum { N = 30 };

typedef struct world {
  wx_samples *samples;
  weir_store *store;
  wx_standard standard;
  float *x, *y;
  int64_t cells;
} world;

static world open_world(wx_target target)
{
  wx_simulate_opts o;
  world w = {.samples = NULL};

  weir_opts_default(wx_simulate_options, sizeof o, &o);
  o.samples = N;
  assert_ok(wx_samples_open("", true, &o, 11, &w.samples));
  assert_ok(weir_store_create(&w.store));
  assert_ok(wx_standard_open(wx_samples_get(w.samples), target, w.store, &w.standard));
  w.cells = w.standard.cells;
  w.x = calloc((size_t)(WX_SIM_X * w.cells), sizeof *w.x);
  w.y = calloc((size_t)w.cells, sizeof *w.y);
  return w;
}

static void close_world(world *w)
{
  free(w->x);
  free(w->y);
  weir_store_destroy(&w->store);
  wx_samples_close(&w->samples);
}

/* Mean of truth (minus forecast) and its standard deviation by two plain passes. */
static void by_definition(world *w, const int64_t *sample, int64_t n, double *mean, double *sd)
{
  const bool difference = w->standard.target == WX_TARGET_DIFFERENCE;

  *mean = *sd = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < n; i++) {
      assert_ok(wx_samples_read(w->samples, WX_X, sample[i], w->x));
      assert_ok(wx_samples_read(w->samples, WX_Y, sample[i], w->y));
      for (int64_t c = 0; c < w->cells; c++) {
        const double t = (double)w->y[c] - (difference ? (double)w->x[c] : 0);

        *(pass == 0 ? mean : sd) += pass == 0 ? t : (t - *mean) * (t - *mean);
      }
    }
    *mean /= pass == 0 ? (double)(n * w->cells) : 1;
  }
  *sd = sqrt(*sd / (double)(n * w->cells));
}

static void statistics_are_those_of_the_samples_given(void **state)
{
  const int64_t sample[] = {3, 29, 7, 8};

  for (int target = 0; target < 2; target++) {
    world w = open_world((wx_target)target);
    double mean = 0, sd = 0;

    assert_ok(wx_standard_fit(&w.standard, w.samples, sample, 4, w.x, w.y));
    by_definition(&w, sample, 4, &mean, &sd);
    assert_near(w.standard.y_mean[0], mean, 1e-12);
    assert_near(w.standard.y_sd[0], sd, 1e-12);
    assert_int_equal(w.standard.pair[0], WX_SIM_FORECAST);
    assert_true(w.standard.x_sd[WX_SIM_HEIGHT] > 100); /* m: it differs from cell to cell */
    assert_ptr_equal(w.standard.x_sd, weir_store_get(w.store, "standard.x_sd")->data);
    close_world(&w);
  }
}

static void fields_come_back(void **state)
{
  const int64_t sample[] = {0, 1, 2};

  for (int target = 0; target < 2; target++) {
    world w = open_world((wx_target)target);
    float *made = calloc((size_t)w.cells, sizeof *made);
    float *back = calloc((size_t)w.cells, sizeof *back);

    assert_ok(wx_standard_fit(&w.standard, w.samples, sample, 3, w.x, w.y));
    assert_ok(wx_samples_read(w.samples, WX_X, 9, w.x));
    assert_ok(wx_samples_read(w.samples, WX_Y, 9, w.y));
    wx_standard_y(&w.standard, w.x, w.y, made);
    wx_standard_field(&w.standard, w.x, made, back);
    for (int64_t c = 0; c < w.cells; c++) {
      assert_near((double)back[c], (double)w.y[c], 1e-5);
    }
    wx_standard_spread(&w.standard, made, back);
    assert_near((double)back[5], w.standard.y_sd[0] * (double)made[5], 1e-6);
    free(made);
    free(back);
    close_world(&w);
  }
}

/* A channel that never changes is 0 everywhere; one of y that x lacks has no difference. */
static void odd_channels_are_met(void **state)
{
  const int64_t sample[] = {4};
  world w = open_world(WX_TARGET_DIFFERENCE);
  wx_facts f = *wx_samples_get(w.samples);
  const wx_channel rain = {"rain", "mm"};
  weir_store *store = NULL;
  wx_standard s;

  for (int64_t c = 0; c < WX_SIM_X * w.cells; c++) {
    w.x[c] = 3;
  }
  assert_ok(wx_standard_fit(&w.standard, w.samples, sample, 1, w.x, w.y));
  assert_ok(weir_store_create(&store));
  f.channel[WX_Y] = &rain;
  assert_int_equal(wx_standard_open(&f, WX_TARGET_DIFFERENCE, store, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "channel rain of y is not in x"));
  assert_ok(wx_standard_open(&f, WX_TARGET_FIELD, store, &s));
  assert_int_equal(s.pair[0], -1);
  weir_store_destroy(&store);
  close_world(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(statistics_are_those_of_the_samples_given),
      cmocka_unit_test(fields_come_back),
      cmocka_unit_test(odd_channels_are_met),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
