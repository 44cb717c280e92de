/* sparse.c - see sparse.h. */
#include "model/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"

void qt_entries_add(qt_entries *e, int64_t row, int64_t column, weir_c128 value)
{
  if (e->status == WEIR_OK) {
    e->status = weir_reserve(&e->item, &e->capacity, e->count + 1, sizeof *e->item);
  }
  if (e->status == WEIR_OK) {
    e->item[e->count++] = (qt_entry){row, column, value};
  }
}

void qt_entries_fini(qt_entries *e)
{
  weir_free(&e->item);
  *e = (qt_entries){.status = WEIR_OK};
}

void qt_sparse_fini(qt_sparse *m)
{
  weir_free(&m->start);
  weir_free(&m->column);
  weir_free(&m->value);
  *m = (qt_sparse){.rows = 0};
}

/* A matrix of that size without elements, with memory for `count`. */
static weir_status make(int64_t rows, int64_t columns, int64_t count, qt_sparse *out)
{
  weir_status status = WEIR_OK;

  *out = (qt_sparse){.rows = rows, .columns = columns};
  WEIR_TRY_GOTO(weir_alloc(rows + 1, sizeof *out->start, (void **)&out->start), failed);
  WEIR_TRY_GOTO(weir_alloc(count, sizeof *out->column, (void **)&out->column), failed);
  WEIR_TRY_GOTO(weir_alloc(count, sizeof *out->value, (void **)&out->value), failed);
  return WEIR_OK;
failed:
  qt_sparse_fini(out);
  return status;
}

static weir_status check_entry(int64_t rows, int64_t columns, const qt_entry *e)
{
  if (e->row < 0 || e->row >= rows || e->column < 0 || e->column >= columns) {
    return weir_fail(WEIR_ERR_SHAPE, "element (%lld, %lld) lies outside a matrix of %lld x %lld",
                     (long long)e->row, (long long)e->column, (long long)rows, (long long)columns);
  }
  if (!isfinite(e->value.re) || !isfinite(e->value.im)) {
    return weir_fail(WEIR_ERR_NUMERIC, "element (%lld, %lld) is %g + %g i, not a finite number",
                     (long long)e->row, (long long)e->column, e->value.re, e->value.im);
  }
  return WEIR_OK;
}

/* Stable: elements of one position stay in the order of their addition. */
static weir_status sort(qt_entries *e, int64_t rows, int64_t columns)
{
  const int64_t n_max = rows > columns ? rows : columns;
  int64_t *start = NULL;
  qt_entry *other = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(n_max + 1, sizeof *start, (void **)&start), done);
  WEIR_TRY_GOTO(weir_alloc(e->count, sizeof *other, (void **)&other), done);
  for (int by_row = 0; by_row < 2; by_row++) {
    memset(start, 0, (size_t)(n_max + 1) * sizeof *start);
    for (int64_t i = 0; i < e->count; i++) {
      start[(by_row ? e->item[i].row : e->item[i].column) + 1]++;
    }
    for (int64_t k = 0; k < n_max; k++) {
      start[k + 1] += start[k];
    }
    for (int64_t i = 0; i < e->count; i++) {
      other[start[by_row ? e->item[i].row : e->item[i].column]++] = e->item[i];
    }
    memcpy(e->item, other, (size_t)e->count * sizeof *other);
  }
done:
  weir_free(&start);
  weir_free(&other);
  return status;
}

