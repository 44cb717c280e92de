/* commands.c - every command on a minute of the built-in recording: what it writes, says and
 * refuses. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "exec/weir_tier.h"
#include "io/weir_annotation.h"
#include "io/weir_netcdf.h"
#include "io/weir_record.h"
#include "program.h"

/* The configuration tiny.yaml, without the need of a YAML reader. */
#define TINY                                                                                \
  "--set ecgsyn.duration=60 --set ecgsyn.noise.white=true --set ecgsyn.noise.white_snr=20 " \
  "--set ecgsyn.gaps.missing=0.1 --set ecgsyn.gaps.mean=2 --set eval.start=0 "

static void prepare_writes_a_record_with_its_beats(void **state)
{
  const char *dir = in_scratch("a");
  weir_annotations beats;
  weir_record *r = NULL;
  int sum = 0;

  assert_int_equal(program("prepare " TINY "--out %s", dir), 0);
  assert_ok(weir_record_open(in_scratch("a/ecgsyn"), NULL, &r));
  const weir_signal_info *s = weir_record_signal(r, 0);
  assert_int_equal(s->count, 60 * 256);
  assert_string_equal(s->units, "mV");
  assert_ok(weir_record_checksum(r, 0, &sum));
  assert_int_equal(sum & 0xffff, s->checksum & 0xffff);
  weir_record_close(&r);
  assert_ok(weir_annotations_read(in_scratch("a/ecgsyn.atr"), &beats));
  assert_true(beats.count >= 40 && beats.count <= 70);
  assert_int_equal(beats.count, (int64_t)event_number(dir, "prepare_end", "beats"));
  weir_annotations_fini(&beats);
  assert_true(event_number(dir, "prepare_end", "absent") > 0);
  assert_true(weir_file_exists(in_scratch("a/provenance.json")));
}

/* The record that prepare writes has the samples that run makes itself. */
static void a_run_finds_all_beats_and_eval_says_so(void **state)
{
  assert_int_equal(program("prepare " TINY "--out %s", in_scratch("a")), 0);
  assert_int_equal(program("run " TINY "--set input.record=%s --out %s", in_scratch("a/ecgsyn"),
                           in_scratch("b")),
                   0);
  assert_int_equal(program("eval --set eval.start=0 --set eval.reference=%s --set eval.test=%s "
                           "--out %s",
                           in_scratch("a/ecgsyn.atr"), in_scratch("b/ecgsyn.qrs"), in_scratch("c")),
                   0);
  const scores s = read_scores(in_scratch("c"));
  assert_string_equal(s.record, "ecgsyn");
  assert_true(s.tp > 40 && s.fn <= 2 && s.fp <= 2); /* a beat at the edge of a gap may be lost */
  assert_non_null(strstr(printed(), s.ppv));
  assert_int_equal(program("run " TINY "--out %s", in_scratch("d")), 0);
  assert_true(event_number(in_scratch("d"), "run_end", "beats") > 40);
}

