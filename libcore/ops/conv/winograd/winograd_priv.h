/* winograd_priv.h - convolutions of kernel size 3 and stride 1 by Winograd's minimal filtering
 * F(2, 3), of f32 or bf16 (Lavin and Gray, arXiv:1509.09308).
 *
 *   y[n, o, c] = sum over tap, r of x[n, o + tap - lo, r] w[tap, r, c]
 *
 * Two outputs of one dimension take 4 products instead of 6: y = A' [(G w) (B' x)], of 4 elements x
 * and 3 weights. In three dimensions a tile of 2 x 2 x 2 outputs takes 64 products per pair of
 * channels instead of 216, in two dimensions 16 instead of 36. Channels lie side by side, so that
 * the transforms B', A' and G add whole vectors of channels, and the products of each of the 64
 * points are those of two matrices, [tiles, r] and [r, c]. The gradient by x is such a sum, of y
 * and the turned weights; the gradient by w is
 *
 *   dw[tap, r, c] = G' [sum over tiles of (B' x) (A dy)]
 *
 * Operands in bf16 are transformed in f32, rounded to bf16 and multiplied in pairs, which are added
 * up in f32.
 *
 * Every sum has an order that follows from the shape and the length of vectors, never from threads.
 * Rounding errors are relative to the largest elements that a tile reads, not to those of one
 * output. Where a tile makes a result that is not finite, its outputs are summed again without
 * transforms, so that NaN and infinity reach the outputs that read them and no others. */
#ifndef WINOGRAD_PRIV_H
#define WINOGRAD_PRIV_H
#include "base/weir_bf16.h"
#include "ops/conv/unit/conv_unit.h"

/* Most outputs and weights of a tile; tiles of a column, one after the other along dimension 0,
 * which share planes of x, and these planes. */
enum {
  WINOGRAD_OUTPUTS = 8,
  WINOGRAD_TAPS = 27,
  WINOGRAD_COLUMN = 4,
  WINOGRAD_PLANES = 2 * WINOGRAD_COLUMN + 2
};

/* Planes that a column reads. */
static inline int winograd_planes(bool deep, int tiles)
{
  return deep ? 2 * tiles + 2 : tiles;
}

/* Two or three dimensions; 3 taps along dimension 0, which is transformed then, or 1. */
static inline bool winograd_deep(const conv_unit *s)
{
  return s->taps[0] == 3;
}

/* ---- Vector code, one table an instruction set. ---- */

/* What a product sums over lies in words of 4 bytes: one number in f32, or two neighbours in bf16.
 */
typedef uint32_t winograd_word;

/* c[row, column] = or += sum over k of a[row, k] b[k, column], columns in whole vectors; b in
 * panels of two vectors. k counts words. */
typedef struct winograd_product {
  const winograd_word *a, *b;
  float *c;
  int64_t rows, k, vectors;
  int64_t a_row, a_k; /* one of them is 1 */
  int64_t b_k, b_panel, c_row;
  bool adds;
} winograd_product;

/* How transforms are stored. Of f32 all are the same. */
typedef enum winograd_store {
  WINOGRAD_ALONG, /* neighbours in a word are channels */
  WINOGRAD_FIRST, /* they are tiles, or channels read of weights: this one comes first, and the
                     other is 0 until it is stored */
  WINOGRAD_SECOND
} winograd_store;

/* B' x of a column of tiles, point i of tile t at to + i step + t tile_step, in whole vectors.
 * points: addresses of the elements that it reads, [planes, 4, 4]. */
typedef struct winograd_column {
  const void *points[16 * WINOGRAD_PLANES];
  int tiles;
  winograd_store store; /* of the first; FIRST and SECOND alternate: tile_step is that of a pair */
  int64_t channels, step, tile_step;
  winograd_word *to;
} winograd_column;

typedef struct winograd_kernels {
  int64_t lanes, rows; /* rows of a product that are summed at a time */
  int64_t terms;       /* numbers in a word: 1, operands are f32, or 2, they are bf16 */
  bool tiles;          /* products are those of tiles (AMX) */
  void (*product)(const winograd_product *p);
  /* By `deep`, as all that follow. */
  void (*read[2])(const winograd_column *column);
  /* Writes A y of the outputs of a tile, as `read`. */
  void (*spread[2])(const void *const *points, int64_t channels, winograd_word *to, int64_t step,
                    winograd_store store);
  /* Writes A' m to the outputs that are not NULL; returns whether all are finite. By whether they
   * are bf16, too (terms: 2). */
  bool (*made[2][2])(const float *from, int64_t step, int64_t channels, void *const *outputs);
  /* One vector of channels made and one channel read: G w of taps [taps, lanes], and G' m. */
  void (*weights[2])(const float *taps, winograd_word *to, int64_t step, winograd_store store);
  void (*back[2])(const float *from, int64_t step, float *taps, int64_t taps_step);
  /* Of bf16, else NULL: words of two rows, of which the second may be NULL, which counts as 0; and
   * `n` numbers, whole vectors, rounded; denormal numbers become 0. */
  void (*pair)(const weir_bf16 *first, const weir_bf16 *second, int64_t n, winograd_word *to);
  void (*round)(const float *from, int64_t n, weir_bf16 *to);
} winograd_kernels;

extern const winograd_kernels weir_winograd_avx2, weir_winograd_avx512, weir_winograd_avx512bf16,
    weir_winograd_amx;
