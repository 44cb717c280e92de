/* mllog_test.c - logs that the checker refuses: a key missing, twice, in another order or with
 * another value; logs that it accepts; configurations of the closed division. */
#include "log/mllog.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"

/* A log by its lines: key, value, metadata in addition to file and line, event type. */
typedef struct row {
  const char *key, *value, *more;
} row;

static const row good[] = {
    {"submission_benchmark", "\"cosmoflow\"", ""},
    {"submission_org", "\"o\"", ""},
    {"submission_platform", "\"p \\\"q\\\" {,}\"", ""},
    {"submission_division", "\"open\"", ""},
    {"submission_status", "\"research\"", ""},
    {"number_of_nodes", "1", ""},
    {"accelerators_per_node", "0", ""},
    {"cache_clear", "true", ""},
    {"init_start", "null", ""},
    {"train_samples", "64", ""},
    {"eval_samples", "8", ""},
    {"global_batch_size", "4", ""},
    {"opt_name", "\"sgd\"", ""},
    {"opt_base_learning_rate", "1e-3", ""},
    {"opt_learning_rate_warmup_epochs", "4", ""},
    {"opt_learning_rate_warmup_factor", "1", ""},
    {"opt_learning_rate_decay_boundary_epochs", "[32, 64]", ""},
    {"opt_learning_rate_decay_factor", "[0.25, 0.125]", ""},
    {"init_stop", "null", ""},
    {"run_start", "null", ""},
    {"epoch_start", "null", ", \"epoch_num\": 1"},
    {"eval_start", "null", ", \"epoch_num\": 1"},
    {"eval_error", "0.12", ", \"epoch_num\": 1"},
    {"eval_stop", "null", ", \"epoch_num\": 1"},
    {"epoch_stop", "null", ", \"epoch_num\": 1"},
    {"run_stop", "null", ", \"status\": \"success\""},
};
enum { ROWS = sizeof good / sizeof good[0] };

static char folder[256], path[300];

static int begin(void **state)
{
  weir_check_mkdir(folder, sizeof folder);
  (void)snprintf(path, sizeof path, "%s/log", folder);
  return 0;
}

static int end(void **state)
{
  weir_check_rmdir(folder);
  return 0;
}

static void put(FILE *out, int64_t time, const row *r)
{
  (void)fprintf(out,
                ":::MLLOG {\"namespace\": \"\", \"time_ms\": %lld, \"event_type\": "
                "\"POINT_IN_TIME\", \"key\": \"%s\", \"value\": %s, \"metadata\": {\"file\": "
                "\"a.c\", \"lineno\": 7%s}}\n",
                (long long)time, r->key, r->value, r->more);
}

static weir_status check(const row *rows, int n)
{
  FILE *out = fopen(path, "w");

  assert_non_null(out);
  (void)fputs("other programs write here, too\n", out);
  for (int i = 0; i < n; i++) {
    put(out, 1000 + 10 * i, &rows[i]);
  }
  assert_int_equal(fclose(out), 0);
  return cf_mllog_check(path, CF_MLLOG_TARGET, NULL);
}

static void a_whole_log_passes(void **state)
{
  assert_ok(check(good, ROWS));
  assert_true(cf_mllog_is(path));
}

static void other_files_are_no_logs(void **state)
{
  static const char bytes[] = "\x89HDF\0\n:::MLLO {}\n :::MLLOG {}\n";
  FILE *out = fopen(path, "wb");

  assert_non_null(out);
  (void)fwrite(bytes, 1, sizeof bytes, out);
  assert_int_equal(fclose(out), 0);
  assert_false(cf_mllog_is(path));
  assert_false(cf_mllog_is(folder));
  assert_int_equal(remove(path), 0);
  assert_false(cf_mllog_is(path));
}

