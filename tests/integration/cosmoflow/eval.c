/* eval.c - predictions scored through the program: files, numbers that are known, sets that are
 * not alike, and what is refused. Universes are made by prepare, predictions are made up here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_random.h"
#include "data/predictions.h"
#include "data/source.h"
#include "io/weir_netcdf.h"
#include "needs.h"
#include "program.h"

#define SMALL                                                                          \
  "--set simulate.universes=60 --set simulate.file=60 --set simulate.side=8 "          \
  "--set simulate.particles=16 --set simulate.box=128 --set simulate.redshifts=[0,1] " \
  "--set simulate.preset=wide2 "

enum { LABELS = 2, SLOPE = 0, BIAS = 1 };

static void make_universes(const char *dir, const char *sets)
{
  assert_int_equal(program("prepare " SMALL "%s --out %s", sets, in_scratch("%s", dir)), 0);
}

/* Predictions of a folder of universes, two thirds of which are trained on: omega_m a line of slope
 * 0.5, sigma_8 right but for 0.1 (in [-1, 1]), and noise of that size. */
static cf_predictions *predict(const char *dir, double noise)
{
  const char *paths[] = {in_scratch("%s", dir)};
  const cf_source_opts from = {.input = {paths, 1}, .cache_bytes = 1 << 20};
  const cf_volume_opts files = {.volume = "", .labels = "", .max_bytes = 1 << 24};
  const cf_source_spec spec = {.source = &from, .files = &files};
  cf_source *s = NULL;
  cf_predictions *p = NULL;

  assert_ok(cf_source_open(&spec, &s));
  assert_ok(cf_predictions_create(cf_source_count(s), LABELS, &p));
  for (int64_t i = 0; i < p->n; i++) {
    float *const y = p->truth + i * LABELS, *const predicted = p->predicted + i * LABELS;

    assert_ok(cf_source_labels(s, i, y));
    assert_ok(cf_source_universe(s, i, &p->universe[i]));
    p->subset[i] = (uint8_t)(p->universe[i] % 3 == 0 ? CF_TEST : CF_TRAIN);
    p->known[i] = p->subset[i] == CF_TEST;
    for (int k = 0; k < LABELS; k++) {
      predicted[k] = (k == SLOPE ? 0.5f * y[k] : y[k] + 0.1f) +
                     (float)(noise * weir_random_normal(1, 2, (uint32_t)k, (uint64_t)i));
    }
  }
  static const char *const name[] = {"omega_m", "sigma_8"};
  static const double lo[] = {0.1, 0.5}, hi[] = {0.5, 1.1};

  for (int k = 0; k < LABELS; k++) {
    (void)snprintf(p->label[k], CF_MAX_NAME, "%s", name[k]);
    p->lo[k] = lo[k];
    p->hi[k] = hi[k];
  }
  (void)snprintf(p->model, sizeof p->model, "made-up");
  cf_source_close(&s);
  return p;
}

static void write_predictions(const char *name, cf_predictions *p)
{
  assert_ok(cf_predictions_write(p, in_scratch("%s", name)));
  cf_predictions_destroy(&p);
}

/* Once for all tests: a has boxes, c boxes in eight samples, both of 60 universes. */
static void make_inputs(void)
{
  make_universes("a", "");
  make_universes("c", "--set simulate.block=4");
  write_predictions("a.nc", predict("a", 0));
  write_predictions("c.nc", predict("c", 0.3));
}

#define ONE_SET "--set 'eval.sets=[{name: boxes, predictions: %s, truth: [%s]}]' "

/* A value of scores.csv; NaN where there is no such row. */
static double score(const char *dir, const char *row)
{
  char *const text = contents(in_scratch("%s/scores.csv", dir));
  const char *const at = strstr(text, row);
  const double value = at != NULL ? strtod(at + strlen(row), NULL) : NAN;

  free(text);
  return value;
}

