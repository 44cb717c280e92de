/* acceptance_query.c - acceptance cases A5, A6 and A7 as queries that the program runs: the numbers
 * of the reference, and the same files whether gaps are left out or not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "io/weir_annotation.h"
#include "program.h"

/* Runs streams, steps and outputs on a record, into SCRATCH/out. */
static void query(const char *record, const char *streams, const char *steps, const char *outputs,
                  const char *more, const char *out)
{
#ifndef HAVE_CONFIG_FILES
  printf("skipped: this build reads no YAML\n");
  skip();
#endif
  const int status = program("run --set input.record=%s --set 'query.streams=[%s]' --set "
                             "'query.steps=[%s]' --set 'query.outputs=[%s]' %s --out %s",
                             in_data(record), streams, steps, outputs, more, in_scratch("%s", out));

  if (status != 0) {
    printf("%s\n", printed());
  }
  assert_int_equal(status, 0);
}

static void a5_a_join_through_the_query_is_computed_where_both_signals_are(void **state)
{
  static const char *const files[] = {"pair.csv", "pair.hea", "pair.dat", "product.csv",
                                      "s25047-2704-05-04-10-44.pair"};
  static const char *const skip[] = {"true", "false"};
  const int64_t slots = 543240, abp_from = slots - 93975 - 3525;

  for (int i = 0; i < 2; i++) {
    char more[64];

    (void)snprintf(more, sizeof more, "--set stream.window=4 --set stream.skip=%s", skip[i]);
    query("wfdb/multiseg/s25047/s25047-2704-05-04-10-44",
          "{name: ecg, signal: II}, {name: abp, signal: ABP}",
          "{name: pair, from: [ecg, abp], do: {join: {kind: inner}}}, "
          "{name: product, from: [ecg, abp], do: {join: {value: \"ecg * abp\"}}}",
          "{stream: pair, format: csv}, {stream: pair, format: wfdb}, "
          "{stream: pair, format: annotations}, {stream: product, format: csv}",
          more, skip[i]);
  }
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    assert_true(same_contents(in_scratch("true/%s", files[i]), in_scratch("false/%s", files[i])));
  }
  char *text = contents(in_scratch("true/pair.csv"));
  char *product = contents(in_scratch("true/product.csv")), *at = strchr(product, '\n') + 1;
  int64_t rows = 0;

  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    double time, ecg, abp, when, value;

    assert_int_equal(sscanf(line, "%lf,%lf,%lf", &time, &ecg, &abp), 3);
    assert_int_equal(sscanf(at, "%lf,%lf", &when, &value), 2);
    assert_true(time * 125 >= (double)abp_from - 1e-3 && time == when);
    assert_near(value, ecg * abp, 1e-5 * (1 + fabs(ecg * abp)));
    at = strchr(at, '\n') + 1;
    rows++;
  }
  free(text);
  free(product);
  assert_int_equal(rows, 97348);
  const double left = event_number(in_scratch("true"), "query_end", "skipped");
  const double kept = event_number(in_scratch("true"), "query_end", "chunks");

  printf("A5: %g chunks computed, %g left out\n", kept, left);
  assert_true(event_number(in_scratch("false"), "query_end", "skipped") == 0);
  assert_true(left >= 0.99 * (double)abp_from / 500 - 2);
  assert_true(kept <= (double)(slots - abp_from) / 500 + 4);
}

static long peak_of_children(void)
{
  struct rusage usage;

  assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
  return usage.ru_maxrss;
}

