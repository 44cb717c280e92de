/* verify_yaml_test.c - known answers of data in memory; the same points for all models; what is
 * fitted on is not what is scored; refusals. */
#include "support/weather_ensemble/verify_check.h"
#include "eval/verify.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "eval/case_study.h"
#include "eval/score/score_tables.h"
#include "support/weather_ensemble/scores_check.h"
#include "io/weir_netcdf.h"

enum { INIT_TIMES = 24, FIT = 12, LEADS = 2, MEMBERS = 6, ROWS = 4, COLUMNS = 5, DAY = 86400 };
enum { CELLS = ROWS * COLUMNS };
static int64_t start[INIT_TIMES], member[MEMBERS];
static const double lead[LEADS] = {0, 24}, lat[ROWS] = {40, 20, 0, -20},
                    lon[COLUMNS] = {0, 10, 20, 30, 40};
static wx_quantity quantity = {.variable = "t", .units = "K", .kind = WX_LEVEL_SURFACE};
static float values[INIT_TIMES * LEADS * MEMBERS * CELLS], truth[(INIT_TIMES + 1) * CELLS];
static int64_t truth_start[INIT_TIMES + 1], fitted[FIT];

/* Members and truth of one distribution that changes from day to day. */
static void draw(void)
{
  wx_quantity_complete(&quantity);
  for (int s = 0; s <= INIT_TIMES; s++) {
    truth_start[s] = (int64_t)s * DAY;
    if (s < INIT_TIMES) {
      start[s] = truth_start[s];
    }
    for (int i = 0; i < CELLS; i++) {
      truth[s * CELLS + i] = (float)(weir_random_normal(1, 1, (uint32_t)s, 1000 + (uint64_t)i) +
                                     2 * weir_random_normal(1, 1, (uint32_t)s, 0));
    }
  }
  for (int m = 0; m < MEMBERS; m++) {
    member[m] = m;
  }
  for (int f = 0; f < INIT_TIMES * LEADS * MEMBERS; f++) {
    const int valid = f / (LEADS * MEMBERS) + f / MEMBERS % LEADS;

    for (int i = 0; i < CELLS; i++) {
      values[f * CELLS + i] = (float)(weir_random_normal(2, 1, (uint32_t)f, 1000 + (uint64_t)i) +
                                      2 * weir_random_normal(1, 1, (uint32_t)valid, 0));
    }
  }
}

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
                                .n_lat = ROWS,
                                .n_lon = COLUMNS,
                                .lat = lat,
                                .lon = lon,
                                .units = {"degrees_north", "degrees_east"}}};

  memset(t, 0, sizeof *t);
  draw();
  assert_ok(wx_archive_of_memory(&f, values, &t->forecast));
  f.name = "truth";
  f.n_init_times = INIT_TIMES + 1;
  f.start = truth_start;
  f.n_leads = f.n_members = 1;
  assert_ok(wx_archive_of_memory(&f, truth, &t->truth));
  assert_ok(wx_eval_data_open(t->forecast, t->truth, &t->data));
  for (int i = 0; i < FIT; i++) {
    fitted[i] = i;
  }
  t->data.fit = fitted;
  t->data.n_fit = FIT;
}

/* An archive of the control alone, or of one numbered otherwise, needs no option to be scored: its
 * CRPS is the mean absolute error, and what needs two members is not known. */
