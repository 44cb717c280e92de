/* models_yaml_test.c - statistical corrections as models of an evaluation: what they are fitted on,
 * what they gain on an ensemble that is wrong in known ways, coefficients there and back. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "baseline/emos.h"
#include "baseline/eof.h"
#include "eval/score/crps.h"
#include "eval/sort/sort.h"
#include "eval/ensemble.h"
#include "eval/forecast_model.h"
#include "io/weir_netcdf.h"

enum {
  INIT_TIMES = 120,
  FIT = 80,
  MEMBERS = 6,
  LAT = 4,
  LON = 6,
  CELLS = LAT * LON,
  LEAD = 24,
  DAY = 86400,
  PATH = 4096
};

/* A start every five days; the truth of each start and of a day after it. */
typedef struct world {
  int64_t start[INIT_TIMES], time[2 * INIT_TIMES], member[MEMBERS], fit[FIT];
  double lead[1], lat[LAT], lon[LON];
  wx_quantity quantity;
  float forecast[INIT_TIMES * MEMBERS * CELLS], truth[2 * INIT_TIMES * CELLS];
  wx_archive *archive[2];
  wx_eval_data data;
} world;

static wx_archive_info facts_of(world *w, bool truth)
{
  return (wx_archive_info){.name = truth ? "truth" : "forecasts",
                           .n_init_times = truth ? 2 * INIT_TIMES : INIT_TIMES,
                           .n_leads = 1,
                           .n_members = truth ? 1 : MEMBERS,
                           .n_quantities = 1,
                           .start = truth ? w->time : w->start,
                           .lead = truth ? w->lat + LAT - 1 : w->lead, /* a zero */
                           .member = w->member,
                           .quantity = &w->quantity,
                           .grid = {.kind = WX_GRID_LATLON,
                                    .n_lat = LAT,
                                    .n_lon = LON,
                                    .lat = w->lat,
                                    .lon = w->lon,
                                    .units = {"degrees_north", "degrees_east"}}};
}

/* A wave that travels; members are biased by the point and by the state, and their spread is half
 * of the error. */
static void draw(world *w)
{
  for (int64_t t = 0; t < INIT_TIMES; t++) {
    const double phase = 1.7 * weir_random_normal(1, 0, 0, (uint64_t)t);

    w->start[t] = t * 5 * DAY;
    for (int64_t c = 0; c < CELLS; c++) {
      const uint64_t i = (uint64_t)(t * CELLS + c);
      const double size = 0.5 + weir_random_uniform(1, 0, 2, i);
      const double middle = 280 + 10 * sin(phase + (double)c);
      const double y = middle + 1 + 2 * sin((double)c) + 2 * cos(phase) +
                       2 * size * weir_random_normal(1, 0, 1, i);

      w->truth[(2 * t) * CELLS + c] = (float)(280 + 10 * sin(phase - 0.3 + (double)c));
      w->truth[(2 * t + 1) * CELLS + c] = (float)y;
      for (int64_t m = 0; m < MEMBERS; m++) {
        w->forecast[(t * MEMBERS + m) * CELLS + c] =
            (float)(middle + size * weir_random_normal(1, 1, (uint32_t)m, i));
      }
    }
  }
}

static void open_world(world *w)
{
  w->quantity = (wx_quantity){.variable = "2t", .units = "K"};
  wx_quantity_complete(&w->quantity);
  w->lead[0] = LEAD;
  for (int64_t t = 0; t < INIT_TIMES; t++) {
    w->time[2 * t] = w->start[t];
    w->time[2 * t + 1] = w->start[t] + DAY;
  }
  for (int64_t m = 0; m < MEMBERS; m++) {
    w->member[m] = m;
  }
  for (int k = 0; k < LAT; k++) {
    w->lat[k] = 10.0 * (LAT - 1 - k);
  }
  for (int k = 0; k < LON; k++) {
    w->lon[k] = 10.0 * k;
  }
  for (int64_t i = 0; i < FIT; i++) {
    w->fit[i] = i;
  }
  for (int k = 0; k < 2; k++) {
    const wx_archive_info f = facts_of(w, k == 1);

    assert_ok(wx_archive_of_memory(&f, k == 1 ? w->truth : w->forecast, &w->archive[k]));
  }
  assert_ok(wx_eval_data_open(w->archive[0], w->archive[1], &w->data));
  w->data.fit = w->fit;
  w->data.n_fit = FIT;
  w->data.seed = 3;
}