/* The skill score is relative to the regression with the lower MAE, and to no other. */
static void check_better(const char *label)
{
  static const char *const name[] = {"ridge", "ridge+moments"};
  double mae[2], skill[2];
  char row[128];

  (void)snprintf(row, sizeof row, "boxes,made-up,sample,%s,mae,range,", label);
  const double own = score("s", row);

  for (int i = 0; i < 2; i++) {
    (void)snprintf(row, sizeof row, "boxes,%s,sample,%s,mae,range,", name[i], label);
    mae[i] = score("s", row);
    (void)snprintf(row, sizeof row, "boxes,made-up,sample,%s,skill_vs_%s,1,", label, name[i]);
    skill[i] = score("s", row);
  }
  const int better = mae[1] < mae[0];

  assert_near(skill[better], 1 - own / mae[better], 1e-6);
  assert_true(isnan(skill[!better]));
}

static void scores_of_what_is_known(void **state)
{
  NEEDS_LIBRARIES();
  make_inputs();
  assert_int_equal(
      program("eval " ONE_SET "--out %s", in_scratch("a.nc"), in_scratch("a"), in_scratch("s")), 0);
  assert_near(score("s", "boxes,made-up,sample,omega_m,slope,1,"), 0.5, 1e-6);
  assert_near(score("s", "boxes,made-up,sample,sigma_8,mae,range,"), 0.1, 1e-6);
  assert_near(score("s", "boxes,made-up,sample,sigma_8,mae,own,"), 0.03, 1e-6);
  assert_near(score("s", "boxes,made-up,sample,sigma_8,bias,own,"), 0.03, 1e-6);
  assert_near(score("s", "boxes,made-up,sample,sigma_8,slope,1,"), 1, 1e-6);
  assert_near(score("s", "boxes,mean,sample,omega_m,slope,1,"), 0, 1e-9);
  const double mean = score("s", "boxes,mean,sample,sigma_8,mae,range,");

  assert_true(mean > 0.3 && mean < 0.7); /* 0.5 of many universes */
  assert_near(score("s", "boxes,ridge,sample,sigma_8,skill_vs_mean,1,"),
              1 - score("s", "boxes,ridge,sample,sigma_8,mae,range,") / mean, 1e-6);
  assert_near(score("s", "boxes,made-up,sample,sigma_8,skill_vs_mean,1,"), 1 - 0.1 / mean, 1e-6);
  check_better("omega_m");
  check_better("sigma_8");
  check_better("all");
  assert_null(strstr(printed(), "e-16"));
  assert_null(strstr(printed(), "e-17")); /* rounding of the mean's slope and bias is 0 */
  /* Of all labels: the mean of both. */
  assert_near(score("s", "boxes,ridge,sample,all,mae,range,"),
              0.5 * (score("s", "boxes,ridge,sample,omega_m,mae,range,") +
                     score("s", "boxes,ridge,sample,sigma_8,mae,range,")),
              1e-6);
  /* A box a universe: there is nothing to average. */
  assert_true(isnan(score("s", "boxes,made-up,universe,sigma_8,mae,range,")));
  assert_false(weir_file_exists(in_scratch("s/averages.csv")));
  assert_int_equal((int)event_number(in_scratch("s"), "eval_set", "fitted"), 40);
  assert_int_equal((int)event_number(in_scratch("s"), "eval_set", "universes"), 20);
  static const char *const files[] = {"report.html",
                                      "bins.csv",
                                      "ridge.csv",
                                      "provenance.json",
                                      "resolved.yaml",
                                      "figures/scatter_omega_m_boxes.svg",
                                      "figures/residual_omega_m_sigma_8.svg",
                                      "figures/bias_sigma_8.csv"};

  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    assert_true(weir_file_exists(in_scratch("s/%s", files[i])));
  }
}

/* Clustering of boxes says more of sigma_8 than the mean of all does. */
static void regressions_learn_from_boxes(void **state)
{
  NEEDS_LIBRARIES();
  make_inputs();
  assert_int_equal(program("eval " ONE_SET "--set eval.fisher.box=128 --out %s", in_scratch("a.nc"),
                           in_scratch("a"), in_scratch("s")),
                   0);
  const double ridge = score("s", "boxes,ridge,sample,sigma_8,mae,range,");
  const double limit = score("s", "boxes,fisher,sample,sigma_8,mae,range,");

  printf("sigma_8: ridge %.3f, mean %.3f, limit %.3f\n", ridge,
         score("s", "boxes,mean,sample,sigma_8,mae,range,"), limit);
  assert_true(ridge < 0.7 * score("s", "boxes,mean,sample,sigma_8,mae,range,"));
  assert_true(limit > 0 && limit < 0.5);
  assert_non_null(strstr(printed(), "Fisher (Cramer-Rao) bound, linear P(k)"));
  char *const page = contents(in_scratch("s/report.html"));

  assert_non_null(strstr(page, "bins one fundamental wave wide; eval.features.reach 1.7321"));
  free(page);
}

