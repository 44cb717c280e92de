/* pool_sparse_layout.h - sizes of pool_sparse_priv.h that follow from the shape, and what both sums
 * need of them. */
#ifndef POOL_SPARSE_LAYOUT_H
#define POOL_SPARSE_LAYOUT_H
#include <string.h>

#include "ops/conv/pool_sparse_sum.h"

/* BLOCK: channels of y of a piece; WRITTEN: of a piece of the merge; PLANES, ROWS: of x, made at a
 * time. */
enum {
  BLOCK = 64,
  WRITTEN = 16,
  PLANES = 2,
  ROWS = 16,
  MAX_WINDOW = 64,
  MAX_ROWS = 16,
  MAX_WIDE = 32,
  MAX_WINDOWS = MAX_ROWS * MAX_WIDE,
  MAX_KERNEL = 16,
  LINE = 16 /* floats */
};

/* Floats. */
typedef struct pool_sparse_layout {
  int64_t chunk, chunks; /* channels of x at a time */
  int64_t runs, length,
      row;      /* kernel elements but for the last dimension's; floats of those, and as vectors */
  int64_t sums; /* rows of all runs */
  int64_t positions; /* of a window */
  /* Weights. */
  int64_t blocks, partials;     /* blocks of channels of y; partial sums over planes */
  int64_t windows[2];           /* of a patch: rows, and in a row */
  int64_t patch[3], patch_size; /* extents */
  /* Data. */
  bool whole; /* a chunk at a time of all x, its weights packed as they are met: where no
                 fewer pieces than those of rows come of it */
  int64_t columns, made_size; /* of a row of x in the making; of all rows of a block */
} pool_sparse_layout;

pool_sparse_layout pool_sparse_layout_of(const pool_sparse_kernels *k, const pool_sparse_conv *s,
                                         bool data);

/* to[i, j] = from[i, j], i < n, j < m, the steps of both as given. */
void pool_sparse_move(const pool_sparse_kernels *k, const float *from, const int64_t from_step[2],
                      float *to, const int64_t to_step[2], int64_t n, int64_t m);

/* Stages and their pieces; floats of all and of one thread (pool_sparse_weights.c,
 * pool_sparse_data.c). */
int64_t pool_sparse_weights_pieces(const pool_sparse_conv *s, const pool_sparse_layout *l,
                                   int stage);
int64_t pool_sparse_weights_workspace(const pool_sparse_conv *s, const pool_sparse_layout *l);
int64_t pool_sparse_weights_scratch(const pool_sparse_layout *l);
void pool_sparse_weights_piece(const pool_sparse_sum *p, const pool_sparse_layout *l, int stage,
                               int64_t piece);
int64_t pool_sparse_data_pieces(const pool_sparse_conv *s, const pool_sparse_layout *l, int stage);
int64_t pool_sparse_data_workspace(const pool_sparse_conv *s, const pool_sparse_layout *l);
int64_t pool_sparse_data_scratch(const pool_sparse_conv *s, const pool_sparse_layout *l);
void pool_sparse_data_piece(const pool_sparse_sum *p, const pool_sparse_layout *l, int stage,
                            int64_t piece);
/* As pool_sparse_rows. */
void pool_sparse_data_rows(const pool_sparse_sum *p, const pool_sparse_layout *l,
                           const int64_t lo[3], const int64_t hi[3]);

static inline int64_t min_of(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t max_of(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static inline int64_t ceil_div(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* Pieces of x of PLANES and ROWS. */
static inline int64_t pool_sparse_row_pieces(const pool_sparse_conv *s)
{
  return s->n * ceil_div(s->x[0], PLANES) * ceil_div(s->x[1], ROWS);
}

static inline int64_t lines_of(int64_t floats)
{
  return ceil_div(floats, LINE) * LINE;
}

/* Where the weights of tap t, row-major over three dimensions, lie. */
static inline int64_t weight_at(const pool_sparse_conv *s, int64_t t)
{
  return t / s->kernel_size[2] / s->kernel_size[1] * s->w_step[0] +
         t / s->kernel_size[2] % s->kernel_size[1] * s->w_step[1] +
         t % s->kernel_size[2] * s->w_step[2];
}

static inline void copy(float *to, const float *from, int64_t n)
{
  memcpy(to, from, (size_t)n * sizeof *to);
}

static inline void clear(float *to, int64_t n)
{
  memset(to, 0, (size_t)n * sizeof *to);
}

#endif
