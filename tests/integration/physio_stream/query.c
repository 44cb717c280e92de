/* query.c - queries as a user writes them: what they compute and write, and what is refused where.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_file.h"
#include "io/weir_annotation.h"
#include "io/weir_netcdf.h"
#include "io/weir_record.h"
#include "program.h"

/* The configuration SCRATCH/q.yaml; its lines are numbered from 1. */
static const char *yaml(const char *text)
{
#ifndef HAVE_CONFIG_FILES
  printf("skipped: this build reads no YAML\n");
  skip();
#endif
  weir_check_write(in_scratch("q.yaml"), text, strlen(text));
  return in_scratch("q.yaml");
}

/* A minute of the built-in recording with gaps. */
#define MINUTE                        \
  "ecgsyn:\n"                         \
  "  duration: 60\n"                  \
  "  gaps: {missing: 0.3, mean: 2}\n" \
  "query:\n"                          \
  "  streams: [{name: ecg, signal: ECG}]\n"

static const char shifts[] = MINUTE "  steps:\n"
                                    "    - {name: late, from: [ecg], do: {shift: {by: 0.25}}}\n"
                                    "    - {name: early, from: [late], do: {shift: {by: -0.25}}}\n"
                                    "  outputs:\n"
                                    "    - {stream: late}\n"
                                    "    - {stream: early, format: wfdb}\n"
                                    "    - {stream: early, format: annotations}\n"
                                    "    - {stream: ecg, format: csv}\n";

typedef struct row {
  double time, value;
} row;

static row *read_table(const char *path, int64_t *n)
{
  char *text = contents(path);
  row *rows = calloc(strlen(text) / 4 + 1, sizeof *rows);

  assert_non_null(rows);
  assert_true(strncmp(text, "time_s,value\n", 13) == 0);
  *n = 0;
  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    row *r = &rows[(*n)++];

    assert_int_equal(sscanf(line, "%lf,%lf", &r->time, &r->value), 2);
  }
  free(text);
  return rows;
}

/* Shifted and shifted back is what was read, but for the first quarter second past the end. */
static void a_query_writes_every_format(void **state)
{
  int64_t n = 0, m = 0;
  weir_record *record = NULL;
  weir_annotations marks;

  assert_int_equal(program("run --config %s --out %s", yaml(shifts), in_scratch("o")), 0);
  row *ecg = read_table(in_scratch("o/ecg.csv"), &n),
      *late = read_table(in_scratch("o/late.csv"), &m);
  assert_true(n > 4000 && n < 60 * 256 && m > n - 65 && m <= n);
  for (int64_t i = 0; i < m; i++) {
    assert_near(late[i].time, ecg[i].time + 0.25, 1e-6);
    assert_true(late[i].value == ecg[i].value);
  }
  assert_ok(weir_record_open(in_scratch("o/early"), NULL, &record));
  assert_int_equal(weir_record_signal(record, 0)->count, 60 * 256);
  assert_string_equal(weir_record_signal(record, 0)->units, "mV");
  assert_ok(weir_annotations_read(in_scratch("o/ecgsyn.early"), &marks));
  assert_true(marks.fs_num == 256 * marks.fs_den && marks.count == m);
  for (int64_t i = 0; i < m; i++) {
    const int64_t slot = llround(ecg[i].time * 256);
    float x = 0;
    uint8_t present = 0;

    assert_int_equal(marks.items[i].time, slot);
    assert_ok(weir_record_read(record, 0, slot, 1, &x, &present));
    assert_true(present && fabs((double)x - ecg[i].value) < 1e-4);
  }
  weir_record_close(&record);
  weir_annotations_fini(&marks);
  free(ecg);
  free(late);
  assert_int_equal(event_count(in_scratch("o"), "result"), 3);
  assert_true(event_number(in_scratch("o"), "query_end", "latency_s") > 0.25);
  assert_true(weir_file_exists(in_scratch("o/figures/stream_1.svg")));
  assert_string_equal(cell_after(in_scratch("o"), "results", "late"), "mV");
}

/* A signal is no list of events; its annotations are written all the same. */
static void annotations_of_a_signal_are_warned_of(void **state)
{
  assert_int_equal(program("run --config %s --set ecgsyn.gaps.missing=0 --out %s", yaml(shifts),
                           in_scratch("marks")),
                   0);
  assert_non_null(strstr(printed(), "early of ecgsyn: format: annotations marks each slot"));
  assert_non_null(strstr(printed(), "ecgsyn.early has 15296 annotations"));
}