/* Regressions on other summaries are rows of the same tables, and change no other. */
static void regressions_on_other_summaries(void **state)
{
  static const char *const name[] = {
      "one_point",   "peaks",    "bispectrum",       "multipoles",         "scattering",
      "ridge+all",   "boosting", "boosting+moments", "boosting_one_point", "boosting_scattering",
      "boosting+all"};
  char row[128];

  NEEDS_LIBRARIES();
  make_inputs();
  assert_int_equal(
      program("eval " ONE_SET "--out %s", in_scratch("a.nc"), in_scratch("a"), in_scratch("one")),
      0);
  assert_int_equal(program("eval " ONE_SET
                           "--set eval.regressions=[all,peaks,bispectrum,one_point,scattering,"
                           "multipoles] --set eval.boosting.rounds=60 "
                           "--set summaries.one_point.smoothing=[0,16] --out %s",
                           in_scratch("a.nc"), in_scratch("a"), in_scratch("s")),
                   0);
  const double mean = score("s", "boxes,mean,sample,sigma_8,mae,range,");

  for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
    (void)snprintf(row, sizeof row, "boxes,%s,sample,sigma_8,mae,range,", name[i]);
    printf("sigma_8: %s %.3f, mean %.3f\n", name[i], score("s", row), mean);
    assert_true(score("s", row) < mean);
    assert_true(isnan(score("one", row)));
  }
  assert_true(score("one", "boxes,ridge+moments,sample,omega_m,mae,range,") ==
              score("s", "boxes,ridge+moments,sample,omega_m,mae,range,"));
  char *text = contents(in_scratch("s/ridge.csv"));

  assert_non_null(strstr(text, "one_point,sigma_8,120,40,")); /* 2 channels, 2 of 30 bins */
  free(text);
  text = contents(in_scratch("s/boosting.csv"));
  assert_non_null(strstr(text, "boosting_one_point,sigma_8,120,40,5,"));
  free(text);
  char *const page = contents(in_scratch("s/report.html"));

  assert_non_null(strstr(page, " the best of 16 regressions on summary statistics"));
  assert_non_null(strstr(page, " In units of the parameters: omega_m "));
  assert_non_null(strstr(page, "peaks: the same regression on peak counts"));
  assert_non_null(strstr(page, "boosting: regression trees of 3 levels"));
  assert_non_null(strstr(page, "Smoothing and peaks: samples are periodic."));
  free(page);
  assert_int_equal(program("eval " ONE_SET "--set eval.regressions=[voids] --out %s",
                           in_scratch("a.nc"), in_scratch("a"), in_scratch("r")),
                   2);
  assert_non_null(strstr(printed(), "no regression on 'voids'"));
  /* Voxels of another size: what was learnt of one is not true of the other. */
  make_universes("wide", "--seed 7 --set simulate.box=256");
  write_predictions("wide.nc", predict("wide", 0.2));
  assert_int_equal(program("eval --set eval.regressions=[peaks] --set 'eval.sets=[{name: boxes, "
                           "predictions: %s, truth: [%s]}, {name: wide, predictions: %s, truth: "
                           "[%s]}]' --out %s",
                           in_scratch("a.nc"), in_scratch("a"), in_scratch("wide.nc"),
                           in_scratch("wide"), in_scratch("r")),
                   3);
  assert_non_null(strstr(printed(), "summaries of one are not those of the other"));
}

