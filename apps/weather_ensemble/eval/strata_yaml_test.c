/* strata_yaml_test.c - scores of seasons and of windows of lead times against sums over the members
 * of each case; parts that make the whole; refusals. */
#include "support/weather_ensemble/verify_check.h"
#include "eval/strata.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"

/* Initialisation times 20 days apart from 1970-01-05 on, so that leads cross the ends of seasons.
 */
enum { INIT_TIMES = 37, LEADS = 3, MEMBERS = 4, CELLS = 6, DAY = 86400, STEP = 20 };
static int64_t start[INIT_TIMES], valid[INIT_TIMES * LEADS], member[MEMBERS];
static const double lead[LEADS] = {24, 72, 240}, lat[2] = {20, -20}, lon[3] = {0, 10, 20};
static wx_quantity quantity = {.variable = "t", .units = "K", .kind = WX_LEVEL_SURFACE};
static float values[INIT_TIMES * LEADS * MEMBERS * CELLS], truth[INIT_TIMES * LEADS * CELLS];

static void open_memory(fixture *t)
{
  wx_archive_info f = {.name = "forecasts",
                       .n_init_times = INIT_TIMES,
                       .n_leads = LEADS,
                       .n_members = MEMBERS,
                       .n_quantities = 1,
                       .start = start,
                       .lead = lead,
                       .member = member,
                       .quantity = &quantity,
                       .grid = {.kind = WX_GRID_LATLON,
                                .n_lat = 2,
                                .n_lon = 3,
                                .lat = lat,
                                .lon = lon,
                                .units = {"degrees_north", "degrees_east"}}};
  const double zero = 0;

  memset(t, 0, sizeof *t);
  wx_quantity_complete(&quantity);
  for (int m = 0; m < MEMBERS; m++) {
    member[m] = m;
  }
  for (int s = 0; s < INIT_TIMES; s++) {
    start[s] = (int64_t)(4 + s * STEP) * DAY;
    for (int l = 0; l < LEADS; l++) {
      valid[s * LEADS + l] = start[s] + (int64_t)lead[l] * 3600;
    }
  }
  for (uint64_t i = 0; i < sizeof values / sizeof *values; i++) {
    values[i] = (float)weir_random_normal(1, 1, 0, i);
  }
  for (uint64_t i = 0; i < sizeof truth / sizeof *truth; i++) {
    truth[i] = (float)weir_random_normal(2, 1, 0, i);
  }
  assert_ok(wx_archive_of_memory(&f, values, &t->forecast));
  f.name = "truth";
  f.n_init_times = INIT_TIMES * LEADS;
  f.start = valid;
  f.n_leads = f.n_members = 1;
  f.lead = &zero;
  assert_ok(wx_archive_of_memory(&f, truth, &t->truth));
  assert_ok(wx_eval_data_open(t->forecast, t->truth, &t->data));
}

/* The months of a season, as a test would count them. */
static const char *const season[] = {"all", "DJF", "MAM", "JJA", "SON"};
static bool is_in(int s, int64_t seconds)
{
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t day = seconds / DAY % 365, month = 0; /* 1970 to 1972-02: no leap day before */

  while (day >= days[month]) {
    day -= days[month++];
  }
  static const int of[] = {1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 1};

  return s == 0 || of[month] == s;
}

/* Mean square error of the mean of the first n members over leads `from` to `to` and a season. */
static double mse(const double *weight, int n, int from, int to, int s, int *starts)
{
  double sum = 0, all = 0;

  *starts = 0;
  for (int i = 0; i < INIT_TIMES; i++) {
    bool any = false;

    for (int l = from; l <= to; l++) {
      if (!is_in(s, valid[i * LEADS + l])) {
        continue;
      }
      any = true;
      for (int c = 0; c < CELLS; c++) {
        double mean = 0;

        for (int m = 0; m < n; m++) {
          mean += (double)values[((i * LEADS + l) * MEMBERS + m) * CELLS + c] / n;
        }
        const double d = mean - (double)truth[(i * LEADS + l) * CELLS + c];

        sum += weight[c] * d * d;
        all += weight[c];
      }
    }
    *starts += any;
  }
  return sum / all;
}

/* The fields after `key` at the beginning of a line, count of them; false: there is no such line.
 */
static bool row_of(const char *text, const char *key, int count, double *out)
{
  const char *at = strstr(text, key);

  for (int k = 0; at != NULL && k < count; k++) {
    at = k == 0 ? at + strlen(key) : strchr(at, ',') + 1;
    out[k] = strtod(at, NULL);
  }
  return at != NULL;
}

static char *read_table(const char *dir, const char *name)
{
  char path[PATH];
  char *text = NULL;
  int64_t n = 0;

  (void)snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *const f = fopen(path, "r");

  assert_non_null(f);
  text = calloc(1 << 20, 1);
  n = (int64_t)fread(text, 1, (1 << 20) - 1, f);
  assert_true(n > 0 && n < (1 << 20) - 1);
  (void)fclose(f);
  return text;
}

static const char *const yaml =
    "{models: [{use: {raw: {}}}, {use: {raw: {members: 2}}}], references: [raw 2], lead_windows: "
    "[{name: late, from: 72, to: 240}, {name: every, from: 0, to: 1000}], quantiles: [], score: "
    "{patch: 0}, bootstrap: {block: 2, resamples: 100}}";

