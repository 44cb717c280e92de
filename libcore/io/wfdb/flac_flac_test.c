/* flac_flac_test.c - streams encoded here: any range in any order, truncation, damage, faults. */
#include <FLAC/stream_encoder.h>
#include "support/io/io_test.h"
#include "io/wfdb/wfdb_priv.h"

enum { FRAMES = 9001, SPF = 2, SIGNALS = 3, SAMPLES = FRAMES * SPF };

static char dir[256];
static char record[512];
static char signals[512];

/* Sample `i` of channel `c`: noise with flat stretches, and the invalid code here and there. */
static int32_t truth(int c, int64_t i)
{
  if (i % 5000 < 2000) {
    return c * 100;
  }
  return i % 97 == 0 ? -32768 : (int32_t)random_in(3, (uint64_t)(i * SIGNALS + c), -32767, 32767);
}

static void encode(const char *path, unsigned block)
{
  static FLAC__int32 samples[SAMPLES * SIGNALS];
  FLAC__StreamEncoder *const e = FLAC__stream_encoder_new();

  for (int64_t i = 0; i < SAMPLES; i++) {
    for (int c = 0; c < SIGNALS; c++) {
      samples[i * SIGNALS + c] = truth(c, i);
    }
  }
  assert_non_null(e);
  assert_true(FLAC__stream_encoder_set_channels(e, SIGNALS));
  assert_true(FLAC__stream_encoder_set_bits_per_sample(e, 16));
  assert_true(FLAC__stream_encoder_set_sample_rate(e, 96000));
  assert_true(FLAC__stream_encoder_set_streamable_subset(e, false));
  assert_true(FLAC__stream_encoder_set_blocksize(e, block));
  assert_int_equal(FLAC__stream_encoder_init_file(e, path, NULL, NULL),
                   FLAC__STREAM_ENCODER_INIT_STATUS_OK);
  assert_true(FLAC__stream_encoder_process_interleaved(e, samples, SAMPLES));
  assert_true(FLAC__stream_encoder_finish(e));
  FLAC__stream_encoder_delete(e);
}

static void make(unsigned block)
{
  write_text(record, "r 3 250.5 9001\n"
                     "r.d 516x2 1(0)/mV 16 0 0 0 0 a\n"
                     "r.d 516x2:1 1(0)/mV 16 0 0 0 0 b\n"
                     "r.d 516x2 1(0)/mV 16 0 0 0 0 c\n");
  encode(signals, block);
}

static void ranges_in_any_order(void **state)
{
  static const unsigned blocks[] = {16, 576, 4096, 30000};

  for (int b = 0; b < 4; b++) {
    weir_record *r = NULL;
    static int32_t raw[4000];
    static uint8_t p[4000];

    make(blocks[b]);
    assert_ok(weir_record_open(record, NULL, &r));
    assert_int_equal(weir_record_signal(r, 1)->count, SAMPLES);
    for (uint64_t k = 0; k < 150; k++) {
      const int64_t n = random_in(4, 3 * k, 1, k % 10 ? 40 : 4000);
      const int64_t from = k % 3 ? random_in(4, 3 * k + 1, 0, SAMPLES - n) : SAMPLES - n;
      const int c = (int)random_in(4, 3 * k + 2, 0, SIGNALS - 1);
      const int64_t skew = c == 1 ? SPF : 0;

      assert_ok(weir_record_read_raw(r, c, from, n, raw, p));
      for (int64_t i = 0; i < n; i++) {
        const int64_t at = from + i + skew;

        assert_int_equal(raw[i], at < SAMPLES ? truth(c, at) : 0);
        assert_int_equal(p[i], at < SAMPLES && truth(c, at) != -32768);
      }
    }
    weir_record_close(&r);
  }
}

