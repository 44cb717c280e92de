/* lu_lanes.h - the vector code of lu_priv.h for systems that are side by side, one in each lane.
 * lu_kernel.h includes it; what it needs besides: V_ROWS (rows whose factors the registers hold),
 * V_ADD, V_SUB, V_MUL, V_DIV, the type V_MASK with V_MORE (a > b), V_MORE_OR_EQUAL (a >= b), V_PICK
 * (a where the mask is set, else b) and V_BITS (the mask as an integer). Every number is computed
 * by the operations, in the order, of the code for one system: the bits are the same. */
#define UNIT(complex) (V_LANES * ((complex) ? 2 : 1))

INLINE REAL *NAME(lanes_at)(const lu_lanes *s, int64_t i, int64_t j, const bool complex)
{
  return (REAL *)s->data + (i * s->step + j) * UNIT(complex);
}

/* 1 / x by Smith's method. Returns the lanes where that loses no bits. */
INLINE unsigned NAME(lanes_reciprocal)(const REAL *x, REAL *to, const bool complex)
{
  const V one = V_SET(1), re = V_LOAD(x), im = complex ? V_LOAD(x + V_LANES) : V_SET(0);
  const V p = V_ABS(re), q = V_ABS(im), size = complex ? V_ADD(p, q) : p;

  if (complex) {
    const V_MASK first = V_MORE_OR_EQUAL(p, q);
    const V big = V_PICK(first, re, im), small = V_PICK(first, im, re);
    const V ratio = V_DIV(small, big), below = V_ADD(big, V_MUL(small, ratio));
    const V plain = V_DIV(one, below), part = V_DIV(ratio, below);

    V_STORE(to, V_PICK(first, plain, part));
    V_STORE(to + V_LANES, V_SUB(V_SET(-(REAL)0), V_PICK(first, part, plain)));
  } else {
    V_STORE(to, V_DIV(one, re));
  }
  return V_BITS(V_MORE_OR_EQUAL(size, V_SET(4 * MIN))) &
         V_BITS(V_MORE_OR_EQUAL(V_SET((REAL)0.25 / MIN), size));
}

/* x over a pivot, where `exact` lanes have a reciprocal. */
INLINE void NAME(lanes_divide)(REAL *x, const REAL *pivot, const REAL *reciprocal, unsigned exact,
                               const bool complex)
{
  const V p = V_LOAD(reciprocal), zero = V_SET(0), re = V_LOAD(x), pre = V_FMA(re, p, zero);
  NAME(number) kept[V_LANES];

  for (int l = 0; l < V_LANES && exact != V_ALL; l++) {
    kept[l] = NAME(quotient)((NAME(number)){x[l], complex ? x[V_LANES + l] : 0},
                             (NAME(number)){pivot[l], complex ? pivot[V_LANES + l] : 0}, complex);
  }
  if (complex) {
    const V q = V_LOAD(reciprocal + V_LANES), im = V_LOAD(x + V_LANES);

    V_STORE(x, V_FNMA(im, q, pre));
    V_STORE(x + V_LANES, V_FMA(im, p, V_FMA(re, q, zero)));
  } else {
    V_STORE(x, pre);
  }
  for (int l = 0; l < V_LANES && exact != V_ALL; l++) {
    if ((exact >> l & 1) == 0) {
      x[l] = kept[l].re;
      if (complex) {
        x[V_LANES + l] = kept[l].im;
      }
    }
  }
}

/* target[r] -= sum over t < depth of factor[r, t] source[t], r < rows, `columns` numbers of each.
 */
