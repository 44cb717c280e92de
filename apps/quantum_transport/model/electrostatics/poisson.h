/* poisson.h - the nonlinear Poisson equation of a grid, in potential energies U = -e V of
 * electrons:
 *   -div(epsilon grad U) = -(e^2 / epsilon_0) (donors - electrons(U)) of the atoms,
 * by finite volumes around nodes, U given at the nodes of gates, no normal field at other ends of
 * the grid. Charge of atoms goes to nodes, and U of nodes to atoms, by the same shares: the matrix
 * of Newton's method is symmetric, and positive definite where electrons(U) falls.
 *
 * Newton's method is PETSc's SNES on a DMDA, with conjugate gradients and algebraic multigrid
 * (GAMG); options of PETSc have the prefix poisson_. The first ranks of the run share the equation
 * in slabs along x, the others wait; all get the same bits, which depend on the number of ranks
 * that share it. Without PETSc functions that can fail do, with WEIR_ERR_UNSUPPORTED. */
#ifndef QT_POISSON_H
#define QT_POISSON_H
#include "comm/weir_comm.h"
#include "model/electrostatics/grid.h"
#include "model/units.h"

/* Writes electrons less holes of an atom at a potential energy (eV), and the derivative, which is
 * not above 0. */
typedef struct qt_response {
  void (*electrons)(const void *context, int64_t atom, double u, double *n, double *slope);
  const void *context;
} qt_response;

typedef struct qt_poisson qt_poisson;
typedef struct qt_poisson_result {
  int64_t newton, linear; /* iterations */
  double gate_charge;     /* of all gates, by the flux into them, in elementary charges */
  double residual;        /* largest of a node, likewise */
} qt_poisson_result;

/* Borrows grid, options of PETSc and comm, all ranks of the run (NULL: this one is alone), of which
 * up to `sharers` share the equation. Collective. Fails: as qt_petsc_start; WEIR_ERR_EXTERNAL,
 * WEIR_ERR_MEMORY. */
weir_status qt_poisson_create(const qt_grid *g, const weir_string_list *petsc, weir_comm *comm,
                              int64_t sharers, qt_poisson **out) WEIR_CHECKED;
/* Collective. */
void qt_poisson_destroy(qt_poisson **p);
/* Solves for u [nodes]: where Newton's method begins, at nodes of gates the values given; the
 * solution afterwards. donors: [atoms]. All ranks give the same. Collective. Fails on all alike:
 * WEIR_ERR_NUMERIC (no convergence, with the reason), WEIR_ERR_EXTERNAL. */
weir_status qt_poisson_solve(qt_poisson *p, const double *donors, qt_response response, double *u,
                             qt_poisson_result *out) WEIR_CHECKED;

#endif
