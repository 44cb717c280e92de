/* verbs.c - every verb on a month of the built-in simulation: what it writes, says and refuses. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/archive.h"
#include "io/weir_netcdf.h"
#include "month.h"

static void a_run_leaves_what_it_made(void **state)
{
  prepare(60);
  assert_int_equal(program("run " NETWORK ARCHIVES "--threads 1 --out %s", FILES, in_scratch("a")),
                   0);
  assert_int_equal(program("run " NETWORK ARCHIVES "--threads 2 --out %s", FILES, in_scratch("b")),
                   0);
  assert_true(same_weights("a", "b"));
  assert_true(same_contents(in_scratch("a/validation.csv"), in_scratch("b/validation.csv")));
  assert_true(weir_file_exists(in_scratch("a/report.html")));
  assert_true(weir_file_exists(in_scratch("a/figures/loss.svg")));
  assert_true(weir_file_exists(in_scratch("a/resolved.yaml")));
}

/* No leakage: what is trained on, chosen by and kept for tests lies apart by lead and gap, as the
 * events, the provenance and the weights say. */
static void parts_keep_their_distance(void **state)
{
  const char *dir = in_scratch("r");

  prepare(60);
  assert_int_equal(program("run " NETWORK ARCHIVES "--set data.split.gap=2 --set train.steps=1 "
                           "--out %s",
                           FILES, dir),
                   0);
  assert_true(event_number(dir, "samples", "train_last") + 2 <=
              event_number(dir, "samples", "valid_first"));
  assert_true(event_number(dir, "samples", "valid_last") + 2 <=
              event_number(dir, "samples", "test_first"));
  assert_true(event_number(dir, "samples", "left_out") > 0);
  assert_true(event_number(dir, "samples", "test") > 0);
  assert_int_equal((int)event_number(dir, "train_begin", "samples"),
                   (int)event_number(dir, "samples", "train"));
  char *text = contents(in_scratch("r/provenance.json")), *dates = NULL;
  weir_netcdf *nc = NULL;

  assert_non_null(strstr(text, "\"train\": \"2000-01-01 00:00 to 2000-01-18 00:00, 33 samples\""));
  assert_non_null(strstr(text, "\"test\": \"2000-01-26 00:00 to "));
  assert_non_null(strstr(text, "\"gap\": \"2 d\""));
  assert_non_null(strstr(text, "truth.nc"));
  free(text);
  assert_ok(weir_netcdf_open(weights("r"), &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "dates", &dates));
  assert_non_null(strstr(dates, "train: 2000-01-01 00:00 to 2000-01-18 00:00; valid: 2000-01-20"));
  assert_null(strstr(dates, "test"));
  weir_free(&dates);
  weir_netcdf_close(&nc);
}

/* A signal ends a run with status 9, and the command goes on; so does one with more epochs. */
static void a_stopped_run_goes_on(void **state)
{
  int status = 0;

  prepare(60);
  const pid_t child = program_start("run " NETWORK ARCHIVES "--set train.epochs=5000 --out %s",
                                    FILES, in_scratch("a"));

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
  assert_int_equal(program("run " NETWORK ARCHIVES "--set train.epochs=5000 --set train.steps=%d "
                           "--out %s",
                           FILES, steps + 2, in_scratch("a")),
                   0);
  assert_int_equal((int)event_number(in_scratch("a"), "run_end", "first"), steps);
}

static void predictions_refuse_what_does_not_fit(void **state)
{
  prepare(60);
  assert_int_equal(program("run " NETWORK ARCHIVES "--out %s", FILES, in_scratch("r")), 0);
#define PREDICT "predict " NETWORK ARCHIVES "--set predict.weights=%s --out %s "
  assert_int_equal(program("predict " NETWORK ARCHIVES "--out %s", FILES, in_scratch("q")), 2);
  assert_non_null(strstr(printed(), "predict.weights names no file"));
  assert_int_equal(program(PREDICT "--set model.unet.base=8", FILES, weights("r"), in_scratch("t")),
                   2);
  assert_non_null(strstr(printed(), "another network than the configuration describes"));
  assert_int_equal(
      program(PREDICT "--set model.shift=spread", FILES, weights("r"), in_scratch("t")), 2);
  assert_int_equal(
      program(PREDICT "--set data.position=true", FILES, weights("r"), in_scratch("t")), 2);
  assert_non_null(strstr(printed(), "its x_channels are \"t500 mean, t500 spread\""));
  assert_int_equal(program(PREDICT STAGES, FILES, weights("r"), in_scratch("t")), 3);
}

