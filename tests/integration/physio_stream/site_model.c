/* site_model.c - the evaluation of a stranger's model: approvals, hostile models, what a report
 * tells, and the pool of two sites. Where the kernel refuses user namespaces: that nothing is run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "program.h"
#include "support/physio_stream/beat_weights.h"

#ifdef HAVE_CONFIG_FILES
enum { RECORDS = 13, FIRST = 8, LIST = RECORDS * PATH };

static const char benchmark[] = "name: test\n"
                                "start: 5\n"
                                "min_records: 5\n"
                                "cohort:\n"
                                "  where: age >= 30\n"
                                "  groups:\n"
                                "    - {name: sex, cells: [male == 1, male == 0]}\n";
static const char query_model[] = "name: detector\n"
                                  "tasks: {infer: {parameters: {}}}\n"
                                  "weir: {kind: query, query: query.yaml, stream: r_beat}\n";
static const char query[] = "query:\n"
                            "  streams: [{name: ecg, signal: \"\"}]\n"
                            "  steps: [{name: r, from: [ecg], do: detect}]\n"
                            "  outputs: [{stream: r.beat, format: annotations}]\n";
static const char network_query[] =
    "query:\n"
    "  streams: [{name: ecg, signal: \"\"}]\n"
    "  steps:\n"
    "    - {name: r, from: [ecg], do: detect}\n"
    "    - {name: waves, from: [ecg, r.rr], do: delineate}\n"
    "    - {name: beat, from: [ecg, r.rr, waves.qrs, waves.p], do: {beat_class: {network: "
    "weights.nc}}}\n"
    "  outputs: [{stream: r.beat, format: annotations}, {stream: beat, format: csv}]\n";
static const char program_model[] = "name: script\n"
                                    "tasks: {infer: {entrypoint: model.sh}}\n";

static void write_text(const char *path, const char *text)
{
  weir_check_write(path, text, strlen(text));
}

/* Record i belongs to somebody of 26 + 2 i years, who is male where i is odd; 3 has no comment. */
static int make_records(int i)
{
  char path[PATH], head[2048];

  if (program("prepare --set ecgsyn.duration=40 --set ecgsyn.noise.white=true "
              "--set ecgsyn.noise.white_snr=-6 --set seed=%d --out %s",
              i + 1, in_scratch("p%d", i)) != 0) {
    return 1;
  }
  (void)snprintf(path, sizeof path, "%s", in_scratch("p%d/ecgsyn.hea", i));
  char *text = contents(path);

  (void)snprintf(head, sizeof head, "%.1500s%s%d%s%s\n", text, i == 3 ? "#" : "# age: ", 26 + 2 * i,
                 i == 3 ? "" : " sex: ",
                 i == 3       ? ""
                 : i % 2 == 1 ? "M"
                              : "F");
  free(text);
  write_text(path, head);
  return 0;
}

static int prepare(const char *name, int from, int to)
{
  char list[LIST] = "";

  for (int i = from; i < to; i++) {
    const size_t at = strlen(list);

    (void)snprintf(list + at, sizeof list - at, "%s%s", at == 0 ? "" : ",",
                   in_scratch("p%d/ecgsyn", i));
  }
  return program("site prepare --set site.attributes=true --set 'site.records=[%s]' --out %s", list,
                 in_scratch("%s", name));
}

static int make_study(void **state)
{
  int failed = make_scratch(state);

  for (int i = 0; failed == 0 && i < RECORDS; i++) {
    failed = make_records(i);
  }
  failed = failed != 0 || prepare("north", 0, FIRST) != 0 || prepare("south", FIRST, RECORDS) != 0;
  if (failed) {
    return 1;
  }
  write_text(in_scratch("benchmark.yaml"), benchmark);
  assert_ok(weir_dir_create(in_scratch("query")));
  write_text(in_scratch("query/mlcube.yaml"), query_model);
  write_text(in_scratch("query/query.yaml"), query);
  assert_ok(weir_dir_create(in_scratch("script")));
  write_text(in_scratch("script/mlcube.yaml"), program_model);
  return program("site approve --set site.role=committee --set site.person=Chair "
                 "--set site.benchmark=%s --out %s",
                 in_scratch("benchmark.yaml"), in_scratch("committee"));
}

