/* neighbours.h - the atoms that each atom's electrons reach by the coupling to vibrations
 *   H_ep = sum over a, l of c_a^H sum_i nabla_i H_al (u_l - u_a)_i c_l,
 * as lists of equal length: atoms with fewer neighbours have themselves in their place, with
 * nabla H = 0. Images of an atom in a periodic device are neighbours of their own. */
#ifndef QT_NEIGHBOURS_H
#define QT_NEIGHBOURS_H
#include "model/gradient.h"

/* Owns its arrays (qt_neighbours_fini); all zero is none. */
typedef struct qt_neighbours {
  int64_t n_atoms, n_neighbours; /* at least 1 neighbour                                       */
  int64_t n_orbitals;            /* of an atom, at most: blocks of others are filled up with 0 */
  int64_t n_directions;          /* of displacements: 1 (x) or 3                               */
  int32_t *atom;                 /* [n_atoms, n_neighbours] neighbour l of atom a              */
  int32_t *reverse;              /* [n_atoms, n_neighbours] where l has a, as an element of it */
  int64_t (*image)[2];           /* [n_atoms, n_neighbours] of l, along y and z                */
  weir_c128 *gradient;           /* [n_atoms, n_neighbours, n_directions, n_orbitals, n_orbitals]
                                    nabla_i H_al, eV / Angstrom */
} qt_neighbours;
void qt_neighbours_fini(qt_neighbours *n);

/* Lists the pairs whose nabla H is not 0. Fails: WEIR_ERR_UNSUPPORTED (directions other than 1 and
 * 3), WEIR_ERR_DATA (a pair that has no reverse), WEIR_ERR_MEMORY; *out is then empty.
 */
weir_status qt_neighbours_create(const qt_system *electrons, const qt_gradient *gradient,
                                 int64_t n_directions, qt_neighbours *out) WEIR_CHECKED;

/* Returns whether element (a, b) of the lists is a pair, not filled up. */
static inline bool qt_neighbours_is_pair(const qt_neighbours *n, int64_t a, int64_t b)
{
  return n->atom[a * n->n_neighbours + b] != a;
}

#endif
