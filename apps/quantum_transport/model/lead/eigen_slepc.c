/* eigen_slepc.c - self-energies from the Bloch modes of a lead (bloch_modes.h) that SLEPc finds:
 * those of the polynomial T(z) of sparse matrices (subcells.h) nearest to targets on the unit
 * circle, by the two-level orthogonal Arnoldi method with shift and invert (TOAR: Lu, Su and Bai,
 * SIAM J. Matrix Anal. Appl. 37, 195 (2016); Campos and Roman, SIAM J. Sci. Comput. 38, S385
 * (2016)), and so those of the reversed polynomial, whose z is the inverse.
 *
 * A disk about each target holds a sector of the ring from 1 / R to 1, and an area beyond. A target
 * gives modes until one is outside of its disk; then it begins anew from other vectors until
 * nothing new comes, for one run finds few of the modes of one lambda. Modes outside of the ring
 * are left to the fixed point of g, as those of contours are. */
#include <math.h>
#include <slepcpep.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_lock.h"
#include "graph/weir_complex_scalar.h"
#include "model/lead/subcells.h"
#include "petsc/qt_petsc.h"

/* PETSc is not thread-safe. */
static weir_lock lock = WEIR_LOCK_INIT;

/* Targets stand at irregular angles, so that no symmetry puts modes between two of them. */
static const double first_angle = 0.1234;
/* Eigenvalues are the same within this, relative to their size, where their vectors are, too. */
static const double same_value = 1e-7;
/* A vector is a new one where more than this share of it is outside of those known. */
static const double new_share = 1e-3;

typedef struct search {
  const qt_lead_opts *opts;
  lead_subcells t;
  lead_bloch_modes *modes;
  int64_t count;       /* eigenpairs found                                    */
  int64_t capacity;    /* of the arrays below                                 */
  weir_c128 *z;        /* [capacity]                                          */
  double *residual;    /* [capacity]                                          */
  weir_c128 *v;        /* [capacity, n], of length 1                          */
  weir_c128 *rest;     /* [n]                                                 */
  weir_c128 *basis;    /* [capacity, n] those of one eigenvalue, orthonormal  */
  Mat *matrix, *order; /* [2 d + 1] coefficients of T z^d; the same, borrowed, of a run */
} search;

static void destroy(search *s)
{
  for (int64_t i = 0; i <= 2 * s->t.degree && s->matrix != NULL; i++) {
    (void)WEIR_PETSC_ALONE(MatDestroy(&s->matrix[i]));
  }
  weir_free(&s->matrix);
  weir_free(&s->order);
  weir_free(&s->z);
  weir_free(&s->v);
  weir_free(&s->residual);
  weir_free(&s->rest);
  weir_free(&s->basis);
  lead_subcells_fini(&s->t);
}

static weir_status make_matrix(int64_t n, const weir_c128 *from, Mat *out)
{
  PetscInt *count = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(n, sizeof *count, (void **)&count));
  for (int64_t i = 0; i < n * n; i++) {
    count[i / n] += from[i].re != 0 || from[i].im != 0;
  }
  WEIR_PETSC_GOTO(MatCreateSeqAIJ(PETSC_COMM_SELF, (PetscInt)n, (PetscInt)n, 0, count, out), done);
  for (int64_t i = 0; i < n * n; i++) {
    if (from[i].re != 0 || from[i].im != 0) {
      WEIR_PETSC_GOTO(MatSetValue(*out, (PetscInt)(i / n), (PetscInt)(i % n),
                                  from[i].re + PETSC_i * from[i].im, INSERT_VALUES),
                      done);
    }
  }
  WEIR_PETSC_GOTO(MatAssemblyBegin(*out, MAT_FINAL_ASSEMBLY), done);
  WEIR_PETSC_GOTO(MatAssemblyEnd(*out, MAT_FINAL_ASSEMBLY), done);
done:
  weir_free(&count);
  return status;
}

static weir_status create(const qt_lead_opts *o, const lead_blocks *b, lead_bloch_modes *m,
                          search *s)
{
  *s = (search){.opts = o, .modes = m, .capacity = 2 * m->r};
  WEIR_TRY(lead_subcells_create(o->contour.max_cells, b, &s->t));
  const lead_polynomial t = lead_subcells_polynomial(&s->t);
  const int64_t n = t.n, capacity = s->capacity;

  WEIR_TRY(weir_alloc(capacity, sizeof *s->z, (void **)&s->z));
  WEIR_TRY(weir_alloc(capacity, sizeof *s->residual, (void **)&s->residual));
  WEIR_TRY(weir_alloc(capacity * n, sizeof *s->v, (void **)&s->v));
  WEIR_TRY(weir_alloc(capacity * n, sizeof *s->basis, (void **)&s->basis));
  WEIR_TRY(weir_alloc(n, sizeof *s->rest, (void **)&s->rest));
  WEIR_TRY(weir_alloc(t.count, sizeof *s->matrix, (void **)&s->matrix));
  WEIR_TRY(weir_alloc(t.count, sizeof *s->order, (void **)&s->order));
  for (int64_t i = 0; i < t.count; i++) {
    WEIR_TRY(make_matrix(n, t.matrix + i * n * n, &s->matrix[i]));
  }
  return WEIR_OK;
}

