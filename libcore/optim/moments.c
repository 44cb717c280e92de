/* moments.c - running moments of the gradient, for rules of Adam's family. */
#include "optim/optim_priv.h"

#include <math.h>

/* 1 - beta^steps, rank 0. In f64: for beta near 1 the difference has few digits of f32 left. */
static weir_value unbias(weir_graph *g, weir_value steps, double beta)
{
  return weir_rsub_scalar(g, 1, weir_exp(g, weir_scale(g, steps, log(beta))));
}

weir_value weir_rule_moments(weir_graph *g, const weir_rule_args *a, weir_value grad,
                             const weir_moments_spec *spec)
{
  const weir_array_desc *d = weir_value_desc(g, a->param);
  const weir_dtype dtype = d != NULL ? d->dtype : WEIR_F32;
  const weir_value m =
      weir_add(g, weir_scale(g, a->state[0], spec->beta1), weir_scale(g, grad, 1 - spec->beta1));
  weir_value v = weir_add(g, weir_scale(g, a->state[1], spec->beta2),
                          weir_scale(g, weir_square(g, grad), 1 - spec->beta2));
  weir_value seen = a->step; /* steps that v is made of */

  if (spec->freeze_step > 0) {
    const double last = (double)spec->freeze_step;

    v = weir_select(g, weir_le_scalar(g, a->step, last), v, a->state[1]);
    seen = weir_min_scalar(g, a->step, last);
  }
  const weir_value first =
      weir_cast(g, dtype, weir_rdiv_scalar(g, 1, unbias(g, a->step, spec->beta1)));
  const weir_value second =
      weir_cast(g, dtype, weir_rdiv_scalar(g, 1, weir_sqrt(g, unbias(g, seen, spec->beta2))));

  weir_update(g, a->state[0], m);
  weir_update(g, a->state[1], v);
  return weir_div(g, weir_mul(g, first, m),
                  weir_add_scalar(g, weir_mul(g, second, weir_sqrt(g, v)), spec->eps));
}
