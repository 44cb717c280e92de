/* tiles.h - which part of scattering each rank computes, and how arrays are cut for it.
 *
 * Green's functions are of points: a rank has a box of wave vectors and energies (of phonons:
 * frequencies), with all atoms. Self-energies are of tiles: a rank has a range of atoms and one of
 * energies, with all wave vectors. What moves from the one to the other follows from the accesses
 * (pass/partition). */
#ifndef QT_TILES_H
#define QT_TILES_H
#include "comm/weir_comm.h"
#include "exec/weir_plan.h"

enum { QT_POINTS_OF_ELECTRONS, QT_POINTS_OF_PHONONS, QT_POINT_KINDS };

/* Wave vectors [k[0], k[1]) and energies or frequencies [e[0], e[1]). */
typedef struct qt_point_box {
  int64_t k[2], e[2];
} qt_point_box;
static inline int64_t qt_point_box_count(const qt_point_box *b)
{
  return (b->k[1] - b->k[0]) * (b->e[1] - b->e[0]);
}

/* atoms * energies = ranks. */
typedef struct qt_tiles {
  weir_comm *comm;             /* NULL: nothing is run, bytes are predicted at most           */
  int ranks, atoms, energies;  /* ranges of atoms (T_A) and of energies (T_E)                 */
  int momenta[QT_POINT_KINDS]; /* ranges of wave vectors of points, the others are of energies */
  bool by_frequency;           /* no tiles: self-energies stay with their points, where G, C and t
                                  move for one frequency after another; atoms 1 */
} qt_tiles;
/* Ranges of wave vectors for ranks that have as few points as can be; atoms divides ranks. */
qt_tiles qt_tiles_of(int ranks, int atoms, int64_t n_k, int64_t n_energies, int64_t n_frequencies);
/* Points of a rank, of n_k wave vectors and n_e energies or frequencies. t NULL: all. */
qt_point_box qt_tiles_points(const qt_tiles *t, int kind, int rank, int64_t n_k, int64_t n_e);

/* Cuts of the arrays of a graph, for a plan of all ranks. */
enum { QT_MOST_CUTS = 32 };
typedef struct qt_cuts {
  const qt_tiles *tiles;
  weir_shard cut[QT_MOST_CUTS];
  int64_t *bounds[QT_MOST_CUTS]; /* owned */
  int n;
} qt_cuts;
void qt_cuts_fini(qt_cuts *c);
/* The grid of all cuts. */
weir_grid qt_cuts_grid(const qt_cuts *c);
/* Of the arrays of values; c NULL: nothing is cut. Memory that is missing fails the graph.
 * By points, wave vectors being dimension `dim` and energies the next one. */
void qt_cut_points(qt_cuts *c, weir_graph *g, weir_value v, int dim, int kind);
/* By tile: dimensions of atoms and of energies; energy -1: each rank has all it sums over. */
void qt_cut_tile(qt_cuts *c, weir_graph *g, weir_value v, int atom, int energy);
/* Not at all: every rank has all of it. */
void qt_cut_nowhere(qt_cuts *c, weir_graph *g, weir_value v);
/* By atoms alone, among all ranks. */
void qt_cut_atoms(qt_cuts *c, weir_graph *g, weir_value v, int atom);

#endif
