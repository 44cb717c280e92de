/* born_petsc.c - see born_priv.h: the fixed point of the self-energies by PETSc's SNES, Anderson's
 * method or NGMRES (Washio and Oosterlee, ETNA 6, 271, 1997; Brune et al., SIAM Rev. 57, 535,
 * 2015), which computes the residual after a step of simple mixing, too, before it combines, on
 * vectors that lie on the ranks as the points do. The residual is X - SSE(G[X]); X is Sigma^<>,
 * Pi^<> of atoms and pairs, each scaled to the norm of Sigma. All are anti-Hermitian, so that inner
 * products are real, and what is combined is, too, but for rounding, which is taken off. */
#include <math.h>
#include <petscsnes.h>
#include <stdio.h>
#include <string.h>

#include "model/ranks.h"
#include "model/rgf/rgf_priv.h"
#include "model/scattering/born_priv.h"
#include "petsc/qt_petsc.h"

static const qt_self_energy_array fields[] = {QT_SIGMA, QT_PI_SELF, QT_PI_PAIR};
enum { FIELDS = sizeof fields / sizeof *fields };

typedef struct context {
  born_job *j;
  qt_self_energy retarded;
  double scale[FIELDS];
  int64_t evaluations;
  weir_status status; /* of an evaluation that failed */
} context;

static int64_t count_of(const born_job *j, int field)
{
  return j->used[fields[field]].data != NULL ? weir_tensor_numel(&j->used[fields[field]]) : 0;
}

static int64_t count_of_all(const born_job *j, int field)
{
  const weir_array_desc d = qt_self_energy_desc(&j->self.spec, fields[field]);

  return born_has(j, fields[field]) ? weir_desc_bytes(&d) / (int64_t)sizeof(weir_c128) : 0;
}

/* Rows of the matrices of a field. */
static int64_t rows_of(const born_job *j, int field)
{
  return fields[field] == QT_SIGMA ? j->list.n_orbitals : j->list.n_directions;
}

static weir_status norm_of(const born_job *j, int64_t n, const PetscScalar *x, double *norm)
{
  *norm = 0;
  for (int64_t i = 0; i < n; i++) {
    *norm += PetscRealPart(x[i]) * PetscRealPart(x[i]) +
             PetscImaginaryPart(x[i]) * PetscImaginaryPart(x[i]);
  }
  WEIR_TRY(qt_ranks_sum(j->spec->comm, "norm", norm, 1));
  *norm = sqrt(*norm);
  return WEIR_OK;
}

/* The self-energies that are used become those of x; Sigma^R follows. */
static weir_status use(context *c, const PetscScalar *x)
{
  born_job *j = c->j;

  for (int p = 0; p < FIELDS; p++) {
    weir_c128 *to = j->used[fields[p]].data;
    const int64_t n = count_of(j, p), rows = rows_of(j, p);

    for (int64_t i = 0; i < n; i++) {
      to[i] =
          (weir_c128){PetscRealPart(x[i]) / c->scale[p], PetscImaginaryPart(x[i]) / c->scale[p]};
    }
    for (int64_t i = 0; i < n; i += rows * rows) {
      qt_make_antihermitian(rows, to + i);
    }
    x += n;
  }
  j->scatters = true;
  return qt_self_energy_run_retarded(&c->retarded, j->used);
}

/* f = X - SSE(G[X]), X being used, without scales. */
static void write_residual(const born_job *j, PetscScalar *f)
{
  for (int p = 0; p < FIELDS; p++) {
    const weir_c128 *used = j->used[fields[p]].data, *renewed = j->t[fields[p]].data;
    const int64_t n = count_of(j, p);

    for (int64_t i = 0; i < n; i++) {
      f[i] = PetscCMPLX(used[i].re - renewed[i].re, used[i].im - renewed[i].im);
    }
    f += n;
  }
}

/* Its matrices x [rows, rows] by their upper halves, and back. */
static void pack(const born_job *j, const PetscScalar *f, double *to)
{
  for (int p = 0; p < FIELDS; p++) {
    const int64_t n = count_of(j, p), rows = rows_of(j, p);

    for (int64_t i = 0; i < n; i++) {
      const int64_t row = i / rows % rows, column = i % rows;

      if (column > row) {
        *to++ = PetscRealPart(f[i]);
      }
      if (column >= row) {
        *to++ = PetscImaginaryPart(f[i]);
      }
    }
    f += n;
  }
}

