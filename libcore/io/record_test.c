/* record_test.c - acceptance cases A1 to A6 on real records. */
#include <sys/resource.h>
#include "support/io/io_test.h"
#include "io/weir_record_format.h"

static void open_shared(const char *name, weir_record **r)
{
  char path[4096];

  weir_check_shared(path, sizeof path, "physio/%s", name);
  assert_ok(weir_record_open(path, NULL, r));
}

static void checksums_hold(const char *name, int signals)
{
  weir_record *r = NULL;

  open_shared(name, &r);
  assert_int_equal(weir_record_signals(r), signals);
  for (int i = 0; i < signals; i++) {
    const weir_signal_info *const info = weir_record_signal(r, i);
    int sum = 0;

    assert_true(info->has_checksum);
    assert_ok(weir_record_checksum(r, i, &sum));
    if (sum != (info->checksum & 65535)) {
      fail_msg("%s, signal %s: checksum %d, header %d", name, info->name, sum,
               info->checksum & 65535);
    }
  }
  weir_record_close(&r);
  assert_null(r);
}

/* A1, A3, A4: every plain record in an uncompressed format reproduces its header. */
static void header_checksums_hold(void **state)
{
  (void)state;
  checksums_hold("wfdb/mitdb/100", 2);
  checksums_hold("wfdb/mitdb/119", 2);
  checksums_hold("wfdb/mitdb/208.hea", 2);
  checksums_hold("wfdb/mitdb/100skew", 2);
  checksums_hold("wfdb/mitdb/100-no-len", 2);
  checksums_hold("wfdb/mimic/03700181", 3);
  checksums_hold("wfdb/mimic/3000003_0003", 2);
  checksums_hold("wfdb/challenge2015/a103l", 3);
  checksums_hold("wfdb/challenge2015/v102s_fixed/v102s_2", 4);
  checksums_hold("wfdb/multiseg/041s/041s01", 7);
  checksums_hold("wfdb/multiseg/041s/041s02", 7);
  checksums_hold("wfdb/multiseg/p000878/3269321_0002", 2);
  checksums_hold("wfdb/multiseg/s25047/3234460_0018", 3);
  checksums_hold("wfdb/multiseg/s25047/s25047-2704-05-04-10-44n", 7);
  checksums_hold("wfdb/formats/binformats", 10);
  checksums_hold("wfdb/formats/310derive", 2);
  checksums_hold("wfdb/formats/310derive_2", 1);
  checksums_hold("wfdb/formats/310derive_3", 1);
  checksums_hold("wfdb/formats/311derive", 1);
  checksums_hold("wfdb/formats/311derive_2", 1);
  checksums_hold("wfdb/formats/311derive_3", 1);
  checksums_hold("wfdb/formats/311derive_4", 1);
  checksums_hold("wfdb/formats/test01_00s", 4);
  checksums_hold("wfdb/formats/test01_00s_frame", 3);
  checksums_hold("wfdb/formats/test01_00s_skew", 4);
  checksums_hold("wfdb/formats/test01_00s_skewframe", 3);
}

static void record_100_has_its_values(void **state)
{
  weir_record *r = NULL;
  int signal = -1;
  int64_t us = 0;
  float v[4];
  uint8_t p[4];

  (void)state;
  open_shared("wfdb/mitdb/100", &r);
  assert_string_equal(weir_record_name(r), "100");
  assert_ok(weir_record_find(r, NULL, &signal));
  assert_int_equal(signal, 0);
  assert_ok(weir_record_find(r, "V5", &signal));
  assert_int_equal(signal, 1);
  assert_ok(weir_record_find(r, "0", &signal));
  assert_int_equal(signal, 0);
  assert_int_equal(weir_record_find(r, "V6", &signal), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "0 MLII (mV), 1 V5 (mV)"));
  const weir_signal_info *const info = weir_record_signal(r, 0);

  assert_string_equal(info->name, "MLII");
  assert_string_equal(info->units, "mV");
  assert_int_equal(info->count, 650000);
  assert_int_equal(info->fs_num, 360);
  assert_int_equal(info->fs_den, 1);
  assert_near(info->gain, 200, 0);
  assert_near(info->baseline, 1024, 0);
  assert_int_equal(weir_record_start(r, &us), 0);
  assert_ok(weir_record_read(r, 0, -2, 4, v, p));
  assert_int_equal(p[0] + p[1], 0);
  assert_true(p[2] && p[3]);
  assert_near(v[2], (995 - 1024) / 200.0, 1e-7);
  assert_ok(weir_record_read(r, 1, 649999, 4, v, p));
  assert_int_equal(p[0], 1);
  assert_int_equal(p[1] + p[2] + p[3], 0);
  weir_record_close(&r);
}