INLINE void NAME(lanes_update_by)(const lu_lanes *s, REAL *target, const REAL *factor,
                                  const REAL *source, int64_t columns, const int64_t rows,
                                  const int64_t depth, const bool complex)
{
  const int64_t unit = UNIT(complex), row = s->step * unit;
  V a[V_ROWS][LU_PANEL], b[V_ROWS][LU_PANEL];

#pragma GCC unroll 2
  for (int64_t r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int64_t t = 0; t < depth; t++) {
      a[r][t] = V_LOAD(factor + r * row + t * unit);
      b[r][t] = complex ? V_LOAD(factor + r * row + t * unit + V_LANES) : a[r][t];
    }
  }
  for (int64_t c = 0; c < columns * unit; c += unit) {
    V p[V_ROWS], q[V_ROWS];

#pragma GCC unroll 2
    for (int64_t r = 0; r < rows; r++) {
      p[r] = V_LOAD(target + r * row + c);
      q[r] = complex ? V_LOAD(target + r * row + c + V_LANES) : p[r];
    }
#pragma GCC unroll 4
    for (int64_t t = 0; t < depth; t++) {
      const V x = V_LOAD(source + t * row + c);
      const V y = complex ? V_LOAD(source + t * row + c + V_LANES) : x;

#pragma GCC unroll 2
      for (int64_t r = 0; r < rows; r++) {
        p[r] = V_FNMA(a[r][t], x, p[r]);
        if (complex) {
          p[r] = V_FMA(b[r][t], y, p[r]);
          q[r] = V_FNMA(a[r][t], y, q[r]);
          q[r] = V_FNMA(b[r][t], x, q[r]);
        }
      }
    }
#pragma GCC unroll 2
    for (int64_t r = 0; r < rows; r++) {
      V_STORE(target + r * row + c, p[r]);
      if (complex) {
        V_STORE(target + r * row + c + V_LANES, q[r]);
      }
    }
  }
}

/* One row, any depth. */
INLINE void NAME(lanes_update)(const lu_lanes *s, REAL *target, const REAL *factor,
                               const REAL *source, int64_t columns, int64_t depth,
                               const bool complex)
{
  if (depth == 4) {
    NAME(lanes_update_by)(s, target, factor, source, columns, 1, 4, complex);
  } else if (depth == 3) {
    NAME(lanes_update_by)(s, target, factor, source, columns, 1, 3, complex);
  } else if (depth == 2) {
    NAME(lanes_update_by)(s, target, factor, source, columns, 1, 2, complex);
  } else if (depth == 1) {
    NAME(lanes_update_by)(s, target, factor, source, columns, 1, 1, complex);
  }
}

/* The rows of the largest numbers of column k, from row k on, of every lane. Returns the lanes
 * where not all of these numbers are 0. */
INLINE unsigned NAME(lanes_pivot)(const lu_lanes *s, int64_t k, int64_t row[V_LANES],
                                  const bool complex)
{
  V max = V_SET(0), index = V_SET(-1);
  REAL each[V_LANES];
  unsigned found = V_ALL;

  for (int64_t i = k; i < s->n; i++) {
    const REAL *x = NAME(lanes_at)(s, i, k, complex);
    const V re = V_ABS(V_LOAD(x)), size = complex ? V_ADD(re, V_ABS(V_LOAD(x + V_LANES))) : re;
    const V_MASK more = V_MORE(size, max);

    max = V_PICK(more, size, max);
    index = V_PICK(more, V_SET((REAL)i), index);
  }
  V_STORE(each, index);
  for (int l = 0; l < V_LANES; l++) {
    found &= each[l] < 0 ? ~(1u << l) : V_ALL;
    row[l] = each[l] < 0 ? k : (int64_t)each[l];
  }
  return found;
}

/* Exchanges columns [c, c + columns) of row k and of another row of each lane. */
INLINE void NAME(lanes_exchange)(const lu_lanes *s, int64_t k, const int64_t row[V_LANES],
                                 int64_t c, int64_t columns, const bool complex)
{
  REAL *x = NAME(lanes_at)(s, k, c, complex), *y[V_LANES];

  for (int l = 0; l < V_LANES; l++) {
    y[l] = NAME(lanes_at)(s, row[l], c, complex);
  }
  for (int64_t j = 0; j < columns * UNIT(complex); j += V_LANES) {
    const V here = NAME(lu_collect)(y, j);

#pragma GCC unroll 16
    for (int l = 0; l < V_LANES; l++) {
      y[l][j + l] = x[j + l];
    }
    V_STORE(x + j, here);
  }
}

/* Columns [c, c + width) of L and U. Returns the lanes that have a pivot in each. */
INLINE unsigned NAME(lanes_factor)(const lu_lanes *s, int64_t c, int64_t width,
                                   int64_t row[LU_PANEL][V_LANES], const bool complex)
{
  const int64_t unit = UNIT(complex);
  unsigned found = V_ALL;

  for (int64_t j = 0; j < width; j++) {
    const int64_t k = c + j, right = width - j - 1;
    const REAL *pivot = NAME(lanes_at)(s, k, k, complex);
    REAL *reciprocal = (REAL *)s->reciprocal + k * unit;

    found &= NAME(lanes_pivot)(s, k, row[j], complex);
    NAME(lanes_exchange)(s, k, row[j], c, width, complex);
    s->exact[k] = (NAME(lanes_reciprocal)(pivot, reciprocal, complex) | ~found) & V_ALL;
    for (int64_t i = k + 1; i < s->n; i++) {
      REAL *x = NAME(lanes_at)(s, i, k, complex);

      NAME(lanes_divide)(x, pivot, reciprocal, s->exact[k], complex);
      NAME(lanes_update_by)(s, x + unit, x, pivot + unit, right, 1, 1, complex);
    }
  }
  return found;
}

