/* few_kernel.h - the vector code of few_priv.h for one instruction set. Before it, a source defines
 * V_LANES, V_REGISTERS (how many vectors they hold), the type V, V_ZERO, V_SET, V_ADD, V_FMA,
 * V_LOAD and V_STORE of a vector, the type M of which lanes are meant, V_FIRST (the first n),
 * V_LOADM and V_STOREM of those, V_KEEP (loads it once), V_SUM (a vector of the sums of V_LANES
 * vectors), and TABLE. Sizes of blocks: few_priv.h. */
#include "ops/conv/few_priv.h"

#define INLINE static inline __attribute__((always_inline))
/* Keeps the compiler from holding every sum of p and a constant in a separate register. */
#define ONE_REGISTER(p) __asm__("" : "+r"(p))

/* ---- weights ---- */

INLINE void channels_of(V *y, const float *from, const int vectors, const bool whole, M last)
{
  for (int v = 0; v < vectors - 1; v++) {
    y[v] = V_LOAD(from + V_LANES * v);
  }
  const float *end = from + V_LANES * (vectors - 1);

  y[vectors - 1] = whole ? V_LOAD(end) : V_LOADM(end, last);
}

/* Element of accumulator r, from the first: with V_TAPS kernel elements those of each are
 * neighbours, `few` in all. */
INLINE int64_t element_of(const few_weights_strip *s, int r, const int n, const bool slides)
{
  return slides ? r / n * s->few_step + r % n : r;
}

/* Outputs [from, to), elements inside the row alone. */
INLINE void weights_edge(V (*sum)[2], const few_weights_strip *s, const float *x, const float *y,
                         int64_t from, int64_t to, const int n, const int vectors,
                         const bool slides, const bool whole, M last)
{
  const int count = slides ? V_TAPS * n : n;

  for (int64_t o = from; o < to; o++) {
    V many[2];

    channels_of(many, y + s->many_step * o, vectors, whole, last);
#pragma GCC unroll 32
    for (int r = 0; r < count; r++) {
      const int64_t e = s->first + s->few_step * o + element_of(s, r, n, slides);

      if (e >= 0 && e < s->few_count) {
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
          sum[r][v] = V_FMA(V_SET(x[e]), many[v], sum[r][v]);
        }
      }
    }
  }
}

/* Outputs [from, to), all elements inside. */
INLINE void weights_inner(V (*sum)[2], const few_weights_strip *s, const float *x, const float *y,
                          int64_t from, int64_t to, const int n, const int vectors,
                          const bool whole, M last)
{
  const float *e = x + s->first + s->few_step * from, *c = y + s->many_step * from;

  for (int64_t o = from; o < to; o++, e += s->few_step, c += s->many_step) {
    V many[2];

    channels_of(many, c, vectors, whole, last);
#pragma GCC unroll 16
    for (int r = 0; r < n; r++) {
      const V few = V_SET(e[r]);

#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = V_FMA(few, many[v], sum[r][v]);
      }
    }
  }
}

/* n elements e, each with the outputs of kernel elements [first, end): many[t] is that of t. */
INLINE void weights_slide_step(V (*sum)[2], const V *many, const float *e, const int first,
                               const int end, const int n)
{
#pragma GCC unroll 16
  for (int f = 0; f < n; f++) {
    const V few = V_SET(e[f]);

#pragma GCC unroll 4
    for (int t = first; t < end; t++) {
      sum[t * n + f][0] = V_FMA(few, many[t], sum[t * n + f][0]);
    }
  }
}

/* Outputs [from, to), at least V_TAPS, all elements inside: one vector of channels and V_TAPS
 * kernel elements of stride 1, so that an element meets as many outputs that follow each other. */
