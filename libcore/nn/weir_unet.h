/* weir_unet.h - a U-Net over 1 to 3 dimensions: Ronneberger et al., MICCAI 2015; in three
 * dimensions Cicek et al., MICCAI 2016.
 *
 *   enc0 .. enc<levels-1>, bottom   blocks of convolutions, pooling between them
 *   dec<levels-1> .. dec0           upsampled
 *                                   to the size of the level, joined with the encoder level of that
 * number, convolutions head                            a convolution to the outputs, nothing after
 * it
 *
 * A convolution of a block is convolution, normalisation, activation. The convolutions of level l
 * have base filter_factor^l filters, at most max_filters; with widen = second, twice as many, but
 * for the first of a block in the encoder. */
#ifndef WEIR_UNET_H
#define WEIR_UNET_H
#include "conf/weir_opt.h"
#include "nn/weir_conv_block.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_unet_preset {
  WEIR_UNET_TINY,  /* base 4, 1 level: tests                                             */
  WEIR_UNET_LITE,  /* base 16, 2 levels: CPU */
  WEIR_UNET_PAPER, /* base 32, 3 levels: UNET3 of arXiv:2005.08748, GPU */
} weir_unet_preset;
typedef enum weir_unet_up {
  WEIR_UNET_UP_LINEAR,    /* linear interpolation */
  WEIR_UNET_UP_NEAREST,   /* nearest neighbour */
  WEIR_UNET_UP_TRANSPOSED /* transposed convolution with kernel size and stride of the pool */
} weir_unet_up;
typedef enum weir_unet_join { WEIR_UNET_CONCAT, WEIR_UNET_SUM } weir_unet_join;
typedef enum weir_unet_widen { WEIR_UNET_WIDEN_SECOND, WEIR_UNET_WIDEN_FIRST } weir_unet_widen;
/* What a convolution of a block is made of in three dimensions. */
typedef enum weir_unet_form {
  WEIR_UNET_FULL,      /* one kernel of z, y and x                                              */
  WEIR_UNET_SEPARABLE, /* one of y and x, then one of z (Tran et al., CVPR 2018, without the
                          activation between them)                                              */
  WEIR_UNET_AFFINE     /* one of y and x, the same for every z, then for every z and filter a scale,
                          at first 1, and an offset, at first 0                                 */
} weir_unet_form;
/* Options per dimension. */
typedef struct weir_unet_axis {
  int64_t kernel, pool, up;
} weir_unet_axis;

typedef struct weir_unet_opts {
  int preset;
  int64_t levels, base, filter_factor, max_filters; /* levels -1, base 0: of the preset */
  int64_t convs, bottleneck_convs;                  /* bottleneck_convs 0: as convs         */
  int widen;
  int form; /* weir_unet_form: variants of arXiv:1911.00630 */
  bool narrow;
  int upsampling;
  bool up_conv;
  int skip;
  bool residual;
  int64_t locally_connected, head_kernel;
  weir_nn_conv_block_opts block;
  weir_nn_borders border;
  weir_unet_axis z, y, x;
} weir_unet_opts;
/* Rows of the section that holds such a struct. */
extern const weir_opt weir_unet_options[];

/* x: [n, 1 to 3 dimensions, channels], whose last three (two, one) spatial dimensions use the
 * sections z, y, x; returns [n, .., outputs]. residual: the last `outputs` channels of x are added.
 * Fails in the graph's status: WEIR_ERR_SHAPE (rank, an extent that pooling makes 0, a residual of
 * more channels than x has, a form that needs three dimensions). */
weir_value weir_unet(weir_net *net, const weir_unet_opts *opts, int64_t outputs, weir_value x);

#ifdef __cplusplus
}
#endif
#endif