static double normalize(int64_t n, weir_c128 *x)
{
  const double length = lead_norm(n, x);

  for (int64_t i = 0; i < n && length > 0; i++) {
    x[i] = (weir_c128){x[i].re / length, x[i].im / length};
  }
  return length;
}

/* `rest` loses what known vectors of an eigenvalue make up; *known: the last of them. Returns how
 * many there are. */
static int64_t remove_known(search *s, weir_c128 z, int64_t *known)
{
  const int64_t n = s->t.n;
  int64_t alike = 0;

  for (int64_t k = 0; k < s->count; k++) {
    if (weir_abs_c128(weir_sub_c128(z, s->z[k])) <= same_value * weir_abs_c128(z)) {
      weir_c128 *unit = s->basis + alike * n;

      memcpy(unit, s->v + k * n, (size_t)n * sizeof *unit);
      for (int64_t i = 0; i < alike; i++) {
        lead_remove_component(n, s->basis + i * n, unit);
      }
      (void)normalize(n, unit);
      lead_remove_component(n, unit, s->rest);
      alike++;
      *known = k;
    }
  }
  return alike;
}

/* Keeps an eigenpair that solves T and is not known, or better than one that is known. Returns
 * whether it is new. */
static bool add_mode(search *s, weir_c128 z, const weir_c128 *v)
{
  const int64_t n = s->t.n;
  const double residual = lead_subcells_residual(&s->t, z, v), length = lead_norm(n, v);
  int64_t at = s->count;

  if (!(residual <= s->opts->contour.residual)) {
    return false;
  }
  memcpy(s->rest, v, (size_t)n * sizeof *v);
  const int64_t alike = remove_known(s, z, &at);
  const bool is_new = lead_norm(n, s->rest) > new_share * length && s->count < s->capacity;

  if (!is_new && (alike != 1 || residual >= s->residual[at])) {
    return false;
  }
  at = is_new ? s->count++ : at;
  /* of one more vector the new component alone: modes of one lambda stay linearly independent */
  memcpy(s->v + at * n, is_new && alike > 0 ? s->rest : v, (size_t)n * sizeof *v);
  (void)normalize(n, s->v + at * n);
  s->z[at] = z;
  s->residual[at] = residual;
  return is_new;
}