static void a_page_says_what_tables_and_events_say(void **state)
{
  static const char *const same[] = {"samples", "absent", "beats"};
  static const char *const also[][2] = {{"stages", "stages"},
                                        {"chunks", "chunks"},
                                        {"skipped", "chunks skipped"},
                                        {"buffer_bytes", "buffers (bytes)"}};
  const char *dir = in_scratch("b");
  char text[96];

  assert_int_equal(program("prepare " TINY "--out %s", in_scratch("a")), 0);
  assert_int_equal(program("run " TINY "--out %s", dir), 0);
  for (int i = 0; i < 3; i++) {
    (void)snprintf(text, sizeof text, "%.0f", event_number(dir, "run_end", same[i]));
    assert_string_equal(cell_after(dir, "summary", same[i]), text);
  }
  for (int i = 0; i < 4; i++) {
    (void)snprintf(text, sizeof text, "%.0f", event_number(dir, "run_end", also[i][0]));
    assert_string_equal(cell_after(dir, "throughput", also[i][1]), text);
  }
  assert_string_equal(cell_after(dir, "throughput", "engine"),
                      weir_tier_name((weir_tier)((int)WEIR_TIER_REFERENCE +
                                                 (int)event_number(dir, "run_end", "tier"))));
  assert_string_equal(cell_after(dir, "summary", "duration (h:mm:ss)"), "0:01:00");
  const double median = event_number(dir, "run_end", "rr_median_s");
  assert_true(fabs(median - event_number(dir, "run_end", "rr_mean_s")) < 0.1);
  assert_true(event_number(dir, "run_end", "rr_iqr_s") < 0.2);
  assert_int_equal(program("eval --set eval.start=0 --set eval.reference=%s --set eval.test=%s "
                           "--out %s",
                           in_scratch("a/ecgsyn.atr"), in_scratch("b/ecgsyn.qrs"), in_scratch("c")),
                   0);
  assert_non_null(strstr(printed(), "scored from 0 s"));
  assert_null(strstr(printed(), "different names"));
  const scores s = read_scores(in_scratch("c"));
  (void)snprintf(text, sizeof text, "%lld of %lld beats of the reference were found (sensitivity ",
                 s.tp, s.tp + s.fn);
  assert_non_null(strstr(printed(), text));
  (void)snprintf(text, sizeof text, "; %lld of %lld detections are no beats of it ", s.fp,
                 s.tp + s.fp);
  assert_non_null(strstr(printed(), text));
  (void)snprintf(text, sizeof text, "%lld", s.tp);
  assert_string_equal(cell_after(in_scratch("c"), "scores", "ecgsyn"), text);
  assert_true((double)s.tp == event_number(in_scratch("c"), "score", "tp"));
  assert_string_equal(cell_after(in_scratch("c"), "run", "beats"),
                      cell_after(dir, "summary", "beats"));
  assert_int_equal(rename(in_scratch("b/ecgsyn.qrs"), in_scratch("b/other.qrs")), 0);
  assert_int_equal(program("eval --set eval.start=0 --set eval.reference=%s --set eval.test=%s "
                           "--out %s",
                           in_scratch("a/ecgsyn.atr"), in_scratch("b/other.qrs"), in_scratch("d")),
                   0);
  assert_non_null(strstr(printed(), "different names"));
  assert_true(weir_file_exists(in_scratch("b/figures/strip.svg")));
  assert_true(weir_file_exists(in_scratch("b/figures/rr_histogram.csv")));
}

/* Every group of the table moves the bytes of its event. */
static void the_table_of_data_movement_is_that_of_the_events(void **state)
{
  weir_run_log log = {0};

  assert_int_equal(program("run " TINY "--threads 1 --out %s", in_scratch("b")), 0);
  assert_ok(weir_run_log_read(in_scratch("b/run.jsonl"), &log));
  char *page = contents(in_scratch("b/report.html"));
  const char *at = strstr(page, "<table id=\"groups\">");
  int groups = 0;

  assert_non_null(at);
  for (int64_t i = 0; i < log.count; i++) {
    const weir_run_event *e = &log.events[i];
    char text[96];

    if (strcmp(e->name, "group") != 0) {
      continue;
    }
    (void)snprintf(text, sizeof text,
                   "<td class=\"number\">%.0f</td><td class=\"number\">%.0f</td>",
                   weir_run_event_real(e, "flops", -1), weir_run_event_real(e, "bytes", -1));
    at = strstr(at, text);
    assert_non_null(at);
    assert_true(weir_run_event_real(e, "bytes", -1) > 0);
    at++;
    groups++;
  }
  assert_true(groups >= 2);
  free(page);
  weir_run_log_fini(&log);
}