static void a_deterministic_forecast_is_scored(void **state)
{
  static fixture t;

  for (int number = 0; number < 2; number++) {
    open_memory(&t);
    wx_archive_info f = *t.data.facts;
    const int64_t only = number;
    wx_archive *all = t.forecast; /* whose facts f points to */

    wx_eval_data_fini(&t.data);
    f.n_members = 1;
    f.member = &only;
    assert_ok(wx_archive_of_memory(&f, values, &t.forecast));
    wx_archive_close(&all);
    assert_ok(wx_eval_data_open(t.forecast, t.truth, &t.data));
    t.data.fit = fitted;
    t.data.n_fit = FIT;
    assert_ok(open_verify(&t, "score: {patch: 2}"));
    assert_ok(wx_verify_lead(&t.verify, 0, 1));
    const wx_score_sums *const one = &t.verify.score_sums[0];

    assert_string_equal(t.verify.model[0].name, "raw 1");
    assert_near(wx_score_get(one, 0, WX_BY_AREA, WX_CRPS), wx_score_get(one, 0, WX_BY_AREA, WX_MAE),
                1e-13);
    assert_true(wx_score_get(one, 0, WX_BY_AREA, WX_RMSE) > 0);
    assert_true(isnan(wx_score_get(one, 0, WX_BY_AREA, WX_CRPS_FAIR)));
    assert_true(isnan(wx_score_get(one, 0, WX_BY_AREA, WX_SPREAD)));
    assert_true(fabs(t.verify.efi_mean[2]) <= 1);
    wx_verify_close(&t.verify);
    assert_int_equal(open_verify(&t, "models: [{use: {raw: {first: 2}}}]"), WEIR_ERR_CONFIG);
    close_fixture(&t);
  }
}

static void a_right_ensemble_is_found_right(void **state)
{
  static fixture t;

  open_memory(&t);
  assert_ok(open_verify(
      &t, "{models: [{use: {raw: {}}}, {use: {raw: {members: 3}}}], score: {patch: 0}}"));
  assert_ok(wx_verify_lead(&t.verify, 0, 1));
  assert_int_equal(t.verify.n_init_times, INIT_TIMES);
  const wx_score_sums *const five = &t.verify.score_sums[0], *const three = &t.verify.score_sums[1];

  assert_near(wx_score_get(five, 0, WX_BY_AREA, WX_SSR), 1, 0.1);
  assert_near(wx_score_get(three, 0, WX_BY_AREA, WX_SSR), 1, 0.12);
  assert_near(wx_score_get(five, 0, WX_BY_AREA, WX_CRPS_FAIR),
              wx_score_get(three, 0, WX_BY_AREA, WX_CRPS_FAIR), 0.04);
  assert_true(wx_score_get(five, 0, WX_BY_AREA, WX_CRPS) <
              wx_score_get(three, 0, WX_BY_AREA, WX_CRPS));
  assert_true(wx_score_get(five, 0, WX_BY_AREA, WX_ACC) > 0.5);
  assert_true(wx_score_get(five, 0, WX_BY_AREA, WX_EECRPS) > 0);
  assert_true(fabs(t.verify.efi_mean[3]) <= 1);
  close_fixture(&t);
}

/* A point where a member of one model is missing counts for none. */
static void all_models_have_the_same_points(void **state)
{
  static fixture t;

  open_memory(&t);
  values[((3 * LEADS + 1) * MEMBERS + 5) * CELLS + 2] = NAN;
  truth[(1 + 7) * CELLS + 4] = NAN;
  assert_ok(open_verify(
      &t, "{models: [{use: {raw: {}}}, {use: {raw: {members: 3}}}], score: {patch: 0}}"));
  assert_ok(wx_verify_lead(&t.verify, 0, 1));
  for (int k = 0; k < 2; k++) {
    assert_true(wx_score_sums_total(&t.verify.score_sums[k], 0, 0)[WX_SUM_CELLS] ==
                INIT_TIMES * CELLS - 2);
  }
  wx_verify_close(&t.verify);
  assert_ok(open_verify(&t, "{missing: count, models: [{use: {raw: {}}}], score: {patch: 0}}"));
  assert_ok(wx_verify_lead(&t.verify, 0, 1));
  assert_true(wx_score_sums_total(&t.verify.score_sums[0], 0, 0)[WX_SUM_CELLS] ==
              INIT_TIMES * CELLS - 1);
  close_fixture(&t);
}

