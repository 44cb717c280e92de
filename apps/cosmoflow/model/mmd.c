/* mmd.c - see mmd.h. */
#include "model/mmd.h"
#include <string.h>
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"

/* The shape of x with its first dimension replaced by [first, second]; second 0: by first alone. */
static weir_value reshaped(weir_graph *g, weir_value x, int64_t first, int64_t second)
{
  const weir_array_desc *const d = weir_value_desc(g, x);
  const int extra = second > 0;

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  weir_reshape_spec s = {.rank = d->rank + extra, .shape = {first, second}};

  memcpy(s.shape + 1 + extra, d->shape + 1, (size_t)(d->rank - 1) * sizeof *s.shape);
  return weir_reshape(g, x, &s);
}

weir_value cf_mmd_join(weir_graph *g, weir_value source, weir_value target)
{
  const weir_array_desc *const d = weir_value_desc(g, source);

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const int64_t n = d->shape[0];
  const weir_value of[] = {reshaped(g, source, n, 1), reshaped(g, target, n, 1)};
  const weir_value pairs = weir_concat(g, of, 2, 1);
  const weir_array_desc *const p = weir_value_desc(g, pairs);

  if (p == NULL) {
    return WEIR_NO_VALUE;
  }
  weir_reshape_spec s = {.rank = p->rank - 1, .shape = {2 * n}};

  memcpy(s.shape + 1, p->shape + 2, (size_t)(p->rank - 2) * sizeof *s.shape);
  return weir_reshape(g, pairs, &s);
}

weir_value cf_mmd_source(weir_graph *g, weir_value joined)
{
  return weir_slice(g, joined, 0, 0, WEIR_SLICE_END, 2);
}

/* Factors of the pairs of points, [2 n, 2 n]: 1 / (n (n - 1)) of two different ones of one set, -1
 * / n^2 of one of each set, which occur twice; 0 of n = 1. */
static weir_value factors(weir_graph *g, weir_dtype dtype, int64_t n)
{
  const double within = n > 1 ? 1 / ((double)n * (double)(n - 1)) : 0;
  const double across = n > 1 ? -1 / ((double)n * (double)n) : 0;
  weir_tensor t;
  const weir_status status = weir_tensor_init(&t, dtype, 2, (int64_t[]){2 * n, 2 * n});

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  for (int64_t i = 0; i < 2 * n; i++) {
    for (int64_t j = 0; j < 2 * n; j++) {
      weir_dtype_store_real(dtype, t.data, i * 2 * n + j,
                            i == j             ? 0
                            : (i - j) % 2 == 0 ? within
                                               : across);
    }
  }
  const weir_value value = weir_constant(g, &t);

  weir_tensor_fini(&t);
  return value;
}

/* Mean squared differences of all pairs of points [m, f], [m, m]. */
static weir_value distances(weir_graph *g, weir_value x, int64_t m, int64_t f)
{
  const weir_reduce_spec sum = {.combine = WEIR_COMBINE_SUM, .n_dims = 1, .dim = {2}};
  const weir_value rows = weir_reshape(g, x, &((weir_reshape_spec){.rank = 3, .shape = {m, 1, f}}));
  const weir_value columns =
      weir_reshape(g, x, &((weir_reshape_spec){.rank = 3, .shape = {1, m, f}}));
  const weir_value apart = weir_square(g, weir_sub(g, rows, columns));

  return weir_scale(g, weir_reduce(g, &sum, apart), 1 / (double)f);
}

weir_value cf_mmd_square(weir_graph *g, const double *bandwidth, int64_t n_bandwidths,
                         weir_value joined)
{
  const weir_reduce_spec sum = {.combine = WEIR_COMBINE_SUM, .n_dims = 2, .dim = {0, 1}};
  const weir_array_desc *const d = weir_value_desc(g, joined);
  weir_value kernel = WEIR_NO_VALUE;

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const weir_dtype dtype = d->dtype;
  const int64_t m = d->shape[0];
  const weir_value apart = distances(g, joined, m, d->shape[1]);

  for (int64_t b = 0; b < n_bandwidths; b++) {
    const weir_value one = weir_exp(g, weir_scale(g, apart, -0.5 / (bandwidth[b] * bandwidth[b])));

    kernel = b == 0 ? one : weir_add(g, kernel, one);
  }
  return weir_scale(g, weir_reduce(g, &sum, weir_mul(g, kernel, factors(g, dtype, m / 2))),
                    1 / (double)n_bandwidths);
}
