/* cnn.h - a network that estimates parameters, as rows: conv blocks, then dense layers.
 *
 *   conv<i>, norm<i>   convolution; normalisation where there is any; leaky ReLU
 *   mean<i>            with global_means: of each channel over all voxels, for dense1
 *   pool<i>            where the row has one
 *   dense<i>           of the means of global_means, or of all that is left in (z, y, x, channel)
 *                      order, or of its means over space (global_mean); leaky ReLU, dropout<i>
 *   the last dense     outputs; tanh times `scale`, or as they are */
#ifndef CF_CNN_H
#define CF_CNN_H
#include "nn/weir_layer.h"
#include "nn/weir_norm.h"

enum { CF_BLOCKS = 16, CF_DENSE = 4 };

typedef enum cf_pool {
  CF_POOL_NONE,
  CF_POOL_MAX2,  /* of each 2 x 2 x 2                                                     */
  CF_POOL_MEAN2, /* the same, mean                                                        */
  CF_POOL_MEAN3, /* 3 x 3 x 3, stride 2, zero padding of 1, counted in the mean: over 27 */
} cf_pool;

typedef struct cf_block {
  int64_t filters, kernel_size;
  int64_t stride; /* 0: 1 */
  weir_nn_padding padding;
  int64_t pad; /* WEIR_NN_GIVEN: voxels on each side */
  cf_pool pool;
  double gain; /* factor of the initial weights; 0: 1 */
} cf_block;

typedef struct cf_cnn {
  const char *name; /* for messages */
  int n_blocks, n_hidden;
  cf_block block[CF_BLOCKS];
  int64_t hidden[CF_DENSE]; /* units */
  bool no_conv_bias, conv_no_decay, last_no_decay;
  weir_border border; /* of convolutions, beyond the samples; 0: zeros */
  bool global_means;  /* dense1 is of the means of each block before pooling, not of the last map */
  weir_nn_norm_spec norm; /* its activation is not read */
  double slope;           /* of the leaky ReLU; 0: a ReLU */
  double dropout;         /* dropout rate */
  bool drop_first;        /* dropout0: also of the input of dense1 */
  bool global_mean;       /* dense1 sees means over space: weights do not depend on the side */
  weir_init weight, conv_bias, dense_bias, last;
  double scale; /* of tanh; 0: linear outputs of the last layer */
} cf_cnn;

/* Returns how often `side` voxels can be halved, rounding down, until at most `last` are left; at
 * most CF_BLOCKS. */
int64_t cf_cnn_halvings(int64_t side, int64_t last);
/* Returns base 2^i, at most `max`. */
int64_t cf_cnn_doubled(int64_t base, int64_t i, int64_t max);
/* Returns the voxels a side of samples x, cubes or maps; 0: undefined, which cf_cnn_build refuses.
 */
int64_t cf_cnn_side_of(const weir_graph *g, weir_value x);
/* Appends the network to x: [n, side, side, side, channels], or maps, [n, 1, side, side, channels],
 * whose kernels and windows are of 1 along the depth, without padding; returns [n, outputs]. Fails
 * in the graph's status: WEIR_ERR_SHAPE (another rank or shape; a block larger than its input). */
weir_value cf_cnn_build(weir_net *net, const cf_cnn *t, int64_t outputs, weir_value x);

#endif
