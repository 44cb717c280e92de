/* dropout.c - elements left out at random while training. */
#include <string.h>

#include "nn/nn_priv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/random/weir_random_op.h"

/* The net's seed, moved by the scoped name: layers draw apart from one another. */
static weir_value key(weir_net *net, const char *where)
{
  int64_t hash = (int64_t)(weir_init_hash(net->scope) >> 1);
  const weir_tensor t = weir_tensor_wrap(&hash, WEIR_I64, 0, NULL);

  return weir_binary_at(net->graph, WEIR_CODE_ADD, weir_net_seed(net),
                        weir_constant(net->graph, &t), where);
}

static weir_value leave_out(weir_net *net, const weir_nn_dropout_spec *s, weir_value x,
                            const char *where)
{
  weir_graph *g = net->graph;
  const weir_array_desc *d = weir_value_desc(g, x);

  if (d == NULL || !weir_dtype_is_real(d->dtype) || d->time > 0 || (s->channels && d->rank < 2) ||
      !(s->rate >= 0 && s->rate < 1)) {
    return nn_fail(net, where,
                   "dropout: rate %g of an array of rank %d: the rate must be in [0, 1), the array "
                   "floats, [n, .., channels] for whole channels",
                   s->rate, d != NULL ? d->rank : -1);
  }
  if (!net->train || s->rate == 0) {
    return x;
  }
  weir_random_spec bits = {.kind = WEIR_RANDOM_UNIFORM, .dtype = d->dtype, .rank = d->rank};

  memcpy(bits.shape, d->shape, sizeof bits.shape);
  for (int k = 1; s->channels && k < d->rank - 1; k++) {
    bits.shape[k] = 1;
  }
  const weir_value none = weir_scalar(g, d->dtype, 0);
  const weir_value drawn = weir_random_at(g, &bits, key(net, where), weir_net_step(net), where);
  const weir_value kept = weir_right_at(g, WEIR_CODE_GE, drawn, s->rate, where);
  const weir_value scaled = weir_right_at(g, WEIR_CODE_MUL, x, 1 / (1 - s->rate), where);

  return nn_label(net, weir_ternary_at(g, WEIR_CODE_SELECT, kept, scaled, none, where));
}

weir_value weir_nn_dropout_at(weir_net *net, const char *name, const weir_nn_dropout_spec *spec,
                              weir_value x, const char *where)
{
  weir_net_push(net, name);
  const weir_value y = leave_out(net, spec, x, where);

  weir_net_pop(net);
  return y;
}
