/* simplify.c - the steps of the pass, repeated until none changes anything. */
#include "simplify_priv.h"

typedef weir_status (*step)(weir_graph *g, bool *changed);

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  static const step steps[] = {
      simplify_bodies, simplify_copy_prop, simplify_const_fold, simplify_cse, simplify_dce,
  };
  bool changed = true;

  (void)opts;
  while (changed) {
    changed = false;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
      WEIR_TRY(steps[i](g, &changed));
    }
  }
  return WEIR_OK;
}

const weir_pass weir_pass_simplify = {
    .name = "simplify",
    .cite = "constant folding, common subexpressions, dead code",
    .order = 2,
    .again = 10,
    .run = run,
};
