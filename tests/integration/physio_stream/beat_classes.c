/* beat_classes.c - the classifier of beats, trained on recordings of some patients and tested on
 * others, and atrial fibrillation without the ectopic beats that it finds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "program.h"

#ifdef HAVE_CONFIG_FILES
/* Beats of the class `annotated` of `record` that are found as N, S, V, F, in DIR/confusion.csv. */
static void row_of(const char *dir, const char *record, char annotated, int found[4])
{
  char *text = contents(in_scratch("%s/confusion.csv", dir)), start[64];

  (void)snprintf(start, sizeof start, "\n%s,%c,", record, annotated);
  const char *row = strstr(text, start);

  assert_non_null(row);
  assert_int_equal(
      sscanf(row + strlen(start), "%d,%d,%d,%d", &found[0], &found[1], &found[2], &found[3]), 4);
  free(text);
}

static void run_over(const char *records, const char *out)
{
  assert_int_equal(program("run --overwrite --config %s/query_classes.yaml --set "
                           "'input.records=[%s]' --out %s",
                           CONFIGS, records, in_scratch("%s", out)),
                   0);
}

/* Each record by what is learnt from the two others: nearly all ventricular beats. Fusion beats are
 * of one record alone, and supraventricular ones of one but two, so that they cannot be learnt for
 * it. */
static void learn_from_other_patients(const char *records)
{
  static const struct {
    const char *record;
    int n[4], v[4]; /* annotated N and V: found as N, S, V, F */
  } rows[] = {{"100", {2232, 0, 0, 2}, {0, 0, 1, 0}},
              {"119", {1516, 0, 12, 12}, {0, 2, 441, 0}},
              {"208", {1474, 74, 32, 0}, {4, 6, 975, 0}}};
  int found[4];

  run_over(records, "features");
  assert_int_equal(program("train --overwrite --set 'beats.records=[%s]' --set beats.folder=%s "
                           "--out %s",
                           records, in_scratch("features"), in_scratch("each")),
                   0);
  for (int i = 0; i < 3; i++) {
    row_of("each", rows[i].record, 'N', found);
    for (int k = 0; k < 4; k++) {
      assert_in_range(found[k] + 20, rows[i].n[k] + 15, rows[i].n[k] + 25);
    }
    row_of("each", rows[i].record, 'V', found);
    for (int k = 0; k < 4; k++) {
      assert_in_range(found[k] + 20, rows[i].v[k] + 18, rows[i].v[k] + 22);
    }
  }
}

/* Record 208 by what is learnt from 100 and 119: the same as in the table of the training; and
 * without the beats that are ectopic by it, its rhythm is hardly ever called fibrillation (72.6 %
 * with them). */
static void use_classes(const char *records)
{
  int found[4], seen[5] = {0};

  assert_int_equal(program("train --overwrite --set 'beats.records=[%s]' --set 'beats.test=[%s]' "
                           "--set beats.folder=%s --out %s",
                           records, in_data("wfdb/mitdb/208"), in_scratch("features"),
                           in_scratch("trained")),
                   0);
  row_of("trained", "208", 'V', found);
  assert_in_range(found[2], 970, 985);
  FILE *file = fopen(in_scratch("use.yaml"), "w");

  assert_non_null(file);
  (void)fprintf(file,
                "query:\n  streams: [{name: ecg, signal: \"\"}]\n  steps:\n"
                "    - {name: r, from: [ecg], do: detect}\n"
                "    - {name: waves, from: [ecg, r.rr], do: delineate}\n"
                "    - {name: features, from: [ecg, r.rr, waves.qrs, waves.p], do: {beat_class: "
                "{weights: {file: %s}}}}\n"
                "    - {name: ectopic, from: [features.class], do: {where: {keep: features.class > "
                "1}}}\n"
                "    - {name: rhythm, from: [r.rr, ectopic], do: af}\n"
                "  outputs: [{stream: features, format: csv}, {stream: rhythm, format: csv}]\n",
                in_scratch("trained/beat_class.txt"));
  (void)fclose(file);
  assert_int_equal(program("run --overwrite --config %s --set input.record=%s --out %s",
                           in_scratch("use.yaml"), in_data("wfdb/mitdb/208"),
                           in_scratch("classes")),
                   0);
  char *text = contents(in_scratch("classes/features.csv"));

  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    const char *end = strchr(line, '\n');

    seen[end[-1] - '0']++;
  }
  free(text);
  assert_int_equal(seen[4], 0); /* neither of the two has a fusion beat */
  assert_in_range(seen[3], 1140, 1180);
  double all = 0, irregular = 0;

  text = contents(in_scratch("classes/rhythm.csv"));
  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    all++;
    irregular += strchr(line, '\n')[-1] == '1';
  }
  free(text);
  assert_true(all > 100 && irregular / all < 0.05);
}

/* Of the few supraventricular beats of 100 nothing is learnt, and the table says so. */
static void few_beats_are_not_learnt(const char *records)
{
  char rest[256];

  assert_int_equal(program("train --overwrite --set 'beats.records=[%s]' --set 'beats.test=[%s]' "
                           "--set beats.folder=%s --set beats.min_beats=40 --out %s",
                           records, in_data("wfdb/mitdb/208"), in_scratch("features"),
                           in_scratch("few")),
                   0);
  char *text = contents(in_scratch("few/scores.csv"));
  const char *row = strstr(text, "\nS,");

  assert_non_null(row);
  assert_int_equal(sscanf(row + 1, "%255[^\n]", rest), 1);
  assert_string_equal(strrchr(rest, ','), ",0");
  free(text);
}

static void classes_are_learnt_and_used(void **state)
{
  char two[1024], three[2048];

  (void)snprintf(two, sizeof two, "%s,", in_data("wfdb/mitdb/100"));
  (void)snprintf(two + strlen(two), 500, "%s", in_data("wfdb/mitdb/119"));
  (void)snprintf(three, sizeof three, "%s,%s", two, in_data("wfdb/mitdb/208"));
  learn_from_other_patients(three);
  use_classes(two);
  few_beats_are_not_learnt(two);
}

static void what_cannot_be_learnt_is_refused(void **state)
{
  assert_int_equal(program("train --overwrite --out %s", in_scratch("none")), 2);
  assert_int_equal(program("train --overwrite --set 'beats.records=[%s]' --set 'beats.test=[%s]' "
                           "--set beats.folder=%s --out %s",
                           in_data("wfdb/mitdb/119"), in_data("wfdb/mitdb/119"),
                           in_scratch("features"), in_scratch("none")),
                   2);
  assert_int_equal(program("train --overwrite --set 'beats.records=[%s]' --set beats.folder=%s "
                           "--set beats.file=nothing.csv --out %s",
                           in_data("wfdb/mitdb/119"), in_scratch("features"), in_scratch("none")),
                   3);
  assert_int_equal(
      program("eval --overwrite --set eval.alarms.score=true --out %s", in_scratch("none")), 2);
  assert_int_equal(
      program("eval --overwrite --set eval.alarms.score=true --set 'eval.records=[%s]' "
              "--set eval.folder=%s --set eval.alarms.from=300 --out %s",
              in_data("wfdb/mitdb/119"), in_scratch("features"), in_scratch("none")),
      2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(classes_are_learnt_and_used),
      TEST(what_cannot_be_learnt_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
  printf("skipped: this build reads no YAML\n");
  return 77;
}
#endif
