/* verbs.c - every verb on a month of the built-in simulation: what it writes, says and refuses. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "program.h"

/* 60 samples, 8 x 16 points, without the need of a YAML reader and of a compiler. */
#define SAMPLES "--set simulate.samples=60 --set simulate.lat=8 --set simulate.lon=16 "
#define TINY                                                                                  \
  SAMPLES                                                                                     \
  "--threads 1 --set data.split.valid.from=2000-01-20 --set data.split.valid.to=2000-01-26 "  \
  "--set data.split.test.from=2000-01-26 --set data.split.gap=1 --set model.net.preset=tiny " \
  "--set model.net.border.x=wrap --set train.epochs=3 --set exec.tier=vector "

/* The test goes on with a file of samples, or is skipped where there can be none. */
static void prepare(void)
{
  const int status = program("prepare " SAMPLES "--out %s", in_scratch("s"));

  if (!weir_netcdf_available()) {
    assert_int_equal(status, 7);
    assert_non_null(strstr(printed(), "does not have: install the library"));
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  assert_int_equal(status, 0);
}

static const char *weights(const char *dir)
{
  return in_scratch("%s/weights.%s", dir, weir_netcdf_available() ? "nc" : "weir");
}

/* Whether two files of weights have the same bits; notes such as the time of writing may differ. */
static bool same_weights(const char *a, const char *b)
{
  weir_netcdf *nc[2] = {NULL, NULL};
  bool same = true;
  int n = 0;

  if (!weir_netcdf_available()) {
    return same_contents(weights(a), weights(b));
  }
  assert_ok(weir_netcdf_open(weights(a), &nc[0]));
  assert_ok(weir_netcdf_open(weights(b), &nc[1]));
  assert_ok(weir_netcdf_count(nc[0], &n));
  assert_true(n > 10);
  for (int i = 0; i < n; i++) {
    double value[2][4096];
    char name[256];

    memset(value, 0, sizeof value);
    assert_ok(weir_netcdf_name(nc[0], i, name, sizeof name));
    for (int k = 0; k < 2; k++) {
      const int64_t zero[WEIR_NETCDF_MAX_DIMS] = {0};
      weir_netcdf_shape shape;
      int64_t count = 1;
      int var = 0;

      assert_ok(weir_netcdf_find(nc[k], name, &var, &shape));
      for (int d = 0; d < shape.n_dims; d++) {
        count *= shape.lengths[d];
      }
      assert_true(count <= 4096);
      assert_ok(weir_netcdf_read(nc[k], var, zero, shape.lengths, value[k]));
    }
    same = same && memcmp(value[0], value[1], sizeof value[0]) == 0;
  }
  weir_netcdf_close(&nc[0]);
  weir_netcdf_close(&nc[1]);
  return same;
}

/* A run on the file is the run on the simulation that the file was made from. */
static void a_file_gives_the_weights_of_the_simulation(void **state)
{
  prepare();
  assert_int_equal(
      program("run " TINY "--input %s --out %s", in_scratch("s/samples.nc"), in_scratch("a")), 0);
  assert_int_equal(program("run " TINY "--out %s", in_scratch("b")), 0);
  assert_true(same_weights("a", "b"));
  assert_true(same_contents(in_scratch("a/errors.csv"), in_scratch("b/errors.csv")));
  assert_true(weir_file_exists(in_scratch("a/report.html")));
  assert_true(weir_file_exists(in_scratch("a/figures/loss.svg")));
  assert_true(weir_file_exists(in_scratch("a/resolved.yaml")));
  char *text = contents(in_scratch("a/provenance.json"));
  assert_non_null(strstr(text, "samples.nc"));
  free(text);
}

/* By more than the correction of the mean bias, which is better than nothing. */
static void the_network_corrects_the_forecast(void **state)
{
  const char *dir = in_scratch("r");

  assert_int_equal(program("run " TINY "--set simulate.samples=300 --set data.split.valid.from="
                           "2000-04-20 --set data.split.valid.to=2000-05-20 --set "
                           "data.split.test.from=2000-05-20 --set train.epochs=12 --set "
                           "train.optim.schedule.lr=0.01 --out %s",
                           dir),
                   0);
  const double forecast = event_number(dir, "errors", "forecast");
  const double unbiased = event_number(dir, "errors", "unbiased");
  const double network = event_number(dir, "errors", "network");

  printf("forecast %.3f, without its bias %.3f, network %.3f\n", forecast, unbiased, network);
  assert_true(unbiased < 0.97 * forecast && network < 0.8 * unbiased);
}

static void parts_keep_their_distance(void **state)
{
  const char *dir = in_scratch("r");

  assert_int_equal(program("run " TINY "--set data.split.gap=2 --set train.steps=1 --out %s", dir),
                   0);
  assert_true(event_number(dir, "samples", "train_last") + 2 <=
              event_number(dir, "samples", "valid_first"));
  assert_true(event_number(dir, "samples", "valid_last") + 2 <=
              event_number(dir, "samples", "test_first"));
  assert_true(event_number(dir, "samples", "left_out") > 0);
  assert_true(event_number(dir, "samples", "test") > 0);
  assert_int_equal((int)event_number(dir, "train_begin", "samples"),
                   (int)event_number(dir, "samples", "train"));
}

/* Killed at several moments, one of them before the first checkpoint. */
static void a_killed_run_ends_with_the_same_bits(void **state)
{
  assert_int_equal(program("run " TINY "--set train.checkpoint.every=1 --out %s", in_scratch("a")),
                   0);
  for (int k = 0; k < 4; k++) {
    const pid_t child =
        program_start("run " TINY "--set train.checkpoint.every=1 --out %s", in_scratch("b"));

    usleep(20000 + 150000 * (unsigned)k);
    (void)kill(child, SIGKILL);
    assert_true(waitpid(child, NULL, 0) == child);
  }
  assert_int_equal(program("run " TINY "--set train.checkpoint.every=1 --out %s", in_scratch("b")),
                   0);
  assert_true(same_weights("a", "b"));
  assert_true(same_contents(in_scratch("a/errors.csv"), in_scratch("b/errors.csv")));
}

/* A signal ends a run with status 9, and the command goes on; so does one with more epochs. */
static void a_stopped_run_goes_on(void **state)
{
  int status = 0;
  const pid_t child = program_start("run " TINY "--set train.epochs=500 --out %s", in_scratch("a"));

  for (int k = 0; k < 400; k++) {
    usleep(50000);
    if (weir_file_exists(in_scratch("a/run.jsonl")) &&
        event_count(in_scratch("a"), "checkpoint") > 0) {
      break;
    }
  }
  assert_int_equal(kill(child, SIGTERM), 0);
  assert_true(waitpid(child, &status, 0) == child);
  assert_int_equal(WEXITSTATUS(status), 9);
  assert_non_null(strstr(printed(), "the same command goes on from the checkpoint"));
  const int steps = (int)event_number(in_scratch("a"), "stop", "step");

  assert_true(steps > 0);
  assert_int_equal(program("run " TINY "--set train.epochs=500 --set train.steps=%d --out %s",
                           steps + 2, in_scratch("a")),
                   0);
  assert_int_equal((int)event_number(in_scratch("a"), "run_end", "first"), steps);
}

static void predictions_have_fields_and_origin(void **state)
{
  weir_netcdf_shape shape;
  weir_netcdf *nc = NULL;
  char *text = NULL;
  int var = 0;

  prepare();
  assert_int_equal(program("run " TINY "--set model.loss=crps --out %s", in_scratch("r")), 0);
  assert_int_equal(program("predict " TINY "--set model.loss=crps --input %s --set "
                           "predict.weights=%s --set predict.part=test --out %s",
                           in_scratch("s/samples.nc"), in_scratch("r/weights.nc"), in_scratch("p")),
                   0);
  assert_ok(weir_netcdf_open(in_scratch("p/predictions.nc"), &nc));
  assert_ok(weir_netcdf_find(nc, "spread", &var, &shape));
  assert_int_equal(shape.n_dims, 4);
  assert_int_equal(shape.lengths[0], (int)event_number(in_scratch("r"), "samples", "test"));
  float *spread = malloc((size_t)(shape.lengths[0] * 8 * 16) * sizeof *spread);
  const int64_t zero[4] = {0};

  assert_ok(weir_netcdf_read(nc, var, zero, shape.lengths, spread));
  for (int64_t i = 0; i < shape.lengths[0] * 8 * 16; i++) {
    assert_true(spread[i] > 0 && spread[i] < 100);
  }
  free(spread);
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "weights_sha256", &text));
  assert_int_equal(strlen(text), 64);
  weir_free(&text);
  weir_netcdf_close(&nc);
  assert_int_equal(program("predict " TINY "--out %s", in_scratch("q")), 2);
  assert_non_null(strstr(printed(), "predict.weights names no file"));
  assert_int_equal(program("predict " TINY "--set model.net.base=8 --set model.loss=crps --set "
                           "predict.weights=%s --out %s",
                           in_scratch("r/weights.nc"), in_scratch("t")),
                   2);
  assert_int_equal(program("predict " TINY "--set model.target=field --set model.loss=crps --set "
                           "predict.weights=%s --out %s",
                           in_scratch("r/weights.nc"), in_scratch("t")),
                   2);
  assert_non_null(strstr(printed(), "another network than the section model describes"));
}

