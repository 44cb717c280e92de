/* matrix.c - matrices that PETSc saved: big-endian; 1211216, rows, columns, elements (-1: dense),
 * elements of each row, columns, values (PETSc manual, MatLoad). */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/io_priv.h"
#include "io/weir_triplets.h"

enum { CLASS = 1211216, HEAD = 4, REAL = 8 };

typedef struct reading {
  const char *path;
  int64_t size;
  int64_t word;  /* bytes of an integer */
  int64_t count; /* elements */
  bool dense;
  int64_t n_reals;      /* reals of a value: 1 or 2 */
  unsigned char *bytes; /* of the file */
} reading;

static int64_t integer(const reading *p, const unsigned char *b)
{
  uint64_t x = 0;

  for (int64_t i = 0; i < p->word; i++) {
    x = x << 8 | b[i];
  }
  return p->word == 4 ? (int64_t)(int32_t)(uint32_t)x : (int64_t)x;
}

static double real(const unsigned char *b)
{
  uint64_t x = 0;
  double out;

  for (int i = 0; i < REAL; i++) {
    x = x << 8 | b[i];
  }
  memcpy(&out, &x, sizeof out);
  return out;
}

/* Sizes, compared with the bytes of the file. */
static weir_status read_head(reading *p, weir_triplets *out)
{
  int64_t head[HEAD];

  p->word = p->size >= 8 && integer(p, p->bytes) == 0 ? 8 : 4;
  if (p->size < HEAD * p->word || integer(p, p->bytes) != CLASS) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: does not begin with %d like a PETSc matrix: save it with MatView and "
                     "PetscViewerBinaryOpen",
                     p->path, CLASS);
  }
  for (int i = 0; i < HEAD; i++) {
    head[i] = integer(p, p->bytes + i * p->word);
  }
  if (head[1] < 1 || head[2] < 1 || head[1] > INT32_MAX || head[2] > INT32_MAX || head[3] < -1 ||
      head[3] > p->size) {
    return weir_fail(WEIR_ERR_DATA, "%s: byte %lld: a matrix of %lld x %lld with %lld elements",
                     p->path, (long long)p->word, (long long)head[1], (long long)head[2],
                     (long long)head[3]);
  }
  p->dense = head[3] == -1;
  out->rows = head[1];
  out->columns = head[2];
  p->count = p->dense ? head[1] * head[2] : head[3];
  if (p->count > p->size / REAL || head[1] > p->size) {
    return weir_fail(WEIR_ERR_DATA, "%s: declares %lld rows and %lld elements, but has %lld bytes",
                     p->path, (long long)out->rows, (long long)p->count, (long long)p->size);
  }
  const int64_t indices = (HEAD + (p->dense ? 0 : head[1] + p->count)) * p->word;
  const int64_t left = p->size - indices;

  p->n_reals = left == REAL * p->count ? 1 : 2;
  if (left < 0 || left / REAL != p->n_reals * p->count || left % REAL != 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: declares %lld rows and %lld elements, whose values would take %lld or "
                     "%lld bytes, but %lld are left: it is truncated, or has more than one object",
                     p->path, (long long)out->rows, (long long)p->count, (long long)p->count * REAL,
                     (long long)p->count * REAL * 2, (long long)left);
  }
  return WEIR_OK;
}

static weir_status take(const reading *p, int64_t row, int64_t column, int64_t at,
                        weir_triplets *out)
{
  const weir_c128 x = {real(p->bytes + at), p->n_reals == 2 ? real(p->bytes + at + REAL) : 0};

  if (!isfinite(x.re) || !isfinite(x.im) || column < 0 || column >= out->columns) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: byte %lld: element of row %lld and column %lld (from 0; %lld columns) is "
                     "%g + %g i",
                     p->path, (long long)at, (long long)row, (long long)column,
                     (long long)out->columns, x.re, x.im);
  }
  if (p->dense && x.re == 0 && x.im == 0) {
    return WEIR_OK;
  }
  return weir_triplets_add(out, row, column, x);
}

static weir_status read_elements(const reading *p, weir_triplets *out)
{
  const int64_t lengths = HEAD * p->word, columns = lengths + out->rows * p->word;
  const int64_t values = columns + p->count * p->word, each = REAL * p->n_reals;
  int64_t i = 0;

  for (int64_t row = 0; row < out->rows; row++) {
    const int64_t n = integer(p, p->bytes + lengths + row * p->word);

    if (n < 0 || n > p->count - i) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: byte %lld: row %lld (from 0) has %lld elements; %lld of %lld are left",
                       p->path, (long long)(lengths + row * p->word), (long long)row, (long long)n,
                       (long long)(p->count - i), (long long)p->count);
    }
    for (const int64_t end = i + n; i < end; i++) {
      WEIR_TRY(take(p, row, integer(p, p->bytes + columns + i * p->word), values + i * each, out));
    }
  }
  return i == p->count
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: declares %lld elements; its rows have %lld in all",
                         p->path, (long long)p->count, (long long)i);
}

static weir_status read_dense(const reading *p, weir_triplets *out)
{
  for (int64_t i = 0; i < p->count; i++) {
    WEIR_TRY(
        take(p, i / out->columns, i % out->columns, HEAD * p->word + i * REAL * p->n_reals, out));
  }
  return WEIR_OK;
}

weir_status weir_petsc_binary_read(const char *path, weir_triplets *out)
{
  reading p = {.path = path, .word = 4};
  weir_status status = WEIR_OK;

  *out = (weir_triplets){.rows = 0};
  WEIR_TRY(weir_io_read(path, INT64_MAX / 64, (char **)&p.bytes, &p.size));
  WEIR_TRY_GOTO(read_head(&p, out), done);
  WEIR_TRY_GOTO(p.dense ? read_dense(&p, out) : read_elements(&p, out), done);
done:
  weir_free(&p.bytes);
  if (status != WEIR_OK) {
    weir_triplets_fini(out);
  }
  return status;
}
