/* predict.c - what predict writes: the same with and without overlap, as NetCDF and GRIB; what it
 * says of the subsets of its samples; which forecasts are none of its weights; and what a mistake,
 * an error or a signal leaves. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/archive/archive.h"
#include "io/weir_grib.h"
#include "io/weir_netcdf.h"
#include "month.h"

enum { ROWS = 16, COLUMNS = 32, CELLS = ROWS * COLUMNS, MEMBERS = 3 };

/* The network of the tests: one step of training, enough to be none that does nothing. */
#define PREDICT                                                                          \
  "predict " NETWORK "--set predict.weights=%s --set predict.members=true --threads %d " \
  "--set data.forecast=[%s] --out %s "

/* Archives and weights of the scratch folder, made once. */
static int make_network(void **state)
{
  (void)make_scratch(state);
  prepare(60);
  assert_int_equal(program("run " NETWORK ARCHIVES "--set train.steps=1 --threads 1 --out %s",
                           FILES, in_scratch("r")),
                   0);
  return 0;
}

static wx_archive *opened(const char *path)
{
  wx_archive *a = NULL;

  assert_ok(wx_archive_open(&path, 1, &a));
  return a;
}

/* A copy of the forecasts under another name: its ending says the format. at: a start whose first
 * value of the last member is left out; -1: none. */
static void copy_forecast(const char *to, int64_t at)
{
  wx_archive *a = opened(in_scratch("s/forecast.nc"));
  const wx_archive_info *f = wx_archive_get(a);
  wx_archive_writer *w = NULL;
  float x[MEMBERS * CELLS];

  assert_true(f->n_members == MEMBERS && f->n_quantities == 1 && f->n_leads == 1);
  assert_ok(wx_archive_create_as(to, f, &(wx_archive_out){.bits = 24}, &w));
  for (int64_t i = 0; i < f->n_init_times; i++) {
    assert_ok(wx_archive_read(a, i, 0, 0, 0, MEMBERS, x));
    x[(MEMBERS - 1) * CELLS] = i == at ? NAN : x[(MEMBERS - 1) * CELLS];
    assert_ok(wx_archive_write(w, i, 0, 0, 0, MEMBERS, x));
  }
  assert_ok(wx_archive_commit(&w));
  wx_archive_close(&a);
}

/* Largest difference between fields of two archives that hold the same, as a share of the range of
 * each field. */
static double difference(const char *of_a, const char *of_b)
{
  wx_archive *a = opened(of_a), *b = opened(of_b);
  const wx_archive_info *const f = wx_archive_get(a), *const g = wx_archive_get(b);
  static float x[MEMBERS * CELLS], y[MEMBERS * CELLS];
  double max_error = 0;

  assert_true(f->n_init_times == g->n_init_times && f->n_leads == g->n_leads &&
              f->n_members == g->n_members && f->n_quantities == g->n_quantities);
  assert_memory_equal(f->start, g->start, (size_t)f->n_init_times * sizeof *f->start);
  assert_memory_equal(f->lead, g->lead, (size_t)f->n_leads * sizeof *f->lead);
  assert_memory_equal(f->member, g->member, (size_t)f->n_members * sizeof *f->member);
  for (int64_t i = 0; i < f->n_init_times * f->n_quantities; i++) {
    const int64_t s = i / f->n_quantities, q = i % f->n_quantities;
    const int64_t other = wx_archive_find_quantity(g, f->quantity[q].name);
    double lo = INFINITY, hi = -INFINITY, far = 0;

    assert_true(other >= 0);
    assert_int_equal(f->quantity[q].product, g->quantity[other].product);
    assert_ok(wx_archive_read(a, s, 0, q, 0, f->n_members, x));
    assert_ok(wx_archive_read(b, s, 0, other, 0, f->n_members, y));
    for (int64_t k = 0; k < f->n_members * CELLS; k++) {
      assert_true(isfinite(x[k]) && isfinite(y[k]));
      lo = fmin(lo, (double)x[k]);
      hi = fmax(hi, (double)x[k]);
      far = fmax(far, fabs((double)x[k] - (double)y[k]));
    }
    assert_true(hi > lo);
    max_error = fmax(max_error, far / (hi - lo));
  }
  wx_archive_close(&a);
  wx_archive_close(&b);
  return max_error;
}

