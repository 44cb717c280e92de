/* recipe_plan.h - the steps of the data-centric recipe (Ziogas et al., SC 19, doi
 * 10.1145/3295500.3356200, section 4) as passes and kernels, by which plans are made and counted.
 */
#ifndef QT_RECIPE_PLAN_H
#define QT_RECIPE_PLAN_H
#include <stdbool.h>
#include "exec/weir_plan.h"

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
/* Return how the products of a step are split, and whether its sums over energies are windows. */
weir_fission qt_recipe_fission(qt_recipe_step step);
bool qt_recipe_has_windows(qt_recipe_step step);

#endif
