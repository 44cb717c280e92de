/* picked_priv.h - gradients of a convolution whose result only maxima over windows saw: of a window
 * one element, the picked one, has a gradient, and so does an eighth of 2 x 2 x 2. f32.
 *
 * y[n, o, c] are the gradients of the maxima and place[n, o, c] the row-major positions of what was
 * picked, a byte each; from the number of positions of a window on, nothing was. With
 * e = window o + position + tap - lo, taken only where 0 <= e < extent:
 *
 *   weights   w[tap, i, c] = sum over n, o of x[n, e, i] y[n, o, c]
 *   data      x[n, e, i] = sum over o, tap, c that give e of w[tap, i, c] y[n, o, c]
 *
 * Products are those of picked elements alone. Channels lie side by side. The order of every sum
 * follows from the shape alone, never from threads, boxes or vector width; sums over slabs of
 * places are merged pairwise. */
#ifndef PICKED_PRIV_H
#define PICKED_PRIV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct picked_conv {
  int64_t n, in, out;                            /* samples; channels of x, of y            */
  int64_t x[3], y[3], taps[3], lo[3], window[3]; /* extents; y: of the maxima             */
  int64_t x_step[4], y_step[4], place_step[4];   /* between neighbours along n and the dimensions */
  int64_t w_step[5];                             /* those of w: taps, in, out              */
} picked_conv;

/* ---- Vector code, one table an instruction set. ---- */

/* sums[r][v] += sum over k of by[k] * from[at[k] + run[r] + v], r < rows, v < vectors of lanes. */
typedef struct picked_add {
  float *sums;
  const float *from;
  const int64_t *run;
  const int32_t *at;
  const float *by;
  int64_t count, sum_step; /* sum_step: of one row of sums to the next */
} picked_add;

typedef void picked_add_run(const picked_add *a);

/* A row of windows. Position g of window i adds to the vectors of `to` from step (wide i + g) on,
 * g < wide, what its channels have: those of [begin[g], begin[g + 1]) of by and at, which are
 * places in `from`. */
typedef struct picked_row {
  float *to;
  const float *from, *by;
  const int32_t *at, *begin;
  int64_t windows, wide, step;
  int64_t channels, begin_step; /* of by and at, and of begin, from one window to the next */
} picked_row;

typedef void picked_row_run(const picked_row *r);

/* to[i to_step + j] = from[j from_step + i], i and j below lanes. */
typedef void picked_tile_run(const float *from, int64_t from_step, float *to, int64_t to_step);

typedef struct picked_kernels {
  int64_t lanes, vectors;     /* most vectors of a row                                  */
  const int64_t *rows;        /* [vectors]: most rows of 1, 2, .. vectors               */
  picked_row_run *const *row; /* [vectors] */
  picked_add_run *const *add; /* [vectors][PICKED_ROWS]: of 1, 2, .. rows; NULL beyond  */
  picked_tile_run *tile;
} picked_kernels;

enum { PICKED_ROWS = 9 };

extern const picked_kernels weir_picked_avx2, weir_picked_avx512;
/* The best that this processor runs, or NULL. */
const picked_kernels *picked_kernels_get(void);

/* ---- The two sums, in stages of pieces that may run at the same time. ---- */

typedef struct picked_sum {
  const picked_kernels *k;
  const picked_conv *s;
  bool data; /* else weights */
  const float *x, *y, *w;
  float *made; /* x or w                             */
  const uint8_t *place;
  int64_t first[3]; /* data: sample, plane and row that `made` points at */
  void *workspace, *scratch;
} picked_sum;

enum { PICKED_STAGES = 2 };

/* True when the vector code takes the shape. */
bool picked_takes(const picked_conv *s);
/* True when x does not stay in cache anyway: rows of it may be made by themselves. */
bool picked_large(const picked_conv *s);
/* Bytes, of all and of one thread; pieces of a stage: they follow from the shape. */
int64_t picked_workspace(const picked_kernels *k, const picked_conv *s, bool data);
int64_t picked_scratch(const picked_kernels *k, const picked_conv *s, bool data);
int64_t picked_pieces(const picked_kernels *k, const picked_conv *s, bool data, int stage);
void picked_piece(const picked_sum *p, int stage, int64_t piece);
/* data, large: the last stage for samples, planes and rows [lo, hi), rather than a piece. */
void picked_rows(const picked_sum *p, const int64_t lo[3], const int64_t hi[3]);

#endif
