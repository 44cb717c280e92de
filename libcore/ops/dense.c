/* dense.c - see weir_dense.h: factors, and eigenvalues of Hermitian matrices. */
#include "ops/weir_dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/weir_complex_scalar.h"

static double size_of(weir_c128 z)
{
  return fabs(z.re) + fabs(z.im);
}

static void exchange_rows(weir_c128 *a, int64_t columns, int64_t i, int64_t j)
{
  for (int64_t k = 0; k < columns && i != j; k++) {
    const weir_c128 z = a[i * columns + k];

    a[i * columns + k] = a[j * columns + k];
    a[j * columns + k] = z;
  }
}

bool weir_dense_factor(weir_c128 *a, int64_t n, int64_t *row)
{
  bool regular = true;

  for (int64_t k = 0; k < n; k++) {
    row[k] = k;
    for (int64_t i = k + 1; i < n; i++) {
      row[k] = size_of(a[i * n + k]) > size_of(a[row[k] * n + k]) ? i : row[k];
    }
    exchange_rows(a, n, k, row[k]);
    if (size_of(a[k * n + k]) == 0) {
      regular = false;
      continue;
    }
    for (int64_t i = k + 1; i < n; i++) {
      const weir_c128 factor = weir_div_c128(a[i * n + k], a[k * n + k]);

      a[i * n + k] = factor;
      for (int64_t j = k + 1; j < n; j++) {
        a[i * n + j] = weir_sub_c128(a[i * n + j], weir_mul_c128(factor, a[k * n + j]));
      }
    }
  }
  return regular;
}

void weir_dense_substitute(const weir_c128 *factors, int64_t n, const int64_t *row, weir_c128 *b,
                           int64_t k)
{
  for (int64_t i = 0; i < n; i++) {
    exchange_rows(b, k, i, row[i]);
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      for (int64_t c = 0; c < k; c++) {
        b[i * k + c] = weir_sub_c128(b[i * k + c], weir_mul_c128(factors[i * n + j], b[j * k + c]));
      }
    }
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    for (int64_t j = i + 1; j < n; j++) {
      for (int64_t c = 0; c < k; c++) {
        b[i * k + c] = weir_sub_c128(b[i * k + c], weir_mul_c128(factors[i * n + j], b[j * k + c]));
      }
    }
    for (int64_t c = 0; c < k; c++) {
      b[i * k + c] = weir_div_c128(b[i * k + c], factors[i * n + i]);
    }
  }
}

double weir_dense_pivot_ratio(const weir_c128 *factors, int64_t n)
{
  double min = INFINITY, max = 0;

  for (int64_t k = 0; k < n; k++) {
    const double size = size_of(factors[k * n + k]);

    min = size < min ? size : min;
    max = size > max ? size : max;
  }
  return n == 0 ? 1 : max > 0 ? min / max : 0;
}

double weir_dense_norm(const weir_c128 *a, int64_t n, int64_t k)
{
  double max = 0;

  for (int64_t i = 0; i < n; i++) {
    double sum = 0;

    for (int64_t j = 0; j < k; j++) {
      sum += weir_abs_c128(a[i * k + j]);
    }
    max = sum > max || isnan(sum) ? sum : max;
  }
  return max;
}

/* The upper triangle from the lower one; the diagonal is real; v is the identity. */
static void complete(weir_c128 *a, int64_t n, weir_c128 *v)
{
  memset(v, 0, (size_t)(n * n) * sizeof *v);
  for (int64_t i = 0; i < n; i++) {
    a[i * n + i].im = 0;
    v[i * n + i].re = 1;
    for (int64_t j = 0; j < i; j++) {
      a[j * n + i] = weir_conj_c128(a[i * n + j]);
    }
  }
}

/* Columns p and q of m, [n, n], times the rotation [c, s; -conj(s), c]. */
static void rotate_columns(weir_c128 *m, int64_t n, int64_t p, int64_t q, double c, weir_c128 s)
{
  for (int64_t i = 0; i < n; i++) {
    const weir_c128 x = m[i * n + p], y = m[i * n + q];
    const weir_c128 cx = {c * x.re, c * x.im}, cy = {c * y.re, c * y.im};

    m[i * n + p] = weir_sub_c128(cx, weir_mul_c128(weir_conj_c128(s), y));
    m[i * n + q] = weir_add_c128(weir_mul_c128(s, x), cy);
  }
}

/* Rows p and q of m times the conjugate transpose of that rotation. */
static void rotate_rows(weir_c128 *m, int64_t n, int64_t p, int64_t q, double c, weir_c128 s)
{
  for (int64_t i = 0; i < n; i++) {
    const weir_c128 x = m[p * n + i], y = m[q * n + i];
    const weir_c128 cx = {c * x.re, c * x.im}, cy = {c * y.re, c * y.im};

    m[p * n + i] = weir_sub_c128(cx, weir_mul_c128(s, y));
    m[q * n + i] = weir_add_c128(weir_mul_c128(weir_conj_c128(s), x), cy);
  }
}

/* Makes a[p, q] 0: the phase of a[p, q] first, then the real rotation (same, algorithm 8.5.1). */
static void annihilate(weir_c128 *a, int64_t n, int64_t p, int64_t q, weir_c128 *v)
{
  const weir_c128 b = a[p * n + q];
  const double size = weir_abs_c128(b);
  const double tau = (a[q * n + q].re - a[p * n + p].re) / (2 * size);
  const double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau));
  const double c = 1 / sqrt(1 + t * t);
  const weir_c128 s = {c * t * b.re / size, c * t * b.im / size};

  rotate_columns(a, n, p, q, c, s);
  rotate_rows(a, n, p, q, c, s);
  rotate_columns(v, n, p, q, c, s);
  a[p * n + q] = a[q * n + p] = (weir_c128){0, 0};
  a[p * n + p].im = a[q * n + q].im = 0;
}

/* Ascending, with their columns. */
static void sort_values(double *value, int64_t n, weir_c128 *v)
{
  for (int64_t i = 0; i < n; i++) {
    int64_t min = i;

    for (int64_t j = i + 1; j < n; j++) {
      min = value[j] < value[min] ? j : min;
    }
    const double kept = value[i];

    value[i] = value[min];
    value[min] = kept;
    for (int64_t r = 0; r < n && min != i; r++) {
      const weir_c128 z = v[r * n + i];

      v[r * n + i] = v[r * n + min];
      v[r * n + min] = z;
    }
  }
}

void weir_dense_hermitian(weir_c128 *a, int64_t n, double *value, weir_c128 *v)
{
  enum { SWEEPS = 60 };

  complete(a, n, v);
  const double enough = DBL_EPSILON / 4 * weir_dense_norm(a, n, n);
  bool moved = true;

  for (int sweep = 0; sweep < SWEEPS && moved; sweep++) {
    moved = false;
    for (int64_t p = 0; p < n; p++) {
      for (int64_t q = p + 1; q < n; q++) {
        if (weir_abs_c128(a[p * n + q]) > enough / (double)n) {
          annihilate(a, n, p, q, v);
          moved = true;
        }
      }
    }
  }
  for (int64_t i = 0; i < n; i++) {
    value[i] = a[i * n + i].re;
  }
  sort_values(value, n, v);
}
