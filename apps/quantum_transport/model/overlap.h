/* overlap.h - overlap matrices: whether those of a system can be those of a basis, and what
 * populations of orbitals take of them. */
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

/* Adds to *sum what the blocks between b and c give to (X S + S X)[i,i] / 2 of orbital i of block
 * b: x = X[b,c] is [rows, columns], turned = X[c,b] and overlap = S[c,b] are [columns, rows]. Both
 * halves are needed where H and S are not symmetric: the imaginary part of (G S)[i,i] alone has one
 * of the Hermitian part of G, too. */
void qt_overlap_add_population(int64_t rows, int64_t columns, const weir_c128 *x,
                               const weir_c128 *turned, const weir_c128 *overlap, int64_t i,
                               weir_c128 *sum);

#endif