static void netcdf_holds_what_the_table_holds(void **state)
{
  static float x[60 * 256];
  static int64_t us[60 * 256];
  const int64_t zero = 0, count = 60 * 256;
  weir_netcdf_shape shape;
  weir_netcdf *nc = NULL;
  int64_t n = 0, present = 0;
  int var = 0;

  assert_int_equal(program("run --config %s --out %s", yaml(shifts), in_scratch("o")), 0);
  assert_true(weir_file_exists(in_scratch("o/results.nc")) == weir_netcdf_available());
  if (!weir_netcdf_available()) {
    return;
  }
  row *late = read_table(in_scratch("o/late.csv"), &n);
  assert_ok(weir_netcdf_open(in_scratch("o/results.nc"), &nc));
  assert_ok(weir_netcdf_find(nc, "late", &var, &shape));
  assert_int_equal(shape.lengths[0], count);
  assert_ok(weir_netcdf_read(nc, var, &zero, &count, x));
  assert_ok(weir_netcdf_find(nc, "time_256", &var, &shape));
  assert_ok(weir_netcdf_read_whole(nc, var, &shape, &zero, &count, us));
  for (int64_t t = 0; t < count; t++) {
    assert_near((double)us[t], (double)t * 1e6 / 256, 0.51);
    if (!isnan(x[t])) {
      assert_true((float)late[present].value == x[t]);
      assert_near(late[present++].time, (double)us[t] * 1e-6, 1.1e-6);
    }
  }
  assert_int_equal(present, n);
  weir_netcdf_close(&nc);
  free(late);

  /* It is a record that a further run can read. */
  weir_record *r = NULL;

  assert_ok(weir_record_open(in_scratch("o/results.nc"), NULL, &r));
  assert_int_equal(weir_record_signals(r), 1);
  assert_string_equal(weir_record_signal(r, 0)->name, "late");
  assert_int_equal(weir_record_signal(r, 0)->fs_num, 256);
  weir_record_close(&r);
}

/* A row for each row of the table of the same stream, and none of one without events. */
static void events_are_a_table_of_netcdf(void **state)
{
  static float x[60 * 256];
  static int64_t us[60 * 256];
  const int64_t zero = 0;
  weir_netcdf_shape shape;
  weir_netcdf *nc = NULL;
  int64_t n = 0;
  int var = 0;
  const int status =
      program("run --config %s --out %s",
              yaml(MINUTE "  steps:\n"
                          "    - {name: r, from: [ecg], do: detect}\n"
                          "    - {name: none, from: [ecg], do: {where: {keep: 'ecg > 100 [mV]'}}}\n"
                          "  outputs:\n"
                          "    - {stream: r.rr, format: csv}\n"
                          "    - {stream: r.rr, format: events}\n"
                          "    - {stream: none, format: events}\n"),
              in_scratch("o"));

  if (!weir_netcdf_available()) {
    assert_int_equal(status, 7);
    assert_non_null(strstr(printed(), "a table of events cannot be written; format: csv can"));
    return;
  }
  assert_int_equal(status, 0);
  row *rows = read_table(in_scratch("o/r_rr.csv"), &n);

  assert_true(n > 5);
  assert_ok(weir_netcdf_open(in_scratch("o/r_rr_events.nc"), &nc));
  assert_ok(weir_netcdf_find(nc, "value", &var, &shape));
  assert_int_equal(shape.lengths[0], n);
  assert_ok(weir_netcdf_read(nc, var, &zero, &n, x));
  assert_ok(weir_netcdf_find(nc, "time", &var, &shape));
  assert_ok(weir_netcdf_read_whole(nc, var, &shape, &zero, &n, us));
  for (int64_t i = 0; i < n; i++) {
    assert_near((double)us[i] * 1e-6, rows[i].time, 1.1e-6);
    assert_true(x[i] == (float)rows[i].value);
  }
  weir_netcdf_close(&nc);
  free(rows);
  assert_ok(weir_netcdf_open(in_scratch("o/none_events.nc"), &nc));
  assert_ok(weir_netcdf_find(nc, "value", &var, &shape));
  assert_int_equal(shape.lengths[0], 0);
  weir_netcdf_close(&nc);
}

