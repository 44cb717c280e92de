/* csr.c - H_4.bin and its text version (dft-transport, CSR.H): rows, elements, first index, then
 * row, column, real part, imaginary part of each. */
#include <math.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/io_numbers.h"
#include "io/io_priv.h"
#include "io/weir_triplets.h"

enum { HEAD = 3, CHUNK = 4096, WORD = 8 };

typedef struct binary {
  const char *path;
  int fd;
  int64_t size, count, base;
  int64_t words; /* of an element: 3 without imaginary parts */
} binary;

/* Whether a double holds a whole number of [lo, hi]. */
static bool is_whole(double x, double lo, double hi)
{
  return x >= lo && x <= hi && x == floor(x);
}

static weir_status read_head(binary *b, weir_triplets *out)
{
  double head[HEAD];

  if (b->size < HEAD * WORD) {
    return weir_fail(WEIR_ERR_DATA, "%s: has %lld bytes, fewer than the header of H_4.bin", b->path,
                     (long long)b->size);
  }
  WEIR_TRY(weir_io_pread(b->fd, b->path, head, sizeof head, 0));
  if (!is_whole(head[0], 1, INT32_MAX) || !is_whole(head[1], 0, 1e15) || !is_whole(head[2], 0, 1)) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: the matrix format is not supported (Matrix Market, PETSc binary, H_4.bin or its text "
        "version): as H_4.bin it would have %g rows, %g elements and first index %g",
        b->path, head[0], head[1], head[2]);
  }
  out->rows = out->columns = (int64_t)head[0];
  b->count = (int64_t)head[1];
  b->base = (int64_t)head[2];
  b->words = b->size == (HEAD + 3 * b->count) * WORD ? 3 : 4;
  if (b->size != (HEAD + b->words * b->count) * WORD) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: declares %lld elements, which take %lld bytes, but has %lld bytes: it is "
                     "truncated, or not an H_4.bin",
                     b->path, (long long)b->count, (long long)(HEAD + 4 * b->count) * WORD,
                     (long long)b->size);
  }
  return WEIR_OK;
}

static weir_status take(const binary *b, int64_t i, const double *x, weir_triplets *out)
{
  const double lo = (double)b->base, hi = (double)(out->rows - 1 + b->base);
  const double im = b->words == 4 ? x[3] : 0;

  if (!is_whole(x[0], lo, hi) || !is_whole(x[1], lo, hi) || !isfinite(x[2]) || !isfinite(im)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: element %lld at byte %lld, row %g, column %g, value %g + %g i: expected "
                     "indices from %g to %g and a finite value",
                     b->path, (long long)i + 1, (long long)(HEAD + i * b->words) * WORD, x[0], x[1],
                     x[2], im, lo, hi);
  }
  return weir_triplets_add(out, (int64_t)x[0] - b->base, (int64_t)x[1] - b->base,
                           (weir_c128){x[2], im});
}

static weir_status read_binary(binary *b, weir_triplets *out)
{
  double *chunk = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(read_head(b, out));
  WEIR_TRY(weir_alloc(CHUNK * b->words, sizeof *chunk, (void **)&chunk));
  for (int64_t i = 0; i < b->count; i += CHUNK) {
    const int64_t n = b->count - i < CHUNK ? b->count - i : CHUNK;

    WEIR_TRY_GOTO(weir_io_pread(b->fd, b->path, chunk, (size_t)(n * b->words * WORD),
                                (HEAD + i * b->words) * WORD),
                  done);
    for (int64_t k = 0; k < n; k++) {
      WEIR_TRY_GOTO(take(b, i + k, chunk + k * b->words, out), done);
    }
  }
done:
  weir_free(&chunk);
  return status;
}

static weir_status read_text(weir_io_numbers *t, weir_triplets *out)
{
  static const char *const names[HEAD] = {"the number of rows", "the number of elements",
                                          "the first index"};
  static const int64_t lo[HEAD] = {1, 0, 0}, hi[HEAD] = {INT32_MAX, INT64_MAX, 1};
  int64_t head[HEAD];

  for (int i = 0; i < HEAD; i++) {
    WEIR_TRY(weir_io_numbers_row(t, names[i]));
    WEIR_TRY(weir_io_numbers_int(t, names[i], lo[i], hi[i], &head[i]));
    WEIR_TRY(weir_io_numbers_row_end(t));
  }
  out->rows = out->columns = head[0];
  WEIR_TRY(weir_io_numbers_claim(t, "elements", head[1], 6));
  for (int64_t i = 0; i < head[1]; i++) {
    int64_t index[2];
    weir_c128 x = {0, 0};

    WEIR_TRY(weir_io_numbers_row(t, "the last element"));
    for (int k = 0; k < 2; k++) {
      WEIR_TRY(weir_io_numbers_int(t, k ? "the column" : "the row", head[2], head[0] - 1 + head[2],
                                   &index[k]));
    }
    WEIR_TRY(weir_io_numbers_real(t, "the real part", &x.re));
    if (!weir_io_numbers_at_end(t)) {
      WEIR_TRY(weir_io_numbers_real(t, "the imaginary part", &x.im));
    }
    WEIR_TRY(weir_io_numbers_row_end(t));
    WEIR_TRY(weir_triplets_add(out, index[0] - head[2], index[1] - head[2], x));
  }
  return weir_io_numbers_end(t);
}

/* A small positive integer in the first double has zero bytes; text has none. */
static weir_status is_binary(const binary *b, bool *yes)
{
  unsigned char first[WORD] = {0};

  *yes = true;
  if (b->size > 0) {
    WEIR_TRY(weir_io_pread(b->fd, b->path, first, (size_t)(b->size < WORD ? b->size : WORD), 0));
    *yes = false;
    for (int i = 0; i < WORD && i < b->size; i++) {
      *yes = *yes || first[i] == 0;
    }
  }
  return WEIR_OK;
}

weir_status weir_omen_read(const char *path, weir_triplets *out)
{
  binary b = {.path = path, .fd = -1};
  weir_io_numbers *t = NULL;
  weir_status status = WEIR_OK;
  bool yes = false;

  *out = (weir_triplets){.rows = 0};
  WEIR_TRY(weir_io_open(path, &b.fd, &b.size));
  WEIR_TRY_GOTO(is_binary(&b, &yes), done);
  if (yes) {
    WEIR_TRY_GOTO(read_binary(&b, out), done);
  } else {
    WEIR_TRY_GOTO(weir_io_numbers_open(path, &t), done);
    WEIR_TRY_GOTO(read_text(t, out), done);
  }
done:
  weir_io_numbers_close(&t);
  close(b.fd);
  if (status != WEIR_OK) {
    weir_triplets_fini(out);
  }
  return status;
}