/* The model of bash with these commands. */
static void write_script(const char *commands)
{
  char text[2048];

  (void)snprintf(text, sizeof text, "#!/bin/bash\n%s\n", commands);
  write_text(in_scratch("script/model.sh"), text);
  assert_int_equal(chmod(in_scratch("script/model.sh"), 0755), 0);
}

static void approve(const char *role, const char *model, const char *site, const char *more,
                    const char *out)
{
  assert_int_equal(program("site approve --overwrite --set site.role=%s --set site.person=Somebody "
                           "--set site.benchmark=%s --set site.model=%s --set site.dataset=%s %s "
                           "--out %s",
                           role, in_scratch("benchmark.yaml"), in_scratch("%s", model),
                           in_scratch("%s", site), more, in_scratch("%s", out)),
                   0);
}

static int run(const char *model, const char *site, const char *more, const char *out)
{
  return program("site run --overwrite --set site.benchmark=%s --set site.model=%s "
                 "--set site.dataset=%s %s --set 'site.approvals=[%s,%s,%s]' --out %s",
                 in_scratch("benchmark.yaml"), in_scratch("%s", model), in_scratch("%s", site),
                 more, in_scratch("committee/approval.jsonl"), in_scratch("owner/approval.jsonl"),
                 in_scratch("site/approval.jsonl"), in_scratch("%s", out));
}

/* Approves and runs. False where the kernel has no sandboxes, which is said then. */
static bool evaluate(const char *model, const char *site, const char *more, const char *out,
                     int expected)
{
  approve("model_owner", model, site, "", "owner");
  approve("data_owner", model, site, more, "site");
  const int status = run(model, site, more, out);

  if (status == WEIR_ERR_UNSUPPORTED) {
    assert_non_null(strstr(printed(), "nothing was run"));
    return false;
  }
  if (status != expected) {
    fail_msg("status %d: %s", status, printed());
  }
  return true;
}

static void nothing_is_run_without_every_approval(void **state)
{
  (void)state;
  write_script("exit 0");
  approve("model_owner", "script", "north", "", "owner");
  approve("data_owner", "script", "north", "", "site");
  assert_int_equal(program("site run --set site.benchmark=%s --set site.model=%s "
                           "--set site.dataset=%s --set 'site.approvals=[%s]' --out %s",
                           in_scratch("benchmark.yaml"), in_scratch("script"), in_scratch("north"),
                           in_scratch("committee/approval.jsonl"), in_scratch("none")),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "none of the role model_owner: nothing was run"));
  assert_int_equal(run("script", "south", "", "none"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "data_owner has approved another dataset"));
  assert_int_equal(run("script", "north", "--set site.limits.wall=9", "none"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "data_owner has approved another sandbox"));
  assert_int_equal(run("script", "north", "--set 'site.folders=[/usr,/bin,/home]'", "none"),
                   WEIR_ERR_CONFIG);
  write_text(in_scratch("two.yaml"), "name: test\nmin_records: 2\n"); /* sums give the counts */
  assert_int_equal(program("site approve --set site.role=committee --set site.person=Chair "
                           "--set site.benchmark=%s --out %s",
                           in_scratch("two.yaml"), in_scratch("none")),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "min_records: 2 is outside [5, "));
  write_script("exit 1");
  assert_int_equal(run("script", "north", "", "none"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "model_owner has approved another model"));
  write_text(in_scratch("benchmark.yaml"), "name: test\nmin_records: 6\n");
  assert_int_equal(run("script", "north", "", "none"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "committee has approved another benchmark"));
  write_text(in_scratch("benchmark.yaml"), benchmark);
  assert_false(weir_file_exists(in_scratch("none/site_model.jsonl")));
}

/* A misbehaving model ends with this message, and there is no report. */
static void expect_failure(const char *commands, const char *more, const char *message)
{
  write_script(commands);
  if (evaluate("script", "north", more, "hostile", WEIR_ERR_DATA)) {
    if (strstr(printed(), message) == NULL) {
      fail_msg("%s: printed %s", commands, printed());
    }
    assert_false(weir_file_exists(in_scratch("hostile/site_model.jsonl")));
  }
}

