/* dense.c - y = activation(x weight + bias), on the last dimension. */
#include <stdio.h>

#include "nn/nn_priv.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"

/* One matrix product, whatever the rank: all dimensions but the last are rows. */
static weir_value product(weir_net *net, weir_value x, weir_value w, const char *where)
{
  const char row[] = "abcdefghijklm";
  const int rows = weir_value_desc(net->graph, x)->rank - 1;
  char labels[64];

  (void)snprintf(labels, sizeof labels, "%.*sx,xy->%.*sy", rows, row, rows, row);
  return weir_contract2_at(net->graph, labels, x, w, where);
}

static weir_value dense(weir_net *net, const weir_nn_dense_spec *s, weir_value x, const char *where)
{
  const weir_array_desc *d = weir_value_desc(net->graph, x);

  if (d == NULL || d->rank < 1 || d->time > 0 || s->units < 1) {
    return nn_fail(net, where, "dense: %lld units of an input of rank %d; takes [.., channels]",
                   (long long)s->units, d != NULL ? d->rank : -1);
  }
  const weir_param_spec weight = {.rank = 2,
                                  .shape = {d->shape[d->rank - 1], s->units},
                                  .init = nn_init_or(s->weight, WEIR_INIT_GLOROT_UNIFORM),
                                  .decay = !s->no_decay};
  weir_value y = product(net, x, weir_param_at(net, "weight", &weight, where), where);

  if (!s->no_bias) {
    const weir_value bias =
        nn_vector(net, "bias", s->units, nn_init_or(s->bias, WEIR_INIT_ZEROS), where);

    y = weir_binary_at(net->graph, WEIR_CODE_ADD, y, bias, where);
  }
  return nn_label(net, weir_activation_at(net->graph, &s->activation, y, where));
}

weir_value weir_nn_dense_at(weir_net *net, const char *name, const weir_nn_dense_spec *spec,
                            weir_value x, const char *where)
{
  weir_net_push(net, name);
  const weir_value y = dense(net, spec, x, where);

  weir_net_pop(net);
  return y;
}
