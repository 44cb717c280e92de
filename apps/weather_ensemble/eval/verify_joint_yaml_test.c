/* verify_joint_yaml_test.c - energy and variogram score of two quantities as one vector are those
 * of the definition; models without members are absent; points count for all models or none;
 * refusals. */
#include "support/weather_ensemble/verify_check.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "eval/ensemble.h"
#include "eval/lead_scores.h"
#include "eval/score/score_tables.h"
#include "support/weather_ensemble/scores_check.h"

enum { INIT_TIMES = 6, MEMBERS = 4, EDGE = 4, CELLS = EDGE * EDGE, PATCH = 2, PATCHES = 4, N = 2 };
enum { D = N * PATCH * PATCH, DAY = 86400 };
static int64_t start[INIT_TIMES], valid[INIT_TIMES], member[MEMBERS], fitted[INIT_TIMES];
static const double lead[1] = {24}, zero[1] = {0}, lat[EDGE] = {45, 15, -15, -45},
                    lon[EDGE] = {0, 10, 20, 30};
static wx_quantity quantity[N] = {
    {.variable = "t", .units = "K", .kind = WX_LEVEL_SURFACE},
    {.variable = "u", .units = "m s-1", .kind = WX_LEVEL_SURFACE},
};
static float values[INIT_TIMES][N][MEMBERS][CELLS], truth[INIT_TIMES][N][CELLS];

static void draw(void)
{
  for (int s = 0; s < INIT_TIMES; s++) {
    start[s] = (int64_t)s * DAY;
    valid[s] = start[s] + DAY;
    fitted[s] = s;
    for (int q = 0; q < N; q++) {
      const uint32_t of = (uint32_t)(s * N + q);

      for (int i = 0; i < CELLS; i++) {
        truth[s][q][i] = (float)((q == 0 ? 5 : 0.1) * weir_random_normal(1, 0, of, (uint64_t)i));
        for (int m = 0; m < MEMBERS; m++) {
          values[s][q][m][i] =
              (float)((q == 0 ? 5 : 0.1) * weir_random_normal(2, (uint32_t)m, of, (uint64_t)i));
        }
      }
    }
  }
  for (int m = 0; m < MEMBERS; m++) {
    member[m] = m;
  }
}

static void open_memory(fixture *t)
{
  wx_archive_info f = {.name = "forecasts",
                       .n_init_times = INIT_TIMES,
                       .n_leads = 1,
                       .n_members = MEMBERS,
                       .n_quantities = N,
                       .start = start,
                       .lead = lead,
                       .member = member,
                       .quantity = quantity,
                       .grid = {.kind = WX_GRID_LATLON,
                                .n_lat = EDGE,
                                .n_lon = EDGE,
                                .lat = lat,
                                .lon = lon,
                                .units = {"degrees_north", "degrees_east"}}};

  memset(t, 0, sizeof *t);
  for (int q = 0; q < N; q++) {
    wx_quantity_complete(&quantity[q]);
  }
  assert_ok(wx_archive_of_memory(&f, &values[0][0][0][0], &t->forecast));
  f.name = "truth";
  f.start = valid;
  f.lead = zero;
  f.n_members = 1;
  assert_ok(wx_archive_of_memory(&f, &truth[0][0][0], &t->truth));
  assert_ok(wx_eval_data_open(t->forecast, t->truth, &t->data));
  t->data.fit = fitted;
  t->data.n_fit = INIT_TIMES;
}

/* Mean over initialisation times and squares, without `skipped` of the first. */
static void by_hand(const double scale[N], int skipped, double *energy, double *variogram)
{
  double n = 0;

  *energy = *variogram = 0;
  for (int s = 0; s < INIT_TIMES; s++) {
    for (int p = s == 0 ? skipped : 0; p < PATCHES; p++) {
      double x[MEMBERS * D], y[D];

      for (int k = 0; k < D; k++) {
        const int q = k / (PATCH * PATCH), point = k % (PATCH * PATCH);
        const int i = (p / 2 * PATCH + point / PATCH) * EDGE + p % 2 * PATCH + point % PATCH;

        y[k] = (double)truth[s][q][i] / scale[q];
        for (int m = 0; m < MEMBERS; m++) {
          x[m * D + k] = (double)values[s][q][m][i] / scale[q];
        }
      }
      *energy += wx_energy_score(x, MEMBERS, D, y, D).empirical;
      *variogram += wx_variogram_score(x, MEMBERS, D, y, D, 0.5);
      n++;
    }
  }
  *energy /= n;
  *variogram /= n;
}

