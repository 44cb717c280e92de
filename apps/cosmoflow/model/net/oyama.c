/* oyama.c - the network of arXiv:2007.12856, as LBANN had it until 2023-01. */
#include "model/network.h"
#include "model/nets.h"
#include "model/cnn.h"

enum { CONVS = 7, STRIDED = 3 };

const weir_opt cf_oyama_options[] = {
    WEIR_OPT_INT(cf_oyama_opts, base, 16, 1, 1024, "1",
                 "filters of the first convolution; the others have 2, 4, 8, 16, 16, 16 times as "
                 "many (arXiv:2007.12856: 16)"),
    WEIR_OPT_INT(cf_oyama_opts, pools, 0, 0, CONVS, "1",
                 "convolutions that are pooled, from the first; 0: as many as leave 2 voxels a "
                 "side (5 of 128, 6 of 256, 7 of 512)"),
    WEIR_OPT_INT(cf_oyama_opts, hidden1, 2048, 1, 65536, "1", "units of the first dense layer"),
    WEIR_OPT_INT(cf_oyama_opts, hidden2, 256, 1, 65536, "1", "units of the second dense layer"),
    WEIR_OPT_ENUM(cf_oyama_opts, norm, 0, "none|batch",
                  "normalisation between convolution and leaky ReLU"),
    WEIR_OPT_REAL(cf_oyama_opts, momentum, 0.001, 1e-6, 1, "1",
                  "share of the running statistics of norm = batch that a batch brings (LBANN: "
                  "decay 0.999)"),
    WEIR_OPT_ENUM(
        cf_oyama_opts, bias, CF_BIAS_AUTO, "auto|true|false",
        "convolutions add a bias; auto: unless a batch norm follows, whose mean removes it "
        "and which has an offset of its own (LBANN: none where space is divided)"),
    WEIR_OPT_BOOL(cf_oyama_opts, global_mean, false,
                  "the dense layers see means over the voxels that are left, so that weights do "
                  "not depend on the side of samples (data.sizes); false: they see each voxel, as "
                  "published"),
    WEIR_OPT_REAL(cf_oyama_opts, slope, 0.01, 0, 1, "1",
                  "of the leaky ReLU below 0 (LBANN's default: 0.01)"),
    WEIR_OPT_REAL(cf_oyama_opts, dropout, 0.2, 0, 0.99, "1",
                  "share of what comes into a dense layer that a training step leaves out"),
    WEIR_OPT_END,
};

weir_value cf_oyama(weir_net *net, const void *opts, int64_t outputs, weir_value x)
{
  const cf_oyama_opts *const o = opts;
  /* The convolution of stride 2 halves once. */
  const int64_t rule = cf_cnn_halvings(cf_cnn_side_of(net->graph, x), 2) - 1;
  const int64_t pools = o->pools > 0 ? o->pools : rule;
  const bool bias = o->bias == CF_BIAS_AUTO ? o->norm == 0 : o->bias == CF_BIAS_TRUE;
  cf_cnn t = {.name = "oyama",
              .n_blocks = CONVS,
              .n_hidden = 2,
              .hidden = {o->hidden1, o->hidden2},
              .no_conv_bias = !bias,
              .norm = {.kind = o->norm ? WEIR_NORM_BATCH : WEIR_NORM_NONE, .momentum = o->momentum},
              .global_mean = o->global_mean,
              .slope = o->slope,
              .dropout = o->dropout,
              .drop_first = true,
              .dense_bias = {.kind = WEIR_INIT_CONSTANT, .value = 0.1}};

  for (int i = 0; i < CONVS; i++) {
    t.block[i] = (cf_block){.filters = cf_cnn_doubled(o->base, i, 16 * o->base),
                            .kernel_size = 3,
                            .stride = i == STRIDED ? 2 : 1,
                            .padding = WEIR_NN_GIVEN,
                            .pad = 1,
                            .pool = i < pools ? CF_POOL_MEAN3 : CF_POOL_NONE};
  }
  return cf_cnn_build(net, &t, outputs, x);
}

const cf_net cf_net_oyama = {
    .name = "oyama",
    .cite = "Oyama et al., arXiv:2007.12856",
    .help = "the network of arXiv:2007.12856: seven convolutions, means over 3 x 3 x 3",
    .opts = cf_oyama_options,
    .opts_size = sizeof(cf_oyama_opts),
    .loss = CF_LOSS_MSE,
    .build = cf_oyama,
};
