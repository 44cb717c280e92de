/* transport_test.c - dense matrices of Wannier90's transport by hand; what is refused. */
#include "support/io/io_test.h"
#include "io/weir_triplets.h"

static char dir[256], path[512];

static void matrices_stand_column_by_column(void **state)
{
  weir_triplets t[2];
  int count = 0;

  write_text(path, "c\n 2\n 1 2 0\n -1.5\n 2\n 0 0 3.0D0 0\n");
  assert_ok(weir_wannier_read_ht(path, t, &count));
  assert_int_equal(count, 2);
  assert_int_equal(t[0].rows, 2);
  assert_int_equal(t[0].count, 3); /* without the zero */
  assert_true(t[0].item[1].row == 1 && t[0].item[1].column == 0 && t[0].item[1].value.re == 2);
  assert_true(t[1].count == 1 && t[1].item[0].row == 0 && t[1].item[0].column == 1);
  weir_triplets_fini(&t[0]);
  weir_triplets_fini(&t[1]);
  write_text(path, "c\n 2 3\n 1 2 3 4 5 6\n\n");
  assert_ok(weir_wannier_read_ht(path, t, &count));
  assert_int_equal(count, 1);
  assert_true(t[0].rows == 2 && t[0].columns == 3 && t[0].item[4].column == 2);
  weir_triplets_fini(&t[0]);
}

static void wrong_matrices_are_refused_by_line(void **state)
{
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"", "a.dat:0: the file ends here"},
      {"c\n", "a.dat:1: the file ends here, before the size of a matrix"},
      {"c\n0\n", "a.dat:2: the size of a matrix is '0'"},
      {"c\n2\n1 2 3\n", "a.dat:3: the file ends before an element"},
      {"c\n2\n1 2 nan 4\n", "a.dat:3: an element is 'nan'"},
      {"c\n2\n1 2 3 4 5\n", "a.dat:3: unexpected text at the end of the line: '5'"},
      {"c\n1 2 3\n1 2\n", "a.dat:2: unexpected text at the end of the line: '3'"},
      {"c\n99999\n1 2\n", "a.dat:2: 9999800001 elements are declared"},
      {"c\n2\n1 2 3 4\n1\n5\n", "a.dat:5: a cell of 2 functions and a coupling of 1 x 1"},
      {"c\n1\n1\n1\n5\n1\n", "a.dat:6: more lines"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_triplets t[2];
    int count = 0;

    write_text(path, cases[i].text);
    assert_int_equal(weir_wannier_read_ht(path, t, &count), WEIR_ERR_DATA);
    if (!strstr(weir_last_message(), cases[i].said)) {
      fprintf(stderr, "%s\n", weir_last_message());
      fail();
    }
    assert_null(t[0].item);
  }
}

static weir_status make(void *context)
{
  weir_triplets t[2];
  int count = 0;

  WEIR_TRY(weir_wannier_read_ht(context, t, &count));
  weir_triplets_fini(&t[0]);
  weir_triplets_fini(&t[1]);
  return WEIR_OK;
}

static void missing_memory_is_reported(void **state)
{
  write_text(path, "c\n 2\n 1 2 0\n -1.5\n 2\n 0 0 3.0D0 0\n");
  assert_true(weir_check_faults(make, path) == 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_stand_column_by_column),
      cmocka_unit_test(wrong_matrices_are_refused_by_line),
      cmocka_unit_test(missing_memory_is_reported),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a.dat", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
