/* records.c - the program on the recordings of the test data: scores, and formats that run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/weir_annotation.h"
#include "program.h"

static scores score(const char *reference, const char *test)
{
  assert_int_equal(program("eval --overwrite --set eval.reference=%s --set eval.test=%s --out %s",
                           reference, test, in_scratch("score")),
                   0);
  return read_scores(in_scratch("score"));
}

/* bxb's own counts on annotation files made by shifting, dropping, adding and doubling beats. */
static void eval_counts_as_bxb(void **state)
{
  char *table = contents(in_data("bxb/expected.csv"));
  int rows = 0;

  for (const char *line = strchr(table, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    char record[32], annotator[32], name[128];
    long long tp, fn, fp;

    assert_int_equal(
        sscanf(line, "%31[^,],%31[^,],%lld,%lld,%lld", record, annotator, &tp, &fn, &fp), 5);
    (void)snprintf(name, sizeof name, "wfdb/mitdb/%s.atr", record);
    const char *reference = in_data(name);
    (void)snprintf(name, sizeof name, "bxb/%s.%s", record, annotator);
    const scores s = score(reference, in_data(name));
    assert_string_equal(s.record, record);
    assert_true(s.tp == tp && s.fn == fn && s.fp == fp);
    rows++;
  }
  assert_int_equal(rows, 39);
  free(table);
}

/* Acceptance case A1: beats of the reference, those scored, and what the detector finds of them. */
static void a1_mit_bih_beats_are_detected(void **state)
{
  static const struct {
    const char *record;
    int64_t beats;
    long long scored;
    double se, ppv;
  } cases[] = {{"100", 2273, 1902, 100, 100},
               {"119", 1987, 1661, 100, 99.7},
               {"208", 2955, 2437, 99.3, 99.5}};

  for (int i = 0; i < 3; i++) {
    char name[64];
    weir_annotations a;
    int64_t beats = 0;

    (void)snprintf(name, sizeof name, "wfdb/mitdb/%s.atr", cases[i].record);
    const char *reference = in_data(name);
    assert_ok(weir_annotations_read(reference, &a));
    for (int64_t k = 0; k < a.count; k++) {
      beats += weir_annotation_is_beat(a.items[k].code);
    }
    weir_annotations_fini(&a);
    assert_int_equal(beats, cases[i].beats);
    const scores self = score(reference, reference);
    assert_true(self.tp == cases[i].scored && self.fn == 0 && self.fp == 0);
    (void)snprintf(name, sizeof name, "wfdb/mitdb/%s", cases[i].record);
    assert_int_equal(
        program("run --overwrite --set input.record=%s --out %s", in_data(name), in_scratch("run")),
        0);
    const scores s = score(reference, in_scratch("run/%s.qrs", cases[i].record));
    printf("%s: %lld %lld %lld, %s %s\n", s.record, s.tp, s.fn, s.fp, s.se, s.ppv);
    assert_true(atof(s.se) >= cases[i].se && atof(s.ppv) >= cases[i].ppv);
  }
}

/* A2: a skewed signal and a header without a length. */
static void skew_and_missing_length_are_understood(void **state)
{
  assert_int_equal(
      program("run --set input.record=%s --out %s", in_data("wfdb/mitdb/100"), in_scratch("a")), 0);
  assert_int_equal(program("run --set input.record=%s --out %s", in_data("wfdb/mitdb/100-no-len"),
                           in_scratch("b")),
                   0);
  assert_true(same_contents(in_scratch("a/beats.csv"), in_scratch("b/beats.csv")));
  assert_int_equal(program("run --set input.record=%s --set input.signal=1 --out %s",
                           in_data("wfdb/mitdb/100skew"), in_scratch("c")),
                   0);
  assert_true(event_number(in_scratch("c"), "run_end", "beats") > 2000);
}

/* A3, A4, A6: formats, offsets, segments, missing segments. */
static void odd_records_run(void **state)
{
  static const struct {
    const char *record;
    double samples;
  } cases[] = {
      {"formats/test01_00s", 4000},
      {"formats/test01_00s_frame", 4000},
      {"challenge2015/a103l", 82500},
      {"challenge2015/v102s_fixed/v102s", 225000},
      {"multiseg/s25047/s25047-2704-05-04-10-44", 543240},
      {"multiseg/p000878/p000878-2137-10-26-16-57", 52725000},
      {"mimic/03700181", 300000},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char name[128];

    (void)snprintf(name, sizeof name, "wfdb/%s", cases[i].record);
    assert_int_equal(
        program("run --overwrite --set input.record=%s --out %s", in_data(name), in_scratch("run")),
        0);
    assert_true(event_number(in_scratch("run"), "run_end", "samples") == cases[i].samples);
    assert_true(event_number(in_scratch("run"), "run_end", "chunks") > 0);
  }
  /* The one of them that lacks segments says so. */
  assert_int_equal(program("run --overwrite --set input.record=%s --out %s",
                           in_data("wfdb/multiseg/p000878/p000878-2137-10-26-16-57"),
                           in_scratch("run")),
                   0);
  assert_non_null(strstr(printed(), "warning"));
  assert_int_equal((int)event_number(in_scratch("run"), "run_end", "missing_segments"), 30);
  assert_true(event_number(in_scratch("run"), "run_end", "skipped") > 0);
  assert_true(event_number(in_scratch("run"), "run_end", "absent") > 5e7);
}

/* Signals of several samples a frame: the annotation file tells its own time resolution. */
static void beats_of_a_fast_signal_are_scored_by_the_file_s_clock(void **state)
{
  weir_annotations a;

  assert_int_equal(program("run --set input.record=%s --out %s", in_data("wfdb/mimic/03700181"),
                           in_scratch("a")),
                   0);
  assert_ok(weir_annotations_read(in_scratch("a/03700181.qrs"), &a));
  assert_true(a.fs_num == 500 * a.fs_den);
  assert_true(a.count > 1000);
  weir_annotations_fini(&a);
  assert_int_equal(program("eval --set eval.reference=%s --set eval.test=%s --set eval.start=0 "
                           "--out %s",
                           in_data("wfdb/mimic/03700181.gqrsh"), in_scratch("a/03700181.qrs"),
                           in_scratch("b")),
                   0);
  const scores s = read_scores(in_scratch("b"));
  printf("03700181 against gqrs: %s %s\n", s.se, s.ppv);
  assert_true(atof(s.se) > 99); /* gqrs misses a beat in ten; wabp finds 1222 pulses */
  assert_true(s.tp + s.fp >= 1210 && s.tp + s.fp <= 1234);
}

/* The figures of gqrs on three records together, and the rhythm of the reference annotations. */
static void several_records_are_scored_together(void **state)
{
  static const char *const rhythm[] = {
      "\n100.atr,2273,2204,795.0116,35.9609,16.4644,27.4805,5.3481,",
      "\n119.atr,1987,1098,900.9411,41.3959,,34.4715,15.1883,",
      "\n208.atr,2955,694,582.7930,55.0812,,23.8178,2.8926,",
  };

  assert_int_equal(program("eval --set eval.reference=%s --set eval.test=%s --set "
                           "'eval.pairs=[{reference: %s, test: %s}, {reference: %s, test: %s}]' "
                           "--out %s",
                           in_data("wfdb/mitdb/100.atr"), in_data("bxb/100.gqrs"),
                           in_data("wfdb/mitdb/119.atr"), in_data("bxb/119.gqrs"),
                           in_data("wfdb/mitdb/208.atr"), in_data("bxb/208.gqrs"), in_scratch("a")),
                   0);
  char *text = contents(in_scratch("a/scores.csv"));

  assert_non_null(strstr(text, "\ngross,5982,18,16,99.70,99.73,0,"));
  assert_non_null(strstr(text, "\naverage,,,,99.75,99.75,,"));
  free(text);
  text = contents(in_scratch("a/hrv.csv"));
  for (int k = 0; k < 3; k++) {
    assert_non_null(strstr(text, rhythm[k]));
  }
  free(text);
  assert_string_equal(cell_after(in_scratch("a"), "scores", "gross"), "5982");
  assert_int_equal(program("eval --set 'eval.pairs=[{test: %s}]' --out %s", in_data("bxb/100.gqrs"),
                           in_scratch("b")),
                   2);
  assert_non_null(strstr(printed(), "eval.pairs[0]"));
}

/* Annotations are scored without the signals that they belong to: the header says the rate, or an
 * option. */
static void annotations_alone_are_scored(void **state)
{
  char command[8192];

  (void)snprintf(command, sizeof command, "cp %s %s %s", in_data("wfdb/mitdb/100.atr"),
                 in_data("bxb/100.gqrs"), in_scratch("."));
  assert_int_equal(system(command), 0);
  assert_int_equal(program("eval --set eval.reference=%s --set eval.test=%s --out %s",
                           in_scratch("100.atr"), in_scratch("100.gqrs"), in_scratch("a")),
                   3);
  assert_int_equal(program("eval --set eval.fs=360 --set eval.reference=%s --set eval.test=%s "
                           "--out %s",
                           in_scratch("100.atr"), in_scratch("100.gqrs"), in_scratch("b")),
                   0);
  assert_true(read_scores(in_scratch("b")).tp == 1902);
  (void)snprintf(command, sizeof command, "cp %s %s", in_data("wfdb/mitdb/100.hea"),
                 in_scratch("."));
  assert_int_equal(system(command), 0);
  assert_int_equal(program("eval --set eval.reference=%s --set eval.test=%s --out %s",
                           in_scratch("100.atr"), in_scratch("100.gqrs"), in_scratch("c")),
                   0);
  assert_true(read_scores(in_scratch("c")).tp == 1902);
}

static void a_text_file_runs(void **state)
{
  assert_int_equal(
      program("run --set input.csv=%s --out %s", in_data("csv/biosppy_ecg.txt"), in_scratch("a")),
      0);
  assert_true(event_number(in_scratch("a"), "run_end", "samples") == 15000);
  printf("biosppy_ecg: %g beats\n", event_number(in_scratch("a"), "run_end", "beats"));
}

/* A8: a signal of an EDF+ file, and one of several rates of a BDF+ file by its name. */
static void edf_and_bdf_files_run(void **state)
{
  assert_int_equal(program("run --set input.record=%s --out %s", in_data("edf/test_subsecond.edf"),
                           in_scratch("a")),
                   0);
  assert_true(event_number(in_scratch("a"), "run_end", "samples") == 698 * 128);
  assert_int_equal(program("run --set input.record=%s --set input.signal='ramp 3.5Hz' --out %s",
                           in_data("edf/test_generator_datarec_2.bdf"), in_scratch("b")),
                   0);
  assert_true(event_number(in_scratch("b"), "run_end", "samples") == 30 * 250);
  assert_int_equal(program("run --set input.record=%s --out %s", in_data("edf/test_edfann.edf"),
                           in_scratch("c")),
                   2);
  assert_non_null(strstr(printed(), "only annotations"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(eval_counts_as_bxb),
      TEST(a1_mit_bih_beats_are_detected),
      TEST(skew_and_missing_length_are_understood),
      TEST(odd_records_run),
      TEST(beats_of_a_fast_signal_are_scored_by_the_file_s_clock),
      TEST(several_records_are_scored_together),
      TEST(annotations_alone_are_scored),
      TEST(a_text_file_runs),
      TEST(edf_and_bdf_files_run),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
