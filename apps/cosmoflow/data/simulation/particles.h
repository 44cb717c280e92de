/* particles.h - n^3 particles, each known by its lattice site, and their density on a mesh.
 *
 * Particle (x, y, z) stands at (x, y, z) + d, in sides of a cell of the lattice; both lattice and
 * mesh have a point at the origin, and the box is periodic. Ranks that share both meshes (mesh.h)
 * have the particles of the sites of their slab, wherever these go: positions travel to the ranks
 * of the cells (visitors.h), which add them in the order of the whole lattice. */
#ifndef CF_PARTICLES_H
#define CF_PARTICLES_H
#include <stdbool.h>
#include "data/simulation/positions.h"

/* Mass assignment (Hockney and Eastwood 1988, ch. 5): to the nearest point, to the eight around a
 * particle by linear weights, or to the 27 by quadratic ones (assignment.h alone). The number is
 * its order: waves of the mesh are multiplied by prod_i sinc(w_i / n)^order. */
typedef enum cf_scheme { CF_NGP = 1, CF_CIC = 2, CF_TSC = 3 } cf_scheme;

/* Returns whether all displacements of this rank are finite. */
bool cf_particles_sound(const cf_particles *p);
/* Computes particles per cell of a mesh of any side, shared by the same ranks. One thread a rank,
 * in the order of the lattice: bitwise reproducible, also by any number of ranks; NGP gives whole
 * numbers, exact below 2^24. Collective. */
void cf_particles_deposit(const cf_particles *p, cf_scheme scheme, const cf_mesh *m, float *count);
/* Adds scale force[i] to p[i], interpolated by the weights of CIC, for fields of the lattice; p as
 * d. Collective. */
void cf_particles_kick(const cf_particles *p, float *const force[3], double scale,
                       float *const momentum[3]);
/* Adds scale momentum[i] to d[i]. */
void cf_particles_drift(const cf_particles *p, float *const momentum[3], double scale);
#endif