static void beats_stand_in_three_files_alike(void **state)
{
  weir_annotations a;
  int64_t n = 0, before = -1;

  assert_int_equal(program("run " TINY "--out %s", in_scratch("b")), 0);
  assert_ok(weir_annotations_read(in_scratch("b/ecgsyn.qrs"), &a));
  for (int64_t i = 0; i < a.count; i++) { /* gaps are marked between the beats */
    if (a.items[i].code != WEIR_ANN_NOISE) {
      a.items[n++] = a.items[i];
    }
  }
  a.count = n;
  n = 0;
  char *csv = contents(in_scratch("b/beats.csv"));
  const char *line = strchr(csv, '\n') + 1;
  for (; *line != 0; line = strchr(line, '\n') + 1, n++) {
    const int64_t sample = atoll(line);
    assert_true(n < a.count && a.items[n].time == sample && sample > before);
    assert_true(weir_annotation_is_beat(a.items[n].code));
    before = sample;
  }
  assert_int_equal(n, a.count);
  assert_true(a.fs_num == 256 && a.fs_den == 1); /* known without the record */
  assert_int_equal(n, (int64_t)event_number(in_scratch("b"), "run_end", "beats"));
  assert_true(weir_file_exists(in_scratch("b/beats.nc")) == weir_netcdf_available());
  assert_true(weir_netcdf_available() || strstr(printed(), "no NetCDF") != NULL);
  if (weir_netcdf_available()) {
    const int64_t zero = 0;
    weir_netcdf_shape shape;
    weir_netcdf *nc = NULL;
    int64_t *sample = malloc((size_t)n * sizeof *sample);
    int var;

    assert_ok(weir_netcdf_open(in_scratch("b/beats.nc"), &nc));
    assert_ok(weir_netcdf_find(nc, "sample", &var, &shape));
    assert_int_equal(shape.lengths[0], n);
    assert_ok(weir_netcdf_read_whole(nc, var, &shape, &zero, &n, sample));
    for (int64_t i = 0; i < n; i++) {
      assert_int_equal(sample[i], a.items[i].time);
    }
    assert_ok(weir_netcdf_find(nc, "flags", &var, &shape));
    uint8_t *flags = malloc((size_t)n);
    assert_ok(weir_netcdf_read(nc, var, &zero, &n, flags));
    assert_int_equal(flags[0], 1);
    int64_t gaps = 0;
    for (int64_t i = 1; i < n; i++) {
      gaps += flags[i] == 2;
    }
    assert_true(gaps > 0 && gaps < n / 2);
    free(flags);
    free(sample);
    weir_netcdf_close(&nc);
  }
  free(csv);
  weir_annotations_fini(&a);
}

static void features_need_netcdf(void **state)
{
  const int status = program("run " TINY "--set output.features=true --out %s", in_scratch("b"));

  assert_int_equal(status, weir_netcdf_available() ? 0 : 7);
  assert_true(weir_netcdf_available() ? weir_file_exists(in_scratch("b/features.nc"))
                                      : only_log(in_scratch("b")));
  if (weir_netcdf_available()) {
    const int64_t from = 100, two = 2;
    int64_t time[2] = {0, 0};
    weir_netcdf_shape shape;
    weir_netcdf *nc = NULL;
    int var = 0;

    assert_ok(weir_netcdf_open(in_scratch("b/features.nc"), &nc));
    assert_ok(weir_netcdf_find(nc, "time", &var, &shape));
    assert_int_equal(shape.lengths[0], 60 * 256);
    assert_ok(weir_netcdf_read_whole(nc, var, &shape, &from, &two, time));
    assert_int_equal(time[0], 390625); /* 100 / 256 s */
    assert_int_equal(time[1], 394531);
    weir_netcdf_close(&nc);
  }
}

static void describe_and_bench_and_options_print(void **state)
{
  assert_int_equal(program("describe --all " TINY), 0);
  assert_non_null(strstr(printed(), "decide_beats"));
  assert_int_equal(program("bench " TINY "--set bench.duration=60 --set bench.repeats=2 --out %s",
                           in_scratch("b")),
                   0);
  assert_true(event_number(in_scratch("b"), "bench_end", "samples_per_s") > 0);
  assert_true(weir_file_exists(in_scratch("b/bench.csv")));
  assert_int_equal(program("options"), 0);
  assert_non_null(strstr(printed(), "detect.threshold"));
}

static void words_that_are_no_command_are_explained(void **state)
{
  assert_int_equal(program("run %s", in_scratch("b")), 2);
  assert_non_null(strstr(printed(), "the command takes no arguments: name the input with --input"));
  assert_int_equal(program("site evla"), 2);
  assert_non_null(strstr(printed(), "prepare|check|stats|eval|approve|run|merge (nearest: eval)"));
  assert_int_equal(program("site"), 2);
  assert_non_null(strstr(printed(), "site: an argument is missing: give one of "
                                    "prepare|check|stats|eval|approve|run|merge"));
}