static void gradients_are_checked(void **state)
{
  assert_int_equal(program("check " TINY "--set check.probes=1 --set model.loss=crps"), 0);
  assert_non_null(strstr(printed(), "largest relative difference"));
  assert_non_null(strstr(printed(), "head/weight"));
  assert_int_equal(program("check " TINY "--set check.probes=1 --set check.tolerance=0"), 6);
}

static void describe_prints_the_plan(void **state)
{
  assert_int_equal(program("describe " TINY "--seed 5"), 0);
  assert_non_null(strstr(printed(), "seed: 5"));
  assert_null(strstr(printed(), "seed: 6")); /* what is added to train.seed is added once */
  assert_non_null(strstr(printed(), "# network: "));
  assert_non_null(strstr(printed(), "# a training step of 8 samples"));
  assert_non_null(strstr(printed(), "group "));
}

static void what_does_not_fit_is_refused(void **state)
{
  assert_int_equal(program("run " TINY "--input /no/such/file.nc --out %s", in_scratch("a")),
                   weir_netcdf_available() ? 3 : 7);
  assert_int_equal(program("run " TINY "--set model.net.residual=true --out %s", in_scratch("b")),
                   2);
  assert_int_equal(
      program("run " TINY "--set data.split.train.to=1990-01-01 --out %s", in_scratch("c")), 2);
  assert_non_null(strstr(printed(), "no sample is left to train on"));
  assert_int_equal(program("run " TINY "--set train.steps=1 --out %s", in_scratch("r")), 0);
  assert_int_equal(
      program("run " TINY "--set train.steps=2 --set error.wind=1 --out %s", in_scratch("r")), 2);
  assert_int_equal(program("run " TINY "--set train.steps=2 --set simulate.error.wind=1 --out %s",
                           in_scratch("r")),
                   2);
  assert_non_null(strstr(printed(), "its statistics are not those of these training samples"));
  char *before = contents(in_scratch("r/resolved.yaml"));

  assert_int_equal(program("run " TINY "--set train.steps=2 --seed 5 --out %s", in_scratch("r")),
                   2);
  assert_int_equal(program("run " TINY "--set train.steps=2 --set model.net.border.y=wrap --out %s",
                           in_scratch("r")),
                   2);
  char *after = contents(in_scratch("r/resolved.yaml"));

  assert_string_equal(before, after);
  free(before);
  free(after);
  weir_check_write(in_scratch("mine"), "x", 1);
  assert_int_equal(program("run " TINY "--out %s", in_scratch(".")), 2);
  assert_non_null(strstr(printed(), "no log of an earlier 'run'"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(a_file_gives_the_weights_of_the_simulation),
      TEST(the_network_corrects_the_forecast),
      TEST(parts_keep_their_distance),
      TEST(a_killed_run_ends_with_the_same_bits),
      TEST(a_stopped_run_goes_on),
      TEST(predictions_have_fields_and_origin),
      TEST(gradients_are_checked),
      TEST(describe_prints_the_plan),
      TEST(what_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
