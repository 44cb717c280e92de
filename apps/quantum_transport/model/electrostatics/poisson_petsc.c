/* poisson_petsc.c - see poisson.h. */
#include <math.h>
#include <petscdmda.h>
#include <petscsnes.h>

#include "base/weir_alloc.h"
#include "model/electrostatics/poisson.h"
#include "model/ranks.h"
#include "petsc/qt_petsc.h"

/* Arrays of nodes are those of the whole grid, in its order; of u what a rank's slab and the nodes
 * next to it need is set while the equation is solved. */
struct qt_poisson {
  const qt_grid *g;
  weir_comm *comm;    /* all ranks, NULL: one */
  int rank, sharers;  /* of them those that share the equation */
  int64_t lo, hi;     /* nodes along x of this rank's slab */
  double *to_next[3]; /* [nodes] e / V from a node to the next along an axis; 0 at an end */
  const double *donors;
  qt_response response;
  double *u, *f;  /* [nodes] */
  PetscInt *row;  /* [nodes] number that PETSc gives a node of the slab, or next to it */
  MPI_Comm group; /* of the sharers */
  DM mesh;
  SNES snes;
  Mat matrix;
  Vec x, r, local;
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

/* The node after `node` along an axis, or before it. At an end without a period it is that at the
 * other end, to which nothing flows. */
static int64_t neighbour(const qt_grid *g, int64_t node, int d, bool after)
{
  const int64_t stride = d == 0 ? 1 : d == 1 ? g->n[0] : g->n[0] * g->n[1];
  const int64_t coord = node / stride % g->n[d], last = g->n[d] - 1;

  if (after) {
    return coord < last ? node + stride : node - last * stride;
  }
  return coord > 0 ? node - stride : node + last * stride;
}

/* What flows along an axis from a node to the one after it, or before it, for a unit of U. */
static double flow_to(const qt_poisson *p, int64_t node, int d, bool after)
{
  return p->to_next[d][after ? node : neighbour(p->g, node, d, false)];
}

static bool lies_in(const qt_poisson *p, int64_t node, int64_t lo, int64_t hi)
{
  const int64_t x = node % p->g->n[0];

  return x >= lo && x < hi;
}

static bool touches(const qt_poisson *p, int64_t atom, int64_t lo, int64_t hi)
{
  for (int c = 0; c < QT_NODES_OF_ATOM; c++) {
    if (lies_in(p, p->g->node[atom][c], lo, hi)) {
      return true;
    }
  }
  return false;
}

/* f[i] = sum over neighbours of what U drives to them, plus the charge at the node, of the nodes
 * [lo, hi) along x. */
static void evaluate(const qt_poisson *p, int64_t lo, int64_t hi, const double *u, double *f)
{
  const qt_grid *g = p->g;

  for (int64_t line = 0; line < g->n[1] * g->n[2]; line++) {
    for (int64_t i = line * g->n[0] + lo; i < line * g->n[0] + hi; i++) {
      f[i] = 0;
      for (int edge = 0; edge < 6; edge++) {
        const int64_t other = neighbour(g, i, edge / 2, edge % 2);
        const double flow = flow_to(p, i, edge / 2, edge % 2);

        f[i] += flow != 0 ? flow * (u[i] - u[other]) : 0;
      }
    }
  }
  for (int64_t a = 0; a < g->n_atoms; a++) {
    double electrons = 0, slope = 0;

    if (!touches(p, a, lo, hi)) {
      continue;
    }
    p->response.electrons(p->response.context, a, qt_grid_read(g, u, a), &electrons, &slope);
    for (int c = 0; c < QT_NODES_OF_ATOM; c++) {
      f[g->node[a][c]] += g->share[a][c] * (p->donors[a] - electrons);
    }
  }
}

/* Calls for each node of the slab, and each next to it, with its index in a vector of both. */
static PetscErrorCode visit(const qt_poisson *p,
                            void (*act)(const qt_poisson *p, int64_t node, PetscInt index,
                                        const void *context),
                            const void *context)
{
  const int64_t *n = p->g->n;
  PetscInt first[3], count[3], index = 0;

  PetscCall(DMDAGetGhostCorners(p->mesh, &first[0], &first[1], &first[2], &count[0], &count[1],
                                &count[2]));
  for (PetscInt k = first[2]; k < first[2] + count[2]; k++) {
    for (PetscInt j = first[1]; j < first[1] + count[1]; j++) {
      for (PetscInt i = first[0]; i < first[0] + count[0]; i++) {
        const int64_t x = (i + n[0]) % n[0], y = (j + n[1]) % n[1], z = (k + n[2]) % n[2];

        act(p, (z * n[1] + y) * n[0] + x, index++, context);
      }
    }
  }
  return PETSC_SUCCESS;
}

static void take_value(const qt_poisson *p, int64_t node, PetscInt index, const void *context)
{
  const PetscScalar *values = context;

  p->u[node] = PetscRealPart(values[index]);
}

static void take_row(const qt_poisson *p, int64_t node, PetscInt index, const void *context)
{
  const PetscInt *rows = context;

  p->row[node] = rows[index];
}

static PetscErrorCode read_vector(const qt_poisson *p, Vec x)
{
  const PetscScalar *values;

  PetscCall(DMGlobalToLocal(p->mesh, x, INSERT_VALUES, p->local));
  PetscCall(VecGetArrayRead(p->local, &values));
  PetscCall(visit(p, take_value, values));
  PetscCall(VecRestoreArrayRead(p->local, &values));
  return PETSC_SUCCESS;
}

/* The node of the slab's number `item`, in the order of PETSc's vectors. */
static int64_t node_of(const qt_poisson *p, int64_t item)
{
  const int64_t width = p->hi - p->lo;

  return item / width * p->g->n[0] + p->lo + item % width;
}

static int64_t slab_nodes(const qt_poisson *p)
{
  return (p->hi - p->lo) * p->g->n[1] * p->g->n[2];
}

static PetscErrorCode function(SNES snes, Vec x, Vec f, void *context)
{
  const qt_poisson *p = context;
  PetscScalar *values;

  (void)snes;
  PetscCall(read_vector(p, x));
  evaluate(p, p->lo, p->hi, p->u, p->f);
  PetscCall(VecGetArray(f, &values));
  for (int64_t i = 0; i < slab_nodes(p); i++) {
    values[i] = p->g->gate[node_of(p, i)] >= 0 ? 0 : p->f[node_of(p, i)];
  }
  PetscCall(VecRestoreArray(f, &values));
  return PETSC_SUCCESS;
}

/* The row of a node of the slab. */
static PetscErrorCode add_row(const qt_poisson *p, int64_t node, Mat m)
{
  const PetscInt row = p->row[node];
  PetscScalar diagonal = 0;

  for (int edge = 0; edge < 6 && p->g->gate[node] < 0; edge++) {
    const int64_t other = neighbour(p->g, node, edge / 2, edge % 2);
    const double flow = flow_to(p, node, edge / 2, edge % 2);
    const PetscScalar minus = -flow;

    if (flow != 0 && other != node) {
      diagonal += flow;
      if (p->g->gate[other] < 0) {
        PetscCall(MatSetValues(m, 1, &row, 1, &p->row[other], &minus, ADD_VALUES));
      }
    }
  }
  diagonal = p->g->gate[node] >= 0 ? QT_EPSILON_0 : diagonal;
  return MatSetValues(m, 1, &row, 1, &row, &diagonal, ADD_VALUES);
}

static PetscErrorCode add_atom(const qt_poisson *p, int64_t a, Mat m)
{
  const qt_grid *g = p->g;
  double electrons = 0, slope = 0;
  PetscInt row[QT_NODES_OF_ATOM], column[QT_NODES_OF_ATOM];
  PetscScalar value[QT_NODES_OF_ATOM * QT_NODES_OF_ATOM];

  p->response.electrons(p->response.context, a, qt_grid_read(g, p->u, a), &electrons, &slope);
  for (int c = 0; c < QT_NODES_OF_ATOM; c++) { /* rows and columns below 0 are passed over */
    const int64_t node = g->node[a][c];

    column[c] = g->gate[node] >= 0 ? -1 : p->row[node];
    row[c] = lies_in(p, node, p->lo, p->hi) ? column[c] : -1;
    for (int e = 0; e < QT_NODES_OF_ATOM; e++) {
      value[c * QT_NODES_OF_ATOM + e] = -slope * g->share[a][c] * g->share[a][e];
    }
  }
  return MatSetValues(m, QT_NODES_OF_ATOM, row, QT_NODES_OF_ATOM, column, value, ADD_VALUES);
}

static PetscErrorCode jacobian(SNES snes, Vec x, Mat m, Mat same, void *context)
{
  const qt_poisson *p = context;

  (void)snes, (void)same;
  PetscCall(read_vector(p, x));
  PetscCall(MatZeroEntries(m));
  for (int64_t i = 0; i < slab_nodes(p); i++) {
    PetscCall(add_row(p, node_of(p, i), m));
  }
  for (int64_t a = 0; a < p->g->n_atoms; a++) {
    if (touches(p, a, p->lo, p->hi)) {
      PetscCall(add_atom(p, a, m));
    }
  }
  PetscCall(MatAssemblyBegin(m, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(m, MAT_FINAL_ASSEMBLY));
  return PETSC_SUCCESS;
}

static DMBoundaryType boundary(const qt_grid *g, int d)
{
  return g->periodic[d] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
}

/* The mesh of the sharers, in slabs along x. */
static weir_status make_mesh(qt_poisson *p)
{
  const qt_grid *g = p->g;
  const PetscInt n[3] = {(PetscInt)g->n[0], (PetscInt)g->n[1], (PetscInt)g->n[2]};
  ISLocalToGlobalMapping numbers;
  const PetscInt *rows;
  PetscInt *width = NULL;

  WEIR_TRY(weir_alloc(p->sharers, sizeof *width, (void **)&width));
  for (int r = 0; r < p->sharers; r++) {
    int64_t lo, hi;

    qt_ranks_share(g->n[0], r, p->sharers, &lo, &hi);
    width[r] = (PetscInt)(hi - lo);
  }
  const int code = WEIR_PETSC_ALONE(
      DMDACreate3d(p->group, boundary(g, 0), boundary(g, 1), boundary(g, 2), DMDA_STENCIL_BOX, n[0],
                   n[1], n[2], (PetscInt)p->sharers, 1, 1, 1, 1, width, NULL, NULL, &p->mesh));

  weir_free(&width);
  WEIR_PETSC(code);
  WEIR_PETSC(DMSetUp(p->mesh));
  WEIR_PETSC(DMCreateGlobalVector(p->mesh, &p->x));
  WEIR_PETSC(VecDuplicate(p->x, &p->r));
  WEIR_PETSC(DMCreateLocalVector(p->mesh, &p->local));
  WEIR_PETSC(DMGetLocalToGlobalMapping(p->mesh, &numbers));
  WEIR_PETSC(ISLocalToGlobalMappingGetIndices(numbers, &rows));
  WEIR_PETSC(visit(p, take_row, rows));
  WEIR_PETSC(ISLocalToGlobalMappingRestoreIndices(numbers, &rows));
  return WEIR_OK;
}

static weir_status make_solver(qt_poisson *p)
{
  enum { NEIGHBOURS = 27, OF_OTHERS = 18, MAX_NEWTON = 100 };
  const double absolute = 1e-11, relative = 1e-10, step = 1e-13; /* charge of a node, ... */
  KSP ksp;
  PC pc;

  const PetscInt rows = (PetscInt)slab_nodes(p), all = (PetscInt)qt_grid_nodes(p->g);

  WEIR_TRY(make_mesh(p));
  /* That of the mesh has elements for all 27 neighbours, most of which stay 0. */
  WEIR_PETSC(
      MatCreateAIJ(p->group, rows, rows, all, all, NEIGHBOURS, NULL, OF_OTHERS, NULL, &p->matrix));
  WEIR_PETSC(MatSetOption(p->matrix, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  WEIR_PETSC(MatSetOption(p->matrix, MAT_SYMMETRIC, PETSC_TRUE));
  WEIR_PETSC(MatSetOption(p->matrix, MAT_HERMITIAN, PETSC_TRUE));
  WEIR_PETSC(SNESCreate(p->group, &p->snes));
  WEIR_PETSC(SNESSetOptionsPrefix(p->snes, "poisson_"));
  WEIR_PETSC(SNESSetType(p->snes, SNESNEWTONLS));
  WEIR_PETSC(SNESSetFunction(p->snes, p->r, function, p));
  WEIR_PETSC(SNESSetJacobian(p->snes, p->matrix, p->matrix, jacobian, p));
  WEIR_PETSC(SNESSetTolerances(p->snes, absolute, relative, step, MAX_NEWTON, 10000));
  WEIR_PETSC(SNESGetKSP(p->snes, &ksp));
  WEIR_PETSC(KSPSetType(ksp, KSPCG));
  WEIR_PETSC(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  WEIR_PETSC(KSPGetPC(ksp, &pc));
  WEIR_PETSC(PCSetType(pc, PCGAMG));
  WEIR_PETSC(SNESSetFromOptions(p->snes));
  return WEIR_OK;
}

/* Communicator of the ranks that share the equation: the first of the run. Collective. */
static weir_status make_group(qt_poisson *p)
{
  const bool in = p->rank < p->sharers;

  p->group = MPI_COMM_NULL;
  if (qt_ranks_size(p->comm) == 1) {
    p->group = PETSC_COMM_SELF;
    return WEIR_OK;
  }
  if (WEIR_PETSC_ALONE(MPI_Comm_split(PETSC_COMM_WORLD, in ? 0 : MPI_UNDEFINED, p->rank,
                                      &p->group)) != MPI_SUCCESS) {
    return weir_fail(WEIR_ERR_EXTERNAL, "MPI: no group of the ranks that share the potential");
  }
  return WEIR_OK;
}

static weir_status make_arrays(qt_poisson *p)
{
  const qt_grid *g = p->g;
  const int64_t n = qt_grid_nodes(g);
  int64_t cell[3];

  for (int d = 0; d < 3; d++) {
    WEIR_TRY(weir_alloc(n, sizeof(double), (void **)&p->to_next[d]));
  }
  WEIR_TRY(weir_alloc(n, sizeof *p->u, (void **)&p->u));
  WEIR_TRY(weir_alloc(n, sizeof *p->f, (void **)&p->f));
  WEIR_TRY(weir_alloc(n, sizeof *p->row, (void **)&p->row));
  for (cell[2] = 0; cell[2] < g->cells[2]; cell[2]++) {
    for (cell[1] = 0; cell[1] < g->cells[1]; cell[1]++) {
      for (cell[0] = 0; cell[0] < g->cells[0]; cell[0]++) {
        add_cell(g, cell, p->to_next);
      }
    }
  }
  return WEIR_OK;
}

/* Collective. */
static weir_status prepare(const weir_string_list *petsc, int64_t sharers, qt_poisson *p)
{
  const int64_t ranks = qt_ranks_size(p->comm);

  p->rank = qt_ranks_rank(p->comm);
  sharers = sharers < ranks ? sharers : ranks;
  sharers = sharers < p->g->n[0] ? sharers : p->g->n[0];
  p->sharers = (int)sharers;
  WEIR_TRY(qt_ranks_agree(p->comm, qt_petsc_start(petsc)));
  if (p->rank < p->sharers) {
    qt_ranks_share(p->g->n[0], p->rank, p->sharers, &p->lo, &p->hi);
  }
  WEIR_TRY(qt_ranks_agree(p->comm, make_group(p)));
  WEIR_TRY(qt_ranks_agree(p->comm, make_arrays(p)));
  return qt_ranks_agree(p->comm, p->rank < p->sharers ? make_solver(p) : WEIR_OK);
}

weir_status qt_poisson_create(const qt_grid *g, const weir_string_list *petsc, weir_comm *comm,
                              int64_t sharers, qt_poisson **out)
{
  *out = NULL;
  WEIR_TRY(qt_ranks_agree(comm, weir_alloc(1, sizeof **out, (void **)out)));
  **out = (qt_poisson){.g = g, .comm = comm, .group = MPI_COMM_NULL};
  const weir_status status = prepare(petsc, sharers, *out);

  if (status != WEIR_OK) {
    qt_poisson_destroy(out);
  }
  return status;
}

void qt_poisson_destroy(qt_poisson **p)
{
  if (*p == NULL) {
    return;
  }
  (void)WEIR_PETSC_ALONE(SNESDestroy(&(*p)->snes));
  (void)WEIR_PETSC_ALONE(MatDestroy(&(*p)->matrix));
  (void)WEIR_PETSC_ALONE(VecDestroy(&(*p)->x));
  (void)WEIR_PETSC_ALONE(VecDestroy(&(*p)->r));
  (void)WEIR_PETSC_ALONE(VecDestroy(&(*p)->local));
  (void)WEIR_PETSC_ALONE(DMDestroy(&(*p)->mesh));
  if ((*p)->group != MPI_COMM_NULL && qt_ranks_size((*p)->comm) > 1) {
    (void)WEIR_PETSC_ALONE(MPI_Comm_free(&(*p)->group));
  }
  for (int d = 0; d < 3; d++) {
    weir_free(&(*p)->to_next[d]);
  }
  weir_free(&(*p)->u);
  weir_free(&(*p)->f);
  weir_free(&(*p)->row);
  weir_free(p);
}

/* What is left at free nodes, and what flows into gates. */
static void judge(const qt_poisson *p, const double *u, qt_poisson_result *out)
{
  evaluate(p, 0, p->g->n[0], u, p->f);
  out->gate_charge = out->residual = 0;
  for (int64_t i = 0; i < qt_grid_nodes(p->g); i++) {
    if (p->g->gate[i] >= 0) {
      out->gate_charge -= p->f[i];
    } else {
      out->residual = fmax(out->residual, fabs(p->f[i]));
    }
  }
}

/* On the ranks that share it: the slab's share of the solution in p->f. */
static weir_status solve(qt_poisson *p, const double *u, qt_poisson_result *out)
{
  SNESConvergedReason reason;
  PetscInt newton = 0, linear = 0;
  PetscScalar *values;

  WEIR_PETSC(VecGetArray(p->x, &values));
  for (int64_t i = 0; i < slab_nodes(p); i++) {
    values[i] = u[node_of(p, i)];
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
  for (int64_t i = 0; i < slab_nodes(p); i++) {
    p->f[i] = PetscRealPart(values[i]);
  }
  WEIR_PETSC(VecRestoreArray(p->x, &values));
  *out = (qt_poisson_result){.newton = newton, .linear = linear};
  return WEIR_OK;
}

/* Brings the slabs of all ranks, one after the other, to their offsets. Collective. */
static weir_status collect(qt_poisson *p, double *u)
{
  const int64_t nodes = qt_grid_nodes(p->g), lines = p->g->n[1] * p->g->n[2];
  const int ranks = qt_ranks_size(p->comm);
  double *all = NULL;
  int64_t *counts = NULL, begin = 0;
  weir_status status = weir_alloc(nodes, sizeof *all, (void **)&all);

  status = status == WEIR_OK ? weir_alloc(ranks, sizeof *counts, (void **)&counts) : status;
  WEIR_TRY_GOTO(qt_ranks_agree(p->comm, status), done);
  for (int r = 0; r < p->sharers; r++) {
    int64_t lo, hi;

    qt_ranks_share(p->g->n[0], r, p->sharers, &lo, &hi);
    counts[r] = (hi - lo) * lines;
    for (int64_t i = 0; i < counts[r] && r == p->rank; i++) {
      all[begin + i] = p->f[i];
    }
    begin += counts[r];
  }
  WEIR_TRY_GOTO(qt_ranks_allgather_counts(p->comm, "potential", sizeof *all, counts, all), done);
  for (int64_t r = 0, at = 0; r < p->sharers; r++) {
    int64_t lo, hi;

    qt_ranks_share(p->g->n[0], (int)r, p->sharers, &lo, &hi);
    for (int64_t i = 0; i < counts[r]; i++) {
      u[i / (hi - lo) * p->g->n[0] + lo + i % (hi - lo)] = all[at++];
    }
  }
done:
  weir_free(&all);
  weir_free(&counts);
  return status;
}

weir_status qt_poisson_solve(qt_poisson *p, const double *donors, qt_response response, double *u,
                             qt_poisson_result *out)
{
  qt_poisson_result result = {.newton = 0};

  p->donors = donors;
  p->response = response;
  WEIR_TRY(qt_ranks_agree(p->comm, p->rank < p->sharers ? solve(p, u, &result) : WEIR_OK));
  WEIR_TRY(collect(p, u));
  WEIR_TRY(qt_ranks_broadcast(p->comm, "iterations", &result, sizeof result));
  judge(p, u, &result);
  *out = result;
  return WEIR_OK;
}
