/* coupling.h - off-diagonal blocks in products: as lists of their elements where most are 0,
 * as those of a tight-binding Hamiltonian are. */
#ifndef QT_COUPLING_H
#define QT_COUPLING_H
#include <stdbool.h>
#include <stdint.h>
#include "model/rgf/layout.h"

typedef struct qt_element {
  int32_t row, column;
  weir_c128 value;
} qt_element;

/* A block [rows, columns]; borrows its memory. */
typedef struct qt_coupling {
  int64_t rows, columns;
  weir_c128 *dense;
  qt_element *list;
  int64_t count; /* elements of the list; -1: too many for one */
  bool diagonal; /* element i of the list is (i, i), of all rows and columns */
} qt_coupling;
/* Returns the maximum number of elements of a list of blocks of up to that many rows. */
int64_t qt_coupling_workspace(int64_t max_rows);
/* Reads a block into dense and, where there are few elements, list: the memory that c has. */
void qt_coupling_read(const qt_blocks *m, int64_t row, int64_t column, int64_t rows,
                      int64_t columns, qt_coupling *c);
/* Computes out [rows, n] = c b, b [columns, n]. */
void qt_coupling_left(const qt_coupling *c, int64_t n, const weir_c128 *b, int64_t stride,
                      weir_c128 *out);
/* Computes out [m, columns] = a c, a [m, rows]; with adjoint [m, rows] = a c^H, a [m, columns]. */
void qt_coupling_right(int64_t m, const weir_c128 *a, int64_t stride, const qt_coupling *c,
                       bool adjoint, weir_c128 *out);

#endif
