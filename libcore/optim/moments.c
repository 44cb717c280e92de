/* moments.c - running moments of the gradient, for rules of Adam's family. */
#include "optim/optim_priv.h"

#include <math.h>

/* 1 - beta^step, rank 0. In f64: for beta near 1 the difference has few digits of f32 left. */
static weir_value unbias(weir_graph *g, const weir_rule_args *a, double beta)
{
  return weir_rsub_scalar(g, 1, weir_exp(g, weir_scale(g, a->step, log(beta))));
}

weir_value weir_rule_moments(weir_graph *g, const weir_rule_args *a, weir_value grad, double beta1,
                             double beta2, double eps)
{
  const weir_array_desc *d = weir_value_desc(g, a->param);
  const weir_dtype dtype = d != NULL ? d->dtype : WEIR_F32;
  const weir_value m =
      weir_add(g, weir_scale(g, a->state[0], beta1), weir_scale(g, grad, 1 - beta1));
  const weir_value v = weir_add(g, weir_scale(g, a->state[1], beta2),
                                weir_scale(g, weir_square(g, grad), 1 - beta2));
  const weir_value first = weir_cast(g, dtype, weir_rdiv_scalar(g, 1, unbias(g, a, beta1)));
  const weir_value second =
      weir_cast(g, dtype, weir_rdiv_scalar(g, 1, weir_sqrt(g, unbias(g, a, beta2))));

  weir_update(g, a->state[0], m);
  weir_update(g, a->state[1], v);
  return weir_div(g, weir_mul(g, first, m),
                  weir_add_scalar(g, weir_mul(g, second, weir_sqrt(g, v)), eps));
}
