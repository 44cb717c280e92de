/* roughness.c - see roughness.h. */
#include "model/roughness.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/shift/weir_shift.h"
#include "ops/slice/weir_slice.h"

#define KERNEL_SIZE 1.0

/* Mean of |w(k) - w(k + 1)| along dimension `dim`. */
static weir_value steps(weir_graph *g, weir_value w, int dim, bool wraps)
{
  const weir_array_desc *d = weir_value_desc(g, w);
  const weir_shift_spec back = {.dim = dim, .by = 1, .border = WEIR_BORDER_WRAP};
  double n = 1;

  if (d == NULL || (d->shape[dim] < 2 && !wraps)) {
    return d == NULL ? WEIR_NO_VALUE : weir_scalar(g, d->dtype, 0);
  }
  for (int k = 0; k < d->rank; k++) {
    n *= (double)(d->shape[k] - (k == dim && !wraps));
  }
  const weir_value to = wraps ? w : weir_slice(g, w, dim, 1, WEIR_SLICE_END, 1);
  const weir_value from = wraps ? weir_shift_with(g, w, &back) : weir_slice(g, w, dim, 0, -1, 1);
  const weir_value step = weir_unary_at(g, WEIR_CODE_ABS, weir_sub(g, to, from), WEIR_WHERE);

  return weir_right_at(g, WEIR_CODE_MUL,
                       weir_reduce_dim_at(g, WEIR_COMBINE_SUM, step, -1, WEIR_WHERE), 1 / n,
                       WEIR_WHERE);
}

weir_value wx_roughness(weir_net *net, const char *weight, const char *bias, bool wraps)
{
  weir_graph *g = net->graph;
  const weir_value w = weir_net_param_value(net, weir_params_find(net->params, weight));
  const weir_value b = weir_net_param_value(net, weir_params_find(net->params, bias));
  const weir_array_desc *d = weir_value_desc(g, b);

  if (d == NULL || d->rank < 3) {
    return weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "roughness: there is no local layer"));
  }
  const int lon = d->rank - 2, lat = lon - 1; /* bias: [.., lat, lon, filters] */
  const weir_value of_w = weir_add(g, steps(g, w, lat, false), steps(g, w, lon, wraps));
  const weir_value of_b = weir_add(g, steps(g, b, lat, false), steps(g, b, lon, wraps));

  return weir_right_at(g, WEIR_CODE_MUL, weir_add(g, of_w, of_b), 1 / (2 * KERNEL_SIZE + 2),
                       WEIR_WHERE);
}
