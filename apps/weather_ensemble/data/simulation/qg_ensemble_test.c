/* qg_ensemble_test.c - the simulation: any forecast again with the same bits, fields against the
 * states they are of, a perfect model, spread and error, refusals. */
#include <math.h>
#include <string.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/simulation/qg_ensemble_priv.h"
#include "device/weir_parallel.h"
#include "ops/fft/weir_fft_plan.h"

enum { LAT = 32, LON = 64, CELLS = LAT * LON, LEADS = 3 };
enum { Z500, T500, W500, U500, V500, VO500, PV250, QUANTITIES };

static double leads[LEADS] = {0, 12, 24};
static const char *quantities[QUANTITIES] = {"z500", "t500",  "w500", "u500",
                                             "v500", "vo500", "pv250"};

/* The setting of 8.4 for tests: half the resolution, the double step. */
static wx_qg_opts small(void)
{
  wx_qg_opts o;

  weir_opts_default(wx_qg_options, sizeof o, &o);
  o.lat = LAT;
  o.lon = LON;
  o.step = 0.12;
  o.spin_up = 10;
  o.library.states = 6;
  o.library.every = 2;
  o.init_times = 4;
  o.every = 24;
  o.members = 3;
  o.leads = (weir_real_list){leads, LEADS};
  o.quantities = (weir_string_list){quantities, QUANTITIES};
  return o;
}

static wx_qg_ensemble *simulate(const wx_qg_opts *o, uint64_t seed)
{
  wx_qg_ensemble *e = NULL;

  if (!weir_fft_plan_available()) {
    printf("skipped: this build has no FFTW\n");
    skip();
  }
  assert_ok(wx_qg_ensemble_create(o, NULL, seed, &e));
  return e;
}

/* Every field of every start, computed `batch` initialisation times at a time, from the last to the
 * first if so.
 */
static float *all_fields(const wx_qg_opts *o, int threads, int64_t batch, bool backwards)
{
  const int64_t fields = o->init_times * LEADS * QUANTITIES * o->members;
  wx_qg_ensemble *e = NULL;
  float *out = NULL;

  weir_threads_set(threads);
  e = simulate(o, 7);
  assert_ok(weir_alloc(fields * CELLS, sizeof *out, (void **)&out));
  for (int64_t b = 0; b < o->init_times; b += batch) {
    const int64_t first = backwards ? o->init_times - batch - b : b;

    assert_ok(wx_qg_ensemble_compute(e, first, batch, NULL, NULL));
    for (int64_t i = 0; i < batch * LEADS * QUANTITIES * o->members; i++) {
      const int64_t m = i % o->members, q = i / o->members % QUANTITIES;
      const int64_t l = i / o->members / QUANTITIES % LEADS;
      const int64_t s = first + i / o->members / QUANTITIES / LEADS;

      assert_ok(wx_qg_ensemble_field(
          e, s, l, q, m, out + (((s * LEADS + l) * QUANTITIES + q) * o->members + m) * CELLS));
    }
  }
  wx_qg_ensemble_destroy(&e);
  weir_threads_set(0);
  return out;
}

static void any_part_has_the_same_bits(void **state)
{
  const wx_qg_opts o = small();
  const size_t bytes =
      (size_t)(o.init_times * LEADS * QUANTITIES * o.members) * CELLS * sizeof(float);
  float *one = all_fields(&o, 1, 1, false), *two = all_fields(&o, 2, 2, false);
  float *four = all_fields(&o, 4, 1, true);

  assert_memory_equal(one, two, bytes);
  assert_memory_equal(one, four, bytes);
  weir_free(&one);
  weir_free(&two);
  weir_free(&four);
}

