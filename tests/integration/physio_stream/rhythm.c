/* rhythm.c - the variability of the heart rate: gaps, kinds of beats and what is too short. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/weir_annotation.h"
#include "io/weir_record.h"
#include "program.h"

/* The cell of a row (its first cell) and column of DIR/hrv.csv. */
static const char *hrv_cell(const char *dir, const char *row, const char *column)
{
  static char cell[64];
  char path[PATH], name[64];

  (void)snprintf(path, sizeof path, "%s/hrv.csv", dir);
  char *text = contents(path), *line = text;
  int at = 0;

  for (const char *c = text; strncmp(c, column, strlen(column)) != 0; c = strchr(c, ',') + 1) {
    at++;
    assert_non_null(strchr(c, ','));
  }
  const int n = snprintf(name, sizeof name, "\n%s,", row);
  line = strstr(text, name);
  assert_true(line != NULL && n > 0);
  line++;
  for (int k = 0; k < at; k++) {
    line = strchr(line, ',') + 1;
  }
  (void)snprintf(cell, sizeof cell, "%.*s", (int)strcspn(line, ",\n"), line);
  free(text);
  return cell;
}

/* Twenty minutes with a tenth of the signal missing, and its beats to whole samples, as annotations
 * have them. */
static void make_gappy(void)
{
  assert_int_equal(program("prepare --set ecgsyn.duration=1200 --set ecgsyn.gaps.missing=0.1 "
                           "--set ecgsyn.gaps.mean=20 --out %s",
                           in_scratch("rec")),
                   0);
  assert_int_equal(program("run --input %s --set detect.refine=0 --out %s",
                           in_scratch("rec/ecgsyn"), in_scratch("run")),
                   0);
}

static void eval_of(const char *reference, const char *test, const char *more, const char *dir)
{
  assert_int_equal(program("eval --overwrite --set eval.start=0 --set eval.reference=%s "
                           "--set eval.test=%s %s --out %s",
                           reference, test, more, dir),
                   0);
}

/* The table of a run's page and that of eval, for the same beats. */
static void expect_agreement(const char *run, const char *eval, const char *row)
{
  static const char *const pairs[][2] = {{"RR intervals that count", "nn"},
                                         {"mean RR (ms)", "mean_nn_ms"},
                                         {"SDNN (ms)", "sdnn_ms"},
                                         {"RMSSD (ms)", "rmssd_ms"},
                                         {"pNN50 (%)", "pnn50_percent"},
                                         {"LF (ms²)", "lf_ms2"},
                                         {"HF (ms²)", "hf_ms2"},
                                         {"SD1 (ms)", "sd1_ms"},
                                         {"SD2 (ms)", "sd2_ms"},
                                         {"SD1/SD2", "sd1_sd2"},
                                         {"ellipse (ms²)", "ellipse_ms2"},
                                         {"ApEn", "apen"},
                                         {"SampEn", "sampen"},
                                         {"MSE index", "mse_ci"},
                                         {"DFA α1", "dfa_alpha1"}};

  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
    const double page = atof(cell_after(run, "hrv", pairs[k][0]));
    const double table = atof(hrv_cell(eval, row, pairs[k][1]));

    printf("%s: %g of run, %g of eval\n", pairs[k][1], page, table);
    assert_true(page > 0 && fabs(table - page) <= 5e-4 * page); /* four digits are printed */
  }
}

/* A file of another program: the beats of `from` alone. */
static void without_marks(const char *from, const char *to)
{
  weir_annotations a;
  int64_t n = 0;

  assert_ok(weir_annotations_read(from, &a));
  for (int64_t i = 0; i < a.count; i++) {
    if (weir_annotation_is_beat(a.items[i].code)) {
      a.items[n++] = a.items[i];
    }
  }
  assert_true(n < a.count);
  a.count = n;
  assert_ok(weir_annotations_write(to, &a));
  weir_annotations_fini(&a);
}

