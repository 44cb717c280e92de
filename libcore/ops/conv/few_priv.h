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
 * stands for element `first + r` of the kernel elements x few elements that meet an output, or for
 * few_step elements more with each of `taps` kernel elements; `sums` are [elements, sum_step],
 * added to. */
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
 * elements, [kernel, blocks of channels, few, lanes], zero beyond the channels. ahead[i]: a row
 * that is read later and should come closer meanwhile. */
typedef struct few_narrow_row {
  const few_conv *s;
  const float *const *rows, *const *weights, *const *ahead;
  int64_t n_rows, n_ahead;
  int64_t near; /* rows at a time, at least 1: their weights stay in the first cache */
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
  int64_t rows[2]; /* accumulators of `weights`, with one vector of channels and two: at most */
  int64_t slides;  /* elements of `slide`, each with `taps` kernel elements: at most */
  int64_t taps;
  few_weights_run *const *weights[2]; /* [rows]: 1, 2, .. of them */
  few_weights_run *const *slide;      /* [slides]: one vector of channels, few_step = few */
  few_narrow_run *const *narrow;      /* [FEW_MAX]: 1, 2, .. channels */
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

#ifdef V_REGISTERS
/* ---- Register blocks of few_kernel.h, from V_LANES and V_REGISTERS of an instruction set. ----
 *
 * Processors with AVX2 or AVX-512 start at most V_PORTS multiply-adds and as many loads a cycle,
 * and a sum takes up its next product after V_LATENCY cycles: the ports are busy where V_PORTS
 * V_LATENCY sums do not depend on each other, in practice where V_CHAINS do not (Zen 4, AVX2, from
 * L1: 8 sums reach 0.89 of the peak, 10 reach 0.93, 12 reach 0.97), and where there is at most one
 * load for each multiply-add, a broadcast being one. A block is the largest that leaves registers
 * for what it multiplies. */
#define V_PORTS 2
#define V_LATENCY 4
#define V_CHAINS (V_PORTS * V_LATENCY + V_LATENCY)

#define FEW_LESS(a, b) ((a) < (b) ? (a) : (b))
#define FEW_MORE(a, b) ((a) > (b) ? (a) : (b))

/* Kernel elements along the last dimension that share what is read, where there are so many. */
#define V_TAPS 3

/* ---- weights ---- */

/* Accumulators of one vector of channels and of two: besides them there are the channels of an
 * output and a broadcast element. Elements whose accumulators for V_TAPS kernel elements share a
 * broadcast: besides them, the channels of as many outputs. */
#define V_ROWS_1 FEW_LESS(V_REGISTERS - 2, 16)
#define V_ROWS_2 ((V_REGISTERS - 3) / 2)
#define V_SLIDES ((V_REGISTERS - 1 - V_TAPS) / V_TAPS)

/* Calls X for each number of the three. */
#define EACH_4(X) X(1) X(2) X(3) X(4)
#define EACH_6(X) EACH_4(X) X(5) X(6)
#define EACH_9(X) EACH_6(X) X(7) X(8) X(9)
#define EACH_14(X) EACH_9(X) X(10) X(11) X(12) X(13) X(14)
#define EACH_15(X) EACH_14(X) X(15)
#define EACH_16(X) EACH_15(X) X(16)
#if V_REGISTERS == 32
#define ALL_ROWS_1 EACH_16
#define ALL_ROWS_2 EACH_14
#define ALL_SLIDES EACH_9
#else
#define ALL_ROWS_1 EACH_14
#define ALL_ROWS_2 EACH_6
#define ALL_SLIDES EACH_4
#endif

/* ---- narrow ---- */

/* Channels made from whose number on kernel elements do not share what is read: their weights would
 * take more registers than a third. */
#define V_SLIDE ((V_REGISTERS - 4) / 2 / V_TAPS)
/* Outputs at a time: besides their sums there are the weights of V_TAPS kernel elements and what is
 * read; else the fewer of the channels of an element and of the outputs, and one of the others. */
#define NARROW_SLIDE(few) \
  (FEW_LESS(FEW_MORE(V_LANES, V_CHAINS), V_REGISTERS - 1 - V_TAPS * (few)) / (few))
#define NARROW_WHOLE(few) ((V_REGISTERS - 1 - (few)) / (few))
#define NARROW_OUTPUTS(few)                         \
  ((few) <= V_SLIDE             ? NARROW_SLIDE(few) \
   : NARROW_WHOLE(few) >= (few) ? NARROW_WHOLE(few) \
                                : FEW_MORE((V_REGISTERS - 1) / ((few) + 1), 1))
/* Their sums, in vectors that are summed V_LANES at a time. */
#define V_SUMS V_REGISTERS
/* Tiles that share weights in the first cache: sums of that many take a quarter of one of 32 KiB.
 */
#define V_TILES (8192 / (V_SUMS * V_LANES * 4))

/* ---- widen ---- */

/* Outputs at a time, and those at the end of a row. */
#define V_WIDEN (V_REGISTERS == 32 ? 12 : 5)
#define V_REST (V_REGISTERS == 32 ? 4 : 2)
#endif

#endif
