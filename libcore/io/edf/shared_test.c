/* shared_test.c - acceptance case A8: real EDF+ and BDF+ files, and one made discontinuous here. */
#include "support/io/edf_test.h"

/* 856 sleep stages and notes in one record of no duration. */
static void annotations_only(void **state)
{
  char path[4096];
  weir_record *r = NULL;
  weir_record_events e;
  int signal = 0;

  weir_check_shared(path, sizeof path, "physio/edf/test_edfann.edf");
  assert_ok(weir_record_open(path, NULL, &r));
  assert_int_equal(weir_record_signals(r), 0);
  assert_int_equal(weir_record_find(r, NULL, &signal), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "only annotations"));
  assert_ok(weir_record_events_read(r, &e));
  assert_int_equal(e.count, 856);
  assert_string_equal(e.items[0].text, "Sleep stage W");
  assert_int_equal(e.items[0].duration, INT64_C(30000000000));
  assert_int_equal(e.items[2].time, INT64_C(33430000000));
  assert_string_equal(e.items[2].text, "Lights off@@EEG F4-A1");
  weir_record_events_fini(&e);
  weir_record_close(&r);
}

/* Physical minimum above the maximum: the signal is upside down; 0.56768 s after the second. */
static void inverted_polarity_and_subsecond_start(void **state)
{
  char path[4096];
  weir_record *r = NULL;
  int32_t raw[512];
  float v[512];
  int64_t us = 0;

  weir_check_shared(path, sizeof path, "physio/edf/test_subsecond.edf");
  assert_ok(weir_record_open(path, NULL, &r));
  assert_int_equal(weir_record_signals(r), 1);
  const weir_signal_info *const s = weir_record_signal(r, 0);

  assert_string_equal(s->name, "Fp1");
  assert_int_equal(s->fs_num, 128);
  assert_int_equal(s->count, 698 * 128);
  assert_true(s->gain < 0);
  assert_int_equal(weir_record_start(r, &us), 2);
  assert_true(us % 1000000 != 0);
  assert_ok(weir_record_read_raw(r, 0, 100, 512, raw, NULL));
  assert_ok(weir_record_read(r, 0, 100, 512, v, NULL));
  for (int i = 0; i < 512; i++) {
    assert_near(v[i], 8711 - (raw[i] + 32768.0) * 17422 / 65535, 1e-3);
  }
  weir_record_close(&r);
}

static void five_rates_of_24_bits(void **state)
{
  static const int64_t rates[][2] = {{500, 1}, {400, 1}, {250, 1}, {975, 2}, {999, 2}};
  char path[4096];
  weir_record *r = NULL;
  weir_record_events e;
  float v[1000];
  int32_t raw[1000];
  uint8_t p[1000];

  weir_check_shared(path, sizeof path, "physio/edf/test_generator_datarec_2.bdf");
  assert_ok(weir_record_open(path, NULL, &r));
  assert_int_equal(weir_record_signals(r), 5);
  for (int i = 0; i < 5; i++) {
    const weir_signal_info *const s = weir_record_signal(r, i);

    assert_int_equal(s->fs_num, rates[i][0]);
    assert_int_equal(s->fs_den, rates[i][1]);
    assert_int_equal(s->count, 30 * rates[i][0] / rates[i][1]);
  }
  assert_ok(weir_record_read(r, 1, 0, 1000, v, p)); /* a square wave of +-3000 / 30 uV */
  assert_ok(weir_record_read_raw(r, 1, 0, 1000, raw, NULL));
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(p[i], 1);
    assert_near(v[i], -3000 + (raw[i] + 8388608.0) * 6000 / 16777215, 1e-3);
    assert_true(v[i] > 99 || v[i] < -99);
  }
  assert_ok(weir_record_events_read(r, &e));
  weir_record_events_fini(&e);
  weir_record_close(&r);
}

/* A copy of the sub-second file whose records from the 300th on start 1000 s later. */
static void a8_a_copy_made_discontinuous(void **state)
{
  char path[4096];
  char dir[256];
  char copy[512];
  char *data = NULL;
  int64_t size = 0;
  int64_t lo = 0;
  int64_t hi = 0;
  weir_record *plain = NULL;
  weir_record *broken = NULL;
  static float a[256];
  static float b[256];
  uint8_t p[256];

  weir_check_shared(path, sizeof path, "physio/edf/test_subsecond.edf");
  assert_ok(weir_record_open(path, NULL, &plain));
  assert_ok(weir_file_read(path, 1 << 20, &data, &size));
  memcpy(data + 192, "EDF+D", 5);
  const int64_t record = (128 + 20) * 2;

  for (int k = 0; k < 698; k++) {
    char *const stamp = data + 768 + k * record + 256;
    const double onset = strtod(stamp, NULL) + (k >= 300 ? 1000 : 0);
    const int n = snprintf(stamp, 20, "+%.7f", onset);

    memcpy(stamp + n, "\x14\x14\0", 3);
  }
  weir_check_mkdir(dir, sizeof dir);
  snprintf(copy, sizeof copy, "%s/d.edf", dir);
  weir_check_write(copy, data, (size_t)size);
  weir_free(&data);
  assert_ok(weir_record_open(copy, NULL, &broken));
  assert_int_equal(weir_record_signal(broken, 0)->count, (698 + 1000) * 128);
  assert_ok(weir_record_next_run(broken, 0, 0, &lo, &hi));
  assert_int_equal(hi, 300 * 128);
  assert_run(broken, 0, hi, 1300 * 128, 1698 * 128);
  assert_ok(weir_record_read(plain, 0, 300 * 128, 256, a, NULL));
  assert_ok(weir_record_read(broken, 0, 1300 * 128, 256, b, p));
  assert_memory_equal(a, b, sizeof a);
  assert_ok(weir_record_read(broken, 0, 700 * 128, 256, b, p));
  for (int i = 0; i < 256; i++) {
    assert_int_equal(p[i], 0);
  }
  weir_record_close(&plain);
  weir_record_close(&broken);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(annotations_only),
      cmocka_unit_test(inverted_polarity_and_subsecond_start),
      cmocka_unit_test(five_rates_of_24_bits),
      cmocka_unit_test(a8_a_copy_made_discontinuous),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
