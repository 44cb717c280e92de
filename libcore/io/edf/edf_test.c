/* edf_test.c - files put together here against what was put in, real files, and refusals. */
#include <math.h>
#include "support/io/edf_test.h"

static char dir[256];
static char path[512];
static char bytes[MADE_BYTES];

/* Two signals of different rates, one inverted, and a list: 0.5 s a record. */
static const made_signal three[] = {
    {"ECG", "mV", "-10", "10", "-2048", "2047", 5},
    {"EDF Annotations", "", "-1", "1", "-32768", "32767", 24},
    {"Flow", "l/s", "8711", "-8711", "-32768", "32767", 3},
};
static const char *const adjacent[] = {"+0\x14\x14", "+0.5\x14\x14", "+1\x14\x14", "+1.5\x14\x14"};

static made_file continuous(void)
{
  return (made_file){.reserved = "EDF+C",
                     .records = "4",
                     .duration = "0.5",
                     .signals = three,
                     .n_signals = 3,
                     .n_records = 4,
                     .stamps = adjacent};
}

static weir_status open_made(const made_file *f, int allow_short, weir_record **r)
{
  weir_check_write(path, bytes, make_edf(f, false, bytes));
  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status =
      weir_record_open(path, &(weir_record_opts){.allow_short = allow_short}, r);

  weir_log_set_level(WEIR_LOG_INFO);
  return status;
}

static void samples_rates_and_scales_come_back(void **state)
{
  const made_file f = continuous();
  weir_record *r = NULL;
  int32_t raw[20];
  float v[20];
  uint8_t p[20];
  int64_t us = 0;
  int signal = -1;

  assert_ok(open_made(&f, 0, &r));
  assert_string_equal(weir_record_name(r), "x");
  assert_int_equal(weir_record_signals(r), 2);
  assert_int_equal(weir_record_start(r, &us), 2);
  assert_int_equal(us, INT64_C(1136073598000000)); /* 2005-12-31 23:59:58 */
  assert_ok(weir_record_find(r, "Flow", &signal));
  assert_int_equal(signal, 1);
  assert_int_equal(weir_record_signal(r, 0)->fs_num, 10);
  assert_int_equal(weir_record_signal(r, 1)->fs_num, 6);
  assert_int_equal(weir_record_signal(r, 1)->count, 12);
  assert_ok(weir_record_read_raw(r, 0, 0, 20, raw, p));
  for (int i = 0; i < 20; i++) {
    assert_int_equal(raw[i], made_raw(0, i));
    assert_int_equal(p[i], 1);
  }
  assert_ok(weir_record_read(r, 1, 2, 7, v, p)); /* over the limits of records */
  const weir_signal_info *const s = weir_record_signal(r, 1);

  for (int i = 0; i < 7; i++) {
    const double want = 8711 + (made_raw(2, i + 2) + 32768.0) * (-2 * 8711.0) / 65535;

    assert_near(v[i], want, 1e-6 * fabs(want));
    assert_near((made_raw(2, i + 2) - s->baseline) / s->gain, want, 1e-9);
  }
  weir_record_close(&r);
}

/* The rate of 1 / 3 s and a sub-second start, in 24 bit. */
static void bdf_and_odd_rates(void **state)
{
  static const made_signal two[] = {
      {"A", "uV", "-1", "1", "-8388608", "8388607", 7},
      {"BDF Annotations", "", "-1", "1", "-8388608", "8388607", 8},
  };
  static const char *const stamps[] = {"+0.25\x14\x14", "+3.25\x14\x14"};
  const made_file f = {"BDF+C", "-1", "3", two, 2, 2, stamps};
  weir_record *r = NULL;
  int32_t raw[16];
  uint8_t p[16];
  int64_t us = 0;

  weir_check_write(path, bytes, make_edf(&f, true, bytes));
  assert_ok(weir_record_open(path, NULL, &r));
  assert_int_equal(weir_record_signal(r, 0)->fs_num, 7);
  assert_int_equal(weir_record_signal(r, 0)->fs_den, 3);
  assert_int_equal(weir_record_signal(r, 0)->count, 14);
  assert_int_equal(weir_record_start(r, &us), 2);
  assert_int_equal(us % 1000000, 250000);
  assert_ok(weir_record_read_raw(r, 0, -1, 16, raw, p));
  for (int i = 0; i < 14; i++) {
    assert_int_equal(raw[i + 1], made_raw(0, i));
  }
  assert_int_equal(p[0] + p[15], 0);
  weir_record_close(&r);
}

