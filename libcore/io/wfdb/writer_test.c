/* writer_test.c - records written in pieces and read back, with gaps, in both formats. */
#include <math.h>
#include "support/io/io_test.h"
#include "io/weir_record_writer.h"

enum { FRAMES = 30001 };

static float values[3][FRAMES];
static uint8_t present[3][FRAMES];

static void fill(uint64_t seed)
{
  for (uint64_t c = 0; c < 3; c++) {
    for (uint64_t i = 0; i < FRAMES; i++) {
      values[c][i] = (float)random_in(seed, c * FRAMES + i, -900, 900) / 200.0f;
      present[c][i] = random_in(seed + 1, c * FRAMES + i, 0, 19) != 0;
    }
  }
}

static weir_record_spec spec_of(int format)
{
  static const weir_record_channel channels[] = {
      {.name = "ECG lead II", .gain = 200},
      {.name = "ABP", .units = "mmHg", .gain = 12.84, .baseline = -1000},
      {.name = "x", .units = "uV", .gain = 100, .baseline = 1024}};

  return (weir_record_spec){.fs_num = 24989,
                            .fs_den = 400,
                            .n_channels = 3,
                            .channels = channels,
                            .format = format,
                            .start_kind = 2,
                            .start_us = INT64_C(268211) * 86400000000 + 38658529000,
                            .comment = " made by a test\nsecond"};
}

static void append_in_pieces(weir_record_writer *w, int64_t frames, uint64_t seed)
{
  int64_t at = 0;

  for (uint64_t k = 0; at < frames; k++) {
    const int64_t n = random_in(seed, 3 * k, 0, frames - at < 5000 ? frames - at : 5000);
    const float *const v[3] = {values[0] + at, values[1] + at, values[2] + at};
    const uint8_t *const p[3] = {present[0] + at, present[1] + at, NULL};

    assert_ok(weir_record_writer_append(w, n, v, p));
    at += n;
  }
}

static void check_channel(weir_record *r, int c, int64_t frames, const weir_record_channel *channel)
{
  static int32_t raw[FRAMES];
  static uint8_t p[FRAMES];
  int sum = 0;
  const weir_signal_info *const info = weir_record_signal(r, c);
  const int format = atoi(info->format);

  assert_string_equal(info->name, channel->name);
  assert_string_equal(info->units, channel->units ? channel->units : "mV");
  assert_int_equal(info->fs_num, 24989);
  assert_int_equal(info->fs_den, 400);
  assert_int_equal(info->count, frames);
  assert_near(info->gain, channel->gain, 0);
  assert_ok(weir_record_checksum(r, c, &sum));
  assert_int_equal(sum, info->checksum & 65535);
  assert_ok(weir_record_read_raw(r, c, 0, frames, raw, p));
  for (int64_t i = 0; i < frames; i++) {
    const double limit = format == 16 ? 32767 : 2047;
    const double want = round(values[c][i] * channel->gain + channel->baseline);

    assert_int_equal(p[i], c == 2 || present[c][i]);
    if (p[i]) {
      assert_near(raw[i], fmax(-limit, fmin(limit, want)), 0);
    }
  }
}

static void what_is_written_is_read_back(void **state)
{
  char dir[256];
  char path[512];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/syn-1_a", dir);
  fill(4);
  for (int format = 16; format <= 212; format += 196) {
    for (int64_t frames = FRAMES - 2; frames <= FRAMES; frames++) {
      const weir_record_spec spec = spec_of(format);
      weir_record_writer *w = NULL;
      weir_record *r = NULL;
      int64_t us = 0;

      assert_ok(weir_record_writer_open(path, &spec, &w));
      append_in_pieces(w, frames, (uint64_t)frames);
      assert_ok(weir_record_writer_commit(&w));
      assert_null(w);
      assert_ok(weir_record_open(path, NULL, &r));
      assert_int_equal(weir_record_start(r, &us), 2);
      assert_int_equal(us, spec.start_us);
      for (int c = 0; c < 3; c++) {
        check_channel(r, c, frames, &spec.channels[c]);
      }
      weir_record_close(&r);
    }
  }
  weir_check_rmdir(dir);
}

static void dates_are_kept(void **state)
{
  char dir[256];
  char path[512];
  const float v = 0;
  const float *const one[1] = {&v};

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/d", dir);
  for (uint64_t k = 0; k < 30; k++) {
    weir_record_spec spec = spec_of(16);
    weir_record_writer *w = NULL;
    weir_record *r = NULL;
    int64_t us = 0;

    spec.n_channels = 1;
    spec.start_us = random_in(8, k, -INT64_C(62000000000), INT64_C(253000000000)) * 1000000;
    assert_ok(weir_record_writer_open(path, &spec, &w));
    assert_ok(weir_record_writer_append(w, 1, one, NULL));
    assert_ok(weir_record_writer_commit(&w));
    assert_ok(weir_record_open(path, NULL, &r));
    assert_int_equal(weir_record_start(r, &us), 2);
    assert_int_equal(us, spec.start_us);
    weir_record_close(&r);
  }
  weir_check_rmdir(dir);
}

