/* triplets_test.c - the same matrix in every format; what is refused; cut files. */
#include <math.h>
#include "io/io_test.h"
#include "io/weir_triplets.h"

enum { N = 3, MOST = 512 };

static char dir[256], path[512];

/* 3 x 3, with elements that the formats by halves can say: [1 2+i 0; 2-i 3 -4; 0 -4 0]. */
static const weir_c128 hermitian[N * N] = {{1, 0},  {2, 1}, {0, 0},  {2, -1}, {3, 0},
                                           {-4, 0}, {0, 0}, {-4, 0}, {0, 0}};

/* Bytes of a file as they grow. */
typedef struct bytes {
  uint8_t data[MOST];
  size_t size;
} bytes;

static void put_int(bytes *b, int64_t x, int width)
{
  for (int i = width - 1; i >= 0; i--) {
    b->data[b->size++] = (uint8_t)((uint64_t)x >> 8 * i);
  }
}

static void put_big(bytes *b, double x)
{
  int64_t bits;

  memcpy(&bits, &x, sizeof bits);
  put_int(b, bits, 8);
}

static void put_native(bytes *b, double x)
{
  memcpy(b->data + b->size, &x, sizeof x);
  b->size += sizeof x;
}

/* PETSc: of integers of `width` bytes, dense or not. */
static bytes petsc(int width, bool dense)
{
  bytes b = {.size = 0};
  const int64_t head[] = {1211216, N, N, dense ? -1 : 6}, lengths[] = {2, 3, 1};
  const int64_t columns[] = {0, 1, 0, 1, 2, 1}, rows[] = {0, 0, 1, 1, 1, 2};

  for (int i = 0; i < 4; i++) {
    put_int(&b, head[i], width);
  }
  for (int i = 0; i < N && !dense; i++) {
    put_int(&b, lengths[i], width);
  }
  for (int i = 0; i < 6 && !dense; i++) {
    put_int(&b, columns[i], width);
  }
  for (int i = 0; i < (dense ? N * N : 6); i++) {
    const weir_c128 x = hermitian[dense ? i : rows[i] * N + columns[i]];

    put_big(&b, x.re);
    put_big(&b, x.im);
  }
  return b;
}

/* H_4.bin, its first index `base`. */
static bytes omen(int base)
{
  bytes b = {.size = 0};

  put_native(&b, N);
  put_native(&b, 6);
  put_native(&b, base);
  for (int i = 0; i < N * N; i++) {
    const weir_c128 x = hermitian[i];

    if (x.re != 0) {
      put_native(&b, i / N + base);
      put_native(&b, i % N + base);
      put_native(&b, x.re);
      put_native(&b, x.im);
    }
  }
  return b;
}

static bytes text(const char *of)
{
  bytes b = {.size = strlen(of)};

  memcpy(b.data, of, b.size);
  return b;
}

static weir_status read_bytes(const bytes *b, weir_triplets *out)
{
  weir_check_write(path, b->data, b->size);
  return weir_triplets_read(path, out);
}

static void assert_matrix(const bytes *b, const weir_c128 *expected, int64_t rows, int64_t columns)
{
  weir_c128 sum[N * N] = {{0, 0}};
  weir_triplets t;

  assert_ok(read_bytes(b, &t));
  assert_int_equal(t.rows, rows);
  assert_int_equal(t.columns, columns);
  for (int64_t i = 0; i < t.count; i++) {
    sum[t.item[i].row * columns + t.item[i].column].re += t.item[i].value.re;
    sum[t.item[i].row * columns + t.item[i].column].im += t.item[i].value.im;
  }
  for (int64_t i = 0; i < rows * columns; i++) {
    assert_true(sum[i].re == expected[i].re && sum[i].im == expected[i].im);
  }
  weir_triplets_fini(&t);
}

#define MM "%%MatrixMarket matrix "

static void every_format_gives_the_same_matrix(void **state)
{
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

  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    assert_matrix(&files[i], hermitian, N, N);
  }
}

static void real_matrices_of_any_symmetry_are_read(void **state)
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
  b = text("written by hand\n 1 3\n 0 5\n 6\n"); /* seed_htLC.dat */
  assert_matrix(&b, wide, 1, 3);
  b = (bytes){.size = 0}; /* H_4.bin without imaginary parts */
  for (int i = 0; i < 12; i++) {
    put_native(&b, (const double[]){2, 3, 1, 1, 1, 1, 1, 2, 2, 2, 1, 2}[i]);
  }
  assert_matrix(&b, symmetric, 2, 2);
  b = (bytes){.size = 0}; /* a real build of PETSc */
  for (int i = 0; i < 9; i++) {
    put_int(&b, (const int64_t[]){1211216, 2, 2, 3, 2, 1, 0, 1, 0}[i], 4);
  }
  for (int i = 0; i < 3; i++) {
    put_big(&b, (const double[]){1, 2, 2}[i]);
  }
  assert_matrix(&b, symmetric, 2, 2);
}

static void assert_refused(const bytes *b, const char *said)
{
  weir_triplets t;

  assert_int_equal(read_bytes(b, &t), WEIR_ERR_DATA);
  if (!strstr(weir_last_message(), said) || !strstr(weir_last_message(), path)) {
    fprintf(stderr, "%s\n", weir_last_message());
    fail();
  }
  assert_null(t.item);
}

static void wrong_texts_are_refused_by_line(void **state)
{
  static const struct {
    const char *text, *said;
  } cases[] = {
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
      {"2\n1\n1\n3 1 1\n", ":4: the row is '3'"},
      {"2\n1\n2\n3 1 1\n", ":3: the first index is '2'"},
      {"2\n5\n1\n1 1 1\n", ":3: 5 elements are declared"},
      {"2\n1\n1\n1 1 x\n", ":4: the real part is 'x'"},
      {"2\n1\n0\n1 1 1 2 3\n", ":4: unexpected text"},
      {"written by hand\n1\n1\n1\n1\n", "holds a cell and its coupling"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const bytes b = text(cases[i].text);

    assert_refused(&b, cases[i].said);
  }
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
  assert_refused(&b, "declares 6 elements, which take 216 bytes, and has 208");
  b.data[7] = 0xc0;
  assert_refused(&b, "it would have -3 rows, 6 elements and first index 1");
  b.size = 9;
  assert_refused(&b, "has 9 bytes, fewer than the header");
  b.size = 0;
  assert_refused(&b, "has 0 bytes");
  b = petsc(4, false);
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
    const size_t most = i < 3 ? b.size : b.size - 5; /* shorter numbers are numbers too */

    for (size_t k = 0; k < most; k++) {
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
      cmocka_unit_test(real_matrices_of_any_symmetry_are_read),
      cmocka_unit_test(wrong_texts_are_refused_by_line),
      cmocka_unit_test(wrong_bytes_are_refused_by_place),
      cmocka_unit_test(every_cut_is_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
