/* poisson_petsc.c - see poisson.h. */
#include <math.h>
#include <petscsnes.h>

#include "base/weir_alloc.h"
#include "model/electrostatics/poisson.h"
#include "petsc/qt_petsc.h"

struct qt_poisson {
  const qt_grid *g;
  double *to_next[3]; /* [nodes] e / V from a node to the next along an axis; 0 at an end */
  const double *donors;
  qt_response response;
  double *u, *f; /* [nodes] */
  SNES snes;
  Mat matrix;
  Vec x, r;
};

/* Adds to the coefficients what flows along the edges of one cell: its permittivity times a quarter
 * of its cross-section. */
static void add_cell(const qt_grid *g, const int64_t cell[3], double *const to_next[3])
{
  const double epsilon = g->permittivity[(cell[2] * g->cells[1] + cell[1]) * g->cells[0] + cell[0]];
  double size[3];
  int64_t node[3][2];

  for (int d = 0; d < 3; d++) {
    const bool wraps = cell[d] + 1 == g->n[d];

    node[d][0] = cell[d];
    node[d][1] = wraps ? 0 : cell[d] + 1;
    size[d] = (wraps ? g->x[d][0] + g->period[d] : g->x[d][cell[d] + 1]) - g->x[d][cell[d]];
  }
  for (int d = 0; d < 3; d++) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    const double value = QT_EPSILON_0 * epsilon * size[e] * size[f] / (4 * size[d]);

    for (int corner = 0; corner < 4; corner++) {
      int64_t at[3];

      at[d] = node[d][0];
      at[e] = node[e][corner & 1];
      at[f] = node[f][corner >> 1];
      to_next[d][(at[2] * g->n[1] + at[1]) * g->n[0] + at[0]] += value;
    }
  }
}

/* The node after `node` along an axis. */
static int64_t next_node(const qt_grid *g, int64_t node, int d)
{
  const int64_t stride = d == 0 ? 1 : d == 1 ? g->n[0] : g->n[0] * g->n[1];
  const int64_t place = node / stride % g->n[d];

  return place + 1 < g->n[d] ? node + stride : node - place * stride;
}

/* f[i] = sum over neighbours of what U drives to them, plus the charge at the node. */
static void evaluate(const qt_poisson *p, const double *u, double *f)
{
  const qt_grid *g = p->g;
  const int64_t n = qt_grid_nodes(g);

  for (int64_t i = 0; i < n; i++) {
    f[i] = 0;
  }
  for (int d = 0; d < 3; d++) {
    for (int64_t i = 0; i < n; i++) {
      const int64_t j = next_node(g, i, d);
      const double flow = p->to_next[d][i] * (u[i] - u[j]);

      f[i] += flow;
      f[j] -= flow;
    }
  }
  for (int64_t a = 0; a < g->n_atoms; a++) {
    double electrons = 0, slope = 0;

    p->response.electrons(p->response.context, a, qt_grid_read(g, u, a), &electrons, &slope);
    for (int c = 0; c < QT_NODES_OF_ATOM; c++) {
      f[g->node[a][c]] += g->share[a][c] * (p->donors[a] - electrons);
    }
  }
}

static PetscErrorCode read_vector(const qt_poisson *p, Vec x)
{
  const PetscScalar *values;

  PetscCall(VecGetArrayRead(x, &values));
  for (int64_t i = 0; i < qt_grid_nodes(p->g); i++) {
    p->u[i] = PetscRealPart(values[i]);
  }
  PetscCall(VecRestoreArrayRead(x, &values));
  return PETSC_SUCCESS;
}

static PetscErrorCode function(SNES snes, Vec x, Vec f, void *context)
{
  const qt_poisson *p = context;
  PetscScalar *values;

  (void)snes;
  PetscCall(read_vector(p, x));
  evaluate(p, p->u, p->f);
  PetscCall(VecGetArray(f, &values));
  for (int64_t i = 0; i < qt_grid_nodes(p->g); i++) {
    values[i] = p->g->gate[i] >= 0 ? 0 : p->f[i];
  }
  PetscCall(VecRestoreArray(f, &values));
  return PETSC_SUCCESS;
}

