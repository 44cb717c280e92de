/* run_page.h - the report of a run. */
#ifndef QT_RUN_PAGE_H
#define QT_RUN_PAGE_H
#include "study.h"

/* Writes DIR/report.html and its figures, and the events "thermal_conductance" (phonons) and
 * "run_end". Fails: WEIR_ERR_DATA,
 * WEIR_ERR_MEMORY. */
weir_status qt_run_page(const qt_study *s, const char *dir) WEIR_CHECKED;

#endif