/* A number of forecast.csv: column `at`, from 0, of the row that begins so; NaN: there is none. */
static double forecast(const char *dir, const char *begin, int at)
{
  char *const text = contents(in_scratch("%s/forecast.csv", dir));
  const char *cell = strstr(text, begin);

  for (int i = 0; i < at && cell != NULL; i++) {
    cell = strchr(cell, ',');
    cell = cell != NULL ? cell + 1 : NULL;
  }
  const double value = cell != NULL ? strtod(cell, NULL) : NAN;

  free(text);
  return value;
}

/* The forecast is of a linear estimate, as the regression is: their errors are alike, and more
 * summaries than the universes have a covariance for are refused. */
static void summaries_forecast_the_errors_of_their_regression(void **state)
{
  NEEDS_LIBRARIES();
  make_inputs();
  assert_int_equal(program("eval " ONE_SET "--set eval.forecast=true --out %s", in_scratch("a.nc"),
                           in_scratch("a"), in_scratch("s")),
                   0);
  const double sigma = forecast("s", "ridge,sigma_8,", 6), mae = forecast("s", "ridge,sigma_8,", 8);
  const double ridge = score("s", "boxes,ridge,sample,sigma_8,mae,range,");

  printf("sigma_8: forecast %.3f, ridge %.3f\n", mae, ridge);
  assert_near(forecast("s", "ridge,sigma_8,", 3), 40, 0);
  assert_near(forecast("s", "ridge,sigma_8,", 2), 14, 0); /* 7 bins of 2 redshifts */
  assert_near(forecast("s", "ridge,sigma_8,", 4), (37.0 - 15) / 37, 1e-6);
  assert_near(forecast("s", "ridge,sigma_8,", 5), 0.3 * sigma, 1e-6);
  assert_near(mae, sqrt(2 / 3.14159265358979) * sigma, 1e-6);
  assert_true(mae > 0.5 * ridge && mae < 2 * ridge);
  assert_non_null(strstr(printed(), "Fisher forecast"));
  assert_int_equal(program("eval " ONE_SET "--set eval.forecast=true --set eval.regressions=[all] "
                           "--set summaries.one_point.bins=200 --out %s",
                           in_scratch("a.nc"), in_scratch("a"), in_scratch("r")),
                   3);
  assert_non_null(strstr(printed(), "training universes, and there are 40"));
}

/* Means over the eight samples of a universe: noise of their own goes, what they share stays. */
static void samples_of_a_universe_are_averaged(void **state)
{
  NEEDS_LIBRARIES();
  make_inputs();
  assert_int_equal(
      program("eval " ONE_SET "--out %s", in_scratch("c.nc"), in_scratch("c"), in_scratch("s")), 0);
  const double one = score("s", "boxes,made-up,sample,sigma_8,rmse,range,");
  const double eight = score("s", "boxes,made-up,universe,sigma_8,rmse,range,");

  assert_near(one, sqrt(0.01 + 0.09), 0.05);
  assert_near(eight, sqrt(0.01 + 0.09 / 8), 0.04);
  char *const text = contents(in_scratch("s/averages.csv"));

  assert_non_null(strstr(text, "boxes,made-up,sigma_8,8,20,"));
  assert_null(strstr(text, "boxes,made-up,sigma_8,16,"));
  free(text);
  assert_true(weir_file_exists(in_scratch("s/figures/averages_sigma_8.svg")));
  assert_int_equal((int)event_number(in_scratch("s"), "eval_set", "samples"), 160);
}

/* Fitted on one simulation, asked of another: the first set's scores stay as they are, and the
 * second's are of the same regression. */