/* The panel [c, c + width) applied to columns [from, from + columns): rows of U, then those below,
 * which there are below a full panel alone. */
INLINE void NAME(lanes_apply)(const lu_lanes *s, int64_t c, int64_t width, int64_t from,
                              int64_t columns, const bool complex)
{
  const REAL *u = NAME(lanes_at)(s, c, from, complex);
  int64_t i = c + 1;

  for (; i < c + width; i++) {
    NAME(lanes_update)
    (s, NAME(lanes_at)(s, i, from, complex), NAME(lanes_at)(s, i, c, complex), u, columns, i - c,
     complex);
  }
  for (; i + V_ROWS <= s->n; i += V_ROWS) {
    NAME(lanes_update_by)
    (s, NAME(lanes_at)(s, i, from, complex), NAME(lanes_at)(s, i, c, complex), u, columns, V_ROWS,
     LU_PANEL, complex);
  }
  for (; i < s->n; i++) {
    NAME(lanes_update)
    (s, NAME(lanes_at)(s, i, from, complex), NAME(lanes_at)(s, i, c, complex), u, columns, LU_PANEL,
     complex);
  }
}

INLINE unsigned NAME(lanes_eliminate)(const lu_lanes *s, const bool complex)
{
  const int64_t end = s->n + s->k;
  int64_t row[LU_PANEL][V_LANES];
  unsigned found = V_ALL;

  for (int64_t c = 0; c < s->n; c += LU_PANEL) {
    const int64_t width = NAME(min)(LU_PANEL, s->n - c);

    found &= NAME(lanes_factor)(s, c, width, row, complex);
    for (int64_t from = c + width; from < end; from += s->block) {
      const int64_t columns = NAME(min)(s->block, end - from);

      for (int64_t j = 0; j < width; j++) {
        NAME(lanes_exchange)(s, c + j, row[j], from, columns, complex);
      }
      NAME(lanes_apply)(s, c, width, from, columns, complex);
    }
  }
  return found;
}

INLINE void NAME(lanes_substitute)(const lu_lanes *s, const bool complex)
{
  const int64_t unit = UNIT(complex);

  for (int64_t c = (s->n - 1) / LU_PANEL * LU_PANEL; c >= 0; c -= LU_PANEL) {
    const int64_t width = NAME(min)(LU_PANEL, s->n - c);

    for (int64_t j = width - 1; j >= 0; j--) {
      const int64_t k = c + j;
      REAL *x = NAME(lanes_at)(s, k, s->n, complex);

      for (int64_t r = 0; r < s->k; r++) {
        NAME(lanes_divide)
        (x + r * unit, NAME(lanes_at)(s, k, k, complex), (REAL *)s->reciprocal + k * unit,
         s->exact[k], complex);
      }
      for (int64_t i = c; i < k; i++) {
        NAME(lanes_update)
        (s, NAME(lanes_at)(s, i, s->n, complex), NAME(lanes_at)(s, i, k, complex), x, s->k, 1,
         complex);
      }
    }
    for (int64_t i = 0; i < c; i++) {
      NAME(lanes_update)
      (s, NAME(lanes_at)(s, i, s->n, complex), NAME(lanes_at)(s, i, c, complex),
       NAME(lanes_at)(s, c, s->n, complex), s->k, width, complex);
    }
  }
}

static unsigned NAME(solve_lanes_real)(const lu_lanes *s)
{
  const unsigned found = NAME(lanes_eliminate)(s, false);

  NAME(lanes_substitute)(s, false);
  return found;
}

static unsigned NAME(solve_lanes_complex)(const lu_lanes *s)
{
  const unsigned found = NAME(lanes_eliminate)(s, true);

  NAME(lanes_substitute)(s, true);
  return found;
}

/* Where element `at` of the memory of each lane lies. */
INLINE void NAME(lanes_begin)(const lu_block *p, int64_t at, REAL *of[V_LANES])
{
  for (int l = 0; l < V_LANES; l++) {
    of[l] = (REAL *)p[l].data + at;
  }
}

