/* potential.h - a system in an electrostatic potential: H_ij + S_ij (U_i + U_j) / 2. */
#ifndef QT_POTENTIAL_H
#define QT_POTENTIAL_H
#include "model/system.h"

/* Copies a system with potential energies u [n_atoms] (eV) of its atoms. Cells of the left lead
 * have the potential of the first block, those of the right lead that of the last. *out arrives all
 * zero, shares nothing with s and is finished by the caller, on failure too. Fails: WEIR_ERR_SHAPE
 * (S couples images of a cell that H does not), WEIR_ERR_MEMORY. */
weir_status qt_system_shift(const qt_system *s, const double *u, qt_system *out) WEIR_CHECKED;

#endif
