/* dense.c - see dense.h. */
#include "model/dense.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "nn/weir_layer.h"
#include "ops/elementwise/weir_elementwise.h"

const weir_opt wx_dense_options[] = {
    WEIR_OPT_INT_LIST(wx_dense_opts, units, "32", 1, 65536, "1",
                      "units of the hidden layers, one after another"),
    WEIR_OPT_INT(wx_dense_opts, embedding, 2, 0, 4096, "1",
                 "learnt numbers that stand for a station or grid point (Rasp and Lerch 2018: 2); "
                 "0: none"),
    WEIR_OPT_ONE_OF(wx_dense_opts, activation, weir_activation_list,
                    "activation after each hidden layer; empty: relu"),
    WEIR_OPT_END,
};

/* Numbers of every position through a layer without a bias: [space.., units]. As in Keras they
 * begin within 0.05 of 0. */
static weir_value embedded(weir_net *net, const wx_dense_opts *o, int64_t units, weir_value x)
{
  const weir_array_desc *const d = weir_value_desc(net->graph, x);
  const weir_nn_dense_spec layer = {.units = units, .no_bias = true};
  weir_param_spec of = {
      .init = {.kind = WEIR_INIT_HE_UNIFORM, .gain = 0.05 / sqrt(6), .fan_in = 1}};

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  of.rank = d->rank - 1;
  memcpy(of.shape, d->shape + 1, sizeof *of.shape * (size_t)of.rank);
  of.shape[of.rank - 1] = o->embedding;
  return weir_nn_dense(net, "embedded", &layer, weir_param(net, "embedding", &of));
}

weir_value wx_dense(weir_net *net, const wx_dense_opts *o, int64_t outputs, weir_value x)
{
  const weir_activation relu = {.kind = WEIR_ACTIVATION_RELU};
  const weir_activation f = o->activation.name != NULL && o->activation.name[0] != 0
                                ? weir_activation_of(&o->activation)
                                : relu;
  weir_value h = x;

  for (int64_t k = 0; k <= o->units.count; k++) {
    const bool last = k == o->units.count;
    const weir_nn_dense_spec layer = {.units = last ? outputs : o->units.items[k]};
    char name[32];

    (void)snprintf(name, sizeof name, last ? "output" : "hidden%d", (int)k + 1);
    h = weir_nn_dense(net, name, &layer, h);
    if (k == 0 && o->embedding > 0) {
      h = weir_add(net->graph, h, embedded(net, o, layer.units, x));
    }
    h = last ? h : weir_activate(net->graph, &f, h);
  }
  return h;
}
