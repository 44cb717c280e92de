/* resize.c - interpolation by the operators' resize. */
#include <string.h>

#include "nn/weir_resize.h"
#include "ops/resample/weir_resize_op.h"

weir_value weir_nn_resize_at(weir_graph *g, const weir_nn_resize_spec *spec, weir_value x,
                             const char *where)
{
  weir_resize_spec s = {.linear = spec->method == WEIR_NN_LINEAR};

  if ((unsigned)spec->method > WEIR_NN_LINEAR) {
    return weir_graph_fail(
        g, weir_fail(WEIR_ERR_SHAPE, "resize (%s): takes nearest or linear", where));
  }
  memcpy(s.border, spec->border, sizeof s.border);
  for (int k = 0; k < WEIR_CONV_DIMS; k++) { /* a size goes before a factor */
    s.size[k] = spec->size[k];
    s.factor[k] = spec->size[k] == 0 ? spec->factor[k] : 0;
  }
  return weir_resize_at(g, &s, x, where);
}