static void close_world(world *w)
{
  wx_eval_data_fini(&w->data);
  wx_archive_close(&w->archive[0]);
  wx_archive_close(&w->archive[1]);
}

typedef struct opened {
  weir_config *config;
  wx_model_row row;
  wx_model model;
} opened;

static void open_model(world *w, const char *use, opened *o)
{
  char yaml[PATH + 256];

  (void)snprintf(yaml, sizeof yaml, "use: %s", use);
  assert_ok(weir_opts_parse(wx_model_row_options, sizeof o->row, yaml, &o->row, &o->config));
  assert_ok(wx_model_open(&o->row, &w->data, &o->model));
  assert_ok(wx_model_fit(&o->model, &w->data, 0, 0));
  assert_false(o->model.absent);
}

static void close_model(opened *o)
{
  wx_model_close(&o->model);
  weir_config_destroy(&o->config);
}

/* Mean CRPS over the initialisation times that are not fitted on: of normal distributions, or of
 * members. */
static double score(world *w, opened *o)
{
  double sum = 0;

  for (int64_t t = FIT; t < INIT_TIMES; t++) {
    wx_given g;

    assert_ok(wx_model_give(&o->model, &w->data, t, &g));
    assert_int_equal(g.members, o->model.gives);
    for (int64_t c = 0; c < CELLS; c++) {
      const double y = (double)w->truth[(2 * t + 1) * CELLS + c];
      double x[MEMBERS];

      for (int64_t m = 0; m < g.members; m++) {
        x[m] = (double)g.member[m * CELLS + c];
      }
      wx_sort(x, g.members);
      const wx_crps_decomposition terms =
          g.members > 0 ? wx_crps_sorted(x, g.members, y) : (wx_crps_decomposition){.m = 0};

      sum += g.members > 0 ? wx_crps_empirical(&terms)
                           : wx_crps_normal((double)g.mean[c], (double)g.sd[c], y);
    }
  }
  return sum / ((INIT_TIMES - FIT) * CELLS);
}

static double score_of(world *w, const char *use)
{
  opened o;

  open_model(w, use, &o);
  const double s = score(w, &o);

  close_model(&o);
  return s;
}

