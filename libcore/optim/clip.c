/* clip.c - a factor for the whole bank from its norm. */
#include "optim/weir_clip.h"

#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"

const weir_opt weir_clip_opts[] = {
    WEIR_OPT_REAL(
        weir_clip_cfg, max_norm, 0.0, 0.0, 1e30, "1",
        "maximum global L2 gradient norm, to which longer gradients are rescaled; 0: no clipping",
        .alias = "norm"),
    WEIR_OPT_END,
};

/* Euclidean norm of all arrays together, f64. */
static weir_value norm_of(weir_graph *g, const weir_value *grad, int64_t n)
{
  weir_value sum = WEIR_NO_VALUE;

  for (int64_t k = 0; k < n; k++) {
    const weir_value one = weir_sum(g, weir_square(g, weir_cast(g, WEIR_F64, grad[k])), -1);

    sum = k == 0 ? one : weir_add(g, sum, one);
  }
  return weir_sqrt(g, sum);
}

void weir_clip(weir_graph *g, const weir_clip_cfg *cfg, weir_value *grad, int64_t n,
               weir_value *length)
{
  const weir_array_desc *d = n > 0 ? weir_value_desc(g, grad[0]) : NULL;

  if (d == NULL || (cfg->max_norm == 0 && length == NULL)) {
    return;
  }
  const weir_dtype dtype = d->dtype;
  const weir_value norm = norm_of(g, grad, n);

  if (length != NULL) {
    *length = norm;
  }
  if (cfg->max_norm == 0) {
    return;
  }
  /* max gives its second argument when that is NaN, so the norm stands there. */
  const weir_value bounded = weir_left_at(g, WEIR_CODE_MAX, cfg->max_norm, norm, WEIR_WHERE);
  const weir_value factor = weir_cast(g, dtype, weir_rdiv_scalar(g, cfg->max_norm, bounded));

  for (int64_t k = 0; k < n; k++) {
    grad[k] = weir_mul(g, factor, grad[k]);
  }
}
