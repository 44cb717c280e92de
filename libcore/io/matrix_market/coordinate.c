/* coordinate.c - Matrix Market: "%%MatrixMarket matrix FORMAT FIELD SYMMETRY", comments, sizes,
 * elements. */
#include <string.h>
#include <strings.h>
#include "base/weir_alloc.h"
#include "io/io_numbers.h"
#include "io/weir_triplets.h"

typedef enum field { REAL, INTEGER, COMPLEX, FIELDS } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW, HERMITIAN, SYMMETRIES } symmetry;

typedef struct reading {
  weir_io_numbers *text;
  bool dense;
  int field, symmetry;
} reading;

/* The next word as one of the names. */
static weir_status read_choice(reading *m, const char *what, const char *const *names, int n,
                               int *out)
{
  weir_csv_field word = {"", 0};
  bool found = false;
  char known[128] = "";

  WEIR_TRY(weir_io_numbers_word(m->text, &word, &found));
  for (*out = 0; *out < n; (*out)++) {
    if (found && strlen(names[*out]) == (size_t)word.size &&
        strncasecmp(names[*out], word.at, (size_t)word.size) == 0) {
      return WEIR_OK;
    }
    strcat(strcat(known, *out > 0 ? ", " : ""), names[*out]);
  }
  return weir_io_numbers_refuse(m->text, "%s is '%.*s', expected %s", what,
                                (int)(word.size < 40 ? word.size : 40), word.at, known);
}

static weir_status read_header(reading *m)
{
  static const char *const banner[] = {"%%MatrixMarket"}, *const object[] = {"matrix"};
  static const char *const formats[] = {"coordinate", "array"};
  static const char *const fields[] = {"real", "integer", "complex"};
  static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  int choice = 0;

  WEIR_TRY(weir_io_numbers_line(m->text, "the header"));
  WEIR_TRY(read_choice(m, "the first word", banner, 1, &choice));
  WEIR_TRY(read_choice(m, "the object", object, 1, &choice));
  WEIR_TRY(read_choice(m, "the format", formats, 2, &choice));
  m->dense = choice == 1;
  WEIR_TRY(read_choice(m, "the type of the elements", fields, FIELDS, &m->field));
  WEIR_TRY(read_choice(m, "the symmetry", symmetries, SYMMETRIES, &m->symmetry));
  return weir_io_numbers_row_end(m->text);
}

/* Rows, columns and, of coordinates, elements, after the comments. */
static weir_status read_sizes(reading *m, weir_triplets *out, int64_t *count)
{
  do {
    WEIR_TRY(weir_io_numbers_row(m->text, "the sizes"));
  } while (m->text->rest.at[0] == '%');
  WEIR_TRY(weir_io_numbers_int(m->text, "the number of rows", 1, INT32_MAX, &out->rows));
  WEIR_TRY(weir_io_numbers_int(m->text, "the number of columns", 1, INT32_MAX, &out->columns));
  if (m->symmetry != GENERAL && out->rows != out->columns) {
    return weir_io_numbers_refuse(m->text, "a matrix of %lld x %lld cannot be symmetric",
                                  (long long)out->rows, (long long)out->columns);
  }
  if (m->dense) {
    const int64_t n = out->rows;

    *count = m->symmetry == GENERAL ? n * out->columns
             : m->symmetry == SKEW  ? n * (n - 1) / 2
                                    : n * (n + 1) / 2;
  } else {
    WEIR_TRY(weir_io_numbers_int(m->text, "the number of elements", 0, INT64_MAX, count));
  }
  WEIR_TRY(weir_io_numbers_row_end(m->text));
  return weir_io_numbers_claim(m->text, "elements", *count, m->dense ? 2 : 6);
}

/* Adds an element and what its symmetry implies. */
static weir_status add(reading *m, int64_t row, int64_t column, weir_c128 x, weir_triplets *out)
{
  static const double re[SYMMETRIES] = {0, 1, -1, 1}, im[SYMMETRIES] = {0, 1, -1, -1};

  if (m->symmetry != GENERAL && column > row) {
    return weir_io_numbers_refuse(
        m->text,
        "element (%lld, %lld) lies above the diagonal: such files store the lower triangle only",
        (long long)row + 1, (long long)column + 1);
  }
  if (row == column && ((m->symmetry == SKEW && (x.re != 0 || x.im != 0)) ||
                        (m->symmetry == HERMITIAN && x.im != 0))) {
    return weir_io_numbers_refuse(m->text, "element (%lld, %lld) of the diagonal is not %s",
                                  (long long)row + 1, (long long)column + 1,
                                  m->symmetry == SKEW ? "zero" : "real");
  }
  WEIR_TRY(weir_triplets_add(out, row, column, x));
  return m->symmetry == GENERAL || row == column
             ? WEIR_OK
             : weir_triplets_add(out, column, row,
                                 (weir_c128){re[m->symmetry] * x.re, im[m->symmetry] * x.im});
}

static weir_status read_value(reading *m, weir_c128 *x)
{
  *x = (weir_c128){0, 0};
  WEIR_TRY(
      weir_io_numbers_real(m->text, m->field == COMPLEX ? "the real part" : "the element", &x->re));
  if (m->field == COMPLEX) {
    WEIR_TRY(weir_io_numbers_real(m->text, "the imaginary part", &x->im));
  }
  return weir_io_numbers_row_end(m->text);
}

static weir_status read_elements(reading *m, int64_t count, weir_triplets *out)
{
  int64_t row = m->symmetry == SKEW ? 1 : 0, column = 0;
  weir_c128 x;

  for (int64_t i = 0; i < count; i++) {
    WEIR_TRY(weir_io_numbers_row(m->text, "the last element"));
    if (!m->dense) {
      WEIR_TRY(weir_io_numbers_int(m->text, "the row", 1, out->rows, &row));
      WEIR_TRY(weir_io_numbers_int(m->text, "the column", 1, out->columns, &column));
      row--;
      column--;
    }
    WEIR_TRY(read_value(m, &x));
    if (!m->dense || x.re != 0 || x.im != 0) {
      WEIR_TRY(add(m, row, column, x, out));
    }
    if (m->dense && ++row == out->rows) { /* column by column */
      column++;
      row = m->symmetry == GENERAL ? 0 : column + (m->symmetry == SKEW);
    }
  }
  return weir_io_numbers_end(m->text);
}

weir_status weir_matrix_market_read(const char *path, weir_triplets *out)
{
  reading m = {.dense = false};
  int64_t count = 0;
  weir_status status = WEIR_OK;

  *out = (weir_triplets){.rows = 0};
  WEIR_TRY(weir_io_numbers_open(path, &m.text));
  WEIR_TRY_GOTO(read_header(&m), done);
  WEIR_TRY_GOTO(read_sizes(&m, out, &count), done);
  WEIR_TRY_GOTO(read_elements(&m, count, out), done);
done:
  weir_io_numbers_close(&m.text);
  if (status != WEIR_OK) {
    weir_triplets_fini(out);
  }
  return status;
}
