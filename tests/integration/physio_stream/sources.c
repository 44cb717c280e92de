/* sources.c - what prepare writes of a recording with two signals and defects, and that the record,
 * its truth and a live replay of it agree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/weir_annotation.h"
#include "io/weir_record.h"
#include "program.h"

#define MAKE                                                                            \
  "--set ecgsyn.duration=200.3 --set ecgsyn.gaps.missing=0.1 --set ecgsyn.gaps.mean=3 " \
  "--set ecgsyn.saturation.missing=0.02 --set ecgsyn.saturation.mean=1 "                \
  "--set ecgsyn.abp.on=true --set ecgsyn.abp.gaps.missing=0.1 "                         \
  "--set ecgsyn.abp.gaps.mean=3 --set ecgsyn.abp.zero_every=60 --set ecgsyn.abp.step_every=50 "
enum { ECG = 256, ABP = 125 };

typedef struct signal {
  int64_t n;
  float *x;
  uint8_t *present;
} signal;

static int make_signals(void **state)
{
  (void)make_scratch(state);
  assert_int_equal(program("prepare " MAKE "--out %s", in_scratch("r")), 0);
  return 0;
}

static signal read_signal(const char *record, const char *name, int rate)
{
  signal s = {0};
  weir_record *r = NULL;
  int i = 0;

  assert_ok(weir_record_open(record, NULL, &r));
  assert_ok(weir_record_find(r, name, &i));
  assert_int_equal(weir_record_signal(r, i)->fs_num, rate);
  assert_int_equal(weir_record_signal(r, i)->fs_den, 1);
  s.n = weir_record_signal(r, i)->count;
  s.x = malloc((size_t)s.n * sizeof *s.x);
  s.present = malloc((size_t)s.n);
  assert_ok(weir_record_read(r, i, 0, s.n, s.x, s.present));
  weir_record_close(&r);
  return s;
}

static void drop(signal *s)
{
  free(s->x);
  free(s->present);
}

/* Each row's samples are what the row says, and no other is. */
static void defects_are_where_the_table_says(void **state)
{
  signal s[2] = {read_signal(in_scratch("r/ecgsyn"), "ECG", ECG),
                 read_signal(in_scratch("r/ecgsyn"), "ABP", ABP)};
  uint8_t *gap[2] = {calloc((size_t)s[0].n, 1), calloc((size_t)s[1].n, 1)};
  char *text = contents(in_scratch("r/defects.csv"));
  int kinds[5] = {0};

  assert_int_equal(s[0].n, 201 * ECG); /* whole frames of a second */
  assert_int_equal(s[1].n, 201 * ABP);
  for (char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    static const char *const known[] = {"gap", "saturation", "line_zero", "flush", "clock_step"};
    char name[8], kind[16];
    long long lo = 0, hi = 0;
    double from = 0, to = 0, value = 0;
    int k = 0;

    assert_int_equal(sscanf(line, "%7[^,],%15[^,],%lld,%lld,%lf,%lf,%lf", name, kind, &lo, &hi,
                            &from, &to, &value),
                     7);
    const int which = strcmp(name, "ABP") == 0, rate = which ? ABP : ECG;

    while (strcmp(known[k], kind) != 0) {
      assert_true(++k < 5);
    }
    kinds[k]++;
    assert_near(from * rate, (double)lo, 0.001);
    for (int64_t t = lo; t < hi; t++) {
      gap[which][t] = gap[which][t] || k == 0;
      assert_true(k == 0 || !s[which].present[t] || fabs((double)s[which].x[t] - value) < 1e-3);
    }
  }
  for (int k = 0; k < 5; k++) {
    assert_true(kinds[k] > 0);
  }
  for (int i = 0; i < 2; i++) {
    for (int64_t t = 0; t < (int64_t)(200.3 * (i ? ABP : ECG) + 0.5); t++) {
      assert_int_equal(s[i].present[t], !gap[i][t]);
    }
    free(gap[i]);
    drop(&s[i]);
  }
  free(text);
}

/* Annotation files of a record of frames count samples of their own signal. */
static void truth_is_on_the_clock_of_its_signal(void **state)
{
  weir_annotations onsets, beats;
  char *text = contents(in_scratch("r/abp_onsets.csv"));
  int64_t n = 0;

  assert_ok(weir_annotations_read(in_scratch("r/ecgsyn.abp"), &onsets));
  assert_ok(weir_annotations_read(in_scratch("r/ecgsyn.atr"), &beats));
  assert_int_equal(onsets.fs_num, ABP);
  assert_int_equal(beats.fs_num, ECG);
  assert_true(beats.items[beats.count - 1].time > 190 * ECG);
  for (char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    double sample = 0, time = 0;
    int present = 0;

    assert_int_equal(sscanf(line, "%lf,%lf,%d", &sample, &time, &present), 3);
    if (present) {
      assert_true(fabs((double)onsets.items[n].time - sample) <= 0.51);
      n++;
    }
  }
  assert_int_equal(n, onsets.count);
  assert_true(n > 120);
  weir_annotations_fini(&onsets);
  weir_annotations_fini(&beats);
  free(text);
}