/* A2: skew drops the first frames of a signal; a missing length comes from the file. */
static void skew_and_missing_length(void **state)
{
  weir_record *plain = NULL;
  weir_record *skewed = NULL;
  int32_t a[16];
  int32_t b[16];
  uint8_t p[16];

  (void)state;
  open_shared("wfdb/mitdb/100", &plain);
  open_shared("wfdb/mitdb/100skew", &skewed);
  assert_int_equal(weir_record_signal(skewed, 1)->count, 650000);
  assert_int_equal(weir_record_signal(skewed, 1)->skew, 3);
  assert_run(skewed, 1, 0, 0, 649997);
  assert_ok(weir_record_read_raw(plain, 1, 649984, 16, a, NULL));
  assert_ok(weir_record_read_raw(skewed, 1, 649984 - 3, 16, b, p));
  assert_memory_equal(a, b, sizeof a);
  assert_ok(weir_record_read_raw(skewed, 1, 649984, 16, b, p));
  assert_int_equal(p[12], 1);
  assert_int_equal(p[13] + p[14] + p[15], 0);
  weir_record_close(&plain);
  weir_record_close(&skewed);
  open_shared("wfdb/mitdb/100-no-len", &plain);
  assert_int_equal(weir_record_signal(plain, 0)->count, 650000);
  weir_record_close(&plain);
}

/* A4: a preamble before the samples, and a fixed layout whose segments share one file. */
static void offsets_and_fixed_layout(void **state)
{
  weir_record *r = NULL;
  int32_t one[64];
  int32_t two[64];
  float values[64];

  (void)state;
  open_shared("wfdb/challenge2015/a103l", &r);
  assert_near(weir_record_signal(r, 1)->gain, 10520, 0);
  assert_int_equal(weir_record_signal(r, 0)->count, 82500);
  weir_record_close(&r);
  open_shared("wfdb/challenge2015/v102s_fixed/v102s", &r);
  assert_int_equal(weir_record_signals(r), 4);
  assert_int_equal(weir_record_signal(r, 2)->count, 225000);
  assert_string_equal(weir_record_signal(r, 2)->units, "NU");
  assert_false(weir_record_signal(r, 2)->has_checksum);
  assert_ok(weir_record_read_raw(r, 2, 75000 - 32, 64, one, NULL));
  assert_ok(weir_record_read_raw(r, 2, 150000 - 32, 64, two, NULL));
  assert_memory_equal(one, two, sizeof one);
  assert_ok(weir_record_read(r, 0, 150000, 1, values, NULL));
  assert_near(values[0], -26 / 2281.0, 1e-7);
  assert_run(r, 1, 10, 10, 225000);
  weir_record_close(&r);
}

