/* recipe.h - what the sums of the self-energies (self_energy.h) of a device take after each step of
 * the data-centric recipe (Ziogas et al., SC 19, doi 10.1145/3295500.3356200, section 4), counted
 * from the accesses of their graph. Sizes are all that is needed: no array is made, so that devices
 * of any size can be counted. */
#ifndef QT_RECIPE_H
#define QT_RECIPE_H
#include <stdint.h>
#include "base/weir_status.h"
#include "model/scattering/papers/recipe_plan.h"

typedef struct qt_recipe_sizes {
  int64_t n_k, n_energies, n_frequencies;
  int64_t n_atoms, n_neighbours; /* of each atom                                 */
  int64_t n_others;              /* atoms whose G is read, too: 0 where n_atoms are all of them */
  int64_t n_orbitals, n_directions;
} qt_recipe_sizes;

typedef enum qt_recipe_sum { QT_RECIPE_ELECTRONS, QT_RECIPE_PHONONS } qt_recipe_sum;

/* Of the sums of electrons, emission and absorption together, or of phonons. */
typedef struct qt_recipe_count {
  double flops;
  double bytes;   /* that its loops read and write, each element once a loop          */
  double largest; /* bytes of the largest array between loops, 0: there is none       */
  double between; /* of all of them                                                   */
} qt_recipe_count;
/* Counts operations; nothing is computed. Sizes are at least 1, n_others at least 0.
 * Fails: WEIR_ERR_SHAPE (2^62 iterations as written or more), WEIR_ERR_MEMORY. */
weir_status qt_recipe_count_of(const qt_recipe_sizes *s, qt_recipe_step step, qt_recipe_sum sum,
                               qt_recipe_count *out) WEIR_CHECKED;

#endif
