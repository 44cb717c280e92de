/* scatter.h - electron-phonon scattering of a study: the phonons of its device, the iteration, and
 * what is written of it. */
#ifndef QT_SCATTER_H
#define QT_SCATTER_H
#include "model/electrostatics/scf.h"
#include "model/scattering/born.h"
#include "report/weir_report.h"
#include "study.h"

/* All zero is none; owns its members (qt_scatter_fini). */
typedef struct qt_scatter {
  qt_system phonons;
  qt_gradient gradient;
  qt_born_size size; /* of an iteration */
  qt_born born;
  double seconds;
  double (*clock)(void);      /* of phases of born, set before it; NULL: elapsed seconds */
  qt_born_moving *moving;     /* while bias points are found */
  qt_scf_scattering counting; /* of them                     */
} qt_scatter;
void qt_scatter_fini(qt_scatter *s);

/* Builds the phonons and nabla H. *out is finished by the caller, on failure too. Fails:
 * WEIR_ERR_CONFIG and WEIR_ERR_UNSUPPORTED (what scattering does not go together with), as
 * qt_study_build, qt_gradient_create and qt_born_size_of. */
weir_status qt_scatter_open(const qt_study *study, int threads, qt_scatter *out) WEIR_CHECKED;
/* Warns where the residuals that PETSc's methods keep to resume an iteration, of all
 * scattering.max_iterations, do not fit into this machine with the bytes that are predicted
 * without them. */
void qt_scatter_warn_memory(const qt_study *study, const qt_scatter *s, double predicted);
/* Makes ready what qt_iv_open takes as scattering, which s keeps: the device of the study is still
 * without a potential. Fails: as qt_born_create. */
weir_status qt_scatter_begin_sweep(const qt_study *study, int threads, qt_scatter *s) WEIR_CHECKED;
void qt_scatter_end_sweep(qt_scatter *s);
/* Iterates, and writes the event "scattering". Where the study is saved so are iterations, in its
 * folder "scattering". Fails: as qt_born_create. */
weir_status qt_scatter_solve(const qt_study *study, int threads, qt_scatter *s) WEIR_CHECKED;
/* Removes the checkpoints of iterations in DIR, whose results are written. Fails: WEIR_ERR_DATA,
 * WEIR_ERR_MEMORY. */
weir_status qt_scatter_clear(const char *dir) WEIR_CHECKED;

/* Writes scattering.csv, the iterations, and with NetCDF scattering.nc. Fails: WEIR_ERR_DATA,
 * WEIR_ERR_EXTERNAL, naming the file. */
weir_status qt_scatter_write(const qt_study *study, const char *dir) WEIR_CHECKED;
/* Writes table and figures of the report. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status qt_scatter_page(const qt_study *study, weir_report *r) WEIR_CHECKED;

#endif