static void a_model_that_means_harm_leaves_no_report(void **state)
{
  static const char limits[] =
      "--set site.limits.wall=1 --set site.limits.cpu=0.5 --set site.limits.output=2 "
      "--set site.limits.processes=20 --set site.limits.memory=200";

  (void)state;
  expect_failure("exec 3<>/dev/tcp/127.0.0.1/80", "", "opened a network socket and was killed");
  expect_failure("echo x > ${2#*=}/r00001.dat", "", "ended with status 1");
  expect_failure("cat /etc/passwd", "", "ended with status 1");
  expect_failure("ls ${2#*=}/*.atr", "", "ended with status 2"); /* the reference is not there */
  expect_failure("sleep 100", limits, "had not ended after 1 s and was killed");
  expect_failure("f() { f | f & }; f; sleep 100", limits, "was killed");
  expect_failure("head -c 10G /dev/zero > ${3#*=}/r00001.beats", "--set site.limits.output=2",
                 "it wrote all of the 2 MiB");
  expect_failure("kill -9 -1 1; ln -s /etc/passwd ${3#*=}/r00001.beats; mkfifo ${3#*=}/x", "",
                 "the model left no r0000");
  expect_failure("for r in $(cat ${2#*=}/RECORDS); do echo nonsense > ${3#*=}/$r.beats; done", "",
                 "predictions/r0000");
}

/* Somebody changes the model while it waits. */
static void a_model_that_changes_leaves_no_report(void **state)
{
  char change[3 * PATH];

  (void)state;
  write_script("until grep -q '^# new' \"$0\"; do sleep 0.05; done\n"
               "for r in $(cat ${2#*=}/RECORDS); do printf '\\0\\0' > ${3#*=}/$r.beats; done");
  approve("model_owner", "script", "north", "--set site.limits.wall=20", "owner");
  approve("data_owner", "script", "north", "--set site.limits.wall=20", "site");
  (void)snprintf(change, sizeof change,
                 "sh -c '(for i in $(seq 300); do [ -e %.500s ] && break; sleep 0.05; done; echo "
                 "\"# new\" >> %.500s) & "
                 "exec \"$@\"' sh",
                 in_scratch("other/RECORDS"), in_scratch("script/model.sh"));
  const int status = program_under(
      change,
      "site run --set site.limits.wall=20 --set site.benchmark=%s --set site.model=%s "
      "--set site.dataset=%s --set 'site.approvals=[%s,%s,%s]' --out %s",
      in_scratch("benchmark.yaml"), in_scratch("script"), in_scratch("north"),
      in_scratch("committee/approval.jsonl"), in_scratch("owner/approval.jsonl"),
      in_scratch("site/approval.jsonl"), in_scratch("other"));

  if (status != WEIR_ERR_UNSUPPORTED) {
    assert_int_equal(status, WEIR_ERR_DATA);
    assert_non_null(strstr(printed(), "script has changed since it was approved"));
  }
  assert_false(weir_file_exists(in_scratch("other/site_model.jsonl")));
}

static void only_the_cohort_is_seen(void **state)
{
  (void)state;
  /* Of 26, 28, .. 40 years those of 30 and more; one is of unknown age. */
  write_script("cd ${2#*=}; [ $(wc -l < RECORDS) = 5 ] && [ $(ls *.hea *.dat | wc -l) = 10 ] && "
               "! grep -q age *.hea && "
               "for r in $(cat RECORDS); do printf '\\0\\0' > ${3#*=}/$r.beats; done");
  if (evaluate("script", "north", "", "cohort", 0)) {
    char *report = contents(in_scratch("cohort/site_model.jsonl"));

    assert_non_null(strstr(report, "\"records\": 5, \"tp\": 0"));
    assert_null(strstr(report, "r0000"));
    assert_null(strstr(report, "Somebody"));
    free(report);
  }
}

static void use_benchmark(const char *text)
{
  write_text(in_scratch("benchmark.yaml"), text);
  assert_int_equal(program("site approve --overwrite --set site.role=committee "
                           "--set site.person=Chair --set site.benchmark=%s --out %s",
                           in_scratch("benchmark.yaml"), in_scratch("committee")),
                   0);
}

