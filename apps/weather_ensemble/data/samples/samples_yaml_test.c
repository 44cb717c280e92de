/* samples_yaml_test.c - what a sample is made of: members, leads and times by hand; what is
 * refused. */
#include <stdlib.h>
#include "support/weather_ensemble/samples_check.h"

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

/* Moments of the first n members by their definition. */
static void moments(const wx_info *f, int64_t sample, int64_t q, int64_t n, int64_t ddof, int64_t i,
                    double *mean, double *sd)
{
  *mean = *sd = 0;
  for (int64_t m = 0; m < n; m++) {
    *mean += (double)scene_forecast(f->of_start[sample], f->of_lead[sample], q, m, i) / (double)n;
  }
  for (int64_t m = 0; m < n; m++) {
    const double d =
        (double)scene_forecast(f->of_start[sample], f->of_lead[sample], q, m, i) - *mean;

    *sd += d * d / (double)(n - ddof);
  }
  *sd = sqrt(*sd);
}

static void a_sample_is_the_moments_of_the_first_members(void **state)
{
  for (int ddof = 0; ddof < 2; ddof++) {
    weir_config *config = NULL;
    wx_data_opts o = scene_options(
        "{target: [z850], inputs: [t500, z850], members: 3, lead_time: true}", &config);
    wx_samples *samples = NULL;
    wx_sample v;

    o.ddof = ddof;
    assert_ok(wx_samples_open(&o, s.of_forecast, s.of_truth, true, &samples));
    const wx_info *f = wx_samples_get(samples);

    assert_int_equal(f->n, 2 * S_INIT_TIMES - 1); /* leads 24 and 48 h; truth lacks the last */
    assert_int_equal(f->no_truth, 1);
    assert_int_equal(f->n_channels[WX_X], 5);
    assert_string_equal(f->channel[WX_X][1].name, "z850 mean");
    assert_string_equal(f->channel[WX_X][2].name, "t500 spread");
    assert_int_equal(f->carry, 3);
    for (int64_t k = 0; k < f->n; k++) {
      const int64_t day = f->of_start[k] + f->of_lead[k];

      assert_ok(wx_samples_read(samples, k, &v));
      assert_near(f->time[k], 10957.0 + (double)day, 1e-12);
      for (int64_t i = 0; i < S_P; i++) {
        double mean, sd;

        moments(f, k, 2, 3, ddof, i, &mean, &sd);
        assert_near((double)v.x[i], mean, 1e-5);
        assert_near((double)v.x[2 * S_P + i], sd, 1e-5);
        moments(f, k, 1, 3, ddof, i, &mean, &sd);
        assert_near((double)v.m[i], mean, 1e-5);
        assert_near((double)v.s[i], sd, 1e-5);
        assert_true(v.y[i] == scene_truth(day, 1, i));
        assert_near((double)v.x[4 * S_P + i], (double)f->of_lead[k] / 10, 1e-6);
      }
    }
    wx_samples_close(&samples);
    weir_config_destroy(&config);
  }
}

/* The inputs of arXiv:2005.08748: a trajectory and spreads at all leads, an analysis, more members
 * where more exist. */
static void inputs_of_other_leads_are_found(void **state)
{
  weir_config *config = NULL;
  const wx_data_opts o = scene_options(
      "{target: [t850], inputs: [t850], lead: [48], input_lead: [0, 48], members: 2, "
      "early: {members: 4, until: 24}, trajectory: true, mean: false, analysis: true}",
      &config);
  wx_samples *samples = NULL;
  wx_sample v;

  assert_ok(wx_samples_open(&o, s.of_forecast, s.of_truth, true, &samples));
  const wx_info *f = wx_samples_get(samples);

  assert_int_equal(f->n_channels[WX_X], 5);
  assert_int_equal(f->n_trajectory, 2);
  assert_string_equal(f->channel[WX_X][1].name, "t850 member 48h");
  assert_string_equal(f->channel[WX_X][4].name, "t850 analysis");
  assert_int_equal(f->carry, 3); /* the spread of the lead of the sample */
  assert_ok(wx_samples_read(samples, 5, &v));
  for (int64_t i = 0; i < S_P; i++) {
    assert_true(v.x[i] == scene_forecast(5, 0, 3, 0, i));
    assert_true(v.x[S_P + i] == scene_forecast(5, 2, 3, 0, i));
    assert_near((double)v.x[2 * S_P + i], sqrt(5.0 / 3) * (1 + 0.1 * (double)i), 1e-4);
    assert_near((double)v.x[3 * S_P + i], 3 * sqrt(0.5) * (1 + 0.1 * (double)i), 1e-4);
    assert_true(v.x[4 * S_P + i] == scene_truth(5, 3, i));
  }
  wx_samples_close(&samples);
  weir_config_destroy(&config);
}

