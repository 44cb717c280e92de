/* samples_text_yaml_test.c - what weights keep of their samples, and which others are refused. */
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "support/weather_ensemble/samples_check.h"
#include "data/samples/samples_text.h"

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

/* The scene with z850 as a sum over so many hours at its leads; hours < 0: not stated. */
static wx_archive *sums(double at_24, double at_48)
{
  static double period[S_Q * S_LEADS];
  wx_archive_info f = *wx_archive_get(s.of_forecast);
  wx_archive *a = NULL;

  period[S_LEADS + 1] = at_24 < 0 ? (double)NAN : at_24;
  period[S_LEADS + 2] = at_48 < 0 ? (double)NAN : at_48;
  memcpy(s.quantity[1].method, "sum", 4);
  f.quantity = s.quantity;
  f.period = period;
  assert_ok(wx_archive_of_memory(&f, s.forecast, &a));
  memset(s.quantity[1].method, 0, WX_SHORT);
  return a;
}

typedef struct texts {
  char *text[WX_SENSES];
} texts;

static weir_status look(wx_archive *forecast, const char *yaml, texts *make, const texts *fit)
{
  weir_config *config = NULL;
  wx_data_opts o = scene_options(yaml, &config);
  wx_samples *samples = NULL;
  weir_status status = WEIR_OK;

  assert_ok(wx_samples_open(&o, forecast, o.analysis ? s.of_truth : NULL, false, &samples));
  for (int k = 0; k < WX_SENSES && make != NULL; k++) {
    assert_ok(wx_samples_text(samples, (wx_sense)k, &make->text[k]));
  }
  if (fit != NULL) {
    status = wx_samples_fit_text(samples, "w.nc", (const char *const *)fit->text);
  }
  wx_samples_close(&samples);
  weir_config_destroy(&config);
  return status;
}

static void forget(texts *t)
{
  for (int k = 0; k < WX_SENSES; k++) {
    weir_free(&t->text[k]);
  }
}

static void texts_say_period_depth_and_grid(void **state)
{
  wx_archive *a = sums(24, 48), *b = sums(24, 24);
  texts t;

  assert_ok(look(a, "{target: [z850], inputs: [t500, z850], analysis: true}", &t, NULL));
  assert_string_equal(t.text[WX_SENSE_PERIODS],
                      "z850 24 h: sum over 24 h; z850 48 h: sum over 48 h; t500: instant; "
                      "z850 analysis: instant; t500 analysis: instant");
  assert_string_equal(t.text[WX_SENSE_DEPTH], "none");
  assert_string_equal(t.text[WX_SENSE_GRID], "lat-lon 3 x 4; 60 0 -60; 0 90 180 270");
  forget(&t);
  assert_ok(look(b, "{target: [z], inputs: [z], depth: level, levels: [850, 500]}", &t, NULL));
  assert_string_equal(t.text[WX_SENSE_PERIODS], "z500: instant; z850: sum over 24 h");
  assert_string_equal(t.text[WX_SENSE_DEPTH], "levels 850 500 hPa");
  forget(&t);
  assert_ok(look(a, "{target: [z500], inputs: [z500], depth: lead, lead: [24, 48]}", &t, NULL));
  assert_string_equal(t.text[WX_SENSE_DEPTH], "leads 24 48 h");
  forget(&t);
  wx_archive_close(&a);
  wx_archive_close(&b);
}

static void sums_of_another_time_are_refused(void **state)
{
  static const char day[] = "{target: [z850], inputs: [t500], lead: [24]}";
  static const char two[] = "{target: [z850], inputs: [t500], lead: [48]}";
  static const char both[] = "{target: [z850], inputs: [t500], lead: [24, 48]}";
  wx_archive *a = sums(24, 48), *b = sums(24, 24), *none = sums(-1, -1);
  texts t, all;

  assert_ok(look(a, day, &t, NULL));
  assert_ok(look(a, both, &all, NULL));
  assert_ok(look(a, day, NULL, &t));
  assert_ok(look(b, two, NULL, &t)); /* a day's sum at a later lead */
  assert_int_equal(look(a, two, NULL, &t), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(),
                         "w.nc: its weights were trained on \"z850: sum over 24 h\", and in scene "
                         "is \"z850 48 h: sum over 48 h\": give the same sums"));
  assert_int_equal(look(none, day, NULL, &t), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "sum over a time that is not stated"));
  assert_int_equal(look(s.of_forecast, day, NULL, &t), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "\"z850 24 h: instant\""));
  assert_ok(look(a, two, NULL, &all)); /* fewer leads than were trained on */
  assert_int_equal(look(b, two, NULL, &all), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "z850 24 h: sum over 24 h; z850 48 h: sum over 48"));
  forget(&t);
  forget(&all);
  wx_archive_close(&a);
  wx_archive_close(&b);
  wx_archive_close(&none);
}

/* They said nothing of periods: what has none is taken with a warning. */
static void older_weights_are_taken_for_instants_alone(void **state)
{
  const texts none = {{NULL}};
  wx_archive *a = sums(24, 48);

  assert_ok(look(s.of_forecast, "{target: [z850], inputs: [t500]}", NULL, &none));
  assert_ok(look(a, "{target: [z500], inputs: [t500]}", NULL, &none));
  assert_int_equal(look(a, "{target: [z500], inputs: [z850]}", NULL, &none), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no text attribute periods), and in scene is \"z850 "
                                              "24 h: sum over 24 h\": train again"));
  wx_archive_close(&a);
}

static void other_levels_and_grids_are_refused(void **state)
{
  static const char levels[] = "{target: [z], inputs: [z], depth: level, levels: [500, 850]}";
  static const char turned[] = "{target: [z], inputs: [z], depth: level, levels: [850, 500]}";
  static const char *const bad[] = {"",
                                    "lat-lon 3 x 4",
                                    "lat-lon 3 x 4; 60 0 -60; 0 90 180",
                                    "lat-lon 3 x 4; 60 0 -60; 0 90 180 270 360",
                                    "lat-lon 3 x 4; 60 0 nan; 0 90 180 270",
                                    "lat-lon 999999999999 x 4; 60",
                                    "sites 1 x 4, 60",
                                    "cube 3 x 4; 60 0 -60; 0 90 180 270"};
  texts t;

  assert_ok(look(s.of_forecast, levels, &t, NULL));
  assert_int_equal(look(s.of_forecast, turned, NULL, &t), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "is \"levels 500 850 hPa\", and here it is \"levels "
                                              "850 500 hPa\""));
  weir_free(&t.text[WX_SENSE_GRID]);
  assert_ok(weir_strdup("lat-lon 3 x 4; 60 30 0; 0 90 180 270", &t.text[WX_SENSE_GRID]));
  assert_int_equal(look(s.of_forecast, levels, NULL, &t), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "of the grid 3 x 4 lat-lon, 60 to 0 N, 0 to 270 E, "
                                              "and that of scene is 3 x 4 lat-lon, 60 to -60 N"));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    weir_free(&t.text[WX_SENSE_GRID]);
    assert_ok(weir_strdup(bad[i], &t.text[WX_SENSE_GRID]));
    assert_int_equal(look(s.of_forecast, levels, NULL, &t), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "is no grid"));
  }
  forget(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(texts_say_period_depth_and_grid, set_up, tear_down),
      cmocka_unit_test_setup_teardown(sums_of_another_time_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(older_weights_are_taken_for_instants_alone, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(other_levels_and_grids_are_refused, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