/* Each line matters: without it, with it twice (where it has to be once), somewhere else. */
static void every_line_matters(void **state)
{
  for (int gone = 0; gone < ROWS; gone++) {
    row rows[ROWS + 1];
    const char *const key = good[gone].key;
    const bool several = strcmp(key, "eval_error") == 0 || strcmp(key, "cache_clear") == 0 ||
                         strcmp(key, "init_start") == 0;

    memcpy(rows, good, sizeof(row) * (size_t)gone);
    memcpy(rows + gone, good + gone + 1, sizeof(row) * (size_t)(ROWS - gone - 1));
    assert_int_equal(check(rows, ROWS - 1), WEIR_ERR_DATA);
    assert_true(strstr(weir_last_message(), key) != NULL || strcmp(key, "run_start") == 0);
    memcpy(rows, good, sizeof good);
    memmove(rows + gone + 1, rows + gone, sizeof(row) * (size_t)(ROWS - gone));
    assert_int_equal(check(rows, ROWS + 1), several ? WEIR_OK : WEIR_ERR_DATA);
  }
}

static void order_matters(void **state)
{
  static const int pairs[][2] = {{8, 18}, {18, 19}, {19, 20}, {22, 25}, {19, 25}};

  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
    row rows[ROWS];

    memcpy(rows, good, sizeof good);
    rows[pairs[k][0]] = good[pairs[k][1]];
    rows[pairs[k][1]] = good[pairs[k][0]];
    assert_int_equal(check(rows, ROWS), WEIR_ERR_DATA);
  }
}

static void values_matter(void **state)
{
  static const struct {
    int row;
    const char *value, *more;
  } bad[] = {
      {0, "\"deepcam\"", ""},
      {3, "\"ajar\"", ""},
      {4, "\"done\"", ""},
      {5, "0", ""},
      {6, "-1", ""},
      {9, "\"64\"", ""},
      {11, "0", ""},
      {13, "null", ""},
      {22, "0.13", ", \"epoch_num\": 1"},
      {22, "0", ", \"epoch_num\": 1"},
      {22, "\"low\"", ", \"epoch_num\": 1"},
      {22, "0.12", ""},
      {20, "null", ""},
      {20, "null", ", \"epoch_num\": 2"},
      {23, "null", ", \"epoch_num\": 2"},
      {25, "null", ", \"status\": \"aborted\""},
      {25, "null", ""},
  };

  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    row rows[ROWS];

    memcpy(rows, good, sizeof good);
    rows[bad[k].row].value = bad[k].value;
    rows[bad[k].row].more = bad[k].more;
    assert_int_equal(check(rows, ROWS), WEIR_ERR_DATA);
  }
}

/* Initialisation takes less than 30 minutes; time does not go back. */
static void times_matter(void **state)
{
  for (int k = 0; k < 3; k++) {
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    for (int i = 0; i < ROWS; i++) {
      const int64_t late = i >= 18 ? (k == 0 ? 1800000 : k == 1 ? 1799000 : -100) : 0;

      put(out, 1000 + late, &good[i]);
    }
    assert_int_equal(fclose(out), 0);
    assert_int_equal(cf_mllog_check(path, 0.124, NULL), k == 1 ? WEIR_OK : WEIR_ERR_DATA);
  }
}

static void set_row(row *rows, const char *key, const char *value)
{
  for (int i = 0; i < ROWS; i++) {
    if (strcmp(rows[i].key, key) == 0) {
      rows[i].value = value;
    }
  }
}

/* Of the closed division: the samples of the benchmark, its target, factors between 0 and 1. */
static void a_closed_log_has_the_samples_and_target_of_the_benchmark(void **state)
{
  static const struct {
    const char *key, *value;
  } bad[] = {{"train_samples", "64"},
             {"eval_samples", "64"},
             {"opt_learning_rate_decay_factor", "[0.25, 1]"},
             {"opt_learning_rate_decay_factor", "0"},
             {"opt_learning_rate_decay_factor", "\"none\""},
             {"opt_name", "\"adam\""}};
  cf_mllog_judged log;
  row rows[ROWS];

  memcpy(rows, good, sizeof good);
  set_row(rows, "opt_name", "\"adam\"");
  assert_ok(check(rows, ROWS)); /* of the open division */
  set_row(rows, "opt_name", "\"sgd\"");
  set_row(rows, "submission_division", "\"closed\"");
  set_row(rows, "train_samples", "524288");
  set_row(rows, "eval_samples", "65536");
  assert_ok(check(rows, ROWS));
  assert_ok(cf_mllog_check(path, CF_MLLOG_TARGET, &log));
  assert_true(log.closed);
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    row other[ROWS];

    memcpy(other, rows, sizeof rows);
    set_row(other, bad[k].key, bad[k].value);
    assert_int_equal(check(other, ROWS), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), bad[k].key));
  }
  set_row(rows, "eval_error", "0.3");
  assert_int_equal(check(rows, ROWS), WEIR_ERR_DATA);
  assert_int_equal(cf_mllog_check(path, 0.5, NULL), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "target of the closed division"));
}

