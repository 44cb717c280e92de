/* convert.c - the command convert: files, events, refusals; memory that does not grow with the
 * record.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "io/weir_annotation.h"
#include "io/weir_netcdf.h"
#include "program.h"

/* The built-in recording and its beats. */
static void make_record(double duration)
{
  assert_int_equal(program("prepare --set ecgsyn.duration=%g --out %s", duration, in_scratch("r")),
                   0);
}

static void there_and_back_is_the_same_file(void **state)
{
  weir_annotations a, b;

  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  make_record(60);
  assert_int_equal(program("convert --set input.record=%s --set convert.annotations=%s --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("r/ecgsyn.atr"), in_scratch("n")),
                   0);
  assert_true(event_number(in_scratch("n"), "convert_end", "clipped") == 0);
  assert_int_equal(program("convert --set input.record=%s --set convert.format=wfdb --out %s",
                           in_scratch("n/ecgsyn.nc"), in_scratch("w")),
                   0);
  assert_true(same_contents(in_scratch("r/ecgsyn.dat"), in_scratch("w/ecgsyn.dat")));
  assert_ok(weir_annotations_read(in_scratch("r/ecgsyn.atr"), &a));
  assert_ok(weir_annotations_read(in_scratch("w/ecgsyn.atr"), &b));
  assert_true(a.count > 30 && a.count == b.count);
  for (int64_t i = 0; i < a.count; i++) {
    assert_true(a.items[i].time == b.items[i].time && a.items[i].code == b.items[i].code);
  }
  weir_annotations_fini(&a);
  weir_annotations_fini(&b);
  /* Beats do not depend on the format they are found in. */
  assert_int_equal(
      program("run --set input.record=%s --out %s", in_scratch("r/ecgsyn"), in_scratch("x")), 0);
  assert_int_equal(
      program("run --set input.record=%s --out %s", in_scratch("n/ecgsyn.nc"), in_scratch("y")), 0);
  assert_true(same_contents(in_scratch("x/beats.csv"), in_scratch("y/beats.csv")));
}

/* EDF+ and BDF+ keep the integers, gaps and beats of a recording, continuous or interrupted. */
static void edf_comes_back_as_the_same_file(void **state)
{
  static const char *const kinds[][3] = {
      {"edf", "false", "EDF+D"}, {"bdf", "false", "BDF+D"}, {"edf", "true", "EDF+C"}};

  assert_int_equal(program("prepare --set ecgsyn.duration=60 --set ecgsyn.gaps.missing=0.2 --set "
                           "ecgsyn.gaps.mean=3 --out %s",
                           in_scratch("r")),
                   0);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(program("convert --overwrite --input %s --set convert.annotations=%s --set "
                             "convert.format=%s --set convert.continuous=%s --out %s",
                             in_scratch("r/ecgsyn"), in_scratch("r/ecgsyn.atr"), kinds[k][0],
                             kinds[k][1], in_scratch("e")),
                     0);
    char *const bytes = contents(in_scratch("e/ecgsyn.%s", kinds[k][0]));

    assert_memory_equal(bytes + 192, kinds[k][2], 5);
    free(bytes);
    assert_int_equal(program("convert --overwrite --input %s --set convert.format=wfdb --out %s",
                             in_scratch("e/ecgsyn.%s", kinds[k][0]), in_scratch("w")),
                     0);
    if (k != 1) { /* 24 bits stay 24 */
      assert_true(same_contents(in_scratch("r/ecgsyn.dat"), in_scratch("w/ecgsyn.dat")));
    }
    assert_int_equal(
        program("run --overwrite --input %s --out %s", in_scratch("r/ecgsyn"), in_scratch("x")), 0);
    assert_int_equal(program("run --overwrite --input %s --out %s",
                             in_scratch("e/ecgsyn.%s", kinds[k][0]), in_scratch("y")),
                     0);
    assert_true(same_contents(in_scratch("x/beats.csv"), in_scratch("y/beats.csv")));
  }
}

/* `prepare` says how it made the recording. */
static void comments_of_the_header_are_kept_unless_told_otherwise(void **state)
{
  make_record(10);
  for (int keep = 0; keep < 2; keep++) {
    assert_int_equal(program("convert --input %s --set convert.format=wfdb --set "
                             "convert.comments=%s --out %s",
                             in_scratch("r/ecgsyn"), keep ? "true" : "false",
                             in_scratch("w%d", keep)),
                     0);
    assert_non_null(strstr(printed(), keep ? "are kept: see that" : "are left out"));
    char *before = contents(in_scratch("r/ecgsyn.hea"));
    char *after = contents(in_scratch("w%d/ecgsyn.hea", keep));

    assert_non_null(strchr(before, '#'));
    if (keep) {
      assert_string_equal(strchr(after, '#'), strchr(before, '#'));
    } else {
      assert_null(strchr(after, '#'));
    }
    free(before);
    free(after);
  }
}

