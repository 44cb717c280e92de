/* qt_petsc.h - PETSc in this program: its start, options and errors. For sources that end in
 * _petsc.c or _slepc.c, which a build without the library leaves out.
 *
 * PETSc is not thread-safe: one thread calls it at a time. Alone, a process has MPI started by
 * PETSc and ended at exit; of several ranks, libcore/comm starts MPI before and PETSc ends where
 * MPI does. */
#ifndef QT_PETSC_H
#define QT_PETSC_H
#include <petscsys.h>
#include "base/weir_status.h"
#include "comm/weir_comm.h"
#include "petsc/petsc_options.h"

#ifndef PETSC_SUCCESS /* before 3.19 */
#define PETSC_SUCCESS 0
#endif

/* Starts PETSc once, with the options of the configuration ("-ksp_rtol 1e-8"); neither the command
 * line, nor the environment, nor .petscrc is read. Later calls do nothing. Collective over all
 * ranks. Fails: WEIR_ERR_EXTERNAL; WEIR_ERR_CONFIG of an item that is no option of PETSc. */
weir_status qt_petsc_start(const weir_string_list *options) WEIR_CHECKED;

/* Records the failure of a call. Returns WEIR_ERR_MEMORY or WEIR_ERR_EXTERNAL. */
weir_status qt_petsc_fail(const char *call, int code);

/* One call of PETSc, or of MPI itself, with the right to call MPI (weir_comm_borrow), which it
 * gives back with its result. Within PETSc's calls of functions of this program it has the right:
 * where these use other ranks or threads, they give it back meanwhile. */
#define WEIR_PETSC_ALONE(call) (weir_comm_borrow(NULL), qt_petsc_return((int)(call)))
static inline int qt_petsc_return(int code)
{
  weir_comm_return(NULL);
  return code;
}

/* Calls of PETSc in functions that return weir_status. */
#define WEIR_PETSC(call)                            \
  do {                                              \
    const int petsc_code_ = WEIR_PETSC_ALONE(call); \
    if (petsc_code_ != PETSC_SUCCESS) {             \
      return qt_petsc_fail(#call, petsc_code_);     \
    }                                               \
  } while (0)
#define WEIR_PETSC_GOTO(call, label)                \
  do {                                              \
    const int petsc_code_ = WEIR_PETSC_ALONE(call); \
    if (petsc_code_ != PETSC_SUCCESS) {             \
      status = qt_petsc_fail(#call, petsc_code_);   \
      goto label;                                   \
    }                                               \
  } while (0)

#endif
