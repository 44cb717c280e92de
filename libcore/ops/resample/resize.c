/* resize.c - several dimensions, one after the other. */
#include "ops/resample/weir_resize_op.h"

/* Extent of dimension k of the result; -1: what is asked for makes no sense. */
static int64_t size_of(const weir_resize_spec *s, int64_t n, int k)
{
  int64_t size = s->size[k] > 0 ? s->size[k] : n;

  if (s->size[k] < 0 || s->factor[k] < 0 || (s->size[k] > 0 && s->factor[k] > 0)) {
    return -1;
  }
  if (s->factor[k] > 0 && __builtin_mul_overflow(n, s->factor[k], &size)) {
    return -1;
  }
  return size;
}

weir_value weir_resize_at(weir_graph *g, const weir_resize_spec *spec, weir_value x,
                          const char *where)
{
  const weir_array_desc *d = weir_value_desc(g, x);

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const weir_array_desc from = *d;

  if (from.rank < 3 || from.rank > WEIR_RESIZE_DIMS + 2) {
    return weir_graph_fail(
        g, weir_fail(WEIR_ERR_SHAPE,
                     "resize (%s): rank %d: x must be [n, 1 to %d dimensions, channels]", where,
                     from.rank, WEIR_RESIZE_DIMS));
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < from.rank - 2; k++) {
      const int64_t n = from.shape[k + 1], size = size_of(spec, n, k);

      if (size < 0) {
        return weir_graph_fail(
            g, weir_fail(WEIR_ERR_SHAPE, "resize (%s): dimension %d: size %lld and factor %lld",
                         where, k, (long long)spec->size[k], (long long)spec->factor[k]));
      }
      const weir_resample_spec s = {.method = spec->linear ? WEIR_RESAMPLE_RESIZE_LINEAR
                                                           : WEIR_RESAMPLE_RESIZE,
                                    .dim = k + 1,
                                    .length = size,
                                    .border = spec->linear ? spec->border[k] : WEIR_BORDER_NEVER};

      if (size != n && (size < n) == (pass == 0)) {
        x = weir_resample_at(g, &s, x, WEIR_NO_VALUE, where);
      }
    }
  }
  return x;
}