/* A5, reading: variable layout, a null segment, signals that come and go, gains per segment. */
static void variable_layout(void **state)
{
  weir_record *r = NULL;
  weir_record *own = NULL;
  int64_t us = 0;
  static float a[3525];
  static float b[3525];
  static uint8_t p[3525];

  (void)state;
  open_shared("wfdb/multiseg/s25047/s25047-2704-05-04-10-44", &r);
  assert_int_equal(weir_record_signals(r), 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(weir_record_signal(r, i)->count, 543240);
  }
  assert_int_equal(weir_record_missing_segments(r), 0);
  assert_int_equal(weir_record_start(r, &us), 2);
  assert_int_equal(us / 1000000 % 86400, 10 * 3600 + 44 * 60 + 18);
  assert_run(r, 0, 0, 25740, 543240);
  assert_run(r, 2, 0, 543240 - 93975 - 3525, 543240);
  assert_run(r, 2, 543240, 543240, 543240);
  assert_ok(weir_record_read(r, 0, 25739, 2, a, p));
  assert_int_equal(p[0], 0);
  assert_int_equal(p[1], 1);
  assert_near(a[1], -24 / 86.0, 1e-7);
  open_shared("wfdb/multiseg/s25047/3234460_0017", &own);
  assert_ok(weir_record_read(r, 2, 543240 - 93975 - 3525, 3525, a, p));
  assert_ok(weir_record_read(own, 2, 0, 3525, b, NULL));
  assert_memory_equal(a, b, sizeof a);
  weir_record_close(&own);
  weir_record_close(&r);
}

static long peak_kib(void)
{
  struct rusage usage;

  assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_maxrss;
}

/* A6: 52.7 million frames declared, two of 34 segments present: gaps, and bounded memory. */
static void absent_segments_are_gaps(void **state)
{
  weir_record *r = NULL;
  int64_t seen = 0;
  static float v[4096];
  static uint8_t p[4096];
  const long before = peak_kib();

  (void)state;
  weir_log_set_level(WEIR_LOG_ERROR);
  open_shared("wfdb/multiseg/p000878/p000878-2137-10-26-16-57", &r);
  weir_log_set_level(WEIR_LOG_INFO);
  assert_int_equal(weir_record_missing_segments(r), 30);
  assert_int_equal(weir_record_signal(r, 0)->count, 52725000);
  for (int64_t at = 0; at < 52725000; at += 4096) {
    assert_ok(weir_record_read(r, 0, at, 4096, v, p));
    for (int i = 0; i < 4096; i++) {
      seen += p[i];
    }
  }
  assert_true(seen > 0 && seen <= 3750);
  assert_run(r, 0, 0, 3750, 7500);         /* PLETH */
  assert_run(r, 1, 0, 5750, 7500);         /* II */
  assert_run(r, 2, 0, 52725000, 52725000); /* V */
  weir_record_close(&r);
  assert_true(peak_kib() - before < 4096);
}

/* A6: FLAC streams reproduce their headers, 16.8 million samples out of 20 KB in bounded memory; a
 * build without the library refuses them by name. */
static void flac_streams_hold_or_are_refused_by_name(void **state)
{
  static const char *const names[] = {"wfdb/formats/flacformats", "wfdb/formats/mixedsignals",
                                      "wfdb/formats/flac_3_constant"};
  static const int signals[] = {3, 6, 3};
  const long before = peak_kib();

  (void)state;
  for (int i = 0; i < 3; i++) {
    char path[4096];
    weir_record *r = NULL;

    weir_check_shared(path, sizeof path, "physio/%s", names[i]);
    const weir_status status = weir_record_open(path, NULL, &r);

    if (status == WEIR_ERR_UNSUPPORTED) {
      assert_null(r);
      assert_non_null(strstr(weir_last_message(), "(FLAC) is not available"));
      continue;
    }
    assert_ok(status);
    weir_record_close(&r);
    checksums_hold(names[i], signals[i]);
  }
  assert_true(peak_kib() - before < 8192);
}

/* False in a build without the library. */
static bool open_flac(weir_record **r)
{
  char path[4096];

  weir_check_shared(path, sizeof path, "physio/wfdb/formats/mixedsignals");
  const weir_status status = weir_record_open(path, NULL, r);

  assert_true(status == WEIR_OK || status == WEIR_ERR_UNSUPPORTED);
  return status == WEIR_OK;
}

