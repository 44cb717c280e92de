/* commands_slow.c - every command on a month of the built-in simulation: what it writes, says and
 * refuses. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/archive/archive.h"
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

/* The attribute `dates` of a file of weights; the caller frees it. */
static char *dates_of(const char *dir)
{
  weir_netcdf *nc = NULL;
  char *dates = NULL;

  assert_ok(weir_netcdf_open(weights(dir), &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "dates", &dates));
  weir_netcdf_close(&nc);
  return dates;
}

/* What is trained on, chosen by and kept for tests lies apart by lead and gap, as the events, the
 * provenance and the weights say: those of a fold, of the bias network, of the forecast. */
static void subsets_keep_their_distance(void **state)
{
  const char *dir = in_scratch("r");

  prepare(60);
  assert_int_equal(program("run " NETWORK STAGES ARCHIVES "--set data.split.gap=2 "
                           "--set train.steps=1 --set bias.train.steps=1 --out %s",
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
  char *text = contents(in_scratch("r/provenance.json"));

  assert_non_null(strstr(text, "\"train\": \"2000-01-01 00:00 to 2000-01-18 00:00, 33 samples\""));
  assert_non_null(strstr(text, "\"test\": \"2000-01-26 00:00 to "));
  assert_non_null(strstr(text, "\"gap\": \"2 d\""));
  assert_non_null(strstr(text, "truth.nc"));
  free(text);
  static const struct {
    const char *dir, *train;
  } made[] = {
      {"r", "train: 2000-01-01 00:00 to 2000-01-18 00:00; valid: 2000-01-20 00:00 to "},
      {"r/bias", "train: 2000-01-01 00:00 to 2000-01-18 00:00; valid: 2000-01-20 00:00 to "},
      /* It corrects initialisation times up to 01-08 12:00, valid a day later, fold 2 those after
         it. */
      {"r/bias/fold1", "train: 2000-01-11 12:00 to 2000-01-18 00:00; valid: 2000-01-20"},
      {"r/bias/fold2", "train: 2000-01-01 00:00 to 2000-01-07 00:00; valid: 2000-01-20"}};

  for (int k = 0; k < 4; k++) {
    char *dates = dates_of(made[k].dir);

    assert_non_null(strstr(dates, made[k].train));
    assert_null(strstr(dates, "test"));
    weir_free(&dates);
  }
}

/* With one range of training samples none is left out; checkpoints of either stage have a format.
 */
static void the_bias_network_obeys_its_options(void **state)
{
  prepare(60);
  assert_int_equal(
      program("run " NETWORK STAGES ARCHIVES "--set bias.folds=0 --out %s", FILES, in_scratch("q")),
      2);
  assert_non_null(strstr(printed(), "bias.folds: 0 is outside [1, 100]"));
  assert_int_equal(program("run " NETWORK STAGES ARCHIVES "--set bias.folds=1 --set train.steps=1 "
                           "--set bias.train.checkpoint.format=raw --out %s",
                           FILES, in_scratch("r")),
                   0);
  assert_true(weir_file_exists(in_scratch("r/bias/weights.weir")));
  assert_true(weir_file_exists(in_scratch("r/weights.nc")));
  assert_false(weir_file_exists(in_scratch("r/bias/fold1")));
  assert_int_equal(program("run " NETWORK STAGES ARCHIVES "--set bias.data.inputs=[q500] --out %s",
                           FILES, in_scratch("s2")),
                   2);
  assert_non_null(strstr(printed(), "bias.data: "));
}

/* Extremes that count more make other weights; the climate is of training initialisation times, as
 * event and weights say; a run is not resumed with another loss. */
static void extremes_count_more(void **state)
{
  prepare(60);
#define LOSS "run " NETWORK ARCHIVES "--out %s --set train.epochs=1 --set eecrps.weight="
  assert_int_equal(program(LOSS "0", FILES, in_scratch("a")), 0);
  assert_int_equal(event_count(in_scratch("a"), "climate"), 0);
  assert_int_equal(program(LOSS "1", FILES, in_scratch("b")), 0);
  assert_false(same_weights("a", "b"));
  const char *dir = in_scratch("b");

  assert_int_equal((int)event_number(dir, "climate", "starts"),
                   (int)event_number(dir, "samples", "train"));
  assert_true(event_number(dir, "climate", "first") == event_number(dir, "samples", "train_first"));
  assert_true(event_number(dir, "climate", "last") + 1 == /* the lead */
              event_number(dir, "samples", "train_last"));
  weir_netcdf *nc = NULL;
  char *text = NULL;

  assert_ok(weir_netcdf_open(weights("b"), &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "loss_weights", &text));
  assert_non_null(strstr(text, "w EECRPS 1 exact 0 d; climate of 35 starts, 2000-01-01 00:00 to "));
  weir_free(&text);
  weir_netcdf_close(&nc);
  assert_int_equal(program(LOSS "0.5 --set train.steps=99", FILES, in_scratch("b")), 2);
  assert_non_null(strstr(printed(), "another network or loss"));
  assert_int_equal(program(LOSS "0 --set train.steps=99", FILES, in_scratch("b")), 2);
  assert_int_equal(program("predict " NETWORK ARCHIVES "--set eecrps.weight=1 "
                           "--set predict.weights=%s --out %s",
                           FILES, weights("b"), in_scratch("p")),
                   0);
  assert_int_equal(program("run " NETWORK STAGES ARCHIVES "--set data.label=spread "
                           "--set model.loss=mse --set eecrps.weight=1 --out %s",
                           FILES, in_scratch("c")),
                   2);
  assert_non_null(strstr(printed(), "it is the CRPS that is weighted"));
}

/* Whether a report states that the network is worse than the raw ensemble. */
static bool reports_worse(const char *dir)
{
  char *page = contents(in_scratch("%s/report.html", dir));
  const bool is = strstr(page, "Warning: the network is worse than the uncorrected") != NULL;

  free(page);
  return is;
}

/* Losses that diverge leave finite weights and status 0: log and report say that they are of no
 * use. */
static void a_network_worse_than_the_ensemble_is_told(void **state)
{
  static const char *const worse =
      "warning: the network is worse than the uncorrected ensemble mean";

  prepare(60);
  assert_int_equal(program("run " NETWORK ARCHIVES "--set train.optim.schedule.lr=100 --out %s",
                           FILES, in_scratch("d")),
                   0);
  assert_non_null(strstr(printed(), worse));
  assert_true(reports_worse("d"));
  assert_true(event_number(in_scratch("d"), "validation", "rmse_network") >
              2 * event_number(in_scratch("d"), "validation", "rmse_raw"));
}

/* A signal ends a run with status 9, and the command resumes it; so does one with more epochs. */
static void a_stopped_run_is_resumed(void **state)
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
  assert_non_null(strstr(printed(), "repeat the command to resume from the checkpoint"));
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

static void describe_prints_the_plan(void **state)
{
  assert_int_equal(program("describe " DUMMY "--seed 5"), 0);
  assert_non_null(strstr(printed(), "seed: 5"));
  assert_non_null(strstr(printed(), "flop a sample"));
  assert_null(strstr(printed(), "# default"));
  int lines = 0;

  for (const char *at = printed(); (at = strchr(at, '\n')) != NULL; at++) {
    lines++;
  }
  assert_true(lines < 60); /* a screen or two */
  assert_int_equal(program("describe --all " DUMMY "--seed 5"), 0);
  assert_non_null(strstr(printed(), "seed: 5"));
  assert_null(strstr(printed(), "seed: 6")); /* what is added to train.seed is added once */
  assert_non_null(strstr(printed(), "# network forecast: "));
  assert_non_null(strstr(printed(), "# a training step of 8 samples"));
  assert_non_null(strstr(printed(), "group "));
  assert_non_null(strstr(printed(), "flop a sample"));
  assert_null(strstr(printed(), "network bias"));
  assert_int_equal(program("describe " DUMMY STAGES "--set bias.data.spread=false "
                           "--set bias.data.analysis=true --set describe.rate=2"),
                   0);
  assert_non_null(
      strstr(printed(), "# 5 channels of x: t500 mean (1), t500 analysis (1), sin lat"));
  assert_non_null(strstr(printed(), "# 2 channels of x: t500 mean (1), t500 spread (1)"));
  assert_non_null(strstr(printed(), "# at most 1 epochs of 3 networks: "));
  assert_non_null(strstr(printed(), " at 2 Tflop/s"));
  assert_non_null(strstr(printed(), "# in all "));
}

/* The command of the shipped configuration: rectifiers of its network have kinks near some weights,
 * which are counted and left out. With a step that reaches kinks everywhere nothing can be
 * compared. */
/* Settings that no sample fits end with the status of a wrong configuration, not by a signal. */
static void describe_refuses_what_run_would(void **state)
{
  static const char *const settings[] = {"data.split.train.to=1999-01-01", "data.target=[q850]",
                                         "data.lead=[47]", "data.split.train.to=2000-13-45"};

  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    assert_int_equal(program("describe " DUMMY "--set %s", settings[i]), 2);
    assert_non_null(strstr(printed(), "data."));
  }
}

/* Every command that takes a truth, with an ensemble in its place. */
static void a_truth_of_members_is_refused(void **state)
{
  static const char said[] =
      "forecast.nc: 3 members; a truth has one: select one of numbers 0 to 2";
#define TWICE in_scratch("s/forecast.nc"), in_scratch("s/forecast.nc")
  prepare(60);
  assert_int_equal(program("run " NETWORK ARCHIVES "--out %s", TWICE, in_scratch("a")), 3);
  assert_non_null(strstr(printed(), said));
  assert_int_equal(program("run " NETWORK ARCHIVES "--set train.steps=1 --set data.analysis=true "
                           "--out %s",
                           FILES, in_scratch("r")),
                   0);
  assert_int_equal(program("predict " NETWORK ARCHIVES "--set data.analysis=true "
                           "--set predict.weights=%s --out %s",
                           TWICE, weights("r"), in_scratch("p")),
                   3);
  assert_non_null(strstr(printed(), said));
  assert_int_equal(program("eval " ARCHIVES "--set eval.part=all --out %s", TWICE, in_scratch("e")),
                   3);
  assert_non_null(strstr(printed(), said));
  assert_int_equal(program("prepare " ARCHIVES "--out %s", TWICE, in_scratch("i")), 3);
  assert_non_null(strstr(printed(), said));
}

/* TO/truth.nc: the analyses of the scratch folder, all missing from `from` on, days since 1970. */
static void without_truth(double from, const char *to)
{
  const char *const path[] = {in_scratch("s/truth.nc")};
  wx_archive *a = NULL;
  wx_archive_writer *w = NULL;
  float *x = NULL;

  assert_ok(weir_dir_create(in_scratch("%s", to)));
  assert_ok(wx_archive_open(path, 1, &a));
  const wx_archive_info *f = wx_archive_get(a);
  const int64_t cells = f->grid.n_lat * f->grid.n_lon;

  assert_ok(weir_alloc(cells, sizeof *x, (void **)&x));
  assert_ok(wx_archive_create(in_scratch("%s/truth.nc", to), f, &w));
  for (int64_t s = 0; s < f->n_init_times; s++) {
    assert_ok(wx_archive_read(a, s, 0, 0, 0, 1, x));
    for (int64_t k = 0; k < cells && (double)f->start[s] / 86400 >= from; k++) {
      x[k] = NAN;
    }
    assert_ok(wx_archive_write(w, s, 0, 0, 0, 1, x));
  }
  assert_ok(wx_archive_commit(&w));
  wx_archive_close(&a);
  weir_free(&x);
}

/* Truth that ends before the samples of validation begin: the loss of nothing would be 0, the best.
 */
static void weights_are_not_chosen_by_nothing(void **state)
{
  prepare(60);
  without_truth(10957 + 19, "cut"); /* 2000-01-20 */
  assert_int_equal(program("run " NETWORK ARCHIVES "--out %s", in_scratch("s/forecast.nc"),
                           in_scratch("cut/truth.nc"), in_scratch("r")),
                   3);
  assert_non_null(strstr(printed(), "none of 9 validation samples has a value of t500"));
  assert_false(weir_file_exists(in_scratch("r/weights.nc")));
}

/* Training, predictions, scores and the climate count the same members where nothing is said. */
static void all_commands_take_the_same_members(void **state)
{
  prepare(60);
  assert_int_equal(
      program("run " NETWORK ARCHIVES "--set train.steps=1 --out %s", FILES, in_scratch("r")), 0);
  assert_int_equal(program("predict " NETWORK ARCHIVES "--set predict.members=true "
                           "--set predict.weights=%s --out %s",
                           FILES, weights("r"), in_scratch("p")),
                   0);
  const char *const path[] = {in_scratch("p/members.nc")};
  wx_archive *a = NULL;

  assert_ok(wx_archive_open(path, 1, &a));
  assert_true(wx_archive_get(a)->n_members == 3 && wx_archive_get(a)->member[0] == 0);
  wx_archive_close(&a);
  assert_int_equal(program("eval " ARCHIVES "--set eval.part=all --out %s", FILES, in_scratch("e")),
                   0);
  char *text = contents(in_scratch("e/scores.csv"));

  assert_non_null(strstr(text, "raw 3"));
  free(text);
  assert_int_equal(program("predict " NETWORK ARCHIVES "--set predict.members=true --set "
                           "data.first=1 --set predict.weights=%s --out %s",
                           FILES, weights("r"), in_scratch("q")),
                   0);
  const char *const other[] = {in_scratch("q/members.nc")};

  assert_ok(wx_archive_open(other, 1, &a));
  assert_true(wx_archive_get(a)->n_members == 2 && wx_archive_get(a)->member[0] == 1);
  wx_archive_close(&a);
}

static void what_does_not_fit_is_refused(void **state)
{
  prepare(60);
  assert_int_equal(program("run " NETWORK "--out %s", in_scratch("a")), 2);
  assert_non_null(strstr(printed(), "data.forecast: names no file"));
  assert_int_equal(program("run " NETWORK "--input /no/such/file.nc --out %s", in_scratch("a")), 2);
  assert_non_null(strstr(printed(), "data.truth: names no file of what came true"));
  assert_int_equal(program("run " NETWORK "--input /no/such/file.nc --set "
                           "data.truth=[/no/such/truth.nc] --out %s",
                           in_scratch("a")),
                   3);
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

/* A folder is resumed only with the configuration it was begun with, and stays as it is where that
 * is refused. */
static void another_run_is_refused(void **state)
{
#define RUN "run " NETWORK ARCHIVES "--out %s --set train.steps="
  prepare(60);
  assert_int_equal(program(RUN "1", FILES, in_scratch("r")), 0);
  assert_int_equal(program(RUN "2 --set error.wind=1", FILES, in_scratch("r")), 2);
  assert_int_equal(program(RUN "2 --set data.split.valid.from=2000-01-15", FILES, in_scratch("r")),
                   2);
  assert_non_null(strstr(printed(), "is of other training samples than these"));
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
      TEST(subsets_keep_their_distance),
      TEST(the_bias_network_obeys_its_options),
      TEST(extremes_count_more),
      TEST(a_network_worse_than_the_ensemble_is_told),
      TEST(a_stopped_run_is_resumed),
      TEST(predictions_refuse_what_does_not_fit),
      TEST(describe_prints_the_plan),
      TEST(describe_refuses_what_run_would),
      TEST(a_truth_of_members_is_refused),
      TEST(all_commands_take_the_same_members),
      TEST(weights_are_not_chosen_by_nothing),
      TEST(what_does_not_fit_is_refused),
      TEST(another_run_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
