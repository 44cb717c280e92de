/* coordinate_test.c - Matrix Market of every symmetry; what is refused. */
#include "support/io/triplets_test.h"

static void matrices_of_any_symmetry_are_read(void **state)
{
  static const weir_c128 symmetric[] = {{1, 0}, {2, 0}, {2, 0}, {0, 0}};
  static const weir_c128 skew[] = {{0, 0}, {-2, 0}, {2, 0}, {0, 0}};
  static const weir_c128 wide[] = {{0, 0}, {5, 0}, {6, 0}};
  bytes b = text(MM "coordinate real symmetric\n2 2 2\n1 1 1\n2 1 2\n");

  assert_matrix(&b, symmetric, 2, 2);
  b = text(MM "array integer symmetric\n2 2\n1\n2\n0\n");
  assert_matrix(&b, symmetric, 2, 2);
  b = text(MM "coordinate integer skew-symmetric\n2 2 1\n2 1 2\n");
  assert_matrix(&b, skew, 2, 2);
  b = text(MM "array real skew-symmetric\n2 2\n2\n");
  assert_matrix(&b, skew, 2, 2);
  b = text(MM "coordinate real general\n1 3 2\n1 2 5\n1 3 6D0\n");
  assert_matrix(&b, wide, 1, 3);
}

static void wrong_files_are_refused_by_line(void **state)
{
  static const triplets_case cases[] = {
      {MM "coordinate pattern general\n2 2 1\n1 1\n", ":1: the type of the elements is 'pattern'"},
      {MM "coordinate real\n2 2 1\n1 1\n", ":1: the symmetry is '', expected general, symmetric"},
      {MM "coordinate real general x\n", ":1: unexpected text"},
      {"%%MatrixMarket vector\n", ":1: the object is 'vector', expected matrix"},
      {MM "coordinate real general\n", ":1: the file ends here, before the sizes"},
      {MM "coordinate real general\n% c\n0 2 1\n", ":3: the number of rows is '0'"},
      {MM "coordinate real general\n2 2\n", ":2: the line ends before the number of elements"},
      {MM "coordinate real general\n2 2 9000000000000000000\n1 1 1\n", ":2: 9000000000000000000 "
                                                                       "elements are declared"},
      {MM "coordinate real general\n2 2 1\n3 1 1\n",
       ":3: the row is '3', expected an integer from 1 "
       "to 2"},
      {MM "coordinate real general\n2 2 1\n1 0 1\n", ":3: the column is '0'"},
      {MM "coordinate real general\n2 2 1\n1 1 inf\n", ":3: the element is 'inf'"},
      {MM "coordinate complex general\n2 2 1\n1 1 1\n",
       ":3: the line ends before the imaginary part"},
      {MM "coordinate real general\n2 2 1\n1 1 1 1\n", ":3: unexpected text"},
      {MM "coordinate real general\n2 2 2\n1 1 1\n", ":3: the file ends here"},
      {MM "coordinate real general\n2 2 1\n1 1 1\n2 2 2\n", ":4: more lines"},
      {MM "coordinate real symmetric\n2 3 1\n1 1 1\n", ":2: a matrix of 2 x 3 cannot be symmetric"},
      {MM "coordinate real symmetric\n2 2 1\n1 2 1\n",
       ":3: element (1, 2) lies above the diagonal"},
      {MM "coordinate complex hermitian\n2 2 1\n1 1 1 1\n", ":3: element (1, 1) of the diagonal is "
                                                            "not real"},
      {MM "coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "of the diagonal is not zero"},
      {MM "array real general\n2147483647 2147483647\n1\n", ":2: 4611686014132420609 elements"},
  };

  assert_texts_refused(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_of_any_symmetry_are_read),
      cmocka_unit_test(wrong_files_are_refused_by_line),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
