/* low_rank.c - see low_rank.h. */
#include "optim/exchange/powersgd/low_rank.h"

#include <math.h>
#include <string.h>

#include "base/weir_random.h"
#include "optim/exchange_buffer.h"

/* In eight sums, which the compiler keeps in a vector register. */
static double dot(const double *a, const double *b, int64_t n)
{
  enum { SUMS = 8 };
  double sum[SUMS] = {0}, rest = 0;
  int64_t i = 0;

  for (; i + SUMS <= n; i += SUMS) {
    for (int k = 0; k < SUMS; k++) {
      sum[k] += a[i + k] * b[i + k];
    }
  }
  for (; i < n; i++) {
    rest += a[i] * b[i];
  }
  for (int k = 0; k < SUMS; k++) {
    rest += sum[k];
  }
  return rest;
}

/* y <- y + factor x. */
static void add_scaled(double *y, double factor, const double *x, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    y[i] += factor * x[i];
  }
}

static void *row_of(const low_rank_matrix *m, int64_t i)
{
  return (char *)m->data + (size_t)(i * m->columns) * weir_dtype_size(m->dtype);
}

void low_rank_right(const low_rank_matrix *m, int64_t r, const double *q, double *p, double *row)
{
  for (int64_t i = 0; i < m->rows; i++) {
    exchange_load(m->dtype, row_of(m, i), m->columns, row);
    for (int64_t k = 0; k < r; k++) {
      p[k * m->rows + i] = dot(row, q + k * m->columns, m->columns);
    }
  }
}

void low_rank_left(const low_rank_matrix *m, int64_t r, const double *p, double *q, double *row)
{
  memset(q, 0, (size_t)(r * m->columns) * sizeof *q);
  for (int64_t i = 0; i < m->rows; i++) {
    exchange_load(m->dtype, row_of(m, i), m->columns, row);
    for (int64_t k = 0; k < r; k++) {
      add_scaled(q + k * m->columns, p[k * m->rows + i], row, m->columns);
    }
  }
}

void low_rank_expand(const low_rank_matrix *m, int64_t r, const double *p, const double *q,
                     bool subtract, double *row)
{
  for (int64_t i = 0; i < m->rows; i++) {
    if (subtract) {
      exchange_load(m->dtype, row_of(m, i), m->columns, row);
    } else {
      memset(row, 0, (size_t)m->columns * sizeof *row);
    }
    for (int64_t k = 0; k < r; k++) {
      const double factor = p[k * m->rows + i];

      add_scaled(row, subtract ? -factor : factor, q + k * m->columns, m->columns);
    }
    exchange_store(m->dtype, row, m->columns, row_of(m, i));
  }
}

/* ---- Orthogonalisation ---- */

static double length(const double *x, int64_t n)
{
  return sqrt(dot(x, x, n));
}

/* Removes from column k what it has of the columns before it. */
static void project(double *p, int64_t n, int64_t k, bool twice)
{
  for (int pass = 0; pass < (twice ? 2 : 1); pass++) {
    for (int64_t j = 0; j < k; j++) {
      add_scaled(p + k * n, -dot(p + j * n, p + k * n, n), p + j * n, n);
    }
  }
}

/* Whether rounding is all that is left of a column; not of one that is NaN or infinite. */
static bool vanished(double after, double before, double least)
{
  return after == 0 || after < least * before;
}

void low_rank_orthonormal(double *p, int64_t n, int64_t r, bool twice, double least,
                          const low_rank_random *random)
{
  for (int64_t k = 0; k < r; k++) {
    double *const x = p + k * n;
    double before = length(x, n);

    project(p, n, k, twice);
    double after = length(x, n);

    for (int64_t turn = 0; vanished(after, before, least); turn++) {
      for (int64_t i = 0; i < n; i++) {
        x[i] = weir_random_normal(random->seed, random->purpose, random->step,
                                  (uint64_t)((turn * r + k) * n + i));
      }
      before = length(x, n);
      project(p, n, k, true);
      after = length(x, n);
    }
    for (int64_t i = 0; i < n; i++) {
      x[i] /= after;
    }
  }
}