static void rates_are_per_signal(void **state)
{
  weir_record *r = NULL;

  (void)state;
  open_shared("wfdb/mimic/03700181", &r);
  assert_int_equal(weir_record_signal(r, 0)->fs_num, 500);
  assert_int_equal(weir_record_signal(r, 0)->count, 300000);
  assert_int_equal(weir_record_signal(r, 1)->fs_num, 125);
  assert_near(weir_record_signal(r, 0)->gain, 2963.77, 0);
  assert_near(weir_record_signal(r, 1)->baseline, -1605, 0);
  weir_record_close(&r);
  open_shared("wfdb/multiseg/041s/041s", &r);
  assert_int_equal(weir_record_signal(r, 0)->count, 8000);
  assert_int_equal(weir_record_signal(r, 3)->count, 2000);
  weir_record_close(&r);
  if (open_flac(&r)) { /* 62.4725 frames a second, four samples of the first a frame */
    assert_int_equal(weir_record_signal(r, 0)->fs_num, 24989);
    assert_int_equal(weir_record_signal(r, 0)->fs_den, 100);
    assert_int_equal(weir_record_signal(r, 3)->fs_num, 24989);
    assert_int_equal(weir_record_signal(r, 3)->fs_den, 200);
    assert_int_equal(weir_record_signal(r, 5)->fs_den, 400);
    assert_int_equal(weir_record_signal(r, 0)->count, 57600);
    assert_int_equal(weir_record_signal(r, 5)->count, 14400);
    weir_record_close(&r);
  }
}

/* The clock of annotations from a header whose signal files are not there. */
static void clocks_need_no_signal_files(void **state)
{
  weir_record_clock clock;
  weir_record *r = NULL;
  char path[4096];

  (void)state;
  weir_check_shared(path, sizeof path, "physio/wfdb/annotations/12726");
  assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
  assert_ok(weir_record_read_clock(path, &clock));
  assert_int_equal(clock.fs_num, 250);
  assert_int_equal(clock.fs_den, 1);
  assert_int_equal(clock.frames, 825000);
  weir_check_shared(path, sizeof path, "physio/wfdb/mitdb/100-no-len");
  assert_ok(weir_record_read_clock(path, &clock));
  assert_int_equal(clock.frames, 650000);
  weir_check_shared(path, sizeof path, "physio/edf/test_subsecond.edf");
  assert_ok(weir_record_read_clock(path, &clock));
  assert_int_equal(clock.frames, 698 * 128);
  weir_check_shared(path, sizeof path, "physio/edf/test_edfann.edf");
  assert_int_equal(weir_record_read_clock(path, &clock), WEIR_ERR_DATA);
}

/* A folder, and a record named as its signal file is: what to do instead is said. */
static void near_misses_are_explained(void **state)
{
  weir_record *r = NULL;
  char path[4096];

  (void)state;
  weir_check_shared(path, sizeof path, "physio/wfdb/mitdb");
  assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "is a folder: name a record in it"));
  strcat(path, "/100.dat");
  assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "mitdb/100.dat: name the record without suffix: "));
}

/* What every folder must define, whatever its format. */
static void descriptors_are_complete(void **state)
{
  int n = 0;

  (void)state;
  for (const weir_record_format *const *f = weir_record_format_table; *f; f++, n++) {
    weir_record_body body = {0};

    assert_true((*f)->name[0] && (*f)->help[0]);
    assert_true((*f)->claims && (*f)->open && (*f)->close && (*f)->read && (*f)->next_run);
    assert_int_equal((*f)->open("/nowhere/at/all", &(weir_record_opts){0}, &body), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "/nowhere/at/all"));
    assert_null(body.state);
  }
  assert_true(n >= 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(descriptors_are_complete),
      cmocka_unit_test(header_checksums_hold),
      cmocka_unit_test(record_100_has_its_values),
      cmocka_unit_test(skew_and_missing_length),
      cmocka_unit_test(offsets_and_fixed_layout),
      cmocka_unit_test(variable_layout),
      cmocka_unit_test(absent_segments_are_gaps),
      cmocka_unit_test(flac_streams_hold_or_are_refused_by_name),
      cmocka_unit_test(rates_are_per_signal),
      cmocka_unit_test(clocks_need_no_signal_files),
      cmocka_unit_test(near_misses_are_explained),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
