/* run_slow.c - the network trained through the program: what a run leaves, the same bits however it
 * is run, stopped runs, the log of MLPerf, predictions, and samples that are refused. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "data/predictions.h"
#include "support/cosmoflow/volume_test.h"
#include "log/mllog.h"
#include "needs.h"
#include "program.h"

/* configs/cosmoflow/tiny.yaml, smaller, as settings without a YAML reader. */
#define UNIVERSES                                                                        \
  "--set simulate.universes=10 --set simulate.file=4 --set simulate.side=8 "             \
  "--set simulate.particles=16 --set simulate.box=128 --set simulate.redshifts=[0,0.5] " \
  "--set simulate.preset=wide2 "
#define NETWORK                                                                              \
  "--set data.split.valid=2 --set data.split.test=2 --set data.augment.symmetry=octahedral " \
  "--set 'model.net={mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4, dropout: 0.1}}' "  \
  "--set train.epochs=3 --set train.batch=2 "                                                \
  "--set 'train.optim.rule={momentum: {form: keras}}' --set train.optim.schedule.lr=0.01 "   \
  "--set exec.tier=vector "
#define RUN "run " UNIVERSES NETWORK

/* Of a file of weights: the digest of its variables, and an attribute; the caller frees it. */
static char *attribute(const char *dir, const char *name)
{
  weir_netcdf *nc = NULL;
  char *text = NULL;

  assert_ok(weir_netcdf_open(in_scratch("%s/weights.nc", dir), &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, name, &text));
  weir_netcdf_close(&nc);
  return text;
}

static bool same_weights(const char *a, const char *b)
{
  char *x = attribute(a, "variables_sha256"), *y = attribute(b, "variables_sha256");
  const bool same = strcmp(x, y) == 0;

  weir_free(&x);
  weir_free(&y);
  return same;
}

static void a_run_leaves_what_it_made(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program(RUN "--threads 1 --out %s", in_scratch("a")), 0);
  assert_int_equal(program(RUN "--threads 2 --set source.input=[%s] --out %s",
                           in_scratch("a/universes"), in_scratch("b")),
                   0);
  assert_true(same_weights("a", "b"));
  assert_true(weir_file_exists(in_scratch("a/report.html")));
  assert_true(weir_file_exists(in_scratch("a/figures/loss.svg")));
  assert_true(weir_file_exists(in_scratch("a/figures/mae.svg")));
  assert_true(weir_file_exists(in_scratch("a/provenance.json")));
  assert_false(weir_file_exists(in_scratch("a/mllog.txt")));
  assert_false(weir_file_exists(in_scratch("b/universes")));
  assert_int_equal((int)event_number(in_scratch("a"), "samples", "train"), 6);
  assert_int_equal((int)event_number(in_scratch("a"), "train_begin", "validation"), 2);
  assert_int_equal(event_count(in_scratch("a"), "epoch_begin"), 3);
  assert_true(event_number(in_scratch("a"), "epoch_end", "mae") > 0);
  assert_true(event_number(in_scratch("a"), "run_end", "best_loss") > 0);
  assert_string_equal(cell_after(in_scratch("a"), "summary", "network"), "mlperf");
  /* Universes made as they are needed are those of the files; their description is another. */
  assert_int_equal(
      program(RUN "--threads 2 --set source.input=[synth://] --out %s", in_scratch("c")), 0);
  assert_true(event_number(in_scratch("a"), "run_end", "loss") ==
              event_number(in_scratch("c"), "run_end", "loss"));
}

/* Results of an earlier run are removed, and those of this one stay. */
static void a_run_replaces_another(void **state)
{
  NEEDS_LIBRARIES();
#define TWICE RUN "--set mllog.write=true --overwrite --out %s "
  assert_int_equal(program(TWICE, in_scratch("a")), 0);
  assert_int_equal(program(TWICE "--set simulate.box=100 --set simulate.file=5", in_scratch("a")),
                   0);
  assert_true(weir_file_exists(in_scratch("a/universes/universes-00000005.nc")));
  assert_false(weir_file_exists(in_scratch("a/universes/universes-00000004.nc")));
  assert_true(weir_file_exists(in_scratch("a/mllog.txt")));
  assert_true(weir_file_exists(in_scratch("a/weights.nc")));
}

