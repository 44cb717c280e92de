/* volume.h - bytes that ranks send one another for the self-energies of an iteration, by tensor:
 * from the regions of a plan, exactly, and by the closed formulas of Ziogas et al., SC 19, doi
 * 10.1145/3295500.3357156. */
#ifndef QT_VOLUME_H
#define QT_VOLUME_H
#include "model/scattering/self_energy.h"

/* Of all ranks together. */
typedef struct qt_volume {
  double bytes[QT_TENSORS];
} qt_volume;
double qt_volume_total(const qt_volume *v);

/* Computes from the accesses and the shards of the graphs how much a run of such ranks sends, to
 * the byte; nothing is run, the ranks are not needed. A sum that n ranks share counts 2 (n - 1)
 * times its bytes (weir_request.h). Fails: as qt_self_energy_graph, weir_partition_create and
 * weir_spmd_lower.
 */
weir_status qt_volume_of_tiles(const qt_self_energy_spec *s, const qt_tiles *t,
                               qt_volume *out) WEIR_CHECKED;
/* Returns the volume that this rank sends in a run of plans; its sum over ranks is that of the run,
 * of ranges of atoms, too. */
qt_volume qt_volume_of_plans(const qt_self_energy *s);
/* Ranges of atoms with which fewest bytes move, fewest ranges of equals; of more ranks than
 * QT_VOLUME_MOST_RANKS those that the formula has. Where s->memory splits the atoms of one rank,
 * one range. Fails: likewise. */
enum { QT_VOLUME_MAX_RANKS = 32 };
weir_status qt_tiles_search(const qt_self_energy_spec *s, int ranks, qt_tiles *out) WEIR_CHECKED;

/* What the formulas are of. */
typedef struct qt_volume_sizes {
  double n_k, n_energies, n_frequencies; /* phonons have as many momenta as electrons */
  double n_atoms, n_neighbours, n_orbitals, n_directions;
} qt_volume_sizes;
qt_volume_sizes qt_volume_sizes_of(const qt_self_energy_spec *s);
/* Tiles of n_atoms / atoms atoms and n_energies / energies energies, with n_neighbours atoms and 2
 * n_frequencies energies more: above what tiles move where no tile has more other neighbours, but
 * for Pi: t is summed over ranges of energies by an allreduce, which may move twice that. */
qt_volume qt_volume_formula(const qt_volume_sizes *n, double atoms, double energies);
/* Returns the volume of the earlier scheme: ranks keep their points, G moves to every one of them
 * that a phonon connects, D goes to all ranks and Pi is summed over them. */
qt_volume qt_volume_of_points(const qt_volume_sizes *n, double ranks);

#endif