static void text_is_read_as_it_was_written(void **state)
{
  make_record(30);
  assert_int_equal(program("convert --set input.record=%s --set convert.format=csv --set "
                           "convert.name=t --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("c")),
                   0);
  assert_int_equal(
      program("run --set input.record=%s --out %s", in_scratch("r/ecgsyn"), in_scratch("x")), 0);
  assert_int_equal(
      program("run --set input.csv=%s --out %s", in_scratch("c/t.csv"), in_scratch("y")), 0);
  assert_true(same_contents(in_scratch("x/beats.csv"), in_scratch("y/beats.csv")));
}

static void what_is_wrong_is_refused(void **state)
{
  make_record(10);
  assert_int_equal(program("convert --out %s", in_scratch("a")), 2);
  assert_non_null(strstr(printed(), "input.record"));
  assert_int_equal(program("convert --set input.record=%s --set convert.format=gif --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("a")),
                   2);
  assert_int_equal(program("convert --set input.record=%s --set convert.name=../x --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("b")),
                   2);
  assert_non_null(strstr(printed(), "convert.name"));
  assert_int_equal(program("convert --set input.record=%s --set convert.annotations=%s --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("none.atr"), in_scratch("c")),
                   3);
  assert_true(only_log(in_scratch("c")));
}

/* A clipped record, a format that does not fit: nothing appears next to what was there. */
static void a_failure_leaves_nothing_behind(void **state)
{
  static const char wild[] = "0,5\n0.01,5000\n0.02,-5000\n0.03,5\n0.04,5\n";

  weir_check_write(in_scratch("wild.csv"), wild, sizeof wild - 1);
  assert_int_equal(program("convert --set input.csv=%s --set convert.format=wfdb --set "
                           "convert.gain=1000 --out %s",
                           in_scratch("wild.csv"), in_scratch("a")),
                   2);
  assert_non_null(strstr(printed(), "2 of 5 samples lie beyond the range"));
  assert_non_null(strstr(printed(), "convert.gain"));
  assert_true(only_log(in_scratch("a")));
  assert_int_equal(program("convert --set input.csv=%s --set convert.format=wfdb --set "
                           "convert.gain=1000 --set convert.clip=0.4 --out %s",
                           in_scratch("wild.csv"), in_scratch("b")),
                   0);
  assert_true(event_number(in_scratch("b"), "convert_end", "clipped") == 2);
}

/* An ECG in volts: a step of 1 mV would leave nothing of it. */
static void steps_wider_than_the_signal_are_refused(void **state)
{
  static const char volts[] = "time (s),ECG (V)\n0,0.0012\n0.01,-0.0003\n0.02,0.00041\n";

  weir_check_write(in_scratch("v.csv"), volts, sizeof volts - 1);
  assert_int_equal(program("convert --set input.csv=%s --set convert.format=wfdb --set "
                           "convert.gain=1000 --out %s",
                           in_scratch("v.csv"), in_scratch("a")),
                   2);
  assert_non_null(strstr(printed(), "signal ECG: steps of 0.001 V (gain 1000)"));
  assert_non_null(strstr(printed(), "raise the gain, the steps per unit, to 3.5e+04 or more"));
  assert_non_null(strstr(printed(), "(convert.gain; convert.rounding is the share)"));
  assert_true(only_log(in_scratch("a")));
  assert_int_equal(program("convert --set input.csv=%s --set convert.format=wfdb --set "
                           "convert.gain=3.5e4 --out %s",
                           in_scratch("v.csv"), in_scratch("b")),
                   0);
  /* Unless stated, the gain follows from the values: 32000 / 0.0012 to three digits. */
  assert_int_equal(program("convert --set input.csv=%s --set convert.format=wfdb --out %s",
                           in_scratch("v.csv"), in_scratch("c")),
                   0);
  char *header = contents(in_scratch("c/v.hea"));

  assert_non_null(strstr(header, " 26600000"));
  free(header);
}

/* The folder is its own input's, which a log there notes; then one that no log notes. */
/* One value of -9999 among 400 of an ECG would leave it six steps of 32000; a wave of any size uses
 * its 16 bits. */
static void an_outlier_does_not_choose_the_gain(void **state)
{
  for (int k = 0; k < 2; k++) {
    FILE *const out = fopen(in_scratch("ecg.csv"), "w");

    assert_non_null(out);
    fprintf(out, "time (s),ECG (mV)\n");
    for (int i = 0; i < 400; i++) {
      fprintf(out, "%.2f,%.4f\n", 0.01 * i, k == 0 && i == 200 ? -9999.0 : sin(0.3 * i));
    }
    assert_int_equal(fclose(out), 0);
    assert_int_equal(program("convert --set input.csv=%s --set convert.format=wfdb --out %s",
                             in_scratch("ecg.csv"), in_scratch("g%d", k)),
                     k == 0 ? 2 : 0);
  }
  assert_int_equal(program("convert --set input.csv=%s --set convert.format=wfdb --set "
                           "convert.gain=1000 --out %s",
                           in_scratch("ecg.csv"), in_scratch("stated")),
                   0);
  FILE *const out = fopen(in_scratch("ecg.csv"), "a");

  assert_non_null(out);
  fprintf(out, "4.00,-9999\n");
  assert_int_equal(fclose(out), 0);
  assert_int_equal(program("convert --set input.csv=%s --set convert.format=wfdb --out %s",
                           in_scratch("ecg.csv"), in_scratch("h")),
                   2);
  assert_non_null(strstr(printed(), "its largest magnitude, 9999, is more than 64 times"));
  assert_non_null(strstr(printed(), "(convert.gain)"));
  assert_true(only_log(in_scratch("h")));
}

static void an_input_is_not_replaced(void **state)
{
  make_record(10);
  assert_int_equal(program("convert --input %s --set convert.format=csv --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("o")),
                   0);
  assert_int_equal(program("convert --overwrite --input %s --set convert.format=wfdb --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("r")),
                   2);
  assert_non_null(strstr(printed(), "r/ecgsyn.hea: an input of this run"));
  assert_true(weir_file_exists(in_scratch("r/provenance.json")));
  assert_true(event_number(in_scratch("r"), "start", "seed") >= 0); /* the log of prepare */
  assert_int_equal(program("convert --input %s --set convert.format=csv --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("p")),
                   0);
  assert_true(same_contents(in_scratch("o/ecgsyn.csv"), in_scratch("p/ecgsyn.csv")));
  assert_int_equal(program("convert --overwrite --input %s --set convert.format=csv --out %s",
                           in_scratch("p/ecgsyn.csv"), in_scratch("p")),
                   2);
  assert_non_null(strstr(printed(), "p/ecgsyn.csv: an input of this run"));
  assert_true(same_contents(in_scratch("o/ecgsyn.csv"), in_scratch("p/ecgsyn.csv")));
  assert_int_equal(program("convert --overwrite --input %s --set convert.format=csv --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("p")),
                   0); /* its own result */
}

/* A user's annotations have the name of a result. */
static void files_of_the_user_are_not_replaced(void **state)
{
  static const char mine[] = "mine";

  make_record(10);
  weir_check_write(in_scratch("r/ecgsyn.qrs"), mine, sizeof mine - 1);
  assert_int_equal(
      program("run --overwrite --input %s --out %s", in_scratch("r/ecgsyn"), in_scratch("r")), 2);
  assert_non_null(strstr(printed(), "r/ecgsyn.qrs: is not recorded as a file of an earlier run"));
  assert_int_equal(weir_file_exists(in_scratch("r/beats.csv")), 0);
  assert_true(weir_file_exists(in_scratch("r/waves.csv")));
  int64_t size = 0;
  assert_ok(weir_file_size(in_scratch("r/ecgsyn.qrs"), &size));
  assert_int_equal(size, sizeof mine - 1);
}

static long peak_of_children(void)
{
  struct rusage usage;

  assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
  return usage.ru_maxrss;
}

#if defined(__SANITIZE_ADDRESS__)
enum { MAX_GROWTH = 256 << 10 }; /* KiB; the sanitizer keeps what was freed for a while */
#else
enum { MAX_GROWTH = 4096 };
#endif

/* Ten times the record, the same memory. */
static void memory_does_not_grow_with_the_record(void **state)
{
  const char *formats[] = {"wfdb", "csv", "edf", "netcdf"};
  long peaks[2] = {0};

  for (int size = 0; size < 2; size++) {
    assert_int_equal(program("prepare --overwrite --set ecgsyn.duration=%d --out %s",
                             size == 0 ? 1200 : 12000, in_scratch("r")),
                     0);
    for (int i = 0; i < (weir_netcdf_available() ? 4 : 3); i++) {
      assert_int_equal(program("convert --overwrite --set input.record=%s --set convert.format=%s "
                               "--set convert.name=c --out %s",
                               in_scratch("r/ecgsyn"), formats[i], in_scratch("c")),
                       0);
    }
    peaks[size] = peak_of_children();
  }
  printf("peak memory: %ld KiB for 20 minutes, %ld KiB for 200\n", peaks[0], peaks[1]);
  assert_true(peaks[1] - peaks[0] < MAX_GROWTH);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(there_and_back_is_the_same_file),
      TEST(edf_comes_back_as_the_same_file),
      TEST(comments_of_the_header_are_kept_unless_told_otherwise),
      TEST(text_is_read_as_it_was_written),
      TEST(what_is_wrong_is_refused),
      TEST(a_failure_leaves_nothing_behind),
      TEST(steps_wider_than_the_signal_are_refused),
      TEST(an_outlier_does_not_choose_the_gain),
      TEST(an_input_is_not_replaced),
      TEST(files_of_the_user_are_not_replaced),
      TEST(memory_does_not_grow_with_the_record),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