static void overlap_changes_no_bit(void **state)
{
  const char *const forecast = in_scratch("s/forecast.nc");
  static const char *const ending[] = {"nc", "grib"};
  static const char *const moments[] = {"predictions.nc", "[ps]*.grib"}; /* a pattern */
  const bool grib = weir_grib_available();

  (void)state;
  for (int k = 0; k < 3; k++) { /* concurrently, one after another, with one thread */
    assert_int_equal(program(PREDICT "--set predict.part=test --set predict.overlap=%s %s",
                             weights("r"), k == 2 ? 1 : 2, forecast, in_scratch("o%d", k),
                             k == 1 ? "false" : "true", grib ? "--set predict.format=both" : ""),
                     0);
    assert_int_equal((int)event_number(in_scratch("o%d", k), "predict_end", "overlap"), k == 0);
    assert_int_equal((int)event_number(in_scratch("o%d", k), "predict_end", "samples"), 10);
    for (int e = 0; e < 1 + grib; e++) {
      assert_true(
          difference(in_scratch("o0/%s", moments[e]), in_scratch("o%d/%s", k, moments[e])) == 0);
      assert_true(difference(in_scratch("o0/members.%s", ending[e]),
                             in_scratch("o%d/members.%s", k, ending[e])) == 0);
    }
  }
}

/* Keys of the messages of one file, of members or derived (code table 4.7; -1: members), and that
 * grib_ls, where it is installed, takes them all. */
static void look_at_keys(const char *path, int derived)
{
  const bool members = derived < 0;
  const int each = members ? MEMBERS : 1;
  weir_grib *g = NULL;
  char command[2 * PATH];

  assert_ok(weir_grib_open(&path, 1, NULL, &g));
  assert_int_equal(weir_grib_fields(g), 60 * each);
  for (int64_t i = 0; i < weir_grib_fields(g); i++) {
    const weir_grib_field *const f = weir_grib_field_get(g, i);
    const weir_grib_kind *const kind = weir_grib_kind_get(g, f->kind);

    assert_int_equal(f->start, 946684800 + 43200 * (i / each));
    assert_true(f->step_seconds[0] == 86400 && f->step_seconds[1] == 86400);
    assert_true(f->edition == 2 && kind->param == 130 && kind->level == 500);
    assert_string_equal(kind->level_type, "isobaricInhPa");
    assert_int_equal(f->n_members, MEMBERS);
    assert_int_equal(kind->derived, derived);
    assert_int_equal(kind->bits, members ? 16 : 24);
    assert_true(!members || f->number == i % MEMBERS);
  }
  weir_grib_close(&g);
  (void)snprintf(
      command, sizeof command,
      "! command -v grib_ls >/dev/null || grib_ls -p "
      "productDefinitionTemplateNumber,typeOfGeneratingProcess '%s' | grep -c '^%d  *11 '"
      " | grep -qx %d",
      path, members ? 1 : 2, 60 * each);
  assert_int_equal(system(command), 0);
}

/* Corrected fields of GRIB are GRIB made of its messages, the same as NetCDF within their packing.
 */
static void grib_becomes_corrected_grib(void **state)
{
  (void)state;
  if (!weir_grib_available()) {
    printf("skipped: this build has no ecCodes\n");
    skip();
  }
  copy_forecast(in_scratch("f.grib"), -1);
  assert_int_equal(program(PREDICT "--set predict.format=both", weights("r"), 1,
                           in_scratch("f.grib"), in_scratch("p")),
                   0);
  /* Neighbours are 2^-bits of the range apart, rounded up to a power of two; half of it is lost.
   * Single precision adds 2^-24 of 250 K, a range being more than 1 K. */
  assert_true(difference(in_scratch("p/predictions.nc"), in_scratch("p/[ps]*.grib")) <
              0x1p-24 + 0x1p-16);
  assert_true(difference(in_scratch("p/members.nc"), in_scratch("p/members.grib")) <
              0x1p-16 + 0x1p-16);
  look_at_keys(in_scratch("p/predictions.grib"), 0);
  look_at_keys(in_scratch("p/spread.grib"), 4);
  look_at_keys(in_scratch("p/members.grib"), -1);
  assert_int_equal(program(PREDICT "--set predict.format=grib --set predict.part=test",
                           weights("r"), 1, in_scratch("f.grib"), in_scratch("q")),
                   0);
  assert_true(weir_file_exists(in_scratch("q/predictions.grib")));
  assert_false(weir_file_exists(in_scratch("q/predictions.nc")));
}

/* An error in what is read ahead ends the command, and nothing is left under a final name. */
static void an_input_that_fails_leaves_nothing(void **state)
{
  (void)state;
  copy_forecast(in_scratch("hole.nc"), 3);
  assert_int_equal(program(PREDICT, weights("r"), 2, in_scratch("hole.nc"), in_scratch("e")), 3);
  assert_non_null(
      strstr(printed(), "of the initialisation time 2000-01-02 12:00 has no value at latitude 0"));
  assert_true(only_log(in_scratch("e")));
}

