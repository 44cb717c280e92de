/* transport.c - seed_htB.dat and the like: dense real matrices, column by column. */
#include "base/weir_alloc.h"
#include "io/wannier/wannier_priv.h"
#include "io/weir_triplets.h"

/* "n", or "n1 n2", then as many numbers over any lines. */
static weir_status read_matrix(weir_io_numbers *t, weir_triplets *out)
{
  WEIR_TRY(weir_io_numbers_int(t, "the size of a matrix", 1, WEIR_WANNIER_FUNCTIONS, &out->rows));
  out->columns = out->rows;
  if (!weir_io_numbers_at_end(t)) {
    WEIR_TRY(
        weir_io_numbers_int(t, "the number of columns", 1, WEIR_WANNIER_FUNCTIONS, &out->columns));
    WEIR_TRY(weir_io_numbers_row_end(t));
  }
  WEIR_TRY(weir_io_numbers_claim(t, "elements", out->rows * out->columns, 2));
  t->flows = true;
  for (int64_t i = 0; i < out->rows * out->columns; i++) {
    double x = 0;

    WEIR_TRY(weir_io_numbers_real(t, "an element", &x));
    if (x != 0) {
      WEIR_TRY(weir_triplets_add(out, i % out->rows, i / out->rows, (weir_c128){x, 0}));
    }
  }
  t->flows = false;
  return weir_io_numbers_row_end(t);
}

static weir_status read_matrices(weir_io_numbers *t, weir_triplets out[2], int *count)
{
  bool found = true;

  WEIR_TRY(weir_io_numbers_line(t, "the first line, a comment"));
  WEIR_TRY(weir_io_numbers_row(t, "the size of a matrix"));
  WEIR_TRY(read_matrix(t, &out[0]));
  *count = 1;
  WEIR_TRY(weir_io_numbers_next(t, &found));
  if (!found) {
    return WEIR_OK;
  }
  WEIR_TRY(read_matrix(t, &out[1]));
  *count = 2;
  if (out[0].rows != out[0].columns || out[1].rows != out[0].rows ||
      out[1].columns != out[0].rows) {
    return weir_io_numbers_refuse(t, "a cell of %lld functions and a coupling of %lld x %lld",
                                  (long long)out[0].rows, (long long)out[1].rows,
                                  (long long)out[1].columns);
  }
  return weir_io_numbers_end(t);
}

weir_status weir_wannier_read_ht(const char *path, weir_triplets out[2], int *count)
{
  weir_io_numbers *t = NULL;

  out[0] = out[1] = (weir_triplets){.rows = 0};
  WEIR_TRY(weir_io_numbers_open(path, &t));
  const weir_status status = read_matrices(t, out, count);

  weir_io_numbers_close(&t);
  if (status != WEIR_OK) {
    weir_triplets_fini(&out[0]);
    weir_triplets_fini(&out[1]);
  }
  return status;
}
