/* triplets_test.h - what the tests of matrices of files share: one matrix in several formats, and
 * comparisons. */
#ifndef WEIR_TRIPLETS_TEST_H
#define WEIR_TRIPLETS_TEST_H
#include <math.h>
#include "support/io/io_test.h"
#include "io/weir_triplets.h"

#define MM "%%MatrixMarket matrix "

enum { N = 3, MAX = 512 };

/* 3 x 3, with elements that the formats by halves can say: [1 2+i 0; 2-i 3 -4; 0 -4 0]. */
static inline weir_c128 hermitian(int64_t i)
{
  const weir_c128 element[N * N] = {{1, 0},  {2, 1}, {0, 0},  {2, -1}, {3, 0},
                                    {-4, 0}, {0, 0}, {-4, 0}, {0, 0}};

  return element[i];
}

/* Bytes of a file as they grow. */
typedef struct bytes {
  uint8_t data[MAX];
  size_t size;
} bytes;

static inline void put_int(bytes *b, int64_t x, int width)
{
  for (int i = width - 1; i >= 0; i--) {
    b->data[b->size++] = (uint8_t)((uint64_t)x >> 8 * i);
  }
}

static inline void put_big(bytes *b, double x)
{
  int64_t bits;

  memcpy(&bits, &x, sizeof bits);
  put_int(b, bits, 8);
}

static inline void put_native(bytes *b, double x)
{
  memcpy(b->data + b->size, &x, sizeof x);
  b->size += sizeof x;
}

/* PETSc: of integers of `width` bytes, dense or not. */
static inline bytes petsc(int width, bool dense)
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
    const weir_c128 x = hermitian(dense ? i : rows[i] * N + columns[i]);

    put_big(&b, x.re);
    put_big(&b, x.im);
  }
  return b;
}

/* H_4.bin, its first index `base`. */
static inline bytes omen(int base)
{
  bytes b = {.size = 0};

  put_native(&b, N);
  put_native(&b, 6);
  put_native(&b, base);
  for (int i = 0; i < N * N; i++) {
    const weir_c128 x = hermitian(i);

    if (x.re != 0) {
      put_native(&b, i / N + base);
      put_native(&b, i % N + base);
      put_native(&b, x.re);
      put_native(&b, x.im);
    }
  }
  return b;
}

static inline bytes text(const char *of)
{
  bytes b = {.size = strlen(of)};

  memcpy(b.data, of, b.size);
  return b;
}

static inline weir_status read_bytes(const bytes *b, weir_triplets *out)
{
  char dir[256], path[300];

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/a.dat", dir);
  weir_check_write(path, b->data, b->size);
  const weir_status status = weir_triplets_read(path, out);

  weir_check_rmdir(dir);
  return status;
}

static inline void assert_matrix(const bytes *b, const weir_c128 *expected, int64_t rows,
                                 int64_t columns)
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

static inline void assert_refused(const bytes *b, const char *said)
{
  weir_triplets t;

  assert_int_equal(read_bytes(b, &t), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), said));
  assert_non_null(strstr(weir_last_message(), "/a.dat:"));
  assert_null(t.item);
}

/* Each text is refused with its words. */
typedef struct triplets_case {
  const char *text, *said;
} triplets_case;
static inline void assert_texts_refused(const triplets_case *cases, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const bytes b = text(cases[i].text);

    assert_refused(&b, cases[i].said);
  }
}

#endif
