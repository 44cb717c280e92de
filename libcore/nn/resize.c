/* resize.c - interpolation, one dimension after the other. */
#include "nn/weir_resize.h"
#include "base/weir_alloc.h"
#include "ops/resample/weir_resample.h"

weir_value weir_nn_resize_at(weir_graph *g, const weir_nn_resize_spec *spec, weir_value x,
                             const char *where)
{
  const weir_array_desc *d = weir_value_desc(g, x);
  const int dims = d != NULL ? d->rank - 2 : -1;

  if (dims < 1 || dims > WEIR_CONV_DIMS || d->time > 0 || (unsigned)spec->method > WEIR_NN_LINEAR) {
    return weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE,
                                        "resize (%s): takes [n, 1 to %d dimensions, channels]; "
                                        "nearest or linear",
                                        where, WEIR_CONV_DIMS));
  }
  for (int k = 0; k < dims; k++) {
    const int64_t extent = weir_value_desc(g, x)->shape[k + 1];
    const int64_t factor = spec->factor[k] == 0 ? 1 : spec->factor[k];
    int64_t length = spec->size[k];

    if (length < 0 || factor < 0 || (length == 0 && !weir_mul_ok(extent, factor, &length))) {
      return weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE,
                                          "resize (%s): dimension %d to %lld places, or %lld times "
                                          "%lld",
                                          where, k, (long long)spec->size[k], (long long)factor,
                                          (long long)extent));
    }
    if (length != extent) {
      const weir_resample_spec s = {.method = spec->method == WEIR_NN_LINEAR
                                                  ? WEIR_RESAMPLE_RESIZE_LINEAR
                                                  : WEIR_RESAMPLE_RESIZE,
                                    .dim = k + 1,
                                    .length = length};

      x = weir_resample_at(g, &s, x, WEIR_NO_VALUE, where);
    }
    if (x.node < 0) {
      return x;
    }
  }
  return x;
}
