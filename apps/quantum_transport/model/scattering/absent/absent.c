/* absent.c - see born_priv.h: where the build has no PETSc. */
#include "model/scattering/born_priv.h"

static weir_status refuse(void)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "scattering.method: this build has no PETSc (complex, with MUMPS): install it "
                   "and configure again, or set scattering.method: simple");
}

weir_status born_start_petsc(const weir_string_list *options)
{
  (void)options;
  return refuse();
}

weir_status born_accelerate(born_job *j)
{
  (void)j;
  return refuse();
}
