/* absent.c - see petsc_options.h: where the build has no PETSc, nothing reads its options. */
#include "base/weir_log.h"
#include "petsc/petsc_options.h"

void qt_petsc_warn_unused(const weir_string_list *options)
{
  for (int64_t i = 0; i < options->count; i++) {
    weir_warn("petsc", "petsc: \"%s\" was read by no solver: this build has no PETSc",
              options->items[i]);
  }
}
