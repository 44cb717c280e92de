/* average.c - a <- a + (1 - d) / (1 - d^t) (p - a), p the new parameters. */
#include "optim/weir_average.h"

#include <math.h>

#include "ops/elementwise/weir_elementwise.h"

const weir_opt weir_average_opts[] = {
    WEIR_OPT_REAL(weir_average_cfg, decay, 0.0, 0.0, 0.999999, "1",
                  "decay of the exponential moving average of the parameters; 0: no average"),
    WEIR_OPT_END,
};

/* The value of the stored array after the run; WEIR_NO_VALUE where nothing updates it. */
static weir_value updated(const weir_graph *g, weir_value stored)
{
  const int32_t array = weir_value_array(g, stored);
  const int32_t next = array >= 0 ? weir_graph_get_array(g, array)->update : -1;

  for (int32_t i = weir_graph_nodes(g) - 1; i >= 0 && next >= 0; i--) {
    const weir_node *node = weir_graph_node(g, i);

    for (int k = 0; k < node->n_out; k++) {
      if (node->out[k] == next) {
        return (weir_value){i, k};
      }
    }
  }
  return WEIR_NO_VALUE;
}

weir_status weir_average(weir_graph *g, const weir_average_cfg *cfg, weir_value param,
                         weir_value average, weir_value step)
{
  const weir_value p = updated(g, param);
  const weir_array_desc *d = weir_value_desc(g, p), *t = weir_value_desc(g, step);

  WEIR_TRY(weir_graph_status(g));
  if (cfg->decay == 0) {
    return WEIR_OK;
  }
  if (d == NULL || t == NULL || t->rank != 0) {
    return weir_fail(WEIR_ERR_SHAPE, "average: %s",
                     d == NULL ? "no rule updates the parameters" : "the step must be a scalar");
  }
  const weir_dtype dtype = d->dtype;
  /* In f64: for decay near 1 the differences have few digits of f32 left. */
  const weir_value kept = weir_exp(g, weir_scale(g, weir_cast(g, WEIR_F64, step), log(cfg->decay)));
  const weir_value share = weir_rdiv_scalar(g, 1 - cfg->decay, weir_rsub_scalar(g, 1, kept));
  const weir_value move = weir_mul(g, weir_cast(g, dtype, share), weir_sub(g, p, average));

  weir_update(g, average, weir_add(g, average, move));
  return weir_graph_status(g);
}
