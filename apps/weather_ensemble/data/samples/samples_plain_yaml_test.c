/* samples_plain_yaml_test.c - channels of place and time by their closed forms. */
#include "support/weather_ensemble/samples_check.h"

#define PI 3.14159265358979323846

static scene s;

static int set_up(void **state)
{
  scene_open(&s);
  return 0;
}

static int tear_down(void **state)
{
  scene_close(&s);
  return 0;
}

/* The angle of a time of validity, days since 2000-01-01: of a leap year, in January. */
static double season(double days)
{
  return 2 * PI * days / 366;
}

/* The hour of the mean sun: hours of UTC and 15 degrees an hour. */
static double hour(double days, double lon)
{
  return 2 * PI * (24 * (days - floor(days)) + lon / 15) / 24;
}

static void season_and_time_of_day_are_those_of_the_valid_time(void **state)
{
  static const char *const name[] = {"lead / 240 h",    "orography / 1000 m", "land-sea mask",
                                     "sin day of year", "cos day of year",    "sin local time",
                                     "cos local time"};
  weir_config *config = NULL;
  const wx_data_opts o = scene_options(
      "{target: [z500], inputs: [z500], lead: [24, 48], mean: false, spread: false, lead_time: "
      "true, orography: true, land_sea_mask: true, day_of_year: true, local_time: true}",
      &config);
  wx_samples *samples = NULL;
  wx_sample v;

  assert_ok(wx_samples_open(&o, s.of_forecast, s.of_truth, true, &samples));
  const wx_info *f = wx_samples_get(samples);

  assert_int_equal(f->n_channels[WX_X], 7);
  for (int c = 0; c < 7; c++) {
    assert_string_equal(f->channel[WX_X][c].name, name[c]);
    assert_true(f->channel[WX_X][c].plain);
  }
  for (int64_t k = 0; k < f->n; k++) {
    const double day = (double)(f->of_start[k] + f->of_lead[k]);

    assert_ok(wx_samples_read(samples, k, &v));
    for (int64_t i = 0; i < S_P; i++) {
      const double lon = 90 * (double)(i % S_LON);

      assert_near((double)v.x[i], (double)f->of_lead[k] / 10, 1e-6);
      assert_true(v.x[S_P + i] == 0 && v.x[2 * S_P + i] == 0); /* placeholders: no file */
      assert_near((double)v.x[3 * S_P + i], sin(season(day)), 1e-6);
      assert_near((double)v.x[4 * S_P + i], cos(season(day)), 1e-6);
      assert_near((double)v.x[5 * S_P + i], sin(hour(day, lon)), 1e-6);
      assert_near((double)v.x[6 * S_P + i], cos(hour(day, lon)), 1e-6);
    }
  }
  wx_samples_close(&samples);
  weir_config_destroy(&config);
}

/* With a depth of leads each cell has the valid time of its own. */
static void leads_along_the_depth_have_their_own_times(void **state)
{
  weir_config *config = NULL;
  const wx_data_opts o = scene_options(
      "{target: [z500], inputs: [z500], lead: [24, 48], depth: lead, day_of_year: true}", &config);
  wx_samples *samples = NULL;
  wx_sample v;

  assert_ok(wx_samples_open(&o, s.of_forecast, s.of_truth, true, &samples));
  assert_ok(wx_samples_read(samples, 3, &v));
  for (int64_t i = 0; i < 2 * S_P; i++) {
    const double day = 3 + 1 + (double)(i / S_P);

    assert_near((double)v.x[4 * S_P + i], sin(season(day)), 1e-6);
    assert_near((double)v.x[6 * S_P + i], cos(season(day)), 1e-6);
  }
  wx_samples_close(&samples);
  weir_config_destroy(&config);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(season_and_time_of_day_are_those_of_the_valid_time),
      cmocka_unit_test(leads_along_the_depth_have_their_own_times),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