/* Text behind the name of a count in the row of all records. */
static long count_of(const char *report, const char *key)
{
  const char *at = strstr(strstr(report, "\"sum\"") != NULL ? strstr(report, "\"sum\"")
                                                            : strstr(report, "\"cell\": \"all\""),
                          key);

  assert_non_null(at);
  return strtol(at + strlen(key), NULL, 10);
}

/* A record of noise is in no cohort of good signals. */
static void cohorts_ask_for_quality(void **state)
{
  (void)state;
  use_benchmark("name: good\nstart: 5\nmin_records: 5\ncohort: {where: quality > 0.5}\n");
  for (int i = 0; i < 6; i++) {
    assert_int_equal(program("prepare --set ecgsyn.duration=40 --set ecgsyn.noise.white=true "
                             "--set ecgsyn.noise.white_snr=%d --set seed=%d --out %s",
                             i == 1 ? -20 : 12, i + 1, in_scratch("q%d", i)),
                     0);
  }
  assert_int_equal(program("site prepare --set 'site.records=[%s,%s,%s,%s,%s,%s]' --out %s",
                           in_scratch("q0/ecgsyn"), in_scratch("q1/ecgsyn"),
                           in_scratch("q2/ecgsyn"), in_scratch("q3/ecgsyn"),
                           in_scratch("q4/ecgsyn"), in_scratch("q5/ecgsyn"), in_scratch("quality")),
                   0);
  if (evaluate("query", "quality", "", "quality_run", 0)) {
    char *report = contents(in_scratch("quality_run/site_model.jsonl"));

    assert_int_equal(count_of(report, "\"records\": "), 5);
    assert_int_equal(count_of(report, "\"fn\": "), 0);
    free(report);
  }
}

/* Weights are read inside, by the program that reads NetCDF files. */
static void a_query_reads_weights(void **state)
{
  const ps_beat_network_opts opts = beat_opts();
  ps_beat_network is;
  char path[PATH];

  (void)state;
  if (!weir_netcdf_available()) {
    return;
  }
  assert_ok(ps_beat_network_of(&opts, &is));
  beat_examples e = beat_examples_new(90, &is);

  beat_weights_make(&opts, &e, 1, in_scratch("network"), path, sizeof path);
  beat_examples_free(&e);
  assert_ok(weir_dir_create(in_scratch("weights")));
  assert_int_equal(rename(path, in_scratch("weights/weights.nc")), 0);
  write_text(in_scratch("weights/mlcube.yaml"), query_model);
  write_text(in_scratch("weights/query.yaml"), network_query);
  use_benchmark("name: test\nstart: 5\nmin_records: 5\n");
  if (evaluate("weights", "north", "", "weights_run", 0)) {
    char *report = contents(in_scratch("weights_run/site_model.jsonl"));

    assert_non_null(strstr(report, "\"tp\": "));
    free(report);
  }
}

static void put_network(const char *name)
{
  char path[PATH], *onnx = NULL;
  int64_t size = 0;

  (void)snprintf(path, sizeof path, "%s/tests/fuzz/seeds/onnx/%s.onnx", WEIR_SOURCE_DIR, name);
  assert_ok(weir_file_read(path, 1 << 20, &onnx, &size));
  weir_check_write(in_scratch("onnx/%s.onnx", name), onnx, (size_t)size);
  weir_free(&onnx);
}

/* ONNX files with a declared interface (tests/support/nn/onnx_export.py), on five records of clear
 * signals and one of noise: the scores of samples give the beats; scores of windows keep those of
 * the detector in clear signals or, if the other score decides, in noise. */