/* Sides are drawn anew in every epoch: another training than without them. */
static void views_make_another_training(void **state)
{
  NEEDS_LIBRARIES();
#define TURNED(symmetry, shift, dir)                                                             \
  assert_int_equal(program(RUN                                                                   \
                           "--set source.input=[synth://] --set data.augment.symmetry=" symmetry \
                           " --set data.augment.shift=" shift " --out %s",                       \
                           in_scratch(dir)),                                                     \
                   0)
  TURNED("none", "false", "a");
  TURNED("mirror", "false", "b");
  TURNED("none", "true", "c");
  assert_false(same_weights("a", "b"));
  assert_false(same_weights("a", "c"));
  assert_int_equal(program(RUN "--set source.input=[synth://] --set simulate.block=4 "
                               "--set data.augment.shift=true --out %s",
                           in_scratch("d")),
                   2);
  assert_non_null(strstr(printed(), "data.augment.shift"));
}

/* Storage tiers do not change results; each sample is read once, and files of a directory serve the
 * next run. */
static void reading_ahead_makes_no_difference(void **state)
{
  NEEDS_LIBRARIES();
#define READ(sets, dir) \
  assert_int_equal(     \
      program(RUN "--set source.input=[synth://] " sets " --out %s", in_scratch(dir)), 0)
  READ("", "a");
  READ("--set load.staging.threads=0 --set load.memory.bytes=0 --set data.cache_bytes=0", "b");
  assert_true(same_weights("a", "b"));
  assert_int_equal((int)event_number(in_scratch("a"), "load_epoch", "memory"), 6);
  assert_int_equal((int)event_number(in_scratch("a"), "load_end", "reads"), 6);
  assert_int_equal((int)event_number(in_scratch("b"), "load_end", "reads"), 18);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(
        program(RUN "--set source.input=[synth://] --set load.staging.threads=3 "
                    "--set load.memory.bytes=5000 --set load.directory.bytes=1000000 "
                    "--set load.directory.path=%s --set load.directory.keep=true --overwrite "
                    "--out %s",
                in_scratch("near"), in_scratch("c")),
        0);
    assert_true(same_weights("a", "c"));
    assert_int_equal((int)event_number(in_scratch("c"), "load_epoch", "directory"), 4);
    assert_int_equal((int)event_number(in_scratch("c"), "load_end", "reads"), again == 0 ? 6 : 2);
  }
}

/* A signal ends a run with status 9; the resumed run has the bits of an uninterrupted one. */
static void a_stopped_run_goes_on(void **state)
{
  int status = 0;

  NEEDS_LIBRARIES();
#define LONG RUN "--set train.epochs=150 --set mllog.write=true --out %s"
  const pid_t child = program_start(LONG, in_scratch("a"));

  for (int k = 0; k < 600; k++) {
    usleep(20000);
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

  assert_true(steps > 0 && steps < 450);
  assert_int_equal(program(LONG, in_scratch("a")), 0);
  assert_int_equal((int)event_number(in_scratch("a"), "run_end", "first"), steps);
  assert_int_equal(program(LONG, in_scratch("b")), 0);
  assert_true(same_weights("a", "b"));
  assert_true(event_number(in_scratch("a"), "run_end", "best_mae") ==
              event_number(in_scratch("b"), "run_end", "best_mae"));
  /* The log is resumed, too: its first lines occur once. */
  char *log = contents(in_scratch("a/mllog.txt"));
  char *const first = strstr(log, "\"key\": \"run_start\"");

  assert_non_null(first);
  assert_null(strstr(first + 1, "\"key\": \"run_start\""));
  free(log);
}

/* A folder is resumed only with the options of its run, and is unchanged where that is refused. */
static void another_run_is_refused(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program(RUN "--set train.epochs=1 --out %s", in_scratch("r")), 0);
  char *before = contents(in_scratch("r/resolved.yaml"));

  assert_int_equal(program(RUN "--set data.split.seed=5 --out %s", in_scratch("r")), 2);
  assert_non_null(strstr(printed(), "was trained on other samples"));
  assert_int_equal(program(RUN "--set data.augment.symmetry=none --out %s", in_scratch("r")), 2);
  assert_int_equal(program(RUN "--set train.seed=7 --out %s", in_scratch("r")), 2);
  assert_int_equal(program(RUN "--set simulate.box=100 --out %s", in_scratch("r")), 2);
  assert_non_null(strstr(printed(), ": holds 2 samples from universe 8 on"));
  char *after = contents(in_scratch("r/resolved.yaml"));

  assert_string_equal(before, after);
  free(before);
  free(after);
}

