/* scores.c - eval on files of others: known numbers in the files that it leaves, the same ones with
 * any number of threads, and refusals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "program.h"

static const char *const hind = "weather/netcdf/decadal/MPIESM_miklip_baseline1-hind-SST-global.nc";
static const char *const assim =
    "weather/netcdf/decadal/MPIESM_miklip_baseline1-assim-SST-global.nc";

/* "--set data.forecast=[...] --set data.truth=[...]" of files of the shared data. */
static const char *files(const char *forecast, const char *truth)
{
  static char text[4 * PATH];
  char f[PATH], t[PATH];

  weir_check_shared(f, sizeof f, "%s", forecast);
  weir_check_shared(t, sizeof t, "%s", truth);
  (void)snprintf(text, sizeof text, "--set data.forecast=[%s] --set data.truth=[%s]", f, t);
  return text;
}

static const char *const chosen = "--set eval.part=all --set eval.init_times=all --set "
                                  "eval.bootstrap.block=1500 --set 'eval.models=[{use: raw}, {use: "
                                  "{raw: {members: 5}}}]'";

/* The scorecard shows the skill that skill.csv has. */
static void expect_scorecard(const char *folder)
{
  char *const table = contents(in_scratch("%s/skill.csv", folder));
  char *const page = contents(in_scratch("%s/scorecard.html", folder));
  const char *const row = strstr(table, ",crps_fair,");
  double value[4]; /* difference, its interval, skill */
  char cell[64];

  assert_non_null(row);
  const char *at = row + strlen(",crps_fair,");

  for (int k = 0; k < 4; k++) {
    char *end;

    value[k] = strtod(at, &end);
    at = end + 1;
  }
  assert_true(isfinite(value[3]));
  (void)snprintf(cell, sizeof cell, ">%+.1f</td>", 100 * value[3]);
  const char *const section = strstr(page, "Fair CRPS: skill score (%)");

  assert_non_null(section);
  assert_non_null(strstr(section, cell));
  free(table);
  free(page);
}

static void decades_have_their_known_scores(void **state)
{
  const char *const out = in_scratch("scores");
  static const char *const written[] = {"scores.csv",       "all_scores.csv",
                                        "skill.csv",        "rank.csv",
                                        "pit.csv",          "events.csv",
                                        "histograms.csv",   "reliability.csv",
                                        "init_times.csv",   "crps_decomposition.csv",
                                        "report.html",      "maps.nc",
                                        "spread_skill.csv", "provenance.json",
                                        "strata.csv",       "strata_skill.csv",
                                        "scorecard.html",   "seasons.html"};
  double value[8];

  (void)state;
  assert_int_equal(program("eval %s %s --out %s", files(hind, assim), chosen, out), 0);
  for (size_t k = 0; k < sizeof written / sizeof written[0]; k++) {
    assert_true(weir_file_exists(in_scratch("scores/%s", written[k])));
  }
  char *text = contents(in_scratch("scores/scores.csv"));
  static const char *const head =
      "variable,level,lead_h,model,members,crps,crps_fair,crps_gauss,rmse,"
      "spread,ssr,lo,hi,energy_score,variogram_score\nSST,0,8766,raw 10,10,";

  assert_memory_equal(text, head, strlen(head));
  const char *at = text + strlen(head);

  for (int k = 0; k < 8; k++) {
    char *end;

    value[k] = strtod(at, &end);
    at = end + 1;
  }
  assert_near(value[0], 0.06996, 5e-6);
  assert_near(value[3], 0.1001, 5e-5);
  assert_near(value[4], 0.0391, 5e-5);
  assert_true(value[6] < value[0] && value[7] > value[0]);
  free(text);
  expect_scorecard("scores");
  assert_int_equal(event_count(out, "scores"), 20);
  assert_true(event_number(out, "eval_starts", "fitted") == 0);
}

static const char *const grid_name[] = {
    "history_2017060%dT0300Z-PT0012H-temperature_at_screen_level.nc",
    "truth_2017060%dT1500Z-PT0000H-temperature_at_screen_level.nc"};

