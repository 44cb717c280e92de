/* gap.c - convolutions with means over the whole map of every block (Lin et al. 2014) in place of
 * a flattened last map. */
#include "model/network.h"
#include "model/nets.h"
#include "model/cnn.h"

#define BORDER_CHOICES "zero|wrap"

const weir_opt cf_gap_options[] = {
    WEIR_OPT_INT(cf_gap_opts, blocks, 0, 0, 8, "1",
                 "convolutions, each but the last with pooling; 0: as many as leave 4 voxels a "
                 "side to the last"),
    WEIR_OPT_INT(cf_gap_opts, base, 8, 1, 1024, "1", "filters of the first convolution"),
    WEIR_OPT_INT(cf_gap_opts, max_filters, 256, 1, 4096, "1",
                 "most filters: they double from block to block up to this"),
    WEIR_OPT_ENUM(cf_gap_opts, border, 0, BORDER_CHOICES,
                  "what lies beyond the faces of a sample: zeros, or, of a whole periodic box, the "
                  "opposite face"),
    WEIR_OPT_INT(cf_gap_opts, hidden1, 64, 1, 65536, "1", "units of the first dense layer"),
    WEIR_OPT_INT(cf_gap_opts, hidden2, 32, 1, 65536, "1", "units of the second dense layer"),
    WEIR_OPT_REAL(cf_gap_opts, slope, 0.3, 0, 1, "1", "of the leaky ReLU below 0"),
    WEIR_OPT_REAL(cf_gap_opts, dropout, 0, 0, 0.99, "1",
                  "share of the units of a hidden dense layer that a training step leaves out"),
    WEIR_OPT_REAL(cf_gap_opts, scale, 1.2, 0.01, 100, "1", "what tanh is multiplied by"),
    WEIR_OPT_END,
};

weir_value cf_gap(weir_net *net, const void *opts, int64_t outputs, weir_value x)
{
  const cf_gap_opts *const o = opts;
  const int64_t side = cf_cnn_side_of(net->graph, x);
  cf_cnn t = {.name = "gap",
              .n_hidden = 2,
              .hidden = {o->hidden1, o->hidden2},
              .border = o->border == 1 ? WEIR_BORDER_WRAP : WEIR_BORDER_ZERO,
              .global_means = true,
              .slope = o->slope,
              .dropout = o->dropout,
              .weight = {.kind = WEIR_INIT_HE_NORMAL},
              .scale = o->scale};

  t.n_blocks = (int)(o->blocks > 0 ? o->blocks : cf_cnn_halvings(side, 4) + 1);
  for (int i = 0; i < t.n_blocks; i++) {
    t.block[i] = (cf_block){.filters = cf_cnn_doubled(o->base, i, o->max_filters),
                            .kernel_size = 3,
                            .gain = i > 0 ? 2 : 1,
                            .pool = i + 1 < t.n_blocks ? CF_POOL_MEAN2 : CF_POOL_NONE};
  }
  return cf_cnn_build(net, &t, outputs, x);
}

const cf_net cf_net_gap = {
    .name = "gap",
    .cite = "Lin, Chen and Yan 2014, arXiv:1312.4400",
    .help = "the means over all voxels of the maps of every convolution, then dense layers",
    .opts = cf_gap_options,
    .opts_size = sizeof(cf_gap_opts),
    .loss = CF_LOSS_MSE,
    .build = cf_gap,
    .bound = offsetof(cf_gap_opts, scale),
};
