/* lbann.c - LBANN's own CosmoFlow since 2023-08: the benchmark's rule, half as wide, with means. */
#include "model/network.h"
#include "model/nets.h"
#include "model/cnn.h"

const weir_opt cf_lbann_options[] = {
    WEIR_OPT_INT(cf_lbann_opts, blocks, 0, 0, 8, "1",
                 "convolutions, each with pooling; 0: as many as leave 4 voxels a side"),
    WEIR_OPT_INT(cf_lbann_opts, base, 16, 1, 1024, "1", "filters of the first convolution"),
    WEIR_OPT_INT(cf_lbann_opts, max_filters, 256, 1, 4096, "1",
                 "most filters: they double from block to block up to this", .alias = "most"),
    WEIR_OPT_INT(cf_lbann_opts, hidden1, 2048, 1, 65536, "1", "units of the first dense layer"),
    WEIR_OPT_INT(cf_lbann_opts, hidden2, 256, 1, 65536, "1", "units of the second dense layer"),
    WEIR_OPT_ENUM(cf_lbann_opts, norm, 0, "none|batch",
                  "normalisation between convolution and leaky ReLU; convolutions have a bias "
                  "where there is none"),
    WEIR_OPT_REAL(cf_lbann_opts, momentum, 0.01, 1e-6, 1, "1",
                  "share of the running statistics of norm = batch that a batch brings (LBANN: "
                  "decay 0.99)"),
    WEIR_OPT_BOOL(cf_lbann_opts, global_mean, false,
                  "the dense layers see means over the voxels that are left, so that weights do "
                  "not depend on the side of samples (data.sizes); false: they see each voxel, as "
                  "published"),
    WEIR_OPT_REAL(cf_lbann_opts, slope, 0.3, 0, 1, "1", "of the leaky ReLU below 0"),
    WEIR_OPT_REAL(cf_lbann_opts, dropout, 0.5, 0, 0.99, "1",
                  "share of the units of a hidden dense layer that a training step leaves out"),
    WEIR_OPT_REAL(cf_lbann_opts, scale, 1.2, 0.01, 100, "1", "what tanh is multiplied by"),
    WEIR_OPT_END,
};

weir_value cf_lbann(weir_net *net, const void *opts, int64_t outputs, weir_value x)
{
  const cf_lbann_opts *const o = opts;
  cf_cnn t = {.name = "lbann",
              .n_hidden = 2,
              .hidden = {o->hidden1, o->hidden2},
              .no_conv_bias = o->norm != 0,
              .norm = {.kind = o->norm ? WEIR_NORM_BATCH : WEIR_NORM_NONE, .momentum = o->momentum},
              .global_mean = o->global_mean,
              .slope = o->slope,
              .dropout = o->dropout,
              .weight = {.kind = WEIR_INIT_HE_NORMAL},
              .last = {.kind = WEIR_INIT_ZEROS},
              .scale = o->scale};

  t.n_blocks = (int)(o->blocks > 0 ? o->blocks : cf_cnn_halvings(cf_cnn_side_of(net->graph, x), 4));
  for (int i = 0; i < t.n_blocks; i++) {
    t.block[i] = (cf_block){.filters = cf_cnn_doubled(o->base, i, o->max_filters),
                            .kernel_size = 3,
                            .padding = WEIR_NN_GIVEN,
                            .pad = 1,
                            .pool = CF_POOL_MEAN3};
  }
  return cf_cnn_build(net, &t, outputs, x);
}

const cf_net cf_net_lbann = {
    .name = "lbann",
    .cite = "LLNL/lbann, applications/physics/cosmology/cosmoflow, since 2023-08",
    .help = "LBANN's CosmoFlow since 2023-08: the benchmark's rule, half as wide, with means",
    .opts = cf_lbann_options,
    .opts_size = sizeof(cf_lbann_opts),
    .loss = CF_LOSS_MSE,
    .build = cf_lbann,
    .bound = offsetof(cf_lbann_opts, scale),
};