static void what_does_not_fit_the_header_is_refused(void **state)
{
  static const struct {
    const char *header, *says;
  } cases[] = {
      {"r 2 250 9001\nr.d 516x2\nr.d 516x2\n", "3 channels and 16 bits, the header says 2 signals"},
      {"r 3 250 9001\nr.d 508x2\nr.d 508x2\nr.d 508x2\n", "the header says 3 signals of 8 bits"},
      {"r 3 250 9002\nr.d 516x2\nr.d 516x2\nr.d 516x2\n", "9002 frames declared"},
      {"r 3 250 9001\nr.d 516+7\nr.d 516+7\nr.d 516+7\n", "byte 7: not a FLAC stream"},
      {"r 1 250 9001\nr.hea 516\n", "not a FLAC stream"},
  };

  make(4096);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_record *r = NULL;

    write_text(record, cases[i].header);
    assert_int_equal(weir_record_open(record, NULL, &r), WEIR_ERR_DATA);
    if (!strstr(weir_last_message(), cases[i].says)) {
      fail_msg("'%s' lacks '%s'", weir_last_message(), cases[i].says);
    }
    assert_null(r);
  }
}

/* Without its end: refused, or what is left of it read. */
static void a_truncated_stream(void **state)
{
  weir_record *r = NULL;
  char *data = NULL;
  int64_t size = 0;
  int64_t lo = 0;
  int64_t hi = 0;
  int32_t raw[8];

  make(1024);
  assert_ok(weir_file_read(signals, 1 << 24, &data, &size));
  weir_check_write(signals, data, (size_t)size / 2);
  weir_free(&data);
  assert_int_equal(weir_record_open(record, NULL, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "allow_short"));
  assert_ok(weir_record_open(record, &(weir_record_opts){.allow_short = 1}, &r));
  assert_ok(weir_record_next_run(r, 0, 0, &lo, &hi));
  assert_true(hi > SAMPLES / 4 && hi < SAMPLES * 3 / 4);
  assert_ok(weir_record_read_raw(r, 2, hi - 8, 8, raw, NULL));
  for (int i = 0; i < 8; i++) {
    assert_int_equal(raw[i], truth(2, hi - 8 + i));
  }
  weir_record_close(&r);
}

static void changed_bytes_are_survived(void **state)
{
  char *data = NULL;
  int64_t size = 0;
  static int32_t raw[SAMPLES];
  int refused = 0;

  make(4096);
  assert_ok(weir_file_read(signals, 1 << 24, &data, &size));
  for (uint64_t k = 0; k < 60; k++) {
    const int64_t at = k < 30 ? (int64_t)k : random_in(9, k, 0, size - 1);
    weir_record *r = NULL;

    data[at] = (char)(data[at] ^ 1 << (k % 8));
    weir_check_write(signals, data, (size_t)size);
    data[at] = (char)(data[at] ^ 1 << (k % 8));
    if (weir_record_open(record, NULL, &r) != WEIR_OK ||
        weir_record_read_raw(r, 0, 0, SAMPLES, raw, NULL) != WEIR_OK) {
      refused++;
    }
    weir_record_close(&r);
  }
  assert_true(refused > 20);
  weir_free(&data);
}

static weir_status open_and_read(void *context)
{
  weir_record *r = NULL;
  int32_t raw[100];

  WEIR_TRY(weir_record_open(context, NULL, &r));
  const weir_status status = weir_record_read_raw(r, 0, 5000, 100, raw, NULL);

  weir_record_close(&r);
  return status;
}

static void failing_allocations_are_reported(void **state)
{
  make(4096);
  assert_true(weir_check_faults(open_and_read, record) > 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_in_any_order),
      cmocka_unit_test(what_does_not_fit_the_header_is_refused),
      cmocka_unit_test(a_truncated_stream),
      cmocka_unit_test(changed_bytes_are_survived),
      cmocka_unit_test(failing_allocations_are_reported),
  };

  weir_check_mkdir(dir, sizeof dir);
  snprintf(record, sizeof record, "%s/r.hea", dir);
  snprintf(signals, sizeof signals, "%s/r.d", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
