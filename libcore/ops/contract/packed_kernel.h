/* packed_kernel.h - the vector code of packed_priv.h for one dtype and instruction set. Before it,
 * a source defines REAL (float or double), V_LANES, V_VECTORS (of a register block), the type V,
 * V_ZERO, V_SET, V_ADD, V_MUL, V_FMA (a b + c), V_FNMA (c - a b), V_LOAD and V_STORE of a vector,
 * NAME(x), and TABLE, and includes planar_*.h. It undefines all of these. */
#define INLINE static inline __attribute__((always_inline))

typedef struct NAME(pair) {
  REAL re, im;
} NAME(pair);

INLINE void NAME(pack_a_rows)(NAME(pair) * to, const packed_from *a, const int64_t rows)
{
  const NAME(pair) * from[PACKED_ROWS];

  for (int64_t i = 0; i < rows; i++) {
    from[i] = (const NAME(pair) *)a->from + a->row[i];
  }
  for (int64_t k = 0; k < a->columns; k++, to += rows) {
    for (int64_t i = 0; i < rows; i++) {
      memcpy(&to[i], from[i] + a->column[k], sizeof *to);
    }
  }
}

static void NAME(pack_a)(void *to, const packed_from *a)
{
  if (a->rows == PACKED_ROWS) {
    NAME(pack_a_rows)(to, a, PACKED_ROWS);
  } else {
    NAME(pack_a_rows)(to, a, a->rows);
  }
}

INLINE void NAME(split)(REAL *re, REAL *im, const NAME(pair) * from, REAL sign)
{
  const V lo = V_LOAD(&from->re), hi = V_LOAD(&from[V_LANES / 2].re);

  V_STORE(re, NAME(planar_re)(lo, hi));
  V_STORE(im, V_MUL(V_SET(sign), NAME(planar_im)(lo, hi)));
}

static void NAME(pack_b)(void *to, const packed_from *b, int64_t width, bool conj)
{
  const REAL sign = conj ? -1 : 1;
  REAL *re = to;

  for (int64_t k = 0; k < b->rows; k++, re += 2 * width) {
    const NAME(pair) *from = (const NAME(pair) *)b->from + b->row[k];
    REAL *im = re + width;
    int64_t n = 0;

    for (; b->joined && n + V_LANES <= b->columns; n += V_LANES) {
      NAME(split)(re + n, im + n, from + b->column[0] + n, sign);
    }
    for (int64_t j = n; j < b->columns; j++) {
      re[j] = from[b->column[j]].re;
      im[j] = sign * from[b->column[j]].im;
    }
    for (int64_t j = b->columns; j < width; j++) {
      re[j] = im[j] = 0;
    }
  }
}

INLINE void NAME(sum_block)(REAL *block, const packed_panels *p, const int64_t rows,
                            const int64_t vectors, const bool packed)
{
  const REAL *a = p->a, *b = p->b;
  const REAL *row[PACKED_ROWS];
  const char *ahead = p->ahead[0], *other = p->ahead[1];
  V re[PACKED_ROWS][V_VECTORS], im[PACKED_ROWS][V_VECTORS];

#pragma GCC unroll 6
  for (int64_t i = 0; i < rows; i++) {
    row[i] = packed ? NULL : (const REAL *)p->a + 2 * p->row[i];
#pragma GCC unroll 2
    for (int64_t v = 0; v < vectors; v++) {
      re[i][v] = im[i][v] = V_ZERO;
    }
  }
  for (int64_t k = 0; k < p->depth; k++, a += 2 * rows, b += 2 * vectors * V_LANES) {
    const int64_t at = packed ? 0 : 2 * p->column[k];
    V x[V_VECTORS], y[V_VECTORS];

    __builtin_prefetch(ahead);
    __builtin_prefetch(other);
    ahead += p->step;
    other += p->step;

#pragma GCC unroll 2
    for (int64_t v = 0; v < vectors; v++) {
      x[v] = V_LOAD(b + V_LANES * v);
      y[v] = V_LOAD(b + V_LANES * (vectors + v));
    }
#pragma GCC unroll 6
    for (int64_t i = 0; i < rows; i++) {
      const V re_a = V_SET(packed ? a[2 * i] : row[i][at]);

#pragma GCC unroll 2
      for (int64_t v = 0; v < vectors; v++) {
        re[i][v] = V_FMA(re_a, x[v], re[i][v]);
        im[i][v] = V_FMA(re_a, y[v], im[i][v]);
      }
      const V im_a = V_SET(packed ? a[2 * i + 1] : row[i][at + 1]);

#pragma GCC unroll 2
      for (int64_t v = 0; v < vectors; v++) {
        re[i][v] = V_FNMA(im_a, y[v], re[i][v]);
        im[i][v] = V_FMA(im_a, x[v], im[i][v]);
      }
    }
  }
#pragma GCC unroll 6
  for (int64_t i = 0; i < rows; i++) {
#pragma GCC unroll 2
    for (int64_t v = 0; v < vectors; v++) {
      V_STORE(block + V_LANES * (2 * i * vectors + v), re[i][v]);
      V_STORE(block + V_LANES * ((2 * i + 1) * vectors + v), im[i][v]);
    }
  }
}

