/* bad_input.c - malformed, truncated, lying and hostile input: exit 3 with the place, nothing left
 * but the log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "program.h"

static int make_record(void **state)
{
  (void)make_scratch(state);
  return program("prepare --set ecgsyn.duration=20 --out %s", in_scratch("r"));
}

/* Runs on a record whose header is `header`, or on the file `csv` as it is. */
static void header_is_refused(const char *header, const char *because)
{
  weir_check_write(in_scratch("r/ecgsyn.hea"), header, strlen(header));
  const int status = program("run --overwrite --set input.record=%s --out %s",
                             in_scratch("r/ecgsyn"), in_scratch("out"));

  if (status != 3 || strstr(printed(), because) == NULL) {
    printf("status %d for the header:\n%s\nprinted:\n%s\n", status, header, printed());
  }
  assert_int_equal(status, 3);
  assert_non_null(strstr(printed(), because));
  assert_true(only_log(in_scratch("out")));
  assert_int_equal(event_count(in_scratch("out"), "failed"), 1);
}

static void wrong_headers_are_refused_with_their_place(void **state)
{
  static const struct {
    const char *header, *because;
  } cases[] = {
      {"", "ecgsyn"},
      {"ecgsyn\n", "ecgsyn.hea:1"},
      {"ecgsyn one 256 5120\n", "ecgsyn.hea:1"},
      {"ecgsyn 1 0 5120\necgsyn.dat 16 5000/mV\n", "ecgsyn.hea:1"},
      {"ecgsyn 1 nan 5120\necgsyn.dat 16 5000/mV\n", "ecgsyn.hea:1"},
      {"ecgsyn 1 256 5120\n", "ecgsyn"},
      {"ecgsyn 2 256 5120\necgsyn.dat 16 5000/mV\n", "ecgsyn"},
      {"ecgsyn 1 256 5120\necgsyn.dat 17 5000/mV\n", "ecgsyn.hea:2"},
      {"ecgsyn 1 256 5120\necgsyn.dat 16 nan/mV\n", "ecgsyn.hea:2"},
      {"ecgsyn 1 256 5120\n/etc/passwd 16 5000/mV\n", "ecgsyn.hea:2"},
      {"ecgsyn 1 256 5120\n../r/ecgsyn.dat 16 5000/mV\n", "ecgsyn.hea:2"},
      {"ecgsyn 1 256 5120\nmissing.dat 16 5000/mV\n", "missing.dat"},
      {"ecgsyn 1 256 5121\necgsyn.dat 16 5000/mV\n", "5121"},
      {"ecgsyn 1 256 9223372036854775807\necgsyn.dat 16 5000/mV\n", "ecgsyn"},
      {"ecgsyn 2147483647 256 5120\necgsyn.dat 16 5000/mV\n", "ecgsyn.hea:1"},
      {"ecgsyn 1 256 5120\necgsyn.dat 16x100000 5000/mV\n", "ecgsyn.hea:2"},
      {"ecgsyn/3 1 256 5120\necgsyn 1000\necgsyn 1000\necgsyn 1000\n", "ecgsyn"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    header_is_refused(cases[i].header, cases[i].because);
  }
}

static void a_truncated_record_is_refused_unless_accepted(void **state)
{
  assert_int_equal(truncate(in_scratch("r/ecgsyn.dat"), 5000), 0);
  assert_int_equal(
      program("run --set input.record=%s --out %s", in_scratch("r/ecgsyn"), in_scratch("a")), 3);
  assert_non_null(strstr(printed(), "5120"));
  assert_non_null(strstr(printed(), "2500"));
  assert_non_null(strstr(printed(), "--set input.allow_short=true"));
  assert_true(only_log(in_scratch("a")));
  assert_int_equal(program("run --set input.record=%s --set input.allow_short=true --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("b")),
                   0);
  assert_true(event_number(in_scratch("b"), "run_end", "absent") == 5120 - 2500);
  assert_non_null(strstr(printed(), "2620 of 5120 samples, the last 10.2344 s, are missing"));
  assert_int_equal(event_count(in_scratch("b"), "checksum_wrong"), 0); /* that is the shortness */
}

/* One bit of the samples: beats may still be right, and old headers are wrong, so it is a warning.
 */
static void samples_that_are_not_those_of_the_checksum_are_told(void **state)
{
  const char *const path = in_scratch("r/ecgsyn.dat");
  char *data = contents(path);

  assert_int_equal(
      program("run --set input.record=%s --out %s", in_scratch("r/ecgsyn"), in_scratch("good")), 0);
  assert_null(strstr(printed(), "checksum"));
  data[2001] ^= 1; /* the high byte: 256 steps */
  weir_check_write(path, data, 2 * 5120);
  free(data);
  assert_int_equal(
      program("run --set input.record=%s --out %s", in_scratch("r/ecgsyn"), in_scratch("a")), 0);
  const char *const said = strstr(printed(), "signal ECG: the header states the checksum");

  assert_non_null(said);
  assert_null(strstr(said + 40, "the header states"));
  assert_int_equal(event_count(in_scratch("a"), "checksum_wrong"), 1);
  const int by = (int)(event_number(in_scratch("a"), "checksum_wrong", "found") -
                       event_number(in_scratch("a"), "checksum_wrong", "header"));

  assert_true((by & 0xffff) == 256 || (by & 0xffff) == 0xff00);
  assert_non_null(strstr(cell_after(in_scratch("a"), "summary", "checksum"), "WRONG"));
  assert_int_equal(
      program("run --set input.record=%s --set 'query.streams=[{name: ecg, signal: ECG}]' "
              "--set 'query.outputs=[{stream: ecg, format: csv}]' --out %s",
              in_scratch("r/ecgsyn"), in_scratch("b")),
      0);
  assert_int_equal(event_count(in_scratch("b"), "checksum_wrong"), 1);
}

static void wrong_text_files_are_refused(void **state)
{
  static const char *const wrong[] = {"", "a,b\n", "1,2\nx,3\n", "0,1\n1\n2,3,4\n"};

  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    weir_check_write(in_scratch("t.csv"), wrong[i], strlen(wrong[i]));
    assert_int_equal(program("run --overwrite --set input.csv=%s --set input.fs=100 --out %s",
                             in_scratch("t.csv"), in_scratch("out")),
                     3);
    assert_non_null(strstr(printed(), "t.csv"));
    assert_true(only_log(in_scratch("out")));
  }
}

static void what_is_missing_or_meaningless_is_named(void **state)
{
  assert_int_equal(program("run --set input.record=/nowhere/x --out %s", in_scratch("a")), 3);
  assert_non_null(strstr(printed(), "/nowhere/x"));
  assert_int_equal(program("run --set input.record=%s --set input.signal=ABP --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("b")),
                   2);
  assert_non_null(strstr(printed(), "ECG"));
  assert_int_equal(program("run --set input.record=a --set input.csv=b --out %s", in_scratch("c")),
                   2);
  assert_int_equal(program("run --set input.recrod=a --out %s", in_scratch("d")), 2);
  assert_non_null(strstr(printed(), "nearest known key: record"));
  assert_int_equal(program("run --set detect.threshold=7 --out %s", in_scratch("e")), 2);
  assert_int_equal(program("run --set input.record=%s --set output.start=20 --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("g")),
                   2);
  assert_non_null(strstr(printed(), "output.start"));
  assert_non_null(strstr(printed(), "20 s long"));
  assert_int_equal(program("run --set input.record=%s --set input.fs=360 --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("i")),
                   2);
  assert_non_null(strstr(printed(), "is 360 Hz, but files of format wfdb state their own"));
  assert_non_null(strstr(printed(), "leave input.fs out"));
  const char *const timed = "time,ECG\n0,1\n0.004,2\n0.008,3\n0.012,2\n";

  weir_check_write(in_scratch("timed.csv"), timed, strlen(timed));
  assert_int_equal(program("run --set input.csv=%s --set input.fs=500 --out %s",
                           in_scratch("timed.csv"), in_scratch("i")),
                   2);
  assert_non_null(strstr(printed(), "is 500 Hz, but the file states 250 Hz"));
  assert_non_null(strstr(printed(), "leave input.fs out"));
  weir_check_write(in_scratch("bare.csv"), "1\n2\n", 4);
  assert_int_equal(
      program("convert --set input.csv=%s --out %s", in_scratch("bare.csv"), in_scratch("j")), 2);
  assert_non_null(strstr(printed(), "--set input.fs=HZ"));
  assert_int_equal(program("run --set input.record=%s --set stream.window=1e-9 --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("h")),
                   2);
  assert_non_null(strstr(printed(), "stream.window: 1e-09 s is shorter than a sample"));
  assert_non_null(strstr(printed(), "at least 0.00390625 s"));
  assert_int_equal(program("run --device cuda --out %s", in_scratch("f")), 7);
}

/* A refusal says what to write instead. */
static void refusals_say_what_to_do(void **state)
{
  static const struct {
    const char *arguments, *says;
    int status;
  } cases[] = {
      {"run --set detect.front.lo=30", "detect.front.lo is 30 Hz and detect.front.hi 20 Hz", 2},
      {"run --set ecgsyn.duration=60 --set input.signal=MCL1", "set input.record (--input PATH)",
       2},
      {"run --input tpc:80", "its addresses are -, tcp:[HOST:]PORT and unix:PATH", 3},
      {"run --input a --input b",
       "--input: b: is given twice: name several with --set "
       "'input.records=[A, B]'",
       2},
      {"eval --set eval.test=x.qrs", "eval.reference names no annotation file: give one with its",
       2},
      {"eval --set eval.reference=no/such --set eval.test=x.qrs",
       "reference no/such: there is no such file: an annotation file is wanted", 3},
      {"site check --set site.dataset=.", "give a folder that `site prepare` made", 3},
      {"run --set ecgsyn.duration=60 --set 'query.streams=[{name: ecg, signal: ECG}]' --set "
       "'query.outputs=[{stream: z}]' "
       "--set 'query.steps=[{name: z, from: [ecg], do: {hr: {}}}]'",
       "find them by a step `detect`, say r, and take from: [r.rr]", 2},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const int status = program("%s --out %s", cases[i].arguments, in_scratch("out%d", (int)i));

    if (status != cases[i].status || strstr(printed(), cases[i].says) == NULL) {
      printf("status %d of: %s\nprinted:\n%s\n", status, cases[i].arguments, printed());
    }
    assert_int_equal(status, cases[i].status);
    assert_non_null(strstr(printed(), cases[i].says));
  }
  weir_check_write(in_scratch("uv.csv"), "A [uV],B [uV]\n1,2\n3,4\n", 22);
  assert_int_equal(program("run --set input.csv=%s --set input.fs=100 --out %s",
                           in_scratch("uv.csv"), in_scratch("uv")),
                   2);
  assert_non_null(strstr(printed(), "0 A (uV), 1 B (uV): --set input.signal=NAME"));
  assert_int_equal(program("run --input - --set input.max_bad_lines=2 --out %s < %s",
                           in_scratch("junk"), in_scratch("uv.csv")),
                   3);
  assert_non_null(strstr(printed(), "input.max_bad_lines says how many may be"));
}

/* 40 s at 100 Hz of which the first 10 are absent, and the rest has no beat. */
static void a_flat_signal_that_begins_late_is_shown_and_warned_of(void **state)
{
  FILE *out = fopen(in_scratch("flat.csv"), "w");

  assert_non_null(out);
  for (int i = 0; i < 4000; i++) {
    (void)fputs(i < 1000 ? "nan\n" : "0.5\n", out);
  }
  assert_int_equal(fclose(out), 0);
  assert_int_equal(program("run --set input.csv=%s --set input.fs=100 --out %s",
                           in_scratch("flat.csv"), in_scratch("a")),
                   0);
  assert_non_null(strstr(printed(), "no beat was found"));
  char *page = contents(in_scratch("a/report.html"));
  char *strip = contents(in_scratch("a/figures/strip.csv"));

  assert_non_null(strstr(page, "from 10 s, where the signal begins"));
  assert_non_null(strstr(page, "no intervals"));
  assert_non_null(strstr(strip, "\nsignal,10,0.5,"));
  free(page);
  free(strip);
  assert_int_equal(program("run --overwrite --set input.csv=%s --set input.fs=100 --set "
                           "output.start=2 --set output.strip=5 --out %s",
                           in_scratch("flat.csv"), in_scratch("a")),
                   0);
  page = contents(in_scratch("a/report.html"));
  assert_non_null(strstr(page, "no signal here"));
  free(page);
}

/* The filters meet a beginning that is a bump to them. */
static void the_one_beat_of_a_signal_without_any_is_warned_of(void **state)
{
  FILE *out = fopen(in_scratch("ramp.csv"), "w");

  assert_non_null(out);
  for (int i = 1; i <= 5000; i++) {
    (void)fprintf(out, "%d\n", i);
  }
  assert_int_equal(fclose(out), 0);
  weir_check_write(in_scratch("two.csv"), "1\n2\n", 4);
  assert_int_equal(program("run --set input.csv=%s --set input.fs=250 --out %s",
                           in_scratch("ramp.csv"), in_scratch("a")),
                   0);
  assert_non_null(strstr(printed(), "1 beats in 20 s of ramp, signal value: fewer than 4 say"));
  assert_int_equal(program("run --set input.csv=%s --set input.fs=250 --out %s",
                           in_scratch("two.csv"), in_scratch("b")),
                   0);
  assert_non_null(strstr(printed(), "1 beats in 0.008 s of two"));
  assert_int_equal(
      program("run --set input.record=%s --out %s", in_scratch("r/ecgsyn"), in_scratch("c")), 0);
  assert_null(strstr(printed(), "fewer than"));
}

static void wrong_annotations_are_refused(void **state)
{
  const char *dir = in_scratch("out");

  assert_int_equal(truncate(in_scratch("r/ecgsyn.atr"), 7), 0);
  assert_int_equal(program("eval --set eval.start=0 --set eval.reference=%s --set eval.test=%s "
                           "--out %s",
                           in_scratch("r/ecgsyn.atr"), in_scratch("r/ecgsyn.atr"), dir),
                   3);
  assert_non_null(strstr(printed(), "ecgsyn.atr"));
  assert_true(only_log(dir));
}

static void a_record_that_ends_before_the_start_is_refused(void **state)
{
  assert_int_equal(program("eval --set eval.reference=%s --set eval.test=%s --out %s",
                           in_scratch("r/ecgsyn.atr"), in_scratch("r/ecgsyn.atr"),
                           in_scratch("out")),
                   3);
  assert_non_null(strstr(printed(), "eval.start"));
  assert_true(only_log(in_scratch("out")));
}

/* A byte anywhere in header or data is survived: either a result or a refusal, never half of one.
 */
static void damaged_bytes_give_a_result_or_a_refusal(void **state)
{
  char *header = contents(in_scratch("r/ecgsyn.hea"));
  const size_t n = strlen(header);

  for (size_t i = 0; i < n; i += 1 + n / 24) {
    const char kept = header[i];

    header[i] = (char)(kept ^ 0x15);
    weir_check_write(in_scratch("r/ecgsyn.hea"), header, n);
    const int status = program("run --set input.record=%s --out %s", in_scratch("r/ecgsyn"),
                               in_scratch("out%zu", i));
    assert_true(status == 0 || status == 3 || status == 2 || status == 7);
    assert_true(status == 0 || only_log(in_scratch("out%zu", i)));
    header[i] = kept;
  }
  free(header);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST_AFTER(make_record, wrong_headers_are_refused_with_their_place),
      TEST_AFTER(make_record, a_truncated_record_is_refused_unless_accepted),
      TEST_AFTER(make_record, samples_that_are_not_those_of_the_checksum_are_told),
      TEST_AFTER(make_record, wrong_text_files_are_refused),
      TEST_AFTER(make_record, what_is_missing_or_meaningless_is_named),
      TEST_AFTER(make_record, refusals_say_what_to_do),
      TEST_AFTER(make_record, a_flat_signal_that_begins_late_is_shown_and_warned_of),
      TEST_AFTER(make_record, the_one_beat_of_a_signal_without_any_is_warned_of),
      TEST_AFTER(make_record, wrong_annotations_are_refused),
      TEST_AFTER(make_record, a_record_that_ends_before_the_start_is_refused),
      TEST_AFTER(make_record, damaged_bytes_give_a_result_or_a_refusal),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
