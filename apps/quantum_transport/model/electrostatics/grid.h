/* grid.h - the grid of the potential: nodes of a rectangular mesh around a device, dielectrics,
 * gates, and the shares by which atoms and nodes exchange charge and potential. */
#ifndef QT_GRID_H
#define QT_GRID_H
#include "model/electrostatics/electrostatics.h"
#include "model/system.h"

enum { QT_NODES_OF_ATOM = 8 };

/* Nodes at x[0][i], x[1][j], x[2][k], number (k n[1] + j) n[0] + i. Between neighbouring nodes lie
 * cells of constant permittivity, along a periodic axis one more, which ends at x[0] + period. All
 * zero is empty; owns its arrays. */
typedef struct qt_grid {
  int64_t n[3], cells[3]; /* nodes, cells */
  double *x[3];           /* Angstrom, ascending */
  bool periodic[3];
  double period[3];
  double *permittivity; /* [cells], relative, numbered like nodes */
  int *gate;            /* [nodes] gate that holds the node, -1: none */
  int64_t n_atoms;
  int64_t (*node)[QT_NODES_OF_ATOM];
  double (*share)[QT_NODES_OF_ATOM]; /* of an atom: trilinear, sum 1 */
  double origin;                     /* x of the left end of the device */
  double volume;                     /* Angstrom^3 of the semiconductor per atom */
} qt_grid;
void qt_grid_fini(qt_grid *g);
int64_t qt_grid_nodes(const qt_grid *g);

/* Creates a grid of the breakpoints given along each axis, between which spacings are equal and at
 * most `spacing`; relative permittivity 1, no gates, no atoms. A periodic axis repeats from its
 * last breakpoint on. Fails: WEIR_ERR_CONFIG (too many nodes), WEIR_ERR_MEMORY. */
weir_status qt_grid_create(const double *const breaks[3], const int n_breaks[3],
                           const bool periodic[3], double spacing, qt_grid *out) WEIR_CHECKED;
/* Finds nodes and shares of points. Fails: WEIR_ERR_SHAPE (a point outside), WEIR_ERR_MEMORY. */
weir_status qt_grid_assign(qt_grid *g, int64_t count, const double (*point)[3]) WEIR_CHECKED;
/* Creates the grid of a device. Fails: WEIR_ERR_CONFIG naming the gate that is none (outside the
 * device, on the surface of a periodic axis); WEIR_ERR_UNSUPPORTED where positions are made up. */
weir_status qt_grid_of_device(const qt_electrostatics_opts *o, const qt_system *s,
                              qt_grid *out) WEIR_CHECKED;
/* Returns the potential at an atom. */
double qt_grid_read(const qt_grid *g, const double *u, int64_t atom);
/* Donors of an atom, in numbers of elementary charges. */
double qt_grid_doping(const qt_grid *g, const qt_electrostatics_opts *o, double x);

#endif
