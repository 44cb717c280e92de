/* solver_petsc.c - see solver.h: LU factors by MUMPS, or what the options of PETSc with the prefix
 * qtbm_ choose. */
#include "model/qtbm/solver.h"

#include <limits.h>
#include <math.h>
#include <petscksp.h>

#include "base/weir_alloc.h"
#include "petsc/qt_petsc.h"

struct qtbm_solver {
  const qt_sparse *pattern;
  PetscInt *start, *column; /* of the matrix, which borrows them and the values of the pattern */
  Mat a;
  KSP ksp;
};

/* Per cent of memory beyond its estimate that MUMPS may take where it needs more: at first, at
 * most.
 */
enum { MORE_MEMORY = 50, MAX_MEMORY = 1000 };

static weir_status copy_pattern(qtbm_solver *s)
{
  const qt_sparse *m = s->pattern;
  const int64_t count = qt_sparse_count(m);

  if (count > INT_MAX) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "qtbm: a sparse matrix of %lld elements; PETSc of this build counts to %d",
                     (long long)count, INT_MAX);
  }
  WEIR_TRY(weir_alloc(m->rows + 1, sizeof *s->start, (void **)&s->start));
  WEIR_TRY(weir_alloc(count, sizeof *s->column, (void **)&s->column));
  for (int64_t i = 0; i <= m->rows; i++) {
    s->start[i] = (PetscInt)m->start[i];
  }
  for (int64_t i = 0; i < count; i++) {
    s->column[i] = (PetscInt)m->column[i];
  }
  return WEIR_OK;
}

weir_status qtbm_solver_start(const weir_string_list *options)
{
  return qt_petsc_start(options);
}

static weir_status is_mumps(PC pc, bool *mumps)
{
  MatSolverType type = NULL;
  PetscBool same = PETSC_FALSE;

  WEIR_PETSC(PCFactorGetMatSolverType(pc, &type));
  WEIR_PETSC(PetscStrcmp(type, MATSOLVERMUMPS, &same));
  *mumps = same;
  return WEIR_OK;
}

/* Options of MUMPS before its analysis, where the options of PETSc do not say otherwise: no
 * permutation that depends on the values (6), and `more` per cent of memory beyond its estimate
 * (14), 0: its own choice. */
static weir_status set_mumps(Mat factors, PetscInt more)
{
  WEIR_PETSC(MatMumpsSetIcntl(factors, 6, 0));
  if (more > 0) {
    WEIR_PETSC(MatMumpsSetIcntl(factors, 14, more));
  }
  return WEIR_OK;
}

static weir_status set_factors(qtbm_solver *s, PetscInt more)
{
  bool mumps = false;
  Mat factors;
  PC pc;

  WEIR_PETSC(KSPGetPC(s->ksp, &pc));
  WEIR_TRY(is_mumps(pc, &mumps));
  if (mumps) {
    WEIR_PETSC(PCFactorSetUpMatSolverType(pc));
    WEIR_PETSC(PCFactorGetMatrix(pc, &factors));
    WEIR_TRY(set_mumps(factors, more));
  }
  return WEIR_OK;
}

static weir_status make(qtbm_solver *s)
{
  const PetscInt n = (PetscInt)s->pattern->rows;
  PC pc;

  WEIR_TRY(copy_pattern(s));
  WEIR_PETSC(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, s->start, s->column,
                                       (PetscScalar *)s->pattern->value, &s->a));
  WEIR_PETSC(MatSetOptionsPrefix(s->a, "qtbm_"));
  WEIR_PETSC(KSPCreate(PETSC_COMM_SELF, &s->ksp));
  WEIR_PETSC(KSPSetOptionsPrefix(s->ksp, "qtbm_"));
  WEIR_PETSC(KSPSetOperators(s->ksp, s->a, s->a));
  WEIR_PETSC(KSPSetType(s->ksp, KSPPREONLY));
  WEIR_PETSC(KSPGetPC(s->ksp, &pc));
  WEIR_PETSC(PCSetType(pc, PCLU));
  WEIR_PETSC(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  WEIR_PETSC(KSPSetFromOptions(s->ksp));
  return set_factors(s, 0);
}

weir_status qtbm_solver_create(const qt_sparse *pattern, qtbm_solver **out)
{
  qtbm_solver *s = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *s, (void **)&s));
  s->pattern = pattern;
  status = make(s);
  if (status != WEIR_OK) {
    qtbm_solver_destroy(&s);
  }
  *out = s;
  return status;
}

static weir_status analyse(qtbm_solver *s, Mat factors, double *bytes)
{
  const double unit = 1e6; /* of MUMPS */
  PetscInt estimate = 0;
  MatFactorInfo info;

  WEIR_PETSC(MatFactorInfoInitialize(&info));
  WEIR_TRY(set_mumps(factors, 0));
  WEIR_PETSC(MatLUFactorSymbolic(factors, s->a, NULL, NULL, &info));
  WEIR_PETSC(MatMumpsGetInfog(factors, 16, &estimate));
  *bytes = unit * (double)estimate;
  return WEIR_OK;
}

