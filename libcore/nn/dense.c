/* dense.c - y = activation(x weight + bias), on the last dimension. */
#include <string.h>

#include "nn/nn_priv.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reshape/weir_reshape.h"

/* One matrix product, whatever the rank: [rows, in] x [in, units]. */
static weir_value product(weir_net *net, weir_value x, weir_value w, int64_t units,
                          const char *where)
{
  const weir_array_desc *d = weir_value_desc(net->graph, x);
  weir_reshape_spec back = {.rank = d->rank};
  const weir_reshape_spec flat = {.rank = 2, .shape = {-1, d->shape[d->rank - 1]}};
  const bool is_matrix = d->rank == 2;

  memcpy(back.shape, d->shape, sizeof back.shape);
  back.shape[d->rank - 1] = units;
  if (!is_matrix) {
    x = weir_reshape_at(net->graph, x, &flat, where);
  }
  const weir_value y = weir_contract2_at(net->graph, "mk,kn->mn", x, w, where);

  return is_matrix ? y : weir_reshape_at(net->graph, y, &back, where);
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
  weir_value y = product(net, x, weir_param_at(net, "weight", &weight, where), s->units, where);

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