static void a_second_set_is_scored_by_what_the_first_learnt(void **state)
{
  NEEDS_LIBRARIES();
  make_inputs();
  make_universes("pm", "--seed 5 --set simulate.method=pm --set simulate.steps=5");
  write_predictions("pm.nc", predict("pm", 0.2));
  assert_int_equal(
      program("eval " ONE_SET "--out %s", in_scratch("a.nc"), in_scratch("a"), in_scratch("one")),
      0);
  assert_int_equal(program("eval --set 'eval.sets=[{name: boxes, predictions: %s, truth: [%s]}, "
                           "{name: pm, predictions: %s, truth: [%s]}]' --out %s",
                           in_scratch("a.nc"), in_scratch("a"), in_scratch("pm.nc"),
                           in_scratch("pm"), in_scratch("two")),
                   0);
  assert_null(strstr(printed(), "trains on"));
  assert_true(score("one", "boxes,ridge,sample,sigma_8,mae,range,") ==
              score("two", "boxes,ridge,sample,sigma_8,mae,range,"));
  assert_true(isfinite(score("two", "pm,ridge+moments,sample,sigma_8,mae,range,")));
  assert_true(same_contents(in_scratch("one/ridge.csv"), in_scratch("two/ridge.csv")));
  assert_true(weir_file_exists(in_scratch("two/figures/scatter_omega_m_pm.svg")));
  /* The same seed with another split: warns of universes that were trained on. */
  cf_predictions *p = predict("a", 0);

  for (int64_t i = 0; i < p->n; i++) {
    p->subset[i] = p->universe[i] % 3 == 1 ? CF_TEST : CF_TRAIN;
    p->known[i] = 1;
  }
  write_predictions("other.nc", p);
  assert_int_equal(program("eval --set 'eval.sets=[{name: boxes, predictions: %s, truth: [%s]}, "
                           "{name: other, predictions: %s, truth: [%s]}]' --out %s",
                           in_scratch("a.nc"), in_scratch("a"), in_scratch("other.nc"),
                           in_scratch("a"), in_scratch("three")),
                   0);
  assert_non_null(strstr(printed(), "set other: 20 of its 20 universes"));
}

/* Test samples do not influence the regressions: other voxels change no model. */
static void tests_are_never_fitted_on(void **state)
{
  const int64_t zero[5] = {0};
  weir_netcdf *from = NULL;
  weir_netcdf_shape s;
  int var = 0;

  NEEDS_LIBRARIES();
  make_inputs();
  assert_int_equal(
      program("eval " ONE_SET "--out %s", in_scratch("a.nc"), in_scratch("a"), in_scratch("one")),
      0);
  /* The same universes with other counts in those of the tests. */
  static int16_t full[60 * 8 * 8 * 8 * 2];
  float unit[60 * LABELS];
  int64_t universe[60];

  assert_ok(weir_netcdf_open(in_scratch("a/universes-00000000.nc"), &from));
  assert_ok(weir_netcdf_find(from, "full", &var, &s));
  assert_ok(weir_netcdf_read(from, var, zero, s.lengths, full));
  assert_ok(weir_netcdf_find(from, "unitPar", &var, &s));
  assert_ok(weir_netcdf_read(from, var, zero, s.lengths, unit));
  assert_ok(weir_netcdf_find(from, "universe", &var, &s));
  assert_ok(weir_netcdf_read_whole(from, var, &s, zero, s.lengths, universe));
  weir_netcdf_close(&from);
  cf_volume_info info = {.lengths = {8, 8, 8, 2}, .dtype = WEIR_I16, .n_labels = LABELS};
  cf_volume_writer *w = NULL;

  assert_ok(cf_volume_create("netcdf", in_scratch("b"), &info, 60, 0, &w));
  for (int64_t i = 0; i < 60; i++) {
    for (int64_t k = 0; k < 1024 && universe[i] % 3 == 0; k++) {
      full[i * 1024 + k] = (int16_t)(k % 7);
    }
    assert_ok(cf_volume_append(w, full + i * 1024,
                               &(cf_volume_about){unit + i * LABELS, universe[i], NULL, NULL}));
  }
  assert_ok(cf_volume_commit(&w));
  assert_int_equal(program("eval " ONE_SET "--out %s", in_scratch("a.nc"), in_scratch("b.nc"),
                           in_scratch("two")),
                   0);
  assert_true(same_contents(in_scratch("one/ridge.csv"), in_scratch("two/ridge.csv")));
  assert_true(score("one", "boxes,ridge,sample,sigma_8,mae,range,") !=
              score("two", "boxes,ridge,sample,sigma_8,mae,range,"));
}

