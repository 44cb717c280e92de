/* convert_check.h - records that are converted, and their comparison. Tests only. */
#ifndef CONVERT_CHECK_H
#define CONVERT_CHECK_H
#include <math.h>
#include "support/io/edf_test.h"
#include "io/weir_record_convert.h"

static char dir[256];
static const weir_convert_scale any = {1, 1, 1};

static inline const char *in_dir(const char *name)
{
  static char paths[4][512];
  static int next;

  next = (next + 1) % 4;
  snprintf(paths[next], sizeof paths[next], "%s/%s", dir, name);
  return paths[next];
}

/* Presence and values of two records, slot by slot; integers where both store them alike. */
static inline void same_samples(weir_record *a, weir_record *b, bool integers, double tolerance)
{
  enum { PIECE = 5000 };
  static float v[2][PIECE];
  static int32_t raw[2][PIECE];
  static uint8_t p[2][PIECE];

  assert_int_equal(weir_record_signals(a), weir_record_signals(b));
  for (int i = 0; i < weir_record_signals(a); i++) {
    const weir_signal_info *const s = weir_record_signal(a, i);
    const weir_signal_info *const t = weir_record_signal(b, i);

    assert_string_equal(s->name, t->name);
    assert_int_equal(s->fs_num, t->fs_num);
    assert_int_equal(s->fs_den, t->fs_den);
    for (int64_t at = 0; at < s->count; at += PIECE) {
      const int64_t n = s->count - at < PIECE ? s->count - at : PIECE;

      assert_ok(weir_record_read(a, i, at, n, v[0], p[0]));
      assert_ok(weir_record_read(b, i, at, n, v[1], p[1]));
      assert_memory_equal(p[0], p[1], (size_t)n);
      for (int64_t k = 0; k < n; k++) {
        assert_true(fabs((double)v[0][k] - (double)v[1][k]) <= tolerance);
      }
      if (integers) {
        assert_ok(weir_record_read_raw(a, i, at, n, raw[0], NULL));
        assert_ok(weir_record_read_raw(b, i, at, n, raw[1], NULL));
        assert_memory_equal(raw[0], raw[1], (size_t)n * sizeof raw[0][0]);
      }
    }
  }
}

static const made_signal inverted[] = {
    {"ECG lead", "mV", "10", "-10", "-32768", "32767", 6},
    {"EDF Annotations", "", "-1", "1", "-32768", "32767", 24},
    {"Flow", "", "-100", "100", "-2048", "2047", 4},
};

/* An interrupted EDF+ file of two rates, the first upside down, with two texts. */
static inline void make_edf_file(const char *path)
{
  static const char *const stamps[] = {"+0\024\024one\024", "+1\024\024", "+4\024\024two\024"};
  const made_file f = {"EDF+D", "3", "1", inverted, 3, 3, stamps};
  static char bytes[MADE_BYTES];

  weir_check_write(path, bytes, make_edf(&f, false, bytes));
}
#endif
