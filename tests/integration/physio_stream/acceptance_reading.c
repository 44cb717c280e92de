/* acceptance_reading.c - the acceptance cases of reading, end to end: what the program makes of
 * each recording of the test data. Scores of A1 are in records.c, detectors on A9 in the app's own
 * tests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/weir_log.h"
#include "io/weir_annotation.h"
#include "io/weir_netcdf.h"
#include "io/weir_record.h"
#include "program.h"

/* False in a build that refuses the record by name: its format needs a library. */
static bool convert(const char *record, const char *format, const char *out)
{
  const int status =
      program("convert --overwrite --set input.record=%s --set convert.format=%s --set "
              "convert.name=x --out %s",
              record, format, out);

  assert_true(status == 0 || status == 7);
  assert_true(status == 0 || strstr(printed(), "is not available") != NULL);
  return status == 0;
}

static weir_record *open_record(const char *path)
{
  weir_record *r = NULL;

  weir_log_set_level(WEIR_LOG_ERROR);
  assert_ok(weir_record_open(path, NULL, &r));
  weir_log_set_level(WEIR_LOG_INFO);
  return r;
}

static int64_t count_present(const char *path, int signal)
{
  enum { PIECE = 8192 };
  static float v[PIECE];
  static uint8_t p[PIECE];
  weir_record *r = open_record(path);
  const int64_t count = weir_record_signal(r, signal)->count;
  int64_t n = 0;

  for (int64_t at = 0; at < count; at += PIECE) {
    assert_ok(weir_record_read(r, signal, at, PIECE, v, p));
    for (int i = 0; i < PIECE; i++) {
      n += p[i];
    }
  }
  weir_record_close(&r);
  return n;
}

/* Reads and writes the record, through NetCDF where the build has it: the header's checksums come
 * out again. */
static bool checksums_survive(const char *name)
{
  const char *record = in_data(name), *again = record;

  if (weir_netcdf_available()) {
    if (!convert(record, "netcdf", in_scratch("n"))) {
      return false;
    }
    again = in_scratch("n/x.nc");
  }
  if (!convert(again, "wfdb", in_scratch("w"))) {
    return false;
  }
  weir_record *first = open_record(record), *last = open_record(in_scratch("w/x"));

  assert_int_equal(weir_record_signals(first), weir_record_signals(last));
  for (int i = 0; i < weir_record_signals(first); i++) {
    const int stated = weir_record_signal(first, i)->checksum & 65535;
    int sum = 0;

    assert_ok(weir_record_checksum(last, i, &sum));
    if (sum != stated && weir_record_signal(first, i)->skew == 0) {
      fail_msg("%s, signal %d: checksum %d, header %d", name, i, sum, stated);
    }
  }
  weir_record_close(&first);
  weir_record_close(&last);
  return true;
}

static void a1_mit_bih_records_keep_their_checksums(void **state)
{
  static const char *const names[] = {"100", "119", "208"};

  for (int i = 0; i < 3; i++) {
    char name[64];

    (void)snprintf(name, sizeof name, "wfdb/mitdb/%s", names[i]);
    assert_true(checksums_survive(name));
    (void)snprintf(name, sizeof name, "wfdb/mitdb/%s.dat", names[i]);
    assert_true(same_contents(in_data(name), in_scratch("w/x.dat")));
  }
}

static void a2_skew_and_a_missing_length(void **state)
{
  assert_int_equal(count_present(in_data("wfdb/mitdb/100skew"), 0), 650000);
  assert_int_equal(count_present(in_data("wfdb/mitdb/100skew"), 1), 649997);
  assert_int_equal(count_present(in_data("wfdb/mitdb/100-no-len"), 1), 650000);
  assert_int_equal(program("run --set input.record=%s --set input.signal=V5 --out %s",
                           in_data("wfdb/mitdb/100skew"), in_scratch("a")),
                   0);
  assert_true(event_number(in_scratch("a"), "run_end", "absent") == 3);
}

