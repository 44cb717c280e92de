/* bloch.h - matrices of transverse images made of files and of one another. */
#ifndef QT_BLOCH_H
#define QT_BLOCH_H
#include "io/weir_triplets.h"
#include "model/system.h"

/* A matrix of files for each of `count` images, image[i] in the order x, y, z of `vector` (lattice
 * vectors, from 0); row and column are places[0][row] and places[1][column] of n x n, or themselves
 * where NULL. */
typedef struct qt_images {
  int64_t n, count;
  const int64_t (*image)[3];
  const int *vector;
  const weir_triplets *matrix;
  const int64_t *place;
} qt_images;
/* Those of the images `step` cells along x. *out arrives all zero; the caller finishes it, on
 * failure too. Fails: WEIR_ERR_MEMORY, and as qt_sparse_create. */
weir_status qt_bloch_of_images(const qt_images *in, int64_t step, qt_bloch *out) WEIR_CHECKED;

/* A part of a larger matrix: where its first row and column stand. */
typedef struct qt_bloch_part {
  const qt_bloch *m;
  int64_t row, column;
  bool adjoint; /* the adjoint of such a part instead, at the mirrored place and image */
} qt_bloch_part;
/* The n x n matrix of these parts, which may overlap. *out as above. */
weir_status qt_bloch_of_parts(int64_t n, const qt_bloch_part *parts, int n_parts,
                              qt_bloch *out) WEIR_CHECKED;
/* The block that begins at (row, column), of every image. *out as above. */
weir_status qt_bloch_block(const qt_bloch *m, int64_t row, int64_t column, int64_t n,
                           qt_bloch *out) WEIR_CHECKED;
/* Largest difference of the blocks of n x n that begin at (row[0], column[0]) and (row[1],
 * column[1]). */
double qt_bloch_difference(const qt_bloch *m, int64_t n, const int64_t row[2],
                           const int64_t column[2]);
#endif
