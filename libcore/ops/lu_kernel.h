/* lu_kernel.h - the vector code of lu_priv.h for one precision and instruction set. Before it, a
 * source defines REAL (float or double), MIN (its smallest normal number), V_LANES, the type V,
 * V_SET, V_ABS, V_MAX (b where a is NaN), V_FMA (a b + c), V_FNMA (c - a b), V_LOAD and V_STORE of
 * a vector, NAME(x), and the tables REAL_TABLE and COMPLEX_TABLE. It undefines all of these. */
#define INLINE static inline __attribute__((always_inline))

typedef struct NAME(number) {
  REAL re, im;
} NAME(number);

INLINE REAL NAME(size)(REAL x)
{
  return x < 0 ? -x : x;
}

/* 1 / x by Smith's method, or x where its reciprocal would lose bits: *exact is then false. */
INLINE NAME(number) NAME(reciprocal)(NAME(number) x, bool *exact, const bool complex)
{
  const REAL size = NAME(size)(x.re) + (complex ? NAME(size)(x.im) : 0);

  *exact = size >= 4 * MIN && size <= (REAL)0.25 / MIN;
  if (!*exact) {
    return x;
  }
  if (!complex) {
    return (NAME(number)){1 / x.re, 0};
  }
  if (NAME(size)(x.re) >= NAME(size)(x.im)) {
    const REAL ratio = x.im / x.re, below = x.re + x.im * ratio;

    return (NAME(number)){1 / below, -ratio / below};
  }
  const REAL ratio = x.re / x.im, below = x.re * ratio + x.im;

  return (NAME(number)){ratio / below, -1 / below};
}

/* x / y by Smith's method. */
INLINE NAME(number) NAME(quotient)(NAME(number) x, NAME(number) y, const bool complex)
{
  if (!complex) {
    return (NAME(number)){x.re / y.re, 0};
  }
  if (NAME(size)(y.re) >= NAME(size)(y.im)) {
    const REAL ratio = y.im / y.re, below = y.re + y.im * ratio;

    return (NAME(number)){(x.re + x.im * ratio) / below, (x.im - x.re * ratio) / below};
  }
  const REAL ratio = y.re / y.im, below = y.re * ratio + y.im;

  return (NAME(number)){(x.re * ratio + x.im) / below, (x.im * ratio - x.re) / below};
}

/* n numbers, and up to the next multiple of the lanes, over a pivot. */
INLINE void NAME(divide)(REAL *re, REAL *im, int64_t n, NAME(number) pivot, const bool complex)
{
  bool exact;
  const NAME(number) r = NAME(reciprocal)(pivot, &exact, complex);
  const V p = V_SET(r.re), q = V_SET(r.im), zero = V_SET(0);

  for (int64_t i = 0; i < n && exact; i += V_LANES) {
    const V x = V_LOAD(re + i), px = V_FMA(x, p, zero);

    if (complex) {
      const V y = V_LOAD(im + i);

      V_STORE(re + i, V_FNMA(y, q, px));
      V_STORE(im + i, V_FMA(y, p, V_FMA(x, q, zero)));
    } else {
      V_STORE(re + i, px);
    }
  }
  for (int64_t i = 0; i < n && !exact; i++) {
    const NAME(number) x = {re[i], complex ? im[i] : 0};
    const NAME(number) y = NAME(quotient)(x, pivot, complex);

    re[i] = y.re;
    if (complex) {
      im[i] = y.im;
    }
  }
}

/* target[i] -= sum over t < depth of factor[t, i] source[t], i < rows, columns [lo, hi), multiples
 * of the lanes; numbers of rows of s. */
