/* pool_sparse_sum.h - a sum of pool_sparse_priv.h: its shape, its arrays, and the vector code that
 * it is made with. */
#ifndef POOL_SPARSE_SUM_H
#define POOL_SPARSE_SUM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pool_sparse_conv {
  int64_t n, in, out; /* samples; channels of x, of y            */
  int64_t x[3], y[3], kernel_size[3], lo[3], window[3]; /* extents; y: of the maxima             */
  int64_t x_step[4], y_step[4], argmax_step[4]; /* between neighbours along n and the dimensions */
  int64_t w_step[5];                            /* those of w: kernel, in, out              */
} pool_sparse_conv;

/* Returns whether x does not stay in cache anyway: rows of it may be made by themselves. */
bool pool_sparse_large(const pool_sparse_conv *s);

/* ---- Vector code, one table an instruction set. ---- */

/* sums[r][v] += sum over k of by[k] * from[at[k] + run[r] + v], r < rows, v < vectors of lanes. */
typedef struct pool_sparse_add {
  float *sums;
  const float *from;
  const int64_t *run;
  const int32_t *at;
  const float *by;
  int64_t count, sum_step; /* sum_step: of one row of sums to the next */
} pool_sparse_add;

typedef void pool_sparse_add_run(const pool_sparse_add *a);

/* A row of windows. Position g of window i adds to the vectors of `to` from step (wide i + g) on,
 * g < wide, what its channels have: those of [begin[g], begin[g + 1]) of by and at, which are
 * offsets in `from`. */
typedef struct pool_sparse_row {
  float *to;
  const float *from, *by;
  const int32_t *at, *begin;
  int64_t windows, wide, step;
  int64_t channels, begin_step; /* of by and at, and of begin, from one window to the next */
} pool_sparse_row;

typedef void pool_sparse_row_run(const pool_sparse_row *r);

/* to[i to_step + j] = from[j from_step + i], i and j below lanes. */
typedef void pool_sparse_tile_run(const float *from, int64_t from_step, float *to, int64_t to_step);

typedef struct pool_sparse_kernels {
  int64_t lanes, vectors;          /* most vectors of a row                                  */
  const int64_t *rows;             /* [vectors]: most rows of 1, 2, .. vectors               */
  pool_sparse_row_run *const *row; /* [vectors] */
  pool_sparse_add_run *const *add; /* [vectors][POOL_SPARSE_ROWS]: of 1, 2, .. rows; NULL beyond  */
  pool_sparse_tile_run *tile;
} pool_sparse_kernels;

enum { POOL_SPARSE_ROWS = 9 };

extern const pool_sparse_kernels weir_pool_sparse_avx2, weir_pool_sparse_avx512;

/* ---- One of the two sums. ---- */

typedef struct pool_sparse_sum {
  const pool_sparse_kernels *k;
  const pool_sparse_conv *s;
  bool data; /* else weights */
  const float *x, *y, *w;
  float *made; /* x or w                             */
  const uint8_t *argmax;
  int64_t first[3]; /* data: sample, plane and row that `made` points at */
  void *workspace, *scratch;
} pool_sparse_sum;
#endif
