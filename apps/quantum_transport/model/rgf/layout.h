/* layout.h - where the blocks of a block-tridiagonal matrix lie in one array of c128 numbers, and a
 * matrix that is read block by block.
 *
 * Blocks may differ in size. Each lies row by row without gaps: diagonal 0, (0, 1), (1, 0),
 * diagonal 1, (1, 2), (2, 1), ... */
#ifndef QT_LAYOUT_H
#define QT_LAYOUT_H
#include <stdint.h>
#include "base/weir_complex.h"
#include "base/weir_status.h"

typedef struct qt_layout {
  int64_t n_blocks, n; /* blocks, and rows in all                            */
  int64_t max;         /* rows of the largest block                          */
  int64_t count;       /* elements of all blocks                             */
  int64_t diagonal_count;
  int64_t *block;    /* [n_blocks + 1] first row of each block, and n        */
  int64_t *offset;   /* [n_blocks] first element of a diagonal block         */
  int64_t *diagonal; /* [n_blocks] the same where diagonal blocks lie alone  */
} qt_layout;
/* Rows of a block at most: libraries count elements of a block, and of two side by side, in 32
 * bits. */
enum { QT_LAYOUT_MAX_ROWS = 32767 };
/* Creates a layout. block: [n_blocks + 1], ascending from 0. Fails: WEIR_ERR_SHAPE (a block without
 * rows, or with too many), WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_layout_create(int64_t n_blocks, const int64_t *block, qt_layout *out) WEIR_CHECKED;
void qt_layout_fini(qt_layout *l);

static inline int64_t qt_layout_rows(const qt_layout *l, int64_t block)
{
  return l->block[block + 1] - l->block[block];
}
/* Returns the first element of block (row, column), which differ by at most 1. */
static inline int64_t qt_layout_at(const qt_layout *l, int64_t row, int64_t column)
{
  const int64_t first = row < column ? row : column, n = qt_layout_rows(l, first);

  return l->offset[first] + (row == column  ? 0
                             : row < column ? n * n
                                            : n * n + n * qt_layout_rows(l, first + 1));
}

/* A matrix that is read block by block: writes block (row, column), which differ by at most 1, to
 * out [rows, columns], row by row. */
typedef struct qt_blocks {
  void (*read)(const void *context, int64_t row, int64_t column, weir_c128 *out);
  const void *context;
} qt_blocks;

#endif
