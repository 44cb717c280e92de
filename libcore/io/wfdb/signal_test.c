/* signal_test.c - every sample format against an encoder written here from signal(5): whole reads,
 * random ranges, skew, frames of several samples, offsets, truncation, flipped bits. */
#include <unistd.h>
#include "support/io/io_test.h"
#include "io/wfdb/wfdb_priv.h"

static const int formats[] = {8, 16, 24, 32, 61, 80, 160, 212, 310, 311};
enum { N_FORMATS = sizeof formats / sizeof formats[0], MAX_SAMPLES = 200000 };

/* A random multi-signal record: the samples of signal i stand in frame order. */
typedef struct example {
  int format, n_signals, offset;
  int spf[3], skew[3];
  int32_t initial[3];
  int64_t frames, width;
  int32_t *stored; /* [frames * width], multiplexed */
  uint8_t *bytes;
  int64_t size; /* with the offset */
} example;

static void put(uint8_t *at, uint32_t value, int bytes)
{
  for (int i = 0; i < bytes; i++) {
    at[i] = (uint8_t)(value >> (8 * i) & 255);
  }
}

/* Straight from the packing table; returns the bytes that hold n samples. */
static int64_t encode(int format, const int32_t *s, int64_t n, uint8_t *b)
{
  switch (format) {
  case 8:
  case 80:
    for (int64_t i = 0; i < n; i++) {
      b[i] = (uint8_t)((uint32_t)(s[i] + (format == 80 ? 128 : 0)) & 255);
    }
    return n;
  case 16:
  case 61:
  case 160:
    for (int64_t i = 0; i < n; i++) {
      put(b + 2 * i, (uint32_t)(s[i] + (format == 160 ? 32768 : 0)), 2);
      if (format == 61) {
        const uint8_t low = b[2 * i];

        b[2 * i] = b[2 * i + 1];
        b[2 * i + 1] = low;
      }
    }
    return 2 * n;
  case 24:
  case 32:
    for (int64_t i = 0; i < n; i++) {
      put(b + i * (format / 8), (uint32_t)s[i], format / 8);
    }
    return n * (format / 8);
  case 212:
    for (int64_t i = 0; i < n; i += 2) {
      const uint32_t one = i + 1 < n ? (uint32_t)s[i + 1] : 0;

      b[i / 2 * 3] = (uint8_t)((uint32_t)s[i] & 255);
      b[i / 2 * 3 + 1] = (uint8_t)(((uint32_t)s[i] >> 8 & 15) | (one >> 8 & 15) << 4);
      b[i / 2 * 3 + 2] = (uint8_t)(one & 255);
    }
    return n / 2 * 3 + (n & 1) * 2;
  default:
    break;
  }
  for (int64_t i = 0; i < n; i += 3) {
    uint32_t v[3] = {0};

    for (int k = 0; k < 3 && i + k < n; k++) {
      v[k] = (uint32_t)s[i + k] & 1023;
    }
    if (format == 310) {
      put(b + i / 3 * 4, v[0] << 1 | (v[2] & 31) << 11, 2);
      put(b + i / 3 * 4 + 2, v[1] << 1 | (v[2] >> 5) << 11, 2);
    } else {
      put(b + i / 3 * 4, v[0] | v[1] << 10 | v[2] << 20, 4);
    }
  }
  return n / 3 * 4 + (n % 3 == 0 ? 0 : n % 3 == 1 ? 2 : format == 310 ? 4 : 3);
}

static void make(uint64_t seed, int format, int64_t frames, example *e)
{
  const weir_wfdb_codec *const c = weir_wfdb_codec_find(format);
  void *memory = NULL;

  *e = (example){.format = format, .frames = frames};
  e->n_signals = (int)random_in(seed, 1, 1, 3);
  e->offset = (int)random_in(seed, 2, 0, 1) * 24;
  for (int i = 0; i < e->n_signals; i++) {
    e->spf[i] = (int)random_in(seed, 10 + (uint64_t)i, 1, 4);
    e->skew[i] = (int)random_in(seed, 20 + (uint64_t)i, 0, 5) * (i % 2);
    e->initial[i] = (int32_t)random_in(seed, 30 + (uint64_t)i, -1000, 1000);
    e->width += e->spf[i];
  }
  assert_ok(weir_alloc(frames * e->width, sizeof(int32_t), &memory));
  e->stored = memory;
  assert_ok(weir_alloc(frames * e->width * 4 + 64, 1, &memory));
  e->bytes = memory;
  for (int64_t i = 0; i < frames * e->width; i++) {
    const uint64_t k = 1000 + (uint64_t)i;

    e->stored[i] = format == 8                     ? (int32_t)random_in(seed, k, -128, 127)
                   : random_in(seed, k, 0, 9) == 0 ? c->invalid
                                                   : (int32_t)random_in(seed, k, c->lo, c->hi);
  }
  e->size = e->offset + encode(format, e->stored, frames * e->width, e->bytes + e->offset);
}

