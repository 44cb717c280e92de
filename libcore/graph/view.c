/* view.c - views of whole tensors. */
#include "graph/weir_view.h"

#include <string.h>

weir_view weir_view_of(const weir_tensor *t)
{
  weir_view v = {.data = t->data, .dtype = t->dtype, .rank = t->rank};

  memcpy(v.stride, t->stride, sizeof v.stride);
  memcpy(v.extent, t->shape, sizeof v.extent);
  return v;
}