static void check_scores(const fixture *t, const double scale[N], int skipped)
{
  const wx_score_sums *const raw = &t->verify.score_sums[0];
  double energy, variogram;

  by_hand(scale, skipped, &energy, &variogram);
  assert_near(wx_score_get(raw, 0, WX_BY_POINT, WX_ENERGY), energy, 1e-13 * energy);
  assert_near(wx_score_get(raw, 0, WX_BY_POINT, WX_VARIOGRAM), variogram, 1e-13 * variogram);
  assert_true(wx_score_get(raw, 0, WX_BY_AREA, WX_ENERGY_FAIR) < energy);
  assert_true(isnan(wx_score_get(raw, 0, WX_BY_AREA, WX_CRPS)));
}

static const char models[] =
    "score: {patch: 2}, models: [{use: {raw: {}}}, {name: emos, use: {emos: {}}}, {name: ecc, use: "
    "{emos: {output: members}}}]";

static weir_status open_with(fixture *t, const char *joint)
{
  char text[512];

  (void)snprintf(text, sizeof text, "{%s, %s}", joint, models);
  return open_verify(t, text);
}

static void vectors_of_two_quantities_are_scored(void **state)
{
  static const double given[N] = {2, 0.05};
  static fixture t;
  wx_score_tables tables = {.n_rows = 0};

  (void)state;
  draw();
  open_memory(&t);
  assert_ok(open_with(&t, "joint: [{quantity: t, scale: 2}, {quantity: u, scale: 0.05}]"));
  assert_ok(wx_verify_joint(&t.verify, 0));
  assert_string_equal(t.verify.joint.name, "t+u");
  assert_int_equal(t.verify.n_init_times, INIT_TIMES);
  check_scores(&t, given, 0);
  assert_true(t.verify.model[1].absent && !t.verify.model[2].absent);
  assert_ok(wx_score_tables_add(&tables, &t.verify));
  assert_int_equal(tables.n_joint, 2);
  assert_int_equal(tables.n_rows, 0);
  assert_near(tables.joint[0].energy.value,
              wx_score_get(&t.verify.score_sums[0], 0, WX_BY_AREA, WX_ENERGY), 1e-13);
  assert_memory_equal(tables.joint[1].scale, given, sizeof given);
  assert_int_equal(t.verify.remarks.n, 0); /* none that "emos" has no forecast */
  assert_true(isfinite(tables.joint[1].against[0][1].skill.value));
  assert_ok(wx_verify_lead(&t.verify, 0, 0)); /* and alone again, the distribution too */
  assert_false(t.verify.model[1].absent);
  assert_true(wx_score_get(&t.verify.score_sums[1], 0, WX_BY_AREA, WX_CRPS) > 0);
  wx_score_tables_fini(&tables);
  close_fixture(&t);
}

static void the_scale_is_the_deviation_of_the_truth(void **state)
{
  static fixture t;
  double scale[N];

  (void)state;
  draw();
  open_memory(&t);
  for (int q = 0; q < N; q++) {
    double sum = 0, all = 0;

    for (int i = 0; i < CELLS; i++) {
      const double w = t.data.facts->grid.weight != NULL ? t.data.facts->grid.weight[i] : 1;
      double mean = 0, square = 0;

      for (int s = 0; s < INIT_TIMES; s++) {
        mean += (double)truth[s][q][i] / INIT_TIMES;
      }
      for (int s = 0; s < INIT_TIMES; s++) {
        square += ((double)truth[s][q][i] - mean) * ((double)truth[s][q][i] - mean);
      }
      sum += w * square / (INIT_TIMES - 1);
      all += w;
    }
    scale[q] = sqrt(sum / all);
  }
  assert_ok(open_with(&t, "joint: [{quantity: t}, {quantity: u}]"));
  assert_ok(wx_verify_joint(&t.verify, 0));
  for (int q = 0; q < N; q++) {
    assert_near(t.verify.joint.scale[q], scale[q], 1e-13 * scale[q]);
  }
  check_scores(&t, t.verify.joint.scale, 0);
  close_fixture(&t);
}

