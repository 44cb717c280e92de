/* run_bands.h - the band structure of the leads next to the transmission in the report. */
#ifndef QT_RUN_BANDS_H
#define QT_RUN_BANDS_H
#include "report/weir_report.h"
#include "study.h"

/* The figures "bands" (or "bands_left", "bands_right" where the leads differ) and
 * "bands_transmission" in a row with one scale of energy, at the wave vector nearest to 0; a
 * sentence where a cell has more than output.bands_orbitals orbitals; nothing where output.bands or
 * energy.points is below 2. Fails: as weir_report_row, WEIR_ERR_NUMERIC. */
weir_status qt_run_bands(weir_report *r, const qt_study *s) WEIR_CHECKED;

#endif