/* How a matrix in memory and its lanes are walked: the inner index is the one along
 * which its numbers are next to one another, where one is. */
typedef struct NAME(walk) {
  int64_t outer, inner;        /* numbers                                 */
  int64_t out, in;             /* REALs from one to the next in memory    */
  int64_t out_lanes, in_lanes; /* the same in the lanes                   */
} NAME(walk);

INLINE NAME(walk) NAME(walk_of)(const lu_lanes *s, const lu_block *p, const bool complex)
{
  const int64_t parts = complex ? 2 : 1, unit = UNIT(complex);
  const NAME(walk) rows = {s->n, p->n, parts * p->down, parts * p->across, s->step * unit, unit};
  const NAME(walk) columns = {p->n, s->n, parts * p->across, parts * p->down, unit, s->step * unit};

  return p->across == 1 ? rows : columns;
}

/* Both parts of a number, or two real ones that are next to one another. */
INLINE void NAME(load_pair)(REAL *first, REAL *second, REAL *const from[V_LANES], int64_t at,
                            REAL sign, V *left)
{
  V x, y;

  NAME(lu_load)(&x, &y, from, at);
  *left = V_FMA(y, V_SET(0), V_FMA(x, V_SET(0), *left));
  V_STORE(first, x);
  V_STORE(second, V_MUL(V_SET(sign), y));
}

/* Returns the lanes whose numbers are all finite: left is 0, or NaN. */
INLINE unsigned NAME(load_lanes)(const lu_lanes *s, const lu_block *p, REAL sign,
                                 const bool complex)
{
  const NAME(walk) w = NAME(walk_of)(s, p, complex);
  const int64_t pairs = complex ? w.inner : w.in == 1 ? w.inner / 2 * 2 : 0;
  V left = V_SET(0);

  for (int64_t i = 0; i < w.outer; i++) {
    REAL *to = NAME(lanes_at)(s, 0, p->at, complex) + i * w.out_lanes, *from[V_LANES];

    NAME(lanes_begin)(p, i * w.out, from);
    for (int64_t j = 0; j < pairs; j += complex ? 1 : 2) {
      REAL *here = to + j * w.in_lanes;

      NAME(load_pair)
      (here, complex ? here + V_LANES : here + w.in_lanes, from, j * w.in, sign, &left);
    }
    for (int64_t j = pairs; j < w.inner; j++) {
      for (int l = 0; l < V_LANES; l++) {
        to[j * w.in_lanes + l] = from[l][j * w.in];
      }
      left = V_FMA(V_LOAD(to + j * w.in_lanes), V_SET(0), left);
    }
  }
  return V_BITS(V_MORE_OR_EQUAL(left, V_SET(0)));
}

static unsigned NAME(load_lanes_real)(const lu_lanes *s, const lu_block *p, bool conj)
{
  (void)conj;
  return NAME(load_lanes)(s, p, 1, false);
}

static unsigned NAME(load_lanes_complex)(const lu_lanes *s, const lu_block *p, bool conj)
{
  return NAME(load_lanes)(s, p, conj ? -1 : 1, true);
}

INLINE void NAME(store_lanes)(const lu_lanes *s, const lu_block *p, const bool complex)
{
  const NAME(walk) w = NAME(walk_of)(s, p, complex);
  const int64_t pairs = complex ? w.inner : w.in == 1 ? w.inner / 2 * 2 : 0;

  for (int64_t i = 0; i < w.outer; i++) {
    const REAL *from = NAME(lanes_at)(s, 0, p->at, complex) + i * w.out_lanes;
    REAL *to[V_LANES];

    NAME(lanes_begin)(p, i * w.out, to);
    for (int64_t j = 0; j < pairs; j += complex ? 1 : 2) {
      const REAL *here = from + j * w.in_lanes;

      NAME(lu_store)
      (to, j * w.in, V_LOAD(here), V_LOAD(complex ? here + V_LANES : here + w.in_lanes));
    }
    for (int64_t j = pairs; j < w.inner; j++) {
      for (int l = 0; l < V_LANES; l++) {
        to[l][j * w.in] = from[j * w.in_lanes + l];
      }
    }
  }
}

static void NAME(store_lanes_real)(const lu_lanes *s, const lu_block *to)
{
  NAME(store_lanes)(s, to, false);
}

static void NAME(store_lanes_complex)(const lu_lanes *s, const lu_block *to)
{
  NAME(store_lanes)(s, to, true);
}
#undef UNIT