weir_status qt_sparse_create(int64_t rows, int64_t columns, qt_entries *entries, qt_sparse *out)
{
  int64_t kept = 0;

  *out = (qt_sparse){.rows = 0};
  WEIR_TRY(entries->status);
  for (int64_t i = 0; i < entries->count; i++) {
    WEIR_TRY(check_entry(rows, columns, &entries->item[i]));
  }
  if (entries->count > 0) {
    WEIR_TRY(sort(entries, rows, columns));
  }
  WEIR_TRY(make(rows, columns, entries->count, out));
  for (int64_t i = 0; i < entries->count; i++) {
    const qt_entry *e = &entries->item[i], *before = e - 1;

    if (i > 0 && e->row == before->row && e->column == before->column) {
      out->value[kept - 1].re += e->value.re;
      out->value[kept - 1].im += e->value.im;
      continue;
    }
    out->column[kept] = e->column;
    out->value[kept++] = e->value;
    out->start[e->row + 1] = kept;
  }
  for (int64_t r = 0; r < rows; r++) {
    out->start[r + 1] = out->start[r + 1] > out->start[r] ? out->start[r + 1] : out->start[r];
  }
  return WEIR_OK;
}

int64_t qt_sparse_count(const qt_sparse *m)
{
  return m->rows > 0 ? m->start[m->rows] : 0;
}

/* Place of the first element of a row whose column is not below `column`. */
static int64_t find(const qt_sparse *m, int64_t row, int64_t column)
{
  int64_t lo = m->start[row], hi = m->start[row + 1];

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (m->column[middle] < column) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

weir_c128 qt_sparse_get(const qt_sparse *m, int64_t row, int64_t column)
{
  const int64_t at = find(m, row, column);

  return at < m->start[row + 1] && m->column[at] == column ? m->value[at] : (weir_c128){0, 0};
}

void qt_sparse_add_block(const qt_sparse *m, int64_t row, int64_t column, weir_c128 factor,
                         int64_t rows, int64_t columns, weir_c128 *out)
{
  for (int64_t r = 0; r < rows; r++) {
    weir_c128 *to = out + r * columns;

    for (int64_t i = find(m, row + r, column);
         i < m->start[row + r + 1] && m->column[i] < column + columns; i++) {
      const weir_c128 x = m->value[i];

      to[m->column[i] - column].re += factor.re * x.re - factor.im * x.im;
      to[m->column[i] - column].im += factor.re * x.im + factor.im * x.re;
    }
  }
}

weir_status qt_sparse_block(const qt_sparse *m, int64_t row, int64_t column, int64_t rows,
                            int64_t columns, qt_sparse *out)
{
  int64_t count = 0;

  for (int64_t r = 0; r < rows; r++) {
    count += find(m, row + r, column + columns) - find(m, row + r, column);
  }
  WEIR_TRY(make(rows, columns, count, out));
  count = 0;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t from = find(m, row + r, column), to = find(m, row + r, column + columns);

    for (int64_t i = from; i < to; i++) {
      out->column[count] = m->column[i] - column;
      out->value[count++] = m->value[i];
    }
    out->start[r + 1] = count;
  }
  return WEIR_OK;
}

double qt_sparse_adjoint_error(const qt_sparse *a, const qt_sparse *b, int64_t *row,
                               int64_t *column)
{
  double worst = 0;

  *row = *column = 0;
  for (int64_t r = 0; r < a->rows; r++) {
    for (int64_t i = a->start[r]; i < a->start[r + 1]; i++) {
      const weir_c128 x = a->value[i], y = qt_sparse_get(b, a->column[i], r);
      const double error = hypot(x.re - y.re, x.im + y.im);

      if (error > worst) {
        worst = error;
        *row = r;
        *column = a->column[i];
      }
    }
  }
  for (int64_t r = 0; r < b->rows; r++) { /* elements of b that a lacks */
    for (int64_t i = b->start[r]; i < b->start[r + 1]; i++) {
      const weir_c128 y = b->value[i], x = qt_sparse_get(a, b->column[i], r);
      const double error = hypot(x.re - y.re, x.im + y.im);

      if (error > worst) {
        worst = error;
        *row = b->column[i];
        *column = r;
      }
    }
  }
  return worst;
}

double qt_sparse_max(const qt_sparse *m)
{
  double max = 0;

  for (int64_t i = 0; i < qt_sparse_count(m); i++) {
    max = fmax(max, hypot(m->value[i].re, m->value[i].im));
  }
  return max;
}