/* Nothing is computed of a recording that nobody named. */
static void the_built_in_recording_has_to_be_asked_for(void **state)
{
  assert_int_equal(program("run --out %s", in_scratch("b")), 2);
  assert_non_null(strstr(printed(), "no recording is named: give --input PATH"));
  assert_false(weir_file_exists(in_scratch("b")));
  assert_int_equal(program("describe --set input.signal=ECG"), 2);
  assert_non_null(strstr(printed(), "no recording is named"));
#ifdef HAVE_CONFIG_FILES
  static const char empty[] = "\xef\xbb\xbf# input:\n#   record: 100\n";

  weir_check_write(in_scratch("empty.yaml"), empty, sizeof empty - 1);
  assert_int_equal(program("run --config %s --out %s", in_scratch("empty.yaml"), in_scratch("b")),
                   2);
  assert_non_null(strstr(printed(), "no recording is named"));
#endif
  /* The default, where it is stated. */
  assert_int_equal(program("run --set ecgsyn.seconds=1 --out %s", in_scratch("b")), 2);
  assert_int_equal(program("run --set ecgsyn.gaps.missing=0 --out %s", in_scratch("b")), 0);
  assert_non_null(
      strstr(printed(), "no recording is named: the built-in one, which is synthetic, is read"));
  assert_int_equal(program("run --input %s --out %s", in_scratch("none"), in_scratch("c")), 3);
}

static void shipped_configurations_run(void **state)
{
#ifdef HAVE_CONFIG_FILES
  const char *features = weir_netcdf_available() ? "" : "--set output.features=false";

  assert_int_equal(program("prepare --config %s/ecgsyn.yaml --out %s", CONFIGS, in_scratch("a")),
                   0);
  assert_int_equal(program("run --config %s/detect.yaml --out %s", CONFIGS, in_scratch("b")), 0);
  assert_int_equal(program("eval --config %s/detect.yaml --set eval.reference=%s --set "
                           "eval.test=%s --out %s",
                           CONFIGS, in_scratch("a/ecgsyn.atr"), in_scratch("b/ecgsyn.qrs"),
                           in_scratch("c")),
                   0);
  const scores s = read_scores(in_scratch("c"));
  assert_true(s.tp > 1000 && s.fn == 0 && s.fp == 0);
  assert_string_equal(s.se, "100.00");
  assert_string_equal(s.ppv, "100.00");
  assert_int_equal(
      program("run --config %s/tiny.yaml %s --out %s", CONFIGS, features, in_scratch("d")), 0);
  assert_int_equal(program("bench --config %s/bench.yaml --set bench.duration=60 --out %s", CONFIGS,
                           in_scratch("e")),
                   0);
#else
  assert_int_equal(program("run --config %s/tiny.yaml --out %s", CONFIGS, in_scratch("b")), 7);
#endif
}

static void a_folder_with_results_is_replaced_only_when_told(void **state)
{
  assert_int_equal(program("run " TINY "--out %s", in_scratch("b")), 0);
  weir_check_write(in_scratch("b/mine.txt"), "x", 1);
  assert_int_equal(program("run " TINY "--out %s", in_scratch("b")), 2);
  assert_non_null(strstr(printed(), "--overwrite"));
  assert_true(weir_file_exists(in_scratch("b/ecgsyn.qrs")));
  assert_int_equal(
      program("run " TINY "--set output.strip=0 --out %s --overwrite", in_scratch("b")), 0);
  assert_false(weir_file_exists(in_scratch("b/figures/strip.svg")));
  assert_true(weir_file_exists(in_scratch("b/ecgsyn.qrs")));
  assert_true(weir_file_exists(in_scratch("b/mine.txt")));
  assert_int_equal(program("run " TINY), 2);
}