static weir_status make_solver(const search *s, bool reversed, double angle, PEP *out)
{
  const PetscInt count = (PetscInt)(2 * s->t.degree + 1);
  ST st;
  KSP ksp;
  PC pc;

  for (PetscInt i = 0; i < count; i++) {
    s->order[i] = s->matrix[reversed ? count - 1 - i : i];
  }
  WEIR_PETSC(PEPCreate(PETSC_COMM_SELF, out));
  WEIR_PETSC(PEPSetOptionsPrefix(*out, "lead_"));
  WEIR_PETSC(PEPSetOperators(*out, count, s->order));
  WEIR_PETSC(PEPSetType(*out, PEPTOAR));
  WEIR_PETSC(PEPSetTarget(*out, cos(angle) + PETSC_i * sin(angle)));
  WEIR_PETSC(PEPSetWhichEigenpairs(*out, PEP_TARGET_MAGNITUDE));
  WEIR_PETSC(PEPSetTolerances(*out, 1e-12, PETSC_DEFAULT));
  WEIR_PETSC(PEPGetST(*out, &st));
  WEIR_PETSC(STSetType(st, STSINVERT));
  WEIR_PETSC(STGetKSP(st, &ksp));
  WEIR_PETSC(KSPSetType(ksp, KSPPREONLY));
  WEIR_PETSC(KSPGetPC(ksp, &pc));
  WEIR_PETSC(PCSetType(pc, PCLU));
  WEIR_PETSC(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  WEIR_PETSC(PEPSetFromOptions(*out));
  return WEIR_OK;
}

/* Eigenpairs of a run; *farthest: distance of the last from the target, *added: how many are new.
 */
static weir_status take(search *s, PEP pep, bool reversed, double angle, double radius, Vec vector,
                        double *farthest, int64_t *added)
{
  PetscInt count = 0;

  WEIR_PETSC(PEPGetConverged(pep, &count));
  *farthest = 0;
  *added = 0;
  for (PetscInt i = 0; i < count; i++) {
    const PetscScalar *data;
    PetscScalar value;

    WEIR_PETSC(PEPGetEigenpair(pep, i, &value, NULL, vector, NULL));
    const weir_c128 z = {PetscRealPart(value), PetscImaginaryPart(value)};
    const weir_c128 one = {1, 0};

    *farthest = fmax(*farthest, hypot(z.re - cos(angle), z.im - sin(angle)));
    WEIR_PETSC(VecGetArrayRead(vector, &data));
    if (hypot(z.re - cos(angle), z.im - sin(angle)) <= radius) {
      *added += add_mode(s, reversed ? weir_div_c128(one, z) : z, (const weir_c128 *)data);
    }
    WEIR_PETSC(VecRestoreArrayRead(vector, &data));
  }
  return WEIR_OK;
}

/* Runs of one target. *whole: modes of all its disk were found. */
static weir_status search_target(search *s, bool reversed, double angle, double radius, bool *whole)
{
  const int64_t all = 2 * s->t.degree * s->t.n;
  int64_t wanted = all < 8 ? all : 8, added = 1;
  PEP pep = NULL;
  Vec vector = NULL;
  weir_status status = WEIR_OK;

  *whole = false;
  WEIR_TRY_GOTO(make_solver(s, reversed, angle, &pep), done);
  WEIR_PETSC_GOTO(MatCreateVecs(s->matrix[0], &vector, NULL), done);
  while (!*whole || added > 0) {
    const int64_t space = 3 * wanted + 16 < all ? 3 * wanted + 16 : all;
    double farthest = 0;

    WEIR_PETSC_GOTO(PEPSetDimensions(pep, (PetscInt)wanted, (PetscInt)space, PETSC_DEFAULT), done);
    WEIR_PETSC_GOTO(PEPSolve(pep), done);
    WEIR_TRY_GOTO(take(s, pep, reversed, angle, radius, vector, &farthest, &added), done);
    *whole = farthest > radius || wanted == all;
    if (!*whole) {
      wanted = 2 * wanted < all ? 2 * wanted : all;
    } /* else once more, from other random vectors, if there were new ones */
  }
done:
  (void)WEIR_PETSC_ALONE(VecDestroy(&vector));
  (void)WEIR_PETSC_ALONE(PEPDestroy(&pep));
  return status;
}

/* Modes of the ring. False where a target does not give all of its disk. */
static weir_status search_ring(search *s, bool *found)
{
  const int64_t targets = s->opts->slepc.targets;
  const double inner = pow(s->opts->slepc.outer, -1.0 / (double)s->t.cells);
  const double half = M_PI / (double)targets;
  /* from a target to the inner corners of its sector, beyond those on the circle */
  const double radius =
      fmax(hypot(inner * cos(half) - 1, inner * sin(half)), 1.1 * hypot(cos(half) - 1, sin(half)));

  *found = true;
  for (int64_t i = 0; i < 2 * targets && *found; i++) {
    const double angle = first_angle + 2 * half * (double)(i / 2);

    WEIR_TRY(search_target(s, i % 2 == 1, angle, radius, found));
  }
  for (int64_t k = 0; k < s->count; k++) {
    lead_subcells_add(&s->t, s->z[k], s->v + k * s->t.n, s->modes);
  }
  return WEIR_OK;
}

static weir_status start(const weir_string_list *options)
{
  PetscBool started = PETSC_FALSE;

  WEIR_TRY(qt_petsc_start(options));
  WEIR_PETSC(SlepcInitialized(&started));
  if (!started) {
    WEIR_PETSC(SlepcInitializeNoArguments());
    WEIR_PETSC(PetscRegisterFinalize(SlepcFinalize));
  }
  return WEIR_OK;
}

weir_status lead_slepc_start(const weir_string_list *options)
{
  weir_lock_take(&lock);
  const weir_status status = start(options);

  weir_lock_give(&lock);
  return status;
}

static weir_status find_modes(const qt_lead_opts *o, const lead_blocks *b, lead_bloch_modes *m,
                              bool *found)
{
  const weir_string_list none = {.count = 0};
  search s = {.count = 0};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(start(&none), done); /* did nothing where the program has started it */
  WEIR_TRY_GOTO(create(o, b, m, &s), done);
  WEIR_TRY_GOTO(search_ring(&s, found), done);
done:
  destroy(&s);
  return status;
}

weir_status lead_slepc(const qt_lead_opts *o, const qt_cell *cell, const lead_blocks *b,
                       weir_c128 *const sigma[2], const lead_incoming *incoming, lead_outcome *out)
{
  lead_bloch_modes m = {.n = 0};
  weir_status status = WEIR_OK;

  *out = (lead_outcome){.work = NAN}; /* sparse factors do not tell */
  WEIR_TRY_GOTO(lead_bloch_modes_create(cell, b, &m), done);
  WEIR_TRY_GOTO(weir_alloc(2 * m.r * m.n, sizeof *m.mode, (void **)&m.mode), done);
  if (m.r == 0) {
    goto done;
  }
  weir_lock_take(&lock);
  status = find_modes(o, b, &m, &out->found);
  weir_lock_give(&lock);
  WEIR_TRY_GOTO(status, done);
  if (out->found) {
    WEIR_TRY_GOTO(lead_bloch_modes_sort(o, &m, &out->n_modes, &out->found), done);
    WEIR_TRY_GOTO(lead_bloch_modes_incoming(o, &m, incoming), done);
    out->found = out->found && m.moving[QT_LEFT] == m.moving[QT_RIGHT] &&
                 lead_bloch_modes_sigma(&m, QT_LEFT, sigma[QT_LEFT]) &&
                 lead_bloch_modes_sigma(&m, QT_RIGHT, sigma[QT_RIGHT]);
  }
done:
  lead_bloch_modes_fini(&m);
  return status;
}
