/* clocks.c - annotations of records with several rates: scored and converted at their own time
 * resolution, not at that of frames. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/weir_annotation.h"
#include "program.h"

/* Frames of 5 Hz with an ECG of 360 Hz and a pressure of 125 Hz, 600 s. */
enum { FRAMES = 3000, ECG = 72, ABP = 25, BEATS = 1000, RATE = 360, GAP = 100 };

static void write_record(void)
{
  FILE *header = fopen(in_scratch("m.hea"), "w"), *data = fopen(in_scratch("m.dat"), "wb");

  assert_true(header != NULL && data != NULL);
  (void)fprintf(header,
                "m 2 5 %d\nm.dat 16x%d 200/mV 16 0 0 0 0 ECG\nm.dat 16x%d 10/mmHg 16 0 0 0 0 "
                "ABP\n",
                FRAMES, ECG, ABP);
  for (int64_t i = 0; i < (int64_t)FRAMES * (ECG + ABP); i++) {
    const int64_t frame = i / (ECG + ABP), at = frame * ECG + i % (ECG + ABP);
    const bool absent = i % (ECG + ABP) < ECG && at < (int64_t)GAP * RATE;
    const int16_t value = (int16_t)(absent ? INT16_MIN : i % 7);

    assert_true(fwrite(&value, sizeof value, 1, data) == 1);
  }
  (void)fclose(header);
  (void)fclose(data);
}

static int64_t beat_at(int64_t i)
{
  return 90 + i * 215 + i * i % 17;
}

/* Beats of 360 Hz, `late` units late, as a file of `fs` Hz; 0: of one that states none. */
static void write_beats(const char *path, int64_t late, int64_t fs)
{
  weir_annotation items[BEATS];

  for (int64_t i = 0; i < BEATS; i++) {
    items[i] = (weir_annotation){.time = beat_at(i) + late, .code = WEIR_ANN_NORMAL};
  }
  const weir_annotations a = {.fs_num = fs, .fs_den = fs > 0, .count = BEATS, .items = items};

  assert_ok(weir_annotations_write(path, &a));
}

static int score(const char *options, const char *dir)
{
  return program("eval --overwrite --set eval.start=0 %s --set eval.reference=%s --set "
                 "eval.test=%s --out %s",
                 options, in_scratch("m.atr"), in_scratch("m.qrs"), dir);
}

/* Beats 50 ms late are all found within 150 ms, and their intervals are exact. */
static void beats_are_scored_at_the_resolution_of_their_files(void **state)
{
  const char *dir = in_scratch("e");

  write_record();
  write_beats(in_scratch("m.atr"), 0, RATE);
  write_beats(in_scratch("m.qrs"), 18, RATE);
  assert_int_equal(score("", dir), 0);
  scores s = read_scores(dir);

  assert_true(s.tp == BEATS && s.fn == 0 && s.fp == 0);
  /* One sample more than the window. */
  write_beats(in_scratch("m.qrs"), 55, RATE);
  assert_int_equal(score("", dir), 0);
  s = read_scores(dir);
  assert_true(s.tp == 0 && s.fn == BEATS);
  char *text = contents(in_scratch("e/errors.csv"));
  char first[64];

  (void)snprintf(first, sizeof first, "\nm,%d,00:00:00.250,missed\n", (int)beat_at(0));
  assert_non_null(strstr(text, first));
  free(text);
}

/* The missed beats of a gap are distinguished. */
static void missed_beats_in_gaps_are_counted(void **state)
{
  weir_annotations a;
  int64_t in_gap = 0, n = 0;

  write_record();
  write_beats(in_scratch("m.atr"), 0, RATE);
  assert_ok(weir_annotations_read(in_scratch("m.atr"), &a));
  for (int64_t i = 0; i < BEATS; i++) {
    in_gap += beat_at(i) < (int64_t)GAP * RATE;
    if (beat_at(i) >= (int64_t)(GAP + 1) * RATE) {
      a.items[n++] = a.items[i];
    }
  }
  a.count = n;
  assert_ok(weir_annotations_write(in_scratch("m.qrs"), &a));
  weir_annotations_fini(&a);
  assert_int_equal(score("", in_scratch("e")), 0);
  assert_non_null(strstr(printed(), "input.from or input.to"));
  const scores s = read_scores(in_scratch("e"));

  assert_true(s.tp == n && s.fn >= in_gap && in_gap > 100);
  assert_true(event_number(in_scratch("e"), "score", "fn_in_gaps") == (double)in_gap);
}