static const char *const kinds[] = {
    "emos",
    "{emos: {members: 3, first: 0}}",
    "{emos: {fit: {pool: point}}}",
    "{emos: {fit: {pool: window, reach: 1}}}",
    "{emos: {fit: {pool: point, form: scale}}}",
    "{emos: {eofs: {count: 3}}}",
    "{emos: {dates: {kind: season, window: 90}}}",
    "{emos: {dates: {kind: past, window: 200}}}",
    "{emos: {eofs: {count: 3}, dates: {kind: season, window: 90}}}",
    "{emos: {anomalies: true}}",
    "{emos: {output: members}}",
    "{emos: {output: members, couple: {kind: member}}}",
    "quantile",
    "climatology",
    "{climatology: {dates: {kind: season}}}",
    "persistence",
    "{persistence: {form: member}}",
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Each knows more than the one before it. */
static void corrections_gain_what_they_know(void **state)
{
  static world w;

  draw(&w);
  open_world(&w);
  const double raw = score_of(&w, "raw"), global = score_of(&w, "emos");
  const double point = score_of(&w, "{emos: {fit: {pool: point}}}");
  const double eof = score_of(&w, "{emos: {eofs: {count: 2}}}");
  const double climate = score_of(&w, "climatology");

  assert_true(global < 0.85 * raw);
  assert_true(point < 0.98 * global);
  assert_true(eof < 0.95 * point);
  assert_true(climate > 1.3 * raw);
  assert_true(score_of(&w, "persistence") < climate);
  assert_true(score_of(&w, "quantile") < raw);
  for (int k = 0; k < 2; k++) {
    const double members =
        score_of(&w, k == 0 ? "{emos: {output: members}}"
                            : "{emos: {output: members, couple: {kind: member}}}");

    assert_true(members < 0.92 * raw && members > global);
  }
  close_world(&w);
}

/* A year later, 73 initialisation times, the window of the season has the same dates; whatever was
 * asked for in between, the forecast is that of a model that was asked for nothing else. */
static void kept_windows_are_those_of_their_dates(void **state)
{
  static const int64_t asked[] = {10, 83, 30, 10, 84, 83, 103, 11};
  static const char *const use = "{emos: {fit: {pool: point}, dates: {kind: season, window: 90}}}";
  static world w;
  opened all;

  draw(&w);
  open_world(&w);
  open_model(&w, use, &all);
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
    opened one;
    wx_given a, b;

    open_model(&w, use, &one);
    assert_ok(wx_model_give(&all.model, &w.data, asked[i], &a));
    assert_ok(wx_model_give(&one.model, &w.data, asked[i], &b));
    assert_memory_equal(a.mean, b.mean, sizeof(float) * CELLS);
    assert_memory_equal(a.sd, b.sd, sizeof(float) * CELLS);
    close_model(&one);
  }
  close_model(&all);
  close_world(&w);
}

/* EOFs with a season, step by step: the regression is fitted to all training dates, EMOS to the
 * left-out corrected means of those within 45 days of the day of the year. */
static void emos_of_a_season_follows_the_eofs_of_all_dates(void **state)
{
  enum { ASKED = FIT + 9, COUNT = 3 };
  static const char *const use = "{emos: {eofs: {count: 3}, dates: {kind: season, window: 90}}}";
  static world w;
  static float mean[FIT * CELLS], variance[FIT * CELLS], truth[FIT * CELLS], left_out[FIT * CELLS];
  float asked[CELLS], asked_variance[CELLS], corrected[CELLS], mu[CELLS], sigma[CELLS];
  wx_emos_opts fit;
  wx_emos_fit coefficients;
  wx_eof eof;
  wx_given g;
  opened o;
  int64_t n = 0;

  draw(&w);
  open_world(&w);
  open_model(&w, use, &o);
  assert_ok(wx_model_give(&o.model, &w.data, ASKED, &g));
  weir_opts_default(wx_emos_options, sizeof fit, &fit);
  for (int64_t t = 0; t < FIT; t++) {
    wx_cases_moments(w.forecast + t * MEMBERS * CELLS, MEMBERS, CELLS, mean + t * CELLS,
                     variance + t * CELLS);
    memcpy(truth + t * CELLS, w.truth + (2 * t + 1) * CELLS, sizeof(float) * CELLS);
  }
  wx_cases cases = {.rows = FIT,
                    .columns = CELLS,
                    .mean = mean,
                    .variance = variance,
                    .truth = truth,
                    .weight = w.data.facts->grid.weight};

  assert_ok(wx_eof_fit(&(wx_eof_opts){.count = COUNT}, &cases, &eof, left_out));
  for (int64_t t = 0; t < FIT; t++) { /* the season, moved to the front */
    const double days = fmod((double)(w.start[ASKED] - w.start[t]) / DAY + 2 * 365.25, 365.25);

    if (fmin(days, 365.25 - days) <= 45) {
      memmove(left_out + n * CELLS, left_out + t * CELLS, sizeof(float) * CELLS);
      memmove(variance + n * CELLS, variance + t * CELLS, sizeof(float) * CELLS);
      memmove(truth + n * CELLS, truth + t * CELLS, sizeof(float) * CELLS);
      n++;
    }
  }
  assert_true(n >= 10 && n < FIT / 2);
  cases.rows = n;
  cases.mean = left_out;
  assert_ok(wx_emos_fit_cases(&fit, &cases, &coefficients));
  wx_cases_moments(w.forecast + ASKED * MEMBERS * CELLS, MEMBERS, CELLS, asked, asked_variance);
  wx_eof_apply(&eof, cases.weight, asked, corrected);
  wx_emos_apply(&coefficients.at, 1, corrected, asked_variance, CELLS, mu, sigma);
  assert_memory_equal(g.mean, mu, sizeof mu);
  assert_memory_equal(g.sd, sigma, sizeof sigma);
  wx_eof_fini(&eof);
  close_model(&o);
  close_world(&w);
}

