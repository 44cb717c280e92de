/* example_test.c - messages of protobuf by hand: what TensorFlow, other writers and hostile files
 * make. */
#include "support/io/tfrecord_test.h"

static char dir[256], path[512];

enum { MAX_VALUES = 16, MAX = 512 };

/* The only feature of a message, or the last; kind WEIR_TF_EMPTY where there is none. */
static weir_tf_feature feature;
static weir_tf_example example;
static int found;

static void parse(const char *text, int64_t size)
{
  static uint8_t message[MAX];

  assert_true(size <= MAX);
  memcpy(message, text, (size_t)size);
  found = 0;
  feature = (weir_tf_feature){0};
  weir_tf_example_init(&example, message, size);
  for (weir_tf_feature f; weir_tf_example_next(&example, &f);) {
    feature = f;
    found++;
  }
}
#define PARSE(text) parse(text, (int64_t)sizeof(text) - 1)
/* One entry "y" whose Feature has the bytes of `text`, at most 100 of them. */
#define FEATURE(text) entry(text, (int64_t)sizeof(text) - 1)

static void entry(const char *text, int64_t size)
{
  char message[MAX];
  const char head[] = {0x0a, (char)(size + 7), 0x0a, (char)(size + 5), 0x0a, 1, 'y',
                       0x12, (char)size};

  memcpy(message, head, sizeof head);
  memcpy(message + sizeof head, text, (size_t)size);
  parse(message, (int64_t)sizeof head + size);
}

static void assert_floats(int n)
{
  float y[MAX_VALUES];

  assert_string_equal(example.why, "");
  assert_int_equal(feature.kind, WEIR_TF_FLOATS);
  assert_int_equal(feature.count, n);
  weir_tf_floats(&feature, y);
  for (int i = 0; i < n; i++) {
    assert_true(y[i] == (i == 0 ? 1.0f : -2.0f));
  }
}

static void floats_are_packed_or_not(void **state)
{
  FEATURE("\x12\x0a\x0a\x08\0\0\x80\x3f\0\0\0\xc0");
  assert_floats(2);
  FEATURE("\x12\x0a\x0d\0\0\x80\x3f\x0d\0\0\0\xc0");
  assert_floats(2);
  FEATURE("\x12\x0b\x0a\x04\0\0\x80\x3f\x0d\0\0\0\xc0"); /* both, for it is allowed */
  assert_floats(2);
  FEATURE("\x12\0");
  assert_floats(0);
}

static void integers_are_packed_or_not(void **state)
{
  int64_t id[MAX_VALUES];

  FEATURE("\x1a\x0f\x0a\x0b\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08\x96\x01");
  assert_int_equal(example.why[0], 'a'); /* the list is one byte too short */
  FEATURE("\x1a\x10\x0a\x0b\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08\x96\x01");
  assert_string_equal(example.why, "");
  assert_int_equal(feature.count, 3);
  weir_tf_ints(&feature, id);
  assert_true(id[0] == 5 && id[1] == -1 && id[2] == 150);
}

static void of_bytes_the_first_is_at_hand(void **state)
{
  FEATURE("\x0a\x09\x0a\x03"
          "abc"
          "\x0a\x02"
          "de");
  assert_string_equal(example.why, "");
  assert_int_equal(feature.count, 2);
  assert_int_equal(feature.size, 3);
  assert_memory_equal(feature.bytes, "abc", 3);
}

static void what_is_not_known_is_passed_over(void **state)
{
  /* Fields 9 (varint), 10 (64 bits), 11 (bytes), 12 (32 bits) before a feature without a list. */
  PARSE("\x48\x05\x51"
        "12345678"
        "\x5a\x02"
        "ab"
        "\x65"
        "1234"
        "\x0a\x0a\x48\x05\x0a\x06\x48\x01"
        "\x0a\x01"
        "y"
        "\x12\0");
  assert_int_equal(example.why[0], 'a');
  PARSE("\x48\x05\x51"
        "12345678"
        "\x5a\x02"
        "ab"
        "\x65"
        "1234"
        "\x0a\x0b\x48\x05\x0a\x07\x48\x01"
        "\x0a\x01"
        "y"
        "\x12\0");
  assert_string_equal(example.why, "");
  assert_int_equal(found, 1);
  assert_int_equal(feature.kind, WEIR_TF_EMPTY);
  assert_true(weir_tf_is(&feature, "y"));
}

