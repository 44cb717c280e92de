/* gzip_zlib_test.c - compressed files there and back, truncated, damaged, joined; many threads, the
 * same bytes. */
#include "device/weir_parallel.h"
#include "support/io/tfrecord_test.h"

static char dir[256], path[512];

static const int64_t sizes[] = {1, 0, 70001, 600000, 1100000, 3};
enum { N = 6, LEVEL = 1 };

static char *bytes;
static int64_t size;

static void load(const int64_t *each, int n)
{
  weir_free(&bytes);
  tf_write(path, each, n, LEVEL);
  assert_ok(weir_file_read(path, INT64_C(1) << 26, &bytes, &size));
}

static void compressed_files_come_back(void **state)
{
  weir_tfrecord *r = NULL;

  for (int n = 0; n <= N; n += n < 2 ? 1 : 2) {
    tf_write(path, sizes, n, LEVEL);
    assert_reads(path, sizes, n);
  }
  assert_ok(weir_tfrecord_open(path, 0, &r));
  assert_true(weir_tfrecord_compressed(r));
  weir_tfrecord_close(&r);
}

static void threads_do_not_change_a_bit(void **state)
{
  const int threads = weir_threads_get();
  char *one = NULL;
  int64_t n = 0;

  weir_threads_set(1);
  load(sizes, N);
  one = bytes;
  n = size;
  bytes = NULL;
  weir_threads_set(3);
  load(sizes, N);
  weir_threads_set(threads);
  assert_int_equal(n, size);
  assert_memory_equal(one, bytes, (size_t)n);
  weir_free(&one);
}

static void streams_cut_off_are_refused(void **state)
{
  load(sizes, 3);
  for (int64_t n = 2; n < size; n += n < 40 || n > size - 40 ? 1 : 997) {
    weir_check_write(path, bytes, (size_t)n);
    assert_int_equal(tf_status(path, 0), WEIR_ERR_DATA);
  }
  weir_check_write(path, bytes, (size_t)size - 1);
  assert_refused(path, "the compressed stream ends early");
}

static void damage_is_refused(void **state)
{
  load(sizes, 3);
  for (int64_t i = 2; i < size; i += i < 40 || i > size - 40 ? 1 : 997) {
    if (i >= 3 && i < 10) { /* flags may announce what is then read; time and system are free */
      continue;
    }
    bytes[i] = (char)(bytes[i] ^ 4);
    weir_check_write(path, bytes, (size_t)size);
    assert_int_equal(tf_status(path, 0), WEIR_ERR_DATA);
    bytes[i] = (char)(bytes[i] ^ 4);
  }
  bytes[size - 6]++;
  weir_check_write(path, bytes, (size_t)size);
  assert_refused(path, "the compressed stream is damaged near byte");
}

static void members_may_be_joined(void **state)
{
  const int64_t again[] = {5, 6, 5, 6};
  char *twice = NULL;

  load(again, 2);
  assert_ok(weir_alloc(2 * size + 512, 1, (void **)&twice));
  memcpy(twice, bytes, (size_t)size);
  memcpy(twice + size, bytes, (size_t)size);
  for (int zeros = 0; zeros <= 512; zeros += 512) {
    weir_tfrecord *r = NULL;
    bool found = true;

    weir_check_write(path, twice, (size_t)(2 * size + zeros));
    assert_ok(weir_tfrecord_open(path, 0, &r));
    for (int i = 0; i < 4; i++) {
      assert_ok(weir_tfrecord_next(r, &found));
      assert_record(r, (uint64_t)(i % 2), again[i]);
    }
    assert_ok(weir_tfrecord_next(r, &found));
    assert_false(found);
    weir_tfrecord_close(&r);
  }
  twice[2 * size] = 'a';
  weir_check_write(path, twice, (size_t)(2 * size + 1));
  assert_refused(path, "are not gzip");
  weir_free(&twice);
}

/* A length of 2 GiB in a file of some bytes: memory grows with the decompressed bytes, not with the
 * claim.
 */
static void claims_do_not_cost_memory(void **state)
{
  weir_writer *file = NULL;
  weir_deflate *z = NULL;
  uint8_t head[WEIR_TF_HEAD] = {0};

  weir_tf_put(head, 8, WEIR_TFRECORD_MAX);
  weir_tf_put(head + 8, 4, weir_crc32c_mask(weir_crc32c(0, head, 8)));
  assert_ok(weir_writer_open(path, &file));
  assert_ok(weir_deflate_create(file, LEVEL, &z));
  assert_ok(weir_deflate_write(z, head, sizeof head));
  assert_ok(weir_deflate_finish(z));
  weir_deflate_destroy(&z);
  assert_ok(weir_writer_commit(&file));
  const int64_t before = weir_alloc_bytes();

  assert_refused(path, ": record 1 (byte 0): the file ends after 0 of its 2147483651 bytes");
  assert_int_equal(weir_alloc_bytes(), before);
  assert_true(weir_alloc_peak() < (INT64_C(1) << 28));
  assert_int_equal(tf_status(path, 1 << 20), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "more than the maximum of 1048576"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compressed_files_come_back),  cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(streams_cut_off_are_refused), cmocka_unit_test(damage_is_refused),
      cmocka_unit_test(members_may_be_joined),       cmocka_unit_test(claims_do_not_cost_memory),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a.tfrecord", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_free(&bytes);
  weir_check_rmdir(dir);
  return failed;
}
