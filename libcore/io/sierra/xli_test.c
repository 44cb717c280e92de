/* xli_test.c - the compression XLI against lines by hand, and streams that end or lie. */
#include "io/sierra/sierra_priv.h"
#include "support/io/io_test.h"

/* 5 5 5 5 5 5: numbers 5 5 64 64 64 64 as high bytes (six of 0), then low ones. The codes of ten
 * bits: 0, 256 (the string 0 0, not yet there), 257 (0 0 0), 5, 5, 64, 261 (64 64), 64, end. */
static const uint8_t constant[] = {12, 0, 0, 0, 1,  0, 0,  0,  0,   16,
                                   4,  4, 5, 1, 68, 4, 20, 64, 255, 192};

static void a_stream_by_hand_gives_its_samples(void **state)
{
  int32_t x[6];
  int64_t used = 0;

  assert_null(weir_sierra_xli(constant, sizeof constant, x, 6, &used));
  assert_int_equal(used, sizeof constant);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(x[i], 5);
  }
}

/* Codes 0 0 7 5 64 64 and the end: numbers 7, 5 and 64 of one byte each with high bytes of 0.
 * Sample 2 is 2 * 5 - 7 - d, of d = -2 in the head. */
static void the_first_difference_is_that_of_the_head(void **state)
{
  static const uint8_t data[] = {9, 0,    0,    0,    1,    0,    0xfe, 0xff, 0x00,
                                 0, 0x00, 0x00, 0x07, 0x01, 0x44, 0x0f, 0xfc};
  int32_t x[3];
  int64_t used = 0;

  assert_null(weir_sierra_xli(data, sizeof data, x, 3, &used));
  assert_int_equal(x[0], 7);
  assert_int_equal(x[1], 5);
  assert_int_equal(x[2], 5);
}

static void what_does_not_fit_is_told(void **state)
{
  static const uint8_t early[] = {2, 0, 0, 0, 1, 0, 0, 0, 0x40, 0x00}; /* code 256 first */
  uint8_t longer[sizeof constant];
  int32_t x[8];
  int64_t used = 0;

  assert_non_null(strstr(weir_sierra_xli(constant, 7, x, 6, &used), "within the head"));
  assert_non_null(strstr(weir_sierra_xli(constant, 19, x, 6, &used), "within a lead"));
  assert_non_null(strstr(weir_sierra_xli(constant, sizeof constant, x, 5, &used), "more samples"));
  assert_non_null(strstr(weir_sierra_xli(constant, sizeof constant, x, 7, &used), "fewer samples"));
  assert_non_null(strstr(weir_sierra_xli(early, sizeof early, x, 6, &used), "no string yet"));
  memcpy(longer, constant, sizeof longer);
  memset(longer, 0xff, 4); /* 4 GiB follow */
  assert_non_null(strstr(weir_sierra_xli(longer, sizeof longer, x, 6, &used), "within a lead"));
}

/* Second differences of 2^15 leave 16 bits. */
static void samples_beyond_16_bits_are_told(void **state)
{
  uint8_t data[sizeof constant];
  int32_t x[6];
  int64_t used = 0;

  memcpy(data, constant, sizeof data);
  data[7] = 0x80;
  data[6] = 0x00;
  assert_non_null(strstr(weir_sierra_xli(data, sizeof data, x, 6, &used), "exceeds 16 bits"));
}

static void limb_leads_round_halves_towards_0(void **state)
{
  int32_t one[] = {3, -3, 4};
  int32_t two[] = {4, -4, 4};
  int32_t three[] = {0, 0, 1};
  int32_t right[] = {0, 0, 0};
  int32_t left[] = {0, 0, 0};
  int32_t foot[] = {0, 0, 2};
  int32_t *leads[] = {one, two, three, right, left, foot};
  static const int32_t want[4][3] = {{1, -1, -1}, {-3, 3, -4}, {1, -1, 2}, {2, -2, -1}};

  weir_sierra_limb_leads(leads, 3);
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 3; i++) {
      assert_int_equal(leads[2 + k][i], want[k][i]);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stream_by_hand_gives_its_samples),
      cmocka_unit_test(the_first_difference_is_that_of_the_head),
      cmocka_unit_test(what_does_not_fit_is_told),
      cmocka_unit_test(samples_beyond_16_bits_are_told),
      cmocka_unit_test(limb_leads_round_halves_towards_0),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