/* Optional keys are checked where they are: written over a row that may come more than once. */
static void optional_keys_have_values_in_range(void **state)
{
  static const struct {
    const char *key, *value;
    bool passes;
  } cases[] = {{"seed", "7", true},
               {"dropout", "0.5", true},
               {"dropout", "-0.1", false},
               {"opt_weight_decay", "0.02", true},
               {"opt_weight_decay", "-1", false}};

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    row rows[ROWS + 1];

    memcpy(rows, good, sizeof(row) * 9);
    rows[9] = (row){cases[k].key, cases[k].value, ""};
    memcpy(rows + 10, good + 9, sizeof(row) * (ROWS - 9));
    assert_int_equal(check(rows, ROWS + 1), cases[k].passes ? WEIR_OK : WEIR_ERR_DATA);
  }
}

/* Seeds that differ, one division; the mean without the fastest and the slowest run. */
static void runs_of_a_submission_are_checked_together(void **state)
{
  static const char *const names[] = {"a", "b", "c", "d"};
  cf_mllog_judged log[] = {{true, 1, 10}, {true, 2, 12}, {true, 3, 90}, {true, 4, 16}};
  double minutes = 0;

  assert_ok(cf_mllog_check_runs(names, log, 4, &minutes));
  assert_near(minutes, 14, 1e-12);
  assert_ok(cf_mllog_check_runs(names, log, 2, &minutes));
  assert_near(minutes, 11, 1e-12);
  log[3].seed = 2;
  assert_int_equal(cf_mllog_check_runs(names, log, 4, &minutes), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "b, d"));
  log[3] = (cf_mllog_judged){false, 4, 16};
  assert_int_equal(cf_mllog_check_runs(names, log, 4, &minutes), WEIR_ERR_DATA);
}

/* ---- The rules of the closed division ---- */

typedef struct sections {
  cf_mllog_opts mllog;
  cf_model_opts model;
  cf_data_opts data;
  weir_train_cfg train;
} sections;
static const weir_opt section_options[] = {
    WEIR_OPT_TABLE(sections, mllog, cf_mllog_options, "the log"),
    WEIR_OPT_TABLE(sections, model, cf_model_options, "what is trained"),
    WEIR_OPT_TABLE(sections, data, cf_data_options, "on what"),
    WEIR_OPT_TABLE(sections, train, weir_train_opts, "how"),
    WEIR_OPT_END,
};

/* Changes of the configuration of the reference, and the text of their refusal. */
static weir_status check_rules(const char *set)
{
  const char *const sets[] = {
      "mllog={write: true, division: closed}", "train.target={metric: mae, value: 0.124}",
      "train.optim.rule={momentum: {form: keras}}",
      "train.optim.schedule={shape: mlperf, unit: epochs, lr: 0.001, warmup: 4, at: [32, 64], "
      "factors: [0.25, 0.125]}",
      set};
  weir_config *config = NULL;
  sections s;

  assert_ok(
      weir_config_load(section_options, sizeof s, NULL, 0, sets, set != NULL ? 5 : 4, &s, &config));
  const cf_mllog_rules rules = {&s.model, &s.data, &s.train};
  const weir_status status = cf_mllog_check_rules(&s.mllog, &rules);

  weir_config_destroy(&config);
  return status;
}