static void unpack(const born_job *j, const double *from, PetscScalar *f)
{
  for (int p = 0; p < FIELDS; p++) {
    const int64_t n = count_of(j, p), rows = rows_of(j, p);

    for (int64_t i = 0; i < n; i++) {
      const int64_t row = i / rows % rows, column = i % rows;

      if (column > row) {
        f[i] = PetscCMPLX(from[0], from[1]);
        f[i + (column - row) * (rows - 1)] = PetscCMPLX(-from[0], from[1]);
        from += 2;
      } else if (column == row) {
        f[i] = PetscCMPLX(0, *from++);
      }
    }
    f += n;
  }
}

/* The first residual, of X = 0, gives what makes the norm of a field that of Sigma. */
static weir_status find_scales(context *c, const PetscScalar *f)
{
  double first = 0;

  for (int p = 0; p < FIELDS; p++) {
    const int64_t n = count_of(c->j, p);
    double norm;

    WEIR_TRY(norm_of(c->j, n, f, &norm));
    first = p == 0 ? norm : first;
    c->scale[p] = norm > 0 ? first / norm : 1;
    f += n;
  }
  return WEIR_OK;
}

static void scale(const context *c, PetscScalar *f)
{
  for (int p = 0; p < FIELDS; p++) {
    const int64_t n = count_of(c->j, p);

    for (int64_t i = 0; i < n; i++) {
      f[i] = PetscCMPLX(c->scale[p] * PetscRealPart(f[i]), c->scale[p] * PetscImaginaryPart(f[i]));
    }
    f += n;
  }
}

/* The first X is 0, whose Green's functions there are. */
static weir_status compute(context *c, const PetscScalar *x, PetscScalar *f)
{
  born_job *j = c->j;
  double *saved = NULL;
  qt_born_step step;

  if (c->evaluations > 1) {
    WEIR_TRY(use(c, x));
    WEIR_TRY(born_solve(j));
  }
  WEIR_TRY(born_renew(j, &step));
  WEIR_TRY(born_measure(j, &step));
  WEIR_TRY(born_add_step(j, &step));
  born_tell_step(j);
  write_residual(j, f);
  if (j->spec->save != NULL) {
    WEIR_TRY(born_add_residual(j, &saved));
    pack(j, f, saved);
  }
  return born_is_converged(j) ? WEIR_OK : born_pause(j);
}

/* Evaluations of an earlier run are not repeated. */
static weir_status evaluate(context *c, const PetscScalar *x, PetscScalar *f)
{
  born_job *j = c->j;
  const int64_t number = c->evaluations++;

  if (number < j->n_earlier) {
    WEIR_TRY(born_add_step(j, &j->earlier[number]));
    unpack(j, j->residual + number * born_residual_count(j), f);
  } else {
    WEIR_TRY(compute(c, x, f));
  }
  if (number == 0) {
    WEIR_TRY(find_scales(c, f));
  }
  scale(c, f);
  return WEIR_OK;
}