#define ROWS(n)                                        \
  case n:                                              \
    if (width > V_LANES) {                             \
      NAME(sum_block)(block, p, n, V_VECTORS, packed); \
    } else {                                           \
      NAME(sum_block)(block, p, n, 1, packed);         \
    }                                                  \
    break;

INLINE void NAME(sum_rows)(void *block, const packed_panels *p, int64_t rows, int64_t width,
                           const bool packed)
{
  switch (rows) {
    ROWS(1)
    ROWS(2)
    ROWS(3)
    ROWS(4)
    ROWS(5)
    ROWS(6)
  default:
    break;
  }
}
#undef ROWS

static void NAME(sum)(void *block, const packed_panels *p, int64_t rows, int64_t width)
{
  if (p->column == NULL) {
    NAME(sum_rows)(block, p, rows, width, true);
  } else {
    NAME(sum_rows)(block, p, rows, width, false);
  }
}

INLINE void NAME(store_lanes)(NAME(pair) * to, const REAL *re, const REAL *im, REAL sign, bool add)
{
  const V x = V_LOAD(re), y = V_MUL(V_SET(sign), V_LOAD(im));
  REAL *lo = &to->re, *hi = &to[V_LANES / 2].re;

  V_STORE(lo, V_ADD(add ? V_LOAD(lo) : V_ZERO, NAME(planar_lo)(x, y)));
  V_STORE(hi, V_ADD(add ? V_LOAD(hi) : V_ZERO, NAME(planar_hi)(x, y)));
}

static void NAME(store)(const packed_to *c, const void *block, int64_t width)
{
  const REAL sign = c->conj ? -1 : 1;
  const REAL *re = block;

  for (int64_t i = 0; i < c->rows; i++, re += 2 * width) {
    NAME(pair) *to = (NAME(pair) *)c->to + c->row[i];
    const REAL *im = re + width;

    int64_t j = 0;

    for (; c->joined && j + V_LANES <= c->columns; j += V_LANES) {
      NAME(store_lanes)(to + c->column[0] + j, re + j, im + j, sign, c->add);
    }
    for (; j < c->columns; j++) {
      NAME(pair) *one = to + c->column[j];

      one->re = (c->add ? one->re : 0) + re[j];
      one->im = (c->add ? one->im : 0) + sign * im[j];
    }
  }
}

const packed_kernels TABLE = {
    .lanes = V_LANES,
    .vectors = V_VECTORS,
    .pack_a = NAME(pack_a),
    .pack_b = NAME(pack_b),
    .sum = NAME(sum),
    .store = NAME(store),
};
#undef INLINE
#undef REAL
#undef V_LANES
#undef V_VECTORS
#undef V
#undef V_ZERO
#undef V_SET
#undef V_ADD
#undef V_MUL
#undef V_FMA
#undef V_FNMA
#undef V_LOAD
#undef V_STORE
#undef NAME
#undef TABLE