static void without_truth_the_network_and_the_mean_stand_alone(void **state)
{
  NEEDS_LIBRARIES();
  make_inputs();
  assert_int_equal(program("eval --set 'eval.sets=[{name: boxes, predictions: %s}]' --out %s",
                           in_scratch("a.nc"), in_scratch("s")),
                   0);
  assert_non_null(strstr(printed(), "names no samples"));
  assert_near(score("s", "boxes,made-up,sample,sigma_8,mae,range,"), 0.1, 1e-6);
  assert_true(isfinite(score("s", "boxes,mean,sample,sigma_8,mae,range,")));
  assert_true(isnan(score("s", "boxes,ridge,sample,sigma_8,mae,range,")));
}

/* A network from its training to its scores; a particle-mesh of another seed as the second set. */
static void a_trained_network_is_scored(void **state)
{
#define UNIVERSES                                                             \
  "--set simulate.universes=20 --set simulate.file=20 --set simulate.side=8 " \
  "--set simulate.particles=16 --set simulate.box=128 --set simulate.preset=wide2 "
  NEEDS_LIBRARIES();
  assert_int_equal(
      program("run " UNIVERSES "--set data.split.valid=3 --set data.split.test=5 "
              "--set 'model.net={mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4}}' "
              "--set train.epochs=1 --set train.batch=4 --set exec.tier=vector --out %s",
              in_scratch("run")),
      0);
  assert_int_equal(program("prepare " UNIVERSES "--seed 4 --set simulate.method=pm "
                           "--set simulate.steps=3 --out %s",
                           in_scratch("pm")),
                   0);
  const int status =
      program("predict %s --set exec.tier=vector --set predict.weights=%s --out %s",
              in_scratch("run/universes"), in_scratch("run/weights.nc"), in_scratch("p"));

  NEEDS_YAML(status);
  assert_int_equal(status, 0);
  assert_int_equal(program("predict %s --set exec.tier=vector --set predict.weights=%s "
                           "--set predict.external_universes=true --out %s",
                           in_scratch("pm"), in_scratch("run/weights.nc"), in_scratch("q")),
                   0);
  assert_int_equal(program("eval --set 'eval.sets=[{name: 2lpt, predictions: %s, truth: [%s]}, "
                           "{name: pm, predictions: %s, truth: [%s]}]' --out %s",
                           in_scratch("p/predictions.nc"), in_scratch("run/universes"),
                           in_scratch("q/predictions.nc"), in_scratch("pm"), in_scratch("s")),
                   0);
  assert_null(strstr(printed(), "trains on"));
  static const char *const models[] = {"network", "ridge", "ridge+moments", "mean"};

  for (int i = 0; i < 8; i++) {
    char row[128];

    (void)snprintf(row, sizeof row, "%s,%s,sample,all,mae,range,", i < 4 ? "2lpt" : "pm",
                   models[i % 4]);
    assert_true(score("s", row) > 0);
  }
}

static void threads_make_no_difference(void **state)
{
  static const char *const files[] = {"scores.csv", "bins.csv", "averages.csv", "ridge.csv",
                                      "report.html"};

  NEEDS_LIBRARIES();
  make_inputs();
  for (int threads = 1; threads <= 3; threads += 2) {
    assert_int_equal(program("eval --threads %d " ONE_SET "--out %s", threads, in_scratch("c.nc"),
                             in_scratch("c"), in_scratch("s%d", threads)),
                     0);
  }
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    assert_true(same_contents(in_scratch("s1/%s", files[i]), in_scratch("s3/%s", files[i])));
  }
}

static void refused(int code, const char *predictions, const char *truth, const char *text)
{
  assert_int_equal(program("eval " ONE_SET "--out %s", in_scratch("%s", predictions),
                           in_scratch("%s", truth), in_scratch("r")),
                   code);
  if (strstr(printed(), text) == NULL) {
    printf("%s\nlacks: %s\n", printed(), text);
  }
  assert_non_null(strstr(printed(), text));
  assert_false(weir_file_exists(in_scratch("r/scores.csv")));
}