static void save(const example *e, const char *dir, int64_t size)
{
  char path[512];
  char text[1024];
  int used = snprintf(text, sizeof text, "r %d 250 %lld\n", e->n_signals, (long long)e->frames);

  for (int i = 0; i < e->n_signals; i++) {
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "r.dat %dx%d:%d+%d 100(3)/uV 12 0 %d 0 0 S%d\n", e->format, e->spf[i],
                     e->skew[i], e->offset, e->initial[i], i);
  }
  snprintf(path, sizeof path, "%s/r.hea", dir);
  write_text(path, text);
  snprintf(path, sizeof path, "%s/r.dat", dir);
  weir_check_write(path, e->bytes, (size_t)size);
}

/* What signal `i` must read as: raw and present, [frames * spf]. */
static void expect(const example *e, int i, int32_t *raw, uint8_t *present)
{
  const weir_wfdb_codec *const c = weir_wfdb_codec_find(e->format);
  int64_t slot = 0;
  int32_t sum = e->initial[i];

  for (int k = 0; k < i; k++) {
    slot += e->spf[k];
  }
  memset(raw, 0, (size_t)(e->frames * e->spf[i]) * sizeof *raw);
  memset(present, 0, (size_t)(e->frames * e->spf[i]));
  for (int64_t f = 0; f < e->frames; f++) {
    for (int k = 0; k < e->spf[i]; k++) {
      const int32_t v = e->stored[f * e->width + slot + k];
      const int64_t at = (f - e->skew[i]) * e->spf[i] + k;

      sum = (int32_t)((uint32_t)sum + (uint32_t)v);
      if (at >= 0) {
        raw[at] = e->format == 8 ? sum : v;
        present[at] = e->format == 8 || v != c->invalid;
      }
    }
  }
}

typedef struct scratch {
  int32_t want[MAX_SAMPLES], got[MAX_SAMPLES];
  uint8_t want_p[MAX_SAMPLES], got_p[MAX_SAMPLES];
  float values[MAX_SAMPLES], in_pieces[MAX_SAMPLES];
} scratch;

static scratch buffers;

/* Reads [0, count) of a signal in random pieces, forwards, and now and then from elsewhere. */
static void read_in_pieces(weir_record *r, int signal, int64_t count, uint64_t seed)
{
  int64_t at = 0;

  for (uint64_t k = 0; at < count; k++) {
    const int64_t left = count - at;
    const int64_t n = random_in(seed, 5000 + k, 1, left < 20000 ? left : 20000);

    if (k % 3 == 0) {
      const int64_t away = random_in(seed, 9000 + k, 0, count - 1);

      assert_ok(weir_record_read(r, signal, away, 1, buffers.in_pieces + at, NULL));
    }
    assert_ok(weir_record_read(r, signal, at, n, buffers.in_pieces + at, buffers.got_p + at));
    at += n;
  }
}

static void check_signal(weir_record *r, const example *e, int i, uint64_t seed)
{
  const int64_t count = e->frames * e->spf[i];

  assert_int_equal(weir_record_signal(r, i)->count, count);
  assert_int_equal(weir_record_signal(r, i)->fs_num, 250 * e->spf[i]);
  expect(e, i, buffers.want, buffers.want_p);
  assert_ok(weir_record_read_raw(r, i, 0, count, buffers.got, buffers.got_p));
  assert_memory_equal(buffers.got, buffers.want, (size_t)count * sizeof(int32_t));
  assert_memory_equal(buffers.got_p, buffers.want_p, (size_t)count);
  assert_ok(weir_record_read(r, i, 0, count, buffers.values, NULL));
  for (int64_t k = 0; k < count; k++) {
    const float v = buffers.want_p[k] ? (float)((buffers.want[k] - 3.0) / 100.0) : 0.0f;

    assert_true(buffers.values[k] == v);
  }
  read_in_pieces(r, i, count, seed);
  assert_memory_equal(buffers.in_pieces, buffers.values, (size_t)count * sizeof(float));
  assert_memory_equal(buffers.got_p, buffers.want_p, (size_t)count);
}

