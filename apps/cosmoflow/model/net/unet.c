/* unet.c - the 3D U-Net of arXiv:2007.12856, as LBANN's applications/segmentation/unet3d has it. */
#include "nn/weir_unet.h"
#include "model/network.h"
#include "model/nets.h"

const weir_opt cf_unet_options[] = {
    WEIR_OPT_INT(cf_unet_opts, levels, 3, 0, 8, "1",
                 "poolings, by each of which the side of a sample is halved"),
    WEIR_OPT_INT(cf_unet_opts, base, 32, 1, 1024, "1",
                 "filters of the first convolution; they double with every second convolution of a "
                 "block and with every level (arXiv:2007.12856: 32)"),
    WEIR_OPT_ENUM(cf_unet_opts, norm, WEIR_NORM_BATCH, WEIR_NORM_CHOICES,
                  "normalisation between convolution and ReLU"),
    WEIR_OPT_INT(cf_unet_opts, groups, 8, 1, 1024, "1",
                 "groups of channels of norm = group; fewer where they do not divide the channels"),
    WEIR_OPT_REAL(cf_unet_opts, momentum, 0.1, 1e-6, 1, "1",
                  "share of the running statistics of norm = batch that a batch brings (LBANN: "
                  "decay 0.9)"),
    WEIR_OPT_END,
};

weir_value cf_unet(weir_net *net, const void *opts, int64_t outputs, weir_value x)
{
  const cf_unet_opts *const o = opts;
  weir_unet_opts u;

  weir_opts_default(weir_unet_options, sizeof u, &u);
  u.levels = o->levels;
  u.base = o->base;
  u.upsampling = WEIR_UNET_UP_TRANSPOSED;
  u.block.norm = o->norm;
  u.block.groups = o->groups;
  u.block.momentum = o->momentum;
  u.block.bias = false;
  return weir_unet(net, &u, outputs, x);
}

const cf_net cf_net_unet = {
    .name = "unet",
    .cite = "Oyama et al., arXiv:2007.12856; Cicek et al., MICCAI 2016",
    .help = "the 3D U-Net of arXiv:2007.12856: a class of every voxel",
    .opts = cf_unet_options,
    .opts_size = sizeof(cf_unet_opts),
    .target = CF_SEGMENT,
    .loss = CF_LOSS_ENTROPY,
    .build = cf_unet,
};
