/* curve.h - a transmission T(E) of a file: of a run of this program, of TBtrans, or two columns of
 * text. */
#ifndef QT_CURVE_H
#define QT_CURVE_H
#include <stdint.h>
#include "base/weir_status.h"

/* All zero is none; owns its arrays (qt_curve_fini). */
typedef struct qt_curve {
  int64_t n;
  double *energy, *transmission; /* [n] eV, ascending */
} qt_curve;

/* Reads transport.nc (mean over wave vectors), a file in the layout of TBtrans (.TBT.nc, .PHT.nc of
 * two electrodes, its energies in Ry, Ha, eV or meV), or lines of numbers between blanks or commas,
 * the first two of which are E (eV) and T: spectra.csv, _qc.dat of Wannier90, .AVTRANS of TBtrans;
 * lines that begin with '#', and a first line of names, are passed over. Fails: WEIR_ERR_DATA
 * naming file and line or variable (a line that is wrong,
 * another unit, energies that do not ascend, no values),
 * WEIR_ERR_MEMORY; *out is then empty. */
weir_status qt_curve_read(const char *path, qt_curve *out) WEIR_CHECKED;
void qt_curve_fini(qt_curve *c);
/* Returns T at an energy within the curve, by linear interpolation. */
double qt_curve_at(const qt_curve *c, double energy);

#endif