/* Without errors of model and analysis the control is the truth, bit by bit; members are not. */
static void without_errors_forecasts_are_the_truth(void **state)
{
  wx_qg_opts o = small();
  float field[CELLS], truth[CELLS];

  o.forecast.preset = WX_QG_CUSTOM;
  o.forecast.tau_f = o.tau_f;
  o.forecast.mountain = o.mountain;
  o.forecast.jet = o.jet;
  o.forecast.nu = o.nu;
  o.analysis = 0;
  wx_qg_ensemble *e = simulate(&o, 3);
  const wx_archive_info *const f = wx_qg_ensemble_forecasts(e), *const t = wx_qg_ensemble_truth(e);

  assert_ok(wx_qg_ensemble_compute(e, 2, 1, NULL, NULL));
  for (int64_t l = 0; l < LEADS; l++) {
    const int64_t time = wx_archive_find_truth(t, f, 2, l);

    assert_true(time >= 0 && time < wx_qg_ensemble_known(e));
    for (int64_t q = 0; q < QUANTITIES; q++) {
      assert_ok(wx_qg_ensemble_true_field(e, time, q, truth));
      assert_ok(wx_qg_ensemble_field(e, 2, l, q, 0, field));
      assert_true(q == W500 || memcmp(field, truth, sizeof field) == 0);
      assert_ok(wx_qg_ensemble_field(e, 2, l, q, 1, field));
      assert_true(memcmp(field, truth, sizeof field) != 0);
    }
  }
  wx_qg_ensemble_destroy(&e);
}

/* A finer truth is another one, with waves that forecasts do not see: fields are on their grid. */
static void a_finer_truth_has_fields_of_the_same_grid(void **state)
{
  wx_qg_opts o = small();
  float field[CELLS], truth[CELLS];
  double sum = 0;

  o.refine = 2;
  o.init_times = 1;
  o.analysis = 0;
  wx_qg_ensemble *e = simulate(&o, 3);

  assert_ok(wx_qg_ensemble_compute(e, 0, 1, NULL, NULL));
  assert_ok(wx_qg_ensemble_true_field(e, 0, Z500, truth));
  assert_ok(wx_qg_ensemble_field(e, 0, 0, Z500, 0, field));
  assert_memory_equal(field, truth, sizeof field);
  assert_ok(wx_qg_ensemble_true_field(e, 2, Z500, truth));
  assert_ok(wx_qg_ensemble_field(e, 0, 2, Z500, 0, field));
  for (int64_t c = 0; c < CELLS; c++) {
    sum += fabs((double)field[c] - (double)truth[c]) / CELLS;
  }
  assert_true(sum > 1 && sum < 300); /* m2 s-2, after a day */
  wx_qg_ensemble_destroy(&e);
}

static double distance(const float *a, const float *b)
{
  double sum = 0;

  for (int64_t c = 0; c < CELLS; c++) {
    sum += pow((double)a[c] - (double)b[c], 2);
  }
  return sqrt(sum / CELLS);
}

/* Errors at the start are that share of differences in the library; seeds draw others. */
static void errors_have_the_size_of_the_options(void **state)
{
  wx_qg_opts o = small();
  float truth[CELLS], control[2][CELLS], member[CELLS];
  double size[2];

  for (int run = 0; run < 2; run++) {
    o.analysis = run == 0 ? 0.03 : 0.06;
    wx_qg_ensemble *e = simulate(&o, 3);

    assert_ok(wx_qg_ensemble_compute(e, 1, 1, NULL, NULL));
    assert_ok(wx_qg_ensemble_true_field(
        e, wx_archive_find_truth(wx_qg_ensemble_truth(e), wx_qg_ensemble_forecasts(e), 1, 0), Z500,
        truth));
    assert_ok(wx_qg_ensemble_field(e, 1, 0, Z500, 0, control[run]));
    assert_ok(wx_qg_ensemble_field(e, 1, 0, Z500, 2, member));
    size[run] = distance(control[run], truth);
    assert_true(distance(member, control[run]) > 0.1 * size[0]);
    wx_qg_ensemble_destroy(&e);
  }
  assert_near(size[1] / size[0], 2, 1e-3);
  wx_qg_ensemble *e = simulate(&o, 4);

  assert_ok(wx_qg_ensemble_compute(e, 1, 1, NULL, NULL));
  assert_ok(wx_qg_ensemble_field(e, 1, 0, Z500, 0, member));
  assert_true(distance(member, control[1]) > 100);
  wx_qg_ensemble_destroy(&e);
}

static void archives_have_the_times_of_the_options(void **state)
{
  const wx_qg_opts o = small();
  wx_qg_ensemble *e = simulate(&o, 1);
  const wx_archive_info *const f = wx_qg_ensemble_forecasts(e), *const t = wx_qg_ensemble_truth(e);

  assert_int_equal(f->start[0], 946684800); /* 2000-01-01 */
  assert_int_equal(f->start[3], 946684800 + 3 * 86400);
  assert_int_equal(t->n_init_times, 9); /* twice a day until a day after the last start */
  assert_int_equal(t->start[8], 946684800 + 4 * 86400);
  assert_string_equal(f->quantity[PV250].name, "pv250");
  assert_int_equal(f->quantity[Z500].param, 129);
  assert_true(f->grid.lat[0] > f->grid.lat[LAT - 1] && f->grid.lat[LAT / 2 - 1] == 45);
  wx_qg_ensemble_destroy(&e);
}

