/* records_test.c - a .TSHS made byte by byte; its orientation; what is refused; every truncation.
 */
#include <math.h>
#include "support/io/io_test.h"
#include "io/weir_tshs.h"

enum { MAX = 8192, RECORDS = 80 };

#define RY 13.605693122994
#define BOHR 0.529177210903

static char dir[256], path[512];

/* The file as it grows, and where its records begin. */
static uint8_t data[MAX];
static size_t size, start[RECORDS];
static int records;
static int spins = 2; /* components of the Hamiltonian */

static void put_int(int64_t x)
{
  for (int i = 0; i < 4; i++) {
    data[size++] = (uint8_t)(x >> 8 * i);
  }
}

static void ints(int n, const int64_t *x)
{
  start[records++] = size;
  put_int(4 * n);
  for (int i = 0; i < n; i++) {
    put_int(x[i]);
  }
  put_int(4 * n);
}

static void reals(int n, const double *x)
{
  start[records++] = size;
  put_int(8 * n);
  for (int i = 0; i < n; i++) {
    memcpy(data + size, &x[i], sizeof *x);
    size += sizeof *x;
  }
  put_int(8 * n);
}

#define INTS(...) ints(sizeof((const int64_t[]){__VA_ARGS__}) / 8, (const int64_t[]){__VA_ARGS__})
#define REALS(...) reals(sizeof((const double[]){__VA_ARGS__}) / 8, (const double[]){__VA_ARGS__})

/* Two atoms with one and two orbitals, three cells along the first vector, `spins` components. Row
 * 1 has the elements (1, 1), (1, 2) of the cell and (1, 3) of cell +1; row 3 has (3, 1) of cell -1.
 */
static void make_file(bool gamma)
{
  const int64_t no = 3;

  size = 0;
  records = 0;
  INTS(1);
  INTS(2, no, gamma ? no : 3 * no, spins, 4);
  INTS(gamma ? 1 : 3, 1, 1);
  REALS(4, 0, 0, 0, 10, 0, 0, 0, 20, 0, 0, 0, 1, 2, 3);
  INTS(gamma, gamma, 0);
  start[records++] = size;
  put_int(60);
  memset(data + size, 0, 60);
  size += 60;
  put_int(60);
  REALS(-0.25, 8, 0.001);
  INTS(0, 0);
  INTS(0, 1, 3);
  INTS(3, 0, 1);
  INTS(1, 2, gamma ? 3 : 3 + no); /* the first cell is the home one, then +1, -1 */
  ints(0, NULL);
  INTS(gamma ? 1 : 1 + 2 * no);
  REALS(1, 0.1, 0.2);
  reals(0, NULL);
  REALS(0.2);
  for (int spin = 0; spin < spins; spin++) {
    REALS(-1 - spin, 0.5, -0.75);
    reals(0, NULL);
    REALS(-0.75 - (spins > 2) * spin);
  }
  if (!gamma) {
    INTS(0, 0, 0, 1, 0, 0, -1, 0, 0);
  }
}

static weir_status read_file(int64_t spin, weir_tshs *t)
{
  weir_check_write(path, data, size);
  return weir_tshs_read(path, spin, t);
}

static weir_c128 number(const weir_triplets *t, int64_t row, int64_t column)
{
  for (int64_t i = 0; i < t->count; i++) {
    if (t->item[i].row == row && t->item[i].column == column) {
      return t->item[i].value;
    }
  }
  return (weir_c128){NAN, NAN};
}

static double element(const weir_triplets *t, int64_t row, int64_t column)
{
  return number(t, row, column).re;
}

static void records_become_matrices_of_images(void **state)
{
  for (int64_t spin = 0; spin < 2; spin++) {
    weir_tshs t;

    make_file(false);
    assert_ok(read_file(spin, &t));
    assert_true(weir_tshs_is(path));
    assert_true(t.n_atoms == 2 && t.n_orbitals == 3 && t.n_spins == 2 && t.n_images == 3);
    assert_true(t.cell[1][1] == 10 * BOHR && t.position[1][2] == 3 * BOHR);
    assert_true(t.first[0] == 0 && t.first[1] == 1 && t.first[2] == 3);
    assert_true(t.fermi == -0.25 * RY);
    /* a row of the file is a column, the image the opposite one */
    assert_true(t.image[0][0] == 0 && t.image[1][0] == -1 && t.image[2][0] == 1);
    assert_true(element(&t.h[0], 0, 0) == (-1 - (double)spin) * RY);
    assert_true(element(&t.h[0], 1, 0) == 0.5 * RY);
    assert_true(element(&t.h[1], 2, 0) == -0.75 * RY);
    assert_true(element(&t.h[2], 0, 2) == -0.75 * RY);
    assert_true(element(&t.s[1], 2, 0) == 0.2);
    assert_true(t.h[0].count == 2 && t.h[1].count == 1 && t.h[2].count == 1);
    weir_tshs_fini(&t);
  }
}

/* The matrix of the spins of two orbitals whose component c in the file is first - c. */
static void assert_spins(const weir_triplets *t, int64_t row, int64_t column, double first)
{
  const double x = first * RY, y = RY;
  const weir_c128 four[] = {{x, 0}, {x - 2 * y, -(x - 3 * y)}, {x - 2 * y, x - 3 * y}, {x - y, 0}};
  const weir_c128 eight[] = {
      {x, x - 4 * y}, {x - 2 * y, -(x - 3 * y)}, {x - 6 * y, x - 7 * y}, {x - y, x - 5 * y}};

  for (int i = 0; i < 4; i++) {
    const weir_c128 found = number(t, 2 * row + i / 2, 2 * column + i % 2);
    const weir_c128 expected = spins == 4 ? four[i] : eight[i];

    assert_true(fabs(found.re - expected.re) < 1e-13 && fabs(found.im - expected.im) < 1e-13);
  }
}