/* Where a window holds too few dates all are taken, as without windows, and it is said. */
static void windows_of_too_few_dates_are_told(void **state)
{
  static world w;
  char text[512];

  draw(&w);
  open_world(&w);
  for (int k = 0; k < 2; k++) {
    static const char *const all[] = {"emos", "climatology"};
    static const char *const few[] = {"{emos: {dates: {kind: past, window: 20}}}",
                                      "{climatology: {dates: {kind: past, window: 20}}}"};
    static const char *const enough[] = {"{emos: {dates: {kind: season, window: 90}}}",
                                         "{climatology: {dates: {kind: season, window: 90}}}"};
    opened o, p, q;
    wx_given a, b;

    open_model(&w, all[k], &o);
    open_model(&w, few[k], &p);
    open_model(&w, enough[k], &q);
    assert_ok(wx_model_give(&o.model, &w.data, FIT + 3, &a));
    assert_ok(wx_model_give(&p.model, &w.data, FIT + 3, &b));
    assert_memory_equal(a.mean, b.mean, sizeof(float) * CELLS);
    assert_true(wx_model_few_dates(&p.model, &w.data, text, sizeof text));
    assert_non_null(strstr(text, "for 1 initialisation times of "));
    assert_ok(wx_model_give(&q.model, &w.data, FIT + 3, &b));
    assert_memory_not_equal(a.mean, b.mean, sizeof(float) * CELLS);
    assert_false(wx_model_few_dates(&o.model, &w.data, text, sizeof text));
    assert_false(wx_model_few_dates(&q.model, &w.data, text, sizeof text));
    close_model(&o);
    close_model(&p);
    close_model(&q);
  }
  close_world(&w);
}

/* What is not fitted on may change, and so may the forecasts of every other start. */
static void nothing_is_learned_from_what_is_scored(void **state)
{
  static world w, other;
  const int64_t asked = FIT + 7;

  draw(&w);
  other = w;
  for (int64_t t = FIT; t < INIT_TIMES; t++) {
    for (int64_t c = 0; c < CELLS; c++) {
      other.truth[(2 * t + 1) * CELLS + c] = t % 3 == 0 ? NAN : -500;
      other.truth[2 * t * CELLS + c] += t == asked ? 0 : 99; /* persistence starts from it */
    }
    for (int64_t i = 0; i < MEMBERS * CELLS && t != asked; i++) {
      other.forecast[t * MEMBERS * CELLS + i] = t % 2 == 0 ? NAN : 1e4f;
    }
  }
  open_world(&w);
  open_world(&other);
  for (size_t k = 0; k < KINDS; k++) {
    opened o, p;
    wx_given a, b;

    open_model(&w, kinds[k], &o);
    open_model(&other, kinds[k], &p);
    assert_ok(wx_model_give(&p.model, &other.data, asked - 1, &b)); /* no trace of another start */
    assert_ok(wx_model_give(&o.model, &w.data, asked, &a));
    assert_ok(wx_model_give(&p.model, &other.data, asked, &b));
    assert_int_equal(a.members, b.members);
    if (a.members > 0) {
      assert_memory_equal(a.member, b.member, sizeof(float) * CELLS * (size_t)a.members);
    } else {
      assert_memory_equal(a.mean, b.mean, sizeof(float) * CELLS);
      assert_memory_equal(a.sd, b.sd, sizeof(float) * CELLS);
      assert_true(a.sd[0] > 0 && isfinite(a.mean[0]));
    }
    close_model(&o);
    close_model(&p);
  }
  close_world(&w);
  close_world(&other);
}