static void write_strata(fixture *t, const char *dir)
{
  wx_strata strata = {.n = 0};

  for (int l = 0; l < LEADS; l++) {
    assert_ok(wx_verify_lead(&t->verify, 0, l));
    assert_ok(wx_strata_add(&strata, &t->verify));
  }
  assert_ok(wx_strata_write(&strata, &t->verify, dir));
  wx_strata_fini(&strata);
}

static void seasons_and_windows_have_their_sums(void **state)
{
  static const struct {
    const char *name;
    int from, to;
  } leads[] = {{"24 h", 0, 0}, {"72 h", 1, 1}, {"240 h", 2, 2}, {"late", 1, 2}, {"every", 0, 2}};
  static fixture t;
  char dir[PATH], key[PATH];

  (void)state;
  open_memory(&t);
  assert_ok(open_verify(&t, yaml));
  weir_check_mkdir(dir, sizeof dir);
  write_strata(&t, dir);
  char *const scores = read_table(dir, "strata.csv"), *const skill =
                                                          read_table(dir, "strata_skill.csv");
  const double *const weight = t.data.facts->grid.weight;

  for (size_t k = 0; k < sizeof leads / sizeof *leads; k++) {
    for (int s = 0; s < 5; s++) {
      int starts = 0;
      double row[4], pair[6];
      const double four = mse(weight, 4, leads[k].from, leads[k].to, s, &starts);
      const double two = mse(weight, 2, leads[k].from, leads[k].to, s, &starts);

      (void)snprintf(key, sizeof key, "t,0,%s,%s,raw 4,4,rmse,", leads[k].name, season[s]);
      assert_true(row_of(scores, key, 4, row));
      assert_near(row[0], sqrt(four), 1e-6);
      assert_true(row[1] < row[0] && row[0] < row[2]);
      assert_near(row[3], starts, 0);
      (void)snprintf(key, sizeof key, "t,0,%s,%s,raw 4,4,raw 2,mse,", leads[k].name, season[s]);
      assert_true(row_of(skill, key, 6, pair));
      assert_near(pair[0], four - two, 1e-6);
      assert_near(pair[3], 1 - four / two, 1e-6);
      assert_true(pair[1] < pair[0] && pair[0] < pair[2]);
    }
  }
  assert_null(strstr(skill, "raw 2,2,raw 2"));
  free(scores);
  free(skill);
  weir_check_rmdir(dir);
  close_fixture(&t);
}

/* A season that no valid date is in has no rows. */
static void what_is_not_there_is_no_row(void **state)
{
  static fixture t;
  char dir[PATH];

  (void)state;
  open_memory(&t);
  assert_ok(open_from(&t, INIT_TIMES - 3, yaml)); /* 1971-11-26 to 1972-01-15 */
  weir_check_mkdir(dir, sizeof dir);
  write_strata(&t, dir);
  char *const scores = read_table(dir, "strata.csv");

  assert_non_null(strstr(scores, ",DJF,"));
  assert_null(strstr(scores, ",MAM,"));
  assert_null(strstr(scores, ",JJA,"));
  free(scores);
  weir_check_rmdir(dir);
  close_fixture(&t);
}

static void months_have_their_seasons(void **state)
{
  (void)state;
  assert_int_equal(wx_season_of(0), WX_SEASON_DJF);       /* 1970-01-01 */
  assert_int_equal(wx_season_of(58.99), WX_SEASON_DJF);   /* 1970-02-28 */
  assert_int_equal(wx_season_of(59), WX_SEASON_MAM);      /* 1970-03-01 */
  assert_int_equal(wx_season_of(789.5), WX_SEASON_DJF);   /* 1972-02-29 */
  assert_int_equal(wx_season_of(-31), WX_SEASON_DJF);     /* 1969-12-01 */
  assert_int_equal(wx_season_of(-31.001), WX_SEASON_SON); /* 1969-11-30 */
  assert_int_equal(wx_season_of(243), WX_SEASON_SON);     /* 1970-09-01 */
  assert_int_equal(wx_season_of(242.999), WX_SEASON_JJA); /* 1970-08-31 */
}

static weir_status make(void *context)
{
  wx_strata strata = {.n = 0};
  const weir_status status = wx_strata_add(&strata, context);

  wx_strata_fini(&strata);
  return status;
}

static void memory_may_end_anywhere(void **state)
{
  static fixture t;

  (void)state;
  open_memory(&t);
  assert_ok(open_verify(&t, yaml));
  assert_ok(wx_verify_lead(&t.verify, 0, 1));
  assert_true(weir_check_faults(make, &t.verify) >= 3);
  close_fixture(&t);
}

static void windows_are_refused_by_name(void **state)
{
  static const struct {
    const char *yaml, *said;
  } wrong[] = {
      {"lead_windows: [{from: 0, to: 48}]", "eval.lead_windows[0]"},
      {"lead_windows: [{name: a, from: 0, to: 48}, {name: a, from: 0, to: 72}]",
       "eval.lead_windows[1]"},
      {"lead_windows: [{name: a, from: 48, to: 24}]", "may not end before it begins"},
      {"lead_windows: [{name: a, from: 25, to: 48}]", "no lead that is scored lies in 'a'"},
  };
  static fixture t;

  (void)state;
  open_memory(&t);
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    assert_int_equal(open_verify(&t, wrong[k].yaml), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), wrong[k].said));
  }
  close_fixture(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seasons_and_windows_have_their_sums),
      cmocka_unit_test(what_is_not_there_is_no_row),
      cmocka_unit_test(months_have_their_seasons),
      cmocka_unit_test(memory_may_end_anywhere),
      cmocka_unit_test(windows_are_refused_by_name),
  };

  weir_threads_set(1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