/* What is wrong is named with its place, and nothing but the log is left. */
static void refused(const char *text, const char *because)
{
  const int status = program("run --overwrite --config %s --out %s", yaml(text), in_scratch("o"));

  if (status != 2 || strstr(printed(), because) == NULL) {
    printf("status %d for\n%s\nexpected: %s\nprinted:\n%s\n", status, text, because, printed());
  }
  assert_int_equal(status, 2);
  assert_non_null(strstr(printed(), because));
  assert_true(!weir_file_exists(in_scratch("o")) || only_log(in_scratch("o")));
}

#define OUTPUT "  outputs: [{stream: a}]\n"

static void wrong_queries_are_refused_with_their_place(void **state)
{
  refused(MINUTE "  steps: [{name: a, from: [ecg], do: {shfit: {by: 1}}}]\n" OUTPUT, "q.yaml:6:");
  assert_non_null(strstr(printed(), "shift"));
  refused(MINUTE "  steps: [{name: a, from: [egc], do: {shift: {by: 1}}}]\n" OUTPUT,
          "q.yaml:6:27: step 'a': there is no stream 'egc' (nearest: ecg)");
  refused(MINUTE "  steps:\n    - {name: a, from: [b], do: shift}\n"
                 "    - {name: b, from: [a], do: shift}\n" OUTPUT,
          "q.yaml:7:23: step 'a': 'b' is defined later");
  refused(MINUTE "  steps:\n    - {name: a, from: [ecg], do: shift}\n"
                 "    - {name: a, from: [a], do: shift}\n" OUTPUT,
          "q.yaml:8:14: step 'a': the name is taken by step 1");
  refused(MINUTE "  steps: [{name: a, from: [ecg], do: {shift: {by: 0.001}}}]\n" OUTPUT,
          "step 'a' (shift): by: 0.001 s is not an integer number of periods of 0.00390625 s");
  refused(MINUTE "  steps: [{name: a, from: [ecg], do: {shift: {by: 1e6}}}]\n" OUTPUT, "q.yaml:6:");
  refused(MINUTE "  steps: [{name: a, from: [ecg]}]\n" OUTPUT, "step 'a' does nothing");
  refused(MINUTE "  steps: [{name: b, from: [ecg], do: shift}]\n" OUTPUT,
          "q.yaml:7:22: outputs: there is no stream 'a'");
  refused(MINUTE "  steps: [{name: a, from: [ecg, ecg], do: shift}]\n" OUTPUT,
          "shift takes 1 to 1 streams, from: lists 2");
  refused(MINUTE "  steps: [{name: a, from: [ecg], do: shift}]\n", "query.outputs is empty");
  refused("ecgsyn: {duration: 60}\nquery:\n  streams: [{name: a, signal: ABP}]\n" OUTPUT,
          "q.yaml:3:20: stream 'a': ");
  refused(MINUTE "  steps:\n    - {name: b, from: [ecg], do: detect}\n"
                 "    - {name: a, from: [b], do: shift}\n" OUTPUT,
          "q.yaml:8:23: step 'a': 'b' has several streams, but one is needed");
  refused(MINUTE "  steps:\n    - {name: b, from: [ecg], do: detect}\n"
                 "    - {name: a, from: [b.rr], do: detect}\n" OUTPUT,
          "q.yaml:8:"); /* s, not mV */
  assert_non_null(strstr(printed(), "step 'a' (detect): "));
  refused(MINUTE "  steps:\n    - {name: b, from: [ecg], do: {resample: {rate: 100}}}\n"
                 "    - {name: a, from: [ecg, b], do: join}\n" OUTPUT,
          "step 'a' (join): the period of 'b' (100/1 Hz) is not a multiple of that of 'ecg'");
}

/* A minute of 0s, of 1s divided by them, and of roots of what is below 0: reported once a result.
 */
