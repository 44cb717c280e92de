/* crystal.h - diamond crystals cut along cubic axes: atoms, bonds, missing bonds. */
#ifndef QT_CRYSTAL_H
#define QT_CRYSTAL_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "model/wire.h"

typedef struct qt_bond {
  int64_t atom;      /* neighbour, -1: missing                        */
  int64_t offset[3]; /* its cell relative to that of the atom itself  */
  double vector[3];  /* to the neighbour, or where it would be        */
} qt_bond;
typedef struct qt_crystal_atom {
  double position[3];
  qt_bond bond[4];
} qt_crystal_atom;

/* A periodic cell, lengths in Angstrom. All zero is empty; owns its atoms (qt_crystal_fini). */
typedef struct qt_crystal {
  double length[3];
  bool periodic[3];
  int64_t n;
  qt_crystal_atom *atom; /* [n] in layers of ascending x */
} qt_crystal;
void qt_crystal_fini(qt_crystal *c);

/* Creates a crystal of cells[3] cubic cells (at least 1), lattice[3] their lengths. Directions that
 * are not periodic are cut: atoms of 0 <= y < cells a remain, and of these, those with 2 bonds or
 * more (atoms with fewer are removed until there are none). Fails: WEIR_ERR_MEMORY; *out is then
 * the caller's to finish.
 */
weir_status qt_crystal_create(const int64_t cells[3], const bool periodic[3],
                              const double lattice[3], qt_crystal *out) WEIR_CHECKED;
/* Returns a wire of that cell, without atoms and elements. */
qt_wire qt_crystal_wire(const qt_crystal *c, qt_particle particle);
/* Bonds without a neighbour. */
int64_t qt_crystal_dangling(const qt_crystal *c);

#endif