static void gradients_are_checked(void **state)
{
  assert_int_equal(program("check " SKETCH STAGES "--set check.probes=1"), 0);
  assert_non_null(strstr(printed(), "network bias"));
  assert_non_null(strstr(printed(), "largest relative difference"));
  assert_non_null(strstr(printed(), "head/weight"));
  assert_int_equal(program("check " SKETCH "--set model.net=incep --set model.incep.preset=tiny "
                           "--set data.trajectory=true --set check.probes=1"),
                   0);
  assert_int_equal(program("check " SKETCH "--set check.probes=1 --set check.tolerance=0"), 6);
}

static void describe_prints_the_plan(void **state)
{
  assert_int_equal(program("describe " SKETCH "--seed 5"), 0);
  assert_non_null(strstr(printed(), "seed: 5"));
  assert_null(strstr(printed(), "seed: 6")); /* what is added to train.seed is added once */
  assert_non_null(strstr(printed(), "# network forecast: "));
  assert_non_null(strstr(printed(), "# a training step of 8 samples"));
  assert_non_null(strstr(printed(), "group "));
  assert_non_null(strstr(printed(), "GFLOP a sample"));
}

static void what_does_not_fit_is_refused(void **state)
{
  prepare(60);
  assert_int_equal(program("run " NETWORK "--out %s", in_scratch("a")), 2);
  assert_non_null(strstr(printed(), "data.forecast: names no file"));
  assert_int_equal(program("run " NETWORK "--input /no/such/file.nc --out %s", in_scratch("a")), 3);
  assert_int_equal(program("run " NETWORK ARCHIVES "--set model.unet.residual=true --out %s", FILES,
                           in_scratch("b")),
                   2);
  assert_int_equal(
      program("run " NETWORK ARCHIVES "--set model.loss=mse --out %s", FILES, in_scratch("b")), 2);
  assert_int_equal(program("run " NETWORK ARCHIVES "--set data.split.train.to=1990-01-01 --out %s",
                           FILES, in_scratch("c")),
                   2);
  assert_non_null(strstr(printed(), "no sample is left to train on"));
}

/* A folder goes on only with what it was begun with, and stays as it is where that is refused. */
static void another_run_is_refused(void **state)
{
#define RUN "run " NETWORK ARCHIVES "--out %s --set train.steps="
  prepare(60);
  assert_int_equal(program(RUN "1", FILES, in_scratch("r")), 0);
  assert_int_equal(program(RUN "2 --set error.wind=1", FILES, in_scratch("r")), 2);
  assert_int_equal(program(RUN "2 --set data.split.valid.from=2000-01-15", FILES, in_scratch("r")),
                   2);
  assert_non_null(strstr(printed(), "its statistics are not those of these training samples"));
  char *before = contents(in_scratch("r/resolved.yaml"));

  assert_int_equal(program(RUN "2 --seed 5", FILES, in_scratch("r")), 2);
  assert_int_equal(program(RUN "2 --set model.unet.border.y=wrap", FILES, in_scratch("r")), 2);
  char *after = contents(in_scratch("r/resolved.yaml"));

  assert_string_equal(before, after);
  free(before);
  free(after);
  weir_check_write(in_scratch("mine"), "x", 1);
  assert_int_equal(program("run " NETWORK ARCHIVES "--out %s", FILES, in_scratch(".")), 2);
  assert_non_null(strstr(printed(), "no log of an earlier 'run'"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(a_run_leaves_what_it_made),    TEST(parts_keep_their_distance),
      TEST(a_stopped_run_goes_on),        TEST(predictions_refuse_what_does_not_fit),
      TEST(gradients_are_checked),        TEST(describe_prints_the_plan),
      TEST(what_does_not_fit_is_refused), TEST(another_run_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
