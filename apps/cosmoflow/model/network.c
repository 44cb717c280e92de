/* network.c - mlcommons/hpc, cosmoflow/models/cosmoflow.py, layer by layer. */
#include "model/network.h"
#include <stdio.h>
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reshape/weir_reshape.h"

enum { NAME = 32 };

const weir_opt cf_network_options[] = {
    WEIR_OPT_INT(cf_network_cfg, size, 128, 4, 1024, "1",
                 "voxels along each side of a sample (MLPerf HPC: 128)"),
    WEIR_OPT_INT(cf_network_cfg, channels, 4, 1, 64, "1",
                 "channels of a sample: redshifts (MLPerf HPC: 4)"),
    WEIR_OPT_INT(cf_network_cfg, kernel, 3, 1, 7, "1",
                 "taps of the convolutions (MLPerf HPC v1.0 and later: 3; v0.7: 2)"),
    WEIR_OPT_INT(cf_network_cfg, blocks, 0, 0, 8, "1",
                 "convolutions, each with pooling; 0: as many as leave 4 voxels a side"),
    WEIR_OPT_INT(cf_network_cfg, base, 32, 1, 1024, "1", "filters of the first convolution"),
    WEIR_OPT_INT(cf_network_cfg, most, 512, 1, 4096, "1",
                 "most filters: they double from block to block up to this"),
    WEIR_OPT_INT(cf_network_cfg, hidden1, 128, 1, 65536, "1", "units of the first dense layer"),
    WEIR_OPT_INT(cf_network_cfg, hidden2, 64, 1, 65536, "1", "units of the second dense layer"),
    WEIR_OPT_INT(cf_network_cfg, outputs, 4, 1, 64, "1", "parameters that are estimated"),
    WEIR_OPT_REAL(cf_network_cfg, slope, 0.3, 0, 1, "1", "of the leaky ReLU below 0"),
    WEIR_OPT_REAL(cf_network_cfg, dropout, 0.5, 0, 0.99, "1",
                  "share of the units of a hidden dense layer that a training step leaves out"),
    WEIR_OPT_REAL(
        cf_network_cfg, scale, 1.2, 0.01, 100, "1",
        "what tanh is multiplied by; above 1, so that labels of -1 and 1 are within reach"),
    WEIR_OPT_END,
};

int64_t cf_network_blocks(const cf_network_cfg *cfg)
{
  int64_t blocks = 0;

  for (int64_t side = cfg->size; side > 4; side /= 2) {
    blocks++;
  }
  return cfg->blocks > 0 ? cfg->blocks : blocks;
}

/* Of block i, from 0. */
static int64_t filters(const cf_network_cfg *cfg, int64_t i)
{
  int64_t n = cfg->base;

  while (i-- > 0 && n < cfg->most) {
    n *= 2;
  }
  return n < cfg->most ? n : cfg->most;
}

int64_t cf_network_elements(const cf_network_cfg *cfg)
{
  const int64_t blocks = cf_network_blocks(cfg), taps = cfg->kernel * cfg->kernel * cfg->kernel;
  int64_t channels = cfg->channels, side = cfg->size, sum = 0;

  for (int64_t i = 0; i < blocks; i++) {
    sum += (taps * channels + 1) * filters(cfg, i);
    channels = filters(cfg, i);
    side /= 2;
  }
  sum += (side * side * side * channels + 1) * cfg->hidden1;
  return sum + (cfg->hidden1 + 1) * cfg->hidden2 + (cfg->hidden2 + 1) * cfg->outputs;
}

/* Convolution, leaky ReLU, the maximum of each 2 x 2 x 2. */
static weir_value block(weir_net *net, const cf_network_cfg *cfg, int64_t i, weir_value v)
{
  const weir_nn_conv_spec spec = {.filters = filters(cfg, i),
                                  .taps = {cfg->kernel, cfg->kernel, cfg->kernel},
                                  .activation = {WEIR_ACTIVATION_LEAKY_RELU, cfg->slope},
                                  .no_decay = true};
  const weir_pool_spec halves = {.combine = WEIR_COMBINE_MAX, .taps = {2, 2, 2}};
  char name[NAME];

  (void)snprintf(name, sizeof name, "conv%lld", (long long)(i + 1));
  return weir_pool_max(net->graph, &halves, weir_nn_conv(net, name, &spec, v));
}

/* A hidden dense layer. */
static weir_value hidden(weir_net *net, const cf_network_cfg *cfg, int number, int64_t units,
                         weir_value v)
{
  const weir_nn_dense_spec spec = {.units = units,
                                   .activation = {WEIR_ACTIVATION_LEAKY_RELU, cfg->slope}};
  const weir_nn_dropout_spec some = {.rate = cfg->dropout};
  char dense[NAME], dropout[NAME];

  (void)snprintf(dense, sizeof dense, "dense%d", number);
  (void)snprintf(dropout, sizeof dropout, "dropout%d", number);
  return weir_nn_dropout(net, dropout, &some, weir_nn_dense(net, dense, &spec, v));
}

weir_value cf_network(weir_net *net, const cf_network_cfg *cfg, weir_value x)
{
  const weir_array_desc *in = weir_value_desc(net->graph, x);
  const int64_t blocks = cf_network_blocks(cfg);

  if (in == NULL) {
    return WEIR_NO_VALUE;
  }
  if (in->rank != 5 || in->shape[1] != cfg->size || in->shape[2] != cfg->size ||
      in->shape[3] != cfg->size || in->shape[4] != cfg->channels || cfg->size >> blocks < 1) {
    return weir_graph_fail(
        net->graph,
        weir_fail(WEIR_ERR_SHAPE,
                  "cosmoflow: samples are [n, s, s, s, %lld] with s = %lld, halved %lld times",
                  (long long)cfg->channels, (long long)cfg->size, (long long)blocks));
  }
  const int64_t n = in->shape[0];

  for (int64_t i = 0; i < blocks; i++) {
    x = block(net, cfg, i, x);
  }
  x = weir_reshape(net->graph, x, &((weir_reshape_spec){.rank = 2, .shape = {n, -1}}));
  x = hidden(net, cfg, 1, cfg->hidden1, x);
  x = hidden(net, cfg, 2, cfg->hidden2, x);
  const weir_nn_dense_spec last = {
      .units = cfg->outputs,
      .activation = {WEIR_ACTIVATION_TANH, 0},
      .no_decay = true,
  };

  return weir_scale(net->graph, weir_nn_dense(net, "dense3", &last, x), cfg->scale);
}
