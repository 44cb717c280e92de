/* record_test.c - sums, plain files there and back, and every refusal by name. */
#include "support/io/tfrecord_test.h"

static char dir[256], path[512];

static void sums_are_those_of_the_standard(void **state)
{
  uint8_t zeros[32] = {0};

  /* RFC 3720, B.4, and the check value of the catalogue of CRCs. */
  assert_int_equal(weir_crc32c(0, "123456789", 9), 0xe3069283);
  assert_int_equal(weir_crc32c(0, zeros, 32), 0x8a9136aa);
  /* What TensorFlow writes around nothing. */
  assert_int_equal(weir_crc32c_mask(weir_crc32c(0, zeros, 8)), 0x07980329);
  assert_int_equal(weir_crc32c_mask(0), 0xa282ead8);
}

static void sums_do_not_depend_on_the_processor(void **state)
{
  uint8_t bytes[100];

  for (int i = 0; i < 100; i++) {
    bytes[i] = (uint8_t)weir_random_bits(5, 1, 0, (uint64_t)i);
  }
  for (int from = 0; from < 9; from++) {
    for (int to = from; to <= 100; to++) {
      const uint32_t whole = weir_crc32c(0, bytes + from, to - from);
      const int split = from + (to - from) / 3;

      assert_int_equal(whole, weir_crc32c_table(0, bytes + from, to - from));
      assert_int_equal(whole, weir_crc32c(weir_crc32c(0, bytes + from, split - from), bytes + split,
                                          to - split));
    }
  }
}

static void plain_files_come_back(void **state)
{
  const int64_t sizes[] = {1, 0, 127, 128, 16383, 16385, 70001, 2};

  for (int n = 0; n <= 8; n += n < 2 ? 1 : 3) {
    tf_write(path, sizes, n, 0);
    assert_reads(path, sizes, n);
  }
}

/* Bytes of the file, changed by the caller and written again. */
static char *bytes;
static int64_t size;

static void load(void)
{
  const int64_t sizes[] = {10, 20, 30};

  weir_free(&bytes);
  tf_write(path, sizes, 3, 0);
  assert_ok(weir_file_read(path, 1 << 20, &bytes, &size));
}

static int64_t record_bytes(int64_t at)
{
  return (int64_t)weir_tf_u64((uint8_t *)bytes + at) + WEIR_TF_HEAD + WEIR_TF_TAIL;
}

static void damage_is_found_wherever_it_is(void **state)
{
  load();
  for (int64_t i = 0; i < size; i++) {
    bytes[i] = (char)(bytes[i] ^ 0x10);
    weir_check_write(path, bytes, (size_t)size);
    assert_int_equal(tf_status(path, 0), WEIR_ERR_DATA);
    bytes[i] = (char)(bytes[i] ^ 0x10);
  }
}

static void damage_is_named(void **state)
{
  load();
  const int64_t second = record_bytes(0);
  char said[96];

  bytes[second + WEIR_TF_HEAD + 5]++;
  weir_check_write(path, bytes, (size_t)size);
  snprintf(said, sizeof said, ": record 2 (byte %lld): the CRC of its payload is ",
           (long long)second);
  assert_refused(path, said);
  load();
  bytes[3]++;
  weir_check_write(path, bytes, (size_t)size);
  assert_refused(path, ": record 1 (byte 0): the CRC of its length is ");
  assert_refused(path, "not a TFRecord file, or damaged");
}

static void files_cut_off_are_refused(void **state)
{
  load();
  const int64_t second = record_bytes(0), third = second + record_bytes(second);

  for (int64_t n = 1; n < size; n++) {
    weir_check_write(path, bytes, (size_t)n);
    assert_int_equal(tf_status(path, 0), n == second || n == third ? WEIR_OK : WEIR_ERR_DATA);
  }
  weir_check_write(path, bytes, (size_t)second + 7);
  assert_refused(path, ": the file ends after 7 of the 12 bytes before its payload");
  weir_check_write(path, bytes, (size_t)size - 1);
  assert_refused(path, ": record 3 (byte ");
  assert_refused(path, "it is truncated");
}

static void lengths_are_claims(void **state)
{
  uint8_t head[WEIR_TF_HEAD + 1] = {0};

  for (int shift = 20; shift < 64; shift += 7) {
    weir_tf_put(head, 8, UINT64_C(1) << shift);
    weir_tf_put(head + 8, 4, weir_crc32c_mask(weir_crc32c(0, head, 8)));
    weir_check_write(path, head, sizeof head);
    assert_refused(path, shift < 31 ? "the file ends after 1 of its "
                                    : "more than the maximum of 2147483647");
  }
  tf_write(path, (const int64_t[]){100}, 1, 0);
  assert_int_equal(tf_status(path, 50), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "more than the maximum of 50"));
}

static void files_that_are_none_are_refused(void **state)
{
  (void)remove(path);
  assert_refused(path, "cannot be opened");
  write_text(path, "a text of some length, which is no TFRecord");
  assert_refused(path, "not a TFRecord file, or damaged");
  write_text(path, "");
  assert_int_equal(tf_status(path, 0), WEIR_OK); /* no records */
}

static void what_no_message_holds_is_not_written(void **state)
{
  weir_tfrecord_writer *w = NULL;
  const weir_tf_out out = {"x", WEIR_TF_BYTES, dir, WEIR_TFRECORD_MAX};

  (void)remove(path);
  assert_ok(weir_tfrecord_create(path, 0, &w));
  assert_int_equal(weir_tfrecord_write(w, &out, 1), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "record 1"));
  weir_tfrecord_destroy(&w);
  assert_false(weir_file_exists(path));
}

static weir_status there_and_back(void *context)
{
  weir_tfrecord_writer *w = NULL;
  const weir_tf_out out = {"x", WEIR_TF_BYTES, path, 100};

  (void)context;
  WEIR_TRY(weir_tfrecord_create(path, weir_tfrecord_gzip_available(), &w));
  const weir_status status = weir_tfrecord_write(w, &out, 1);

  if (status != WEIR_OK) {
    weir_tfrecord_destroy(&w);
    return status;
  }
  WEIR_TRY(weir_tfrecord_commit(&w));
  return tf_status(path, 0);
}

static void memory_may_run_out_anywhere(void **state)
{
  assert_true(weir_check_faults(there_and_back, NULL) > 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_of_the_standard),
      cmocka_unit_test(sums_do_not_depend_on_the_processor),
      cmocka_unit_test(plain_files_come_back),
      cmocka_unit_test(damage_is_found_wherever_it_is),
      cmocka_unit_test(damage_is_named),
      cmocka_unit_test(files_cut_off_are_refused),
      cmocka_unit_test(lengths_are_claims),
      cmocka_unit_test(files_that_are_none_are_refused),
      cmocka_unit_test(what_no_message_holds_is_not_written),
      cmocka_unit_test(memory_may_run_out_anywhere),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a.tfrecord", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_free(&bytes);
  weir_check_rmdir(dir);
  return failed;
}