/* Universes that no file distinguishes, and a checkpoint after a damaged one. */
static void another_simulation_is_refused(void **state)
{
  NEEDS_LIBRARIES();
#define AGAIN(sets)                                                                            \
  program(RUN "--set source.input=[synth://] --set train.checkpoint.every=1 " sets "--out %s", \
          in_scratch("r"))
  assert_int_equal(AGAIN("--set train.epochs=1 "), 0);
  assert_int_equal(AGAIN("--set simulate.box=100 "), 2);
  assert_non_null(strstr(printed(), "was trained on other samples"));
  assert_int_equal(AGAIN("--set simulate.method=1lpt "), 2);
  assert_int_equal(AGAIN("--seed 4 --set train.seed=-4 "), 2);
  weir_check_write(in_scratch("r/checkpoint-000000003.nc"), "cut", 3);
  assert_int_equal(AGAIN("--set train.epochs=1 --set simulate.box=100 "), 2);
  assert_non_null(strstr(printed(), "was trained on other samples"));
  assert_int_equal(AGAIN("--set train.epochs=1 "), 0);
  assert_int_equal((int)event_number(in_scratch("r"), "run_end", "first"), 2);
}

/* ---- The log of MLPerf ---- */

static void the_log_passes_the_checker(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program(RUN "--set mllog.write=true --set train.target.metric=mae "
                               "--set train.target.value=0.9 --set train.optim.schedule.at=[2] "
                               "--set train.optim.schedule.shape=mlperf "
                               "--set train.optim.schedule.unit=epochs --out %s",
                           in_scratch("a")),
                   0);
  assert_int_equal((int)event_number(in_scratch("a"), "stop", "epoch"), 1); /* the target */
  assert_non_null(strstr(printed(), " has reached the target 0.9"));
  assert_ok(cf_mllog_check(in_scratch("a/mllog.txt"), 0.9, NULL));
  assert_int_equal(program("inspect --set train.target.metric=mae --set train.target.value=0.9 %s",
                           in_scratch("a/mllog.txt")),
                   0);
  assert_non_null(strstr(
      printed(), "keeps to the rules of MLPerf HPC, open division, with an eval_error in (0, "
                 "0.9]"));
  assert_int_equal(cf_mllog_check(in_scratch("a/mllog.txt"), 1e-4, NULL), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no eval_error is in (0, 0.0001], the lowest is"));
  /* One that ends within an epoch. */
  assert_int_equal(program(RUN "--set mllog.write=true --set train.steps=2 "
                               "--set train.target.metric=mae --set train.target.value=0.9 "
                               "--set train.optim.schedule.at=[2] "
                               "--set train.optim.schedule.shape=mlperf "
                               "--set train.optim.schedule.unit=epochs --out %s",
                           in_scratch("c")),
                   0);
  assert_true(event_number(in_scratch("c"), "validation", "mae") > 0);
  assert_ok(cf_mllog_check(in_scratch("c/mllog.txt"), 0.9, NULL));
  /* A run that does not reach its target is no success. */
  assert_int_equal(program(RUN "--set mllog.write=true --out %s", in_scratch("b")), 0);
  assert_int_equal(cf_mllog_check(in_scratch("b/mllog.txt"), 2, NULL), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "run_stop"));
  assert_int_equal(program("inspect %s %s", in_scratch("b/mllog.txt"), in_scratch("c/mllog.txt")),
                   3);
  assert_non_null(strstr(printed(), "run_stop"));
}

/* Steps so large that tanh saturates: its gradient is 0, and all samples have one prediction. */
static void constant_predictions_are_told(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program(RUN "--set train.optim.schedule.lr=1000 --out %s", in_scratch("a")), 0);
  assert_non_null(strstr(printed(), "are the same for all validation samples"));
}

