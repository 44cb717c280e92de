/* absent.c - see poisson.h: where the build has no PETSc. */
#include "model/electrostatics/poisson.h"

static weir_status refuse(void)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "electrostatics: this build has no PETSc (complex, with MUMPS): install it and "
                   "configure again, or leave electrostatics out");
}

weir_status qt_poisson_create(const qt_grid *g, const weir_string_list *petsc, weir_comm *comm,
                              int64_t sharers, qt_poisson **out)
{
  (void)g, (void)petsc, (void)comm, (void)sharers;
  *out = NULL;
  return refuse();
}

void qt_poisson_destroy(qt_poisson **p)
{
  *p = NULL;
}

weir_status qt_poisson_solve(qt_poisson *p, const double *donors, qt_response response, double *u,
                             qt_poisson_result *out)
{
  (void)p, (void)donors, (void)response, (void)u, (void)out;
  return refuse();
}
