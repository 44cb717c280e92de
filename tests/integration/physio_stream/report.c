/* report.c - what pages and their figures say of errors, against beats that the test dropped and
 * put in. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_file.h"
#include "io/weir_annotation.h"
#include "io/weir_record.h"
#include "program.h"

#define TINY "--set seed=3 --set ecgsyn.duration=60 --set eval.start=0 "

enum { DROPPED = 10, ADDED_BEFORE = 30 };

/* A record in a/, and in t/ its beats without one and with one that is none; gives both times. */
static void make_errors(int64_t *missed, int64_t *added)
{
  weir_annotations beats = {0};
  weir_annotation_writer *w = NULL;

  assert_int_equal(program("prepare " TINY "--out %s", in_scratch("a")), 0);
  assert_ok(weir_annotations_read(in_scratch("a/ecgsyn.atr"), &beats));
  assert_true(beats.count > ADDED_BEFORE);
  assert_ok(weir_dir_create(in_scratch("t")));
  assert_ok(weir_annotation_writer_open(in_scratch("t/ecgsyn.qrs"), NULL, &w));
  for (int64_t i = 0; i < beats.count; i++) {
    weir_annotation extra = beats.items[i];

    if (i == DROPPED) {
      *missed = beats.items[i].time;
      continue;
    }
    if (i == ADDED_BEFORE) {
      *added = extra.time = (beats.items[i - 1].time + beats.items[i].time) / 2;
      assert_ok(weir_annotation_writer_append(w, &extra));
    }
    assert_ok(weir_annotation_writer_append(w, &beats.items[i]));
  }
  assert_ok(weir_annotation_writer_commit(&w));
  weir_annotations_fini(&beats);
}

static int eval_to(const char *dir, const char *more)
{
  return program("eval --set eval.start=0 --set eval.reference=%s --set eval.test=%s %s --out %s",
                 in_scratch("a/ecgsyn.atr"), in_scratch("t/ecgsyn.qrs"), more,
                 in_scratch("%s", dir));
}

static void assert_row(const char *text, int64_t sample, const char *what)
{
  char row[128];
  const int64_t ms = (int64_t)llround((double)sample * 1000 / 256);

  (void)snprintf(row, sizeof row, "\necgsyn,%lld,00:00:%02d.%03d,%s\n", (long long)sample,
                 (int)(ms / 1000), (int)(ms % 1000), what);
  assert_non_null(strstr(text, row));
}

/* The rows of a series in a figure's CSV: how many, and the x and y of number `index`. */
static int64_t series_of(const char *text, const char *name, int64_t index, double *x, double *y)
{
  char start[64];
  int64_t n = 0;
  const int length = snprintf(start, sizeof start, "\n%s,", name);

  for (const char *at = strstr(text, start); at != NULL; at = strstr(at + 1, start)) {
    if (n++ == index) {
      assert_int_equal(sscanf(at + length, "%lf,%lf", x, y), 2);
    }
  }
  return n;
}

static void errors_are_listed_and_drawn_where_they_are(void **state)
{
  int64_t missed = 0, added = 0;
  double x = 0, y = 0;
  float value[3000];
  weir_record *r = NULL;

  (void)state;
  make_errors(&missed, &added);
  assert_int_equal(eval_to("b", ""), 0);
  char *text = contents(in_scratch("b/errors.csv"));
  assert_row(text, missed, "missed");
  assert_row(text, added, "false");
  free(text);
  text = contents(in_scratch("b/figures/error_1_1.csv"));
  assert_int_equal(series_of(text, "missed or false", 0, &x, &y), 1);
  assert_near(x, (double)missed / 256, 1e-9);
  assert_ok(weir_record_open(in_scratch("a/ecgsyn"), NULL, &r));
  const int64_t lo = missed - 512, n = 1025;
  assert_ok(weir_record_read(r, 0, lo, n, value, NULL));
  assert_int_equal(series_of(text, "signal", 0, &x, &y), n);
  for (int64_t i = 0; i < n; i += 100) {
    (void)series_of(text, "signal", i, &x, &y);
    assert_true(x == (double)(lo + i) / 256 && y == (double)value[i]);
  }
  weir_record_close(&r);
  free(text);
  text = contents(in_scratch("b/report.html"));
  assert_non_null(strstr(text, ">ecgsyn: missed beat at 00:00:"));
  assert_non_null(strstr(text, ">ecgsyn: false beat at 00:00:"));
  free(text);
  assert_int_equal(eval_to("c", ""), 0);
  assert_true(same_contents(in_scratch("b/report.html"), in_scratch("c/report.html")));
  assert_int_equal(eval_to("d", "--set eval.strips=1"), 0);
  assert_true(weir_file_exists(in_scratch("d/figures/error_1_1.svg")));
  assert_false(weir_file_exists(in_scratch("d/figures/error_1_2.svg")));
}