INLINE void NAME(update_by)(const lu_system *s, const int64_t *target, int64_t rows,
                            const int64_t *source, int64_t first, int64_t lo, int64_t hi,
                            const int64_t depth, const bool complex)
{
  REAL *re = s->re, *im = s->im;
  const REAL *f = (const REAL *)s->panel_re + first, *g = (const REAL *)s->panel_im + first;

  for (int64_t c = lo; c < hi; c += V_LANES) {
    V x[LU_PANEL], y[LU_PANEL];

#pragma GCC unroll 4
    for (int64_t t = 0; t < depth; t++) {
      x[t] = V_LOAD(re + source[t] * s->step + c);
      if (complex) {
        y[t] = V_LOAD(im + source[t] * s->step + c);
      }
    }
    for (int64_t i = 0; i < rows; i++) {
      const int64_t at = target[i] * s->step + c;
      V p = V_LOAD(re + at), q;

      if (complex) {
        q = V_LOAD(im + at);
      }
#pragma GCC unroll 4
      for (int64_t t = 0; t < depth; t++) {
        const V a = V_SET(f[t * s->panel_step + i]);

        p = V_FNMA(a, x[t], p);
        if (complex) {
          const V b = V_SET(g[t * s->panel_step + i]);

          p = V_FMA(b, y[t], p);
          q = V_FNMA(a, y[t], q);
          q = V_FNMA(b, x[t], q);
        }
      }
      V_STORE(re + at, p);
      if (complex) {
        V_STORE(im + at, q);
      }
    }
  }
}

/* The factors of target i are element first + i of each of the panel's first `depth` columns. */
INLINE void NAME(update)(const lu_system *s, const int64_t *target, int64_t rows,
                         const int64_t *source, int64_t first, int64_t lo, int64_t hi,
                         int64_t depth, const bool complex)
{
  if (depth == 4) {
    NAME(update_by)(s, target, rows, source, first, lo, hi, 4, complex);
  } else if (depth == 3) {
    NAME(update_by)(s, target, rows, source, first, lo, hi, 3, complex);
  } else if (depth == 2) {
    NAME(update_by)(s, target, rows, source, first, lo, hi, 2, complex);
  } else if (depth == 1) {
    NAME(update_by)(s, target, rows, source, first, lo, hi, 1, complex);
  }
}

INLINE void NAME(take_columns)(const lu_system *s, const REAL *part, REAL *panel, int64_t from,
                               int64_t to, int64_t c, const int64_t n)
{
  for (int64_t i = from; i < to; i++) {
    const REAL *x = part + s->row[i] * s->step + c;

#pragma GCC unroll 4
    for (int64_t t = 0; t < n; t++) {
      panel[t * s->panel_step + i] = x[t];
    }
  }
  for (int64_t t = 0; t < n; t++) {
    for (int64_t i = to; i < to + V_LANES; i++) {
      panel[t * s->panel_step + i] = 0;
    }
  }
}

/* Elements [from, to) of columns [c, c + n) into the panel; 0 after. */
INLINE void NAME(take)(const lu_system *s, int64_t from, int64_t to, int64_t c, int64_t n,
                       const bool complex)
{
  for (int part = 0; part < (complex ? 2 : 1); part++) {
    const REAL *x = part == 0 ? s->re : s->im;
    REAL *panel = part == 0 ? s->panel_re : s->panel_im;

    if (n == LU_PANEL) {
      NAME(take_columns)(s, x, panel, from, to, c, LU_PANEL);
    } else {
      NAME(take_columns)(s, x, panel, from, to, c, n);
    }
  }
}

/* The first of elements [from, n) of a panel's column that is largest by |re| + |im|; -1 when all
 * are 0. */
INLINE int64_t NAME(pivot)(const REAL *re, const REAL *im, int64_t from, int64_t n,
                           const bool complex)
{
  V best = V_SET(0);
  REAL each[V_LANES], max = 0;

  for (int64_t i = from; i < n; i += V_LANES) {
    const V size = V_ABS(V_LOAD(re + i));

    best = V_MAX(complex ? V_FMA(V_ABS(V_LOAD(im + i)), V_SET(1), size) : size, best);
  }
  V_STORE(each, best);
  for (int64_t l = 0; l < V_LANES; l++) {
    max = each[l] > max ? each[l] : max;
  }
  for (int64_t i = from; i < n && max > 0; i++) {
    if (NAME(size)(re[i]) + (complex ? NAME(size)(im[i]) : 0) == max) {
      return i;
    }
  }
  return -1;
}

