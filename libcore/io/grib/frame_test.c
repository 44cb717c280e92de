/* frame_test.c - sections of messages: every truncation and every damaged length is refused with
 * its key; fields of one message are distinguished. */
#include "support/io/grib_test.h"

/* How many fields; -1: `why` says what is wrong. */
static int64_t walk(const uint8_t *bytes, int64_t size, char *why)
{
  weir_grib_frame f;
  int found = 1;

  why[0] = 0;
  if (!weir_grib_frame_open(bytes, size, &f, why)) {
    return -1;
  }
  while (found > 0) {
    found = weir_grib_frame_next(&f, why);
  }
  return found < 0 ? -1 : f.n_fields;
}

static void sound_messages_are_walked(void **state)
{
  char why[WEIR_GRIB_WHY];
  grib_bytes b;

  (void)state;
  grib_make_one(&b, false);
  assert_int_equal(walk(b.bytes, b.size, why), 1);
  grib_make_one(&b, true);
  assert_int_equal(walk(b.bytes, b.size + 100, why), 1);
  grib_make_two(&b);
  assert_int_equal(walk(b.bytes, b.size, why), 2);
}

static void a_cut_message_is_refused_wherever_it_is_cut(void **state)
{
  char why[WEIR_GRIB_WHY];
  grib_bytes b;

  (void)state;
  grib_make_two(&b);
  for (int64_t size = 0; size < b.size; size++) {
    uint8_t *const exact = malloc((size_t)size + 1); /* so that a sanitizer sees the end */

    memcpy(exact, b.bytes, (size_t)size);
    assert_int_equal(walk(exact, size, why), -1);
    assert_true(why[0] != 0);
    free(exact);
  }
  assert_non_null(strstr(why, "totalLength="));
  assert_non_null(strstr(why, "the file ends after"));
}

/* No length of any section may be another without being seen. */
static void a_wrong_length_is_seen(void **state)
{
  char why[WEIR_GRIB_WHY];
  weir_grib_frame f;
  grib_bytes b, bad;

  (void)state;
  for (int edition = 1; edition <= 2; edition++) {
    if (edition == 1) {
      grib_make_one(&b, true);
    } else {
      grib_make_two(&b);
    }
    assert_true(weir_grib_frame_open(b.bytes, b.size, &f, why));
    assert_int_equal(weir_grib_frame_next(&f, why), 1);
    for (int i = 1; i <= (edition == 1 ? 4 : 7); i++) {
      const int width = edition == 1 ? 3 : 4;

      for (int64_t length = 0; f.section[i].length > 0 && length < 400; length += 3) {
        bad = b;
        grib_number(bad.bytes + f.section[i].at, width, length);
        if (length != f.section[i].length) {
          assert_int_equal(walk(bad.bytes, bad.size, why), -1);
          assert_true(why[0] != 0);
        }
      }
    }
  }
}

static void refused(const grib_bytes *b, const char *said)
{
  char why[WEIR_GRIB_WHY];

  assert_int_equal(walk(b->bytes, b->size, why), -1);
  if (!strstr(why, said)) {
    fprintf(stderr, "%s\n", why);
  }
  assert_non_null(strstr(why, said));
}

static void refusals_name_key_and_reason(void **state)
{
  grib_bytes b;

  (void)state;
  grib_make_two(&b);
  b.bytes[7] = 3;
  refused(&b, "edition=3");
  grib_make_two(&b);
  b.bytes[b.size - 1] = '6';
  refused(&b, "no '7777'");
  grib_make_two(&b);
  b.bytes[16 + 21 + 4] = 5;
  refused(&b, "numberOfSection=5: cannot follow section 1");
  grib_begin(&b, 2);
  grib_two(&b, 1, 21);
  grib_number(grib_two(&b, 3, 72) + 6, 4, 16);
  grib_field(&b, 254, 0);
  grib_end(&b);
  refused(&b, "bitMapIndicator=254");
  grib_make_two(&b);
  grib_number(b.bytes + 16 + 21 + 72 + 34 + 5, 4, 17);
  refused(&b, "numberOfValues=17: the grid has 16 points");
  b.bytes[16 + 21 + 72 + 34 + 8] = 16;
  b.bytes[16 + 21 + 72 + 34 + 19] = 9;
  refused(&b, "section7Length=21: 16 values of 9 bits do not fit");
}