/* 52 million slots of which few exist, in the memory that ten minutes take. */
static void a6_missing_segments_and_late_times(void **state)
{
  const char *steps = "{name: pair, from: [a, b], do: join}, "
                      "{name: mean, from: [a], do: {aggregate: {}}}";
  const char *outputs = "{stream: pair, format: csv}, {stream: mean, format: csv}";
  const char *huge = in_data("wfdb/annotations/huge.qrs");

  query("wfdb/mimic/3000003_0003", "{name: a, signal: II}, {name: b, signal: V}", steps, outputs,
        "--set stream.window=180", "short");
  const long before = peak_of_children();

  query("wfdb/multiseg/p000878/p000878-2137-10-26-16-57",
        "{name: a, signal: II}, {name: b, signal: PLETH}", steps, outputs,
        "--set stream.window=180", "long");
  printf("A6: peak of a short record %ld KiB, of all %ld KiB\n", before, peak_of_children());
  assert_true(peak_of_children() - before < 16384);
  assert_non_null(strstr(printed(), "30 segments are missing in all: 52402375 of 52725000 frames"));
  assert_true(event_number(in_scratch("long"), "query_end", "slots") == 2 * 52725000.0);
  assert_true(event_number(in_scratch("long"), "query_end", "chunks") <= 6);
  assert_true(event_number(in_scratch("long"), "query_end", "present") > 0);
  assert_int_equal(program("eval --set eval.reference=%s --set eval.test=%s --set eval.fs=250 "
                           "--set eval.start=0 --out %s",
                           huge, huge, in_scratch("huge")),
                   0);
  assert_true(read_scores(in_scratch("huge")).tp == 1); /* at 10^10 samples */
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double median(double *x, int64_t n)
{
  qsort(x, (size_t)n, sizeof *x, compare);
  return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

/* Seconds of the beats of an annotation file. */
static double *beats_of(const char *path, int64_t *n)
{
  weir_annotations a;
  double *at;

  assert_ok(weir_annotations_read(path, &a));
  at = calloc((size_t)a.count + 1, sizeof *at);
  assert_non_null(at);
  *n = 0;
  for (int64_t i = 0; i < a.count; i++) {
    if (weir_annotation_is_beat(a.items[i].code)) {
      at[(*n)++] = (double)a.items[i].time * (double)a.fs_den / (double)a.fs_num;
    }
  }
  weir_annotations_fini(&a);
  return at;
}

/* The time to the first of `late` at least `min_delay` after each of `early` into delay[]; the
 * share of them, without those in the last second, that is no longer than `max_delay`. */
static double delays(const double *early, int64_t n, const double *late, int64_t m,
                     double min_delay, double max_delay, double *delay, int64_t *found)
{
  int64_t asked = 0, k = 0;

  *found = 0;
  for (int64_t i = 0; i < n && early[i] < 599; i++, asked++) {
    while (k < m && late[k] < early[i] + min_delay) {
      k++;
    }
    if (k < m && late[k] <= early[i] + max_delay) {
      delay[(*found)++] = late[k] - early[i];
    }
  }
  return (double)*found / (double)asked;
}

/* The reference measured its delays from the beats of gqrs, which stand at the begin of the QRS
 * complex; detect marks the R wave, which is later by the median of their distance. */
static void a7_pulses_follow_beats(void **state)
{
  int64_t n_gqrs = 0, n_beats = 0, n_onsets = 0, n = 0;

  query("wfdb/mimic/03700181", "{name: ecg, signal: MCL1}, {name: abp, signal: ABP}",
        "{name: r, from: [ecg], do: detect}, {name: p, from: [abp], do: abp_beats}, "
        "{name: pulse, from: [r.beat, p.onset], do: ptt}",
        "{stream: r.beat, format: annotations}, {stream: p.onset, format: annotations}, "
        "{stream: pulse.flags, format: csv}, {stream: pulse.delay, format: csv}",
        "", "a7");
  double *gqrs = beats_of(in_data("wfdb/mimic/03700181.gqrsh"), &n_gqrs);
  double *beats = beats_of(in_scratch("a7/03700181.r_beat"), &n_beats);
  double *onsets = beats_of(in_scratch("a7/03700181.p_onset"), &n_onsets);
  double *delay = calloc((size_t)(n_beats + n_gqrs), sizeof *delay);

  assert_non_null(delay);
  printf("A7: %lld beats, %lld onsets\n", (long long)n_beats, (long long)n_onsets);
  assert_true(n_onsets >= 1216 && n_onsets <= 1228);
  const double share = delays(gqrs, n_gqrs, onsets, n_onsets, 0.05, 0.4, delay, &n);
  const double from_gqrs = median(delay, n);
  const double ours = delays(beats, n_beats, onsets, n_onsets, 0.05, 0.4, delay, &n);
  const double from_r = median(delay, n);
  (void)delays(gqrs, n_gqrs, beats, n_beats, -0.02, 0.1, delay, &n);
  const double to_r = median(delay, n);
  const double step = event_number(in_scratch("a7"), "result", "mean");

  printf("A7: gqrs %.4f of beats, median %.3f s; detect %.4f, %.3f s and %.3f s before; ptt %.3f\n",
         share, from_gqrs, ours, from_r, to_r, step);
  assert_true(share >= 0.99 && from_gqrs > 0.22 && from_gqrs < 0.25);
  assert_true(ours >= 0.99 && from_r + to_r > 0.22 && from_r + to_r < 0.25);
  /* The step says what the two lists say: the last stream that was written is its delay. */
  assert_true(event_number(in_scratch("a7"), "result", "present") >= 0.99 * (double)n_beats);
  assert_near(step, from_r, 0.02);
  free(gqrs);
  free(beats);
  free(onsets);
  free(delay);
}

/* Values of a file NAME.csv, time_s,value; the caller frees them. */
static double *values_of(const char *path, int64_t *n)
{
  char *text = contents(path);
  double *v = calloc(strlen(text), sizeof *v), time;

  assert_non_null(v);
  *n = 0;
  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    assert_int_equal(sscanf(line, "%lf,%lf", &time, &v[*n]), 2);
    ++*n;
  }
  free(text);
  return v;
}

static double mean_of(const double *v, int64_t n)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    sum += v[i];
  }
  return sum / (double)n;
}

/* Differences from the rate of the respiration channel, of the windows that have both; the values
 * that docs/science/physio_stream.md states. */
