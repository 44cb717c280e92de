/* wire.h - a system that repeats one cell along x, with leads that continue it. */
#ifndef QT_WIRE_H
#define QT_WIRE_H
#include "model/system.h"

/* Matrix element between an orbital of a cell (row) and one of the cell `offset` cells away along
 * x, y and z (column). */
typedef struct qt_element {
  int64_t row, column, offset[3];
  weir_c128 value;
} qt_element;
/* In any order; those of one position are summed. All zero is empty; the first failure is kept and
 * returned by qt_wire_create. */
typedef struct qt_elements {
  qt_element *item;
  int64_t count, capacity;
  weir_status status;
} qt_elements;
void qt_elements_add(qt_elements *e, int64_t row, int64_t column, const int64_t offset[3],
                     weir_c128 value);

/* One cell and its coupling to its neighbours. All zero is empty; owns its arrays (qt_wire_fini).
 */
typedef struct qt_wire {
  qt_particle particle;
  int64_t n;            /* orbitals of a cell                                     */
  qt_elements elements; /* Hermitian: each with its conjugate at the opposite offset */
  int64_t n_atoms;
  qt_atom *atom;     /* [n_atoms] of the cell at x = 0                         */
  double cell[3][3]; /* Angstrom; rows                                         */
  bool periodic[3];  /* y and z                                                */
} qt_wire;
void qt_wire_fini(qt_wire *w);

/* n_cells cells in a row, each a block, and leads of the same cell. onsite: [n_cells n], added to
 * the diagonal of the device; NULL: nothing. lead_onsite: added to the diagonals of the leads. *out
 * arrives all zero and is finished by the caller, on failure too.
 * Fails: WEIR_ERR_SHAPE (elements outside the cell, or between cells that are no neighbours along
 * x), WEIR_ERR_CONFIG (a device too large to be numbered), WEIR_ERR_NUMERIC, WEIR_ERR_MEMORY. */
weir_status qt_wire_create(const qt_wire *w, int64_t n_cells, const double *onsite,
                           const double lead_onsite[QT_LEADS], qt_system *out) WEIR_CHECKED;

#endif