/* Results of a run go when the next one has its own, and not for a mistake. */
static void a_run_that_fails_leaves_the_earlier_results(void **state)
{
  static const char *const mistakes[] = {
      "--set input.record=/nowhere/x",
      "--set input.record=%s --set input.signal=nothing",
      "--set input.record=%s --set 'query.streams=[{name: e}]' "
      "--set 'query.steps=[{name: b, from: [missing], do: shift}]' "
      "--set 'query.outputs=[{stream: b}]'",
      "--set input.records=[/nowhere/x,/nowhere/y]",
      "--set input.records=[%s] --set input.signal=nothing",
  };
  const char *dir = in_scratch("b"), *log = in_scratch("b/run.jsonl");

  assert_int_equal(program("prepare " TINY "--out %s", in_scratch("r")), 0);
  assert_int_equal(program("run --set input.record=%s --out %s", in_scratch("r/ecgsyn"), dir), 0);
  char *before = contents(log);

  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    char mistake[1024];
    const char *at = strstr(mistakes[i], "%s");
    const int n = at == NULL ? (int)strlen(mistakes[i]) : (int)(at - mistakes[i]);

    (void)snprintf(mistake, sizeof mistake, "%.*s%s%s", n, mistakes[i],
                   at == NULL ? "" : in_scratch("r/ecgsyn"), at == NULL ? "" : at + 2);
    assert_int_not_equal(program("run --overwrite %s --out %s", mistake, dir), 0);
    char *after = contents(log);

    assert_string_equal(before, after);
    free(after);
    assert_true(weir_file_exists(in_scratch("b/ecgsyn.qrs")));
    assert_true(weir_file_exists(in_scratch("b/figures/strip.svg")));
    /* A name that the query has not is found before the folder is looked at. */
    assert_true((strstr(printed(), "are unchanged") != NULL) ==
                (strstr(mistake, "missing") == NULL));
  }
  free(before);
}

static void overwriting_leaves_nothing_of_another_query(void **state)
{
  static const char query[] = "--set 'query.streams=[{name: %s}]' --set "
                              "'query.outputs=[{stream: %s, format: csv}]'";
  char one[256], two[256];

  (void)snprintf(one, sizeof one, query, "c", "c");
  (void)snprintf(two, sizeof two, query, "d", "d");
  const char *dir = in_scratch("b");

  assert_int_equal(program("run " TINY "%s --out %s", one, dir), 0);
  weir_check_write(in_scratch("b/program.c"), "x", 1);
  weir_check_write(in_scratch("b/mine.csv"), "x", 1);
  assert_true(weir_file_exists(in_scratch("b/c.csv")));
  assert_int_equal(program("run --overwrite " TINY "%s --out %s", two, dir), 0);
  assert_true(weir_file_exists(in_scratch("b/d.csv")));
  assert_false(weir_file_exists(in_scratch("b/c.csv")));
  assert_true(weir_file_exists(in_scratch("b/program.c")));
  assert_true(weir_file_exists(in_scratch("b/mine.csv")));
  assert_int_equal(program("run --overwrite " TINY "--out %s", dir), 0);
  assert_false(weir_file_exists(in_scratch("b/d.csv")));
}

static void a_stop_and_a_missing_device_are_told_without_a_stack(void **state)
{
  const char *const stop = "timeout --foreground --preserve-status -s INT 1";

  assert_int_equal(program_under(stop, "run --set ecgsyn.duration=1e8 --out %s", in_scratch("b")),
                   9);
  assert_non_null(strstr(printed(), "stopped by the user"));
  assert_non_null(strstr(printed(), "no result was written; the same command may be run again"));
  assert_null(strstr(printed(), ".c:"));
  assert_null(strstr(printed(), "error"));
  assert_int_equal(program("run " TINY "--out %s", in_scratch("b")), 0);
  assert_int_equal(
      program_under(stop, "run --overwrite --set ecgsyn.duration=1e8 --out %s", in_scratch("b")),
      9);
  assert_non_null(strstr(printed(), "the earlier results are kept"));
  assert_true(weir_file_exists(in_scratch("b/ecgsyn.qrs")));
  assert_int_equal(program("run " TINY "--device cuda --out %s", in_scratch("c")), 7);
  assert_non_null(strstr(printed(), "omit --device"));
  assert_null(strstr(printed(), ".c:"));
}