static void a_closed_log_is_of_the_reference(void **state)
{
  static const char *const allowed[] = {NULL,
                                        "model.net={mlperf: {dropout: 0.1, blocks: 5}}",
                                        "model.loss=mse",
                                        "train.optim.rule={momentum: {weight_decay: 0.02}}",
                                        "train.optim.schedule.lr=0.02",
                                        "train.optim.schedule.factors=[0.5, 0.1]",
                                        "train.batch=64",
                                        "train.epochs=200"};
  static const char *const refused[][2] = {
      {"model.net={mlperf: {base: 16}}", "model.net.mlperf.base"},
      {"model.net={mlperf: {kernel: 2}}", "model.net.mlperf.kernel"},
      {"model.net={mlperf: {blocks: 4}}", "model.net.mlperf.blocks"},
      {"model.net={mlperf: {scale: 1.5}}", "model.net.mlperf.scale"},
      {"model.net=oyama", "model.net"},
      {"model.loss=mae", "model.loss"},
      {"data.scale=mean", "data.scale"},
      {"data.augment.symmetry=mirror", "data.augment.symmetry"},
      {"data.augment.shift=true", "data.augment.shift"},
      {"data.sizes.sides=[64, 128]", "data.sizes.sides"},
      {"model.net={mlperf: {global_mean: true}}", "model.net.mlperf.global_mean"},
      {"train.optim.rule=adam", "train.optim.rule"},
      {"train.optim.rule=sgd", "train.optim.rule"},
      {"train.optim.rule={momentum: {mu: 0.8}}", "train.optim.rule.momentum.mu"},
      {"train.optim.rule={momentum: {nesterov: true}}", "train.optim.rule.momentum.nesterov"},
      {"train.optim.clip.max_norm=1", "train.optim.clip.max_norm"},
      {"train.optim.average.decay=0.9", "train.optim.average.decay"},
      {"train.optim.schedule.shape=cosine", "train.optim.schedule.shape"},
      {"train.optim.schedule.factors=[0.5, 1]", "train.optim.schedule.factors"},
      {"train.target.value=0.2", "train.target.value"},
      {"train.target.metric=mse", "train.target.metric"}};

  for (size_t k = 0; k < sizeof allowed / sizeof allowed[0]; k++) {
    assert_ok(check_rules(allowed[k]));
  }
  for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
    assert_int_equal(check_rules(refused[k][0]), WEIR_ERR_CONFIG);
    const char *const message = weir_last_message();

    assert_int_equal(strncmp(message, refused[k][1], strlen(refused[k][1])), 0);
    assert_non_null(strstr(message, "mllog.division=open"));
  }
  assert_ok(check_rules("mllog={write: true, division: open}"));
}

static void a_closed_log_is_of_the_benchmarks_samples(void **state)
{
  const cf_mllog_opts closed = {.write = true, .division = CF_MLLOG_CLOSED},
                      open = {.write = true, .division = CF_MLLOG_OPEN};
  cf_volume_info info = {.lengths = {128, 128, 128, 4}, .n_labels = 4};

  assert_ok(cf_mllog_check_samples(&closed, &info, false, 524288, 65536));
  assert_int_equal(cf_mllog_check_samples(&closed, &info, true, 524288, 65536), WEIR_ERR_CONFIG);
  assert_int_equal(cf_mllog_check_samples(&closed, &info, false, 524288, 64), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "mllog.division=open"));
  assert_ok(cf_mllog_check_samples(&open, &info, true, 3, 1));
  info.n_labels = 3;
  assert_int_equal(cf_mllog_check_samples(&closed, &info, false, 524288, 65536), WEIR_ERR_CONFIG);
}

/* Cut anywhere, a log is no log. */
static void cut_lines_are_refused(void **state)
{
  char *text = NULL;
  int64_t size = 0;

  assert_ok(check(good, ROWS));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  for (int64_t n = 0; n < size - 1; n += 7) {
    weir_check_write(path, text, (size_t)n);
    assert_int_equal(cf_mllog_check(path, 0.124, NULL), WEIR_ERR_DATA);
  }
  weir_free(&text);
}