/* ---- Predictions ---- */

/* Trains in `a`; skips where weights do not say their network. */
static void train_some(void)
{
  assert_int_equal(program(RUN "--set source.input=[synth://] --out %s", in_scratch("a")), 0);
  assert_int_equal(program("prepare " UNIVERSES "--out %s", in_scratch("u")), 0);
}
#define PREDICT "predict %s --set exec.tier=vector --set predict.weights=%s --out %s "
static void predictions_are_of_their_subsets(void **state)
{
  cf_predictions *p = NULL;
  int subset[CF_SUBSETS] = {0};

  NEEDS_LIBRARIES();
  train_some();
  const int status = program(PREDICT, in_scratch("u"), in_scratch("a/weights.nc"), in_scratch("p"));

  NEEDS_YAML(status);
  assert_int_equal(status, 0);
  assert_ok(cf_predictions_read(in_scratch("p/predictions.nc"), &p));
  assert_int_equal(p->n, 10);
  assert_string_equal(p->label[1], "sigma_8");
  assert_near(p->lo[1], 0.5, 0);
  assert_near(p->hi[0], 0.5, 0);
  double sum = 0;

  for (int64_t i = 0; i < p->n; i++) {
    assert_int_equal(p->universe[i], i);
    assert_true(p->known[i]);
    subset[p->subset[i]]++;
    sum += p->subset[i] != CF_VALID
               ? 0
               : fabs((double)p->predicted[2 * i] - (double)p->truth[2 * i]) +
                     fabs((double)p->predicted[2 * i + 1] - (double)p->truth[2 * i + 1]);
  }
  assert_int_equal(subset[CF_TRAIN], 6);
  assert_int_equal(subset[CF_VALID], 2);
  assert_int_equal(subset[CF_TEST], 2);
  /* The validation error of the chosen weights in the training. */
  assert_near(sum / 4, event_number(in_scratch("a"), "run_end", "best_mae"), 1e-6);
  cf_predictions_destroy(&p);
  char *csv = contents(in_scratch("p/predictions.csv"));

  assert_true(
      strncmp(csv, "sample,universe,part,omega_m,omega_m_predicted,sigma_8,sigma_8_pr", 60) == 0);
  free(csv);
}

/* One subset alone, others listed; a batch of any size gives the same numbers; external universes
 * are tests. */
static void parts_and_batches_are_chosen(void **state)
{
  cf_predictions *all = NULL, *some = NULL;

  NEEDS_LIBRARIES();
  train_some();
  const int status = program(PREDICT, in_scratch("u"), in_scratch("a/weights.nc"), in_scratch("p"));

  NEEDS_YAML(status);
  assert_int_equal(program(PREDICT "--set predict.part=test --set predict.batch=3", in_scratch("u"),
                           in_scratch("a/weights.nc"), in_scratch("q")),
                   0);
  assert_ok(cf_predictions_read(in_scratch("p/predictions.nc"), &all));
  assert_ok(cf_predictions_read(in_scratch("q/predictions.nc"), &some));
  for (int64_t i = 0; i < 10; i++) {
    assert_int_equal(some->known[i], some->subset[i] == CF_TEST);
    for (int64_t k = 2 * i; k < 2 * i + 2 && some->known[i]; k++) {
      assert_near((double)some->predicted[k], (double)all->predicted[k], 1e-6);
    }
  }
  cf_predictions_destroy(&some);
  assert_int_equal(program(PREDICT "--set predict.external_universes=true", in_scratch("u"),
                           in_scratch("a/weights.nc"), in_scratch("s")),
                   0);
  assert_ok(cf_predictions_read(in_scratch("s/predictions.nc"), &some));
  for (int64_t i = 0; i < 10; i++) {
    assert_int_equal(some->subset[i], CF_TEST);
  }
  cf_predictions_destroy(&some);
  cf_predictions_destroy(&all);
}