INLINE void weights_slide(V (*sum)[2], const few_weights_strip *s, const float *x, const float *y,
                          int64_t from, int64_t to, const int n, const bool whole, M last)
{
  const float *e = x + s->first + s->few_step * from, *c = y + s->many_step * from;
  V many[V_TAPS];

#pragma GCC unroll 4
  for (int p = 0; p < V_TAPS - 1; p++, e += s->few_step, c += s->many_step) {
#pragma GCC unroll 4
    for (int t = p; t > 0; t--) {
      many[t] = many[t - 1];
    }
    channels_of(many, c, 1, whole, last);
    weights_slide_step(sum, many, e, 0, p + 1, n);
  }
  for (int64_t o = from + V_TAPS - 1; o < to; o++, e += s->few_step, c += s->many_step) {
#pragma GCC unroll 4
    for (int t = V_TAPS - 1; t > 0; t--) {
      many[t] = many[t - 1];
    }
    channels_of(many, c, 1, whole, last);
    weights_slide_step(sum, many, e, 0, V_TAPS, n);
  }
#pragma GCC unroll 4
  for (int p = 1; p < V_TAPS; p++, e += s->few_step) {
#pragma GCC unroll 4
    for (int t = V_TAPS - 1; t > 0; t--) {
      many[t] = many[t - 1];
    }
    weights_slide_step(sum, many, e, p, V_TAPS, n);
  }
}

INLINE void weights_rows(const few_weights_strip *s, const int n, const int vectors,
                         const bool slides, const bool whole)
{
  const int count = slides ? V_TAPS * n : n;
  const M last = V_FIRST(s->channels - V_LANES * (vectors - 1));
  const int64_t before = s->first < 0 ? (s->few_step - 1 - s->first) / s->few_step : 0;
  const int64_t max_start = s->few_count - 1 - element_of(s, count - 1, n, slides) - s->first;
  const int64_t all = max_start < 0 ? 0 : max_start / s->few_step + 1;
  const int64_t from = before < s->outputs ? before : s->outputs;
  const int64_t to = all < from ? from : all < s->outputs ? all : s->outputs;
  const bool sliding = slides && to - from >= V_TAPS;
  V sum[V_REGISTERS][2];

#pragma GCC unroll 32
  for (int r = 0; r < count; r++) {
    sum[r][0] = sum[r][1] = V_ZERO;
  }
  for (int64_t k = 0; k < s->rows; k++) {
    const float *x = s->few + k * s->few_row, *y = s->many + k * s->many_row;

    weights_edge(sum, s, x, y, 0, slides && !sliding ? to : from, n, vectors, slides, whole, last);
    if (!slides) {
      weights_inner(sum, s, x, y, from, to, n, vectors, whole, last);
    } else if (sliding) {
      weights_slide(sum, s, x, y, from, to, n, whole, last);
    }
    weights_edge(sum, s, x, y, to, s->outputs, n, vectors, slides, whole, last);
  }
#pragma GCC unroll 32
  for (int r = 0; r < count; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      float *at = s->sums + s->sum_step * element_of(s, r, n, slides) + V_LANES * v;

      V_STORE(at, V_ADD(V_LOAD(at), sum[r][v]));
    }
  }
}

#define WEIGHTS(name, n, vectors, slides)             \
  static void name(const few_weights_strip *strip)    \
  {                                                   \
    if (strip->channels == V_LANES * vectors) {       \
      weights_rows(strip, n, vectors, slides, true);  \
    } else {                                          \
      weights_rows(strip, n, vectors, slides, false); \
    }                                                 \
  }
#define ROWS_1(n) WEIGHTS(rows_1_##n, n, 1, false)
#define ROWS_2(n) WEIGHTS(rows_2_##n, n, 2, false)
#define SLIDES(n) WEIGHTS(slides_##n, n, 1, true)
ALL_ROWS_1(ROWS_1)
ALL_ROWS_2(ROWS_2)
ALL_SLIDES(SLIDES)
#undef ROWS_1
#undef ROWS_2
#undef SLIDES

