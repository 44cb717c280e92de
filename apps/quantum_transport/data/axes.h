/* axes.h - the axes of a device in a crystal: x is the normal of the plane of two lattice vectors,
 * y lies along the first of them, z completes the right-handed system. */
#ifndef QT_AXES_H
#define QT_AXES_H
#include <stdint.h>
#include "base/weir_status.h"

typedef struct qt_axes {
  int vector[3];     /* lattice vectors that lead along x, y and z, from 0, in cyclic order */
  double unit[3][3]; /* rows: unit vectors x, y, z                                          */
  double cell[3][3]; /* rows: those lattice vectors in these axes, Angstrom                 */
} qt_axes;

/* Axes of a cell (rows: vectors, Angstrom; NULL: a cube of 1 Angstrom) for a current along lattice
 * vector `direction`, from 1. Fails: WEIR_ERR_DATA (no volume), naming `name`. */
weir_status qt_axes_set(const double (*cell)[3], int64_t direction, const char *name,
                        qt_axes *out) WEIR_CHECKED;
/* Transforms a position to these axes. */
void qt_axes_position(const qt_axes *a, const double position[3], double out[3]);
/* Computes order [n]: index of each value in ascending order, equal ones in the order given.
 * Fails: WEIR_ERR_MEMORY. */
weir_status qt_axes_sort(const double *x, int64_t n, int64_t *order) WEIR_CHECKED;
#endif