static void a7_respiratory_rates_are_those_of_the_respiration_channel(void **state)
{
  static const struct {
    const char *name;
    double median, mean, within[2]; /* 1/min; a unit of the last digit stated, or any */
    int64_t n;
  } rows[] = {
      {"ecg_am", 0.25, 4.1, {0.01, 0.1}, 72},     {"ecg_bw", 4.0, 6.7, {0.1, 0.1}, 72},
      {"ecg_fm", 14, 0, {1, INFINITY}, 72},       {"abp_am", 0.08, 0.74, {0.01, 0.01}, 72},
      {"abp_bw", 0.07, 0.23, {0.01, 0.01}, 72},   {"abp_fm", 16, 0, {1, INFINITY}, 72},
      {"ecg_fused", 0, 1.3, {INFINITY, 0.1}, 10}, {"abp_fused", 0, 1.4, {INFINITY, 0.1}, 15}};

  query("wfdb/mimic/03700181",
        "{name: ecg, signal: MCL1}, {name: abp, signal: ABP}, {name: resp, signal: RESP}",
        "{name: r, from: [ecg], do: detect}, {name: p, from: [abp], do: ppg_beats}, "
        "{name: b, from: [ecg, r.rr], do: resp_rate}, "
        "{name: q, from: [abp, p.rr], do: {resp_rate: {signal: ppg}}}, "
        "{name: ref, from: [resp], do: resp_rate}, "
        "{name: ecg_am, from: [b.am, ref.rate], do: {join: {value: \"abs(b.am - ref.rate)\"}}}, "
        "{name: ecg_bw, from: [b.bw, ref.rate], do: {join: {value: \"abs(b.bw - ref.rate)\"}}}, "
        "{name: abp_am, from: [q.am, ref.rate], do: {join: {value: \"abs(q.am - ref.rate)\"}}}, "
        "{name: abp_bw, from: [q.bw, ref.rate], do: {join: {value: \"abs(q.bw - ref.rate)\"}}}, "
        "{name: ecg_fused, from: [b.rate, ref.rate], do: {join: {value: \"abs(b.rate - "
        "ref.rate)\"}}}, "
        "{name: abp_fused, from: [q.rate, ref.rate], do: {join: {value: \"abs(q.rate - "
        "ref.rate)\"}}}, "
        "{name: ecg_fm, from: [b.fm, ref.rate], do: {join: {value: \"abs(b.fm - ref.rate)\"}}}, "
        "{name: abp_fm, from: [q.fm, ref.rate], do: {join: {value: \"abs(q.fm - ref.rate)\"}}}",
        "{stream: ecg_am, format: csv}, {stream: ecg_bw, format: csv}, "
        "{stream: abp_am, format: csv}, {stream: abp_bw, format: csv}, "
        "{stream: ecg_fused, format: csv}, {stream: abp_fused, format: csv}, "
        "{stream: ecg_fm, format: csv}, {stream: abp_fm, format: csv}",
        "", "breath");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int64_t n = 0;
    double *v = values_of(in_scratch("breath/%s.csv", rows[i].name), &n);
    const double mean = mean_of(v, n), middle = median(v, n);

    printf("A7: %s, median %.4f, mean %.4f/min of %lld windows\n", rows[i].name, middle, mean,
           (long long)n);
    assert_int_equal(n, rows[i].n);
    assert_true(fabs(middle - rows[i].median) <= rows[i].within[0]);
    assert_true(fabs(mean - rows[i].mean) <= rows[i].within[1]);
    free(v);
  }
}

/* Two segments, an ECG of four samples a frame: the pressure is held four slots long. */
static void a7_segments_of_several_rates_are_joined(void **state)
{
  query("wfdb/multiseg/041s/041s", "{name: ecg, signal: \"0\"}, {name: abp, signal: ABP}",
        "{name: pair, from: [ecg, abp], do: join}", "{stream: pair, format: csv}", "", "a");
  char *text = contents(in_scratch("a/pair.csv"));
  double last_abp = NAN;
  int64_t rows = 0;

  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    double time, ecg, abp;

    assert_int_equal(sscanf(line, "%lf,%lf,%lf", &time, &ecg, &abp), 3);
    const int64_t slot = llround(time * 500);

    assert_near(time, (double)slot / 500, 1e-6);
    assert_true(slot % 4 == 0 || abp == last_abp);
    last_abp = abp;
    rows++;
  }
  free(text);
  assert_true(event_number(in_scratch("a"), "result", "slots") == 8000);
  assert_true(rows >= 7990 && rows == (int64_t)event_number(in_scratch("a"), "result", "present"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(a5_a_join_through_the_query_is_computed_where_both_signals_are),
      TEST(a6_missing_segments_and_late_times),
      TEST(a7_pulses_follow_beats),
      TEST(a7_respiratory_rates_are_those_of_the_respiration_channel),
      TEST(a7_segments_of_several_rates_are_joined),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