INLINE void NAME(exchange)(REAL *x, int64_t i, int64_t j)
{
  const REAL kept = x[i];

  x[i] = x[j];
  x[j] = kept;
}

/* Part k of n of what comes after brought nearer. */
INLINE void NAME(fetch)(const lu_system *s, int64_t k)
{
  for (int m = 0; m < 3; m++) {
    for (int64_t i = s->ahead_bytes[m] * k / s->n; i < s->ahead_bytes[m] * (k + 1) / s->n;
         i += 64) {
      __builtin_prefetch(s->ahead[m] + i);
    }
  }
}

/* Columns [c, c + width) of L and U, in the panel; rows are exchanged by their numbers. */
INLINE bool NAME(factor)(const lu_system *s, int64_t c, int64_t width, const bool complex)
{
  for (int64_t j = 0; j < width; j++) {
    REAL *re = (REAL *)s->panel_re + j * s->panel_step, *im = (REAL *)s->panel_im;
    const int64_t k = c + j;

    im += complex ? j * s->panel_step : 0;
    NAME(fetch)(s, k);
    const int64_t p = NAME(pivot)(re, im, k, s->n, complex);

    if (p < 0) {
      return false;
    }
    const int64_t row = s->row[k];

    s->row[k] = s->row[p];
    s->row[p] = row;
    for (int64_t t = 0; t < width && p != k; t++) {
      NAME(exchange)((REAL *)s->panel_re + t * s->panel_step, k, p);
      if (complex) {
        NAME(exchange)((REAL *)s->panel_im + t * s->panel_step, k, p);
      }
    }
    NAME(divide)
    (re + k + 1, im + k + 1, s->n - k - 1, (NAME(number)){re[k], complex ? im[k] : 0}, complex);
    for (int64_t t = j + 1; t < width; t++) {
      REAL *x = (REAL *)s->panel_re + t * s->panel_step;
      REAL *y = (REAL *)s->panel_im + (complex ? t * s->panel_step : 0);
      const V a = V_SET(x[k]), b = V_SET(complex ? y[k] : 0);

      for (int64_t i = k + 1; i < s->n; i += V_LANES) {
        const V u = V_LOAD(re + i);

        V_STORE(x + i, V_FNMA(a, u, V_LOAD(x + i)));
        if (complex) {
          const V v = V_LOAD(im + i);

          V_STORE(x + i, V_FMA(b, v, V_LOAD(x + i)));
          V_STORE(y + i, V_FNMA(a, v, V_FNMA(b, u, V_LOAD(y + i))));
        }
      }
    }
  }
  return true;
}

/* Puts U of the panel's own rows back. */
INLINE void NAME(put)(const lu_system *s, int64_t c, int64_t width, const bool complex)
{
  for (int64_t j = 0; j < width; j++) {
    for (int64_t t = j; t < width; t++) {
      const int64_t to = s->row[c + j] * s->step + c + t, from = t * s->panel_step + c + j;

      ((REAL *)s->re)[to] = ((const REAL *)s->panel_re)[from];
      if (complex) {
        ((REAL *)s->im)[to] = ((const REAL *)s->panel_im)[from];
      }
    }
  }
}