static void a_record_without_its_signal_has_no_strip(void **state)
{
  int64_t missed = 0, added = 0;

  (void)state;
  make_errors(&missed, &added);
  assert_int_equal(remove(in_scratch("a/ecgsyn.dat")), 0);
  assert_int_equal(eval_to("b", ""), 0);
  char *text = contents(in_scratch("b/report.html"));
  assert_non_null(strstr(text, "ecgsyn: no strip, as its signal cannot be read"));
  assert_null(strstr(text, "missed beat at"));
  free(text);
  assert_true(weir_file_exists(in_scratch("b/errors.csv")));
}

static void errors_of_users_show_no_trace_unless_asked(void **state)
{
  (void)state;
  const char *wrong = "eval --set eval.reference=/nowhere/a.atr --set eval.test=/nowhere/a.qrs";

  assert_int_equal(program("%s --out %s", wrong, in_scratch("a")), 3);
  assert_non_null(strstr(printed(), "error: "));
  assert_null(strstr(printed(), "called by "));
  assert_int_equal(program("%s --log debug --out %s", wrong, in_scratch("b")), 3);
  assert_non_null(strstr(printed(), "called by "));
}

/* The figures of the rhythm hold the intervals of beats.csv, their pairs, and the power that the
 * table gives. */
static void a_rhythm_is_drawn_from_the_beats_found(void **state)
{
  static const struct {
    const char *name, *key;
  } bands[] = {{"below LF (0.04 Hz)", "VLF (ms²)"},
               {"LF to 0.15 Hz", "LF (ms²)"},
               {"HF to 0.4 Hz", "HF (ms²)"}};
  const char *dir = in_scratch("b");
  double x = 0, y = 0, before = NAN;
  int64_t n = 0, pairs = 0;

  (void)state;
  assert_int_equal(program("run --set ecgsyn.duration=200 --out %s", dir), 0);
  char *beats = contents(in_scratch("b/beats.csv"));
  char *drawn = contents(in_scratch("b/figures/tachogram.csv"));
  char *pair = contents(in_scratch("b/figures/poincare.csv"));
  char *density = contents(in_scratch("b/figures/spectrum.csv"));
  for (const char *row = strchr(beats, '\n'); row != NULL && row[1] != 0;
       row = strchr(row + 1, '\n')) {
    double time = 0, rr = 0;

    if (sscanf(row + 1, "%*d,%lf,%lf", &time, &rr) == 2) {
      (void)series_of(drawn, "intervals", n++, &x, &y);
      assert_near(x, time, 1e-6);
      assert_near(y, rr, 1e-6);
      if (isfinite(before)) {
        (void)series_of(pair, "intervals", pairs++, &x, &y);
        assert_near(x, before, 1e-6);
        assert_near(y, rr, 1e-6);
      }
      before = rr;
    }
  }
  assert_true(n > 100);
  assert_int_equal(series_of(drawn, "intervals", 0, &x, &y), n);
  assert_int_equal(series_of(pair, "intervals", 0, &x, &y), pairs);
  for (int b = 0; b < 3; b++) {
    const char *cell = cell_after(dir, "hrv", bands[b].key);
    const double power = atof(cell);
    const int64_t bins = series_of(density, bands[b].name, 0, &x, &y);
    double sum = 0;

    for (int64_t k = 0; k < bins; k++) {
      (void)series_of(density, bands[b].name, k, &x, &y);
      sum += y / 64;
    }
    assert_true(sum > 0);
    if (b == 0) { /* two bins say nothing of 0.003 to 0.04 Hz */
      assert_int_equal(bins, 2);
      assert_string_equal(cell, "-");
    } else {
      assert_near(sum, power, 1e-3 * power);
    }
  }
  free(beats);
  free(drawn);
  free(pair);
  free(density);
}