/* Truth of the scored initialisation times changes no threshold and no mean of the climate. */
static void the_climate_is_of_the_fitted_init_times(void **state)
{
  static fixture t;
  float before[CELLS];

  open_memory(&t);
  assert_ok(open_verify(&t, "score: {patch: 0}"));
  assert_ok(wx_verify_lead(&t.verify, 0, 1));
  memcpy(before, t.verify.climate.mean, sizeof before);
  wx_verify_close(&t.verify);
  for (int i = (FIT + 1) * CELLS; i < (INIT_TIMES + 1) * CELLS; i++) {
    truth[i] += 100;
  }
  assert_ok(open_verify(&t, "score: {patch: 0}"));
  assert_ok(wx_verify_lead(&t.verify, 0, 1));
  assert_memory_equal(before, t.verify.climate.mean, sizeof before);
  double mean = 0;

  for (int s = 0; s < FIT; s++) {
    mean += (double)truth[(s + 1) * CELLS + 6] / FIT;
  }
  assert_near((double)before[6], mean, 1e-6);
  close_fixture(&t);
}

/* Means that do not weigh by area have intervals too, of the same initialisation times. */
static void check_unweighted(const weir_table *c)
{
  enum { HEAD = 13, WEIGHTS = 6, SCORE = 7, VALUE = 8, LO = 9, HI = 10 };
  int found = 0;

  for (int64_t r = 0; r < c->count / HEAD; r++) {
    const char *const *const cell = c->cell + r * HEAD;

    if (strcmp(cell[WEIGHTS], "none") == 0 && strcmp(cell[SCORE], "crps") == 0) {
      assert_true(strtod(cell[LO], NULL) < strtod(cell[VALUE], NULL));
      assert_true(strtod(cell[HI], NULL) > strtod(cell[VALUE], NULL));
      found++;
    }
  }
  assert_int_equal(found, 2 * 2 * LEADS); /* models, regions */
}

/* A day's climate is of the initialisation times near it in the year. Other days' are made of the
 * same fields, which are not read again: what the archive holds by then does not matter. */
static void fields_of_windows_are_read_once(void **state)
{
  static fixture t;
  static float quantile[2][101 * CELLS], mean[2][CELLS];

  for (int k = 0; k < 2; k++) {
    open_memory(&t);
    assert_ok(open_verify(&t, "climate: {window: 3}"));
    wx_climatology *const c = &t.verify.climate;

    if (k == 1) {
      assert_ok(wx_climatology_update(c, &t.data, 2, 1, 0));
      for (int i = 0; i < FIT * LEADS * MEMBERS * CELLS; i++) {
        values[i] = 999;
      }
      for (int i = 0; i < (FIT + 1) * CELLS; i++) {
        truth[i] = 999;
      }
    }
    assert_ok(wx_climatology_update(c, &t.data, 8, 1, 0));
    assert_int_equal(c->n, 7); /* 5 to 11 */
    memcpy(mean[k], c->mean, sizeof mean[k]);
    memcpy(quantile[k], c->quantile, sizeof quantile[k]);
    close_fixture(&t);
  }
  assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
  assert_memory_equal(quantile[0], quantile[1], sizeof quantile[0]);
}

/* The file of prepare has the same climate as the initialisation times that it is made of; of
 * initialisation times that are scored it is refused, and so is one of other quantiles or members.
 */
