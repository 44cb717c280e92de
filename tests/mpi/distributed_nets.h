/* distributed_nets.h - training graphs of layers for distributed.c: loss, gradients and a step of
 * the bank of parameters. Tests only. */
#ifndef DISTRIBUTED_NETS_H
#define DISTRIBUTED_NETS_H
#include "distributed_check.h"

#include "nn/weir_layer.h"
#include "nn/weir_loss.h"
#include "nn/weir_norm.h"
#include "nn/weir_resize.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reshape/weir_reshape.h"
#include "pass/autodiff/weir_gradients.h"

typedef weir_value (*dist_net)(weir_net *net, weir_value x);

/* What the second level of the network that was built last begins with. */
static weir_value dist_middle;

static inline weir_value dist_pooled(weir_net *net, weir_value x)
{
  return weir_pool_max(net->graph, (&(weir_pool_spec){.kernel_size = {2, 2, 2}}), x);
}

static inline weir_value dist_convolved(weir_net *net, const char *name, int64_t kernel_size,
                                        int64_t filters, weir_value x)
{
  const weir_nn_conv_spec s = {.filters = filters,
                               .kernel_size = {kernel_size, kernel_size, kernel_size},
                               .activation = {WEIR_ACTIVATION_LEAKY_RELU, 0.3}};

  return weir_nn_conv(net, name, &s, x);
}

/* As CosmoFlow: convolutions and pools, dense layers with dropout, tanh. */
static inline weir_value dist_cosmo(weir_net *net, weir_value x)
{
  const int64_t n = weir_value_desc(net->graph, x)->shape[0];
  const weir_nn_dense_spec dense = {.units = 6, .activation = {WEIR_ACTIVATION_LEAKY_RELU, 0.3}};
  const weir_nn_dense_spec last = {.units = 3, .activation = {WEIR_ACTIVATION_TANH, 0}};

  x = dist_pooled(net, dist_convolved(net, "conv1", 3, 4, x));
  dist_middle = dist_convolved(net, "conv2", 3, 6, x);
  x = dist_convolved(net, "conv3", 2, 5, dist_pooled(net, dist_middle));
  x = weir_reshape(net->graph, x, &((weir_reshape_spec){.rank = 2, .shape = {n, -1}}));
  x = weir_nn_dropout(net, "drop", &(weir_nn_dropout_spec){.rate = 0.4},
                      weir_nn_dense(net, "dense1", &dense, x));
  return weir_nn_dense(net, "dense2", &last, x);
}

/* As a U-Net: normalisation by batch and by sample, down, up by a transposed convolution and by
 * interpolation, joined with what was there before. */
static inline weir_value dist_unet(weir_net *net, weir_value x)
{
  const weir_nn_norm_spec batch = {.kind = WEIR_NORM_BATCH}, each = {.kind = WEIR_NORM_INSTANCE};
  const weir_nn_conv_spec up = {
      .filters = 3, .kernel_size = {2, 2, 2}, .conv = {.stride = {2, 2, 2}}};
  const weir_nn_resize_spec linear = {.method = WEIR_NN_LINEAR, .factor = {2, 2, 2}};
  const weir_value one = weir_nn_norm(net, "norm1", &batch, dist_convolved(net, "enc1", 3, 3, x));

  dist_middle = dist_convolved(net, "enc2", 3, 4, dist_pooled(net, one));
  const weir_value two = weir_nn_norm(net, "norm2", &each, dist_middle);
  const weir_value deep = dist_convolved(net, "deep", 3, 4, dist_pooled(net, two));
  const weir_value mid[] = {weir_nn_conv_transposed(net, "up", &up, deep), two};
  const weir_value half = dist_convolved(net, "dec2", 3, 3, weir_concat(net->graph, mid, 2, 4));
  const weir_value top[] = {weir_nn_resize(net->graph, &linear, half), one};

  return dist_convolved(net, "dec1", 1, 1, weir_concat(net->graph, top, 2, 4));
}

/* The mean square against `truth`, what it has as gradients, and a step of the bank. */
static inline void dist_train(dist_case *c, weir_net *net, weir_value y, weir_value truth)
{
  enum { MOST = 32 };
  const int n = (int)weir_params_count(net->params);
  const weir_value loss = weir_loss_mse(c->g, y, truth, WEIR_NO_VALUE);
  const weir_value bank = weir_stored(c->g, c->store, WEIR_PARAMS_FLAT);
  weir_value wrt[MOST], grad[MOST];

  assert_true(n <= MOST);
  for (int k = 0; k < n; k++) {
    wrt[k] = weir_net_param_value(net, k);
  }
  assert_ok(weir_gradients(c->g, loss, wrt, n, grad));
  for (int k = 0; k < n; k++) {
    grad[k] = weir_reshape(
        c->g, grad[k],
        &((weir_reshape_spec){.rank = 1, .shape = {weir_params_get(net->params, k)->count}}));
  }
  const weir_value all = weir_concat(c->g, grad, n, 0);

  weir_output(c->g, "prediction", y);
  weir_output(c->g, "loss", loss);
  weir_output(c->g, "gradient", all);
  weir_update(c->g, bank, weir_sub(c->g, bank, weir_scale(c->g, all, 0.5)));
}

/* The graph of a step over [n, side, side, side, 2] and its shards: samples along dimension 0 of
 * the grid, space along the others. uneven: as dist_cut. */
static inline void dist_build(dist_case *c, dist_net build, int64_t n, const int64_t side[3],
                              uint64_t uneven)
{
  const weir_array_desc in = {c->dtype, 5, {n, side[0], side[1], side[2], 2}, 0};
  weir_graph *thrown;
  weir_params *params;
  weir_net net;

  assert_ok(weir_params_create(c->dtype, &params));
  assert_ok(weir_graph_create(&thrown));
  weir_net_init(&net, thrown, params, true);
  (void)build(&net, weir_input(thrown, "x", &in));
  assert_ok(weir_graph_status(thrown));
  weir_net_fini(&net);
  weir_graph_destroy(&thrown);
  assert_ok(weir_params_seal(params, c->store));
  assert_ok(weir_params_init(params, c->store, 3));
  weir_net_init(&net, c->g, params, true);
  const weir_value x = weir_input(c->g, "x", &in), y = build(&net, x);
  const weir_value truth = weir_input(c->g, "truth", weir_value_desc(c->g, y));

  for (int k = 0; k < c->grid.dims; k++) {
    dist_cut(c, x, k, k, uneven);
    if (k < weir_value_desc(c->g, y)->rank - 1) {
      dist_cut(c, truth, k, k, uneven);
    }
  }
  dist_train(c, &net, y, truth);
  weir_net_fini(&net);
  weir_params_destroy(&params);
}
#endif
