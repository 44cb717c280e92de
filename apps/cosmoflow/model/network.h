/* network.h - the network of MLPerf HPC's CosmoFlow, v0.7 to v3.0: cosmological parameters from the
 * distribution of matter.
 *
 *   conv1 .. conv<blocks>   convolution of the same size, bias, leaky ReLU, maximum over 2 x 2 x 2
 *   dense1, dense2          of all that is left in (z, y, x, channel) order; leaky ReLU, dropout
 *   dense3                  outputs; tanh, times `scale`, so that -1 and 1 are within reach
 *
 * Block i has base 2^(i - 1) filters, at most `most`. An even kernel pads one more behind than
 * before. Weights begin as glorot_uniform, biases as 0; weight decay pulls dense1 and dense2 only.
 * Five blocks from 32 to 512 filters on 128^3 are the benchmark's network; as many blocks as leave
 * 4^3 carry it to other sizes (LBANN's rule). */
#ifndef CF_NETWORK_H
#define CF_NETWORK_H
#include "conf/weir_opt.h"
#include "nn/weir_layer.h"

typedef struct cf_network_cfg {
  int64_t size, channels;   /* of the input: [n, size, size, size, channels]  */
  int64_t kernel, blocks;   /* blocks 0: log2(size) - 2, which leaves 4^3     */
  int64_t base, most;       /* filters */
  int64_t hidden1, hidden2; /* units of the dense layers */
  int64_t outputs;
  double slope, dropout, scale;
} cf_network_cfg;
extern const weir_opt cf_network_options[];

/* Blocks of the network: as configured, or from the size. */
int64_t cf_network_blocks(const cf_network_cfg *cfg);
/* Elements of all parameters, in closed form: what weir_params_elements gives once it is declared.
 */
int64_t cf_network_elements(const cf_network_cfg *cfg);
/* x: [n, size, size, size, channels], log(1 + count); returns [n, outputs]. Fails in the graph's
 * status: WEIR_ERR_SHAPE (another shape; more blocks than the size has halves). */
weir_value cf_network(weir_net *net, const cf_network_cfg *cfg, weir_value x);

#endif
