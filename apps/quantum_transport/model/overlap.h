/* overlap.h - whether the overlap matrices of a system can be those of a basis. */
#ifndef QT_OVERLAP_H
#define QT_OVERLAP_H
#include "model/system.h"

/* Refuses an overlap that is not positive definite: of the device, and of the wire of each lead, at
 * wave vectors 0, 1/4, 1/2 and 3/4 of a reciprocal lattice vector in each direction that S varies
 * with (of k and -k one; of blocks of more than QT_OVERLAP_LARGE orbitals 0 and 1/2). s: sizes
 * agree, S is Hermitian and block tridiagonal. Fails: WEIR_ERR_DATA naming block, orbital and wave
 * vector, WEIR_ERR_MEMORY. */
weir_status qt_overlap_check(const qt_system *s) WEIR_CHECKED;
enum { QT_OVERLAP_LARGE = 200 };

#endif