static void a_climate_may_come_from_a_file(void **state)
{
  static const char *const models =
      "models: [{use: raw}, {use: climatology}], quantiles: [0.1, 0.55, 0.9]";
  wx_model_climate_opts how = {.members = 1, .window = 3, .quantiles = 100, .first = 0};
  char dir[PATH], yaml[3 * PATH];
  double score[2][4];
  float mean[CELLS];
  wx_model_climate made;
  static fixture t;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  weir_check_mkdir(dir, sizeof dir);
  open_memory(&t);
  for (int k = 0; k < 4;
       k++) { /* good; of 30 quantiles; without the control; of scored initialisation times */
    const int64_t list[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    char path[2 * PATH];

    how.quantiles = k == 1 ? 30 : 100;
    how.first = k == 2;
    (void)snprintf(path, sizeof path, "%s/climate%d.nc", dir, k);
    assert_ok(wx_model_climate_fit(&how, t.forecast, t.truth, list, k == 3 ? FIT + 1 : FIT, &made));
    assert_ok(wx_model_climate_write(&made, path));
    wx_model_climate_fini(&made);
  }
  for (int from_file = 0; from_file < 2; from_file++) {
    (void)snprintf(yaml, sizeof yaml, "{%s, score: {patch: 0}%s%s%s}", models,
                   from_file ? ", climate: {file: " : "", from_file ? dir : "",
                   from_file ? "/climate0.nc}" : "");
    assert_ok(open_from(&t, FIT, yaml));
    t.data.n_fit = from_file ? 0 : FIT;
    assert_ok(wx_verify_lead(&t.verify, 0, 1));
    const wx_score_sums *const raw = &t.verify.score_sums[0];

    score[from_file][0] = wx_score_get(raw, 0, WX_BY_AREA, WX_EECRPS);
    score[from_file][1] = wx_score_get(raw, 0, WX_BY_AREA, WX_ACC);
    score[from_file][2] =
        wx_score_sums_total(raw, 0, WX_BY_AREA)[wx_score_sums_event(0, WX_EVENT_BRIER)];
    score[from_file][3] = wx_score_get(&t.verify.score_sums[1], 0, WX_BY_AREA, WX_CRPS);
    for (int i = 0; i < CELLS && from_file; i++) {
      assert_near((double)t.verify.climate.mean[i], (double)mean[i], 1e-6);
    }
    memcpy(mean, t.verify.climate.mean, sizeof mean);
    wx_verify_close(&t.verify);
  }
  for (int k = 0; k < 4; k++) {
    assert_near(score[1][k], score[0][k], 1e-5);
  }
  static const char *const said[] = {"", "quantiles of 30 intervals", "from number 1 on",
                                     "initialisation times that are scored"};

  for (int k = 1; k < 4; k++) {
    (void)snprintf(yaml, sizeof yaml, "climate: {file: %s/climate%d.nc}", dir, k);
    assert_ok(open_from(&t, FIT, yaml));
    assert_int_equal(wx_verify_lead(&t.verify, 0, 1), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), said[k]));
    wx_verify_close(&t.verify);
  }
  close_fixture(&t);
  weir_check_rmdir(dir);
}

static void tables_are_whole_and_repeat(void **state)
{
  static const char *const yaml =
      "{models: [{use: {raw: {}}}, {use: {raw: {members: 3}}}], references: [raw 3], regions: "
      "[{name: north, south: 5}], bootstrap: {block: 2, resamples: 200}}";
  wx_score_tables table[2] = {{.n_rows = 0}};
  static fixture t;

  for (int k = 0; k < 2; k++) {
    open_memory(&t);
    assert_ok(open_verify(&t, yaml));
    for (int l = 0; l < LEADS; l++) {
      assert_ok(wx_verify_lead(&t.verify, 0, l));
      assert_ok(wx_score_tables_add(&table[k], &t.verify));
    }
    close_fixture(&t);
  }
  const wx_score_row *const row = wx_score_tables_find(&table[0], 0, 1, 0);

  assert_int_equal(table[0].n_rows, 2 * LEADS);
  assert_true(row->score[WX_CRPS].lo < row->score[WX_CRPS].value);
  assert_true(row->score[WX_CRPS].hi > row->score[WX_CRPS].value);
  assert_true(row->against[0][WX_COMPARED_CRPS_GAUSS].difference.hi <
              0); /* more members, surely better */
  assert_true(row->against[0][WX_COMPARED_CRPS_GAUSS].test.p < 0.05);
  check_unweighted(&table[0].cells[WX_TABLE_ALL]);
  assert_null(wx_score_tables_find(&table[0], 1, 0, 0));
  for (int k = 0; k < WX_TABLES; k++) {
    assert_ok(table[0].cells[k].status);
    assert_int_equal(table[0].cells[k].count, table[1].cells[k].count);
    for (int64_t i = 0; i < table[0].cells[k].count; i++) {
      assert_string_equal(table[0].cells[k].cell[i], table[1].cells[k].cell[i]);
    }
  }
  wx_score_tables_fini(&table[0]);
  wx_score_tables_fini(&table[1]);
}

/* Everything that an evaluation holds, of few initialisation times; what was had is given back
 * wherever memory ends. */
