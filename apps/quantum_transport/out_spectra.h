/* out_spectra.h - the files of a run: transport.nc, spectra.csv, transport.TBT.nc. */
#ifndef QT_OUT_SPECTRA_H
#define QT_OUT_SPECTRA_H
#include "study.h"

/* Writes them into `dir`: transport.nc with CF attributes (spectra by wave vector, density of
 * states by orbital), spectra.csv (means over wave vectors), and, where output.tbt asks for it,
 * transport.TBT.nc or transport.PHT.nc. Fails: WEIR_ERR_DATA, WEIR_ERR_EXTERNAL, naming the file.
 * A build without NetCDF writes the CSV alone, with a warning. */
weir_status qt_out_spectra(const qt_study *s, const char *dir) WEIR_CHECKED;
/* Returns their names, separated by ", ". Static. */
const char *qt_out_spectra_files(const qt_study *s);

#endif