static PetscErrorCode function(SNES snes, Vec x, Vec f, void *data)
{
  context *c = data;
  const PetscScalar *from;
  PetscScalar *to;

  (void)snes;
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArray(f, &to));
  weir_comm_return(NULL); /* other ranks and threads take part */
  c->status = evaluate(c, from, to);
  weir_comm_borrow(NULL);
  PetscCall(VecRestoreArray(f, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  return c->status == WEIR_OK ? PETSC_SUCCESS : PETSC_ERR_USER;
}

static PetscErrorCode test(SNES snes, PetscInt iteration, PetscReal x, PetscReal step, PetscReal f,
                           SNESConvergedReason *reason, void *data)
{
  const context *c = data;

  (void)snes, (void)iteration, (void)x, (void)step, (void)f;
  *reason = born_is_converged(c->j)                              ? SNES_CONVERGED_FNORM_ABS
            : c->evaluations >= c->j->spec->opts->max_iterations ? SNES_DIVERGED_FUNCTION_COUNT
                                                                 : SNES_CONVERGED_ITERATING;
  return PETSC_SUCCESS;
}

enum { OPTION = 60 };

/* An option of PETSc that the configuration does not give itself, until it is cleared; `full` is
 * empty where it does. */
static weir_status set_default(const char *name, const char *format, double value,
                               char full[OPTION])
{
  PetscBool given = PETSC_FALSE;
  char text[40];

  full[0] = 0;
  WEIR_PETSC(PetscOptionsHasName(NULL, "born_", name, &given));
  if (!given) {
    (void)snprintf(full, OPTION, "-born_%s", name + 1);
    (void)snprintf(text, sizeof text, format, value);
    WEIR_PETSC(PetscOptionsSetValue(NULL, full, text));
  }
  return WEIR_OK;
}

/* History and mixing have no function of PETSc's, and its options outlive a solver. */
static weir_status configure(SNES snes, const qt_scattering_opts *o)
{
  const bool anderson = o->method == QT_BORN_ANDERSON;
  char name[2][OPTION];

  WEIR_TRY(set_default(anderson ? "-snes_anderson_m" : "-snes_ngmres_m", "%.0f", (double)o->history,
                       name[0]));
  WEIR_TRY(set_default(anderson ? "-snes_anderson_beta" : "-snes_linesearch_damping", "%.17g",
                       o->mixing, name[1]));
  WEIR_PETSC(SNESSetFromOptions(snes));
  for (int i = 0; i < 2; i++) {
    if (name[i][0] != 0) {
      WEIR_PETSC(PetscOptionsClearValue(NULL, name[i]));
    }
  }
  return WEIR_OK;
}

static weir_status solve(context *c, SNES snes, Vec x, Vec f)
{
  const qt_scattering_opts *o = c->j->spec->opts;
  SNESConvergedReason reason;

  WEIR_PETSC(SNESSetOptionsPrefix(snes, "born_"));
  WEIR_PETSC(SNESSetType(snes, o->method == QT_BORN_ANDERSON ? SNESANDERSON : SNESNGMRES));
  WEIR_PETSC(SNESSetFunction(snes, f, function, c));
  WEIR_PETSC(SNESSetConvergenceTest(snes, test, c, NULL));
  WEIR_PETSC(SNESSetTolerances(snes, 0, 0, 0, (PetscInt)o->max_iterations - 1, -1));
  WEIR_TRY(configure(snes, o));
  WEIR_PETSC(VecSet(x, 0));
  const int code = WEIR_PETSC_ALONE(SNESSolve(snes, NULL, x));

  if (code != PETSC_SUCCESS) {
    return c->status != WEIR_OK ? c->status : qt_petsc_fail("SNESSolve", code);
  }
  WEIR_PETSC(SNESGetConvergedReason(snes, &reason));
  return reason > 0 ? WEIR_OK : born_fail(c->j);
}

weir_status born_start_petsc(const weir_string_list *options)
{
  return qt_petsc_start(options);
}

weir_status born_accelerate(born_job *j)
{
  context c = {.j = j};
  const MPI_Comm ranks = qt_ranks_size(j->spec->comm) > 1 ? PETSC_COMM_WORLD : PETSC_COMM_SELF;
  SNES snes = NULL;
  Vec x = NULL, f = NULL;
  int64_t n = 0, own = 0;
  weir_status status = WEIR_OK;

  for (int p = 0; p < FIELDS; p++) {
    own += count_of(j, p);
    n += count_of_all(j, p);
  }
  if (n > PETSC_MAX_INT) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "scattering.method: anderson and ngmres have vectors of %lld numbers, PETSc "
                     "counts to %lld: set simple",
                     (long long)n, (long long)PETSC_MAX_INT);
  }
  WEIR_TRY(qt_self_energy_create_retarded(&j->self.spec, &c.retarded));
  WEIR_PETSC_GOTO(SNESCreate(ranks, &snes), done);
  WEIR_PETSC_GOTO(VecCreateMPI(ranks, (PetscInt)own, (PetscInt)n, &x), done);
  WEIR_PETSC_GOTO(VecDuplicate(x, &f), done);
  status = solve(&c, snes, x, f);
done:
  (void)WEIR_PETSC_ALONE(VecDestroy(&x));
  (void)WEIR_PETSC_ALONE(VecDestroy(&f));
  (void)WEIR_PETSC_ALONE(SNESDestroy(&snes));
  qt_self_energy_fini(&c.retarded);
  return status;
}
