/* study_run.h - what is computed of a device of the configuration, and what that takes. */
#ifndef QT_STUDY_RUN_H
#define QT_STUDY_RUN_H
#include "study.h"

/* Starts the libraries that a run needs; before qt_study_size and qt_study_run. Collective over
 * s->comm. Fails: as qt_transport_start. */
weir_status qt_study_start(const qt_study *s) WEIR_CHECKED;
/* Computes the spectra and what follows of them, which rank 0 alone has, and writes the event
 * "phases". Collective. Fails: as
 * qt_transport_create; WEIR_ERR_STOPPED. */
weir_status qt_study_run(qt_study *s, int threads) WEIR_CHECKED;
/* What a run on so many threads (0: all) takes within memory.budget: out->peak is that of all the
 * program holds, with the system, means over wave vectors and the report, without sparse factors
 * (out->factors). Fails: WEIR_ERR_CONFIG
 * (the budget is too small), as qt_transport_size_of. */
weir_status qt_study_size(const qt_study *s, int threads, qt_transport_size *out) WEIR_CHECKED;

#endif