/* The writer on events of a training. */
static void events_make_a_log(void **state)
{
  const cf_mllog_opts opts = {
      .write = true, .org = "a\"b\\c", .platform = "p", .nodes = 1, .division = 1, .status = 3};
  double at[] = {2};
  weir_train_cfg train = {.epochs = 3,
                          .batch = 2,
                          .accumulate = 2,
                          .optim = {.rule = {.name = "momentum"},
                                    .schedule = {.shape = WEIR_SCHEDULE_MLPERF,
                                                 .lr = 0.001,
                                                 .factor = 0.5,
                                                 .unit = 1,
                                                 .warmup = 1,
                                                 .scale = 1,
                                                 .batch = 1,
                                                 .at = {at, 1}}}};
  const cf_model_opts model = {.loss = 0};
  cf_mllog *log = NULL;
  char *text = NULL;
  int64_t size = 0;

  assert_ok(cf_mllog_open(&opts, folder, weir_clock_wall_ms() - 5, false, &log));
  weir_event("train_begin", WEIR_INT("samples", 1)); /* of another training: not described */
  cf_mllog_describe(log, &(cf_mllog_run){&train, &model, 10, 4});
  weir_event("train_begin", WEIR_INT("samples", 10));
  weir_event("epoch_begin", WEIR_INT("epoch", 1), WEIR_INT("step", 0));
  weir_event("validation_begin", WEIR_INT("epoch", 1), WEIR_INT("step", 3));
  weir_event("epoch_end", WEIR_INT("epoch", 1), WEIR_REAL("mae", 0.1));
  weir_event("epoch_begin", WEIR_INT("epoch", 2), WEIR_INT("step", 3)); /* train.steps ends it */
  weir_event("validation_begin", WEIR_INT("epoch", 1), WEIR_INT("step", 4));
  weir_event("validation", WEIR_INT("step", 4), WEIR_REAL("mae", 0.11));
  weir_event("stop", WEIR_TEXT("reason", "done"), WEIR_INT("epoch", 1));
  cf_mllog_close(&log);
  weir_event("epoch_begin", WEIR_INT("epoch", 2), WEIR_INT("step", 3));
  (void)snprintf(path, sizeof path, "%s/%s", folder, CF_MLLOG_NAME);
  assert_ok(cf_mllog_check(path, 0.124, NULL));
  assert_int_equal(cf_mllog_check(path, 0.05, NULL), WEIR_ERR_DATA);
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_non_null(strstr(text, "\"global_batch_size\", \"value\": 4,"));
  assert_non_null(strstr(text, "\"opt_base_learning_rate\", \"value\": 0.004,"));
  assert_non_null(strstr(text, "\"opt_learning_rate_warmup_factor\", \"value\": 4,"));
  assert_non_null(strstr(text, "\"opt_learning_rate_decay_factor\", \"value\": [0.5],"));
  assert_non_null(strstr(text, "\"value\": 0.11, \"metadata\": {\"file\": \"mllog.c\", "));
  assert_non_null(strstr(text, "\"opt_weight_decay\", \"value\": 0,"));
  assert_non_null(strstr(text, "\"submission_org\", \"value\": \"a?b?c\","));
  weir_free(&text);
}

static void a_log_that_is_not_asked_for_is_not_written(void **state)
{
  const cf_mllog_opts opts = {.write = false};
  cf_mllog *log = NULL;

  assert_ok(cf_mllog_open(&opts, folder, 1000, false, &log));
  assert_null(log);
  cf_mllog_describe(log, &(cf_mllog_run){NULL, NULL, 0, 0});
  cf_mllog_close(&log);
  (void)snprintf(path, sizeof path, "%s/%s", folder, CF_MLLOG_NAME);
  assert_false(weir_file_exists(path));
}

#define LOG_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
  const struct CMUnitTest tests[] = {
      LOG_TEST(a_whole_log_passes),
      LOG_TEST(every_line_matters),
      LOG_TEST(other_files_are_no_logs),
      LOG_TEST(order_matters),
      LOG_TEST(values_matter),
      LOG_TEST(times_matter),
      LOG_TEST(a_closed_log_has_the_samples_and_target_of_the_benchmark),
      LOG_TEST(optional_keys_have_values_in_range),
      LOG_TEST(runs_of_a_submission_are_checked_together),
      cmocka_unit_test(a_closed_log_is_of_the_reference),
      cmocka_unit_test(a_closed_log_is_of_the_benchmarks_samples),
      LOG_TEST(cut_lines_are_refused),
      LOG_TEST(events_make_a_log),
      LOG_TEST(a_log_that_is_not_asked_for_is_not_written),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
