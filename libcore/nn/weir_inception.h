/* weir_inception.h - Inception
 * blocks of parallel convolutions with several kernel sizes at full resolution: the uncertainty
 * network of arXiv:2005.08748 (RESNET2D), for 1 to 3 dimensions, channels last.
 *
 *   p  = block(first `control` channels of x, kernel size 3, `squeeze` filters)
 *   x0 = the other channels of x, and p
 *   h  = c = block(x0, kernel size 3, base filters)
 *   n times:  u = h, x0;  v = block of convolutions of u with kernel sizes 3, 5, 7 .., in parallel
 *             h = convolution of v, u with kernel size 1; filters grow by `growth`
 *   z  = block(c, h, kernel size 3, 8 filters), a convolution with kernel size 1 to 4
 *   y  = convolution of z and channel `carry` of x with kernel size 1
 *
 * A block is convolution, normalisation, activation; parallel
 * results are concatenated along the channels. */
#ifndef WEIR_INCEPTION_H
#define WEIR_INCEPTION_H
#include "conf/weir_opt.h"
#include "nn/weir_conv_block.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_inception_preset {
  WEIR_INCEPTION_TINY,  /* base 4, 2 blocks: tests          */
  WEIR_INCEPTION_LITE,  /* base 16, 4 blocks: CPU */
  WEIR_INCEPTION_PAPER, /* base 64, 10 blocks: RESNET2D, GPU */
} weir_inception_preset;

typedef struct weir_inception_opts {
  int preset;
  int64_t base, blocks; /* 0: of the preset */
  int64_t growth, paths, control, squeeze, carry;
  weir_nn_conv_block_opts block;
  weir_nn_borders border;
} weir_inception_opts;
/* Rows of the section that holds such a struct. */
extern const weir_opt weir_inception_options[];

/* x: [n, 1 to 3 dimensions, channels]; returns [n, .., outputs]. Fails in the graph's status:
 * WEIR_ERR_SHAPE (rank; no channel besides the control's; a carried channel that x does not have).
 */
weir_value weir_inception(weir_net *net, const weir_inception_opts *opts, int64_t outputs,
                          weir_value x);

#ifdef __cplusplus
}
#endif
#endif