static void clipping_is_counted(void **state)
{
  char dir[256];
  char path[512];
  const float v[4] = {20.0f, -20.0f, NAN, 1.0f};
  const float *const one[1] = {v};
  weir_record_spec spec = spec_of(212);
  weir_record_writer *w = NULL;
  weir_record *r = NULL;
  int32_t raw[4];
  uint8_t p[4];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/c", dir);
  spec.n_channels = 1;
  assert_ok(weir_record_writer_open(path, &spec, &w));
  assert_ok(weir_record_writer_append(w, 4, one, NULL));
  assert_int_equal(weir_record_writer_clipped(w), 2);
  assert_ok(weir_record_writer_commit(&w));
  assert_ok(weir_record_open(path, NULL, &r));
  assert_ok(weir_record_read_raw(r, 0, 0, 4, raw, p));
  assert_int_equal(raw[0], 2047);
  assert_int_equal(raw[1], -2047);
  assert_int_equal(p[2], 0);
  assert_int_equal(raw[3], 200);
  weir_record_close(&r);
  weir_check_rmdir(dir);
}

static void failing_allocations_leave_nothing(void **state)
{
  char dir[256];
  char path[512];
  const weir_record_spec spec = spec_of(16);
  weir_record_writer *w = NULL;
  weir_status status = WEIR_ERR_MEMORY;
  const int64_t before = weir_alloc_bytes();

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/f", dir);
  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_alloc_fail_after(k);
    status = weir_record_writer_open(path, &spec, &w);
    if (status == WEIR_OK) {
      status = weir_record_writer_commit(&w);
    }
    weir_alloc_fail_after(0);
    assert_null(w);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  weir_check_rmdir(dir);
}

static void what_a_header_cannot_hold_is_refused(void **state)
{
  char dir[256];
  char path[512];
  weir_record_writer *w = NULL;
  const weir_record_channel bad[] = {{.name = "", .gain = 1},
                                     {.name = "a\nb", .gain = 1},
                                     {.name = "a", .units = "m V", .gain = 1},
                                     {.name = "a"},
                                     {.name = "a", .gain = INFINITY}};
  weir_record_spec spec = spec_of(16);

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a.b", dir);
  assert_int_equal(weir_record_writer_open(path, &spec, &w), WEIR_ERR_CONFIG);
  snprintf(path, sizeof path, "%s/a", dir);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    spec.channels = &bad[i];
    spec.n_channels = 1;
    assert_int_equal(weir_record_writer_open(path, &spec, &w), WEIR_ERR_CONFIG);
    assert_null(w);
  }
  spec = spec_of(8);
  assert_int_equal(weir_record_writer_open(path, &spec, &w), WEIR_ERR_CONFIG);
  spec = spec_of(16);
  assert_ok(weir_record_writer_open(path, &spec, &w));
  weir_record_writer_destroy(&w);
  assert_false(weir_dir_has_entries(dir));
  weir_check_rmdir(dir);
}

/* Signals of several rates and formats, each format in a file of its own, from stored integers. */
static void formats_and_rates_side_by_side(void **state)
{
  enum { MANY = 9, LONG = 5003 };
  static const int formats[MANY] = {310, 311, 311, 24, 32, 80, 61, 160, 212};
  static const int64_t lowest[MANY] = {-512, -512,   -512,   -8388608, INT32_MIN,
                                       -128, -32768, -32768, -2048};
  static int32_t raw[MANY][3 * LONG];
  static int32_t back[3 * LONG];
  static uint8_t p[3 * LONG];
  weir_record_channel channels[MANY];
  const int32_t *rows[MANY];
  weir_record_writer *w = NULL;
  weir_record *r = NULL;
  char dir[256];
  char path[512];

  (void)state;
  for (int c = 0; c < MANY; c++) {
    channels[c] = (weir_record_channel){"s", "mV", 100, 0, formats[c], 1 + c % 3};
    rows[c] = raw[c];
    for (int i = 0; i < 3 * LONG; i++) {
      raw[c][i] = (int32_t)random_in(5, (uint64_t)(c * 3 * LONG + i), lowest[c], -lowest[c] - 1);
    }
  }
  weir_check_mkdir(dir, sizeof dir);
  for (int frames = LONG - 3; frames <= LONG; frames++) {
    const weir_record_spec spec = {
        .fs_num = 250, .fs_den = 1, .n_channels = MANY, .channels = channels};

    snprintf(path, sizeof path, "%s/m%d", dir, frames);
    assert_ok(weir_record_writer_open(path, &spec, &w));
    assert_ok(weir_record_writer_append_raw(w, frames, rows));
    assert_ok(weir_record_writer_commit(&w));
    assert_ok(weir_record_open(path, NULL, &r));
    for (int c = 0; c < MANY; c++) {
      const weir_signal_info *const info = weir_record_signal(r, c);
      int sum = 0;

      assert_int_equal(info->count, frames * (1 + c % 3));
      assert_int_equal(info->fs_num, 250 * (1 + c % 3));
      assert_ok(weir_record_read_raw(r, c, 0, info->count, back, p));
      assert_memory_equal(back, raw[c], (size_t)info->count * sizeof *back);
      for (int64_t i = 0; i < info->count; i++) {
        assert_int_equal(p[i], raw[c][i] != lowest[c]);
      }
      assert_ok(weir_record_checksum(r, c, &sum));
      assert_int_equal(sum, info->checksum & 65535);
    }
    weir_record_close(&r);
  }
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read_back),
      cmocka_unit_test(dates_are_kept),
      cmocka_unit_test(clipping_is_counted),
      cmocka_unit_test(failing_allocations_leave_nothing),
      cmocka_unit_test(formats_and_rates_side_by_side),
      cmocka_unit_test(what_a_header_cannot_hold_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