/* Levels, then leads, as a third dimension; y is the spread of all members there. */
static void levels_and_leads_are_depths(void **state)
{
  static const char *const text[] = {
      "{depth: level, levels: [850, 500], target: [t], inputs: [z, t], members: 2, label: spread}",
      "{depth: lead, target: [t850], inputs: [z850, t850], members: 2, label: spread}"};

  for (int round = 0; round < 2; round++) {
    weir_config *config = NULL;
    const wx_data_opts o = scene_options(text[round], &config);
    wx_samples *samples = NULL;
    wx_sample v;

    assert_ok(wx_samples_open(&o, s.of_forecast, NULL, true, &samples));
    const wx_info *f = wx_samples_get(samples);

    assert_int_equal(f->rank, 3);
    assert_int_equal(f->depth, 2);
    assert_int_equal(f->n, round == 0 ? 2 * S_INIT_TIMES : S_INIT_TIMES);
    assert_ok(wx_samples_read(samples, 3, &v));
    for (int64_t d = 0; d < 2; d++) {
      for (int64_t i = 0; i < S_P; i++) {
        const int64_t lead = round == 0 ? f->of_lead[3] : 1 + d;
        const double one = (double)(1 + lead) * (1 + 0.1 * (double)i);
        const double m =
            ((double)scene_forecast(f->of_start[3], lead, round == 0 ? 1 - d : 1, 0, i) +
             (double)scene_forecast(f->of_start[3], lead, round == 0 ? 1 - d : 1, 1, i)) /
            2;

        assert_near((double)v.x[d * S_P + i], m, 1e-5); /* mean of z */
        assert_near((double)v.y[d * S_P + i], sqrt(5.0 / 3) * one, 1e-4);
        assert_near((double)v.s[d * S_P + i], sqrt(0.5) * one, 1e-4);
      }
    }
    wx_samples_close(&samples);
    weir_config_destroy(&config);
  }
}

/* A member that is missing counts less; where none is there is no mean; refused unless masked. */
static void holes_are_told(void **state)
{
  weir_config *config = NULL;
  wx_data_opts o = scene_options("{target: [z500], inputs: [z500], lead: [24]}", &config);
  const int64_t at = S_Q * S_M * S_P; /* start 0, lead 24 h, z500, member 0, cell 0 */
  const float kept = s.forecast[at];
  wx_samples *samples = NULL;
  wx_sample v;

  s.forecast[at] = NAN;
  assert_ok(wx_samples_open(&o, s.of_forecast, s.of_truth, true, &samples));
  assert_int_equal(wx_samples_read(samples, 0, &v), WEIR_ERR_DATA);
  assert_non_null(
      strstr(weir_last_message(), "z500 of the initialisation time 2000-01-01 00:00 has no value"));
  wx_samples_close(&samples);
  o.missing = WX_MISSING_MASK;
  assert_ok(wx_samples_open(&o, s.of_forecast, s.of_truth, true, &samples));
  assert_int_equal(wx_samples_get(samples)->n_channels[WX_X], 3);
  assert_ok(wx_samples_read(samples, 0, &v));
  assert_near((double)v.x[2 * S_P], 0.25, 1e-6);
  assert_true(v.x[2 * S_P + 1] == 0);
  assert_near((double)v.x[S_P], 2, 1e-5); /* standard deviation of -1, 1, 3 */
  wx_samples_close(&samples);
  s.forecast[at] = kept;
  weir_config_destroy(&config);
}

/* With and without memory to keep them, and read twice. */
static void kept_samples_are_the_same(void **state)
{
  weir_config *config = NULL;
  wx_data_opts o = scene_options("{target: [z500], position: true}", &config);
  wx_samples *samples[2] = {NULL, NULL};
  wx_sample a, b;

  assert_ok(wx_samples_open(&o, s.of_forecast, s.of_truth, true, &samples[0]));
  wx_data_opts none = o;

  none.cache = 0;
  assert_ok(wx_samples_open(&none, s.of_forecast, s.of_truth, true, &samples[1]));
  const wx_info *f = wx_samples_get(samples[0]);
  const size_t block = (size_t)((f->n_channels[WX_X] + 3) * f->cells) * sizeof(float);

  for (int64_t k = 0; k < 2 * f->n; k++) {
    assert_ok(wx_samples_read(samples[0], k % f->n, &a));
    assert_ok(wx_samples_read(samples[1], k % f->n, &b));
    assert_memory_equal(a.x, b.x, block);
  }
  wx_samples_close(&samples[0]);
  wx_samples_close(&samples[1]);
  weir_config_destroy(&config);
}

static void refused(const char *yaml, const char *message)
{
  weir_config *config = NULL;
  const wx_data_opts o = scene_options(yaml, &config);
  wx_samples *samples = NULL;

  assert_int_equal(wx_samples_open(&o, s.of_forecast, s.of_truth, true, &samples), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), message));
  assert_null(samples);
  weir_config_destroy(&config);
}

