/* recipe_plan.c - see recipe_plan.h. */
#include "model/scattering/papers/recipe_plan.h"

#include "pass/weir_pass.h"

const char *const qt_recipe_names[QT_RECIPE_STEPS] = {
    [QT_RECIPE_WRITTEN] = "as written",
    [QT_RECIPE_FISSIONED] = "map fission",
    [QT_RECIPE_HOISTED] = "redundancy removal",
    [QT_RECIPE_WINDOWED] = "batched products over windows",
    [QT_RECIPE_REORDERED] = "order of fewest flops",
};

const qt_recipe_plan qt_recipe_plans[QT_RECIPE_STAGES] = {
    [QT_RECIPE_STAGE_WRITTEN] = {"as written", QT_RECIPE_WRITTEN, "none", "group,format,tile"},
    [QT_RECIPE_STAGE_PRODUCTS] = {"fission into products", QT_RECIPE_FISSIONED, "none",
                                  "group,format,tile"},
    [QT_RECIPE_STAGE_HOISTED] = {"redundancy removal", QT_RECIPE_HOISTED, "none",
                                 "group,format,tile"},
    [QT_RECIPE_STAGE_BATCHED] = {"layout and batched products", QT_RECIPE_HOISTED, "auto",
                                 "group,tile"},
    [QT_RECIPE_STAGE_WINDOWED] = {"sliding windows", QT_RECIPE_WINDOWED, "auto", "group,tile"},
    [QT_RECIPE_STAGE_FUSED] = {"fusion and tiling", QT_RECIPE_WINDOWED, "auto", ""},
    [QT_RECIPE_STAGE_REORDERED] = {"order of products", QT_RECIPE_REORDERED, "auto", ""},
};

weir_fission qt_recipe_fission(qt_recipe_step step)
{
  static const weir_fission fission[QT_RECIPE_STEPS] = {
      [QT_RECIPE_WRITTEN] = WEIR_FISSION_OFF,
      [QT_RECIPE_FISSIONED] = WEIR_FISSION_PRODUCTS,
      [QT_RECIPE_HOISTED] = WEIR_FISSION_HOIST,
      [QT_RECIPE_WINDOWED] = WEIR_FISSION_HOIST,
      [QT_RECIPE_REORDERED] = WEIR_FISSION_REASSOCIATE,
  };

  return fission[step];
}

bool qt_recipe_has_windows(qt_recipe_step step)
{
  return step >= QT_RECIPE_WINDOWED;
}

void qt_recipe_configure(const qt_recipe_plan *p, weir_exec_cfg *cfg)
{
  cfg->fission = (int)qt_recipe_fission(p->step);
  cfg->window = qt_recipe_has_windows(p->step);
  cfg->kernel = p->kernel;
  cfg->skip = p->skip;
}
