/* tiles_priv.h - convolutions of bf16 of stride 1 by tiles (AMX): all their products, of rows that
 * are read where they lie.
 *
 *   y[n, o, c] = sum over tap, r of x[n, o + tap - lo, r] w[tap, r, c]
 *
 * A block of x is copied into a cache, its borders and channels filled up with zeros. There a
 * position is a line, and the lines of all taps of 16 neighbouring outputs lie a fixed number of
 * bytes apart: each is a tile of 16 positions by 32 channels, without any copy of windows. Outputs
 * are counted with the positions that borders add to a row; what comes out for those is dropped.
 *
 *   dw[tap, r, c] = sum over n, o of x[n, o + tap - lo, r] y[n, o, c]
 *
 * sums over positions: y is turned, [c, positions], and two neighbours of x are put together in a
 * word, [positions / 2, r, 2]. For odd taps y is turned again, one position later.
 *
 * Products are summed in f32, in an order that follows from the shape (by weights also from the
 * size of the cache), never from threads. Denormal numbers count as 0. A result that is not finite
 * is summed again of the elements that meet alone, in double precision. */
#ifndef TILES_PRIV_H
#define TILES_PRIV_H
#include "base/weir_bf16.h"
#include "ops/conv/unit/conv_unit.h"

/* Rows of a tile; twice as many: numbers of a row, and positions and channels that are made at a
 * time, in four tiles. Most taps of a kernel. */
enum { TILES_SIDE = 16, TILES_WIDE = 32, TILES_SUMS = TILES_WIDE * TILES_WIDE, TILES_TAPS = 343 };

/* Four tiles of sums, [positions or channels made, channels made or read] of which the second rows
 * and columns may be left out. */
typedef struct tiles_product {
  const weir_bf16 *a, *b;
  int64_t a_line;      /* outputs: bytes between positions                  */
  const int64_t *a_at; /* [taps] elements of a; weights: NULL               */
  int64_t taps, depth; /* weights: along the last dimension; tiles along the sum: of each tap;
                          weights: of each plane */
  /* Weights: planes and elements between them; to the second rows and columns, and to a that is a
   * position late. */
  int64_t planes, a_step, b_step, a_second, b_second, a_late;
  bool wide, tall; /* there are second columns, rows                    */
  bool adds;       /* to sums that are there (weights)                  */
  float *sums;     /* outputs: [32, 32]; weights: [taps, 2, 2, 16, 16]  */
} tiles_product;

/* What needs the instructions. */
typedef struct tiles_code {
  /* Before the first product of a thread, and after the last: tiles as another library left them.
   */
  void (*begin)(void *others);
  void (*end)(const void *others);
  void (*outputs)(const tiles_product *p);
  void (*weights)(const tiles_product *p);
  /* Writes rows of sums of n channels to those of 32 positions that are not NULL, as bf16 or f32;
   * returns the positions with a number that is not finite. */
  uint32_t (*store)(const float *sums, int64_t n, void *const *to, bool half);
  /* Positions [2 pairs, channels] as words, [channels / 16, .., pairs, 16, 2]: step elements
   * between 16 channels. */
  void (*pair)(const weir_bf16 *from, int64_t pairs, int64_t channels, weir_bf16 *to, int64_t step);
  /* 32 positions, line elements apart, of 16 channels: [16, 32]. */
  void (*turn)(const weir_bf16 *from, int64_t line, weir_bf16 *to);
} tiles_code;
enum { TILES_OTHERS = 64 }; /* bytes that begin writes */

extern const tiles_code weir_tiles_amx;
/* NULL: this processor does not multiply tiles. */
const tiles_code *tiles_code_get(void);

/* Reads x and w (weights: x and y), and writes y (weights: w). workspace: tiles_workspace bytes, of
 * the run; scratch: tiles_scratch bytes, of the thread; both 64-byte aligned, whatever they hold.
 */
typedef struct tiles_sum {
  const tiles_code *k;
  const conv_unit *s;
  bool weights; /* the gradient by w is made           */
  bool half;    /* in bf16; else in f32                */
  const weir_bf16 *x;
  void *y, *w;
  int64_t first[3]; /* sample and elements of the first two dimensions that y points at */
  void *workspace, *scratch;
} tiles_sum;

/* Whether the shape is one for these kernels. */
bool tiles_fit(const conv_unit *s);
int64_t tiles_workspace(const conv_unit *s, bool weights);
int64_t tiles_scratch(const conv_unit *s, bool weights);
/* Pieces of a stage, 0 after the last. */
int64_t tiles_pieces(const conv_unit *s, bool weights, int stage);
void tiles_piece(const tiles_sum *f, int stage, int64_t piece);
/* The last stage of y for samples, planes and rows [lo, hi) rather than a piece. */
void tiles_rows(const tiles_sum *f, const int64_t lo[3], const int64_t hi[3]);

/* ---- Shared by both sources. ---- */

/* Outputs of a block, and what is read for them: rows of `width` positions (even). */
typedef struct tiles_block {
  int64_t planes, rows, read_planes, read_rows, width;
} tiles_block;

/* Channels of x [first, first + count), filled up to `depth`. */
typedef struct tiles_channels {
  int64_t first, count, depth;
} tiles_channels;

static inline int64_t tiles_min(int64_t a, int64_t b)
{
  return a < b ? a : b;
}
static inline int64_t tiles_up(int64_t a, int64_t b)
{
  return (a + b - 1) / b * b;
}
static inline int64_t tiles_parts(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}
static inline int64_t tiles_taps(const conv_unit *s)
{
  return s->taps[0] * s->taps[1] * s->taps[2];
}
/* The largest block of which all positions that are read, of `channels` numbers, take at most
 * `bytes`, or one row. */
tiles_block tiles_block_of(const conv_unit *s, int64_t channels, int64_t bytes);
/* That of outputs. */
tiles_block tiles_block_get(const conv_unit *s);
/* Writes a row of x with its borders, [width, depth]. */
void tiles_read(const tiles_sum *f, const tiles_block *b, const tiles_channels *c, int64_t n,
                int64_t plane, int64_t row, weir_bf16 *to);
/* Elements of x at an output and a tap; -1: there are none. */
int64_t tiles_place(const conv_unit *s, int64_t n, const int64_t o[3], int64_t tap);

/* tiles_weights.c: the stages of the gradient by w. */
int64_t tiles_weights_workspace(const conv_unit *s);
int64_t tiles_weights_scratch(const conv_unit *s);
int64_t tiles_weights_pieces(const conv_unit *s, int stage);
void tiles_weights_piece(const tiles_sum *f, int stage, int64_t piece);

#endif