/* The archives of IMPROVER's case as options. */
static const char *improver(void)
{
  static char text[2][4 * PATH], both[9 * PATH];

  for (int k = 0; k < 2; k++) {
    text[k][0] = 0;
    for (int day = 2; day <= 4; day++) {
      char name[PATH], path[PATH];

      (void)snprintf(name, sizeof name, grid_name[k], day);
      weir_check_shared(path, sizeof path, "weather/netcdf/emos_grid/%s", name);
      (void)snprintf(text[k] + strlen(text[k]), sizeof text[k] - strlen(text[k]), "%s%s",
                     day > 2 ? "," : "", path);
    }
  }
  (void)snprintf(both, sizeof both, "--set data.forecast=[%s] --set data.truth=[%s]", text[0],
                 text[1]);
  return both;
}

/* A column of the only row of scores.csv. */
static double only_score(const char *dir, int column)
{
  char *const text = contents(in_scratch("%s/scores.csv", dir));
  const char *at = strchr(text, '\n') + 1;

  for (int k = 0; k < column; k++) {
    at = strchr(at, ',') + 1;
  }
  const double value = strtod(at, NULL);

  free(text);
  return value;
}

/* Fitted, written, and IMPROVER's own coefficients read: the CRPS that is known of them, and a
 * provenance that says what was read and scored. */
static void coefficients_of_improver(void **state)
{
  enum { CRPS = 5 };
  static const double known[] = {42.934, 0.85146, 0.13356, 1.19004};
  static const char *const greek[] = {"alpha", "beta", "gamma", "delta"};
  const char *const load = in_scratch("theirs");
  char path[PATH];

  (void)state;
  assert_int_equal(program("eval %s --set eval.part=train --set eval.score.patch=0 --set "
                           "'eval.models=[{use: {emos: {first: 0, save: %s}}}]' --out %s",
                           improver(), in_scratch("."), in_scratch("ours")),
                   0);
  assert_near(only_score("ours", CRPS), 0.23229211, 1e-7);
  weir_netcdf *nc = NULL;

  assert_ok(weir_netcdf_open(in_scratch("emos_2t_12h.nc"), &nc));
  for (int k = 0; k < 4; k++) {
    char name[64];
    float value = 0;
    weir_netcdf_shape shape;
    int var = 0;

    (void)snprintf(name, sizeof name, "emos_coefficient_%s", greek[k]);
    assert_ok(weir_netcdf_find(nc, name, &var, &shape));
    assert_ok(weir_netcdf_read(nc, var, NULL, NULL, &value));
    assert_near((double)value / known[k], 1, k == 1 ? 1e-3 : 1e-2);
  }
  weir_netcdf_close(&nc);
  weir_check_shared(path, sizeof path, "weather/netcdf/emos_grid/kgo_coefficients.nc");
  assert_int_equal(mkdir(load, 0777), 0);
  assert_int_equal(symlink(path, in_scratch("theirs/emos_2t_12h.nc")), 0);
  assert_int_equal(program("eval %s --set eval.part=all --set eval.score.patch=0 --set "
                           "'eval.models=[{use: {emos: {first: 0, load: %s}}}]' --out %s",
                           improver(), load, in_scratch("known")),
                   0);
  assert_near(only_score("known", CRPS), 0.23229211, 1e-7);
  char *const origin = contents(in_scratch("known/provenance.json"));

  assert_non_null(strstr(origin, "theirs/emos_2t_12h.nc"));
  assert_non_null(strstr(origin, "\"scored\": \"all initialisation times\""));
  free(origin);
  char *const fitted = contents(in_scratch("ours/provenance.json"));

  assert_non_null(strstr(fitted, "\"scored\": \"train\""));
  assert_non_null(strstr(fitted, "\"train\": \"2017-06-02 03:00 to 2017-06-04 15:00, 3 samples\""));
  free(fitted);
}

