/* solver.h - complex sparse systems of one pattern, by factorisation. One thread at a time. */
#ifndef QTBM_SOLVER_H
#define QTBM_SOLVER_H
#include "conf/weir_opt.h"
#include "model/sparse.h"

typedef struct qtbm_solver qtbm_solver;
/* Of systems that have the pattern of a square matrix, which it borrows; options: of the library
 * (petsc of the configuration). Fails:
 * WEIR_ERR_UNSUPPORTED in a build without PETSc; WEIR_ERR_SHAPE where the pattern has too many
 * elements; WEIR_ERR_EXTERNAL, WEIR_ERR_MEMORY, WEIR_ERR_CONFIG. */
weir_status qtbm_solver_create(const weir_string_list *options, const qt_sparse *pattern,
                               qtbm_solver **out) WEIR_CHECKED;
/* x of a x = b, b and x [columns, n], a of the values of the pattern now. The order of elimination
 * is found once. Fails: WEIR_ERR_NUMERIC where a is singular or the residual of a column is more
 * than 1e-9 of its terms; WEIR_ERR_EXTERNAL, WEIR_ERR_MEMORY. */
weir_status qtbm_solver_run(qtbm_solver *s, int64_t columns, const weir_c128 *b,
                            weir_c128 *x) WEIR_CHECKED;
void qtbm_solver_destroy(qtbm_solver **s);

#endif
