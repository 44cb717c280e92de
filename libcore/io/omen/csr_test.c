/* csr_test.c - H_4.bin and its text version; what is refused. */
#include "support/io/triplets_test.h"

static void imaginary_parts_may_be_absent(void **state)
{
  static const weir_c128 symmetric[] = {{1, 0}, {2, 0}, {2, 0}, {0, 0}};
  bytes b = {.size = 0};

  for (int i = 0; i < 12; i++) {
    put_native(&b, (const double[]){2, 3, 1, 1, 1, 1, 1, 2, 2, 2, 1, 2}[i]);
  }
  assert_matrix(&b, symmetric, 2, 2);
}

static void wrong_texts_are_refused_by_line(void **state)
{
  static const triplets_case cases[] = {
      {"2\n1\n1\n3 1 1\n", ":4: the row is '3'"},
      {"2\n1\n2\n3 1 1\n", ":3: the first index is '2'"},
      {"2\n5\n1\n1 1 1\n", ":3: 5 elements are declared"},
      {"2\n1\n1\n1 1 x\n", ":4: the real part is 'x'"},
      {"2\n1\n0\n1 1 1 2 3\n", ":4: unexpected text"},
  };

  assert_texts_refused(cases, sizeof cases / sizeof cases[0]);
}

static void wrong_bytes_are_refused_by_place(void **state)
{
  bytes b = omen(1);

  b.data[3 * 8 + 6] = 0x24; /* row 10 */
  b.data[3 * 8 + 7] = 0x40;
  assert_refused(&b, "element 1 at byte 24, row 10, column 1");
  b = omen(1);
  memset(b.data + 5 * 8 + 6, 0xff, 2);
  assert_refused(&b, "element 1 at byte 24");
  b = omen(1);
  b.size -= 8;
  assert_refused(&b, "declares 6 elements, which take 216 bytes, but has 208");
  b.data[7] = 0xc0;
  assert_refused(&b, "it would have -3 rows, 6 elements and first index 1");
  b.size = 9;
  assert_refused(&b, "has 9 bytes, fewer than the header");
  b.size = 0;
  assert_refused(&b, "has 0 bytes");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(imaginary_parts_may_be_absent),
      cmocka_unit_test(wrong_texts_are_refused_by_line),
      cmocka_unit_test(wrong_bytes_are_refused_by_place),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
