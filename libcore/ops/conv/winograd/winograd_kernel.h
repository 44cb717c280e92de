/* winograd_kernel.h - the vector code of winograd_priv.h for one instruction set and dtype of
 * operands. Before it, a source defines V_LANES, the type V, V_ZERO, V_SET, V_ADD, V_SUB, V_MUL,
 * V_FMA, V_LOAD and V_STORE of a vector of f32, the type M of which lanes are meant, V_FIRST (the
 * first n), V_LOADM and V_STOREM of those, V_FINITE (x: whether all of its lanes are finite),
 * V_ROWS (rows of a product), ALL_ROWS (calls ROWS(n) for 1 to V_ROWS), and TABLE.
 *
 * Where operands are bf16 it defines V_HALF, V_DOT(y, x, sum) (adds the products of words),
 * V_READ(p) and V_READM(p, lanes) (a vector of elements), V_PUT(to, v, store) (winograd_store), and
 * V_WRITE and V_WRITEM, as V_STORE and V_STOREM, of rounded numbers, and the functions pair_rows
 * and round_row of winograd_kernels. Where it has products of its own, V_PRODUCT is their function,
 * and V_ROWS the rows that these take best. */
#include "ops/conv/winograd/winograd_priv.h"

#define INLINE static inline __attribute__((always_inline))

#ifdef V_HALF
#define V_TERMS 2
typedef weir_bf16 X;
#else
#define V_TERMS 1
typedef float X;
#define V_DOT(y, x, sum) V_FMA(y, x, sum)
#define V_READ(p) V_LOAD(p)
#define V_READM(p, lanes) V_LOADM(p, lanes)
#define V_PUT(to, v, store) ((void)(store), V_STORE((float *)(to), v))
#define V_WRITE(p, v) V_STORE(p, v)
#define V_WRITEM(p, lanes, v) V_STOREM(p, lanes, v)
#endif

/* ---- products ---- */

#ifndef V_PRODUCT
#define V_PRODUCT product
#define V_TILES false

/* n rows and one panel. unit: a_row is 1, else a_k. */
INLINE void block(const winograd_product *p, const winograd_word *a, const winograd_word *b,
                  float *c, const int n, const int vectors, const bool unit)
{
  const int64_t row = unit ? 1 : p->a_row, step = unit ? p->a_k : 1, b_k = p->b_k;
  const winograd_word *at[(V_ROWS + 2) / 3];
  V sum[V_ROWS][2];

#pragma GCC unroll 8
  for (int r = 0; r < (n + 2) / 3; r++) {
    at[r] = a + 3 * r * row;
  }
#pragma GCC unroll 16
  for (int r = 0; r < n; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      sum[r][v] = p->adds ? V_LOAD(c + r * p->c_row + V_LANES * v) : V_ZERO;
    }
  }
  for (int64_t k = 0; k < p->k; k++, b += b_k) {
    V x[2];

#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      x[v] = V_LOAD((const float *)b + V_LANES * v);
    }
#pragma GCC unroll 16
    for (int r = 0; r < n; r++) {
      const V y = V_SET(((const float *)at[r / 3])[r % 3 * row]);

#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = V_DOT(y, x[v], sum[r][v]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < (n + 2) / 3; r++) {
      at[r] += step;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < n; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      V_STORE(c + r * p->c_row + V_LANES * v, sum[r][v]);
    }
  }
}

typedef void block_run(const winograd_product *p, const winograd_word *a, const winograd_word *b,
                       float *c);

#define BLOCK(n, vectors, unit)                                                                 \
  static void block_##n##_##vectors##_##unit(const winograd_product *p, const winograd_word *a, \
                                             const winograd_word *b, float *c)                  \
  {                                                                                             \
    block(p, a, b, c, n, vectors, unit);                                                        \
  }
#define ROWS(n) BLOCK(n, 1, 0) BLOCK(n, 2, 0) BLOCK(n, 1, 1) BLOCK(n, 2, 1)
ALL_ROWS
#undef ROWS

#define ROWS(n) {{block_##n##_1_0, block_##n##_2_0}, {block_##n##_1_1, block_##n##_2_1}},
static block_run *const blocks[][2][2] = {ALL_ROWS};
#undef ROWS