/* Records at 0, 0.5 (adjacent, 0.04 s late: less than half a sample), 2 and 7.03 s. */
static void interrupted_records_are_gaps(void **state)
{
  static const char *const stamps[] = {"+10\x14\x14", "+10.54\x14\x14", "+12\x14\x14",
                                       "+17.03\x14\x14"};
  made_file f = continuous();
  weir_record *r = NULL;
  int32_t raw[75];
  uint8_t p[75];

  f.reserved = "EDF+D";
  f.stamps = stamps;
  assert_ok(open_made(&f, 0, &r));
  assert_int_equal(weir_record_signal(r, 0)->count, 75);
  assert_int_equal(weir_record_signal(r, 1)->count, 45);
  assert_ok(weir_record_read_raw(r, 0, 0, 75, raw, p));
  for (int i = 0; i < 75; i++) {
    const int record = i < 10 ? i / 5 : i >= 20 && i < 25 ? 2 : i >= 70 ? 3 : -1;

    assert_int_equal(p[i], record >= 0);
    assert_int_equal(raw[i], record < 0 ? 0 : made_raw(0, record * 5 + i % 5));
  }
  assert_run(r, 0, 10, 20, 25);
  assert_run(r, 1, 2, 2, 6);
  assert_run(r, 1, 15, 42, 45);
  assert_run(r, 1, 45, 45, 45);
  weir_record_close(&r);
}

static void lists_become_events(void **state)
{
  static const made_signal wide[] = {
      {"EDF Annotations", "", "-1", "1", "-32768", "32767", 40},
      {"X", "mV", "0", "1", "0", "1", 2},
  };
  static const char first[] = "+2\x14\x14\0+2.5\x15"
                              "30.25\x14"
                              "Apnea\x14L\xC3\xA9g\x14\0-1\x14"
                              "before\x14";
  static const char *const stamps[] = {"", "+3\x14\x14"};
  const made_file f = {"EDF+C", "2", "1", wide, 2, 2, stamps};
  weir_record_events e;
  weir_record *r = NULL;
  const size_t size = make_edf(&f, false, bytes);

  memcpy(bytes + 768, first, sizeof first);
  weir_check_write(path, bytes, size);
  assert_ok(weir_record_open(path, NULL, &r));
  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 3);
  assert_string_equal(e.items[0].text, "Apnea");
  assert_int_equal(e.items[0].time, 500000000);
  assert_int_equal(e.items[0].duration, INT64_C(30250000000));
  assert_int_equal(e.items[0].code, WEIR_ANN_NOTE);
  assert_string_equal(e.items[1].text, "L\xC3\xA9g");
  assert_int_equal(e.items[2].time, INT64_C(-3000000000));
  assert_int_equal(e.items[2].duration, -1);
  weir_record_events_fini(&e);
  assert_null(e.items);
  weir_record_close(&r);
}

