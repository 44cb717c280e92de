/* few_kernel.h - the vector code of few_priv.h for one instruction set. Before it, a source defines
 * V_LANES, the type V, V_ZERO, V_SET, V_ADD, V_FMA, V_LOAD and V_STORE of a vector, the type M of
 * which lanes are meant, V_FIRST (the first n), V_LOADM and V_STOREM of those, V_KEEP (loads it
 * once), V_SUM (a vector of the sums of V_LANES vectors), V_ROWS (accumulators of `weights` per
 * vector of channels), ALL_NARROW (calls NARROW(channels, outputs made at once) for 1 to FEW_MAX
 * channels), ALL_WEIGHTS (calls WEIGHTS(n) for 1 to V_ROWS), V_WIDEN (outputs that `widen` makes at
 * once), and TABLE. */
#include "ops/conv/few_priv.h"

#define INLINE static inline __attribute__((always_inline))
/* Keeps the compiler from holding every sum of p and a constant in a separate register. */
#define ONE_REGISTER(p) __asm__("" : "+r"(p))

/* ---- weights ---- */

INLINE void channels_of(V *y, const float *from, const int vectors, M last)
{
  for (int v = 0; v < vectors - 1; v++) {
    y[v] = V_LOAD(from + V_LANES * v);
  }
  y[vectors - 1] = V_LOADM(from + V_LANES * (vectors - 1), last);
}

/* One output, whose elements are x[at, at + n); those inside the row alone. */
INLINE void weights_edge(V (*sum)[2], const few_weights_strip *s, const float *x, int64_t at,
                         const V *y, const int n, const int vectors)
{
#pragma GCC unroll 16
  for (int r = 0; r < n; r++) {
    if (at + r >= 0 && at + r < s->few_count) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = V_FMA(V_SET(x[at + r]), y[v], sum[r][v]);
      }
    }
  }
}

/* Outputs [from, to), all elements inside. */
INLINE void weights_inner(V (*sum)[2], const few_weights_strip *s, const float *x, const float *y,
                          int64_t from, int64_t to, const int n, const int vectors, M last)
{
  const float *e = x + s->first + s->few_step * from, *c = y + s->many_step * from;

  for (int64_t o = from; o < to; o++, e += s->few_step, c += s->many_step) {
    V many[2];

    channels_of(many, c, vectors, last);
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

INLINE void weights_rows(const few_weights_strip *s, const int n, const int vectors)
{
  const M last = V_FIRST(s->channels - V_LANES * (vectors - 1));
  const int64_t before = s->first < 0 ? (s->few_step - 1 - s->first) / s->few_step : 0;
  const int64_t max_start = s->few_count - n - s->first;
  const int64_t all = max_start < 0 ? 0 : max_start / s->few_step + 1;
  const int64_t from = before < s->outputs ? before : s->outputs;
  const int64_t to = all < from ? from : all < s->outputs ? all : s->outputs;
  V sum[V_ROWS][2], many[2];

#pragma GCC unroll 16
  for (int r = 0; r < n; r++) {
    sum[r][0] = sum[r][1] = V_ZERO;
  }
  for (int64_t k = 0; k < s->rows; k++) {
    const float *x = s->few + k * s->few_row, *y = s->many + k * s->many_row;

    for (int64_t o = from > 0 ? 0 : to; o < s->outputs; o = o + 1 == from ? to : o + 1) {
      channels_of(many, y + s->many_step * o, vectors, last);
      weights_edge(sum, s, x, s->first + s->few_step * o, many, n, vectors);
    }
    weights_inner(sum, s, x, y, from, to, n, vectors, last);
  }
#pragma GCC unroll 16
  for (int r = 0; r < n; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      float *at = s->sums + s->sum_step * r + V_LANES * v;

      V_STORE(at, V_ADD(V_LOAD(at), sum[r][v]));
    }
  }
}

#define WEIGHTS(n)                                    \
  static void weights_##n(const few_weights_strip *s) \
  {                                                   \
    if (s->channels > V_LANES) {                      \
      weights_rows(s, n, 2);                          \
    } else {                                          \
      weights_rows(s, n, 1);                          \
    }                                                 \
  }
ALL_WEIGHTS
#undef WEIGHTS

#define WEIGHTS(n) weights_##n,
static few_weights_run *const weights_table[] = {ALL_WEIGHTS};

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
  V many[V_MAX_FEW], weight[V_MAX_FEW];

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

/* Outputs [at, at + n) of a row from kernel columns [from, to). blocks: vectors of channels of
 * stride 1 without gaps between pixels (at most V_SLIDE channels are made: V_TAPS kernel elements),
 * or 0: any. */
INLINE void narrow_tile(const few_narrow_row *a, int64_t at, int64_t from, int64_t to,
                        const int few, const int n, const int blocks)
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
  for (int64_t i = 0; i < a->n_rows; i++) {
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
  narrow_store(a->out + s->out_step[3] * at, s->out_step[3], sum, few, n);
}

typedef void narrow_function(const few_narrow_row *a, int64_t at, int64_t from, int64_t to);

INLINE void narrow_row(const few_narrow_row *a, narrow_function *one, narrow_function *const *tile,
                       int few, int n)
{
  const few_conv *s = a->s;
  const span inner = inner_outputs(s, n);
  const bool whole = s->stride[2] == 1 && s->in_step[3] == s->many && s->many % V_LANES == 0 &&
                     (few > V_SLIDE || s->kernel_size[2] == V_TAPS);
  const int64_t blocks = whole && s->many <= 2 * V_LANES ? s->many / V_LANES : 0;

  for (int64_t o = outer_output(&inner, -1); o < s->out[2]; o = outer_output(&inner, o)) {
    const int64_t first = s->lo[2] - s->stride[2] * o, end = s->in[2] + first;

    one(a, o, first > 0 ? first : 0, end < s->kernel_size[2] ? end : s->kernel_size[2]);
  }
  for (int64_t o = inner.from; o < inner.to; o += n) {
    tile[blocks](a, o + n <= inner.to ? o : inner.to - n, 0, s->kernel_size[2]);
  }
}

#define PART(name, few, n, blocks)                                                \
  static void name(const few_narrow_row *a, int64_t at, int64_t from, int64_t to) \
  {                                                                               \
    narrow_tile(a, at, from, to, few, n, blocks);                                 \
  }
#define NARROW(few, n)                                                       \
  PART(one_##few, few, 1, 0)                                                 \
  PART(any_##few, few, n, 0)                                                 \
  PART(single_##few, few, n, 1)                                              \
  PART(double_##few, few, n, 2)                                              \
  static void narrow_##few(const few_narrow_row *a)                          \
  {                                                                          \
    narrow_function *const tile[] = {any_##few, single_##few, double_##few}; \
                                                                             \
    narrow_row(a, one_##few, tile, few, n);                                  \
  }
ALL_NARROW
#undef NARROW

#define NARROW(few, n) narrow_##few,
static few_narrow_run *const narrow_table[] = {ALL_NARROW};

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
ALL_WIDEN
#undef WIDEN

#define WIDEN(few) {{wide_##few##_1, rest_1, point_1}, {wide_##few##_2, rest_2, point_2}},
static const widen_functions wide_table[][2] = {ALL_WIDEN};

static void widen(const few_widen_row *a)
{
  widen_row(a, &wide_table[a->s->stride[2] == 1 ? a->s->few : 0][a->channels > V_LANES]);
}

const few_kernels TABLE = {.lanes = V_LANES,
                           .rows = V_ROWS,
                           .weights = weights_table,
                           .narrow = narrow_table,
                           .widen = widen};