/* Of the first start the first square lacks a member of the second quantity. */
static void a_missing_member_leaves_its_square_out(void **state)
{
  static const double given[N] = {1, 1};
  static fixture t;

  (void)state;
  draw();
  values[0][1][3][EDGE + 1] = NAN;
  open_memory(&t);
  assert_ok(open_with(&t, "joint: [{quantity: t, scale: 1}, {quantity: u, scale: 1}]"));
  assert_ok(wx_verify_joint(&t.verify, 0));
  check_scores(&t, given, 1);
  for (int m = 0; m < 3; m += 2) {
    assert_near(wx_score_sums_total(&t.verify.score_sums[m], 0, WX_BY_POINT)[WX_SUM_PATCH],
                INIT_TIMES * PATCHES - 1, 0);
  }
  close_fixture(&t);
}

/* Without training initialisation times no EMOS is fitted. */
static void a_model_without_forecasts_is_remarked_on(void **state)
{
  static fixture t;

  (void)state;
  draw();
  open_memory(&t);
  t.data.n_fit = 0;
  assert_ok(open_with(&t, "joint: [{quantity: t, scale: 1}, {quantity: u, scale: 1}]"));
  assert_ok(wx_verify_joint(&t.verify, 0));
  assert_true(t.verify.model[2].absent && !t.verify.model[0].absent);
  assert_int_equal(t.verify.remarks.n, 1);
  assert_string_equal(t.verify.remarks.text[0],
                      "ecc is not scored: it has no forecast (t+u at 24 h)");
  close_fixture(&t);
}

/* As another rank sends it. */
static void scores_come_back_from_bytes(void **state)
{
  static fixture t, other;
  wx_case_study none = {.truth = NULL};
  weir_bytes bytes = {0};

  (void)state;
  draw();
  open_memory(&t);
  open_memory(&other);
  assert_ok(open_with(&t, "joint: [{quantity: t}, {quantity: u}]"));
  assert_ok(open_with(&other, "joint: [{quantity: t}, {quantity: u}]"));
  assert_ok(wx_verify_joint(&t.verify, 0));
  assert_ok(wx_lead_scores_put(&t.verify, &none, &bytes));
  assert_ok(wx_lead_scores_get(bytes.data, bytes.count, &other.verify, &none));
  assert_int_equal(other.verify.at_quantity, WX_JOINT);
  check_scores(&other, t.verify.joint.scale, 0);
  assert_memory_equal(other.verify.joint.scale, t.verify.joint.scale, sizeof t.verify.joint.scale);
  wx_case_study_fini(&none);
  weir_free(&bytes.data);
  close_fixture(&t);
  close_fixture(&other);
}

static void what_has_no_dependence_is_refused(void **state)
{
  static const struct {
    const char *yaml, *said;
  } rows[] = {
      {"{joint: [{quantity: t}]}", "eval.joint has one quantity"},
      {"{joint: [{quantity: t}, {quantity: v}]}", "eval.joint[1].quantity: 'v' is not scored"},
      {"{joint: [{quantity: t}, {quantity: t}]}", "'t' is listed twice"},
      {"{quantities: [t], joint: [{quantity: t}, {quantity: u}]}", "'u' is not scored"},
      {"{joint: [{quantity: t}, {quantity: u}], score: {patch: 0}}", "eval.score.patch is 0"},
      {"{joint: [{quantity: t}, {quantity: u}], models: [{use: {emos: {}}}]}",
       "no row of eval.models gives members"},
  };
  static fixture t;

  (void)state;
  draw();
  open_memory(&t);
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    assert_int_equal(open_verify(&t, rows[k].yaml), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), rows[k].said));
  }
  for (int s = 1; s < INIT_TIMES; s++) {
    memcpy(truth[s][1], truth[0][1], sizeof truth[0][1]);
  }
  close_fixture(&t);
  open_memory(&t);
  assert_ok(open_with(&t, "joint: [{quantity: t}, {quantity: u}]"));
  assert_int_equal(wx_verify_joint(&t.verify, 0), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "set eval.joint[1].scale"));
  close_fixture(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vectors_of_two_quantities_are_scored),
      cmocka_unit_test(the_scale_is_the_deviation_of_the_truth),
      cmocka_unit_test(a_missing_member_leaves_its_square_out),
      cmocka_unit_test(a_model_without_forecasts_is_remarked_on),
      cmocka_unit_test(scores_come_back_from_bytes),
      cmocka_unit_test(what_has_no_dependence_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