static void product(const winograd_product *p)
{
  const bool unit = p->a_row == 1;

  for (int64_t v = 0; v < p->vectors; v += 2) {
    const int wide = v + 1 < p->vectors;

    for (int64_t r = 0; r < p->rows; r += V_ROWS) {
      const int64_t n = winograd_min(V_ROWS, p->rows - r);

      blocks[n - 1][unit][wide](p, p->a + r * p->a_row, p->b + v / 2 * p->b_panel,
                                p->c + r * p->c_row + v * V_LANES);
    }
  }
}

#endif

/* ---- transforms along one dimension: elements `step` apart ---- */

INLINE void read_line(V *d, const int step)
{
  const V a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];

  d[0] = V_SUB(a, c);
  d[step] = V_ADD(b, c);
  d[2 * step] = V_SUB(c, b);
  d[3 * step] = V_SUB(b, e);
}

/* Of d[0] and d[step]. */
INLINE void spread_line(V *d, const int step)
{
  const V a = d[0], b = d[step];

  d[step] = V_ADD(a, b);
  d[2 * step] = V_SUB(a, b);
  d[3 * step] = V_SUB(V_ZERO, b);
}

/* To d[0] and d[step]. */
INLINE void made_line(V *d, const int step)
{
  const V a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];

  d[0] = V_ADD(V_ADD(a, b), c);
  d[step] = V_SUB(V_SUB(b, c), e);
}

/* Of d[0], d[step], d[2 step]. */
INLINE void weights_line(V *d, const int step)
{
  const V half = V_SET(0.5F), a = d[0], b = d[step], c = d[2 * step];
  const V ends = V_MUL(half, V_ADD(a, c)), middle = V_MUL(half, b);

  d[step] = V_ADD(ends, middle);
  d[2 * step] = V_SUB(ends, middle);
  d[3 * step] = c;
}

/* To d[0], d[step], d[2 step]. */
INLINE void back_line(V *d, const int step)
{
  const V half = V_SET(0.5F), a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
  const V sum = V_MUL(half, V_ADD(b, c));

  d[0] = V_ADD(a, sum);
  d[step] = V_MUL(half, V_SUB(b, c));
  d[2 * step] = V_ADD(e, sum);
}

/* ---- transforms of tiles: planes of 4 x 4 in registers, then dimension 0 ---- */

/* Where channel c of a transform lies. */
INLINE void *put_at(winograd_word *to, int64_t c, const winograd_store store)
{
  return store == WINOGRAD_ALONG ? (void *)((X *)to + c) : (void *)(to + c);
}

/* A vector of channels of the elements of a plane. */
INLINE void read_plane(V *d, const void *const *points, int64_t c, const bool whole, M lanes)
{
#pragma GCC unroll 16
  for (int j = 0; j < 16; j++) {
    const X *from = (const X *)points[j] + c;

    d[j] = whole ? V_READ(from) : V_READM(from, lanes);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    read_line(d + 4 * j, 1);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    read_line(d + j, 4);
  }
}

/* The planes of a tile, transformed, along dimension 0. */
INLINE void put_tile(const V *planes, winograd_word *to, int64_t c, int64_t step, const int deep,
                     const winograd_store store)
{
  for (int j = 0; j < 16; j++, to += step) {
    if (!deep) {
      V_PUT(put_at(to, c, store), planes[j], store);
      continue;
    }
    V d[4] = {planes[j], planes[16 + j], planes[32 + j], planes[48 + j]};

    read_line(d, 1);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
      V_PUT(put_at(to + 16 * i * step, c, store), d[i], store);
    }
  }
}

