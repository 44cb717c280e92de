/* live.c - live input gives the files of a run of the same samples: by pipe and socket, with
 * disorder, duplicates, missing samples and samples later than the bound; how it ends. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/weir_file.h"
#include "io/weir_netcdf.h"
#include "io/weir_record_writer.h"
#include "io/weir_wire.h"
#include "program.h"

#define RECORD                                                                              \
  "--set ecgsyn.duration=60 --set ecgsyn.noise.white=true --set ecgsyn.noise.white_snr=20 " \
  "--set ecgsyn.gaps.missing=0.1 --set ecgsyn.gaps.mean=2 "
#define FAST "--log warn --set replay.speed=0 "
enum { RATE = 256, SLOTS = 60 * RATE };

static int make_run(void **state)
{
  (void)make_scratch(state);
  assert_int_equal(program("prepare " RECORD "--out %s", in_scratch("r")), 0);
  assert_int_equal(
      program("run --set input.record=%s --out %s", in_scratch("r/ecgsyn"), in_scratch("archive")),
      0);
  return 0;
}

static void assert_same_files(const char *a, const char *b)
{
  static const char *const names[] = {"ecgsyn.qrs", "beats.csv", "beats.nc"};

  for (int i = 0; i < (weir_netcdf_available() ? 3 : 2); i++) {
    char one[PATH], two[PATH];

    (void)snprintf(one, sizeof one, "%s/%s", a, names[i]);
    (void)snprintf(two, sizeof two, "%s/%s", b, names[i]);
    assert_true(same_contents(one, two));
  }
}

/* Waits until `text` stands in the file; the test's own time limit ends it otherwise. */
static void wait_for(const char *path, const char *text)
{
  const struct timespec ms = {.tv_nsec = 5 * 1000 * 1000};

  for (bool found = false; !found;) {
    char *all = weir_file_exists(path) ? contents(path) : NULL;

    found = all != NULL && strstr(all, text) != NULL;
    free(all);
    if (!found) {
      (void)nanosleep(&ms, NULL);
    }
  }
}