static void features_come_in_pieces_and_values_before_keys(void **state)
{
  PARSE("\x0a\x09\x0a\x07\x12\x02\x12\0\x0a\x01"
        "a"
        "\x0a\x09\x0a\x07\x0a\x01"
        "b"
        "\x12\x02\x1a\0");
  assert_string_equal(example.why, "");
  assert_int_equal(found, 2);
  assert_true(weir_tf_is(&feature, "b"));
  PARSE("");
  assert_string_equal(example.why, "");
  assert_int_equal(found, 0);
}

static void wrong(const char *said, int64_t at)
{
  if (!strstr(example.why, said)) {
    fprintf(stderr, "'%s' does not say: %s\n", example.why, said);
  }
  assert_non_null(strstr(example.why, said));
  assert_int_equal(example.at, at);
}

static void what_is_wrong_is_named(void **state)
{
  PARSE("\x0a\x7f\x0a");
  wrong("a field claims 127 bytes where 1 are left", 0);
  PARSE("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  wrong("a field claims 18446744073709551615 bytes where 0 are left", 0);
  PARSE("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
  wrong("a length does not end", 0);
  PARSE("\x03");
  wrong("no field of protobuf begins here", 0);
  PARSE("\x0b");
  wrong("groups of protobuf", 0);
  PARSE("\x08\x01");
  wrong("the features are not a message", 0);
  FEATURE("\x12\x05\x0a\x03"
          "abc");
  wrong("not a multiple of 4 bytes", 11);
  assert_string_equal(example.key, "y");
  FEATURE("\x1a\x03\x0a\x01\xff");
  wrong("a list of integers ends within a number", 11);
  FEATURE("\x0a\x02\x08\x01");
  wrong("a list of bytes has another content", 11);
  FEATURE("\x12\0\x12\0");
  wrong("a feature has two lists", 11);
}

static void every_cut_of_a_message_is_sound_or_refused(void **state)
{
  int64_t size = 0;
  weir_tfrecord *r = NULL;
  bool any = false;

  tf_write(path, (const int64_t[]){40}, 1, 0);
  assert_ok(weir_tfrecord_open(path, 0, &r));
  assert_ok(weir_tfrecord_next(r, &any));
  const uint8_t *const message = weir_tfrecord_payload(r, &size);

  for (int64_t n = 0; n < size; n++) {
    parse((const char *)message, n);
    assert_true(n == 0 || example.why[0]);
  }
  parse((const char *)message, size);
  assert_string_equal(example.why, "");
  assert_int_equal(found, 3);
  weir_tfrecord_close(&r);
}

/* Sums that are right around a message that is not. */
static void a_file_names_record_byte_and_key(void **state)
{
  const char message[] = "\x0a\x0e\x0a\x0c\x0a\x01"
                         "y"
                         "\x12\x07\x12\x05\x0a\x03"
                         "abc";
  uint8_t bytes[64];
  const int64_t size = (int64_t)sizeof message - 1;

  weir_tf_put(bytes, 8, (uint64_t)size);
  weir_tf_put(bytes + 8, 4, weir_crc32c_mask(weir_crc32c(0, bytes, 8)));
  memcpy(bytes + WEIR_TF_HEAD, message, (size_t)size);
  weir_tf_put(bytes + WEIR_TF_HEAD + size, 4, weir_crc32c_mask(weir_crc32c(0, message, size)));
  weir_check_write(path, bytes, (size_t)(WEIR_TF_HEAD + size + WEIR_TF_TAIL));
  assert_refused(
      path,
      ": record 1 (byte 23): key 'y': the length of a list of floats is not a multiple of 4 bytes");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floats_are_packed_or_not),
      cmocka_unit_test(integers_are_packed_or_not),
      cmocka_unit_test(of_bytes_the_first_is_at_hand),
      cmocka_unit_test(what_is_not_known_is_passed_over),
      cmocka_unit_test(features_come_in_pieces_and_values_before_keys),
      cmocka_unit_test(what_is_wrong_is_named),
      cmocka_unit_test(every_cut_of_a_message_is_sound_or_refused),
      cmocka_unit_test(a_file_names_record_byte_and_key),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a.tfrecord", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
