/* range.c - input.from and input.to: what is read, found and scored of a part of a recording is
 * that part of the whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/weir_annotation.h"
#include "program.h"

#define RANGE "--set input.from=40 --set input.to=80 "

static int make_record(void **state)
{
  (void)make_scratch(state);
  assert_int_equal(
      program("prepare --set ecgsyn.duration=120.7 --set ecgsyn.noise.white=true --set "
              "ecgsyn.noise.white_snr=20 --out %s",
              in_scratch("r")),
      0);
  assert_int_equal(program("run --input %s --out %s", in_scratch("r/ecgsyn"), in_scratch("whole")),
                   0);
  return 0;
}

/* Rows "sample,..." of a table whose sample is in [lo, hi): their numbers; returns how many. */
static int rows_within(const char *path, long lo, long hi, long *out)
{
  char *text = contents(path);
  int n = 0;

  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    const long sample = atol(line);

    if (sample >= lo && sample < hi) {
      assert_true(n < 500);
      out[n++] = sample;
    }
  }
  free(text);
  return n;
}

static void beats_of_a_part_are_those_of_the_whole(void **state)
{
  long all[500], some[500];
  weir_annotations a;

  assert_int_equal(
      program("run " RANGE "--input %s --out %s", in_scratch("r/ecgsyn"), in_scratch("part")), 0);
  const int n = rows_within(in_scratch("whole/beats.csv"), 40 * 256, 80 * 256, all);

  assert_true(n > 30);
  assert_int_equal(rows_within(in_scratch("part/beats.csv"), 0, 1 << 30, some), n);
  assert_memory_equal(all, some, (size_t)n * sizeof all[0]);
  assert_true(event_number(in_scratch("part"), "run_end", "samples") == 80 * 256);
  assert_true(event_number(in_scratch("part"), "run_end", "absent") == 40 * 256);
  /* What was not read is a gap of the annotations, so that no interval crosses it. */
  assert_ok(weir_annotations_read(in_scratch("part/ecgsyn.qrs"), &a));
  assert_true(a.count == n + 2 && a.items[0].code == WEIR_ANN_NOISE && a.items[0].time == 0);
  assert_true(a.items[1].code == WEIR_ANN_NOISE && a.items[1].time == 40 * 256);
  weir_annotations_fini(&a);
  /* The built-in recording, and the same cut into short chunks. */
  assert_int_equal(program("run " RANGE "--set ecgsyn.duration=120.7 --set ecgsyn.noise.white=true "
                           "--set ecgsyn.noise.white_snr=20 --set stream.window=1.5 --out %s",
                           in_scratch("made")),
                   0);
  assert_int_equal(rows_within(in_scratch("made/beats.csv"), 0, 1 << 30, some), n);
}

static void a_part_is_scored(void **state)
{
  for (int k = 0; k < 2; k++) { /* whatever the beats were found in */
    assert_int_equal(program("run %s--input %s --out %s", k == 0 ? "" : RANGE,
                             in_scratch("r/ecgsyn"), in_scratch("b%d", k)),
                     0);
    assert_int_equal(program("eval " RANGE "--set eval.start=0 --set eval.reference=%s --set "
                             "eval.test=%s --out %s",
                             in_scratch("r/ecgsyn.atr"), in_scratch("b%d/ecgsyn.qrs", k),
                             in_scratch("e%d", k)),
                     0);
    assert_non_null(strstr(printed(), "scored from 40 s to 80 s"));
    const scores s = read_scores(in_scratch("e%d", k));

    assert_true(s.tp > 30 && s.tp < 50 && s.fn == 0 && s.fp == 0);
  }
  assert_true(same_contents(in_scratch("e0/records.csv"), in_scratch("e1/records.csv")));
  assert_true(same_contents(in_scratch("e0/scores.csv"), in_scratch("e1/scores.csv")));
  /* eval.start counts where it is later. */
  assert_int_equal(program("eval " RANGE "--set eval.start=60 --set eval.reference=%s --set "
                           "eval.test=%s --out %s",
                           in_scratch("r/ecgsyn.atr"), in_scratch("b0/ecgsyn.qrs"),
                           in_scratch("late")),
                   0);
  assert_non_null(strstr(printed(), "scored from 60 s to 80 s"));
  assert_true(read_scores(in_scratch("late")).tp < 25);
}

static void a_query_reads_its_part(void **state)
{
  static const char query[] =
      "--set 'query={streams: [{name: ecg}], steps: [{name: level, from: [ecg], do: {aggregate: "
      "{kind: mean, window: 5}}}], outputs: [{stream: level, format: csv}]}'";
  char row[64];

  for (int k = 0; k < 2; k++) {
    assert_int_equal(program("run %s %s --input %s --out %s", k == 0 ? "" : RANGE, query,
                             in_scratch("r/ecgsyn"), in_scratch("q%d", k)),
                     0);
  }
  char *all = contents(in_scratch("q0/level.csv")), *part = contents(in_scratch("q1/level.csv"));
  const char *line = strchr(part, '\n') + 1;
  int n = 0;

  for (; *line != 0; line = strchr(line, '\n') + 1, n++) {
    (void)snprintf(row, sizeof row, "\n%.*s\n", (int)strcspn(line, "\n"), line);
    assert_non_null(strstr(all, row));
  }
  assert_int_equal(n, 8);
  free(all);
  free(part);
}

static void what_is_no_part_is_refused(void **state)
{
  static const struct {
    const char *command, *sets, *says;
  } cases[] = {
      {"run", "--set input.from=500", "input.from: 500 s is past the end of ecgsyn"},
      {"run", "--set input.from=3.0001 --set input.to=3.0002", "is between input.from"},
      {"run", "--set input.from=9 --set input.to=9", "no time is between"},
      {"convert", "--set input.to=9", "input.from and input.to are for run, describe and eval"},
  };

  assert_int_equal(program("run --input %s --set input.to=1000 --out %s", in_scratch("r/ecgsyn"),
                           in_scratch("long")),
                   0);
  assert_true(same_contents(in_scratch("long/beats.csv"), in_scratch("whole/beats.csv")));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(program("%s %s --input %s --out %s", cases[i].command, cases[i].sets,
                             in_scratch("r/ecgsyn"), in_scratch("x")),
                     2);
    assert_non_null(strstr(printed(), cases[i].says));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST_AFTER(make_record, beats_of_a_part_are_those_of_the_whole),
      TEST_AFTER(make_record, a_part_is_scored),
      TEST_AFTER(make_record, a_query_reads_its_part),
      TEST_AFTER(make_record, what_is_no_part_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