static void every_format_is_read_back(void **state)
{
  char dir[256];
  char path[512];

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/r", dir);
  for (uint64_t seed = 1; seed <= 6; seed++) {
    for (int f = 0; f < N_FORMATS; f++) {
      const int64_t frames = seed == 1   ? 1
                             : seed == 2 ? 15000
                                         : random_in(seed, (uint64_t)f, 2, 900);
      example e;
      weir_record *r = NULL;

      make(seed * 100 + (uint64_t)f, formats[f], frames, &e);
      save(&e, dir, e.size);
      assert_ok(weir_record_open(path, NULL, &r));
      for (int i = e.n_signals - 1; i >= 0; i--) {
        check_signal(r, &e, i, seed);
      }
      weir_record_close(&r);
      weir_free(&e.stored);
      weir_free(&e.bytes);
    }
  }
  weir_check_rmdir(dir);
}

/* Every truncation of a data file is refused with frames declared and found; with allow_short the
 * frames that are whole are read and the rest is a gap. */
static void truncated_data_is_refused_or_a_gap(void **state)
{
  char dir[256];
  char path[512];
  char data[512];
  const weir_record_opts lenient = {.allow_short = 1};

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/r", dir);
  snprintf(data, sizeof data, "%s/r.dat", dir);
  for (int f = 0; f < N_FORMATS; f++) {
    example e;
    weir_record *r = NULL;

    make(40 + (uint64_t)f, formats[f], 7, &e);
    save(&e, dir, e.size);
    for (int64_t size = e.size - 1; size >= 0; size--) {
      assert_int_equal(truncate(data, size), 0);
      assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
      assert_non_null(strstr(weir_last_message(), "7 frames declared"));
      assert_ok(weir_record_open(path, &lenient, &r));
      const int64_t n_truncated = weir_record_signal(r, 0)->n_truncated;

      assert_true(n_truncated >= 0 && n_truncated <= 7 * e.spf[0] && n_truncated % e.spf[0] == 0);
      assert_true(size > 0 || e.size < 7 || n_truncated == 7 * e.spf[0]);
      expect(&e, 0, buffers.want, buffers.want_p);
      assert_ok(weir_record_read_raw(r, 0, 0, 7 * e.spf[0], buffers.got, buffers.got_p));
      bool gap = false;

      for (int64_t k = 0; k < 7 * e.spf[0]; k++) {
        gap = gap || (buffers.want_p[k] && !buffers.got_p[k]);
        assert_true(!gap || !buffers.got_p[k]);
        assert_true(!buffers.got_p[k] || buffers.got[k] == buffers.want[k]);
      }
      assert_true(gap || size + e.width * 4 >= e.size || e.format != 16);
      weir_record_close(&r);
    }
    weir_free(&e.stored);
    weir_free(&e.bytes);
  }
  weir_check_rmdir(dir);
}

static void flipped_bits_never_crash(void **state)
{
  char dir[256];
  char path[512];
  char hea[512];
  char *text = NULL;
  int64_t size = 0;
  example e;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/r", dir);
  snprintf(hea, sizeof hea, "%s/r.hea", dir);
  make(7, 310, 40, &e);
  save(&e, dir, e.size);
  assert_ok(weir_file_read(hea, 1 << 20, &text, &size));
  for (uint64_t k = 0; k < 300; k++) {
    const int64_t bit = random_in(11, k, 0, size * 8 - 1);
    weir_record *r = NULL;

    text[bit / 8] = (char)(text[bit / 8] ^ (1 << (bit % 8)));
    weir_check_write(hea, text, (size_t)size);
    const weir_status status = weir_record_open(path, NULL, &r);

    assert_true(status == WEIR_OK || status == WEIR_ERR_DATA || status == WEIR_ERR_UNSUPPORTED);
    for (int i = 0; r && i < weir_record_signals(r); i++) {
      assert_ok(weir_record_read(r, i, 0, 100, buffers.values, buffers.got_p));
    }
    weir_record_close(&r);
    text[bit / 8] = (char)(text[bit / 8] ^ (1 << (bit % 8)));
  }
  weir_free(&text);
  weir_free(&e.stored);
  weir_free(&e.bytes);
  weir_check_rmdir(dir);
}

static void a_file_that_shrinks_is_reported(void **state)
{
  char dir[256];
  char path[512];
  example e;
  weir_record *r = NULL;

  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/r", dir);
  make(3, 212, 100, &e);
  save(&e, dir, e.size);
  assert_ok(weir_record_open(path, NULL, &r));
  save(&e, dir, e.offset + 10);
  assert_int_equal(weir_record_read(r, 0, 0, 100, buffers.values, NULL), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "r.dat: ends at byte"));
  assert_int_equal(weir_record_read(r, 9, 0, 1, buffers.values, NULL), WEIR_ERR_SHAPE);
  weir_record_close(&r);
  weir_free(&e.stored);
  weir_free(&e.bytes);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_format_is_read_back),
      cmocka_unit_test(truncated_data_is_refused_or_a_gap),
      cmocka_unit_test(flipped_bits_never_crash),
      cmocka_unit_test(a_file_that_shrinks_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