static weir_status make(void *context)
{
  fixture *const t = context;
  wx_case_study study = {.quantity = 0};
  weir_status status = WEIR_OK;
  wx_archive_info f = *wx_archive_get(t->forecast), y = *wx_archive_get(t->truth);
  wx_archive *forecast = NULL, *came = NULL;
  wx_eval_data data = {.cells = 0};

  memset(&t->verify, 0, sizeof t->verify);
  WEIR_TRY_GOTO(wx_archive_of_memory(&f, values, &forecast), done);
  WEIR_TRY_GOTO(wx_archive_of_memory(&y, truth, &came), done);
  WEIR_TRY_GOTO(wx_eval_data_open(forecast, came, &data), done);
  data.fit = fitted;
  data.n_fit = FIT;
  WEIR_TRY_GOTO(wx_verify_open(&t->opts, &data, 5, t->all + FIT, 2, &t->verify), done);
  WEIR_TRY_GOTO(wx_verify_lead(&t->verify, 0, 1), done);
  WEIR_TRY_GOTO(wx_case_study_create(&t->verify, &study), done);
done:
  wx_case_study_fini(&study);
  wx_verify_close(&t->verify);
  wx_eval_data_fini(&data);
  wx_archive_close(&came);
  wx_archive_close(&forecast);
  return status;
}

static void memory_may_end_anywhere(void **state)
{
  static fixture t;

  open_memory(&t);
  assert_ok(open_verify(&t, "{regions: [{name: north, south: 5}], score: {patch: 2}}"));
  wx_verify_close(&t.verify);
  assert_true(weir_check_faults(make, &t) > 20);
  close_fixture(&t);
}

static void the_case_is_the_most_extreme_start(void **state)
{
  wx_case_study c;
  static fixture t;

  open_memory(&t);
  for (int i = 0; i < MEMBERS * CELLS; i++) {
    values[(20 * LEADS + 1) * MEMBERS * CELLS + i] += 50;
  }
  assert_ok(open_verify(&t, "score: {patch: 0}"));
  assert_ok(wx_verify_lead(&t.verify, 0, 1));
  assert_ok(wx_case_study_create(&t.verify, &c));
  assert_true(c.by_efi && c.start == 20);
  assert_near(c.efi_mean, 1, 1e-6);
  assert_near(c.point_efi, 1, 1e-6);
  assert_true(c.point_sot > 1);
  assert_near((double)c.truth[3], (double)truth[21 * CELLS + 3], 0);
  assert_true(c.score[0] > 40);
  wx_case_study_fini(&c);
  close_fixture(&t);
}

static void refusals_name_the_key(void **state)
{
  static const struct {
    const char *yaml, *said;
  } wrong[] = {
      {"models: [{use: {raw: {}}}, {use: {raw: {}}}]", "both called 'raw 6'"},
      {"references: [best]", "eval.references: no model is called 'best'"},
      {"quantities: [z500]", "eval.quantities"},
      {"leads: [48]", "eval.leads"},
      {"models: [{use: {raw: {members: 9}}}]", "9 members from number 0 on"},
      {"regions: [{name: far, south: 80}]", "no point of the grid lies in far"},
      {"events: [{quantity: z500, value: 1}]", "eval.events[0].quantity"},
  };
  static fixture t;

  open_memory(&t);
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    assert_int_equal(open_verify(&t, wrong[k].yaml), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), wrong[k].said));
  }
  assert_int_equal(wx_verify_open(&t.opts, &t.data, 0, t.all, 0, &t.verify), WEIR_ERR_CONFIG);
  close_fixture(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_deterministic_forecast_is_scored),
      cmocka_unit_test(a_right_ensemble_is_found_right),
      cmocka_unit_test(all_models_have_the_same_points),
      cmocka_unit_test(the_climate_is_of_the_fitted_init_times),
      cmocka_unit_test(fields_of_windows_are_read_once),
      cmocka_unit_test(a_climate_may_come_from_a_file),
      cmocka_unit_test(tables_are_whole_and_repeat),
      cmocka_unit_test(memory_may_end_anywhere),
      cmocka_unit_test(the_case_is_the_most_extreme_start),
      cmocka_unit_test(refusals_name_the_key),
  };

  weir_threads_set(1); /* the fields are small, and threads that wait take the time of others */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
