/* tfrecord_test.h - files of random Examples, written and damaged. */
#ifndef WEIR_TFRECORD_TEST_H
#define WEIR_TFRECORD_TEST_H
#include "support/io/io_test.h"
#include "io/tfrecord/example_priv.h"

/* Record i of a file: `n` random bytes under "x", n % 7 floats under "y", 3 integers under "id". */
static inline void tf_put(weir_tfrecord_writer *w, uint64_t i, int64_t n)
{
  uint8_t *const x = malloc((size_t)n + 1);
  float y[7];
  const int64_t id[3] = {(int64_t)i, -1, INT64_MAX};

  for (int64_t k = 0; k < n; k++) {
    x[k] = (uint8_t)weir_random_bits(i, 1, 0, (uint64_t)k);
  }
  for (int k = 0; k < 7; k++) {
    y[k] = (float)weir_random_normal(i, 2, 0, (uint64_t)k);
  }
  const weir_tf_out out[] = {
      {"x", WEIR_TF_BYTES, x, n}, {"y", WEIR_TF_FLOATS, y, n % 7}, {"id", WEIR_TF_INTS, id, 3}};

  assert_ok(weir_tfrecord_write(w, out, 3));
  free(x);
}

static inline void tf_write(const char *path, const int64_t *sizes, int n, int level)
{
  weir_tfrecord_writer *w = NULL;

  assert_ok(weir_tfrecord_create(path, level, &w));
  for (int i = 0; i < n; i++) {
    tf_put(w, (uint64_t)i, sizes[i]);
  }
  assert_ok(weir_tfrecord_commit(&w));
  assert_null(w);
}

/* The record read last is what tf_put wrote. */
static inline void assert_record(const weir_tfrecord *r, uint64_t i, int64_t n)
{
  weir_tf_feature f;
  float y[7];
  int64_t id[3];

  assert_ok(weir_tfrecord_find(r, "x", &f));
  assert_int_equal(f.kind, WEIR_TF_BYTES);
  assert_int_equal(f.count, 1);
  assert_int_equal(f.size, n);
  for (int64_t k = 0; k < n; k++) {
    assert_int_equal(f.bytes[k], (uint8_t)weir_random_bits(i, 1, 0, (uint64_t)k));
  }
  assert_ok(weir_tfrecord_find(r, "y", &f));
  assert_int_equal(f.kind, WEIR_TF_FLOATS);
  assert_int_equal(f.count, n % 7);
  weir_tf_floats(&f, y);
  for (int k = 0; k < n % 7; k++) {
    assert_true(y[k] == (float)weir_random_normal(i, 2, 0, (uint64_t)k));
  }
  assert_ok(weir_tfrecord_find(r, "id", &f));
  assert_int_equal(f.count, 3);
  weir_tf_ints(&f, id);
  assert_true(id[0] == (int64_t)i && id[1] == -1 && id[2] == INT64_MAX);
  assert_ok(weir_tfrecord_find(r, "z", &f));
  assert_int_equal(f.kind, WEIR_TF_EMPTY);
}

/* Reads the whole file twice, passing every third record over. */
static inline void assert_reads(const char *path, const int64_t *sizes, int n)
{
  weir_tfrecord *r = NULL;
  bool found = true;

  assert_ok(weir_tfrecord_open(path, 0, &r));
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < n; i++) {
      if (i % 3 == 1) {
        assert_ok(weir_tfrecord_skip(r, &found));
      } else {
        assert_ok(weir_tfrecord_next(r, &found));
        assert_record(r, (uint64_t)i, sizes[i]);
      }
      assert_true(found);
      assert_int_equal(weir_tfrecord_number(r), i + 1);
    }
    assert_ok(weir_tfrecord_next(r, &found));
    assert_false(found);
    assert_ok(weir_tfrecord_rewind(r));
  }
  weir_tfrecord_close(&r);
}

/* Status of reading a file to its end. */
static inline weir_status tf_status(const char *path, int64_t max_record)
{
  weir_tfrecord *r = NULL;
  bool found = true;
  weir_status status = weir_tfrecord_open(path, max_record, &r);
  weir_tf_feature f;

  while (status == WEIR_OK && found) {
    status = weir_tfrecord_next(r, &found);
    if (status == WEIR_OK && found) {
      status = weir_tfrecord_find(r, "x", &f);
    }
  }
  weir_tfrecord_close(&r);
  return status;
}

static inline void assert_refused(const char *path, const char *said)
{
  assert_int_equal(tf_status(path, 0), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), said));
  assert_non_null(strstr(weir_last_message(), path));
}
#endif