static void what_the_archive_lacks_is_refused(void **state)
{
  refused("{target: [q500]}", "data.target: scene has no quantity 'q500'; it has z500");
  refused("{inputs: [tp]}", "data.inputs: scene has no quantity 'tp'");
  refused("{lead: [36]}", "data.lead: scene has no lead of 36 h");
  refused("{lead: [24, 24.0000001]}", "24 h and 24.0000001 h are one lead of scene, 24 h");
  refused("{members: 5}", "data.members: 5 members");
  refused("{first: 2, label: spread, label_members: 3}", "data.label_members: 3 members");
  refused("{early: {members: 4, until: 24}}", "no lead of input_lead is up to early.until, 24 h");
  refused("{early: {members: 4, until: 24}, lead: [48], input_lead: [48]}", "early.members");
  refused("{early: {until: 24}, input_lead: [0]}", "does not say how many");
  refused("{depth: level, levels: [300], target: [t], inputs: [t]}", "'t on 300 hPa'");
}

/* The inputs of a bias network (arXiv:2005.08748) compared with those of a spread network:
 * everything but x is the same. */
static void a_network_may_have_inputs_of_its_own(void **state)
{
  weir_config *config[2] = {NULL, NULL};
  const wx_data_opts data = scene_options(
      "{target: [t850], inputs: [t850, z500], lead: [48], input_lead: [0, 48], members: 3, "
      "ddof: 0, trajectory: true, mean: false}",
      &config[0]);
  wx_input_opts own;

  assert_ok(weir_opts_parse(wx_input_options, sizeof own,
                            "{inputs: [t850, z500], spread: false, analysis: true}", &own,
                            &config[1]));
  const wx_data_opts other = wx_data_with(&data, &own), again = wx_data_with(&other, &own);
  wx_samples *samples[2] = {NULL, NULL};
  wx_sample a, b;

  assert_false(wx_data_same_inputs(&data, &other));
  assert_true(wx_data_same_inputs(&other, &again));
  assert_ok(wx_samples_open(&data, s.of_forecast, s.of_truth, true, &samples[0]));
  assert_ok(wx_samples_open(&other, s.of_forecast, s.of_truth, true, &samples[1]));
  const wx_info *f = wx_samples_get(samples[0]), *g = wx_samples_get(samples[1]);

  assert_int_equal(f->n_channels[WX_X], 8);
  assert_int_equal(g->n_channels[WX_X], 4);
  assert_string_equal(g->channel[WX_X][1].name, "z500 mean");
  assert_string_equal(g->channel[WX_X][2].name, "t850 analysis");
  assert_int_equal(f->n, g->n);
  for (int64_t k = 0; k < f->n; k++) {
    assert_int_equal(f->of_start[k], g->of_start[k]);
    assert_int_equal(f->of_lead[k], g->of_lead[k]);
    assert_ok(wx_samples_read(samples[0], k, &a));
    assert_ok(wx_samples_read(samples[1], k, &b));
    assert_memory_equal(a.y, b.y, 3 * S_P * sizeof *a.y); /* y, m, s */
    assert_memory_equal(b.x, b.m, S_P * sizeof *b.x);     /* the mean of the target's lead */
  }
  for (int k = 0; k < 2; k++) {
    wx_samples_close(&samples[k]);
    weir_config_destroy(&config[k]);
  }
}

/* Every row of wx_input_opts counts. */
static void other_inputs_are_told_apart(void **state)
{
  static const char *const text[] = {"inputs: [z500]",    "input_lead: [24]", "early: {members: 4}",
                                     "early: {until: 4}", "mean: false",      "spread: false",
                                     "trajectory: true",  "analysis: true",   "position: true",
                                     "lead_time: true",   "inputs: [z850]",   "input_lead: [0]"};
  enum { TEXTS = sizeof text / sizeof text[0] };
  weir_config *config[TEXTS] = {NULL};
  wx_data_opts o[TEXTS];

  for (int k = 0; k < TEXTS; k++) {
    wx_input_opts own;

    assert_ok(weir_opts_parse(wx_input_options, sizeof own, text[k], &own, &config[k]));
    o[k] = wx_data_with(&(wx_data_opts){.members = 3}, &own);
    for (int i = 0; i <= k; i++) {
      assert_int_equal(wx_data_same_inputs(&o[i], &o[k]), i == k);
    }
  }
  for (int k = 0; k < TEXTS; k++) {
    weir_config_destroy(&config[k]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sample_is_the_moments_of_the_first_members),
      cmocka_unit_test(inputs_of_other_leads_are_found),
      cmocka_unit_test(levels_and_leads_are_depths),
      cmocka_unit_test(holes_are_told),
      cmocka_unit_test(kept_samples_are_the_same),
      cmocka_unit_test(a_network_may_have_inputs_of_its_own),
      cmocka_unit_test(other_inputs_are_told_apart),
      cmocka_unit_test(what_the_archive_lacks_is_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
