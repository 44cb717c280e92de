/* triplets_test.c - the same matrix in every format, detected by its first bytes; truncated files.
 */
#include "support/io/triplets_test.h"

static void every_format_gives_the_same_matrix(void **state)
{
  weir_c128 expected[N * N];
  const bytes files[] = {
      petsc(4, false),
      petsc(4, true),
      petsc(8, false),
      omen(1),
      omen(0),
      text("3\n6\n1\n1 1 1\n1 2 2 1\n2 1 2.0 -1\n2 2 3 0\n2 3 -4\n3 2 -4\n"),
      text(MM
           "coordinate complex hermitian\n% c\n%\n3 3 4\n1 1 1 0\n2 1 2 -1\n2 2 3 0\n3 2 -4 0\n"),
      text(MM "Coordinate Complex General\n\n3 3 7\n1 1 0.5 0\n1 1 5e-1 0\n1 2 2 1\n2 1 2 -1\n"
              "2 2 3 0\n2 3 -4 0\n3 2 -4 0"),
      text(MM "array complex hermitian\n3 3\n1 0\n2 -1\n0 0\n3 0\n-4 0\n0 0\n"),
      text(MM "array complex general\n3 3\n1 0\n2 -1\n0 0\n2 1\n3 0\n-4 0\n0 0\n-4 0\n0 0\n"),
  };

  for (int64_t i = 0; i < N * N; i++) {
    expected[i] = hermitian(i);
  }
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    assert_matrix(&files[i], expected, N, N);
  }
}

static void a_matrix_of_wannier90_is_told_from_a_lead(void **state)
{
  static const weir_c128 wide[] = {{0, 0}, {5, 0}, {6, 0}};
  static const triplets_case cases[] = {
      {"written by hand\n1\n1\n1\n1\n", "contains a cell and its coupling"},
  };
  const bytes b = text("written by hand\n 1 3\n 0 5\n 6\n"); /* seed_htLC.dat */

  assert_matrix(&b, wide, 1, 3);
  assert_texts_refused(cases, 1);
}

static void every_cut_is_refused(void **state)
{
  const bytes files[] = {
      petsc(4, false),
      petsc(8, true),
      omen(1),
      text("3\n2\n1\n1 1 1\n1 2 20 10\n"),
      text(MM "coordinate complex hermitian\n% c\n%\n3 3 2\n1 1 1 0\n2 1 2 -1\n"),
  };

  const size_t real[] = {100, 104, 168, 0, 0}; /* as many bytes as without imaginary parts */

  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    bytes b = files[i];
    const size_t n_checked = i < 3 ? b.size : b.size - 5; /* shorter numbers are numbers too */

    for (size_t k = 0; k < n_checked; k++) {
      weir_triplets t;

      b.size = k;
      if (k == 0 || k != real[i]) {
        assert_int_equal(read_bytes(&b, &t), WEIR_ERR_DATA);
      }
    }
  }
}

static weir_status make(void *context)
{
  weir_triplets t;

  WEIR_TRY(read_bytes(context, &t));
  weir_triplets_fini(&t);
  return WEIR_OK;
}

static void missing_memory_is_reported(void **state)
{
  bytes files[] = {petsc(4, false), omen(1), text("1\n1\n1\n1 1 1\n"), text("c\n1\n1\n"),
                   text(MM "coordinate real general\n1 1 1\n1 1 1\n")};

  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    assert_true(weir_check_faults(make, &files[i]) >= 2);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_format_gives_the_same_matrix),
      cmocka_unit_test(a_matrix_of_wannier90_is_told_from_a_lead),
      cmocka_unit_test(every_cut_is_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