/* The reference engine is slow enough to be met at work. */
static void a_signal_leaves_nothing(void **state)
{
  int status = 0;
  bool met = false;

  (void)state;
  for (int k = 0; k < 20 && !met; k++) {
    const char *const out = in_scratch("k%d", k);
    const pid_t child = program_start(PREDICT "--set exec.tier=reference", weights("r"), 2,
                                      in_scratch("s/forecast.nc"), out);
    const char *const begun = in_scratch("k%d/predictions.nc.tmp-%ld", k, (long)child);

    for (int i = 0; i < 1000 && !weir_file_exists(begun); i++) {
      usleep(10000);
    }
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_true(waitpid(child, &status, 0) == child);
    met = WIFEXITED(status) && WEXITSTATUS(status) == 9;
    if (met) {
      assert_non_null(strstr(printed(), "stopped at sample"));
      assert_true(only_log(out));
    }
  }
  assert_true(met);
}

/* No file may grow quite as large as the larger of two: the system ends the program where it
 * completes that one, and the other, which is whole by then, is not there either. */
static void a_kill_at_the_end_leaves_nothing(void **state)
{
  const char *const forecast = in_scratch("s/forecast.nc");
  int64_t small = 0, large = 0;
  struct rlimit limit;

  (void)state;
  assert_int_equal(program(PREDICT, weights("r"), 1, forecast, in_scratch("w")), 0);
  assert_ok(weir_file_size(in_scratch("w/predictions.nc"), &small));
  assert_ok(weir_file_size(in_scratch("w/members.nc"), &large));
  assert_true(small < large);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const struct rlimit low = {(rlim_t)(large - 1), limit.rlim_max};

  assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
  const int status = program(PREDICT, weights("r"), 1, forecast, in_scratch("x"));

  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  assert_true(status != 0);
  assert_false(weir_file_exists(in_scratch("x/predictions.nc")));
  assert_false(weir_file_exists(in_scratch("x/members.nc")));
}

/* Of every start what the weights have seen of it, whatever is asked for or configured; and eval
 * does not score what was trained on unless an option asks for it. */
static void subsets_are_told_and_kept_apart(void **state)
{
  weir_netcdf *nc = NULL;
  char *text = NULL, *subsets = NULL;

  (void)state;
#define EVAL                              \
  "eval " NETWORK ARCHIVES "--threads 1 " \
  "--set eval.part=%s --set 'eval.models=[{use: {predictions: {files: [%s]%s}}}]' --out %s"
  assert_int_equal(
      program(PREDICT, weights("r"), 1, in_scratch("s/forecast.nc"), in_scratch("all")), 0);
  text = contents(in_scratch("all/provenance.json"));
  assert_non_null(strstr(text, "\"train\": \"2000-01-01 00:00 to 2000-01-19 00:00, 35 samples\""));
  assert_non_null(strstr(text, "\"valid\": \"2000-01-20 00:00 to 2000-01-25 00:00, 9 samples\""));
  assert_non_null(strstr(text, "\"test\": \"2000-01-26 00:00 to 2000-01-31 12:00, 10 samples\""));
  assert_non_null(strstr(text, "\"no_part\": \"6 samples\""));
  free(text);
  assert_ok(weir_netcdf_open(in_scratch("all/predictions.nc"), &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "parts", &subsets));
  weir_netcdf_close(&nc);
  assert_string_equal(subsets,
                      "train: 2000-01-01 00:00 to 2000-01-18 00:00; none: 2000-01-18 12:00 to "
                      "2000-01-19 12:00; valid: 2000-01-20 00:00 to 2000-01-24 00:00; none: "
                      "2000-01-24 12:00 to 2000-01-25 12:00; test: 2000-01-26 00:00 to 2000-01-30 "
                      "12:00");
  weir_free(&subsets);
  assert_int_equal(
      program(EVAL, FILES, "test", in_scratch("all/predictions.nc"), "", in_scratch("v0")), 0);
  assert_int_equal(
      program(EVAL, FILES, "all", in_scratch("all/predictions.nc"), "", in_scratch("v1")), 2);
  assert_non_null(
      strstr(printed(), "trained on 35 of the 60 initialisation times that would be scored"));
  assert_true(only_log(in_scratch("v1")));
  assert_int_equal(program(EVAL, FILES, "all", in_scratch("all/predictions.nc"), ", trained: true",
                           in_scratch("v2")),
                   0);
  /* Other ranges do not make them unseen. */
  assert_int_equal(program(PREDICT "--set data.split.test.from=2000-01-10 --set predict.part=test "
                                   "--set data.split.valid.from=2000-01-05 "
                                   "--set data.split.valid.to=2000-01-08",
                           weights("r"), 1, in_scratch("s/forecast.nc"), in_scratch("hidden")),
                   0);
  assert_non_null(strstr(printed(), "is it the split of their run?"));
  assert_int_equal(program(EVAL " --set data.split.test.from=2000-01-10 --set "
                                "data.split.valid.from=2000-01-05 --set "
                                "data.split.valid.to=2000-01-08",
                           FILES, "test", in_scratch("hidden/predictions.nc"), "",
                           in_scratch("v3")),
                   2);
  /* 17 of training, and the one after them that begins before the last of them is valid. */
  assert_non_null(strstr(printed(), "trained on 18 of the 42 initialisation times"));
}

