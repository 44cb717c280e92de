/* petsc_options.h - options of PETSc in the configuration, in builds with and without PETSc. */
#ifndef QT_PETSC_OPTIONS_H
#define QT_PETSC_OPTIONS_H
#include "conf/weir_opt.h"

/* Warns of options that no solver has read so far: misspelt, or of a solver that did not run. At
 * the end of a run. */
void qt_petsc_warn_unused(const weir_string_list *options);

#endif
