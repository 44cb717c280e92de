/* sliding_kernel.h - the vector code of sliding_priv.h for one dtype and instruction set. Before
 * it, a source defines REAL (float or double), V_LANES, V_OUTPUTS (of a register block, at most
 * SLIDING_OUTPUTS), the type V, V_SET, V_MUL, V_FMA (a b + c), V_FNMA (c - a b), V_LOAD and V_STORE
 * of a vector, NAME(x), and TABLE, and includes planar_*.h. It undefines all of these. */
#define INLINE static inline __attribute__((always_inline))

typedef struct NAME(pair) {
  REAL re, im;
} NAME(pair);

INLINE void NAME(split)(REAL *re, const NAME(pair) * from, REAL sign)
{
  const V lo = V_LOAD(&from->re), hi = V_LOAD(&from[V_LANES / 2].re);

  V_STORE(re, NAME(planar_re)(lo, hi));
  V_STORE(re + V_LANES, V_MUL(V_SET(sign), NAME(planar_im)(lo, hi)));
}

INLINE void NAME(join)(NAME(pair) * to, const REAL *re, REAL sign)
{
  const V x = V_LOAD(re), y = V_MUL(V_SET(sign), V_LOAD(re + V_LANES));

  V_STORE(&to->re, NAME(planar_lo)(x, y));
  V_STORE(&to[V_LANES / 2].re, NAME(planar_hi)(x, y));
}

/* Columns of one strip of which memory is not filled by one row. */
INLINE void NAME(split_apart)(REAL *re, const NAME(pair) * from, const int64_t *column, int64_t n,
                              REAL sign)
{
  for (int64_t j = 0; j < V_LANES; j++) {
    re[j] = j < n ? from[column[j]].re : 0;
    re[V_LANES + j] = j < n ? sign * from[column[j]].im : 0;
  }
}

static void NAME(pack)(void *planar, const void *at, const sliding_strips *s)
{
  const REAL sign = s->conj ? -1 : 1;
  const NAME(pair) *from = at;
  REAL *to = planar;

  for (int64_t p = 0; p < s->positions; p++, from += s->step, to += 2 * V_LANES) {
    int64_t j = 0;

    for (; s->joined && j + V_LANES <= s->columns; j += V_LANES) {
      NAME(split)(to + j / V_LANES * s->pitch, from + s->column[0] + j, sign);
    }
    for (; j < s->columns; j += V_LANES) {
      NAME(split_apart)(to + j / V_LANES * s->pitch, from, s->column + j, s->columns - j, sign);
    }
  }
}

static void NAME(merge)(void *taps, const void *a, const int64_t *at, int64_t n, bool first)
{
  const NAME(pair) *from = a;
  NAME(pair) *to = taps;

  for (int64_t y = 0; y < n; y++) {
    const NAME(pair) x = from[at[y]], before = to[y];

    to[y] = first ? x : (NAME(pair)){before.re + x.re, before.im + x.im};
  }
}

static void NAME(sum)(const sliding_sums *s)
{
  const REAL *window = s->window;
  REAL *sums = s->sums;
  const char *ahead = s->ahead;
  int64_t left = s->n_ahead;

  for (int64_t i = 0; i < s->blocks; i++) {
    const REAL *tap = s->taps, *z = window;
    V re[V_OUTPUTS], im[V_OUTPUTS];

#pragma GCC unroll 8
    for (int64_t o = 0; o < V_OUTPUTS; o++) {
      re[o] = V_LOAD(sums + 2 * o * V_LANES);
      im[o] = V_LOAD(sums + (2 * o + 1) * V_LANES);
    }
    for (int64_t y = 0; y < s->n_taps; y++, tap += 2, z += s->slope * 2 * V_LANES) {
      const V c = V_SET(tap[0]), d = V_SET(tap[1]);

      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + 64);
      ahead += --left > 0 ? s->step_bytes : 0;

#pragma GCC unroll 8
      for (int64_t o = 0; o < V_OUTPUTS; o++) {
        const V x = V_LOAD(z + 2 * o * V_LANES), w = V_LOAD(z + (2 * o + 1) * V_LANES);

        re[o] = V_FMA(c, x, re[o]);
        im[o] = V_FMA(c, w, im[o]);
        re[o] = V_FNMA(d, w, re[o]);
        im[o] = V_FMA(d, x, im[o]);
      }
    }
#pragma GCC unroll 8
    for (int64_t o = 0; o < V_OUTPUTS; o++) {
      V_STORE(sums + 2 * o * V_LANES, re[o]);
      V_STORE(sums + (2 * o + 1) * V_LANES, im[o]);
    }
    window += V_OUTPUTS * 2 * V_LANES;
    sums += V_OUTPUTS * 2 * V_LANES;
  }
}

static void NAME(store)(void *at, const void *planar, const sliding_strips *s)
{
  const REAL sign = s->conj ? -1 : 1;
  NAME(pair) *to = at;
  const REAL *from = planar;

  for (int64_t p = 0; p < s->positions; p++, to += s->step, from += 2 * V_LANES) {
    int64_t j = 0;

    for (; s->joined && j + V_LANES <= s->columns; j += V_LANES) {
      NAME(join)(to + s->column[0] + j, from + j / V_LANES * s->pitch, sign);
    }
    for (; j < s->columns; j++) {
      const REAL *re = from + j / V_LANES * s->pitch + j % V_LANES;

      to[s->column[j]] = (NAME(pair)){re[0], sign * re[V_LANES]};
    }
  }
}

const sliding_kernels TABLE = {
    .lanes = V_LANES,
    .outputs = V_OUTPUTS,
    .pack = NAME(pack),
    .merge = NAME(merge),
    .sum = NAME(sum),
    .store = NAME(store),
};
#undef INLINE
#undef REAL
#undef V_LANES
#undef V_OUTPUTS
#undef V
#undef V_SET
#undef V_MUL
#undef V_FMA
#undef V_FNMA
#undef V_LOAD
#undef V_STORE
#undef NAME
#undef TABLE