/* Without a resolution times count frames, unless eval.fs says what they count. */
static void a_stated_rate_is_that_of_files_without_one(void **state)
{
  const char *dir = in_scratch("e");

  write_record();
  write_beats(in_scratch("m.atr"), 0, 0);
  write_beats(in_scratch("m.qrs"), 18, 0);
  assert_int_equal(score("--set eval.fs=360", dir), 0);
  assert_true(read_scores(dir).tp == BEATS);
  assert_null(strstr(printed(), "after the end of the record"));
  assert_int_equal(score("", dir), 0);
  assert_non_null(strstr(printed(), "which the file does not state (else set eval.fs)"));
}

/* Files of different resolutions, and of none, without any record: both state all that is needed.
 */
static void annotations_that_state_their_resolution_need_no_record(void **state)
{
  weir_annotation items[BEATS];
  const weir_annotations a = {.fs_num = 500, .fs_den = 1, .count = BEATS, .items = items};

  for (int64_t i = 0; i < BEATS; i++) {
    items[i] = (weir_annotation){.time = llround((double)beat_at(i) * 500 / RATE + 75),
                                 .code = WEIR_ANN_NORMAL};
  }
  write_beats(in_scratch("m.atr"), 0, RATE);
  assert_ok(weir_annotations_write(in_scratch("m.qrs"), &a));
  assert_int_equal(score("", in_scratch("e")), 0);
  const scores s = read_scores(in_scratch("e"));

  assert_true(s.tp > BEATS / 3 && s.fn > BEATS / 3); /* 150 ms, rounded up or down */
  write_beats(in_scratch("m.atr"), 0, 0);
  assert_int_equal(score("", in_scratch("e")), 3);
  assert_non_null(strstr(printed(), "--set eval.fs=HZ"));
}

/* convert keeps the resolution: no time moves. */
static void conversion_keeps_the_times_of_annotations(void **state)
{
  weir_annotations a;

  write_record();
  write_beats(in_scratch("m.atr"), 0, RATE);
  assert_int_equal(program("convert --input %s --set convert.annotations=%s --set "
                           "convert.format=wfdb --out %s",
                           in_scratch("m"), in_scratch("m.atr"), in_scratch("w")),
                   0);
  assert_ok(weir_annotations_read(in_scratch("w/m.atr"), &a));
  assert_true(a.fs_num == RATE && a.fs_den == 1 && a.count == BEATS);
  for (int64_t i = 0; i < BEATS; i++) {
    assert_int_equal(a.items[i].time, beat_at(i));
  }
  weir_annotations_fini(&a);
}

/* Files that are no annotations, and a range without a beat. */
static void what_cannot_be_scored_is_refused(void **state)
{
  write_record();
  write_beats(in_scratch("m.atr"), 0, RATE);
  write_beats(in_scratch("m.qrs"), 0, RATE);
  assert_int_equal(program("eval --set eval.reference=%s --set eval.test=%s --out %s",
                           in_scratch("m.dat"), in_scratch("m.qrs"), in_scratch("e")),
                   3);
  assert_non_null(strstr(printed(), "files .dat are no annotation files"));
  assert_int_equal(
      program("eval --set input.to=90 --set eval.reference=%s --set eval.test=%s --out "
              "%s",
              in_scratch("m.atr"), in_scratch("m.qrs"), in_scratch("e")),
      2);
  assert_non_null(strstr(printed(), "ends at 90 s (input.to)"));
}

/* A list of recordings under another name, and an ECG in microvolts that says mV. */
static void misleading_inputs_are_named(void **state)
{
  static const char list[] = "m\n", *const beats = "time_s,ECG_mV\n";
  FILE *out = fopen(in_scratch("u.csv"), "w");

  write_record();
  weir_check_write(in_scratch("list.txt"), list, sizeof list - 1);
  assert_int_equal(
      program("run --set input.records=[%s] --out %s", in_scratch("list.txt"), in_scratch("r")), 2);
  assert_non_null(strstr(printed(), "named RECORDS"));
  assert_non_null(out);
  (void)fputs(beats, out);
  for (int i = 0; i < 5000; i++) {
    (void)fprintf(out, "%.3f,%d\n", i / 250.0, i % 200 == 0 ? 1000 : i % 7 * 10);
  }
  (void)fclose(out);
  assert_int_equal(program("run --set input.csv=%s --out %s", in_scratch("u.csv"), in_scratch("u")),
                   0);
  assert_non_null(strstr(printed(), "implausible for an ECG"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(beats_are_scored_at_the_resolution_of_their_files),
      TEST(missed_beats_in_gaps_are_counted),
      TEST(a_stated_rate_is_that_of_files_without_one),
      TEST(annotations_that_state_their_resolution_need_no_record),
      TEST(conversion_keeps_the_times_of_annotations),
      TEST(what_cannot_be_scored_is_refused),
      TEST(misleading_inputs_are_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
