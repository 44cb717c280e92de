/* absent.c - see solver.h: where the build has no PETSc. */
#include "model/qtbm/solver.h"

weir_status qtbm_solver_create(const weir_string_list *options, const qt_sparse *pattern,
                               qtbm_solver **out)
{
  (void)options, (void)pattern;
  *out = NULL;
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "transport.method: qtbm solves sparse systems by PETSc, which this build has "
                   "not; set transport.method: rgf");
}

/* Never called: there is no solver. */
weir_status qtbm_solver_run(qtbm_solver *s, int64_t columns, const weir_c128 *b, weir_c128 *x)
{
  (void)s, (void)columns, (void)b, (void)x;
  return weir_fail(WEIR_ERR_UNSUPPORTED, "this build has no PETSc");
}

void qtbm_solver_destroy(qtbm_solver **s)
{
  *s = NULL;
}
