/* packed_priv.h - products of complex matrices by own code: panels are packed, a register block is
 * summed at a time (Goto and van de Geijn 2008). Small products, and any affine indices.
 *
 *   C[s, m, n] = sum over k of A[s, m, k] B[s, k, n]
 *
 * where s, m, n and k each stand for any number of labels. A panel of A is [depth, rows] pairs, one
 * of B [depth, re | im, width], so that vectors run along n. The order of every sum follows from k
 * alone: never from threads, from how C falls into pieces, or from the instruction set. */
#ifndef PACKED_PRIV_H
#define PACKED_PRIV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of a register block, at most; vectors of it along n, at most. */
enum { PACKED_ROWS = 6, PACKED_VECTORS = 2 };

/* Elements of a panel: element [i, j] lies at from + row[i] + column[j] elements. `joined`: columns
 * (of B and C, those along n) lie one after the other. */
typedef struct packed_from {
  const void *from;
  const int64_t *row, *column;
  int64_t rows, columns;
  bool joined;
} packed_from;

typedef struct packed_to {
  void *to;
  const int64_t *row, *column;
  int64_t rows, columns;
  bool joined, conj, add; /* of what is stored the conjugate; to what is there already */
} packed_to;

/* What one register block sums: a packed panel of A, or, where `column` is there, A itself, whose
 * element [i, k] lies at a + row[i] + column[k] elements. */
typedef struct packed_panels {
  const void *a, *b;
  const int64_t *row, *column;
  int64_t depth;
  const char *ahead[2];
  int64_t step;
} packed_panels;

/* Vector code of one dtype and instruction set. */
typedef struct packed_kernels {
  int64_t lanes, vectors; /* numbers of a vector; vectors of a full register block */
  /* To [columns, rows] pairs: the rows are those of A, the columns its k. */
  void (*pack_a)(void *to, const packed_from *a);
  /* To [rows, 2, width]: the rows are k; columns beyond those of B are 0. */
  void (*pack_b)(void *to, const packed_from *b, int64_t width, bool conj);
  /* block [rows, 2, width] = sum over depth. width: `lanes`, or `vectors` times that. Meanwhile the
   * lines at ahead[0] and [1] come nearer for each of depth, which moves both by `step` bytes. */
  void (*sum)(void *block, const packed_panels *p, int64_t rows, int64_t width);
  void (*store)(const packed_to *c, const void *block, int64_t width);
} packed_kernels;

extern const packed_kernels weir_packed_c64_avx2, weir_packed_c128_avx2;
extern const packed_kernels weir_packed_c64_avx512, weir_packed_c128_avx512;

#endif