/* TO: the archive s/NAME as precipitation over so many hours, at another lead. */
static void copy_as_sums(const char *name, const char *to, double lead, double hours)
{
  wx_archive *a = opened(in_scratch("s/%s", name));
  wx_archive_info f = *wx_archive_get(a);
  wx_quantity q = {.variable = "tp", .units = "m", .method = "sum", .param = 228};
  wx_archive_writer *w = NULL;
  float x[MEMBERS * CELLS];

  assert_true(f.n_members <= MEMBERS && f.n_quantities == 1 && f.n_leads == 1);
  wx_quantity_complete(&q);
  f.quantity = &q;
  f.lead = &lead;
  f.period = &hours;
  assert_ok(wx_archive_create(to, &f, &w));
  for (int64_t i = 0; i < f.n_init_times; i++) {
    assert_ok(wx_archive_read(a, i, 0, 0, 0, f.n_members, x));
    assert_ok(wx_archive_write(w, i, 0, 0, 0, f.n_members, x));
  }
  assert_ok(wx_archive_commit(&w));
  wx_archive_close(&a);
}

/* Weights know of which sums they were made: those of two days at the same names, units and shapes
 * are no input of them. */
static void sums_of_another_period_are_no_input(void **state)
{
#define RAIN "--set data.target=[tp] --threads 1 "
  const char *const day = in_scratch("day.nc");

  (void)state;
  copy_as_sums("forecast.nc", day, 24, 24);
  copy_as_sums("truth.nc", in_scratch("true.nc"), 0, 24);
  copy_as_sums("forecast.nc", in_scratch("two.nc"), 48, 48);
  copy_as_sums("forecast.nc", in_scratch("later.nc"), 48, 24);
  assert_int_equal(program("run " NETWORK ARCHIVES RAIN "--set train.steps=1 --out %s", day,
                           in_scratch("true.nc"), in_scratch("wet")),
                   0);
  assert_int_equal(program("predict " NETWORK RAIN "--set predict.weights=%s --set "
                           "data.forecast=[%s] --out %s",
                           weights("wet"), in_scratch("two.nc"), in_scratch("wet2")),
                   3);
  assert_non_null(strstr(printed(), "wet/weights.nc: its weights were trained on \"tp: sum over 24 "
                                    "h\", and in "));
  assert_non_null(strstr(printed(), "two.nc is \"tp 48 h: sum over 48 h\": give the same sums"));
  assert_true(only_log(in_scratch("wet2")));
  assert_int_equal(program("predict " NETWORK RAIN "--set predict.weights=%s --set "
                           "data.forecast=[%s] --out %s",
                           weights("wet"), in_scratch("later.nc"), in_scratch("wet3")),
                   0);
}

/* What it would remove is read while it goes. */
static void its_own_results_are_no_input(void **state)
{
  const char *const members = in_scratch("m/members.nc");

  (void)state;
  assert_int_equal(program(PREDICT, weights("r"), 1, in_scratch("s/forecast.nc"), in_scratch("m")),
                   0);
  assert_int_equal(program(PREDICT "--overwrite", weights("r"), 1, members, in_scratch("m")), 2);
  assert_non_null(strstr(printed(), "m/members.nc: an input of this run"));
  assert_true(weir_file_exists(members) && weir_file_exists(in_scratch("m/predictions.nc")));
  assert_int_equal(
      program(PREDICT "--overwrite", weights("r"), 1, in_scratch("s/forecast.nc"), in_scratch("m")),
      0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overlap_changes_no_bit),
      cmocka_unit_test(grib_becomes_corrected_grib),
      cmocka_unit_test(an_input_that_fails_leaves_nothing),
      cmocka_unit_test(a_signal_leaves_nothing),
      cmocka_unit_test(a_kill_at_the_end_leaves_nothing),
      cmocka_unit_test(subsets_are_told_and_kept_apart),
      cmocka_unit_test(sums_of_another_period_are_no_input),
      cmocka_unit_test(its_own_results_are_no_input),
  };

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    return 77;
  }
  return cmocka_run_group_tests(tests, make_network, drop_scratch);
}