static void weights_that_do_not_fit_are_refused(void **state)
{
  NEEDS_LIBRARIES();
  train_some();
  const int status = program(PREDICT, in_scratch("u"), in_scratch("a/weights.nc"), in_scratch("p"));

  NEEDS_YAML(status);
  assert_int_equal(program("predict %s --out %s", in_scratch("u"), in_scratch("q")), 2);
  assert_non_null(strstr(printed(), "predict.weights names no file"));
  assert_int_equal(program(PREDICT, in_scratch("u"), in_scratch("none.nc"), in_scratch("q")), 3);
  assert_int_equal(program("predict --set predict.weights=%s --out %s", in_scratch("a/weights.nc"),
                           in_scratch("q")),
                   2);
  assert_non_null(strstr(printed(), "source.input"));
  assert_int_equal(
      program(PREDICT, in_scratch("u"), in_scratch("u/universes-00000000.nc"), in_scratch("q")), 3);
  assert_non_null(strstr(printed(), "no weights of cosmoflow"));
  assert_int_equal(program("prepare " UNIVERSES "--set simulate.side=16 --out %s", in_scratch("v")),
                   0);
  assert_int_equal(program(PREDICT, in_scratch("v"), in_scratch("a/weights.nc"), in_scratch("q")),
                   3);
  assert_non_null(strstr(printed(), "\"8 8 8 2\"; these have \"16 16 16 2\""));
  assert_int_equal(
      program("prepare " UNIVERSES "--set simulate.preset=sc18 --out %s", in_scratch("w")), 0);
  assert_int_equal(program(PREDICT, in_scratch("w"), in_scratch("a/weights.nc"), in_scratch("q")),
                   3);
  assert_non_null(strstr(printed(), "whose labels is"));
}

/* Six samples of universes 0 to 5 in a file with ranges of its labels; NaN: unknown. */
static void put_ranges(const char *dir, double lo0, double lo1)
{
  enum { N = 6, SIDE = 8 };
  const cf_volume_info info = {.lengths = {SIDE, SIDE, SIDE, 1}, .dtype = WEIR_F32, .n_labels = 2};
  const double range[] = {lo0, 1, lo1, 1};
  const int64_t zero[5] = {0}, full[5] = {N, SIDE, SIDE, SIDE, 1}, two[2] = {2, 2};
  int64_t universe[N];
  float voxels[N][SIDE * SIDE * SIDE], labels[N][2];
  int dim[7], var[4];
  weir_netcdf *nc = NULL;

  for (int k = 0; k < N; k++) {
    universe[k] = k;
    cf_test_voxels(&info, (uint64_t)k, voxels[k]);
    cf_test_labels(&info, (uint64_t)k, labels[k]);
  }
  assert_ok(weir_dir_create(in_scratch("%s", dir)));
  assert_ok(weir_netcdf_create(in_scratch("%s/s.nc", dir), &nc));
  for (int d = 0; d < 7; d++) {
    static const char *const name[] = {"sample", "x", "y", "z", "redshift", "parameter", "end"};

    assert_ok(weir_netcdf_dim(nc, name[d], d < 5 ? full[d] : 2, &dim[d]));
  }
  assert_ok(weir_netcdf_var(nc, "full", WEIR_F32, 5, dim, &var[0]));
  assert_ok(weir_netcdf_var(nc, "unitPar", WEIR_F32, 2, (int[]){dim[0], dim[5]}, &var[1]));
  assert_ok(weir_netcdf_var(nc, "rangePar", WEIR_F64, 2, dim + 5, &var[2]));
  assert_ok(weir_netcdf_var(nc, "universe", WEIR_I64, 1, dim, &var[3]));
  assert_ok(weir_netcdf_write(nc, var[0], zero, full, voxels));
  assert_ok(weir_netcdf_write(nc, var[1], zero, (int64_t[]){N, 2}, labels));
  assert_ok(weir_netcdf_write(nc, var[2], zero, two, range));
  assert_ok(weir_netcdf_write(nc, var[3], zero, full, universe));
  assert_ok(weir_netcdf_commit(&nc));
}
#define TRAIN "run " NETWORK "--set data.scale=raw --set source.input=[%s] --out %s "