#define ROWS_1(n) rows_1_##n,
#define ROWS_2(n) rows_2_##n,
#define SLIDES(n) slides_##n,
static few_weights_run *const rows_table_1[] = {ALL_ROWS_1(ROWS_1)};
static few_weights_run *const rows_table_2[] = {ALL_ROWS_2(ROWS_2)};
static few_weights_run *const slides_table[] = {ALL_SLIDES(SLIDES)};
_Static_assert(sizeof rows_table_1 / sizeof *rows_table_1 == V_ROWS_1, "one of each number");
_Static_assert(sizeof rows_table_2 / sizeof *rows_table_2 == V_ROWS_2, "one of each number");
_Static_assert(sizeof slides_table / sizeof *slides_table == V_SLIDES, "one of each number");

/* ---- rows of outputs ---- */

/* Outputs that all kernel elements reach, where they are n or more, to be made n at a time, the
 * last n again where they are no multiple; the others are made one by one. */
typedef struct span {
  int64_t from, to;
} span;

static inline span inner_outputs(const few_conv *s, int64_t n)
{
  const int64_t stride = s->stride[2], lo = s->lo[2], outputs = s->out[2];
  const int64_t before = lo > 0 ? (lo + stride - 1) / stride : 0;
  const int64_t max_start = s->in[2] - s->kernel_size[2] + lo,
                all = max_start < 0 ? 0 : max_start / stride + 1;
  const int64_t to = all < outputs ? all : outputs;

  return to - before < n ? (span){outputs, outputs} : (span){before, to};
}

/* The output after o, or the first with o = -1, that is not inside. */
static inline int64_t outer_output(const span *inner, int64_t o)
{
  return o + 1 == inner->from ? inner->to : o + 1;
}

/* ---- narrow ---- */

/* Adds one vector of channels of n outputs, `next` apart, to their sums. */
INLINE void narrow_step(V *sum, const float *x, int64_t next, const float *w, const bool whole,
                        M lanes, const int few, const int n)
{
  V many[FEW_MAX], weight[FEW_MAX];

  if (few <= n) {
#pragma GCC unroll 16
    for (int f = 0; f < few; f++) {
      weight[f] = V_LOAD(w + V_LANES * f);
    }
#pragma GCC unroll 16
    for (int j = 0; j < n; j++) {
      many[0] = whole ? V_LOAD(x + next * j) : V_LOADM(x + next * j, lanes);
#pragma GCC unroll 16
      for (int f = 0; f < few; f++) {
        sum[j * few + f] = V_FMA(many[0], weight[f], sum[j * few + f]);
      }
    }
  } else {
#pragma GCC unroll 16
    for (int j = 0; j < n; j++) {
      many[j] = whole ? V_LOAD(x + next * j) : V_LOADM(x + next * j, lanes);
    }
#pragma GCC unroll 16
    for (int f = 0; f < few; f++) {
      weight[0] = V_LOAD(w + V_LANES * f);
      if (n > 1 && V_REGISTERS == 32) { /* else gcc reads it again for every output */
        V_KEEP(weight[0]);
      }
#pragma GCC unroll 16
      for (int j = 0; j < n; j++) {
        sum[j * few + f] = V_FMA(many[j], weight[0], sum[j * few + f]);
      }
    }
  }
}

/* Stores n outputs, dense ones without gaps between them. */
INLINE void narrow_store(float *out, int64_t step, const V *sum, const int few, const int n)
{
  const int groups = (n * few + V_LANES - 1) / V_LANES;
  const bool dense = n == 1 || step == few;
  _Alignas(64) float line[V_SUMS];

#pragma GCC unroll 4
  for (int g = 0; g < groups; g++) {
    const V total = V_SUM(sum + V_LANES * g);

    if (!dense) {
      V_STORE(line + V_LANES * g, total);
    } else if (V_LANES * (g + 1) <= n * few) {
      V_STORE(out + V_LANES * g, total);
    } else {
      V_STOREM(out + V_LANES * g, V_FIRST(n * few - V_LANES * g), total);
    }
  }
  for (int j = 0; !dense && j < n; j++) {
    for (int f = 0; f < few; f++) {
      out[step * j + f] = line[j * few + f];
    }
  }
}

/* One vector of channels of n outputs and V_TAPS kernel elements: what is read serves as many
 * outputs as it has kernel elements before the next is. */