INLINE void read_column(const winograd_column *p, const int deep)
{
  const int planes = winograd_planes(deep, p->tiles);

  for (int64_t c = 0; c < p->channels; c += V_LANES) {
    const bool whole = p->channels - c >= V_LANES;
    const M lanes = V_FIRST(whole ? V_LANES : p->channels - c);
    V all[16 * WINOGRAD_PLANES];

    for (int i = 0; i < planes; i++) {
      read_plane(all + 16 * i, p->points + 16 * i, c, whole, lanes);
    }
    for (int t = 0; t < p->tiles; t++) {
      const V *from = all + (deep ? 32 : 16) * t;

      if (p->store == WINOGRAD_ALONG) {
        put_tile(from, p->to + t * p->tile_step, c, p->step, deep, WINOGRAD_ALONG);
        continue;
      }
      const int at = t + (p->store == WINOGRAD_SECOND); /* from the first of its pair on */
      winograd_word *to = p->to + at / 2 * p->tile_step;

      if (at % 2 == 0) {
        put_tile(from, to, c, p->step, deep, WINOGRAD_FIRST);
      } else {
        put_tile(from, to, c, p->step, deep, WINOGRAD_SECOND);
      }
    }
  }
}

INLINE void spread_tile(const void *const *points, int64_t channels, winograd_word *to,
                        int64_t step, const int deep, const winograd_store store)
{
  for (int64_t c = 0; c < channels; c += V_LANES) {
    const bool whole = channels - c >= V_LANES;
    const M lanes = V_FIRST(whole ? V_LANES : channels - c);
    V all[32];

    for (int i = 0; i < (deep ? 2 : 1); i++) {
      V *d = all + 16 * i;

#pragma GCC unroll 4
      for (int j = 0; j < 4; j++) {
        const X *from = (const X *)points[4 * i + j] + c;

        d[j / 2 * 4 + j % 2] = whole ? V_READ(from) : V_READM(from, lanes);
      }
#pragma GCC unroll 2
      for (int j = 0; j < 2; j++) {
        spread_line(d + 4 * j, 1);
      }
#pragma GCC unroll 4
      for (int j = 0; j < 4; j++) {
        spread_line(d + j, 4);
      }
    }
    for (int j = 0; j < 16; j++) {
      if (!deep) {
        V_PUT(put_at(to + j * step, c, store), all[j], store);
        continue;
      }
      V d[4] = {all[j], all[16 + j]};

      spread_line(d, 1);
#pragma GCC unroll 4
      for (int i = 0; i < 4; i++) {
        V_PUT(put_at(to + (16 * i + j) * step, c, store), d[i], store);
      }
    }
  }
}

/* Channels of an output from c on. */
INLINE void write(void *output, int64_t c, V y, const bool whole, M lanes, const int half)
{
  if (half && whole) {
    V_WRITE((X *)output + c, y);
  } else if (half) {
    V_WRITEM((X *)output + c, lanes, y);
  } else if (whole) {
    V_STORE((float *)output + c, y);
  } else {
    V_STOREM((float *)output + c, lanes, y);
  }
}

INLINE bool made_tile(const float *from, int64_t step, int64_t channels, void *const *outputs,
                      const int deep, const int half)
{
  bool finite = true;

  for (int64_t c = 0; c < channels; c += V_LANES) {
    const bool whole = channels - c >= V_LANES;
    const M lanes = V_FIRST(whole ? V_LANES : channels - c);
    V all[32];

    for (int j = 0; j < 16; j++) {
      if (deep) {
        V d[4] = {V_LOAD(from + c + j * step), V_LOAD(from + c + (16 + j) * step),
                  V_LOAD(from + c + (32 + j) * step), V_LOAD(from + c + (48 + j) * step)};

        made_line(d, 1);
        all[j] = d[0];
        all[16 + j] = d[1];
      } else {
        all[j] = V_LOAD(from + c + j * step);
      }
    }
    for (int i = 0; i < (deep ? 2 : 1); i++) {
      V *d = all + 16 * i;

#pragma GCC unroll 4
      for (int j = 0; j < 4; j++) {
        made_line(d + j, 4);
      }
#pragma GCC unroll 2
      for (int j = 0; j < 2; j++) {
        made_line(d + 4 * j, 1);
      }
#pragma GCC unroll 4
      for (int j = 0; j < 4; j++) {
        const V y = d[j / 2 * 4 + j % 2];

        if (outputs[4 * i + j] != NULL) {
          finite = V_FINITE(y) && finite;
          write(outputs[4 * i + j], c, y, whole, lanes, half);
        }
      }
    }
  }
  return finite;
}

/* ---- weights ---- */