static void what_is_no_number_is_counted_and_told(void **state)
{
  static const char text[] =
      MINUTE "  steps:\n"
             "    - {name: none, from: [ecg], do: {select: {value: (x - x) / (x - x)}}}\n"
             "    - {name: endless, from: [ecg], do: {select: {value: 1 / (x - x)}}}\n"
             "    - {name: meant, from: [ecg], do: {select: {value: 'if(x > 0.5 mV, log(x / 1 mV), "
             "nan)'}}}\n"
             "    - {name: half, from: [ecg], do: {select: {value: x / 2}}}\n"
             "  outputs: [{stream: none}, {stream: endless}, {stream: meant}, {stream: half}]\n";
  const char *out = in_scratch("out");
  char expected[160];

  assert_int_equal(program("run --config %s --set ecgsyn.gaps.missing=0 --out %s", yaml(text), out),
                   0);
  (void)snprintf(expected, sizeof expected,
                 "endless of ecgsyn: 15360 of 15360 values are infinite, the first at 0 s");
  assert_non_null(strstr(printed(), expected));
  assert_null(strstr(strstr(printed(), expected) + strlen(expected), "infinite"));
  (void)snprintf(expected, sizeof expected,
                 "none of ecgsyn: in 15360 slots, the first at 0 s, the "
                 "expression gives no number");
  assert_non_null(strstr(printed(), expected));
  assert_null(strstr(strstr(printed(), expected) + strlen(expected), "no number ("));
  assert_int_equal(program("run --set ecgsyn.duration=60 --set ecgsyn.gaps.missing=0.3 --set "
                           "ecgsyn.gaps.mean=2 --out %s",
                           in_scratch("gaps")),
                   0);
  assert_int_equal(
      program("run --config %s --threads 2 --overwrite --out %s", in_scratch("q.yaml"), out), 0);
  (void)snprintf(expected, sizeof expected, "in %.0f slots",
                 60 * 256 - event_number(in_scratch("gaps"), "run_end", "absent"));
  assert_non_null(strstr(printed(), expected));
}

/* Before the first sample, whatever its operators would have kept. What it needs depends on the
 * length of a chunk, which follows from the caches; that it is enough must not. */
static void a_query_beyond_its_memory_is_refused(void **state)
{
  static const char text[] = MINUTE
      "  steps: [{name: a, from: [ecg], do: {normalize: {window: 86400, causal: true}}}]\n" OUTPUT
      "stream: {memory: %d}\n";
  static const char needs[] = "stream.memory: the plan needs ";
  const double window = 86400 * 256 * sizeof(float); /* bytes of the longest look-back */
  char query[sizeof text + 32];

  (void)snprintf(query, sizeof query, text, 64);
  refused(query, needs);
  const double printed_bytes = atof(strstr(printed(), needs) + strlen(needs)) * 1048576;

  assert_non_null(strstr(printed(), "stream.memory allows 64"));
  assert_true(printed_bytes > window && printed_bytes < 8 * window);
  (void)snprintf(query, sizeof query, text, (int)(printed_bytes * 0.99 / 1048576));
  refused(query, needs);
  (void)snprintf(query, sizeof query, text, (int)(printed_bytes * 1.01 / 1048576) + 1);
  assert_int_equal(
      program("run --overwrite --config %s --out %s", yaml(query), in_scratch("enough")), 0);
}

static void describe_tells_latency_buffers_and_clocks(void **state)
{
  assert_int_equal(program("describe --all --config %s", yaml(shifts)), 0);
  static const char first[] = "# results: latency is a chunk of ";

  assert_memory_equal(printed(), first, sizeof first - 1);
  assert_non_null(strstr(printed(), "look-ahead (s)"));
  assert_non_null(strstr(printed(), "# clocks meet every 1/256 s"));
  assert_non_null(strstr(printed(), "bytes, fixed before the first sample"));
  const char *groups = strstr(printed(), "# groups"), *config = strstr(groups, "# resolved");

  assert_non_null(strstr(config, "# stage 0"));
  for (const char *line = strstr(config, "# stage 0"); *line != 0; line++) {
    const size_t n = strcspn(line, "\n");

    assert_true(n <= 120);
    line += n;
  }
}

#ifdef HAVE_CONFIG_FILES
/* Runs a shipped query; the last stream of its event log holds `present` of `slots` values. */
static void shipped(const char *config, const char *record, double slots, double min_present)
{
  const char *dir = in_scratch("shipped");

  assert_int_equal(program("run --overwrite --config %s/%s --set input.record=%s --out %s", CONFIGS,
                           config, in_data(record), dir),
                   0);
  assert_true(event_number(dir, "result", "slots") == slots);
  assert_true(event_number(dir, "result", "present") >= min_present);
}

/* Lines of a result of the last shipped query, without its titles. */
static int lines_of(const char *name)
{
  char *text = contents(in_scratch("shipped/%s.csv", name));
  int n = -1;

  for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++) {
    n++;
  }
  free(text);
  return n;
}

