/* bloch.h - matrices of transverse images made of files and of one another. */
#ifndef QT_BLOCH_H
#define QT_BLOCH_H
#include "io/weir_triplets.h"
#include "model/system.h"

/* A matrix of files for each of `count` images, image[i] in the order x, y, z of `vector` (lattice
 * vectors, from 0); row and column are position[row] and position[column] of n x n, or themselves
 * where NULL. */
typedef struct qt_images {
  int64_t n, count;
  const int64_t (*image)[3];
  const int *vector;
  const weir_triplets *matrix;
  const int64_t *position;
} qt_images;
/* Makes the matrices of the images `step` cells along x. *out arrives all zero; the caller finishes
 * it, on failure too. Fails: WEIR_ERR_MEMORY, and as qt_sparse_create. */
weir_status qt_bloch_of_images(const qt_images *in, int64_t step, qt_bloch *out) WEIR_CHECKED;

/* A block of a larger matrix: its first row and column. */
typedef struct qt_bloch_block_at {
  const qt_bloch *m;
  int64_t row, column;
  bool adjoint; /* the adjoint of such a block instead, at the mirrored position and image */
} qt_bloch_block_at;
/* Makes the n x n matrix of these blocks, which may overlap. *out as above. */
weir_status qt_bloch_of_blocks(int64_t n, const qt_bloch_block_at *blocks, int n_blocks,
                               qt_bloch *out) WEIR_CHECKED;
/* Extracts the block that begins at (row, column), of every image. *out as above. */
weir_status qt_bloch_block(const qt_bloch *m, int64_t row, int64_t column, int64_t n,
                           qt_bloch *out) WEIR_CHECKED;
/* Returns the largest difference of the blocks of n x n that begin at (row[0], column[0]) and
 * (row[1], column[1]). */
double qt_bloch_difference(const qt_bloch *m, int64_t n, const int64_t row[2],
                           const int64_t column[2]);
#endif