/* Adds a symmetric pair of elements, and its diagonal part, between nodes that are free. */
static PetscErrorCode add_edge(const qt_grid *g, int64_t i, int64_t j, double value, Mat m)
{
  const bool fixed[] = {g->gate[i] >= 0, g->gate[j] >= 0};
  const PetscInt node[] = {(PetscInt)i, (PetscInt)j};
  const PetscScalar plus = value, minus = -value;

  for (int end = 0; end < 2; end++) {
    if (!fixed[end]) {
      PetscCall(MatSetValues(m, 1, &node[end], 1, &node[end], &plus, ADD_VALUES));
    }
    if (!fixed[0] && !fixed[1]) {
      PetscCall(MatSetValues(m, 1, &node[end], 1, &node[1 - end], &minus, ADD_VALUES));
    }
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode add_atom(const qt_poisson *p, int64_t a, Mat m)
{
  const qt_grid *g = p->g;
  double electrons = 0, slope = 0;
  PetscInt node[QT_NODES_OF_ATOM];
  PetscScalar value[QT_NODES_OF_ATOM * QT_NODES_OF_ATOM];

  p->response.electrons(p->response.context, a, qt_grid_read(g, p->u, a), &electrons, &slope);
  for (int c = 0; c < QT_NODES_OF_ATOM; c++) { /* rows below 0 are passed over */
    node[c] = g->gate[g->node[a][c]] >= 0 ? -1 : (PetscInt)g->node[a][c];
    for (int e = 0; e < QT_NODES_OF_ATOM; e++) {
      value[c * QT_NODES_OF_ATOM + e] = -slope * g->share[a][c] * g->share[a][e];
    }
  }
  return MatSetValues(m, QT_NODES_OF_ATOM, node, QT_NODES_OF_ATOM, node, value, ADD_VALUES);
}

static PetscErrorCode jacobian(SNES snes, Vec x, Mat m, Mat same, void *context)
{
  const qt_poisson *p = context;
  const qt_grid *g = p->g;
  const int64_t n = qt_grid_nodes(g);

  (void)snes, (void)same;
  PetscCall(read_vector(p, x));
  PetscCall(MatZeroEntries(m));
  for (int64_t i = 0; i < n; i++) {
    const PetscInt node = (PetscInt)i;
    const PetscScalar one = QT_EPSILON_0;

    if (g->gate[i] >= 0) {
      PetscCall(MatSetValues(m, 1, &node, 1, &node, &one, ADD_VALUES));
    }
    for (int d = 0; d < 3; d++) {
      if (p->to_next[d][i] != 0) {
        PetscCall(add_edge(g, i, next_node(g, i, d), p->to_next[d][i], m));
      }
    }
  }
  for (int64_t a = 0; a < g->n_atoms; a++) {
    PetscCall(add_atom(p, a, m));
  }
  PetscCall(MatAssemblyBegin(m, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(m, MAT_FINAL_ASSEMBLY));
  return PETSC_SUCCESS;
}

static weir_status make_solver(qt_poisson *p)
{
  enum { NEIGHBOURS = 27, MAX_NEWTON = 100 };
  const double least = 1e-11, relative = 1e-10, step = 1e-13; /* charge of a node, ... */
  const PetscInt n = (PetscInt)qt_grid_nodes(p->g);
  KSP ksp;
  PC pc;

  WEIR_PETSC(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, NEIGHBOURS, NULL, &p->matrix));
  WEIR_PETSC(MatSetOption(p->matrix, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  WEIR_PETSC(MatSetOption(p->matrix, MAT_SYMMETRIC, PETSC_TRUE));
  WEIR_PETSC(MatSetOption(p->matrix, MAT_HERMITIAN, PETSC_TRUE));
  WEIR_PETSC(MatCreateVecs(p->matrix, &p->x, &p->r));
  WEIR_PETSC(SNESCreate(PETSC_COMM_SELF, &p->snes));
  WEIR_PETSC(SNESSetOptionsPrefix(p->snes, "poisson_"));
  WEIR_PETSC(SNESSetType(p->snes, SNESNEWTONLS));
  WEIR_PETSC(SNESSetFunction(p->snes, p->r, function, p));
  WEIR_PETSC(SNESSetJacobian(p->snes, p->matrix, p->matrix, jacobian, p));
  WEIR_PETSC(SNESSetTolerances(p->snes, least, relative, step, MAX_NEWTON, 10000));
  WEIR_PETSC(SNESGetKSP(p->snes, &ksp));
  WEIR_PETSC(KSPSetType(ksp, KSPCG));
  WEIR_PETSC(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  WEIR_PETSC(KSPGetPC(ksp, &pc));
  WEIR_PETSC(PCSetType(pc, PCGAMG));
  WEIR_PETSC(SNESSetFromOptions(p->snes));
  return WEIR_OK;
}

weir_status qt_poisson_create(const qt_grid *g, const weir_string_list *petsc, qt_poisson **out)
{
  const int64_t n = qt_grid_nodes(g);
  int64_t cell[3];
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(qt_petsc_start(petsc));
  WEIR_TRY(weir_alloc(1, sizeof **out, (void **)out));
  (*out)->g = g;
  for (int d = 0; d < 3; d++) {
    WEIR_TRY_GOTO(weir_alloc(n, sizeof(double), (void **)&(*out)->to_next[d]), failed);
  }
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *(*out)->u, (void **)&(*out)->u), failed);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *(*out)->f, (void **)&(*out)->f), failed);
  for (cell[2] = 0; cell[2] < g->cells[2]; cell[2]++) {
    for (cell[1] = 0; cell[1] < g->cells[1]; cell[1]++) {
      for (cell[0] = 0; cell[0] < g->cells[0]; cell[0]++) {
        add_cell(g, cell, (*out)->to_next);
      }
    }
  }
  WEIR_TRY_GOTO(make_solver(*out), failed);
  return WEIR_OK;
failed:
  qt_poisson_destroy(out);
  return status;
}

void qt_poisson_destroy(qt_poisson **p)
{
  if (*p == NULL) {
    return;
  }
  (void)SNESDestroy(&(*p)->snes);
  (void)MatDestroy(&(*p)->matrix);
  (void)VecDestroy(&(*p)->x);
  (void)VecDestroy(&(*p)->r);
  for (int d = 0; d < 3; d++) {
    weir_free(&(*p)->to_next[d]);
  }
  weir_free(&(*p)->u);
  weir_free(&(*p)->f);
  weir_free(p);
}

/* What is left at free nodes, and what flows into gates. */
static void judge(const qt_poisson *p, const double *u, qt_poisson_result *out)
{
  evaluate(p, u, p->f);
  out->gate_charge = out->residual = 0;
  for (int64_t i = 0; i < qt_grid_nodes(p->g); i++) {
    if (p->g->gate[i] >= 0) {
      out->gate_charge -= p->f[i];
    } else {
      out->residual = fmax(out->residual, fabs(p->f[i]));
    }
  }
}

weir_status qt_poisson_solve(qt_poisson *p, const double *donors, qt_response response, double *u,
                             qt_poisson_result *out)
{
  const int64_t n = qt_grid_nodes(p->g);
  SNESConvergedReason reason;
  PetscInt newton = 0, linear = 0;
  PetscScalar *values;

  p->donors = donors;
  p->response = response;
  WEIR_PETSC(VecGetArray(p->x, &values));
  for (int64_t i = 0; i < n; i++) {
    values[i] = u[i];
  }
  WEIR_PETSC(VecRestoreArray(p->x, &values));
  WEIR_PETSC(SNESSolve(p->snes, NULL, p->x));
  WEIR_PETSC(SNESGetConvergedReason(p->snes, &reason));
  WEIR_PETSC(SNESGetIterationNumber(p->snes, &newton));
  WEIR_PETSC(SNESGetLinearSolveIterations(p->snes, &linear));
  if (reason < 0) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "Poisson equation: Newton's method fails after %lld iterations (%s): check "
                     "gates, doping and electrostatics.spacing",
                     (long long)newton, SNESConvergedReasons[reason]);
  }
  WEIR_PETSC(VecGetArray(p->x, &values));
  for (int64_t i = 0; i < n; i++) {
    u[i] = PetscRealPart(values[i]);
  }
  WEIR_PETSC(VecRestoreArray(p->x, &values));
  *out = (qt_poisson_result){.newton = newton, .linear = linear};
  judge(p, u, out);
  return WEIR_OK;
}
