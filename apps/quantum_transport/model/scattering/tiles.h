/* tiles.h - which part of scattering each rank computes, and how arrays are sharded for it.
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
/* Returns the ranges of wave vectors for ranks that have as few points as can be; atoms divides
 * ranks. */
qt_tiles qt_tiles_of(int ranks, int atoms, int64_t n_k, int64_t n_energies, int64_t n_frequencies);
/* Returns the box of points of a rank, of n_k wave vectors and n_e energies or frequencies. t NULL:
 * all.
 */
qt_point_box qt_tiles_points(const qt_tiles *t, int kind, int rank, int64_t n_k, int64_t n_e);

/* Shards of the arrays of a graph, for a plan of all ranks. */
enum { QT_MAX_SHARDS = 32 };
typedef struct qt_shards {
  const qt_tiles *tiles;
  weir_shard shard[QT_MAX_SHARDS];
  int64_t *bounds[QT_MAX_SHARDS]; /* owned */
  int n;
} qt_shards;
void qt_shards_fini(qt_shards *c);
/* Returns the grid of all shards. */
weir_grid qt_shards_grid(const qt_shards *c);
/* Shards the arrays of values; c NULL: none. Memory that is missing fails the graph.
 * By points: wave vectors are dimension `dim`, energies the next one. */
void qt_shard_points(qt_shards *c, weir_graph *g, weir_value v, int dim, int kind);
/* Shards by tile: dimensions of atoms and of energies; energy -1: each rank has all that it sums
 * over. */
void qt_shard_tile(qt_shards *c, weir_graph *g, weir_value v, int atom, int energy);
/* Replicates: every rank has all of it. */
void qt_shard_replicate(qt_shards *c, weir_graph *g, weir_value v);
/* Shards by atoms alone, among all ranks. */
void qt_shard_atoms(qt_shards *c, weir_graph *g, weir_value v, int atom);

#endif
