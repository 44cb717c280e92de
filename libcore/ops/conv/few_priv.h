/* few_priv.h - convolutions with few channels on one side, f32: what several kernels share.
 *
 * One of the two fields has few channels (1 to FEW_MAX), the other usually many; channels lie side
 * by side. With in = stride out + tap - lo, taken only where 0 <= in < extent:
 *
 *   weights   w[tap, f, m] = sum over n, out of few[n, in, f] many[n, out, m]
 *   narrow    few[n, out, f] = sum over tap, m of many[n, in, m] w[tap, f, m]
 *   widen     many[n, out, m] = sum over tap, f of few[n, in, f] w[tap, f, m]
 *
 * Forward, the gradient of the data and that of the weights are these three, whichever side has few
 * channels: with stride 1 by steps of w that are negative, else class by class of positions modulo
 * the stride (few_class). The order of every sum follows from the shape alone, never from threads:
 * sums over positions are those of fixed chunks, merged pairwise. */
#ifndef FEW_PRIV_H
#define FEW_PRIV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FEW_PAIRS: most kernel elements of the first two dimensions together that `narrow` takes. */
enum { FEW_MAX = 15, FEW_LANES = 16, FEW_PAIRS = 64 };

typedef struct few_conv {
  int64_t batch, few, many;
  int64_t in[3], out[3]; /* extents                                                */
  int64_t kernel_size[3], stride[3], lo[3]; /* lo may be negative */
  int64_t in_step[4], out_step[4]; /* elements between neighbours along n and the dimensions */
  int64_t w_step[5];               /* those of w: kernel, few, many                            */
} few_conv;

/* ---- Vector code, one table an instruction set. ---- */

/* Rows of outputs that share their kernel elements along the first two dimensions. Accumulator r
 * stands for element `first + r` of the kernel elements x few elements that meet an output; `sums`
 * are [rows of accumulators, sum_step], added to. */
typedef struct few_weights_strip {
  const float *few, *many; /* the row of the field, not moved by lo; output 0 */
  float *sums;
  int64_t rows, few_row, many_row; /* how many; elements from one to the next       */
  int64_t few_step, many_step;     /* from one output of a row to the next          */
  int64_t first;                   /* element at output 0 of accumulator 0          */
  int64_t few_count, outputs;      /* elements of a row of the field; outputs of it */
  int64_t sum_step, channels;      /* channels: of `many`, at most two vectors      */
} few_weights_strip;

/* A row of outputs. rows[i]: a row of the field that is read; weights[i]: those of its kernel
 * elements, [kernel, blocks of channels, few, lanes], zero beyond the channels. */
typedef struct few_narrow_row {
  const few_conv *s;
  const float *const *rows, *const *weights;
  int64_t n_rows;
  float *out;
} few_narrow_row;

/* A row of outputs of at most two vectors of channels. rows[i]: a row of the field that is read;
 * weights[i]: those of its kernel elements, [kernel x few, vectors x lanes]. start: what the sums
 * begin with, a number a channel. */
typedef struct few_widen_row {
  const few_conv *s;
  const float *const *rows, *const *weights;
  int64_t n_rows, channels;
  const float *start;
  float *out;
} few_widen_row;

typedef void few_weights_run(const few_weights_strip *strip);
typedef void few_narrow_run(const few_narrow_row *row);
typedef void few_widen_run(const few_widen_row *row);

typedef struct few_kernels {
  int64_t lanes;
  int64_t rows; /* accumulators of `weights` per vector of channels: at most this many */
  few_weights_run *const *weights; /* [rows]: 1, 2, .. of them */
  few_narrow_run *const *narrow;   /* [FEW_MAX]: 1, 2, .. channels */
  few_widen_run *widen;
} few_kernels;

extern const few_kernels weir_few_avx2, weir_few_avx512;
/* The best that this processor runs, or NULL. */
const few_kernels *few_kernels_get(void);

/* ---- The three sums, in two stages of pieces that may run at the same time. ---- */

typedef enum few_kind { FEW_WEIGHTS, FEW_NARROW, FEW_WIDEN } few_kind;

/* Reads a and b, writes `out`: few, many -> w; many, w -> few; few, w -> many. Where few is read,
 * the steps of its last dimension are its channels. bias: of FEW_WIDEN, a number a channel, or
 * NULL. workspace: few_workspace bytes, 64-byte aligned, whatever they hold. */
typedef struct few_sum {
  few_kind kind;
  const few_kernels *k;
  const few_conv *s;
  const float *a, *b, *bias;
  float *out;
  int64_t first[3]; /* narrow, widen: sample, plane and row that `out` points at */
  void *workspace;
} few_sum;

enum { FEW_STAGES = 2 };

/* True when the vector code takes the shape. */
bool few_takes(few_kind kind, const few_conv *s);
/* Bytes; pieces of a stage, which follow from the extents, kernel size and channels alone. */
int64_t few_workspace(few_kind kind, const few_kernels *k, const few_conv *s);
int64_t few_pieces(few_kind kind, const few_kernels *k, const few_conv *s, int stage);
void few_piece(const few_sum *f, int stage, int64_t piece);
/* The last stage of narrow and widen for samples, planes and rows [lo, hi), rather than a piece. */
void few_rows(const few_sum *f, const int64_t lo[3], const int64_t hi[3]);
/* All of it on up to `threads` threads, as weir_parallel. */
void few_run(const few_sum *f, int threads);

/* Classes of the gradient by the data of a convolution `s` (as few_widen or few_narrow would run
 * it, in and out as there): the elements of the field that are `number[d]` modulo the stride.
 * Returns false when there are none. *in_at: where the first lies in the gradient, *w_at: in w. A
 * class without kernel elements is all 0. */
bool few_class(const few_conv *s, const int64_t number[3], few_conv *c, int64_t *in_at,
               int64_t *w_at);

#endif