static void what_does_not_fit_together_is_refused(void **state)
{
  cf_predictions *p = NULL;

  NEEDS_LIBRARIES();
  make_inputs();
  make_universes("d", "--seed 9");
  refused(3, "none.nc", "a", "none.nc");
  refused(3, "a.nc", "c", "these are not the samples that were predicted");
  refused(3, "a.nc", "d", "has the label omega_m");
  refused(3, "c.nc", "a", "of universe");
  p = predict("a", 0);
  (void)snprintf(p->label[0], CF_MAX_NAME, "omega_b");
  write_predictions("names.nc", p);
  refused(3, "names.nc", "a", "it is 'omega_b'");
  p = predict("a", 0);
  p->hi[0] = 0.6;
  write_predictions("ranges.nc", p);
  refused(3, "ranges.nc", "a", "omega_m goes from 0.1 to 0.5, in");
  p = predict("a", 0);
  for (int64_t i = 0; i < p->n; i++) {
    p->known[i] = 0;
  }
  write_predictions("listed.nc", p);
  refused(3, "listed.nc", "a", "has no prediction: predict that subset");
  p = predict("a", 0);
  for (int64_t i = 0; i < p->n; i++) {
    p->subset[i] = i == 7 ? CF_TEST : CF_TRAIN;
    p->known[i] = 1;
  }
  write_predictions("one.nc", p);
  refused(3, "one.nc", "a", "are of universe 7");
  p = predict("a", 0);
  memset(p->subset, CF_VALID, (size_t)p->n);
  write_predictions("valid.nc", p);
  refused(3, "valid.nc", "a", "has no row of the subset test");
  assert_int_equal(program("eval --out %s", in_scratch("r")), 2);
  assert_non_null(strstr(printed(), "eval.sets is empty"));
  assert_int_equal(program("eval --set 'eval.sets=[{name: a, predictions: %s}, {name: a, "
                           "predictions: %s}]' --out %s",
                           in_scratch("a.nc"), in_scratch("c.nc"), in_scratch("r")),
                   2);
  assert_non_null(strstr(printed(), "two sets have the name 'a'"));
  /* A second set in another range. */
  p = predict("a", 0);
  p->hi[1] = 1.2;
  write_predictions("range.nc", p);
  assert_int_equal(program("eval --set 'eval.sets=[{name: a, predictions: %s}, {name: b, "
                           "predictions: %s}]' --out %s",
                           in_scratch("a.nc"), in_scratch("range.nc"), in_scratch("r")),
                   3);
  assert_non_null(strstr(printed(), "predictions of one network have one range"));
}

/* A file whose predictions another program made no numbers of. */
static void predictions_that_are_no_numbers_are_refused(void **state)
{
  const uint32_t not_a_number = 0x7fc00000;
  const float mark = 0.123456789f;
  int changed = 0;

  NEEDS_LIBRARIES();
  make_inputs();
  cf_predictions *p = predict("a", 0);

  p->predicted[0] = mark;
  write_predictions("nan.nc", p);
  FILE *const f = fopen(in_scratch("nan.nc"), "r+b");
  float value = 0;

  assert_non_null(f);
  for (long at = 0; changed == 0 && fseek(f, at, SEEK_SET) == 0 && fread(&value, 4, 1, f) == 1;
       at++) {
    if (memcmp(&value, &mark, 4) == 0) {
      assert_int_equal(fseek(f, at, SEEK_SET), 0);
      assert_int_equal(fwrite(&not_a_number, 4, 1, f), 1);
      changed++;
    }
  }
  assert_int_equal(fclose(f), 0);
  assert_int_equal(changed, 1);
  assert_int_equal(
      program("eval " ONE_SET "--out %s", in_scratch("nan.nc"), in_scratch("a"), in_scratch("r")),
      6);
  assert_non_null(strstr(printed(), "row 1 (sample 0): omega_m is nan by the prediction"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(scores_of_what_is_known),
      TEST(regressions_learn_from_boxes),
      TEST(regressions_on_other_summaries),
      TEST(summaries_forecast_the_errors_of_their_regression),
      TEST(samples_of_a_universe_are_averaged),
      TEST(a_second_set_is_scored_by_what_the_first_learnt),
      TEST(tests_are_never_fitted_on),
      TEST(without_truth_the_network_and_the_mean_stand_alone),
      TEST(a_trained_network_is_scored),
      TEST(threads_make_no_difference),
      TEST(what_does_not_fit_together_is_refused),
      TEST(predictions_that_are_no_numbers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