weir_status qtbm_solver_estimate(qtbm_solver *s, double *bytes)
{
  bool mumps = false;
  Mat factors = NULL;
  PC pc;

  *bytes = NAN;
  WEIR_PETSC(KSPGetPC(s->ksp, &pc));
  WEIR_TRY(is_mumps(pc, &mumps));
  if (!mumps) {
    return WEIR_OK;
  }
  WEIR_PETSC(MatGetFactor(s->a, MATSOLVERMUMPS, MAT_FACTOR_LU, &factors));
  const weir_status status = analyse(s, factors, bytes);

  (void)WEIR_PETSC_ALONE(MatDestroy(&factors));
  return status;
}

/* After a failure MUMPS begins anew; more: as set_mumps. */
static weir_status restart(qtbm_solver *s, PetscInt more)
{
  WEIR_PETSC(KSPReset(s->ksp));
  WEIR_PETSC(KSPSetOperators(s->ksp, s->a, s->a));
  return set_factors(s, more);
}

/* Factors of the values now. Where MUMPS needs more memory than it had expected, it gets more. */
weir_status qtbm_solver_factor(qtbm_solver *s)
{
  PCFailedReason reason = PC_NOERROR;
  PC pc;

  WEIR_PETSC(MatAssemblyBegin(s->a, MAT_FINAL_ASSEMBLY)); /* values have changed */
  WEIR_PETSC(MatAssemblyEnd(s->a, MAT_FINAL_ASSEMBLY));
  for (PetscInt more = MORE_MEMORY; more <= MAX_MEMORY; more *= 2) {
    WEIR_PETSC(KSPSetUp(s->ksp));
    WEIR_PETSC(KSPGetPC(s->ksp, &pc));
    WEIR_PETSC(PCGetFailedReason(pc, &reason));
    if (reason == PC_NOERROR) {
      return WEIR_OK;
    }
    WEIR_TRY(restart(s, reason == PC_FACTOR_OUTMEMORY ? more : 0));
    if (reason != PC_FACTOR_OUTMEMORY) {
      return weir_fail(WEIR_ERR_NUMERIC,
                       "qtbm: the matrix of the device is singular: a part of it has a state of "
                       "that energy; shift the energy");
    }
  }
  return weir_fail(WEIR_ERR_MEMORY,
                   "qtbm: no memory for the factors of a sparse matrix; where petsc sets "
                   "-qtbm_mat_mumps_icntl_14, raise it");
}

/* Largest |a x - b| / (|a| |x| + |b|) of a row, over columns. */
static double residual(const qt_sparse *a, int64_t columns, const weir_c128 *b, const weir_c128 *x)
{
  double worst = 0;

  for (int64_t c = 0; c < columns; c++, b += a->rows, x += a->rows) {
    double max = 0, terms = 0;

    for (int64_t i = 0; i < a->rows; i++) {
      weir_c128 sum = b[i];
      double size = fabs(b[i].re) + fabs(b[i].im);

      for (int64_t at = a->start[i]; at < a->start[i + 1]; at++) {
        const weir_c128 v = a->value[at], y = x[a->column[at]];

        sum.re -= v.re * y.re - v.im * y.im;
        sum.im -= v.re * y.im + v.im * y.re;
        size += (fabs(v.re) + fabs(v.im)) * (fabs(y.re) + fabs(y.im));
      }
      const double error = fabs(sum.re) + fabs(sum.im);

      max = isnan(error) ? INFINITY : fmax(max, error);
      terms = fmax(terms, size);
    }
    worst = fmax(worst, terms > 0 ? max / terms : max);
  }
  return worst;
}

static weir_status solve(qtbm_solver *s, int64_t columns, const weir_c128 *b, weir_c128 *x)
{
  const PetscInt n = (PetscInt)s->pattern->rows, count = (PetscInt)columns;
  KSPConvergedReason reason = KSP_CONVERGED_ITS;
  Mat right = NULL, left = NULL;
  weir_status status = WEIR_OK;

  WEIR_PETSC_GOTO(MatCreateSeqDense(PETSC_COMM_SELF, n, count, (PetscScalar *)(uintptr_t)b, &right),
                  done);
  WEIR_PETSC_GOTO(MatCreateSeqDense(PETSC_COMM_SELF, n, count, (PetscScalar *)x, &left), done);
  WEIR_PETSC_GOTO(KSPMatSolve(s->ksp, right, left), done);
  WEIR_PETSC_GOTO(KSPGetConvergedReason(s->ksp, &reason), done);
  if (reason < 0) {
    status = weir_fail(WEIR_ERR_NUMERIC, "qtbm: PETSc does not solve the system (reason %d)",
                       (int)reason);
  }
done:
  (void)WEIR_PETSC_ALONE(MatDestroy(&right));
  (void)WEIR_PETSC_ALONE(MatDestroy(&left));
  return status;
}

weir_status qtbm_solver_solve(qtbm_solver *s, int64_t columns, const weir_c128 *b, weir_c128 *x)
{
  const double accepted = 1e-9;

  WEIR_TRY(solve(s, columns, b, x));
  const double error = residual(s->pattern, columns, b, x);

  if (!(error <= accepted)) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "qtbm: wave functions have a relative residual of %.1e: the energy is that of "
                     "a state of a part of the device; shift it",
                     error);
  }
  return WEIR_OK;
}

void qtbm_solver_destroy(qtbm_solver **s)
{
  if (*s != NULL) {
    (void)WEIR_PETSC_ALONE(KSPDestroy(&(*s)->ksp));
    (void)WEIR_PETSC_ALONE(MatDestroy(&(*s)->a));
    weir_free(&(*s)->start);
    weir_free(&(*s)->column);
  }
  weir_free(s);
}