static void spinors_double_the_basis(void **state)
{
  weir_tshs t;

  for (spins = 4; spins <= 8; spins += 4) {
    make_file(false);
    assert_ok(read_file(0, &t));
    assert_true(t.n_orbitals == 6 && t.n_spins == spins && t.n_images == 3);
    assert_true(t.first[0] == 0 && t.first[1] == 2 && t.first[2] == 6 && t.h[2].rows == 6);
    assert_spins(&t.h[0], 0, 0, -1);
    assert_spins(&t.h[2], 0, 2, -0.75); /* a row of the file is a column */
    for (int i = 0; i < 4; i++) {
      assert_true(element(&t.s[0], i / 2, i % 2) == (i % 3 == 0));
      assert_true(element(&t.s[1], 4 + i / 2, i % 2) == (i % 3 == 0 ? 0.2 : 0));
    }
    for (int64_t i = 0; i < t.n_images; i++) { /* the same elements, in one order */
      assert_true(t.h[i].count == t.s[i].count && t.h[i].count % 4 == 0);
      for (int64_t e = 0; e < t.h[i].count; e++) {
        assert_true(t.h[i].item[e].row == t.s[i].item[e].row);
        assert_true(t.h[i].item[e].column == t.s[i].item[e].column);
      }
    }
    weir_tshs_fini(&t);
    assert_int_equal(read_file(1, &t), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "components include both spins"));
  }
  spins = 2;
}

static void gamma_files_have_one_image(void **state)
{
  weir_tshs t;

  make_file(true);
  assert_ok(read_file(0, &t));
  assert_true(t.n_images == 1 && t.h[0].count == 4 && t.image[0][0] == 0);
  weir_tshs_fini(&t);
}

/* One integer changed: number `i` of record `r`. */
static void assert_refused(int r, int i, int64_t value, weir_status status, const char *said)
{
  weir_tshs t;
  const size_t whole = size;

  make_file(false);
  size = start[r] + 4 + 4 * (size_t)i;
  put_int(value);
  size = whole;
  assert_int_equal(read_file(0, &t), status);
  if (!strstr(weir_last_message(), said) || !strstr(weir_last_message(), path)) {
    fprintf(stderr, "%s\n", weir_last_message());
    fail();
  }
  assert_null(t.h);
}

static void wrong_records_are_refused_by_byte(void **state)
{
  const weir_status bad = WEIR_ERR_DATA;
  weir_tshs t;

  make_file(false);
  assert_refused(0, 0, 2, bad, "byte 4: an unsupported version: 2");
  assert_refused(1, 0, 0, bad, "byte 16: number of atoms: 0");
  assert_refused(1, 0, 3, bad,
                 "the record of cell and atoms should have 144 bytes, but its marker says "
                 "120");
  assert_refused(1, 2, 10, bad, "orbitals of the supercell are not those of its cells: 10");
  assert_refused(1, 3, 3, bad, "number of spin components, of 1, 2, 4 and 8: 3");
  assert_refused(1, 3, 4, bad, "the record of a row of the Hamiltonian should have 24 bytes");
  assert_refused(1, 4, 5, bad, "rows do not have as many elements as are declared: 4");
  assert_refused(2, 0, 1000000, bad, "too many cells in the supercell");
  assert_refused(4, 2, 1, bad, "contains only the overlap");
  assert_refused(4, 0, 1, bad, "more than one cell in a calculation of the Gamma point: 3");
  assert_refused(8, 2, 4, bad, "last orbital of an atom: 4");
  assert_refused(8, 2, 2, bad, "not the number of orbitals: 2");
  assert_refused(9, 0, 5, bad, "elements of a row: 5");
  assert_refused(10, 2, 10, bad, "column outside the supercell: 10");
  assert_refused(14, -1, 4, bad, "the record of a row of the overlap should have 0 bytes");
  assert_refused(13, 5, 0x7ff00000, bad, "a non-finite element");
  assert_refused(22, 0, 2000000, bad, "position of a cell in the supercell: 2000000");
  make_file(false);
  assert_int_equal(read_file(2, &t), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "spin 2 is requested"));
  data[size++] = 0;
  assert_int_equal(read_file(0, &t), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "1 bytes after the last record"));
}

static void check_cuts(void)
{
  make_file(false);
  for (const size_t whole = size; size-- > 0;) {
    weir_tshs t;

    assert_true(size < whole);
    assert_int_equal(read_file(0, &t), WEIR_ERR_DATA);
  }
}

static void every_cut_is_refused(void **state)
{
  check_cuts();
  spins = 8;
  check_cuts();
  spins = 2;
}

static weir_status make(void *context)
{
  weir_tshs t;

  WEIR_TRY(read_file(0, &t));
  weir_tshs_fini(&t);
  return WEIR_OK;
}

static void missing_memory_is_reported(void **state)
{
  make_file(false);
  assert_true(weir_check_faults(make, NULL) > 8);
  spins = 4;
  make_file(false);
  assert_true(weir_check_faults(make, NULL) > 9);
  spins = 2;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_become_matrices_of_images),
      cmocka_unit_test(spinors_double_the_basis),
      cmocka_unit_test(gamma_files_have_one_image),
      cmocka_unit_test(wrong_records_are_refused_by_byte),
      cmocka_unit_test(every_cut_is_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a.TSHS", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
