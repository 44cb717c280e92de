/* absent.c - see solver.h: where the build has no PETSc. */
#include "model/qtbm/solver.h"

static weir_status refuse(void)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "transport.method: qtbm solves sparse systems by PETSc, which this build has "
                   "not; set transport.method: rgf");
}

weir_status qtbm_solver_start(const weir_string_list *options)
{
  (void)options;
  return refuse();
}

weir_status qtbm_solver_create(const qt_sparse *pattern, qtbm_solver **out)
{
  (void)pattern;
  *out = NULL;
  return refuse();
}

weir_status qtbm_solver_estimate(qtbm_solver *s, double *bytes)
{
  (void)s, (void)bytes;
  return refuse();
}

weir_status qtbm_solver_factor(qtbm_solver *s)
{
  (void)s;
  return refuse();
}

weir_status qtbm_solver_solve(qtbm_solver *s, int64_t columns, const weir_c128 *b, weir_c128 *x)
{
  (void)s, (void)columns, (void)b, (void)x;
  return refuse();
}

void qtbm_solver_destroy(qtbm_solver **s)
{
  *s = NULL;
}