static void the_same_seed_makes_the_same_files(void **state)
{
  static const char *const names[] = {"ecgsyn.dat", "ecgsyn.abp", "defects.csv", "abp_beats.csv"};

  assert_int_equal(program("prepare " MAKE "--out %s", in_scratch("s")), 0);
  for (int i = 0; i < 4; i++) {
    assert_true(same_contents(in_scratch("r/%s", names[i]), in_scratch("s/%s", names[i])));
  }
  assert_int_equal(program("prepare --seed 2 " MAKE "--out %s", in_scratch("t")), 0);
  for (int i = 0; i < 4; i++) {
    assert_false(same_contents(in_scratch("r/%s", names[i]), in_scratch("t/%s", names[i])));
  }
}

/* Two rates on one connection: the stream that is not read does not matter. */
static void a_record_of_two_rates_is_replayed(void **state)
{
  assert_int_equal(program("run --input %s --out %s", in_scratch("r/ecgsyn"), in_scratch("a")), 0);
  assert_int_equal(
      program("replay --log warn --set replay.speed=0 --set replay.shuffle=1.5 --input "
              "%s | %s run --input - --set output.follow=false --out %s",
              in_scratch("r/ecgsyn"), PROGRAM, in_scratch("b")),
      0);
  assert_true(event_number(in_scratch("b"), "live_end", "unused") > 190 * ABP * 0.8);
  assert_true(same_contents(in_scratch("a/beats.csv"), in_scratch("b/beats.csv")));
}

#ifdef HAVE_CONFIG_FILES
/* Ten minutes of pressure whose clock is slower by `ppm`, as recorded and on the clock of the ECG.
 */
static const char aligned[] =
    "query:\n"
    "  streams: [{name: ecg, signal: ECG}, {name: abp, signal: ABP}]\n"
    "  steps:\n"
    "    - {name: r, from: [ecg], do: detect}\n"
    "    - {name: p, from: [abp], do: abp_beats}\n"
    "    - {name: c, from: [r.beat, p.onset], do: {clock: {lag: -0.2, window: 300}}}\n"
    "    - {name: back, from: [abp, c.offset, c.drift], do: align}\n"
    "  outputs: [{stream: abp, format: csv}, {stream: back, format: csv}]\n";

enum { LAST = 600 * ABP };

static void pressure_of(int ppm, const char *stream, float *x, uint8_t *present)
{
  char *text = contents(in_scratch("%d/%s.csv", ppm, stream));

  memset(present, 0, LAST);
  for (const char *line = strchr(text, '\n') + 1; *line != 0; line = strchr(line, '\n') + 1) {
    double time = 0, value = 0;

    assert_int_equal(sscanf(line, "%lf,%lf", &time, &value), 2);
    const int64_t t = llround(time * ABP);

    if (t < LAST) {
      x[t] = (float)value;
      present[t] = 1;
    }
  }
  free(text);
}

/* Root mean square difference of the last five minutes of a stream, with and without drift. */
static double difference(const char *stream)
{
  static float x[2][LAST];
  static uint8_t present[2][LAST];
  double square = 0;
  int64_t n = 0;

  pressure_of(0, stream, x[0], present[0]);
  pressure_of(400, stream, x[1], present[1]);
  for (int64_t t = LAST / 2; t < LAST; t++) {
    if (present[0][t] && present[1][t]) {
      square += pow((double)x[0][t] - (double)x[1][t], 2);
      n++;
    }
  }
  assert_true(n > LAST / 3);
  return sqrt(square / (double)n);
}

/* The delay from R wave to onset is in the offset of both alike. */
static void a_drifting_clock_is_brought_back(void **state)
{
  weir_check_write(in_scratch("q.yaml"), aligned, strlen(aligned));
  for (int ppm = 0; ppm <= 400; ppm += 400) {
    assert_int_equal(program("prepare --overwrite --set ecgsyn.duration=620 --set "
                             "ecgsyn.model.rate=250 --set ecgsyn.abp.on=true --set "
                             "ecgsyn.abp.drift=%d --out %s",
                             ppm, in_scratch("d")),
                     0);
    assert_int_equal(program("run --config %s --set input.record=%s --out %s", in_scratch("q.yaml"),
                             in_scratch("d/ecgsyn"), in_scratch("%d", ppm)),
                     0);
  }
  const double before = difference("abp"), after = difference("back");

  printf("400 ppm: %.2f mmHg as recorded, %.2f mmHg aligned\n", before, after);
  assert_true(before > 10 && after < 1);
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST_AFTER(make_signals, defects_are_where_the_table_says),
      TEST_AFTER(make_signals, truth_is_on_the_clock_of_its_signal),
      TEST_AFTER(make_signals, the_same_seed_makes_the_same_files),
      TEST_AFTER(make_signals, a_record_of_two_rates_is_replayed),
#ifdef HAVE_CONFIG_FILES
      TEST_AFTER(make_signals, a_drifting_clock_is_brought_back),
#endif
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
