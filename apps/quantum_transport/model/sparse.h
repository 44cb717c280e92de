/* sparse.h - complex sparse matrices, row by row (CSR): Hamiltonians, overlaps, dynamical
 * matrices. */
#ifndef QT_SPARSE_H
#define QT_SPARSE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_complex.h"
#include "base/weir_status.h"

/* All zero is an empty matrix of 0 x 0; owns its arrays (qt_sparse_fini). */
typedef struct qt_sparse {
  int64_t rows, columns;
  int64_t *start;   /* [rows + 1] where each row begins in the arrays below, and the end */
  int64_t *column;  /* [start[rows]] ascending within a row                              */
  weir_c128 *value; /* [start[rows]]                                                     */
} qt_sparse;

/* Elements in any order, to make a matrix of. All zero is empty; the first failure is kept and
 * returned by qt_sparse_create. */
typedef struct qt_entry {
  int64_t row, column;
  weir_c128 value;
} qt_entry;
typedef struct qt_entries {
  qt_entry *item;
  int64_t count, capacity;
  weir_status status;
} qt_entries;
void qt_entries_add(qt_entries *e, int64_t row, int64_t column, weir_c128 value);
void qt_entries_fini(qt_entries *e);

/* Creates the matrix of these elements; those of one position are summed in the order of their
 * addition. Sorts the entries. Fails: WEIR_ERR_SHAPE (an element outside the matrix),
 * WEIR_ERR_NUMERIC (NaN or infinite; both name row and column, counted from 0), WEIR_ERR_MEMORY;
 * *out is then empty. */
weir_status qt_sparse_create(int64_t rows, int64_t columns, qt_entries *entries,
                             qt_sparse *out) WEIR_CHECKED;
void qt_sparse_fini(qt_sparse *m);

int64_t qt_sparse_count(const qt_sparse *m); /* stored elements */
weir_c128 qt_sparse_get(const qt_sparse *m, int64_t row, int64_t column);
/* Adds: out [rows, columns] (dense, row by row) += factor times the block that begins at (row,
 * column). The block lies inside the matrix. */
void qt_sparse_add_block(const qt_sparse *m, int64_t row, int64_t column, weir_c128 factor,
                         int64_t rows, int64_t columns, weir_c128 *out);
/* Copies the block as a sparse matrix of its own. Fails: WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_sparse_block(const qt_sparse *m, int64_t row, int64_t column, int64_t rows,
                            int64_t columns, qt_sparse *out) WEIR_CHECKED;
/* Returns the largest |a_ij - conj(b_ji)| and where: 0 when b is the conjugate transpose of a. */
double qt_sparse_adjoint_error(const qt_sparse *a, const qt_sparse *b, int64_t *row,
                               int64_t *column);
/* Returns the largest |a_ij|; 0 of an empty matrix. */
double qt_sparse_max(const qt_sparse *m);

#endif