static void an_onnx_file_is_a_model(void **state)
{
  static const struct {
    const char *interface;
    double min_found, max_found; /* share of the reference beats */
    double min_false, max_false; /* relative to these            */
  } cases[] = {
      {"beats20.onnx, hop: 0.5, scores: sigmoid", 0.8, 1, 0, 0.4},
      {"beats20.onnx, hop: 0.5, scores: sigmoid, threshold: 0.99999", 0, 0.7, 0, 0.4},
      {"clear20.onnx, gives: class, scores: softmax, outputs: [noisy, clear], score: clear", 0.8,
       0.85, 0, 0.01},
      {"clear20.onnx, gives: class, scores: softmax, outputs: [noisy, clear], score: noisy", 0.01,
       0.2, 0, 0.4},
  };
  char text[1024];

  (void)state;
  assert_ok(weir_dir_create(in_scratch("onnx")));
  put_network("beats20");
  put_network("clear20");
  use_benchmark("name: test\nstart: 5\nmin_records: 5\n");
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    (void)snprintf(text, sizeof text, "name: net\nweir: {kind: onnx, fs: 256, network: %s}\n",
                   cases[k].interface);
    write_text(in_scratch("onnx/mlcube.yaml"), text);
    if (!evaluate("onnx", "quality", "", "onnx_run", 0)) {
      return;
    }
    char *const report = contents(in_scratch("onnx_run/site_model.jsonl"));
    const double tp = (double)count_of(report, "\"tp\": "),
                 all = tp + (double)count_of(report, "\"fn\": "),
                 fp = (double)count_of(report, "\"fp\": ");

    free(report);
    if (!(tp >= cases[k].min_found * all && tp <= cases[k].max_found * all &&
          fp >= cases[k].min_false * all && fp <= cases[k].max_false * all)) {
      fail_msg("%s: %g of %g found, %g false", cases[k].interface, tp, all, fp);
    }
  }
  write_text(in_scratch("onnx/mlcube.yaml"),
             "name: net\nweir: {kind: onnx, network: beats20.onnx, fs: 256, score: a}\n");
  assert_int_equal(program("site approve --set site.role=model_owner --set site.person=A "
                           "--set site.benchmark=%s --set site.model=%s --out %s",
                           in_scratch("benchmark.yaml"), in_scratch("onnx"), in_scratch("x")),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "name one of weir.outputs"));
}

/* The detector as the model of a site gives what `site eval` counts without a sandbox. */
static void two_sites_give_one_page(void **state)
{
  static const char *const keys[] = {"\"tp\": ", "\"fn\": ", "\"fp\": "};

  (void)state;
  use_benchmark("name: test\nstart: 5\nmin_records: 5\n");
  if (!evaluate("query", "north", "", "north_run", 0) ||
      !evaluate("query", "south", "", "south_run", 0)) {
    return;
  }
  assert_int_equal(program("site eval --set eval.start=5 --set site.min_cell=3 "
                           "--set site.approve=true --set site.dataset=%s --out %s",
                           in_scratch("north"), in_scratch("eval")),
                   0);
  char *model = contents(in_scratch("north_run/site_model.jsonl"));
  char *eval = contents(in_scratch("eval/site_report.jsonl"));

  for (int k = 0; k < 3; k++) {
    assert_int_equal(count_of(model, keys[k]), count_of(eval, keys[k]));
  }
  assert_true(count_of(model, keys[1]) + count_of(model, keys[2]) > 0);
  free(eval);
  assert_int_equal(program("site merge --set 'site.reports=[%s,%s]' --out %s",
                           in_scratch("north_run/site_model.jsonl"),
                           in_scratch("south_run/site_model.jsonl"), in_scratch("study")),
                   0);
  char *table = contents(in_scratch("study/pooled.csv"));
  char *page = contents(in_scratch("study/report.html"));

  assert_non_null(strstr(table, "all,all,pooled,13,"));
  free(table);
  assert_non_null(strstr(page, "Differences between sites"));
  assert_non_null(strstr(page, "design effect"));
  free(page);
  assert_int_equal(program("site merge --set 'site.reports=[%s,%s]' --out %s",
                           in_scratch("north_run/site_model.jsonl"),
                           in_scratch("north_run/site_model.jsonl"), in_scratch("twice")),
                   WEIR_ERR_DATA);
  strstr(model, "\"tp\": ")[7]++;
  write_text(in_scratch("changed.jsonl"), model);
  free(model);
  assert_int_equal(program("site merge --set 'site.reports=[%s]' --out %s",
                           in_scratch("changed.jsonl"), in_scratch("changed")),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(printed(), "its checksum is not that of its lines"));
}

