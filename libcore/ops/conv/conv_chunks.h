/* conv_chunks.h - a convolution divided into chunks that one thread each computes, and what lies
 * outside x written out. The chunks follow from the form alone. */
#ifndef CONV_CHUNKS_H
#define CONV_CHUNKS_H
#include "ops/conv/conv_form.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Some samples whole, or rows (positions along the first spatial dimension) of one sample. Within
 * it, x = stride o + dilation t - lo again, counted from its own first rows; hi likewise. */
typedef struct conv_chunk {
  int64_t first, n; /* samples */
  int64_t x_first, x_rows, y_first, y_rows;
  int64_t lo, hi;
} conv_chunk;

/* Chunks of rows of y (by data: of x): about `wanted` of them, fewer where there are fewer rows. */
typedef struct conv_chunking {
  int64_t samples, rows; /* of one chunk, but for the last */
  int64_t n_samples, n_rows, count;
} conv_chunking;
conv_chunking conv_chunking_make(const conv_form *f, int64_t wanted);
/* Chunk number i of [0, count); false where it would be made of padding alone. */
bool conv_chunking_chunk(const conv_form *f, const conv_chunking *chunking, int64_t i,
                         conv_chunk *chunk);

/* The convolution without border rules: dimensions that have one are written out in `inner`, whose
 * x is larger. Returns true when there are some. */
bool conv_pad_form(const conv_form *f, conv_form *inner);
/* Elements of one row (n, position along the first spatial dimension) of inner's x. */
int64_t conv_row_size(const conv_form *f);
/* Writes row `row` of sample n of inner's x, from that of f; both of x_dtype, packed. */
void conv_pad_row(const conv_form *f, const conv_form *inner, const void *x, int64_t n, int64_t row,
                  void *padded);
/* Writes row `row` of sample n of f's x, f32, to `sums`: each element the sum of inner's elements
 * that stand for it, in their order. */
void conv_fold_row(const conv_form *f, const conv_form *inner, const float *padded, int64_t n,
                   int64_t row, float *sums);

#ifdef __cplusplus
}
#endif
#endif
