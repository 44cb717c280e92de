/* nets.h - the networks as functions, with their options. All are cf_net.build of their file. */
#ifndef CF_NETS_H
#define CF_NETS_H
#include "conf/weir_opt.h"
#include "nn/weir_net.h"

/* MLPerf HPC's CosmoFlow (mlcommons/hpc, cosmoflow/models/cosmoflow.py): v1.0 to v3.0, and with
 * kernel 2 v0.7. Blocks of convolution of the same size, bias, leaky ReLU, maximum of each 2 x 2 x
 * 2; three dense layers, dropout after the first two; tanh, times `scale`, so that -1 and 1 can be
 * reached. Block i has base 2^(i - 1) filters, at most `max_filters`. An even kernel pads one more
 * voxel after than before. Weights are initialised by glorot_uniform, biases to 0; weight decay
 * applies to dense1 and dense2 only. Five blocks from 32 to 512 filters on 128^3 are the
 * benchmark's; as many blocks as leave 4^3 carry it to other sizes (LBANN's rule). */
typedef struct cf_mlperf_opts {
  int64_t kernel, blocks;    /* blocks 0: log2(side) - 2, to 4^3 */
  int64_t base, max_filters; /* filters */
  int64_t hidden1, hidden2;  /* units of the dense layers */
  bool global_mean;          /* before these, over space */
  double slope, dropout, scale;
} cf_mlperf_opts;
extern const weir_opt cf_mlperf_options[];
weir_value cf_mlperf(weir_net *net, const void *opts, int64_t outputs, weir_value x);
/* Returns the blocks on samples of `side` voxels: as configured, or by the rule. */
int64_t cf_mlperf_blocks(const cf_mlperf_opts *o, int64_t side);

/* The network of arXiv:2007.12856 (Oyama et al., TPDS 2021), as LBANN had it until 2023-01: seven
 * convolutions of 3 x 3 x 3 with 16, 32, 64, 128 (stride 2), 256, 256, 256 filters; means over 3 x
 * 3 x 3 with stride 2 after as many of the first as are needed so that 2^3 voxels are left (5 of
 * 128^3, 6 of 256^3, 7 of 512^3); dense layers of 2048 and 256 units, dropout before each; outputs
 * as they are. Weights are initialised by glorot_uniform, biases of dense layers to 0.1. Files of
 * weights state `bias`: one that says true has biases before a batch norm, too, as those of before
 * this rule have. */
enum cf_bias { CF_BIAS_AUTO /* where no norm follows */, CF_BIAS_TRUE, CF_BIAS_FALSE };
typedef struct cf_oyama_opts {
  int64_t base;             /* filters of the first convolution, the others in proportion */
  int64_t pools;            /* 0: down to 2^3 */
  int64_t hidden1, hidden2; /* units */
  int norm;                 /* none or batch */
  double momentum;          /* of batch */
  int bias;                 /* cf_bias, of convolutions */
  bool global_mean;         /* as in mlperf */
  double slope, dropout;
} cf_oyama_opts;
extern const weir_opt cf_oyama_options[];
weir_value cf_oyama(weir_net *net, const void *opts, int64_t outputs, weir_value x);

/* The network of LBANN since 2023-08 without its option mlperf: blocks as in mlperf with base 16,
 * at most 256, means over 3 x 3 x 3 with stride 2; dense layers of 2048 and 256 units, dropout
 * after each; tanh, times `scale`. Weights are initialised by he_normal, those of the last layer to
 * 0. */
typedef struct cf_lbann_opts {
  int64_t blocks, base, max_filters, hidden1, hidden2;
  int norm; /* none or batch; without it, convolutions have a bias */
  double momentum;
  bool global_mean; /* as in mlperf */
  double slope, dropout, scale;
} cf_lbann_opts;
extern const weir_opt cf_lbann_options[];
weir_value cf_lbann(weir_net *net, const void *opts, int64_t outputs, weir_value x);

/* The original network (arXiv:1808.04728, SC'18), trained for the mean absolute error: convolutions
 * without padding, leaky ReLU, means over 2 x 2 x 2 after the first of them, dense layers with
 * dropout before each, outputs as they are. Weights are initialised by glorot_uniform, all biases
 * to 0.1. The paper's own list of layers is not at hand: these are two of its authors' repository.
 *   side64    kernel sizes 3, 4, 4 (stride 2), 3, 2, 2; 16, 32, 64, 64, 128, 128 filters; pooled
 *             twice; normalised by batch; 1024, 512, 256 units
 *   side128   kernel sizes 3, 4, 4, 3 (stride 2), 3, 2, 2; 16, 32, 64, 128, 256, 256, 256 filters;
 *             pooled three times; 2048, 256 units; the seven convolutions and 7.0 M parameters of
 *             the paper */
typedef struct cf_sc18_opts {
  int layout; /* 0: by the samples, 1: side64, 2: side128 */
  int64_t base;
  weir_int_list hidden; /* units; empty: of the layout */
  int norm;             /* 0: of the layout, 1: none, 2: batch */
  bool global_mean;     /* as in mlperf */
  double epsilon, momentum, slope, dropout;
} cf_sc18_opts;
extern const weir_opt cf_sc18_options[];
weir_value cf_sc18(weir_net *net, const void *opts, int64_t outputs, weir_value x);

/* A network whose dense layers are given the means over all voxels of the maps of every convolution
 * (global average pooling: Lin, Chen and Yan, arXiv:1312.4400), so that its estimates do not depend
 * on where in a box its structures are: with `border` wrap not at all on shifts by 2^(blocks - 1)
 * voxels. Blocks of convolution of 3 x 3 x 3, bias, leaky ReLU, mean of each 2 x 2 x 2 after all
 * but the last; dense layers as in mlperf. Weights are initialised by glorot_uniform, biases to 0.
 */
typedef struct cf_gap_opts {
  int64_t blocks;            /* 0: the last has 4 voxels a side */
  int64_t base, max_filters; /* filters */
  int border;                /* 0: zeros, 1: the opposite face */
  int64_t hidden1, hidden2;  /* units of the dense layers */
  double slope, dropout, scale;
} cf_gap_opts;
extern const weir_opt cf_gap_options[];
weir_value cf_gap(weir_net *net, const void *opts, int64_t outputs, weir_value x);

/* The second network of arXiv:2007.12856, a 3D U-Net (nn/weir_unet.h): two convolutions a block, of
 * 3 x 3 x 3 without bias, each normalised, ReLU; 32 and 64 filters, twice as many a level; maxima
 * of 2 x 2 x 2; transposed convolutions of 2 x 2 x 2 that keep the channels, concatenated with the
 * encoder output of the level; a last 1 x 1 x 1 convolution gives the logits of the classes. The
 * side of samples is a multiple of 2^levels. */
typedef struct cf_unet_opts {
  int64_t levels, base;
  int norm; /* weir_norm_kind */
  int64_t groups;
  double momentum;
} cf_unet_opts;
extern const weir_opt cf_unet_options[];
weir_value cf_unet(weir_net *net, const void *opts, int64_t outputs, weir_value x);

#endif