INLINE int64_t NAME(min)(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

INLINE bool NAME(eliminate)(const lu_system *s, const bool complex)
{
  for (int64_t c = 0; c < s->n; c += LU_PANEL) {
    const int64_t width = NAME(min)(LU_PANEL, s->n - c), end = c + width;
    const int64_t lo = end / V_LANES * V_LANES;
    const int64_t hi = s->side + ((s->identity ? end : s->k) + V_LANES - 1) / V_LANES * V_LANES;

    NAME(take)(s, c, s->n, c, width, complex);
    if (!NAME(factor)(s, c, width, complex)) {
      return false;
    }
    for (int64_t j = 0; j < width && s->identity; j++) {
      ((REAL *)s->re)[s->row[c + j] * s->step + s->side + c + j] = 1;
    }
    for (int64_t j = 1; j < width; j++) {
      NAME(update)(s, s->row + c + j, 1, s->row + c, c + j, lo, hi, j, complex);
    }
    NAME(update)(s, s->row + end, s->n - end, s->row + c, end, lo, hi, width, complex);
    NAME(put)(s, c, width, complex);
  }
  return true;
}

INLINE void NAME(substitute)(const lu_system *s, const bool complex)
{
  const int64_t wide = (s->k + V_LANES - 1) / V_LANES * V_LANES, hi = s->side + wide;

  for (int64_t c = (s->n - 1) / LU_PANEL * LU_PANEL; c >= 0; c -= LU_PANEL) {
    const int64_t width = NAME(min)(LU_PANEL, s->n - c);

    NAME(take)(s, 0, c + width, c, width, complex);
    for (int64_t j = width - 1; j >= 0; j--) {
      const int64_t at = s->row[c + j] * s->step + s->side, u = j * s->panel_step + c + j;
      const NAME(number)
          pivot = {((const REAL *)s->panel_re)[u], complex ? ((const REAL *)s->panel_im)[u] : 0};
      REAL *re = (REAL *)s->re + at, *im = (REAL *)s->im + (complex ? at : 0);
      lu_system one = *s;

      NAME(divide)(re, im, wide, pivot, complex);
      one.panel_re = (REAL *)s->panel_re + j * s->panel_step;
      one.panel_im = (REAL *)s->panel_im + (complex ? j * s->panel_step : 0);
      NAME(update)(&one, s->row + c, j, s->row + c + j, c, s->side, hi, 1, complex);
    }
    NAME(update)(s, s->row, c, s->row + c, 0, s->side, hi, width, complex);
  }
}

static bool NAME(solve_real)(const lu_system *s)
{
  if (!NAME(eliminate)(s, false)) {
    return false;
  }
  NAME(substitute)(s, false);
  return true;
}

static bool NAME(solve_complex)(const lu_system *s)
{
  if (!NAME(eliminate)(s, true)) {
    return false;
  }
  NAME(substitute)(s, true);
  return true;
}

INLINE void NAME(load_row)(REAL *re, REAL *im, const NAME(number) * from, int64_t n,
                           const int64_t apart, REAL sign)
{
  for (int64_t i = 0; i < n; i++) {
    re[i] = from[i * apart].re;
    im[i] = sign * from[i * apart].im;
  }
}

static void NAME(load_complex)(const lu_system *s, const lu_block *p, bool conj)
{
  const REAL sign = conj ? -1 : 1;

  for (int64_t i = 0; i < s->n; i++) {
    const NAME(number) *from = (const NAME(number) *)p->data + i * p->down;
    REAL *re = (REAL *)s->re + i * s->step + p->at, *im = (REAL *)s->im + i * s->step + p->at;

    if (p->across == 1) {
      NAME(load_row)(re, im, from, p->n, 1, sign);
    } else {
      NAME(load_row)(re, im, from, p->n, p->across, sign);
    }
    for (int64_t c = p->n; c % V_LANES != 0; c++) {
      re[c] = im[c] = 0;
    }
  }
}

static void NAME(load_real)(const lu_system *s, const lu_block *p, bool conj)
{
  (void)conj;
  for (int64_t i = 0; i < s->n; i++) {
    const REAL *from = (const REAL *)p->data + i * p->down;
    REAL *re = (REAL *)s->re + i * s->step + p->at;

    for (int64_t c = 0; c < p->n; c++) {
      re[c] = from[c * p->across];
    }
    for (int64_t c = p->n; c % V_LANES != 0; c++) {
      re[c] = 0;
    }
  }
}

static void NAME(store_complex)(const lu_system *s, const lu_block *p)
{
  for (int64_t i = 0; i < s->n; i++) {
    const REAL *re = (const REAL *)s->re + s->row[i] * s->step + p->at;
    const REAL *im = (const REAL *)s->im + s->row[i] * s->step + p->at;
    NAME(number) *to = (NAME(number) *)p->data + i * p->down;

    for (int64_t c = 0; c < p->n && s->identity; c++) {
      to[s->row[c] * p->across] = (NAME(number)){re[c], im[c]};
    }
    for (int64_t c = 0; c < p->n && !s->identity && p->across == 1; c++) {
      to[c] = (NAME(number)){re[c], im[c]};
    }
    for (int64_t c = 0; c < p->n && !s->identity && p->across != 1; c++) {
      to[c * p->across] = (NAME(number)){re[c], im[c]};
    }
  }
}

static void NAME(store_real)(const lu_system *s, const lu_block *p)
{
  for (int64_t i = 0; i < s->n; i++) {
    const REAL *re = (const REAL *)s->re + s->row[i] * s->step + p->at;
    REAL *to = (REAL *)p->data + i * p->down;

    for (int64_t c = 0; c < p->n; c++) {
      to[(s->identity ? s->row[c] : c) * p->across] = re[c];
    }
  }
}

static bool NAME(is_finite)(const void *x, int64_t n)
{
  const REAL *p = x;
  V left[4] = {V_SET(0), V_SET(0), V_SET(0), V_SET(0)};
  REAL each[V_LANES], all = 0;
  int64_t i = 0;

  for (; i + 4 * V_LANES <= n; i += 4 * V_LANES) {
#pragma GCC unroll 4
    for (int l = 0; l < 4; l++) {
      left[l] = V_FMA(V_LOAD(p + i + l * V_LANES), V_SET(0), left[l]);
    }
  }
  for (; i < n; i += V_LANES) {
    left[0] = V_FMA(V_LOAD(p + i), V_SET(0), left[0]);
  }
  for (int l = 0; l < 4; l++) {
    V_STORE(each, left[l]);
    for (int k = 0; k < V_LANES; k++) {
      all += each[k];
    }
  }
  return all == 0;
}

#include "ops/lu_lanes.h"

const lu_kernels REAL_TABLE = {
    .lanes = V_LANES,
    .solve = NAME(solve_real),
    .load = NAME(load_real),
    .store = NAME(store_real),
    .is_finite = NAME(is_finite),
    .solve_lanes = NAME(solve_lanes_real),
    .load_lanes = NAME(load_lanes_real),
    .store_lanes = NAME(store_lanes_real),
};

const lu_kernels COMPLEX_TABLE = {
    .lanes = V_LANES,
    .solve = NAME(solve_complex),
    .load = NAME(load_complex),
    .store = NAME(store_complex),
    .is_finite = NAME(is_finite),
    .solve_lanes = NAME(solve_lanes_complex),
    .load_lanes = NAME(load_lanes_complex),
    .store_lanes = NAME(store_lanes_complex),
};
#undef INLINE
#undef REAL
#undef MIN
#undef V_LANES
#undef V
#undef V_SET
#undef V_ABS
#undef V_MAX
#undef V_FMA
#undef V_FNMA
#undef V_LOAD
#undef V_STORE
#undef V_ROWS
#undef V_ADD
#undef V_SUB
#undef V_MUL
#undef V_DIV
#undef V_MASK
#undef V_MORE
#undef V_MORE_OR_EQUAL
#undef V_PICK
#undef V_BITS
#undef V_ALL
#undef NAME
#undef REAL_TABLE
#undef COMPLEX_TABLE