/* Below zero, too; where one label's is not known, the other's is compared. */
static void ranges_are_compared_label_by_label(void **state)
{
  NEEDS_LIBRARIES();
  put_ranges("a", -1.2, 0.25);
  put_ranges("b", -1.1, 0.25);
  put_ranges("c", NAN, 0.25);
  put_ranges("d", NAN, 0.5);
  assert_int_equal(program(TRAIN, in_scratch("a"), in_scratch("t")), 0);
  const int status = program(PREDICT, in_scratch("a"), in_scratch("t/weights.nc"), in_scratch("p"));

  NEEDS_YAML(status);
  assert_int_equal(status, 0);
  assert_int_equal(program(PREDICT, in_scratch("b"), in_scratch("t/weights.nc"), in_scratch("q")),
                   3);
  assert_non_null(strstr(printed(), "label_lo"));
  assert_int_equal(program(PREDICT, in_scratch("c"), in_scratch("t/weights.nc"), in_scratch("r")),
                   0);
  assert_int_equal(program(PREDICT, in_scratch("d"), in_scratch("t/weights.nc"), in_scratch("q")),
                   3);
  assert_non_null(strstr(printed(), "label_lo"));
}

/* ---- Samples that are refused ---- */

static const cf_volume_info small = {.lengths = {8, 8, 8, 1}, .dtype = WEIR_F32, .n_labels = 2};

static void put_sample(const char *dir, const char *name, const cf_volume_info *info)
{
  assert_ok(weir_dir_create(in_scratch("%s", dir)));
  cf_test_write("npy", in_scratch("%s/%s", dir, name), info, 0, 1, 0);
}

/* Samples s0, s1 .. that are all of universe 0. */
static void put_samples(const char *dir, int n)
{
  for (int k = 0; k < n; k++) {
    char name[16];

    (void)snprintf(name, sizeof name, "s%d", k);
    put_sample(dir, name, &small);
  }
}

/* The last label of a file becomes another. */
static void change_label(const char *name, float label)
{
  FILE *const f = fopen(in_scratch("%s", name), "r+b");

  assert_non_null(f);
  assert_int_equal(fseek(f, -4, SEEK_END), 0);
  assert_int_equal(fwrite(&label, sizeof label, 1, f), 1);
  assert_int_equal(fclose(f), 0);
}

static void forget_universes(const char *dir, int from, int to)
{
  for (int k = from; k < to; k++) {
    assert_int_equal(remove(in_scratch("%s/s%d_universe.npy", dir, k)), 0);
  }
}

/* Universes stated by files are used; numbers by position are valid only in the training set. */
static void universes_are_numbered_by_one_alone(void **state)
{
#define ROW1 "--set data.split.samples_per_universe=1 "
  put_samples("m", 6);
  put_samples("fewer", 5);
  assert_int_equal(program(TRAIN, in_scratch("m"), in_scratch("o")), 2);
  assert_non_null(strstr(printed(), "1 universes"));
  assert_int_equal(program(TRAIN ROW1, in_scratch("m"), in_scratch("o")), 2);
  assert_non_null(strstr(printed(), "1 universes"));
  forget_universes("m", 0, 1);
  assert_int_equal(program(TRAIN ROW1, in_scratch("m"), in_scratch("o")), 2);
  assert_non_null(strstr(printed(), "5 of 6 samples say which universe"));
  forget_universes("m", 1, 6);
  forget_universes("fewer", 0, 5);
  assert_int_equal(program(TRAIN, in_scratch("m"), in_scratch("o")), 2);
  assert_non_null(strstr(printed(), "data.split.samples_per_universe"));
  assert_int_equal(program(TRAIN ROW1, in_scratch("m"), in_scratch("p")), 0);
  const int status = program(PREDICT, in_scratch("m"), in_scratch("p/weights.nc"), in_scratch("q"));

  NEEDS_YAML(status);
  assert_int_equal(status, 0); /* siblings are those of the weights */
  assert_int_equal((int)event_number(in_scratch("q"), "predict_end", "samples"), 6);
  assert_int_equal(program(PREDICT "--set data.split.samples_per_universe=2", in_scratch("m"),
                           in_scratch("p/weights.nc"), in_scratch("s")),
                   2);
  assert_non_null(strstr(printed(), "predict.external_universes=true"));
  assert_int_equal(
      program(PREDICT, in_scratch("fewer"), in_scratch("p/weights.nc"), in_scratch("s")), 2);
  assert_non_null(strstr(printed(), "of 5 samples"));
  change_label("m/s5_label.npy", 0.25f);
  assert_int_equal(program(PREDICT, in_scratch("m"), in_scratch("p/weights.nc"), in_scratch("s")),
                   2);
  assert_non_null(strstr(printed(), "another set of 6 samples"));
  assert_int_equal(program(PREDICT "--set predict.external_universes=true", in_scratch("fewer"),
                           in_scratch("p/weights.nc"), in_scratch("s")),
                   0);
}

