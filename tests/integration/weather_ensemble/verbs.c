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
#include "program.h"

/* 60 forecasts, 16 x 32 points, without the need of a YAML reader and of a compiler. */
#define SAMPLES                                                                         \
  "--set simulate.lat=16 --set simulate.lon=32 --set simulate.step=0.12 "               \
  "--set simulate.spin_up=60 --set simulate.library.states=20 --set simulate.every=12 " \
  "--set simulate.members=3 --set simulate.leads=[24] --set simulate.quantities=[t500] "
#define NETWORK                                                                         \
  "--set data.target=[t500] --set data.split.valid.from=2000-01-20 "                    \
  "--set data.split.valid.to=2000-01-26 --set data.split.test.from=2000-01-26 "         \
  "--set data.split.gap=1 --set model.unet.preset=tiny --set model.unet.border.x=wrap " \
  "--set train.epochs=3 --set exec.tier=vector "
#define STAGES                                                                \
  "--set bias.use=true --set bias.folds=3 --set bias.model.unet.preset=tiny " \
  "--set bias.train.epochs=2 --set model.head=spread "
/* Numbers that are made up. */
#define SKETCH \
  NETWORK "--set sketch.quantities=[t500] --set sketch.every=12 --set sketch.starts=60 "
/* The archives of the scratch folder. */
#define ARCHIVES "--set data.forecast=[%s] --set data.truth=[%s] "
#define FILES in_scratch("s/forecast.nc"), in_scratch("s/truth.nc")

/* The test goes on with archives, or is skipped where there can be none. */
static void prepare(int starts)
{
  const int status =
      program("prepare " SAMPLES "--set simulate.starts=%d --out %s", starts, in_scratch("s"));

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
  return in_scratch("%s/weights.nc", dir);
}

/* Whether two files of weights have the same bits; notes such as the time of writing may differ. */
static bool same_weights(const char *a, const char *b)
{
  weir_netcdf *nc[2] = {NULL, NULL};
  bool same = true;
  int n = 0;

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

/* In both ways of training: a better CRPS, and a spread that is nearer to the error. */
static void the_network_corrects_the_forecast(void **state)
{
  prepare(160);
  for (int stages = 0; stages < 2; stages++) {
    const char *dir = in_scratch("r%d", stages);

    assert_int_equal(
        program("run " NETWORK ARCHIVES "%s --set data.split.valid.from=2000-02-25 "
                "--set data.split.valid.to=2000-03-08 --set data.split.test.from=2000-03-08 "
                "--set train.epochs=4 --set train.optim.schedule.lr=0.01 "
                "--set bias.train.optim.schedule.lr=0.01 --set standard.bias=local "
                "--set standard.bias_smooth=1 --out %s",
                FILES, stages == 1 ? STAGES : "", dir),
        0);
    const double raw = event_number(dir, "validation", "crps_raw");
    const double network = event_number(dir, "validation", "crps_network");
    const double ratio[] = {event_number(dir, "validation", "ratio_raw"),
                            event_number(dir, "validation", "ratio_network")};

    printf("CRPS raw %.4f, network %.4f, spread / error %.2f, %.2f\n", raw, network, ratio[0],
           ratio[1]);
    assert_true(network < raw && fabs(log(ratio[1])) < fabs(log(ratio[0])));
  }
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

/* Killed at several moments, one of them before the first checkpoint, in any of five trainings. */
static void a_killed_run_ends_with_the_same_bits(void **state)
{
  prepare(60);
  assert_int_equal(program("run " NETWORK STAGES ARCHIVES "--set train.checkpoint.every=1 --out %s",
                           FILES, in_scratch("a")),
                   0);
  for (int k = 0; k < 4; k++) {
    const pid_t child =
        program_start("run " NETWORK STAGES ARCHIVES "--set train.checkpoint.every=1 --out %s",
                      FILES, in_scratch("b"));

    usleep(20000 + 250000 * (unsigned)k);
    (void)kill(child, SIGKILL);
    assert_true(waitpid(child, NULL, 0) == child);
  }
  assert_int_equal(program("run " NETWORK STAGES ARCHIVES "--set train.checkpoint.every=1 --out %s",
                           FILES, in_scratch("b")),
                   0);
  assert_true(same_weights("a", "b"));
  assert_true(same_weights("a/bias", "b/bias"));
  assert_true(same_weights("a/bias/fold2", "b/bias/fold2"));
  assert_true(same_contents(in_scratch("a/validation.csv"), in_scratch("b/validation.csv")));
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

/* Every value of a quantity of an archive: the least, or NaN where one is missing. */
static double least(const char *path, const char *name, int64_t *starts)
{
  const char *const paths[] = {path};
  wx_archive *a = NULL;
  double low = INFINITY;

  assert_ok(wx_archive_open(paths, 1, &a));
  const wx_archive_facts *f = wx_archive_get(a);
  const int64_t q = wx_archive_find_quantity(f, name);
  float values[16 * 32];

  assert_true(q >= 0);
  assert_int_equal(f->grid.n_lat * f->grid.n_lon, 16 * 32);
  *starts = f->n_starts;
  for (int64_t i = 0; i < f->n_starts; i++) {
    assert_ok(wx_archive_read(a, i, 0, q, 0, 1, values));
    for (int k = 0; k < 16 * 32; k++) {
      low = (double)values[k] < low || isnan(values[k]) ? (double)values[k] : low;
    }
  }
  wx_archive_close(&a);
  return low;
}

/* With truth and without; with one stage and two; predictions are an archive again. */
static void predictions_are_archives(void **state)
{
  int64_t starts = 0;

  prepare(60);
  for (int stages = 0; stages < 2; stages++) {
    const char *run = in_scratch("r%d", stages), *out = in_scratch("p%d", stages);

    assert_int_equal(
        program("run " NETWORK ARCHIVES "%s --out %s", FILES, stages == 1 ? STAGES : "", run), 0);
    assert_int_equal(program("predict " NETWORK "%s --input %s --set predict.weights=%s/weights.nc "
                             "--set predict.part=test --set predict.members=true --out %s",
                             stages == 1 ? STAGES : "", in_scratch("s/forecast.nc"), run, out),
                     0);
    assert_true(least(in_scratch("p%d/predictions.nc", stages), "t_spread500", &starts) > 0);
    assert_int_equal(starts, (int)event_number(run, "samples", "test"));
    assert_true(least(in_scratch("p%d/predictions.nc", stages), "t500", &starts) > -100);
    assert_true(least(in_scratch("p%d/members.nc", stages), "t500", &starts) > -100);
    char *text = contents(in_scratch("p%d/provenance.json", stages));

    assert_non_null(strstr(text, "weights.nc"));
    assert_int_equal(strstr(text, "bias/weights.nc") != NULL, stages == 1);
    assert_non_null(strstr(text, "\"test\": \"2000-01-26 00:00 to "));
    free(text);
  }
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
      TEST(a_run_leaves_what_it_made),
      TEST(the_network_corrects_the_forecast),
      TEST(parts_keep_their_distance),
      TEST(a_killed_run_ends_with_the_same_bits),
      TEST(a_stopped_run_goes_on),
      TEST(predictions_are_archives),
      TEST(predictions_refuse_what_does_not_fit),
      TEST(gradients_are_checked),
      TEST(describe_prints_the_plan),
      TEST(what_does_not_fit_is_refused),
      TEST(another_run_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