static void eval_and_run_agree_across_gaps(void **state)
{
  char command[3 * PATH];

  (void)state;
  make_gappy();
  /* From the record next to the reference. */
  without_marks(in_scratch("run/ecgsyn.qrs"), in_scratch("run/ecgsyn.bare"));
  eval_of(in_scratch("rec/ecgsyn.atr"), in_scratch("run/ecgsyn.bare"), "", in_scratch("a"));
  expect_agreement(in_scratch("run"), in_scratch("a"), "ecgsyn.bare");
  assert_string_equal(hrv_cell(in_scratch("a"), "ecgsyn.bare", "gaps"), "record");
  assert_string_equal(hrv_cell(in_scratch("a"), "ecgsyn.bare", "beat_types"), "unknown");
  assert_string_equal(cell_after(in_scratch("run"), "hrv", "beat types"),
                      "unknown: RR intervals, not NN");
  /* From the annotations that run writes, where there is no signal. */
  (void)snprintf(command, sizeof command, "mkdir %s && cp %s %s %s", in_scratch("bare"),
                 in_scratch("rec/ecgsyn.hea"), in_scratch("rec/ecgsyn.atr"), in_scratch("bare"));
  assert_int_equal(system(command), 0);
  eval_of(in_scratch("bare/ecgsyn.atr"), in_scratch("run/ecgsyn.qrs"), "", in_scratch("b"));
  expect_agreement(in_scratch("run"), in_scratch("b"), "ecgsyn.qrs");
  assert_string_equal(hrv_cell(in_scratch("b"), "ecgsyn.qrs", "gaps"), "annotations");
  /* From neither: said, and the intervals across gaps are in it. */
  eval_of(in_scratch("bare/ecgsyn.atr"), in_scratch("run/ecgsyn.bare"), "--set eval.nn.exclude=0",
          in_scratch("c"));
  assert_non_null(strstr(printed(), "ecgsyn.bare: gaps of the recording are unknown"));
  assert_string_equal(hrv_cell(in_scratch("c"), "ecgsyn.bare", "gaps"), "unknown");
  assert_true(atof(hrv_cell(in_scratch("c"), "ecgsyn.bare", "sdnn_ms")) > 200);
}

/* Every absent sample lies in a stretch between marks, and no other. */
static void gaps_are_marked_where_the_signal_is_absent(void **state)
{
  weir_annotations a;
  weir_record *record = NULL;
  float x[256];
  uint8_t present[256];
  int64_t at = 0, n_marks = 0;
  bool absent = false;

  (void)state;
  make_gappy();
  assert_ok(weir_annotations_read(in_scratch("run/ecgsyn.qrs"), &a));
  assert_ok(weir_record_open(in_scratch("rec/ecgsyn"), NULL, &record));
  const int64_t count = weir_record_signal(record, 0)->count;

  for (int64_t t = 0; t < count; t++) {
    for (; at < a.count && a.items[at].time <= t; at++) {
      if (a.items[at].code == WEIR_ANN_NOISE) {
        assert_int_equal(a.items[at].time, t);
        assert_true(a.items[at].subtype == (absent ? 0 : -1));
        absent = !absent;
        n_marks++;
      }
    }
    if (t % 256 == 0) {
      assert_ok(weir_record_read(record, 0, t, 256, x, present));
    }
    assert_int_equal(present[t % 256], !absent);
  }
  assert_int_equal(at, a.count);
  assert_true(n_marks > 6);
  weir_record_close(&record);
  weir_annotations_fini(&a);
}

/* Record 119: a third of its beats are ventricular. The detector calls all of them N; with the
 * types of the reference its rhythm is that of the reference's NN intervals. */
static void types_come_from_the_reference(void **state)
{
  const char *const atr = in_data("wfdb/mitdb/119.atr");

  (void)state;
  eval_of(atr, in_data("bxb/119.gqrs"), "", in_scratch("a"));
  assert_string_equal(hrv_cell(in_scratch("a"), "119.atr", "beat_types"), "annotated");
  assert_string_equal(hrv_cell(in_scratch("a"), "119.gqrs", "beat_types"), "reference");
  const double true_sd = atof(hrv_cell(in_scratch("a"), "119.atr", "sdnn_ms"));
  const double sd = atof(hrv_cell(in_scratch("a"), "119.gqrs", "sdnn_ms"));
  const double nn = atof(hrv_cell(in_scratch("a"), "119.gqrs", "nn"));

  printf("119: SDNN %g ms of the reference, %g of gqrs, %g NN\n", true_sd, sd, nn);
  assert_true(nn > 1050 && nn <= 1098);
  assert_true(fabs(sd - true_sd) < 0.1 * true_sd); /* without types: 277 ms */
}

