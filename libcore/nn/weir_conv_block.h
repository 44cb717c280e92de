/* weir_conv_block.h - convolution block: convolution, normalisation, activation. */
#ifndef WEIR_CONV_BLOCK_H
#define WEIR_CONV_BLOCK_H
#include "conf/weir_opt.h"
#include "nn/weir_layer.h"
#include "nn/weir_norm.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Options shared by all blocks of a network. Rows: weir_nn_conv_block_options. */
typedef struct weir_nn_conv_block_opts {
  int norm;                 /* weir_norm_kind */
  int64_t groups;           /* of norm = group; reduced where they do not divide the channels */
  double epsilon, momentum; /* momentum: of norm = batch; 0: 0.1 */
  weir_one_of activation;
  int init; /* weir_init_kind */
  bool bias;
} weir_nn_conv_block_opts;
extern const weir_opt weir_nn_conv_block_options[];

/* Padding rules of the last three spatial dimensions. Rows: weir_nn_border_options. */
typedef struct weir_nn_borders {
  int z, y, x; /* numbers of WEIR_NN_BORDER_CHOICES */
} weir_nn_borders;
extern const weir_opt weir_nn_border_options[];
#define WEIR_NN_BORDER_CHOICES "zero|wrap|replicate|reflect"

/* Returns the border of dimension d of `dims` spatial dimensions. */
weir_border weir_nn_border_of(const weir_nn_borders *b, int dims, int d);
/* Returns a convolution that keeps the size of x, with this kernel size in all `dims` spatial
 * dimensions. */
weir_nn_conv_spec weir_nn_same(const weir_nn_conv_block_opts *o, const weir_nn_borders *b, int dims,
                               int64_t filters, int64_t kernel_size);
/* Appends normalisation and activation. Parameters: those of weir_nn_norm. */
weir_value weir_nn_norm_act(weir_net *net, const char *name, const weir_nn_conv_block_opts *o,
                            weir_value v);

#ifdef __cplusplus
}
#endif
#endif