INLINE void narrow_slide(V *sum, const float *x, int64_t next, const float *w, const int few,
                         const int n)
{
  V weight[V_TAPS * V_SLIDE];

#pragma GCC unroll 16
  for (int t = 0; t < V_TAPS; t++) {
#pragma GCC unroll 16
    for (int f = 0; f < few; f++) {
      weight[t * few + f] = V_LOAD(w + next * few * t + V_LANES * f);
    }
  }
#pragma GCC unroll 32
  for (int p = 0; p < n + V_TAPS - 1; p++) {
    V many = V_LOAD(x + next * p);

    V_KEEP(many);
#pragma GCC unroll 16
    for (int t = 0; t < V_TAPS; t++) {
      if (p >= t && p - t < n) {
#pragma GCC unroll 16
        for (int f = 0; f < few; f++) {
          sum[(p - t) * few + f] = V_FMA(many, weight[t * few + f], sum[(p - t) * few + f]);
        }
      }
    }
  }
}

/* Rows that are read [first, end), and where sums of a tile are kept from one part to the next,
 * [V_SUMS, lanes]. */
typedef struct narrow_part {
  int64_t first, end;
  float *sums;
} narrow_part;

/* What n outputs from `at` on would read of the rows that come later. */
INLINE void narrow_ahead(const few_narrow_row *a, int64_t at, int64_t n)
{
  const int64_t next = a->s->stride[2] * a->s->in_step[3];

  for (int64_t i = 0; i < a->n_ahead; i++) {
    const float *from = a->ahead[i] + next * at;

    for (int64_t l = 0; l < next * n; l += 16) {
      __builtin_prefetch(from + l, 0, 2);
    }
  }
}

/* Outputs [at, at + n) of a row from kernel columns [from, to). blocks: vectors of channels of
 * stride 1 without gaps between pixels (at most V_SLIDE channels are made: V_TAPS kernel elements),
 * or 0: any. */
INLINE void narrow_tile(const few_narrow_row *a, const narrow_part *part, int64_t at, int64_t from,
                        int64_t to, const int few, const int n, const int blocks)
{
  const few_conv *s = a->s;
  const int64_t step = s->in_step[3];
  const int64_t vectors = blocks > 0 ? blocks : (s->many + V_LANES - 1) / V_LANES;
  const int64_t x_at = (s->stride[2] * at + from - s->lo[2]) * step;
  const int64_t w_at = V_LANES * few * vectors * from, count = from < to ? to - from : 0;
  const M all = V_FIRST(V_LANES), last = V_FIRST(s->many - V_LANES * (vectors - 1));
  V sum[V_SUMS];

#pragma GCC unroll 32
  for (int r = 0; r < V_SUMS; r++) {
    sum[r] = V_ZERO;
  }
  if (part->first > 0) {
#pragma GCC unroll 32
    for (int r = 0; r < n * few; r++) {
      sum[r] = V_LOAD(part->sums + V_LANES * r);
    }
  }
  for (int64_t i = part->first; i < part->end; i++) {
    const float *x = a->rows[i] + x_at, *w = a->weights[i] + w_at;

    ONE_REGISTER(x);
    ONE_REGISTER(w);
    if (blocks > 0 && few <= V_SLIDE) {
      for (int b = 0; b < blocks; b++) {
        narrow_slide(sum, x + V_LANES * b, V_LANES * blocks, w + V_LANES * few * b, few, n);
      }
    } else if (blocks > 0) {
      for (int64_t k = 0; k < count * blocks; k++, x += V_LANES, w += V_LANES * few) {
        narrow_step(sum, x, V_LANES * blocks, w, true, all, few, n);
      }
    } else {
      for (int64_t t = 0; t < count; t++, x += step - V_LANES * vectors) {
        for (int64_t b = vectors; b > 0; b--, x += V_LANES, w += V_LANES * few) {
          narrow_step(sum, x, s->stride[2] * step, w, false, b > 1 ? all : last, few, n);
        }
      }
    }
  }
  if (part->end == a->n_rows) {
    narrow_store(a->out + s->out_step[3] * at, s->out_step[3], sum, few, n);
  } else {
#pragma GCC unroll 32
    for (int r = 0; r < n * few; r++) {
      V_STORE(part->sums + V_LANES * r, sum[r]);
    }
  }
}

