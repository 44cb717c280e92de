/* matrix_test.c - matrices that PETSc saved; what is refused. */
#include "support/io/triplets_test.h"

static void real_builds_are_read(void **state)
{
  static const weir_c128 symmetric[] = {{1, 0}, {2, 0}, {2, 0}, {0, 0}};
  bytes b = {.size = 0};

  for (int i = 0; i < 9; i++) {
    put_int(&b, (const int64_t[]){1211216, 2, 2, 3, 2, 1, 0, 1, 0}[i], 4);
  }
  for (int i = 0; i < 3; i++) {
    put_big(&b, (const double[]){1, 2, 2}[i]);
  }
  assert_matrix(&b, symmetric, 2, 2);
}

static void wrong_bytes_are_refused_by_place(void **state)
{
  bytes b = petsc(4, false);

  b.data[7] = 9;
  assert_refused(&b, "declares 9 rows and 6 elements");
  b = petsc(4, false);
  b.data[4 * 4 + 3] = 7;
  assert_refused(&b, "byte 16: row 0 (from 0) has 7 elements; 6 of 6 are left");
  b.data[4 * 4 + 3] = 1;
  assert_refused(&b, "declares 6 elements; its rows have 5 in all");
  b = petsc(4, false);
  b.data[4 * 7 + 3] = 3;
  assert_refused(&b, "byte 52: element of row 0 and column 3");
  b = petsc(4, false);
  b.data[4 * 13] = 0x7f;
  b.data[4 * 13 + 1] = 0xf8;
  assert_refused(&b, "column 0 (from 0; 3 columns) is nan");
  b = petsc(4, true);
  memset(b.data + 4, 0x7f, 8);
  assert_refused(&b, "elements, but has");
  b = petsc(4, true);
  b.data[12] = 0x80;
  assert_refused(&b, "byte 4: a matrix of 3 x 3");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(real_builds_are_read),
      cmocka_unit_test(wrong_bytes_are_refused_by_place),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
