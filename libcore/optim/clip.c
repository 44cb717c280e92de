/* clip.c - a factor for the whole bank from its norm. */
#include "optim/weir_clip.h"

#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"

const weir_opt weir_clip_opts[] = {
    WEIR_OPT_REAL(
        weir_clip_cfg, norm, 0.0, 0.0, 1e30, "1",
        "longest gradient, over all parameters; a longer one is scaled down to it; 0: any"),
    WEIR_OPT_END,
};

weir_value weir_clip(weir_graph *g, const weir_clip_cfg *cfg, weir_value grad, weir_value *length)
{
  const weir_array_desc *d = weir_value_desc(g, grad);

  if (d == NULL || (cfg->norm == 0 && length == NULL)) {
    return grad;
  }
  const weir_dtype dtype = d->dtype;
  const weir_value norm =
      weir_sqrt(g, weir_sum(g, weir_square(g, weir_cast(g, WEIR_F64, grad)), -1));

  if (length != NULL) {
    *length = norm;
  }
  if (cfg->norm == 0) {
    return grad;
  }
  /* max gives its second argument when that is no number, so the norm stands there. */
  const weir_value most = weir_left_at(g, WEIR_CODE_MAX, cfg->norm, norm, WEIR_WHERE);

  return weir_mul(g, weir_cast(g, dtype, weir_rdiv_scalar(g, cfg->norm, most)), grad);
}
