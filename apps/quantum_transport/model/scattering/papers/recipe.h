/* recipe.h - what the sums of the self-energies (self_energy.h) of a device take after each step of
 * the data-centric recipe (Ziogas et al., SC 19, doi 10.1145/3295500.3356200, section 4), counted
 * from the accesses of their graph. Sizes are all that is needed: no array is made, so that devices
 * of any size can be counted. */
#ifndef QT_RECIPE_H
#define QT_RECIPE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "exec/weir_plan.h"

typedef struct qt_recipe_sizes {
  int64_t n_k, n_energies, n_frequencies;
  int64_t n_atoms, n_neighbours; /* of each atom                                 */
  int64_t n_others;              /* atoms whose G is read, too: 0 where n_atoms are all of them */
  int64_t n_orbitals, n_directions;
} qt_recipe_sizes;

/* Each step with those before it, REORDERED in place of HOISTED. */
typedef enum qt_recipe_step {
  QT_RECIPE_WRITTEN,   /* one loop over everything                                        */
  QT_RECIPE_FISSIONED, /* each product a loop of its own                                  */
  QT_RECIPE_HOISTED,   /* what does not depend on q, hbar omega is made once (redundancy) */
  QT_RECIPE_WINDOWED,  /* sums over hbar omega as products with windows, margins of zeros */
  QT_RECIPE_REORDERED, /* products in the order of fewest flops                           */
  QT_RECIPE_STEPS
} qt_recipe_step;
extern const char *const qt_recipe_names[QT_RECIPE_STEPS];

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

/* ---- Plans of each step, to be run ---- */

typedef enum qt_recipe_stage {
  QT_RECIPE_STAGE_WRITTEN,
  QT_RECIPE_STAGE_PRODUCTS, /* map fission                                               */
  QT_RECIPE_STAGE_HOISTED,  /* redundancy removal                                        */
  QT_RECIPE_STAGE_BATCHED,  /* layout of arrays, and kernels of batched products         */
  QT_RECIPE_STAGE_WINDOWED, /* of sliding windows: multiplication fusion                 */
  QT_RECIPE_STAGE_FUSED,    /* loops fused and tiled                                     */
  QT_RECIPE_STAGE_REORDERED,
  QT_RECIPE_STAGES
} qt_recipe_stage;

/* Passes and kernels of a stage, those of the stages before it included. */
typedef struct qt_recipe_plan {
  const char *name;
  qt_recipe_step step;       /* whose counts are those of its loops */
  const char *kernel, *skip; /* as weir_exec_cfg                    */
} qt_recipe_plan;
extern const qt_recipe_plan qt_recipe_plans[QT_RECIPE_STAGES];
/* Sets them in cfg, all else of which stays. */
void qt_recipe_configure(const qt_recipe_plan *p, weir_exec_cfg *cfg);

#endif