static void wrong_samples_are_refused(void **state)
{
  cf_volume_info other = small;

  assert_int_equal(program(TRAIN, in_scratch("none"), in_scratch("o")), 3);
  put_samples("m", 6);
  forget_universes("m", 0, 6);
  /* Numbers that are no counts have no logarithm. */
  assert_int_equal(program(TRAIN "--set data.split.samples_per_universe=1 --set data.scale=log1p",
                           in_scratch("m"), in_scratch("o")),
                   3);
  assert_non_null(strstr(printed(), "files.voxels=any takes it as it is"));
  assert_int_equal(program(TRAIN "--set data.split.samples_per_universe=1 --set data.scale=log1p "
                                 "--set files.voxels=any",
                           in_scratch("m"), in_scratch("o")),
                   3);
  assert_non_null(strstr(printed(), "no log(1 + x)"));
  /* An invalid label, of any subset. */
  change_label("m/s3_label.npy", NAN);
  assert_int_equal(program(TRAIN "--set data.split.samples_per_universe=1 --set data.split.test=5",
                           in_scratch("m"), in_scratch("o")),
                   3);
  assert_non_null(strstr(printed(), "s3_data.npy"));
  /* Samples of two shapes. */
  other.lengths[0] = other.lengths[1] = other.lengths[2] = 4;
  put_sample("m", "t", &other);
  assert_int_equal(
      program(TRAIN "--set data.split.samples_per_universe=1", in_scratch("m"), in_scratch("o")),
      3);
  assert_non_null(strstr(printed(), "4 x 4 x 4"));
  /* Samples without labels. */
  put_sample("n", "a", &small);
  assert_int_equal(remove(in_scratch("n/a_label.npy")), 0);
  assert_int_equal(
      program(TRAIN "--set data.split.samples_per_universe=1", in_scratch("n"), in_scratch("o")),
      3);
  assert_non_null(strstr(printed(), "have no labels"));
  assert_true(only_log(in_scratch("o")));
}

static void options_that_do_not_fit_are_refused(void **state)
{
  NEEDS_LIBRARIES();
#define WRONG(sets, text)                                                                    \
  do {                                                                                       \
    assert_int_equal(                                                                        \
        program(RUN "--set source.input=[synth://] " sets " --out %s", in_scratch("o")), 2); \
    assert_non_null(strstr(printed(), text));                                                \
  } while (0)
  WRONG("--set data.split.test=9", "none is left to train on");
  WRONG("--set train.target.metric=loss", "choose one of: mae, mse");
#define UNET "--set 'model.net={unet: {levels: 1, base: 4}}' "
  WRONG(UNET "--set mllog.write=true", "mllog.write");
  WRONG("--set train.optim.schedule.shape=mlperf", "unit: mlperf has one rate per epoch");
  WRONG("--set model.loss=cross_entropy", "model.loss");
  WRONG("--set data.augment.symmetry=most", "data.augment.symmetry");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(a_run_leaves_what_it_made),
      TEST(a_run_replaces_another),
      TEST(views_make_another_training),
      TEST(reading_ahead_makes_no_difference),
      TEST(a_stopped_run_goes_on),
      TEST(another_run_is_refused),
      TEST(the_log_passes_the_checker),
      TEST(constant_predictions_are_told),
      TEST(predictions_are_of_their_subsets),
      TEST(parts_and_batches_are_chosen),
      TEST(weights_that_do_not_fit_are_refused),
      TEST(another_simulation_is_refused),
      TEST(ranges_are_compared_label_by_label),
      TEST(universes_are_numbered_by_one_alone),
      TEST(wrong_samples_are_refused),
      TEST(options_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