/* As where an administrator has switched them off. */
static void a_kernel_without_namespaces_runs_nothing(void **state)
{
  (void)state;
  write_script("exit 0");
  approve("model_owner", "script", "north", "", "owner");
  approve("data_owner", "script", "north", "", "site");
  const int status = program_under(
      "unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"' sh",
      "site run --overwrite --set site.benchmark=%s --set site.model=%s --set site.dataset=%s "
      "--set 'site.approvals=[%s,%s,%s]' --out %s",
      in_scratch("benchmark.yaml"), in_scratch("script"), in_scratch("north"),
      in_scratch("committee/approval.jsonl"), in_scratch("owner/approval.jsonl"),
      in_scratch("site/approval.jsonl"), in_scratch("refused"));

  if (strstr(printed(), "unshare: ") == NULL) { /* where they are off anyway, so is unshare */
    assert_int_equal(status, WEIR_ERR_UNSUPPORTED);
    assert_non_null(strstr(printed(), "the kernel refuses namespaces"));
    assert_non_null(strstr(printed(), "nothing was run"));
  }
}

/* Other spellings of folders that are not shown, and names that would write over a screen. */
static void disguises_are_refused(void **state)
{
  static const char *const folders[] = {"//proc", "/./dev", "/tmp", "/usr/"};

  (void)state;
  write_script("ls //proc/1");
  approve("model_owner", "script", "north", "", "owner");
  for (int i = 0; i < 4; i++) {
    char more[PATH];

    (void)snprintf(more, sizeof more, "--set 'site.folders=[/bin,%s]'", folders[i]);
    approve("data_owner", "script", "north", more, "site");
    assert_int_equal(run("script", "north", more, "disguise"), WEIR_ERR_CONFIG);
    assert_non_null(strstr(printed(), "give absolute paths of folders"));
  }
  write_text(in_scratch("hidden.yaml"), "name: test\ncommittee: \"a\\e[8m\"\n");
  assert_int_equal(program("site approve --set site.role=committee --set site.person=A "
                           "--set site.benchmark=%s --out %s",
                           in_scratch("hidden.yaml"), in_scratch("x")),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "one line of text without quotes"));
}

static void what_a_descriptor_asks_for_in_vain_is_refused(void **state)
{
  (void)state;
  write_text(in_scratch("script/mlcube.yaml"),
             "name: m\nplatform: {need_internet_access: true}\ntasks: {infer: {entrypoint: a}}\n");
  assert_int_equal(program("site approve --set site.role=model_owner --set site.person=A "
                           "--set site.benchmark=%s --set site.model=%s --out %s",
                           in_scratch("benchmark.yaml"), in_scratch("script"), in_scratch("x")),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "a model has no network here"));
  write_text(in_scratch("script/mlcube.yaml"), "name: m\ntasks: {infer: {entrypoint: ../a}}\n");
  assert_int_equal(program("site approve --set site.role=model_owner --set site.person=A "
                           "--set site.benchmark=%s --set site.model=%s --out %s",
                           in_scratch("benchmark.yaml"), in_scratch("script"), in_scratch("x")),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(printed(), "tasks.infer.entrypoint"));
  write_text(in_scratch("script/mlcube.yaml"), program_model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_run_without_every_approval),
      cmocka_unit_test(what_a_descriptor_asks_for_in_vain_is_refused),
      cmocka_unit_test(disguises_are_refused),
      cmocka_unit_test(a_model_that_means_harm_leaves_no_report),
      cmocka_unit_test(a_model_that_changes_leaves_no_report),
      cmocka_unit_test(only_the_cohort_is_seen),
      cmocka_unit_test(a_kernel_without_namespaces_runs_nothing),
      cmocka_unit_test(two_sites_give_one_page), /* these are of other benchmarks */
      cmocka_unit_test(a_query_reads_weights),
      cmocka_unit_test(cohorts_ask_for_quality),
      cmocka_unit_test(an_onnx_file_is_a_model),
  };

  return cmocka_run_group_tests(tests, make_study, drop_scratch);
}
#else
int main(void)
{
  printf("skipped: this build has no YAML\n");
  return 77;
}
#endif