/* Half an hour: Welch gives no VLF, Lomb does; the cell is empty and the page says why. */
static void what_rests_on_too_little_is_left_out(void **state)
{
  const char *const atr = in_data("wfdb/mitdb/100.atr"), *const gqrs = in_data("bxb/100.gqrs");

  (void)state;
  eval_of(atr, gqrs, "", in_scratch("a"));
  assert_string_equal(hrv_cell(in_scratch("a"), "100.atr", "vlf_ms2"), "");
  assert_true(atof(hrv_cell(in_scratch("a"), "100.atr", "lf_ms2")) > 0);
  assert_string_equal(hrv_cell(in_scratch("a"), "100.atr", "segments"), "6");
  char *page = contents(in_scratch("a/report.html"));

  assert_non_null(strstr(page, "VLF is given by nn.spectrum=lomb alone"));
  free(page);
  eval_of(atr, gqrs, "--set eval.nn.spectrum=lomb", in_scratch("b"));
  assert_true(atof(hrv_cell(in_scratch("b"), "100.atr", "vlf_ms2")) > 0);
  /* A fifth of record 208's intervals are NN: no five minutes are covered. */
  eval_of(in_data("wfdb/mitdb/208.atr"), in_data("bxb/208.gqrs"), "", in_scratch("c"));
  assert_string_equal(hrv_cell(in_scratch("c"), "208.atr", "sdann_ms"), "");
  assert_string_equal(hrv_cell(in_scratch("c"), "208.atr", "segments"), "0");
}

/* Record 100's NN intervals, and record 208's, of which few follow each other: SampEn of them, no
 * coarse graining and no exponent. docs/science/physio_stream.md has the same values. */
static void nonlinear_measures_of_records_are_reproduced(void **state)
{
  static const char *const cells[][3] = {
      {"sd1_ms", "19.4352", "16.7537"}, {"sd2_ms", "47.0197", "54.7212"},
      {"sd1_sd2", "0.4133", "0.3062"},  {"ellipse_ms2", "2870.9077", "2880.1630"},
      {"apen", "1.6959", "0.9558"},     {"sampen", "1.7804", "1.4751"},
      {"mse_ci", "7.3228", ""},         {"dfa_alpha1", "0.9394", ""},
      {"dfa_alpha2", "0.9521", ""}};

  (void)state;
  eval_of(in_data("wfdb/mitdb/100.atr"), in_data("bxb/100.gqrs"), "", in_scratch("a"));
  eval_of(in_data("wfdb/mitdb/208.atr"), in_data("bxb/208.gqrs"), "", in_scratch("b"));
  for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++) {
    assert_string_equal(hrv_cell(in_scratch("a"), "100.atr", cells[k][0]), cells[k][1]);
    assert_string_equal(hrv_cell(in_scratch("b"), "208.atr", cells[k][0]), cells[k][2]);
  }
  char *text = contents(in_scratch("a/mse.csv"));

  assert_non_null(strstr(text, "annotations,scale,sampen\n100.atr,1,1.7804\n100.atr,2,1.6065\n"
                               "100.atr,3,1.4897\n100.atr,4,1.0807\n100.atr,5,1.3655\n"));
  free(text);
  text = contents(in_scratch("b/mse.csv"));
  assert_non_null(strstr(text, "208.atr,1,1.4751\n208.atr,2,\n208.atr,3,\n"));
  free(text);
  assert_string_equal(cell_after(in_scratch("a"), "hrv", "SampEn"), "1.7804");
}

/* The options change what they name; box sizes that do not ascend are refused. */
static void options_of_nonlinear_measures_are_kept(void **state)
{
  const char *const atr = in_data("wfdb/mitdb/100.atr"), *const gqrs = in_data("bxb/100.gqrs");

  (void)state;
  eval_of(atr, gqrs, "--set 'eval.nn.entropy={m: 1, r: 0.1, scales: 1}' --set eval.nn.dfa.ratio=1",
          in_scratch("a"));
  const double sampen = atof(hrv_cell(in_scratch("a"), "100.atr", "sampen"));

  assert_true(sampen > 2 && sampen < 3); /* about log 2 more, of half the tolerance */
  assert_string_equal(hrv_cell(in_scratch("a"), "100.atr", "dfa_alpha1"), "0.9394");
  char *text = contents(in_scratch("a/mse.csv"));

  assert_non_null(strstr(text, "100.atr,1,"));
  assert_null(strstr(text, "100.atr,2,"));
  free(text);
  assert_int_equal(program("eval --set eval.reference=%s --set eval.test=%s "
                           "--set eval.nn.dfa.long_max=12 --out %s",
                           atr, gqrs, in_scratch("b")),
                   2);
  assert_non_null(strstr(printed(), "eval.nn.dfa.long_max"));
  assert_int_equal(program("describe --input %s --set output.nn.dfa.short_max=4", atr), 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(eval_and_run_agree_across_gaps),
      TEST(gaps_are_marked_where_the_signal_is_absent),
      TEST(types_come_from_the_reference),
      TEST(what_rests_on_too_little_is_left_out),
      TEST(nonlinear_measures_of_records_are_reproduced),
      TEST(options_of_nonlinear_measures_are_kept),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