static void names_tell_what_they_are(void **state)
{
  static const char *const name[KINDS] = {
      "emos 6",     "emos 3",      "emos 6",      "emos 6",      "scaled 6",   "eof 6",
      "emos 6",     "emos 6",      "eof 6",       "emos 6",      "emos 6",     "emos 6",
      "quantile 6", "climatology", "climatology", "persistence", "persistence"};
  static world w;

  draw(&w);
  open_world(&w);
  for (size_t k = 0; k < KINDS; k++) {
    opened o;

    open_model(&w, kinds[k], &o);
    assert_string_equal(o.model.name, name[k]);
    close_model(&o);
  }
  close_world(&w);
}

static void without_truth_there_is_no_forecast(void **state)
{
  static world w;
  opened o;

  draw(&w);
  open_world(&w);
  w.data.n_fit = 0;
  for (size_t k = 0; k + 1 < KINDS; k++) {
    char yaml[256];

    (void)snprintf(yaml, sizeof yaml, "use: %s", kinds[k]);
    assert_ok(weir_opts_parse(wx_model_row_options, sizeof o.row, yaml, &o.row, &o.config));
    assert_ok(wx_model_open(&o.row, &w.data, &o.model));
    assert_ok(wx_model_fit(&o.model, &w.data, 0, 0));
    assert_true(o.model.absent);
    close_model(&o);
  }
  close_world(&w);
}

static void refuse(world *w, const char *use, const char *reason)
{
  opened o;
  char yaml[PATH];

  (void)snprintf(yaml, sizeof yaml, "use: %s", use);
  assert_ok(weir_opts_parse(wx_model_row_options, sizeof o.row, yaml, &o.row, &o.config));
  assert_int_equal(wx_model_open(&o.row, &w->data, &o.model), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), reason));
  weir_config_destroy(&o.config);
}

static void what_does_not_go_together_is_refused(void **state)
{
  static world w;

  draw(&w);
  open_world(&w);
  refuse(&w, "{emos: {eofs: {count: 3}, dates: {kind: past}}}", "all training initialisation");
  refuse(&w, "{emos: {eofs: {count: 3}, save: .}}", "load and save");
  refuse(&w, "{emos: {dates: {kind: season}, load: .}}", "load or save");
  refuse(&w, "{quantile: {members: 7}}", "7 members from number 0 on");
  refuse(&w, "{quantile: {members: 6, first: 1}}", "6 members from number 1 on");
  close_world(&w);
}

/* Coefficients that were written give the forecasts that they were fitted for. */
static void coefficients_come_back(void **state)
{
  static world w;
  char folder[PATH], use[2 * PATH];

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  weir_check_mkdir(folder, sizeof folder);
  draw(&w);
  open_world(&w);
  static const char *const how[] = {"pool: global", "pool: point",
                                    "pool: global}, anomalies: true, couple: {kind: ecc"};

  for (int k = 0; k < 3; k++) {
    opened o, p;
    wx_given a, b;

    (void)snprintf(use, sizeof use, "{emos: {fit: {%s}, save: %s}}", how[k], folder);
    open_model(&w, use, &o);
    (void)snprintf(use, sizeof use, "{emos: {load: %s}}", folder);
    open_model(&w, use, &p);
    assert_ok(wx_model_give(&o.model, &w.data, FIT, &a));
    assert_ok(wx_model_give(&p.model, &w.data, FIT, &b));
    for (int64_t c = 0; c < CELLS; c++) {
      assert_near((double)b.mean[c], (double)a.mean[c], 1e-6);
      assert_near((double)b.sd[c], (double)a.sd[c], 1e-6);
    }
    close_model(&o);
    close_model(&p);
  }
  close_world(&w);
  weir_check_rmdir(folder);
}

