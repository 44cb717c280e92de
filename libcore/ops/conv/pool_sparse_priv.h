/* pool_sparse_priv.h - gradients of a convolution whose result only maxima over windows saw: of a
 * window one element, its argmax, has a gradient: one in eight for 2 x 2 x 2. f32.
 *
 * y[n, o, c] are the gradients of the maxima and argmax[n, o, c] their row-major positions
 * in the window, a byte each; no element where it is the number of positions or more. With e =
 * window o + position + tap - lo, taken only where 0 <= e < extent:
 *
 *   weights   w[tap, i, c] = sum over n, o of x[n, e, i] y[n, o, c]
 *   data      x[n, e, i] = sum over o, tap, c that give e of w[tap, i, c] y[n, o, c]
 *
 * Products are those of selected elements alone. Channels lie side by side. The order of every sum
 * follows from the shape alone, never from threads, boxes or vector width; partial sums
 * over positions are merged pairwise. */
#ifndef POOL_SPARSE_PRIV_H
#define POOL_SPARSE_PRIV_H
#include "ops/conv/pool_sparse_sum.h"

/* Returns the best vector code that this processor runs, or NULL. */
const pool_sparse_kernels *pool_sparse_kernels_get(void);

/* ---- The two sums, in stages of pieces that may run at the same time. ---- */

enum { POOL_SPARSE_STAGES = 2 };

/* True when the vector code takes the shape. */
bool pool_sparse_takes(const pool_sparse_conv *s);
/* Bytes, of all and of one thread; pieces of a stage: they follow from the shape. */
int64_t pool_sparse_workspace(const pool_sparse_kernels *k, const pool_sparse_conv *s, bool data);
int64_t pool_sparse_scratch(const pool_sparse_kernels *k, const pool_sparse_conv *s, bool data);
int64_t pool_sparse_pieces(const pool_sparse_kernels *k, const pool_sparse_conv *s, bool data,
                           int stage);
void pool_sparse_piece(const pool_sparse_sum *p, int stage, int64_t piece);
/* data, large: the last stage for samples, planes and rows [lo, hi), rather than a piece. */
void pool_sparse_rows(const pool_sparse_sum *p, const int64_t lo[3], const int64_t hi[3]);

#endif