/* The mean arterial pressure of this record is 30 to 37 mmHg in all of its ten minutes: that is
 * raised, from 10 s on, while its beats are without objections (47 s), and nothing else. */
static void bedside_alarms_are_those_of_the_record(void)
{
  static const char *const quiet[] = {"asystoles", "bradycardias", "tachycardias", "leads"};
  double first = 0;

  shipped("query_alarms.yaml", "wfdb/mimic/03700181", 75000, 5000);
  for (int k = 0; k < 4; k++) {
    assert_int_equal(lines_of(quiet[k]), 0);
  }
  assert_in_range(lines_of("hypotensions"), 1, 4);
  char *text = contents(in_scratch("shipped/hypotensions.csv"));

  assert_int_equal(sscanf(strchr(text, '\n') + 1, "%lf,1,2,", &first), 1);
  assert_true(first > 10 && first < 12);
  free(text);
}

/* The record's monitor raised an asystole, which is labelled false; 127 beats a minute. */
static void challenge_alarms_are_those_of_the_record(void)
{
  static const char *const quiet[] = {"asystole", "bradycardia", "tachycardia",
                                      "ventricular_flutter_fib"};

  shipped("query_challenge.yaml", "wfdb/challenge2015/a103l", 330, 0);
  for (int k = 0; k < 4; k++) {
    assert_int_equal(lines_of(quiet[k]), 0);
  }
  assert_in_range(lines_of("ventricular_tachycardia"), 0, 3); /* 257 s by widths alone */
}

/* A7, A4: signals of several rates, joined; six streams in a tree. */
static void shipped_queries_run(void **state)
{
  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF, which the shipped queries write\n");
    skip();
  }
  shipped("query_lifestream.yaml", "wfdb/mimic/03700181", 300000, 299000);
  shipped("query_bedside.yaml", "wfdb/mimic/03700181", 60, 59);
  shipped("query_vitals.yaml", "wfdb/mimic/03700181", 300000, 1220);
  shipped("query_respiration.yaml", "wfdb/mimic/03700181", 75, 70);
  bedside_alarms_are_those_of_the_record();
  challenge_alarms_are_those_of_the_record();
  shipped("query_cap.yaml", "wfdb/multiseg/041s/041s", 8000, 7990);
}

/* Bytes that each step was predicted to move, from the rates of the streams, against those of the
 * boxes that it ran: over a chunk, whatever its length on this machine. */
static void predicted_traffic_is_what_was_counted(void **state)
{
  static const char *const configs[] = {"query_lifestream.yaml", "query_vitals.yaml"};
  int64_t groups = 0;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF, which the shipped queries write\n");
    skip();
  }
  for (int i = 0; i < 2; i++) {
    const char *dir = in_scratch("traffic");
    char path[512], line[4096];

    assert_int_equal(program("run --overwrite --config %s/%s --set input.record=%s --set "
                             "exec.explain=true --out %s",
                             CONFIGS, configs[i], in_data("wfdb/mimic/03700181"), dir),
                     0);
    (void)snprintf(path, sizeof path, "%s/run.jsonl", dir);
    FILE *log = fopen(path, "r");

    assert_non_null(log);
    while (fgets(line, sizeof line, log) != NULL) {
      if (strstr(line, "\"event\": \"group\"") == NULL) {
        continue;
      }
      const double predicted = atof(strstr(line, "\"bytes\": ") + 9);
      const double counted = atof(strstr(line, "\"counted_bytes\": ") + 17);

      if (fabs(predicted - counted) > 0.1 * counted + 8) {
        fail_msg("predicted %g bytes, counted %g: %s", predicted, counted, line);
      }
      groups++;
    }
    fclose(log);
  }
  assert_true(groups > 30);
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(a_query_writes_every_format),
      TEST(annotations_of_a_signal_are_warned_of),
      TEST(netcdf_holds_what_the_table_holds),
      TEST(events_are_a_table_of_netcdf),
      TEST(wrong_queries_are_refused_with_their_place),
      TEST(what_is_no_number_is_counted_and_told),
      TEST(a_query_beyond_its_memory_is_refused),
      TEST(describe_tells_latency_buffers_and_clocks),
#ifdef HAVE_CONFIG_FILES
      TEST(shipped_queries_run),
      TEST(predicted_traffic_is_what_was_counted),
#endif
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
