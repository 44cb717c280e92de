/* run_structure.h - the picture of the device in the report. */
#ifndef QT_RUN_STRUCTURE_H
#define QT_RUN_STRUCTURE_H
#include "model/system.h"
#include "report/weir_report.h"

/* The figure "structure": atoms by element, and a line between two whose coupling in the
 * Hamiltonian (the root of the sum of the squares of its elements) is at least a quarter of the
 * strongest. Fails: as weir_report_structure. */
weir_status qt_run_structure(weir_report *r, const qt_system *s) WEIR_CHECKED;

#endif