/* The best that this processor runs for operands of this dtype, f32 or bf16, or NULL. */
const winograd_kernels *winograd_kernels_get(weir_dtype dtype);

/* ---- The sums, in stages of pieces that may run at the same time. ---- */

/* Reads x and w (weights: x and y), and writes y (weights: w). workspace: winograd_workspace bytes,
 * of the run; scratch: winograd_scratch bytes, of the thread; both 64-byte aligned, whatever they
 * hold. */
typedef struct winograd_sum {
  const winograd_kernels *k;
  const conv_unit *s;
  bool weights; /* the gradient by w is made                 */
  bool half;    /* in bf16, as operands are then; else in f32 */
  const void *x;
  void *y, *w;
  int64_t first[3]; /* sample and elements of the first two dimensions that y points at */
  void *workspace, *scratch;
} winograd_sum;

/* Tiles of outputs [lo, hi) of samples and the first two dimensions; lo even where it is tiled. */
typedef struct winograd_box {
  int64_t lo[3], hi[3];
} winograd_box;

/* Products of the sum: multiply-adds, for the prediction of its time. */
double winograd_products(const conv_unit *s);
/* Tiles in all. */
int64_t winograd_tiles(const conv_unit *s);
int64_t winograd_workspace(const winograd_kernels *k, const conv_unit *s, bool weights);
int64_t winograd_scratch(const winograd_kernels *k, const conv_unit *s, bool weights);
/* Pieces of a stage, 0 after the last; they follow from the shape and the length
 * of vectors. */
int64_t winograd_pieces(const winograd_kernels *k, const conv_unit *s, bool weights, int stage);
void winograd_piece(const winograd_sum *f, int stage, int64_t piece);
/* The last stage of y, for a box rather than a piece. */
void winograd_rows(const winograd_sum *f, const winograd_box *box);

/* ---- Shared by both sources. ---- */

/* A tile: its sample and first output. */
typedef struct winograd_tile {
  int64_t n, o[3];
} winograd_tile;

static inline int64_t winograd_min(int64_t a, int64_t b)
{
  return a < b ? a : b;
}
static inline int64_t winograd_up(int64_t a, int64_t b)
{
  return (a + b - 1) / b * b;
}
/* Words of n numbers. */
static inline int64_t winograd_words(const winograd_kernels *k, int64_t n)
{
  return (n + k->terms - 1) / k->terms;
}
/* Bytes of an element of an operand, and of what is made. */
static inline int64_t winograd_read_size(const winograd_sum *f)
{
  return 4 / f->k->terms;
}
static inline int64_t winograd_made_size(const winograd_sum *f)
{
  return f->half ? 2 : 4;
}
/* Element `at` of an operand, and of what is made. */
static inline float winograd_get(const winograd_sum *f, const void *from, int64_t at)
{
  return f->k->terms == 2 ? weir_f32_from_bf16(((const weir_bf16 *)from)[at])
                          : ((const float *)from)[at];
}
static inline void winograd_set(const winograd_sum *f, void *to, int64_t at, float value)
{
  if (f->half) {
    ((weir_bf16 *)to)[at] = weir_bf16_from_f32(value);
  } else {
    ((float *)to)[at] = value;
  }
}
static inline int winograd_points(const conv_unit *s)
{
  return winograd_deep(s) ? 64 : 16;
}
/* Outputs of a tile, and along dimension d. */
static inline int winograd_outputs_of(const conv_unit *s)
{
  return winograd_deep(s) ? 8 : 4;
}

static inline int64_t winograd_size(const conv_unit *s, int d)
{
  return d > 0 || winograd_deep(s) ? 2 : 1;
}
/* Tile `at` of the box: along dimension 0 they are neighbours, then along the last. */
winograd_tile winograd_tile_at(const conv_unit *s, const winograd_box *box, int64_t at);
/* Transforms what tiles [from, to) of the box read, as winograd_column. none: zeros, for elements
 * that are not there. */
void winograd_read(const winograd_sum *f, const winograd_box *box, int64_t from, int64_t to,
                   const void *none, winograd_word *read, int64_t step);
/* Brings elements of x and y that tiles [from, to) read and write closer, a part of `parts`: their
 * rows are too many for the processor to foresee them. */
void winograd_prefetch(const winograd_sum *f, const winograd_box *box, int64_t from, int64_t to,
                       int part, int parts);
/* Where the outputs of a tile lie; NULL: beyond the ends of the box or of y. */
void winograd_outputs(const winograd_sum *f, const winograd_box *box, const winograd_tile *t,
                      void **outputs);
/* Words between two points of `rows` rows of `words`: not a multiple of a page, which would
 * put all points of a tile into one set of the cache. */
int64_t winograd_step(int64_t rows, int64_t words);
/* Tiles whose transforms are held at a time, beside all weights; `weights`: beside sums as many. */
int64_t winograd_block(const winograd_kernels *k, const conv_unit *s, bool weights);

/* winograd_weights.c: the stages of the gradient by w. */
int64_t winograd_weights_workspace(const winograd_kernels *k, const conv_unit *s);
int64_t winograd_weights_scratch(const winograd_kernels *k, const conv_unit *s);
int64_t winograd_weights_pieces(const winograd_kernels *k, const conv_unit *s, int stage);
void winograd_weights_piece(const winograd_sum *f, int stage, int64_t piece);

#endif