static void a3_every_format_short_groups_frames_and_skew(void **state)
{
  static const char *const names[] = {
      "binformats", "310derive",        "310derive_2",     "310derive_3",
      "311derive",  "311derive_2",      "311derive_3",     "311derive_4",
      "test01_00s", "test01_00s_frame", "test01_00s_skew", "test01_00s_skewframe"};
  weir_record *plain = NULL, *framed = NULL;
  float a[512], b[512];

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char name[64];

    (void)snprintf(name, sizeof name, "wfdb/formats/%s", names[i]);
    assert_true(checksums_survive(name));
  }
  assert_int_equal(count_present(in_data("wfdb/formats/310derive_3"), 0), 1018);
  assert_int_equal(count_present(in_data("wfdb/formats/test01_00s_skew"), 1), 4000 - 3);
  /* Two samples a frame are the second and third signal of the plain record, in turn. */
  plain = open_record(in_data("wfdb/formats/test01_00s"));
  framed = open_record(in_data("wfdb/formats/test01_00s_frame"));
  assert_int_equal(weir_record_signal(framed, 1)->count, 8000);
  assert_ok(weir_record_read(framed, 1, 1000, 512, a, NULL));
  for (int s = 0; s < 2; s++) {
    assert_ok(weir_record_read(plain, 1 + s, 500, 256, b, NULL));
    for (int i = 0; i < 256; i++) {
      assert_near(b[i], a[2 * i + s], 1e-7);
    }
  }
  weir_record_close(&plain);
  weir_record_close(&framed);
}

static void a4_byte_offset_and_fixed_layout(void **state)
{
  weir_record *r = open_record(in_data("wfdb/challenge2015/v102s_fixed/v102s"));

  for (int i = 0; i < 4; i++) {
    assert_int_equal(weir_record_signal(r, i)->count, 225000);
  }
  weir_record_close(&r);
  assert_true(checksums_survive("wfdb/challenge2015/a103l"));
  assert_true(convert(in_data("wfdb/challenge2015/v102s_fixed/v102s"), "wfdb", in_scratch("v")));
  assert_int_equal(count_present(in_scratch("v/x"), 0),
                   count_present(in_data("wfdb/challenge2015/v102s_fixed/v102s"), 0));
}

static void a5_variable_layout(void **state)
{
  const char *path = in_data("wfdb/multiseg/s25047/s25047-2704-05-04-10-44");
  weir_record *r = open_record(path);
  int64_t lo = 0, hi = 0;

  assert_int_equal(weir_record_signal(r, 0)->count, 543240);
  assert_ok(weir_record_next_run(r, 0, 0, &lo, &hi));
  assert_int_equal(lo, 25740);
  assert_ok(weir_record_next_run(r, 2, 0, &lo, &hi)); /* ABP: the last two segments with samples */
  assert_int_equal(lo, 543240 - 93975 - 3525);
  assert_int_equal(hi, 543240);
  weir_record_close(&r);
  assert_true(count_present(path, 2) <= hi - lo);
  assert_int_equal(program("run --set input.record=%s --out %s", path, in_scratch("a")), 0);
  assert_true(event_number(in_scratch("a"), "run_end", "absent") >= 25740);
}

static long peak_of_children(void)
{
  struct rusage usage;

  assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
  return usage.ru_maxrss;
}

/* 52 million frames declared of which 7500 exist, and 17 million out of 20 KB, in the memory that a
 * short record takes. */