/* The climate that prepare writes gives eval the scores of the one that it makes itself. */
static void prepare_makes_the_climate_of_eval(void **state)
{
  static const char *const split =
      "--set data.split.train.to=1990-01-01 --set data.split.test.from=1992-01-01 "
      "--set data.split.gap=0";
  enum { CRPS = 5 };
  char *const names = strdup(files(hind, assim)), *origin;

  (void)state;
  assert_int_equal(program("prepare %s %s --set import.climate=true --set import.convert=false "
                           "--set import.incomplete=keep --out %s",
                           names, split, in_scratch("made")),
                   0);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(program("eval %s %s --set eval.part=test --set eval.leads=[8766] --set "
                             "'eval.models=[{use: climatology}]' --set eval.climate.file=%s "
                             "--out %s",
                             names, split, k == 0 ? "'\"\"'" : in_scratch("made/climate.nc"),
                             in_scratch("climate%d", k)),
                     0);
  }
  assert_true(only_score("climate0", CRPS) > 0.01);
  assert_near(only_score("climate1", CRPS) / only_score("climate0", CRPS), 1, 1e-5);
  origin = contents(in_scratch("climate1/provenance.json"));
  assert_non_null(strstr(origin, "made/climate.nc"));
  assert_non_null(strstr(origin, "\"scored\": \"test\""));
  free(origin);
  assert_int_equal(program("eval %s --set eval.part=all --set eval.leads=[8766] --set "
                           "eval.climate.file=%s --out %s",
                           names, in_scratch("made/climate.nc"), in_scratch("leak")),
                   2);
  assert_non_null(strstr(printed(), "is made of initialisation times that are scored"));
  free(names);
}

/* The truth as its own forecast: one member, and nothing is set for it. */
static void a_deterministic_archive_is_scored(void **state)
{
  (void)state;
  assert_int_equal(
      program("eval %s --set eval.part=all --out %s", files(assim, assim), in_scratch("one")), 0);
  assert_near(only_score("one", 5), 0, 0);
  assert_true(weir_file_exists(in_scratch("one/report.html")));
}

static void threads_change_no_number(void **state)
{
  static const char *const compared[] = {"all_scores.csv", "skill.csv", "rank.csv"};
  char *const names = strdup(files(hind, assim));

  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    assert_int_equal(program("eval %s %s --threads %d --out %s", names, chosen, threads,
                             in_scratch("t%d", threads)),
                     0);
  }
  for (size_t k = 0; k < sizeof compared / sizeof compared[0]; k++) {
    assert_true(same_contents(in_scratch("t1/%s", compared[k]), in_scratch("t2/%s", compared[k])));
  }
  free(names);
}

static void refusals_say_what_to_do(void **state)
{
  char *const names = strdup(files(hind, assim));

  (void)state;
  assert_int_equal(program("eval --set eval.part=all --out %s", in_scratch("a")), 2);
  assert_non_null(strstr(printed(), "eval needs data.forecast and data.truth"));
  assert_int_equal(program("eval %s --set eval.part=test --out %s", names, in_scratch("b")), 2);
  assert_non_null(strstr(printed(), "eval.part: no initialisation time"));
  assert_int_equal(
      program("eval %s %s --set eval.references=[best] --out %s", names, chosen, in_scratch("c")),
      2);
  assert_non_null(strstr(printed(), "no model is called 'best'"));
  assert_true(only_log(in_scratch("c")));
  free(names);
  const char *const other =
      files(hind, "weather/netcdf/emos_grid/"
                  "truth_20170602T1500Z-PT0000H-temperature_at_screen_level.nc");

  assert_int_equal(program("eval %s %s --out %s", other, chosen, in_scratch("d")), 4);
  assert_non_null(strstr(printed(), "take forecasts and truth on one grid"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(decades_have_their_known_scores),   TEST(coefficients_of_improver),
      TEST(prepare_makes_the_climate_of_eval), TEST(a_deterministic_archive_is_scored),
      TEST(threads_change_no_number),          TEST(refusals_say_what_to_do)};

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