static int exit_of(pid_t child)
{
  int status = 0;

  assert_true(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void disorder_within_the_bound_changes_nothing(void **state)
{
  char where[64];

  for (int k = 0; k < 2; k++) { /* a port that is free, a socket file */
    const char *dir = in_scratch("live%d", k), *log = in_scratch("live%d/run.jsonl", k);
    const char *path = in_scratch("socket");

    (void)snprintf(where, sizeof where, k == 0 ? "tcp:0" : "unix:%s", path);
    const pid_t child =
        program_start("run --threads %d --log error --input %s --out %s", k + 1, where, dir);

    wait_for(log, "live_listen");
    if (k == 0) {
      (void)snprintf(where, sizeof where, "tcp:%.0f", event_number(dir, "live_listen", "port"));
    }
    /* The run keeps writing to the file, the replay begins a log of its own. */
    (void)rename(in_scratch("log"), in_scratch("followed%d", k));
    assert_int_equal(program("replay " FAST "--set input.record=%s --set replay.to=%s --set "
                             "replay.shuffle=1.9 --set replay.duplicates=0.1 --set "
                             "replay.jitter=0.0015",
                             in_scratch("r/ecgsyn"), where),
                     0);
    assert_int_equal(exit_of(child), 0);
    assert_same_files(in_scratch("archive"), dir);
    /* What was printed as it came is the table. */
    assert_true(same_contents(in_scratch("followed%d", k), in_scratch("archive/beats.csv")));
    assert_true(event_number(dir, "live_end", "late") == 0);
    assert_true(event_number(dir, "live_end", "duplicate") > 500);
    assert_true(event_number(dir, "live_end", "backward") > 1000);
    assert_true(event_number(dir, "live_end", "snapped") > 5000);
    assert_true(event_number(dir, "stream_end", "chunk_p99_s") > 0);
    assert_true(event_number(dir, "run_end", "samples") == SLOTS);
    assert_true(event_number(dir, "run_end", "absent") ==
                event_number(in_scratch("archive"), "run_end", "absent"));
  }
}

/* What replay sends, as a file. */
static const char *make_lines(int seed, const char *options)
{
  assert_int_equal(
      program("replay " FAST "--seed %d --input %s %s", seed, in_scratch("r/ecgsyn"), options), 0);
  assert_int_equal(rename(in_scratch("log"), in_scratch("lines")), 0);
  return in_scratch("lines");
}

/* Which of the lines count, by the definition: slot by slot, newest less two seconds. Writes the
 * record that holds them. Returns how many were late. */
static int64_t write_kept(const char *lines, const char *record)
{
  static float x[SLOTS];
  static uint8_t present[SLOTS];
  const weir_record_channel channel = {.name = "ECG", .units = "mV", .gain = 5000};
  const weir_record_spec spec = {
      .fs_num = RATE, .fs_den = 1, .n_channels = 1, .channels = &channel, .format = 16};
  const float *const values[] = {x};
  const uint8_t *const there[] = {present};
  weir_record_writer *w = NULL;
  char *text = contents(lines);
  int64_t newest = 0, late = 0;

  memset(present, 0, sizeof present);
  for (char *line = strstr(text, "\nECG,"); line != NULL; line = strstr(line + 1, "\nECG,")) {
    double t = 0, v = 0;

    assert_int_equal(sscanf(line, "\nECG,%lf,%lf", &t, &v), 2);
    const int64_t slot = llround(t * RATE);

    if (slot < newest - 2 * RATE) {
      late++;
    } else if (present[slot] == 0) {
      present[slot] = 1;
      x[slot] = (float)v;
      newest = slot > newest ? slot : newest;
    }
  }
  free(text);
  assert_ok(weir_record_writer_open(record, &spec, &w));
  assert_ok(weir_record_writer_append(w, SLOTS, values, there));
  assert_ok(weir_record_writer_commit(&w));
  return late;
}

static void samples_beyond_the_bound_are_as_if_absent(void **state)
{
  for (int seed = 1; seed <= 2; seed++) {
    const char *kept = in_scratch("kept%d/ecgsyn", seed);
    const char *live = in_scratch("live%d", seed), *archive = in_scratch("absent%d", seed);
    const char *lines =
        make_lines(seed, "--set replay.shuffle=1 --set replay.duplicates=0.05 --set "
                         "replay.drop=0.01 --set replay.late=0.02 --set replay.late_by=3");

    assert_ok(weir_dir_create(in_scratch("kept%d", seed)));
    const int64_t late = write_kept(lines, kept);

    assert_true(late > 100);
    assert_int_equal(program("run --set output.follow=false --input - --out %s <%s", live, lines),
                     0);
    assert_true(event_number(live, "live_end", "late") == (double)late);
    assert_int_equal(program("run --input %s --out %s", kept, archive), 0);
    assert_same_files(archive, live);
  }
}

static void a_pipe_of_two_programs_works_as_the_manual_says(void **state)
{
  assert_int_equal(program("replay " FAST "--input %s | %s run --input - --log warn --out %s",
                           in_scratch("r/ecgsyn"), PROGRAM, in_scratch("live")),
                   0);
  assert_same_files(in_scratch("archive"), in_scratch("live"));
}

/* More beats than the most slots that the planner chooses could hold. */
static void a_long_chunk_gives_all_its_beats(void **state)
{
  assert_int_equal(program("prepare --overwrite --set ecgsyn.duration=590 --set "
                           "ecgsyn.model.heart_rate=180 --out %s",
                           in_scratch("r")),
                   0);
  assert_int_equal(program("run --overwrite --set input.record=%s --out %s", in_scratch("r/ecgsyn"),
                           in_scratch("archive")),
                   0);
  assert_int_equal(program("replay " FAST "--input %s | %s run --input - --log warn --set "
                           "input.lateness=600 --set stream.live_window=600 --out %s",
                           in_scratch("r/ecgsyn"), PROGRAM, in_scratch("live")),
                   0);
  assert_same_files(in_scratch("archive"), in_scratch("live"));
}

static int64_t rows_of(const char *path)
{
  char *text = contents(path);
  int64_t n = 0;

  for (const char *c = text; *c != 0; c++) {
    n += *c == '\n';
  }
  free(text);
  return n;
}

/* The sender stays, silent; the signal comes once beats are out. */
static void a_signal_ends_with_what_is_final(void **state)
{
  const char *dir = in_scratch("live"), *path = in_scratch("s"), *followed = in_scratch("log");
  char *text = NULL, address[PATH + 8];
  weir_wire *to = NULL;

  (void)make_lines(1, "");
  (void)snprintf(address, sizeof address, "unix:%s", path);
  const pid_t child = program_start("run --log error --input %s --out %s", address, dir);

  wait_for(in_scratch("live/run.jsonl"), "live_listen");
  assert_ok(weir_wire_connect(address, false, 10, &to));
  text = contents(in_scratch("lines"));
  assert_ok(weir_wire_send(to, text, (int64_t)strlen(text) * 2 / 3));
  wait_for(followed, "\n5");
  assert_int_equal(kill(child, SIGTERM), 0);
  assert_int_equal(exit_of(child), 0);
  weir_wire_close(&to);
  free(text);
  char *some = contents(in_scratch("live/beats.csv")),
       *all = contents(in_scratch("archive/beats.csv"));

  assert_true(rows_of(in_scratch("live/beats.csv")) > 5);
  /* The detector may still have moved the last one. */
  *strrchr(some, '\n') = 0;
  assert_memory_equal(some, all, (size_t)(strrchr(some, '\n') - some));
  free(some);
  free(all);
  assert_true(event_number(dir, "run_end", "samples") < SLOTS);
}

static void silence_ends_a_run_when_told(void **state)
{
  char *text = contents(make_lines(1, "")), address[PATH + 8];
  weir_wire *to = NULL;

  (void)snprintf(address, sizeof address, "unix:%s", in_scratch("s"));
  const pid_t child = program_start("run --set output.follow=false --set input.timeout=0.3 --input "
                                    "%s --out %s",
                                    address, in_scratch("live"));

  wait_for(in_scratch("live/run.jsonl"), "live_listen");
  assert_ok(weir_wire_connect(address, false, 10, &to));
  assert_ok(weir_wire_send(to, text, (int64_t)strlen(text) / 2));
  assert_int_equal(exit_of(child), 0);
  weir_wire_close(&to);
  free(text);
  assert_non_null(strstr(printed(), "the input has ended"));
  assert_true(event_number(in_scratch("live"), "live_end", "kept") > 5000);
}

static void what_is_no_live_input_is_refused(void **state)
{
  static char noise[100000];

  for (size_t i = 0; i < sizeof noise; i++) {
    noise[i] = (char)(i * 7919 >> 3);
  }
  weir_check_write(in_scratch("noise"), noise, sizeof noise);
  assert_int_equal(program("run --input - --out %s <%s", in_scratch("a"), in_scratch("noise")), 3);
  assert_true(only_log(in_scratch("a")));
  assert_int_equal(program("run --input - --out %s </dev/null", in_scratch("b")), 3);
  assert_non_null(strstr(printed(), "without a #stream line"));
  static const char *const rates[][2] = {{"0", "above 0 Hz"},
                                         {"-5", "above 0 Hz"},
                                         {"NaN", "a number of Hz"},
                                         {"1e300", "at most 1e6 Hz"}};

  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    char lines[128], word[64];

    (void)snprintf(word, sizeof word, "line 2: 'fs=%s'", rates[i][0]);
    (void)snprintf(lines, sizeof lines, "#weir 1\n#stream ecg fs=%s unit=mV\necg,0,1\n",
                   rates[i][0]);
    weir_check_write(in_scratch("rate"), lines, strlen(lines));
    assert_int_equal(
        program("run --overwrite --input - --out %s <%s", in_scratch("f"), in_scratch("rate")), 3);
    assert_non_null(strstr(printed(), word));
    assert_non_null(strstr(printed(), rates[i][1]));
  }
  assert_int_equal(program("run --input tcp:0.0.0.0:0 --out %s", in_scratch("c")), 2);
  assert_non_null(strstr(printed(), "remote=true"));
  weir_check_write(in_scratch("two"), "#stream a fs=1\n#stream b fs=1\na,0,1\n", 37);
  assert_int_equal(program("run --input - --out %s <%s", in_scratch("d"), in_scratch("two")), 2);
  assert_non_null(strstr(printed(), "a (no unit), b (no unit)"));
  assert_int_equal(program("run --input - --set input.record=x --out %s", in_scratch("e")), 2);
  assert_int_equal(program("describe --input -"), 2);
}

/* A query on two streams of different rates that come through one connection. */
static void a_query_of_two_streams_is_that_of_the_record(void **state)
{
#ifndef HAVE_CONFIG_FILES
  printf("skipped: this build reads no YAML\n");
  skip();
#endif
  static const char query[] = "query:\n"
                              "  streams: [{name: ecg, signal: ECG}, {name: abp, signal: ABP}]\n"
                              "  steps:\n"
                              "    - {name: fast, from: [abp], do: {resample: {rate: 500}}}\n"
                              "    - {name: z, from: [fast], do: {normalize: {window: 5}}}\n"
                              "    - {name: pair, from: [ecg, z], do: {join: {kind: inner}}}\n"
                              "  outputs: [{stream: pair, format: csv}]\n";

  weir_check_write(in_scratch("q.yaml"), query, sizeof query - 1);
  assert_int_equal(program("prepare --set ecgsyn.duration=40 --set ecgsyn.model.rate=500 --set "
                           "ecgsyn.abp.on=true --set ecgsyn.abp.gaps.missing=0.2 --set "
                           "ecgsyn.abp.gaps.mean=2 --out %s",
                           in_scratch("two")),
                   0);
  assert_int_equal(program("run --config %s --input %s --out %s", in_scratch("q.yaml"),
                           in_scratch("two/ecgsyn"), in_scratch("a")),
                   0);
  assert_int_equal(program("replay " FAST "--input %s --set replay.shuffle=1 --set "
                           "replay.duplicates=0.05 | %s run --config %s --input - --log warn --out "
                           "%s",
                           in_scratch("two/ecgsyn"), PROGRAM, in_scratch("q.yaml"),
                           in_scratch("b")),
                   0);
  assert_true(rows_of(in_scratch("a/pair.csv")) > 10000);
  assert_true(same_contents(in_scratch("a/pair.csv"), in_scratch("b/pair.csv")));
  assert_true(event_number(in_scratch("b"), "live_end", "unused") == 0);
  assert_non_null(strstr(printed(), "#stream pair."));
}

/* What a query prints is what a further run reads: name, start and end come through, and the slots
 * after the last sample. Printing once more changes nothing. */
static void a_run_reads_what_a_run_prints(void **state)
{
#ifndef HAVE_CONFIG_FILES
  printf("skipped: this build reads no YAML\n");
  skip();
#endif
  static const char query[] = "query:\n"
                              "  streams: [{name: ecg, signal: ecg}]\n"
                              "  outputs: [{stream: ecg, format: csv}]\n";
  static const char *const heads[][2] = {
      {"#weir 1 record=bed7 start=2026-01-31T12:00:00.25Z",
       "#weir 1 record=bed7 start=2026-01-31T12:00:00.250000Z\n"},
      {"#weir 1 record=bed7", "#weir 1 record=bed7 start=0\n"},
      {"#weir 1", "#weir 1 record=live start=0\n"}};
  static const char *const ends[][2] = {{"#end time=15.003", "\n#end time=15.003\n"},
                                        {"#end", "\n#end time=9.604225859\n"}};
  static const double slots[] = {938, 600}; /* 15.003 s at 62.4725 Hz; up to the last sample */

  weir_check_write(in_scratch("q.yaml"), query, sizeof query - 1);
  for (int k = 0; k < 6; k++) {
    static char text[65536];
    const char *const one = in_scratch("one%d", k), *const two = in_scratch("two%d", k);
    const char *const lines = in_scratch("lines"), *const first = in_scratch("printed%d", k);
    int n = snprintf(text, sizeof text, "%s\n#stream ecg fs=62.4725 unit=mV\n", heads[k % 3][0]);

    for (int i = 0; i < 600; i++) {
      n += snprintf(text + n, sizeof text - (size_t)n, "ecg,%.9f,%d\n", i / 62.4725, i % 7);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "%s\n", ends[k / 3][0]);
    weir_check_write(lines, text, (size_t)n);
    assert_int_equal(program("run --config %s --log error --input - --out %s <%s",
                             in_scratch("q.yaml"), one, lines),
                     0);
    assert_int_equal(rename(in_scratch("log"), first), 0);
    assert_int_equal(program("run --config %s --log error --input - --out %s <%s",
                             in_scratch("q.yaml"), two, first),
                     0);
    char *out = contents(first);

    assert_memory_equal(out, heads[k % 3][1], strlen(heads[k % 3][1]));
    assert_non_null(strstr(out, ends[k / 3][1]));
    free(out);
    assert_true(same_contents(in_scratch("log"), first));
    assert_true(same_contents(in_scratch("one%d/ecg.csv", k), in_scratch("two%d/ecg.csv", k)));
    assert_true(event_number(one, "result", "slots") == slots[k / 3]);
    assert_true(event_number(two, "result", "slots") == slots[k / 3]);
    assert_true(event_number(two, "live_end", "malformed") == 0);
  }
}

/* Files are named after the record: a sender's name leads out of --out in no way. */
static void a_record_name_that_is_a_path_is_refused(void **state)
{
  static const char *const names[] = {"../../victim", "../victim", "a/b", "/tmp/victim", ".."};
  static const char query[] = "query:\n"
                              "  streams: [{name: ecg, signal: ecg}]\n"
                              "  outputs: [{stream: ecg, format: annotations}]\n";

  weir_check_write(in_scratch("q.yaml"), query, sizeof query - 1);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *const dir = in_scratch("top/out/run%d", (int)i);
    char lines[256], word[64];

    (void)snprintf(word, sizeof word, "line 1: 'record=%s': files are named after", names[i]);
    (void)snprintf(lines, sizeof lines,
                   "#weir 1 record=%s\n#stream ecg fs=250 unit=mV\necg,0,1\n#end time=60\n",
                   names[i]);
    weir_check_write(in_scratch("lines"), lines, strlen(lines));
    assert_ok(weir_dir_create(in_scratch("top/out")));
    assert_int_equal(program("run --input - --out %s <%s", dir, in_scratch("lines")), 3);
    assert_non_null(strstr(printed(), word));
    assert_true(only_log(dir));
#ifdef HAVE_CONFIG_FILES
    assert_int_equal(program("run --overwrite --config %s --input - --out %s <%s",
                             in_scratch("q.yaml"), dir, in_scratch("lines")),
                     3);
    assert_non_null(strstr(printed(), word));
    assert_true(only_log(dir));
#endif
    assert_false(weir_file_exists(in_scratch("top/victim.qrs")));
    assert_false(weir_file_exists(in_scratch("top/victim.ecg")));
    assert_false(weir_file_exists(in_scratch("top/out/victim.qrs")));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST_AFTER(make_run, disorder_within_the_bound_changes_nothing),
      TEST_AFTER(make_run, samples_beyond_the_bound_are_as_if_absent),
      TEST_AFTER(make_run, a_pipe_of_two_programs_works_as_the_manual_says),
      TEST_AFTER(make_run, a_long_chunk_gives_all_its_beats),
      TEST_AFTER(make_run, a_signal_ends_with_what_is_final),
      TEST_AFTER(make_run, silence_ends_a_run_when_told),
      TEST_AFTER(make_run, what_is_no_live_input_is_refused),
      TEST(a_run_reads_what_a_run_prints),
      TEST(a_record_name_that_is_a_path_is_refused),
      TEST_AFTER(make_run, a_query_of_two_streams_is_that_of_the_record),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