static void a6_memory_is_bounded_and_times_are_long(void **state)
{
  weir_annotations a;

  assert_int_equal(
      program("run --set input.record=%s --out %s", in_data("wfdb/mitdb/100"), in_scratch("a")), 0);
  const long before = peak_of_children();

  assert_int_equal(program("run --set input.record=%s --out %s",
                           in_data("wfdb/multiseg/p000878/p000878-2137-10-26-16-57"),
                           in_scratch("b")),
                   0);
  assert_non_null(strstr(printed(), "warning"));
  assert_true(event_number(in_scratch("b"), "run_end", "missing_segments") == 30);
  const int status = program("run --set input.record=%s --set input.signal='col 1' --out %s",
                             in_data("wfdb/formats/flac_3_constant"), in_scratch("c"));

  assert_true(status == 0 || (status == 7 && strstr(printed(), "(FLAC)") != NULL));
  printf("peak of 100: %ld KiB, of all: %ld KiB\n", before, peak_of_children());
  assert_true(peak_of_children() - before < 16384);
  if (status == 0) {
    assert_true(event_number(in_scratch("c"), "run_end", "samples") == 5600000);
    assert_true(checksums_survive("wfdb/formats/flacformats"));
    assert_true(checksums_survive("wfdb/formats/mixedsignals"));
  }
  assert_ok(weir_annotations_read(in_data("wfdb/annotations/huge.qrs"), &a));
  assert_int_equal(a.count, 1);
  assert_true(a.items[0].time == INT64_C(10000000000));
  weir_annotations_fini(&a);
}

static void a8_edf_plus_and_bdf_plus(void **state)
{
  weir_record *r = open_record(in_data("edf/test_edfann.edf"));
  weir_record_events e;

  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 856);
  weir_record_events_fini(&e);
  weir_record_close(&r);
  r = open_record(in_data("edf/test_subsecond.edf"));
  assert_true(weir_record_signal(r, 0)->gain < 0);
  weir_record_close(&r);
  assert_int_equal(program("run --set input.record=%s --set input.signal='ramp 3.5Hz' --out %s",
                           in_data("edf/test_generator_datarec_2.bdf"), in_scratch("a")),
                   0);
  assert_true(event_number(in_scratch("a"), "run_end", "samples") == 30 * 250);
  /* The five rates share frames of two seconds, and 24 bits lose nothing. */
  assert_true(convert(in_data("edf/test_generator_datarec_2.bdf"), "wfdb", in_scratch("w")));
  weir_record *from = open_record(in_data("edf/test_generator_datarec_2.bdf"));
  weir_record *to = open_record(in_scratch("w/x"));
  int32_t a[500], b[500];

  for (int i = 0; i < 5; i++) {
    assert_int_equal(weir_record_signal(from, i)->count, weir_record_signal(to, i)->count);
    assert_ok(weir_record_read_raw(from, i, 7000, 500, a, NULL));
    assert_ok(weir_record_read_raw(to, i, 7000, 500, b, NULL));
    assert_memory_equal(a, b, sizeof a);
  }
  weir_record_close(&from);
  weir_record_close(&to);
}

static void a9_texts_with_a_preamble(void **state)
{
  static const struct {
    const char *name;
    int64_t count;
  } cases[] = {{"csv/biosppy_ecg.txt", 15000}, {"csv/biosppy_ppg.txt", 20000}};

  for (int i = 0; i < 2; i++) {
    assert_int_equal(program("run --overwrite --set input.csv=%s --out %s", in_data(cases[i].name),
                             in_scratch("a")),
                     0);
    assert_true(event_number(in_scratch("a"), "run_end", "samples") == (double)cases[i].count);
    weir_record *r = open_record(in_data(cases[i].name));

    assert_int_equal(weir_record_signal(r, 0)->fs_num, 1000);
    assert_int_equal(weir_record_signal(r, 0)->count, cases[i].count);
    weir_record_close(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(a1_mit_bih_records_keep_their_checksums),
      TEST(a2_skew_and_a_missing_length),
      TEST(a3_every_format_short_groups_frames_and_skew),
      TEST(a4_byte_offset_and_fixed_layout),
      TEST(a5_variable_layout),
      TEST(a6_memory_is_bounded_and_times_are_long),
      TEST(a8_edf_plus_and_bdf_plus),
      TEST(a9_texts_with_a_preamble),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