typedef void narrow_function(const few_narrow_row *a, const narrow_part *part, int64_t at,
                             int64_t from, int64_t to);

/* V_TILES tiles of outputs from `from` on, with `near` rows of weights at a time. */
INLINE void narrow_tiles(const few_narrow_row *a, narrow_function *tile, int64_t from, int64_t to,
                         const int n)
{
  const int ahead = n < 8 ? 8 / n : 1; /* tiles */
  _Alignas(64) float sums[V_TILES * V_SUMS * V_LANES];
  int64_t first = 0;

  do {
    narrow_part part = {first, first + a->near < a->n_rows ? first + a->near : a->n_rows, sums};

    for (int64_t t = 0, o = from; t < V_TILES && o < to; t++, o += n) {
      if (first == 0 && t % ahead == 0) {
        narrow_ahead(a, o, o + ahead * n <= to ? ahead * n : to - o);
      }
      tile(a, &part, o + n <= to ? o : to - n, 0, a->s->kernel_size[2]);
      part.sums += V_SUMS * V_LANES;
    }
    first = part.end;
  } while (first < a->n_rows);
}

INLINE void narrow_row(const few_narrow_row *a, narrow_function *one, narrow_function *const *tile,
                       int few, const int n)
{
  const few_conv *s = a->s;
  const span inner = inner_outputs(s, n);
  const bool whole = s->stride[2] == 1 && s->in_step[3] == s->many && s->many % V_LANES == 0 &&
                     (few > V_SLIDE || s->kernel_size[2] == V_TAPS);
  const int64_t blocks = whole && s->many <= 2 * V_LANES ? s->many / V_LANES : 0;
  const narrow_part all = {.end = a->n_rows};

  for (int64_t o = outer_output(&inner, -1); o < s->out[2]; o = outer_output(&inner, o)) {
    const int64_t first = s->lo[2] - s->stride[2] * o, end = s->in[2] + first;

    one(a, &all, o, first > 0 ? first : 0, end < s->kernel_size[2] ? end : s->kernel_size[2]);
  }
  for (int64_t o = inner.from; o < inner.to; o += V_TILES * n) {
    narrow_tiles(a, tile[blocks], o, inner.to, n);
  }
}

#define PART(name, few, n, blocks)                                                             \
  static void name(const few_narrow_row *a, const narrow_part *part, int64_t at, int64_t from, \
                   int64_t to)                                                                 \
  {                                                                                            \
    narrow_tile(a, part, at, from, to, few, n, blocks);                                        \
  }