/* A point whose truth is never known has no anomalies, and no coefficients in the file. */
static void a_point_without_truth_is_saved_without_coefficients(void **state)
{
  static world w;
  char folder[PATH], use[2 * PATH];
  enum { DARK = 5 };
  opened o, p;
  wx_given a, b;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  weir_check_mkdir(folder, sizeof folder);
  draw(&w);
  for (int64_t t = 0; t < 2 * INIT_TIMES; t++) {
    w.truth[t * CELLS + DARK] = NAN;
  }
  open_world(&w);
  (void)snprintf(use, sizeof use, "{emos: {anomalies: true, save: %s}}", folder);
  open_model(&w, use, &o);
  (void)snprintf(use, sizeof use, "{emos: {load: %s}}", folder);
  open_model(&w, use, &p);
  assert_ok(wx_model_give(&o.model, &w.data, FIT, &a));
  assert_ok(wx_model_give(&p.model, &w.data, FIT, &b));
  for (int64_t c = 0; c < CELLS; c++) {
    assert_int_equal(isnan(b.mean[c]), c == DARK);
    assert_int_equal(isnan(a.mean[c]), c == DARK);
    assert_true(c == DARK || fabs((double)(b.mean[c] - a.mean[c])) < 3e-4);
  }
  close_model(&o);
  close_model(&p);
  close_world(&w);
  weir_check_rmdir(folder);
}

typedef struct attempt {
  world *w;
  const char *yaml;
} attempt;

static weir_status try_model(void *context)
{
  const attempt *const a = context;
  wx_eval_data data = a->w->data;
  weir_config *config = NULL;
  wx_model_row row;
  wx_model model = {.desc = NULL};
  wx_given g;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_opts_parse(wx_model_row_options, sizeof row, a->yaml, &row, &config), done);
  WEIR_TRY_GOTO(wx_model_open(&row, &data, &model), done);
  WEIR_TRY_GOTO(wx_model_fit(&model, &data, 0, 0), done);
  WEIR_TRY_GOTO(wx_model_give(&model, &data, FIT, &g), done);
done:
  wx_model_close(&model);
  weir_config_destroy(&config);
  wx_eval_data_fini(&data);
  return status;
}

static void lack_of_memory_is_told(void **state)
{
  static world w;

  draw(&w);
  open_world(&w);
  w.data.n_fit = 12;
  for (size_t k = 0; k < KINDS; k++) {
    char yaml[256];
    attempt a = {.w = &w, .yaml = yaml};

    (void)snprintf(yaml, sizeof yaml, "use: %s", kinds[k]);
    assert_true(weir_check_faults(try_model, &a) >= 5);
  }
  close_world(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(corrections_gain_what_they_know),
      cmocka_unit_test(kept_windows_are_those_of_their_dates),
      cmocka_unit_test(emos_of_a_season_follows_the_eofs_of_all_dates),
      cmocka_unit_test(windows_of_too_few_dates_are_told),
      cmocka_unit_test(nothing_is_learned_from_what_is_scored),
      cmocka_unit_test(names_tell_what_they_are),
      cmocka_unit_test(without_truth_there_is_no_forecast),
      cmocka_unit_test(what_does_not_go_together_is_refused),
      cmocka_unit_test(coefficients_come_back),
      cmocka_unit_test(a_point_without_truth_is_saved_without_coefficients),
      cmocka_unit_test(lack_of_memory_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