/* A field of the header replaced, or a stamp: what is said of it. */
static void what_is_wrong_is_refused_with_its_place(void **state)
{
  static const struct {
    int at;
    const char *text, *says;
  } cases[] = {
      {0, "1", "neither an EDF file"},
      {184, "1023", "byte 184: number of header bytes is '1023'"},
      {192, "EDF+E", "byte 192: the kind of file is 'EDF+E'"},
      {236, "5       ", "5 data records declared, 4 found"},
      {236, "-2      ", "byte 236: number of data records is '-2'"},
      {236, "99999999", "99999999 data records declared, 4 found"},
      {244, "-1      ", "byte 244: duration"},
      {244, "0       ", "signal ECG has samples"},
      {244, "0,5     ", "byte 244: duration"},
      {244, "nan     ", "byte 244: duration"},
      {244, "1e-90   ", "byte 244: duration"},
      {252, "0   ", "byte 252: number of signals is '0'"},
      {252, "9999", "byte 252"},
      {252, "-1  ", "byte 252"},
      {252, "1e0 ", "byte 252"},
      {256, "E\x01G", "byte 256: a label is 'E?G'"},
      {256 + 3 * 104, "10      ", "the signal has no scale"},
      {256 + 3 * 104, "inf     ", "byte 568: physical minimum"},
      {256 + 3 * 112, "        ", "byte 592: physical maximum is ''"},
      {256 + 3 * 120, "-32769  ", "byte 616: digital minimum"},
      {256 + 3 * 128, "-2048   ", "byte 640: digital maximum is '-2048'"},
      {256 + 3 * 216, "-5      ", "byte 904: samples of a data record is '-5'"},
      {256 + 3 * 216, "99999999", "0 found"},
      {1024 + 10, "x0\x14\x14", "data record 0 does not begin with its start time"},
      {1024 + 10, "+1e9\x14\x14", "data record 0 does not begin"},
      {1024 + 10, "+99999999999\x14\x14", "data record 0 does not begin"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const made_file f = continuous();
    weir_record *r = NULL;
    const size_t size = make_edf(&f, false, bytes);

    memcpy(bytes + cases[i].at, cases[i].text, strlen(cases[i].text));
    weir_check_write(path, bytes, size);
    const weir_status status = weir_record_open(path, NULL, &r);

    if (status != WEIR_ERR_DATA || r || !strstr(weir_last_message(), cases[i].says)) {
      fail_msg("case %zu: status %d, '%s' lacks '%s'", i, status, weir_last_message(),
               cases[i].says);
    }
  }
}

static void records_that_overlap_are_refused(void **state)
{
  static const char *const back[] = {"+0\x14\x14", "+0.4\x14\x14", "+1\x14\x14", "+1.5\x14\x14"};
  static const char *const none[] = {"+0\x14\x14", "", "+1\x14\x14", "+1.5\x14\x14"};
  made_file f = continuous();
  weir_record *r = NULL;

  f.reserved = "EDF+D";
  f.stamps = back;
  assert_int_equal(open_made(&f, 0, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "data record 1 starts at 0.4 s"));
  f.stamps = none;
  assert_int_equal(open_made(&f, 0, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "data record 1 of an interrupted file"));
  assert_null(r);
}

static void a_truncated_file_is_read_where_allowed(void **state)
{
  made_file f = continuous();
  weir_record *r = NULL;
  uint8_t p[20];
  float v[20];

  f.n_records = 3;
  assert_int_equal(open_made(&f, 0, &r), WEIR_ERR_DATA);
  assert_ok(open_made(&f, 1, &r));
  assert_int_equal(weir_record_signal(r, 0)->count, 20);
  assert_int_equal(weir_record_signal(r, 0)->n_truncated, 5);
  assert_ok(weir_record_read(r, 0, 0, 20, v, p));
  assert_int_equal(p[14], 1);
  assert_int_equal(p[15], 0);
  assert_run(r, 0, 3, 3, 15);
  weir_record_close(&r);
}

/* Cut anywhere, or with a byte changed: a refusal, or a record that can be read. */
static void damage_is_survived(void **state)
{
  made_file f = continuous();
  static char copy[MADE_BYTES];

  f.reserved = "EDF+D";
  const size_t size = make_edf(&f, false, bytes);

  weir_log_set_level(WEIR_LOG_ERROR);
  for (size_t i = 0; i < 2 * size; i += 3) {
    const size_t n = i < size ? i : size;
    weir_record_events e;
    weir_record *r = NULL;
    float v[32];

    memcpy(copy, bytes, n);
    if (i >= size) {
      copy[i - size] = (char)(copy[i - size] ^ (1 << (i % 8)));
    }
    weir_check_write(path, copy, n);
    if (weir_record_open(path, NULL, &r) == WEIR_OK) {
      assert_true(i >= size);
      for (int s = 0; s < weir_record_signals(r); s++) {
        assert_ok(weir_record_read(r, s, weir_record_signal(r, s)->count - 31, 32, v, NULL));
      }
      if (weir_record_events_read(r, &e) == WEIR_OK) {
        weir_record_events_fini(&e);
      }
    }
    weir_record_close(&r);
  }
  weir_log_set_level(WEIR_LOG_INFO);
}

static weir_status open_and_list(void *context)
{
  weir_record *r = NULL;
  weir_record_events e;

  WEIR_TRY(weir_record_open(context, NULL, &r));
  const weir_status status = weir_record_events_read(r, &e);

  if (status == WEIR_OK) {
    weir_record_events_fini(&e);
  }
  weir_record_close(&r);
  return status;
}

static void failing_allocations_are_reported(void **state)
{
  static const char *const stamps[] = {"+0\024\024a\024", "+1\024\024", "+2\024\024", "+9\024\024"};
  made_file f = continuous();

  f.reserved = "EDF+D";
  f.stamps = stamps;
  weir_check_write(path, bytes, make_edf(&f, false, bytes));
  assert_true(weir_check_faults(open_and_list, path) > 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_rates_and_scales_come_back),
      cmocka_unit_test(bdf_and_odd_rates),
      cmocka_unit_test(interrupted_records_are_gaps),
      cmocka_unit_test(lists_become_events),
      cmocka_unit_test(what_is_wrong_is_refused_with_its_place),
      cmocka_unit_test(records_that_overlap_are_refused),
      cmocka_unit_test(a_truncated_file_is_read_where_allowed),
      cmocka_unit_test(damage_is_survived),
      cmocka_unit_test(failing_allocations_are_reported),
  };

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.edf", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
