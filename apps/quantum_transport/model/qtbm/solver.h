/* solver.h - complex sparse systems of one pattern, by factorisation. One thread at a time. */
#ifndef QTBM_SOLVER_H
#define QTBM_SOLVER_H
#include "conf/weir_opt.h"
#include "model/sparse.h"

/* Starts the library once, with its options (petsc of the configuration). Collective over all
 * ranks. Fails: WEIR_ERR_UNSUPPORTED in a build without PETSc; as qt_petsc_start. */
weir_status qtbm_solver_start(const weir_string_list *options) WEIR_CHECKED;

typedef struct qtbm_solver qtbm_solver;
/* Creates a solver of systems that have the pattern of a square matrix, which it borrows. Fails:
 * WEIR_ERR_SHAPE where the pattern has too many elements; WEIR_ERR_EXTERNAL, WEIR_ERR_MEMORY,
 * WEIR_ERR_CONFIG. */
weir_status qtbm_solver_create(const qt_sparse *pattern, qtbm_solver **out) WEIR_CHECKED;
/* Estimates bytes of factors and work space that MUMPS expects from its analysis of the pattern,
 * which weir_alloc does not count; NaN of other solvers. Fails: WEIR_ERR_EXTERNAL, WEIR_ERR_MEMORY.
 */
weir_status qtbm_solver_estimate(qtbm_solver *s, double *bytes) WEIR_CHECKED;
/* Factors of a of the values of the pattern now. The order of elimination is found once, of the
 * pattern alone, so that results do not depend on the systems before. Fails: WEIR_ERR_NUMERIC where
 * a is singular; WEIR_ERR_EXTERNAL, WEIR_ERR_MEMORY. */
weir_status qtbm_solver_factor(qtbm_solver *s) WEIR_CHECKED;
/* Solves a x = b by the last factors, b and x [columns, n]. Fails: WEIR_ERR_NUMERIC where the
 * residual of a column is more than 1e-9 of its terms; WEIR_ERR_EXTERNAL, WEIR_ERR_MEMORY. */
weir_status qtbm_solver_solve(qtbm_solver *s, int64_t columns, const weir_c128 *b,
                              weir_c128 *x) WEIR_CHECKED;
void qtbm_solver_destroy(qtbm_solver **s);

#endif
