/* mlperf.c - mlcommons/hpc, cosmoflow/models/cosmoflow.py, layer by layer. */
#include "model/network.h"
#include "model/nets.h"
#include "model/cnn.h"

const weir_opt cf_mlperf_options[] = {
    WEIR_OPT_INT(cf_mlperf_opts, kernel, 3, 1, 7, "1",
                 "kernel size of the convolutions (MLPerf HPC v1.0 and later: 3; v0.7: 2)"),
    WEIR_OPT_INT(cf_mlperf_opts, blocks, 0, 0, 8, "1",
                 "convolutions, each with pooling; 0: as many as leave 4 voxels a side"),
    WEIR_OPT_INT(cf_mlperf_opts, base, 32, 1, 1024, "1", "filters of the first convolution"),
    WEIR_OPT_INT(cf_mlperf_opts, max_filters, 512, 1, 4096, "1",
                 "most filters: they double from block to block up to this", .alias = "most"),
    WEIR_OPT_INT(cf_mlperf_opts, hidden1, 128, 1, 65536, "1", "units of the first dense layer"),
    WEIR_OPT_INT(cf_mlperf_opts, hidden2, 64, 1, 65536, "1", "units of the second dense layer"),
    WEIR_OPT_BOOL(cf_mlperf_opts, global_mean, false,
                  "the dense layers see means over the voxels that are left, so that weights do "
                  "not depend on the side of samples (data.sizes); false: they see each voxel, as "
                  "published"),
    WEIR_OPT_REAL(cf_mlperf_opts, slope, 0.3, 0, 1, "1", "of the leaky ReLU below 0"),
    WEIR_OPT_REAL(cf_mlperf_opts, dropout, 0.5, 0, 0.99, "1",
                  "share of the units of a hidden dense layer that a training step leaves out"),
    WEIR_OPT_REAL(
        cf_mlperf_opts, scale, 1.2, 0.01, 100, "1",
        "what tanh is multiplied by; above 1, so that labels of -1 and 1 are within reach"),
    WEIR_OPT_END,
};

int64_t cf_mlperf_blocks(const cf_mlperf_opts *o, int64_t side)
{
  return o->blocks > 0 ? o->blocks : cf_cnn_halvings(side, 4);
}

weir_value cf_mlperf(weir_net *net, const void *opts, int64_t outputs, weir_value x)
{
  const cf_mlperf_opts *const o = opts;
  cf_cnn t = {.name = "mlperf",
              .n_hidden = 2,
              .hidden = {o->hidden1, o->hidden2},
              .conv_no_decay = true,
              .last_no_decay = true,
              .global_mean = o->global_mean,
              .slope = o->slope,
              .dropout = o->dropout,
              .scale = o->scale};

  t.n_blocks = (int)cf_mlperf_blocks(o, cf_cnn_side_of(net->graph, x));
  for (int i = 0; i < t.n_blocks; i++) {
    t.block[i] = (cf_block){.filters = cf_cnn_doubled(o->base, i, o->max_filters),
                            .kernel_size = o->kernel,
                            .pool = CF_POOL_MAX2};
  }
  return cf_cnn_build(net, &t, outputs, x);
}

const cf_net cf_net_mlperf = {
    .name = "mlperf",
    .cite = "Farrell et al., arXiv:2110.11466",
    .help = "MLPerf HPC's CosmoFlow, v1.0 and later, or with kernel 2 v0.7",
    .opts = cf_mlperf_options,
    .opts_size = sizeof(cf_mlperf_opts),
    .loss = CF_LOSS_MSE,
    .build = cf_mlperf,
    .bound = offsetof(cf_mlperf_opts, scale),
};