static void wrong_options_are_refused_by_name(void **state)
{
  static double odd[] = {0, 12.1}, twice[] = {12, 12};
  static const char *unknown[] = {"z500", "q500"}, *same[] = {"z500", "z500"};
  wx_qg_opts bad[7];
  const char *const says[7] = {"simulate.leads", "ascending",      "q500; it has z250",
                               "there twice",    "simulate.every", "simulate.begin",
                               "at least one"};
  wx_qg_ensemble *e = NULL;

  for (int i = 0; i < 7; i++) {
    bad[i] = small();
  }
  bad[0].leads = (weir_real_list){odd, 2};
  bad[1].leads = (weir_real_list){twice, 2};
  bad[2].quantities = (weir_string_list){unknown, 2};
  bad[3].quantities = (weir_string_list){same, 2};
  bad[4].every = 7.77;
  bad[5].begin = "2000-13-01";
  bad[6].leads.count = 0;
  for (int i = 0; i < 7; i++) {
    assert_int_equal(wx_qg_ensemble_create(&bad[i], NULL, 1, &e), WEIR_ERR_CONFIG);
    assert_null(e);
    assert_non_null(strstr(weir_last_message(), says[i]));
  }
}

static void what_breaks_down_is_told(void **state)
{
  wx_qg_opts o = small();
  wx_qg_ensemble *e = NULL;

  if (!weir_fft_plan_available()) {
    printf("skipped: this build has no FFTW\n");
    skip();
  }
  o.step = 3.6; /* far too long */
  o.spin_up = 300;
  o.library.every = 1.25;
  o.every = 30;
  o.leads.count = 1;
  assert_int_equal(wx_qg_ensemble_create(&o, NULL, 1, &e), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "simulate.step"));
}

static void a_stop_is_obeyed(void **state)
{
  const wx_qg_opts o = small();
  wx_qg_ensemble *e = simulate(&o, 1), *none = NULL;

  weir_stop_request(15);
  assert_int_equal(wx_qg_ensemble_compute(e, 0, 1, NULL, NULL), WEIR_ERR_STOPPED);
  assert_int_equal(wx_qg_ensemble_create(&o, NULL, 1, &none), WEIR_ERR_STOPPED);
  weir_stop_request(0);
  assert_ok(wx_qg_ensemble_compute(e, 0, 1, NULL, NULL)); /* and continues */
  wx_qg_ensemble_destroy(&e);
}

static weir_status make(void *context)
{
  weir_exec_cfg exec;
  wx_qg_ensemble *e = NULL;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  weir_status status = wx_qg_ensemble_create(context, &exec, 1, &e);

  if (status == WEIR_OK) {
    status = wx_qg_ensemble_compute(e, 0, 1, NULL, NULL);
  }
  wx_qg_ensemble_destroy(&e);
  return status;
}

static void allocations_may_fail(void **state)
{
  wx_qg_opts o = small();

  if (!weir_fft_plan_available()) {
    printf("skipped: this build has no FFTW\n");
    skip();
  }
  o.lat = o.lon = 8;
  o.spin_up = 0;
  o.library.every = 0.25;
  weir_threads_set(1);
  assert_true(weir_check_some_faults(make, &o, 997) > 10);
  weir_threads_set(0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_part_has_the_same_bits),
      cmocka_unit_test(without_errors_forecasts_are_the_truth),
      cmocka_unit_test(a_finer_truth_has_fields_of_the_same_grid),
      cmocka_unit_test(errors_have_the_size_of_the_options),
      cmocka_unit_test(archives_have_the_times_of_the_options),
      cmocka_unit_test(wrong_options_are_refused_by_name),
      cmocka_unit_test(what_breaks_down_is_told),
      cmocka_unit_test(a_stop_is_obeyed),
      cmocka_unit_test(allocations_may_fail),
  };
  weir_log_set_level(WEIR_LOG_WARN);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