INLINE void weights_tile(const float *taps, winograd_word *to, int64_t step, const int deep,
                         const winograd_store store)
{
  V d[64];

  for (int i = 0; i < (deep ? 3 : 1); i++) {
    V *plane = d + 16 * i;

    for (int j = 0; j < 9; j++) {
      plane[j / 3 * 4 + j % 3] = V_LOAD(taps + (9 * i + j) * V_LANES);
    }
    for (int j = 0; j < 3; j++) {
      weights_line(plane + 4 * j, 1);
    }
    for (int j = 0; j < 4; j++) {
      weights_line(plane + j, 4);
    }
  }
  for (int j = 0; j < 16 && deep; j++) {
    weights_line(d + j, 16);
  }
  for (int j = 0; j < (deep ? 64 : 16); j++) {
    V_PUT(to + j * step, d[j], store);
  }
}

INLINE void back_tile(const float *from, int64_t step, float *taps, int64_t taps_step,
                      const int deep)
{
  V d[64];

  for (int j = 0; j < (deep ? 64 : 16); j++) {
    d[j] = V_LOAD(from + j * step);
  }
  for (int j = 0; j < 16 && deep; j++) {
    back_line(d + j, 16);
  }
  for (int i = 0; i < (deep ? 3 : 1); i++) {
    V *plane = d + 16 * i;

    for (int j = 0; j < 4; j++) {
      back_line(plane + j, 4);
    }
    for (int j = 0; j < 3; j++) {
      back_line(plane + 4 * j, 1);
    }
    for (int j = 0; j < 9; j++) {
      V_STORE(taps + (9 * i + j) * taps_step, plane[j / 3 * 4 + j % 3]);
    }
  }
}

/* ---- the table ---- */

#define MADE(deep, half)                                                              \
  static bool made_##half##_##deep(const float *from, int64_t step, int64_t channels, \
                                   void *const *outputs)                              \
  {                                                                                   \
    return made_tile(from, step, channels, outputs, deep, half);                      \
  }
#define FORMS(deep)                                                                         \
  static void read_##deep(const winograd_column *p)                                         \
  {                                                                                         \
    read_column(p, deep);                                                                   \
  }                                                                                         \
  static void spread_##deep(const void *const *points, int64_t channels, winograd_word *to, \
                            int64_t step, winograd_store store)                             \
  {                                                                                         \
    if (store == WINOGRAD_SECOND) {                                                         \
      spread_tile(points, channels, to, step, deep, WINOGRAD_SECOND);                       \
    } else {                                                                                \
      spread_tile(points, channels, to, step, deep, WINOGRAD_FIRST);                        \
    }                                                                                       \
  }                                                                                         \
  static void weights_##deep(const float *taps, winograd_word *to, int64_t step,            \
                             winograd_store store)                                          \
  {                                                                                         \
    if (store == WINOGRAD_SECOND) {                                                         \
      weights_tile(taps, to, step, deep, WINOGRAD_SECOND);                                  \
    } else {                                                                                \
      weights_tile(taps, to, step, deep, WINOGRAD_FIRST);                                   \
    }                                                                                       \
  }                                                                                         \
  static void back_##deep(const float *from, int64_t step, float *taps, int64_t taps_step)  \
  {                                                                                         \
    back_tile(from, step, taps, taps_step, deep);                                           \
  }                                                                                         \
  MADE(deep, 0)
FORMS(0)
FORMS(1)
#ifdef V_HALF
MADE(0, 1)
MADE(1, 1)
#define MADE_HALF      \
  {                    \
    made_1_0, made_1_1 \
  }
#define ROWS_HALF .pair = pair_rows, .round = round_row
#else
#define ROWS_HALF .pair = NULL, .round = NULL
#define MADE_HALF \
  {               \
    NULL, NULL    \
  }
#endif

const winograd_kernels TABLE = {.lanes = V_LANES,
                                .rows = V_ROWS,
                                .terms = V_TERMS,
                                .tiles = V_TILES,
                                .product = V_PRODUCT,
                                .read = {read_0, read_1},
                                .spread = {spread_0, spread_1},
                                .made = {{made_0_0, made_0_1}, MADE_HALF},
                                .weights = {weights_0, weights_1},
                                .back = {back_0, back_1},
                                ROWS_HALF};