/* Ten minutes hold the two five minutes that SDANN takes, seven and a third do not. */
static void a_long_record_has_sdann(void **state)
{
  const char *const set = "run --overwrite --set ecgsyn.duration=%d --out %s",
                    *dir = in_scratch("b");

  (void)state;
  assert_int_equal(program(set, 440, dir), 0);
  assert_string_equal(cell_after(dir, "hrv", "SDANN (ms)"), "-");
  assert_int_equal(program(set, 600, dir), 0);
  assert_true(atof(cell_after(dir, "hrv", "SDANN (ms)")) > 0);
}

/* Seconds that a row of a timeline says: shares times windows. */
static double seconds_of(const char *path, const char *name)
{
  char *text = contents(path), start[64];
  double sum = 0, x, share, lo, hi;
  const int length = snprintf(start, sizeof start, "\n%s,", name);

  for (const char *at = strstr(text, start); at != NULL; at = strstr(at + 1, start)) {
    assert_int_equal(sscanf(at + length, "%lf,%lf,%lf,%lf", &x, &share, &lo, &hi), 4);
    assert_true(share >= 0 && share <= 1);
    sum += share * (hi - lo);
  }
  free(text);
  return sum;
}

static void the_timeline_of_quality_holds_what_is_absent(void **state)
{
  const char *const gaps = "--set ecgsyn.duration=205 --set ecgsyn.gaps.missing=0.2 "
                           "--set ecgsyn.gaps.mean=15";

  (void)state;
  assert_int_equal(program("run %s --out %s", gaps, in_scratch("a")), 0);
  assert_int_equal(program("run %s --set stream.window=3 --out %s", gaps, in_scratch("b")), 0);
  const char *path = in_scratch("a/figures/quality.csv");
  const double absent = event_number(in_scratch("a"), "run_end", "absent") / 256;
  assert_true(absent > 10);
  assert_near(seconds_of(path, "missing"), absent, 1e-6);
  /* Where 15 s are absent no beat is found either, but short gaps hide no pause. */
  assert_true(seconds_of(path, "no beat for more than 2 s") > 0.8 * absent);
  assert_near(seconds_of(path, "flat: one value for 0.5 s or more"), 0, 0);
  assert_true(same_contents(path, in_scratch("b/figures/quality.csv")));
}

#ifdef HAVE_CONFIG_FILES
static void a_query_draws_the_flags_that_occur(void **state)
{
  static const char text[] =
      "ecgsyn: {duration: 205, gaps: {missing: 0.2, mean: 15}}\n"
      "query:\n"
      "  streams: [{name: ecg}]\n"
      "  steps:\n"
      "    - {name: f, from: [ecg], do: {filter: {kind: highpass, lo: 0.5}}}\n"
      "  outputs: [{stream: f}, {stream: f.flags}]\n";

  (void)state;
  weir_check_write(in_scratch("q.yaml"), text, sizeof text - 1);
  assert_int_equal(program("run --config %s --out %s", in_scratch("q.yaml"), in_scratch("a")), 0);
  /* Every start settles, and there is more than one. */
  assert_true(seconds_of(in_scratch("a/figures/flags_2.csv"),
                         "a filter has not settled after a start") > 0.1);
  assert_near(seconds_of(in_scratch("a/figures/flags_2.csv"), "baseline wander"), 0, 0);
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(errors_are_listed_and_drawn_where_they_are),
      TEST(a_record_without_its_signal_has_no_strip),
      TEST(a_rhythm_is_drawn_from_the_beats_found),
      TEST(a_long_record_has_sdann),
      TEST(the_timeline_of_quality_holds_what_is_absent),
#ifdef HAVE_CONFIG_FILES
      TEST(a_query_draws_the_flags_that_occur),
#endif
      TEST(errors_of_users_show_no_trace_unless_asked),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