/* Input that an earlier command wrote into the same folder is not a result to be replaced. */
static void overwriting_spares_what_other_commands_wrote(void **state)
{
  const char *dir = in_scratch("b");

  assert_int_equal(program("prepare " TINY "--out %s", dir), 0);
  assert_int_equal(
      program("run --overwrite --set input.record=%s --out %s", in_scratch("b/ecgsyn"), dir), 0);
  assert_int_equal(program("eval --overwrite --set eval.start=0 --set eval.reference=%s --set "
                           "eval.test=%s --out %s",
                           in_scratch("b/ecgsyn.atr"), in_scratch("b/ecgsyn.qrs"), dir),
                   0);
  assert_true(weir_file_exists(in_scratch("b/ecgsyn.dat")));
  assert_true(weir_file_exists(in_scratch("b/scores.csv")));
  assert_int_not_equal(
      program("eval --overwrite --set eval.reference=%s --set eval.test=/nowhere/x "
              "--out %s",
              in_scratch("b/ecgsyn.atr"), dir),
      0);
  assert_non_null(strstr(printed(), "are unchanged"));
  assert_true(weir_file_exists(in_scratch("b/scores.csv")));
}

static void wait_a_little(void)
{
  const struct timespec ms = {.tv_nsec = 20 * 1000 * 1000};

  (void)nanosleep(&ms, NULL);
}

static void a_signal_stops_after_the_chunk_and_removes_results(void **state)
{
  const char *dir = in_scratch("b"), *log = in_scratch("b/run.jsonl");
  const char *features = weir_netcdf_available() ? "true" : "false";
  int status = 0;

  const pid_t child = program_start(
      "run --set ecgsyn.duration=1e7 --set output.features=%s --out %s", features, dir);
  for (int i = 0; i < 1500; i++) {
    char *text = weir_file_exists(log) ? contents(log) : NULL;
    const bool running = text != NULL && strstr(text, "stream_plan") != NULL;
    free(text);
    if (running) {
      break;
    }
    wait_a_little();
  }
  wait_a_little();
  assert_int_equal(kill(child, SIGTERM), 0);
  assert_true(waitpid(child, &status, 0) == child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 9);
  assert_true(only_log(dir));
  assert_int_equal(event_count(dir, "failed"), 1);
}

static void no_compiler_gives_the_same_beats(void **state)
{
  assert_int_equal(program("run " TINY "--out %s", in_scratch("b")), 0);
  assert_int_equal(program_under("env PATH=/nowhere",
                                 "run " TINY "--set exec.cache_dir=%s --out %s",
                                 in_scratch("cache"), in_scratch("c")),
                   0);
  assert_true(event_number(in_scratch("c"), "run_end", "tier") <
              weir_tier_number(WEIR_TIER_NATIVE));
  assert_true(same_contents(in_scratch("b/beats.csv"), in_scratch("c/beats.csv")));
  assert_true(same_contents(in_scratch("b/ecgsyn.qrs"), in_scratch("c/ecgsyn.qrs")));
  assert_int_equal(program_under("env PATH=/nowhere",
                                 "run " TINY "--set exec.tier=native --set exec.cache_dir=%s "
                                 "--out %s",
                                 in_scratch("cache"), in_scratch("d")),
                   7);
  assert_false(weir_file_exists(in_scratch("d"))); /* no plan, no folder */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(prepare_writes_a_record_with_its_beats),
      TEST(a_run_finds_all_beats_and_eval_says_so),
      TEST(a_page_says_what_tables_and_events_say),
      TEST(the_table_of_data_movement_is_that_of_the_events),
      TEST(beats_stand_in_three_files_alike),
      TEST(features_need_netcdf),
      TEST(describe_and_bench_and_options_print),
      TEST(words_that_are_no_command_are_explained),
      TEST(the_built_in_recording_has_to_be_asked_for),
      TEST(shipped_configurations_run),
      TEST(a_folder_with_results_is_replaced_only_when_told),
      TEST(a_run_that_fails_leaves_the_earlier_results),
      TEST(overwriting_leaves_nothing_of_another_query),
      TEST(a_stop_and_a_missing_device_are_told_without_a_stack),
      TEST(overwriting_spares_what_other_commands_wrote),
      TEST(a_signal_stops_after_the_chunk_and_removes_results),
      TEST(no_compiler_gives_the_same_beats),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