static void a_field_is_cut_out_with_the_bitmap_that_it_refers_to(void **state)
{
  char why[WEIR_GRIB_WHY];
  weir_grib_frame f, alone;
  uint8_t out[GRIB_TEST_ROOM];
  grib_bytes b;

  (void)state;
  grib_make_two(&b);
  assert_true(weir_grib_frame_open(b.bytes, b.size, &f, why));
  assert_int_equal(weir_grib_frame_next(&f, why), 1);
  assert_int_equal(weir_grib_frame_next(&f, why), 1);
  weir_grib_frame_copy(&f, out);
  assert_true(weir_grib_frame_open(out, weir_grib_frame_size(&f), &alone, why));
  assert_int_equal(alone.length, weir_grib_frame_size(&f));
  assert_int_equal(weir_grib_frame_next(&alone, why), 1);
  assert_int_equal(out[alone.section[6].at + 5], 0);
  assert_int_equal(out[alone.section[7].at + 5], 2);
  assert_int_equal(weir_grib_frame_next(&alone, why), 0);
}

/* ECMWF: over 8 MiB the length counts 120 bytes, and section 4 says how many are too many. */
static void large_messages_of_edition_one_have_their_length(void **state)
{
  enum { UNITS = 70000, SLACK = 50 };
  const int64_t size = UNITS * 120 - SLACK + 4;
  uint8_t *const bytes = calloc((size_t)size, 1);
  char why[WEIR_GRIB_WHY];
  weir_grib_frame f;
  grib_bytes b;

  (void)state;
  grib_make_one(&b, false);
  memcpy(bytes, b.bytes, (size_t)b.size - 4);
  grib_number(bytes + 4, 3, UNITS | 1 << 23);
  grib_number(bytes + 8 + 28 + 32, 3, SLACK);
  memcpy(bytes + size - 4, "7777", 4);
  assert_true(weir_grib_frame_open(bytes, size, &f, why));
  assert_int_equal(f.length, size);
  assert_int_equal(weir_grib_frame_next(&f, why), 1);
  assert_int_equal(f.section[4].length, size - 4 - 8 - 28 - 32);
  free(bytes);
}

/* Date, step and member do not change what a field is; all else does. */
static void prints_tell_fields_apart(void **state)
{
  char why[WEIR_GRIB_WHY];
  weir_grib_print first, other;
  weir_grib_frame f;
  grib_bytes b;
  uint64_t hash[2];
  int same = 0;

  (void)state;
  grib_begin(&b, 1);
  uint8_t *const one = grib_one(&b, 52);

  one[4] = 98;
  one[40] = 30;
  grib_one(&b, 20);
  grib_end(&b);
  assert_true(weir_grib_frame_open(b.bytes, b.size, &f, why));
  assert_int_equal(weir_grib_frame_next(&f, why), 1);
  assert_true(weir_grib_print_take(&f, &first, &hash[0]));
  for (int i = 8; i < 52; i++) {
    one[i] ^= 0x10;
    assert_true(weir_grib_print_take(&f, &other, &hash[1]));
    one[i] ^= 0x10;
    const bool equal = memcmp(&first, &other, sizeof first) == 0;

    assert_true(equal == (hash[0] == hash[1]));
    assert_true(equal == ((i >= 12 && i <= 16) || i == 18 || i == 19 || i == 24 || i == 49));
    same += equal;
  }
  assert_int_equal(same, 9);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sound_messages_are_walked),
      cmocka_unit_test(a_cut_message_is_refused_wherever_it_is_cut),
      cmocka_unit_test(a_wrong_length_is_seen),
      cmocka_unit_test(refusals_name_key_and_reason),
      cmocka_unit_test(a_field_is_cut_out_with_the_bitmap_that_it_refers_to),
      cmocka_unit_test(large_messages_of_edition_one_have_their_length),
      cmocka_unit_test(prints_tell_fields_apart),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