#define NARROW(few)                                                          \
  PART(one_##few, few, 1, 0)                                                 \
  PART(any_##few, few, NARROW_OUTPUTS(few), 0)                               \
  PART(single_##few, few, NARROW_OUTPUTS(few), 1)                            \
  PART(double_##few, few, NARROW_OUTPUTS(few), 2)                            \
  static void narrow_##few(const few_narrow_row *a)                          \
  {                                                                          \
    narrow_function *const tile[] = {any_##few, single_##few, double_##few}; \
                                                                             \
    narrow_row(a, one_##few, tile, few, NARROW_OUTPUTS(few));                \
  }
EACH_15(NARROW)
#undef NARROW

#define NARROW(few) narrow_##few,
static few_narrow_run *const narrow_table[] = {EACH_15(NARROW)};
_Static_assert(sizeof narrow_table / sizeof *narrow_table == FEW_MAX, "one of each number");

/* ---- widen ---- */

/* Outputs [at, at + n) of a row from elements [from, to) of the kernel elements x few that meet the
 * first. few: that many and stride 1, or 0: any. */
INLINE void widen_tile(const few_widen_row *a, int64_t at, int64_t from, int64_t to, const int few,
                       const int n, const int vectors)
{
  const few_conv *s = a->s;
  const int64_t next = few > 0 ? few : s->stride[2] * s->few;
  const int64_t base = next * at - s->lo[2] * s->few + from;
  const M last = V_FIRST(a->channels - V_LANES * (vectors - 1));
  V sum[V_WIDEN][2];

#pragma GCC unroll 16
  for (int j = 0; j < n; j++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      sum[j][v] = V_LOAD(a->start + V_LANES * v);
    }
  }
  for (int64_t i = 0; i < a->n_rows; i++) {
    const float *x = a->rows[i] + base, *w = a->weights[i] + V_LANES * vectors * from;

    ONE_REGISTER(x);
    for (int64_t e = from; e < to; e++, x++, w += V_LANES * vectors) {
      V weight[2];

#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        weight[v] = V_LOAD(w + V_LANES * v);
      }
#pragma GCC unroll 16
      for (int j = 0; j < n; j++) {
        const V element = V_SET(x[next * j]);

#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
          sum[j][v] = V_FMA(element, weight[v], sum[j][v]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int j = 0; j < n; j++) {
    float *out = a->out + s->out_step[3] * (at + j);

    for (int v = 0; v < vectors - 1; v++) {
      V_STORE(out + V_LANES * v, sum[j][v]);
    }
    V_STOREM(out + V_LANES * (vectors - 1), last, sum[j][vectors - 1]);
  }
}

typedef void widen_function(const few_widen_row *a, int64_t at, int64_t from, int64_t to);

/* Tiles of V_WIDEN outputs, of V_REST for what is left, points where kernel elements leave the row.
 */
typedef struct widen_functions {
  widen_function *tile, *rest, *point;
} widen_functions;

static void widen_row(const few_widen_row *a, const widen_functions *functions)
{
  const few_conv *s = a->s;
  const int64_t elements = s->kernel_size[2] * s->few;
  const span inner = inner_outputs(s, V_REST);
  int64_t at = inner.from;

  for (int64_t o = outer_output(&inner, -1); o < s->out[2]; o = outer_output(&inner, o)) {
    const int64_t first = (s->lo[2] - s->stride[2] * o) * s->few;
    const int64_t end = s->in[2] * s->few + first;

    functions->point(a, o, first > 0 ? first : 0, end < elements ? end : elements);
  }
  for (; at + V_WIDEN <= inner.to; at += V_WIDEN) {
    functions->tile(a, at, 0, elements);
  }
  for (; at < inner.to; at += V_REST) {
    functions->rest(a, at + V_REST <= inner.to ? at : inner.to - V_REST, 0, elements);
  }
}

#define WIDE(name, few, n, vectors)                                              \
  static void name(const few_widen_row *a, int64_t at, int64_t from, int64_t to) \
  {                                                                              \
    widen_tile(a, at, from, to, few, n, vectors);                                \
  }
WIDE(point_1, 0, 1, 1)
WIDE(point_2, 0, 1, 2)
WIDE(rest_1, 0, V_REST, 1)
WIDE(rest_2, 0, V_REST, 2)

#define WIDEN(few)                      \
  WIDE(wide_##few##_1, few, V_WIDEN, 1) \
  WIDE(wide_##few##_2, few, V_WIDEN, 2)
WIDEN(0)
EACH_15(WIDEN)
#undef WIDEN

#define WIDEN(few) {{wide_##few##_1, rest_1, point_1}, {wide_##few##_2, rest_2, point_2}},
static const widen_functions wide_table[][2] = {WIDEN(0) EACH_15(WIDEN)};

static void widen(const few_widen_row *a)
{
  widen_row(a, &wide_table[a->s->stride[2] == 1 ? a->s->few : 0][a->channels > V_LANES]);
}

const few_kernels TABLE = {.lanes = V_LANES,
                           .rows = {V_ROWS_1, V_ROWS_2},
                           .slides = V_SLIDES,
                           .taps = V_TAPS,
                           .weights = {rows_table_1, rows_table_2},
                           .slide = slides_table,
                           .narrow = narrow_table,
                           .widen = widen};
